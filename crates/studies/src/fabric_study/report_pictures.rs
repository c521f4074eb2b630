//! The report as pictures.

use super::report::{BySize, FabricReport, TargetReport};
use crate::Picture;
use crate::plot::{Axis, Figure, Line, Marks, Panel, Scale, Unit};

type Sizes = fn(&TargetReport) -> &[BySize];

impl FabricReport {
    /// Latency and throughput by size.
    pub fn pictures(&self) -> Vec<Picture> {
        let kinds: [(&str, Sizes); 4] = [
            ("read, one after the other", |target| &target.get),
            ("write and flush", |target| &target.put),
            ("read, up to 64 at a time", |target| &target.many_gets),
            ("write, up to 64 before a flush", |target| &target.many_puts),
        ];
        let figure = |title: &str, label: &str, unit: Unit, value: fn(&BySize) -> f64| Figure {
            title: title.to_owned(),
            note: format!("Medians of {} measurements by rank 0 of {}", self.reps, self.ranks),
            series: self.targets.iter().map(TargetReport::title).collect(),
            guide: None,
            panels: kinds
                .iter()
                .map(|&(title, sizes)| Panel {
                    title: title.to_owned(),
                    x: Axis::new("length", Scale::Decades, Unit::Bytes),
                    y: Axis::new(label, Scale::Decades, unit),
                    guide: None,
                    marks: Marks::Lines(self.lines(sizes, value)),
                })
                .collect(),
        };
        let latency = figure("Time of one operation", "time", Unit::Nanoseconds, |one| one.nanoseconds.median);
        let rate = figure("Throughput", "gigabytes per second", Unit::Number, BySize::gigabytes_per_second);
        [("fabric-latency.svg", latency), ("fabric-throughput.svg", rate)]
            .map(|(file_name, figure)| Picture { file_name: file_name.to_owned(), svg: figure.to_svg() })
            .into()
    }

    fn lines(&self, sizes: Sizes, value: fn(&BySize) -> f64) -> Vec<Line> {
        let points = |target| sizes(target).iter().map(|one| (one.bytes as f64, value(one))).collect();
        self.targets.iter().enumerate().map(|(series, target)| Line { series, points: points(target) }).collect()
    }
}
