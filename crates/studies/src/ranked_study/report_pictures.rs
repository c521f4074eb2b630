//! The report as pictures.

use super::report::{LatencyTable, RankedReport};
use crate::Picture;
use crate::plot::{Axis, Figure, Guide, Line, Marks, Panel, Scale, Unit};
use crate::table_study::{Latency, Mix};
use crate::unique::unique;

impl RankedReport {
    /// Throughput, chunks beside theory, and latencies.
    pub fn pictures(&self) -> Vec<Picture> {
        let chunks = (!self.chunks.is_empty()).then(|| ("table-ranks-chunks.svg", self.round_trips()));
        let latency = (!self.latencies.is_empty()).then(|| ("table-ranks-latency.svg", self.latency()));
        let throughput = Some(("table-ranks-throughput.svg", self.throughput()));
        throughput
            .filter(|(_, figure)| !figure.panels.is_empty())
            .into_iter()
            .chain(chunks)
            .chain(latency)
            .map(|(file_name, figure)| Picture { file_name: file_name.to_owned(), svg: figure.to_svg() })
            .collect()
    }

    fn note(&self) -> String {
        format!("{} ranks with {} slots each", self.ranks, self.slots)
    }

    fn chunk_sizes(&self) -> Vec<usize> {
        unique(self.chunks.iter().map(|report| report.chunk))
    }

    fn throughput(&self) -> Figure {
        let sizes = self.chunk_sizes();
        let owners = (!self.owned.is_empty()).then(|| "owners".to_owned());
        let panel = |(workers, mix): (usize, Mix)| Panel {
            title: format!("{} % finds, {} % inserts, workers {workers}", mix.finds(), mix.inserts()),
            x: Axis::new("load factor", Scale::Linear, Unit::Number),
            y: Axis::new("million operations / s", Scale::Linear, Unit::Number),
            guide: None,
            marks: Marks::Lines(
                sizes
                    .iter()
                    .enumerate()
                    .map(|(series, &chunk)| self.line(series, chunk, (workers, mix)))
                    .chain((workers == 1 && owners.is_some()).then(|| self.line_of_owners(sizes.len(), mix)))
                    .collect(),
            ),
        };
        Figure {
            title: "Find-or-put over ranks".to_owned(),
            note: self.note(),
            series: sizes.iter().map(|chunk| format!("C = {chunk}")).chain(owners.clone()).collect(),
            guide: None,
            panels: self.combinations().into_iter().map(panel).collect(),
        }
    }

    fn line(&self, series: usize, chunk: usize, (workers, mix): (usize, Mix)) -> Line {
        let mine =
            self.speeds.iter().filter(|report| (report.chunk, report.workers, report.mix) == (chunk, workers, mix));
        Line { series, points: mine.map(|report| (report.load, report.speed.median)).collect() }
    }

    fn line_of_owners(&self, series: usize, mix: Mix) -> Line {
        let mine = self.owned.iter().filter(|report| report.mix == mix);
        Line { series, points: mine.map(|report| (report.load, report.speed.median)).collect() }
    }

    /// A panel for each table, a line for each percentile.
    fn latency(&self) -> Figure {
        let tables = unique(self.latencies.iter().map(|report| report.table));
        let line = |table, at: usize| {
            let mine = self.latencies.iter().filter(move |report| report.table == table);
            Line {
                series: at,
                points: mine.map(|report| (report.load, f64::from(report.latency_ns.values()[at]))).collect(),
            }
        };
        let panel = |table: LatencyTable| Panel {
            title: table.to_string(),
            x: Axis::new("load factor", Scale::Linear, Unit::Number),
            y: Axis::new("latency", Scale::Decades, Unit::Nanoseconds),
            guide: Some(Guide::Level(f64::from(self.clock_ns.max(1)))),
            marks: Marks::Lines((0..Latency::NAMES.len()).map(|at| line(table, at)).collect()),
        };
        Figure {
            title: "Latency of single operations over ranks".to_owned(),
            note: format!("{}, one worker of each, all at the same time", self.note()),
            series: Latency::NAMES.map(str::to_owned).into(),
            guide: Some("the clock itself".to_owned()),
            panels: tables.into_iter().map(panel).collect(),
        }
    }

    fn round_trips(&self) -> Figure {
        let panel = |chunk: usize| {
            let mine = || self.chunks.iter().filter(|report| report.chunk == chunk);
            let thesis = mine().filter_map(|report| Some((report.load, report.thesis?.1))).collect();
            let lines = [
                mine().map(|report| (report.load, report.measured)).collect(),
                mine().map(|report| (report.load, report.simulated)).collect(),
                thesis,
            ];
            Panel {
                title: format!("C = {chunk}"),
                x: Axis::new("load factor", Scale::Linear, Unit::Number),
                y: Axis::new("chunks per insert", Scale::Linear, Unit::Number),
                guide: Some(Guide::Level(1.0)),
                marks: Marks::Lines(
                    lines.into_iter().enumerate().map(|(series, points)| Line { series, points }).collect(),
                ),
            }
        };
        Figure {
            title: "Chunks of C slots that an insert reads".to_owned(),
            note: format!("{}. The thesis: W. Oortwijn, 2015, Figure 3.17", self.note()),
            series: ["measured", "simulated", "thesis, measured"].map(str::to_owned).into(),
            guide: Some("one chunk".to_owned()),
            panels: self.chunk_sizes().into_iter().map(panel).collect(),
        }
    }
}
