//! The report as pictures.

use super::report::{KindReport, ModelReport, ReachReport, way_name};
use super::shape::Shape;
use crate::Picture;
use crate::plot::{Axis, Figure, Guide, Line, Marks, Panel, Point, Scale, Unit};
use crate::unique::unique;

/// A line: what its points have in common, and in which variant.
type Series<'r> = (u32, Option<&'r str>);

impl ReachReport {
    /// Speed-up by workers, by ranks, by the time of the first shape, and times beside that.
    pub fn pictures(&self) -> Vec<Picture> {
        let by_workers = self.lines(
            "Speed-up by workers of all ranks",
            ("workers of all ranks", Shape::all_workers),
            |shape| shape.ranks,
            |ranks| if ranks == 1 { "1 rank".to_owned() } else { format!("{ranks} ranks") },
        );
        // As figure 4 of the paper.
        let by_ranks = self.lines(
            "Speed-up by ranks",
            ("ranks", |shape| shape.ranks),
            |shape| shape.workers,
            |workers| format!("{workers} {} a rank", if workers == 1 { "worker" } else { "workers" }),
        );
        let figures = [
            ("reach-workers.svg", by_workers),
            ("reach-ranks.svg", by_ranks),
            ("reach-sizes.svg", self.sizes()),
            ("reach-times.svg", self.times()),
        ];
        let drawn = figures.into_iter().filter(|(_, figure)| !figure.panels.is_empty());
        drawn.map(|(name, figure)| Picture { file_name: name.to_owned(), svg: figure.to_svg() }).collect()
    }

    fn note(&self) -> String {
        let base = self.base().map_or(String::new(), |base| format!(", compared with {base}"));
        format!("{}, medians of {} runs on {} processors{base}", self.strategy, self.reps, self.processors)
    }

    /// A panel for each model, with lines through the shapes that have something in common.
    fn lines(
        &self,
        title: &str,
        (label, across): (&str, fn(Shape) -> u32),
        common: fn(Shape) -> u32,
        name: impl Fn(u32) -> String,
    ) -> Figure {
        let kinds = self.models.iter().flat_map(|model| &model.kinds);
        let mut series: Vec<Series> = unique(kinds.map(|kind| (common(kind.shape), kind.variant.as_deref())));
        series.sort_by_key(|&(number, _)| number);
        let panel = |model: &ModelReport| Panel {
            title: model.name.clone(),
            x: Axis::new(label, Scale::Whole, Unit::Number),
            y: Axis::new("speed-up", Scale::Linear, Unit::Number),
            guide: Some(Guide::Level(1.0)),
            marks: Marks::Lines(
                series.iter().enumerate().map(|(at, one)| line(model, at, *one, across, common)).collect(),
            ),
        };
        let with_variant = |&(number, variant): &Series| match variant {
            Some(variant) => format!("{}, {variant}", name(number)),
            None => name(number),
        };
        Figure {
            title: title.to_owned(),
            note: self.note(),
            series: series.iter().map(with_variant).collect(),
            guide: self.base().map(|base| format!("as fast as {base}")),
            panels: self.models.iter().filter(|model| model.states.is_some()).map(panel).collect(),
        }
    }

    /// As figure 3 of the paper: do large models gain more?
    fn sizes(&self) -> Figure {
        let y = Axis::new("speed-up", Scale::Linear, Unit::Number);
        let value = |kind: &KindReport| Some(kind.speed_up.as_ref()?.median);
        Figure {
            title: "Speed-up by the time of the first shape".to_owned(),
            guide: self.base().map(|base| format!("as fast as {base}")),
            ..self.points(&y, Guide::Level(1.0), value)
        }
    }

    fn times(&self) -> Figure {
        let y = Axis::new("time", Scale::Decades, Unit::Seconds);
        Figure {
            title: "Time beside that of the first shape".to_owned(),
            guide: Some("the same time".to_owned()),
            ..self.points(&y, Guide::Diagonal, KindReport::median)
        }
    }

    /// A panel for each shape but the first, with a point for each model.
    fn points(&self, y: &Axis, guide: Guide, value: impl Fn(&KindReport) -> Option<f64>) -> Figure {
        let variants = self.variant_names();
        let Some(base) = self.base() else { return Figure::default() };
        let others = self.ways().into_iter().filter(|(shape, _)| *shape != base);
        let panel = |way: (Shape, Option<&str>)| {
            let series = variants.iter().position(|&variant| variant == way.1).unwrap_or(0);
            let point = |model: &ModelReport| {
                let across = model.find((base, way.1))?.median()?;
                Some(Point { series, name: model.name.clone(), place: (across, value(model.find(way)?)?) })
            };
            let points: Vec<Point> = self.models.iter().filter_map(point).collect();
            (!points.is_empty()).then(|| Panel {
                title: way_name(way),
                x: Axis::new(&format!("time of {}", way_name((base, way.1))), Scale::Decades, Unit::Seconds),
                y: y.clone(),
                guide: Some(guide),
                marks: Marks::Points(points),
            })
        };
        Figure {
            note: self.note(),
            series: variants.iter().map(|variant| variant.unwrap_or("a model").to_owned()).collect(),
            panels: others.filter_map(panel).collect(),
            ..Figure::default()
        }
    }
}

fn line(
    model: &ModelReport,
    at: usize,
    (number, variant): Series,
    across: fn(Shape) -> u32,
    common: fn(Shape) -> u32,
) -> Line {
    let kinds = model.of(variant).filter(|kind| common(kind.shape) == number);
    let point = |kind: &KindReport| Some((f64::from(across(kind.shape)), kind.speed_up.as_ref()?.median));
    let mut points: Vec<(f64, f64)> = kinds.filter_map(point).collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    Line { series: at, points }
}
