//! The report as pictures.

use super::latency::Latency;
use super::mix::Mix;
use super::report::{Setting, TableReport, TheoryReport};
use super::subject::Subject;
use crate::Picture;
use crate::numbers::count;
use crate::plot::{Axis, Figure, Guide, Line, Marks, Panel, Scale, Unit};
use crate::unique::unique;

/// One number of a row.
type Column = fn(&TheoryReport) -> Option<f64>;

impl TableReport {
    /// Throughput by chunk size and by probing, latencies for each mix and number of workers, and probes beside theory.
    pub fn pictures(&self) -> Vec<Picture> {
        let (chunked, others): (Vec<Subject>, Vec<Subject>) =
            self.subjects().into_iter().partition(|subject| subject.chunk().is_some());
        let mut figures = vec![
            ("table-chunks.svg".to_owned(), self.throughput("Find-or-put in chunks of C slots", &chunked)),
            ("table-probing.svg".to_owned(), self.throughput("Find-or-put slot by slot", &others)),
        ];
        for (workers, mix) in self.combinations() {
            let file_name = format!("table-latency-{}-{}-workers-{workers}.svg", mix.finds(), mix.inserts());
            figures.push((file_name, self.latency(workers, mix)));
        }
        figures.push(("table-probes.svg".to_owned(), self.probes()));
        let has_panels = figures.into_iter().filter(|figure| !figure.1.panels.is_empty());
        has_panels.map(|(file_name, figure)| Picture { file_name, svg: figure.to_svg() }).collect()
    }

    fn note(&self) -> String {
        format!("Tables of {} slots, on a machine with {} processors", count(self.slots as u64), self.processors)
    }

    /// A panel for each number of workers and mix, a line for each subject.
    fn throughput(&self, title: &str, subjects: &[Subject]) -> Figure {
        let panel = |(workers, mix)| Panel {
            title: format!("{}, workers {workers}", in_words(mix)),
            x: load_axis(),
            y: Axis::new("million operations / s", Scale::Linear, Unit::Number),
            guide: None,
            marks: Marks::Lines(self.lines(subjects, |subject, load| {
                let run = self.run(Setting { subject, mix, load, workers })?;
                Some(run.million_per_second.median)
            })),
        };
        let panels =
            if subjects.is_empty() { Vec::new() } else { self.combinations().into_iter().map(panel).collect() };
        Figure {
            title: title.to_owned(),
            note: self.note(),
            series: subjects.iter().map(|&subject| name(subject)).collect(),
            guide: None,
            panels,
        }
    }

    /// A panel for each subject, a line for each percentile.
    fn latency(&self, workers: usize, mix: Mix) -> Figure {
        let line = |subject, at: usize| {
            let latency = |load| {
                let run = self.run(Setting { subject, mix, load, workers })?;
                Some((load, f64::from(run.latency_ns.values()[at])))
            };
            Line { series: at, points: self.loads().into_iter().filter_map(latency).collect() }
        };
        let panel = |subject| Panel {
            title: name(subject),
            x: load_axis(),
            y: Axis::new("latency", Scale::Decades, Unit::Nanoseconds),
            guide: Some(Guide::Level(f64::from(self.clock_ns.max(1)))),
            marks: Marks::Lines((0..Latency::NAMES.len()).map(|at| line(subject, at)).collect()),
        };
        Figure {
            title: format!("Latency of find-or-put: {}, workers {workers}", in_words(mix)),
            note: format!("{}; one operation in {} was timed", self.note(), self.sampled),
            series: Latency::NAMES.map(str::to_owned).into(),
            guide: Some("the clock itself".to_owned()),
            panels: self.subjects().into_iter().map(panel).collect(),
        }
    }

    /// A panel for each size of chunks: chunks that an insert reads, beside theory.
    fn probes(&self) -> Figure {
        let kinds: [(&str, Column); 5] = [
            ("measured", |theory| theory.measured),
            ("simulated", |theory| Some(theory.simulated)),
            ("g(C, a)", |theory| Some(theory.formula)),
            ("thesis, measured", |theory| theory.thesis_measured),
            ("thesis, expected", |theory| theory.thesis_expected.map(f64::from)),
        ];
        let line = |series: usize, chunk| {
            let of_chunk = self.theory.iter().filter(|theory| theory.chunk == chunk);
            let points = of_chunk.filter_map(|theory| Some((theory.load, kinds[series].1(theory)?)));
            Line { series, points: points.collect() }
        };
        let panel = |chunk| Panel {
            title: format!("C = {chunk}"),
            x: load_axis(),
            y: Axis::new("chunks per insert", Scale::Linear, Unit::Number),
            guide: Some(Guide::Level(1.0)),
            marks: Marks::Lines((0..kinds.len()).map(|series| line(series, chunk)).collect()),
        };
        Figure {
            title: "Chunks of C slots that an insert reads".to_owned(),
            note: "The thesis: W. Oortwijn, Distributed Symbolic Reachability Analysis, 2015, Figure 3.17".to_owned(),
            series: kinds.iter().map(|kind| kind.0.to_owned()).collect(),
            guide: Some("one chunk".to_owned()),
            panels: unique(self.theory.iter().map(|theory| theory.chunk)).into_iter().map(panel).collect(),
        }
    }

    /// A line for each subject, over all loads.
    fn lines(&self, subjects: &[Subject], value: impl Fn(Subject, f64) -> Option<f64>) -> Vec<Line> {
        let points =
            |subject| self.loads().into_iter().filter_map(|load| Some((load, value(subject, load)?))).collect();
        subjects.iter().enumerate().map(|(series, &subject)| Line { series, points: points(subject) }).collect()
    }
}

fn load_axis() -> Axis {
    Axis::new("load factor", Scale::Linear, Unit::Number)
}

fn in_words(mix: Mix) -> String {
    format!("{} % finds, {} % inserts", mix.finds(), mix.inserts())
}

fn name(subject: Subject) -> String {
    match subject {
        Subject::Chunks(slots) => format!("C = {slots}"),
        Subject::CacheLine => "cache line".to_owned(),
        Subject::Itself => "the table itself".to_owned(),
        Subject::Linear | Subject::Quadratic => subject.to_string(),
    }
}
