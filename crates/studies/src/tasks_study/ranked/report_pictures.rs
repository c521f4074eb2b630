//! The report as pictures.

use super::report::{LatencyReport, RankedProgramReport, RankedTasksReport, ShapeReport, Way};
use super::tactic::Tactic;
use crate::Picture;
use crate::plot::{Axis, Bar, Bars, Figure, Guide, Line, Marks, Panel, Scale, Unit};
use crate::tasks_study::steals::cumulative;
use crate::unique::unique;

impl RankedTasksReport {
    /// Speed-up and times of programs, if there are any, and the latency of steals.
    pub fn pictures(&self) -> Vec<Picture> {
        let programs = [("tasks-ranks-speed-up.svg", self.speed_up()), ("tasks-ranks-times.svg", self.times())];
        let latency = ("tasks-ranks-steal-latency.svg", self.steal_latency());
        let figures = programs.into_iter().chain([latency]).filter(|(_, figure)| !figure.panels.is_empty());
        figures.map(|(name, figure)| Picture { file_name: name.to_owned(), svg: figure.to_svg() }).collect()
    }

    fn note(&self) -> String {
        format!("Medians of {} runs on a machine with {} processors", self.reps, self.processors)
    }

    fn shapes(&self) -> impl Iterator<Item = &ShapeReport> {
        self.programs.iter().flat_map(|program| &program.shapes)
    }

    fn tactics(&self) -> Vec<Tactic> {
        unique(self.latency.iter().map(|report| report.tactic))
    }

    /// Lines by tactic and number of ranks.
    fn speed_up(&self) -> Figure {
        let series = unique(self.shapes().map(|shape| (shape.tactic, shape.ranks)));
        let panel = |program: &RankedProgramReport| Panel {
            title: program.name.clone(),
            x: Axis::new("workers of all ranks", Scale::Whole, Unit::Number),
            y: Axis::new("speed-up", Scale::Linear, Unit::Number),
            guide: Some(Guide::Diagonal),
            marks: Marks::Lines(speed_up_lines(program, &series)),
        };
        Figure {
            title: "Speed-up over the sequential program".to_owned(),
            note: self.note(),
            series: series.iter().map(|(tactic, ranks)| format!("{tactic}, ranks: {ranks}")).collect(),
            guide: Some("as many times as workers".to_owned()),
            panels: self.programs.iter().map(panel).collect(),
        }
    }

    /// Bars by tactic, in groups by shape.
    fn times(&self) -> Figure {
        let (tactics, shapes) = (self.tactics(), unique(self.shapes().map(ShapeReport::name)));
        let panel = |program: &RankedProgramReport| Panel {
            title: program.name.clone(),
            x: Axis::new("ranks x workers", Scale::Whole, Unit::Number),
            y: Axis::new("time", Scale::Linear, Unit::Seconds),
            guide: Some(Guide::Level(program.sequential_seconds.median)),
            marks: time_bars(program, &tactics, &shapes),
        };
        Figure {
            title: "Time, with its spread".to_owned(),
            note: self.note(),
            series: tactics.iter().map(ToString::to_string).collect(),
            guide: Some("sequential".to_owned()),
            panels: self.programs.iter().map(panel).collect(),
        }
    }

    /// One panel for each tactic.
    fn steal_latency(&self) -> Figure {
        let panel = |tactic: Tactic| Panel {
            title: tactic.to_string(),
            x: Axis::new("from request to task", Scale::Decades, Unit::Nanoseconds),
            y: Axis::new("steals that took no longer", Scale::Linear, Unit::Percent),
            guide: None,
            marks: Marks::Curves(
                self.latency.iter().filter(|report| report.tactic == tactic).filter_map(latency_curve).collect(),
            ),
        };
        Figure {
            title: "Latency of steals".to_owned(),
            note: "One thief, and a victim that has all tasks and does nothing but answer".to_owned(),
            series: Way::ALL.map(|way| way.name().to_owned()).into(),
            guide: None,
            panels: self.tactics().into_iter().map(panel).collect(),
        }
    }
}

fn speed_up_lines(program: &RankedProgramReport, series: &[(Tactic, usize)]) -> Vec<Line> {
    let line = |(at, &(tactic, ranks)): (usize, &(Tactic, usize))| {
        let mine = program.shapes.iter().filter(|shape| (shape.tactic, shape.ranks) == (tactic, ranks));
        let points = mine.map(|shape| ((shape.ranks * shape.workers) as f64, shape.speed_up)).collect();
        Line { series: at, points }
    };
    series.iter().enumerate().map(line).collect()
}

fn time_bars(program: &RankedProgramReport, tactics: &[Tactic], shapes: &[String]) -> Marks {
    let bar = |tactic: Tactic, name: &str| {
        let seconds = &program.shapes.iter().find(|shape| shape.tactic == tactic && shape.name() == name)?.seconds;
        Some(Bar { value: seconds.median, least: seconds.least, greatest: seconds.greatest })
    };
    let bars = |(series, &tactic): (usize, &Tactic)| Bars {
        series,
        bars: shapes.iter().map(|name| bar(tactic, name)).collect(),
    };
    Marks::Bars { groups: shapes.to_vec(), bars: tactics.iter().enumerate().map(bars).collect() }
}

/// The distribution, beginning at nothing; none without steals.
fn latency_curve(report: &LatencyReport) -> Option<Line> {
    let series = Way::ALL.iter().position(|way| *way == report.way)?;
    let points = cumulative(&report.latency_ns).map(|(nanoseconds, share)| (nanoseconds.max(1) as f64, share));
    let first = points.clone().next().map(|(nanoseconds, _)| (nanoseconds, 0.0))?;
    Some(Line { series, points: std::iter::once(first).chain(points).collect() })
}
