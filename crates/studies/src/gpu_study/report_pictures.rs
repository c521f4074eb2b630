//! The report as pictures.

use super::report::GpuReport;
use crate::Picture;
use crate::plot::{Axis, Figure, Line, Marks, Panel, Scale, Unit};

impl GpuReport {
    /// Find-or-put by load, and sweeps by width.
    pub fn pictures(&self) -> Vec<Picture> {
        let [put, find] = [0, 1];
        let by_load = |series, value: fn(&super::TableReport) -> f64| Line {
            series,
            points: self.table.iter().map(|one| (one.load, value(one))).collect(),
        };
        let table = Figure {
            title: "Find-or-put".to_owned(),
            note: format!("{}, {} places", self.device, self.places),
            series: vec!["put new nodes".to_owned(), "find nodes".to_owned()],
            panels: vec![Panel {
                title: String::new(),
                x: Axis::new("load", Scale::Linear, Unit::Number),
                y: Axis::new("billions per second", Scale::Linear, Unit::Number),
                guide: None,
                marks: Marks::Lines(vec![by_load(put, |one| one.put), by_load(find, |one| one.find.median)]),
            }],
            ..Figure::default()
        };
        let by_width = |title: &str, label: &str, unit, value: fn(&super::LevelReport) -> f64| Panel {
            title: title.to_owned(),
            x: Axis::new("requests at a level", Scale::Decades, Unit::Number),
            y: Axis::new(label, Scale::Decades, unit),
            guide: None,
            marks: Marks::Lines(vec![Line {
                series: 0,
                points: self.levels.iter().map(|one| (one.width as f64, value(one))).collect(),
            }]),
        };
        let levels = Figure {
            title: "Sweeps".to_owned(),
            note: self.device.clone(),
            series: vec!["a union of two sets".to_owned()],
            panels: vec![
                by_width("a level, down and up", "time", Unit::Nanoseconds, |one| one.nanoseconds_per_level()),
                by_width("throughput", "billions of operations per second", Unit::Number, |one| one.operations()),
            ],
            ..Figure::default()
        };
        [("gpu-table.svg", table), ("gpu-levels.svg", levels)]
            .map(|(file_name, figure)| Picture { file_name: file_name.to_owned(), svg: figure.to_svg() })
            .into()
    }
}
