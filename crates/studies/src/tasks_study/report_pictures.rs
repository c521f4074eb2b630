//! The report as pictures.

use super::report::{ProgramReport, TasksReport, VersionReport};
use super::steals::Steals;
use super::versions::Version;
use crate::Picture;
use crate::plot::{Axis, Bar, Bars, Figure, Guide, Line, Marks, Panel, Scale, Unit};
use crate::unique::unique;

impl TasksReport {
    /// Speed-up, times, and steal latency for each version that counts steals.
    pub fn pictures(&self) -> Vec<Picture> {
        let picture = |name: String, figure: Figure| Picture { file_name: name, svg: figure.to_svg() };
        let mut pictures = vec![
            picture("tasks-speed-up.svg".to_owned(), self.speed_up()),
            picture("tasks-times.svg".to_owned(), self.times()),
        ];
        for version in self.versions() {
            let latency = self.steal_latency(version);
            if !latency.panels.is_empty() {
                pictures.push(picture(format!("tasks-steal-latency-{version}.svg"), latency));
            }
        }
        pictures
    }

    fn note(&self) -> String {
        format!("Medians of {} runs on a machine with {} processors", self.reps, self.processors)
    }

    /// The versions, in the order of their colours.
    fn versions(&self) -> Vec<Version> {
        unique(self.reports().map(|report| report.version))
    }

    fn worker_counts(&self) -> Vec<usize> {
        unique(self.reports().map(|report| report.workers))
    }

    fn reports(&self) -> impl Iterator<Item = &VersionReport> {
        self.programs.iter().flat_map(|program| &program.parallel)
    }

    fn speed_up(&self) -> Figure {
        let versions = self.versions();
        let panel = |program: &ProgramReport| Panel {
            title: program.name.clone(),
            x: Axis::new("workers", Scale::Whole, Unit::Number),
            y: Axis::new("speed-up", Scale::Linear, Unit::Number),
            guide: Some(Guide::Diagonal),
            marks: Marks::Lines(speed_up_lines(program, &versions)),
        };
        Figure {
            title: "Speed-up over the sequential program".to_owned(),
            note: self.note(),
            series: versions.iter().map(ToString::to_string).collect(),
            guide: Some("as many times as workers".to_owned()),
            panels: self.programs.iter().map(panel).collect(),
        }
    }

    fn times(&self) -> Figure {
        let (versions, workers) = (self.versions(), self.worker_counts());
        let panel = |program: &ProgramReport| Panel {
            title: program.name.clone(),
            x: Axis::new("workers", Scale::Whole, Unit::Number),
            y: Axis::new("time", Scale::Linear, Unit::Seconds),
            guide: Some(Guide::Level(program.sequential_seconds.median)),
            marks: time_bars(program, &versions, &workers),
        };
        Figure {
            title: "Time, with its spread".to_owned(),
            note: self.note(),
            series: versions.iter().map(ToString::to_string).collect(),
            guide: Some("sequential".to_owned()),
            panels: self.programs.iter().map(panel).collect(),
        }
    }

    /// One panel for each program in which this version has counted steals.
    fn steal_latency(&self, version: Version) -> Figure {
        let workers: Vec<usize> = self.worker_counts().into_iter().filter(|&workers| workers > 1).collect();
        let panel = |program: &ProgramReport| {
            let curves = latency_curves(program, version, &workers);
            (!curves.is_empty()).then(|| Panel {
                title: program.name.clone(),
                x: Axis::new("from request to answer", Scale::Decades, Unit::Nanoseconds),
                y: Axis::new("steals that took no longer", Scale::Linear, Unit::Percent),
                guide: None,
                marks: Marks::Curves(curves),
            })
        };
        Figure {
            title: format!("Latency of steals, {version}"),
            note: "Requests that brought a task, of all runs".to_owned(),
            series: workers.iter().map(|workers| format!("{workers} workers")).collect(),
            guide: None,
            panels: self.programs.iter().filter_map(panel).collect(),
        }
    }
}

fn speed_up_lines(program: &ProgramReport, versions: &[Version]) -> Vec<Line> {
    let line = |(series, &version): (usize, &Version)| Line {
        series,
        points: program.of(version).map(|report| (report.workers as f64, report.speed_up)).collect(),
    };
    versions.iter().enumerate().map(line).collect()
}

fn time_bars(program: &ProgramReport, versions: &[Version], workers: &[usize]) -> Marks {
    let bar = |version, workers| {
        let seconds = &program.of(version).find(|report| report.workers == workers)?.seconds;
        Some(Bar { value: seconds.median, least: seconds.least, greatest: seconds.greatest })
    };
    let bars = |(series, &version): (usize, &Version)| Bars {
        series,
        bars: workers.iter().map(|&workers| bar(version, workers)).collect(),
    };
    Marks::Bars {
        groups: workers.iter().map(ToString::to_string).collect(),
        bars: versions.iter().enumerate().map(bars).collect(),
    }
}

/// One curve for each number of workers that stole anything.
fn latency_curves(program: &ProgramReport, version: Version, workers: &[usize]) -> Vec<Line> {
    let curve = |report: &VersionReport| {
        let series = workers.iter().position(|&workers| workers == report.workers)?;
        let points = latency_points(report.steals.as_ref()?);
        (!points.is_empty()).then_some(Line { series, points })
    };
    program.of(version).filter_map(curve).collect()
}

/// The distribution, beginning at nothing.
fn latency_points(steals: &Steals) -> Vec<(f64, f64)> {
    let points = steals.cumulative().map(|(nanoseconds, share)| (nanoseconds.max(1) as f64, share));
    let first = points.clone().next().map(|(nanoseconds, _)| (nanoseconds, 0.0));
    first.into_iter().chain(points).collect()
}

impl ProgramReport {
    /// One version, by number of workers.
    fn of(&self, version: Version) -> impl Iterator<Item = &VersionReport> {
        self.parallel.iter().filter(move |report| report.version == version)
    }
}
