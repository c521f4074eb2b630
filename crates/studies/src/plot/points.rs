//! Panels with points that have names.

use super::area::{Area, escaped};
use super::axis::Ruler;
use super::figure::{Guide, Panel};
use super::lines::draw_guide;
use super::style::{COLOURS, mark};
use std::fmt::Write;

/// A point by itself.
#[derive(Clone, Debug)]
pub struct Point {
    /// Position in [`Figure::series`](super::Figure::series).
    pub series: usize,
    /// What it stands for.
    pub name: String,
    /// Across and upwards.
    pub place: (f64, f64),
}

pub(super) fn draw(svg: &mut String, area: &Area, panel: &Panel, points: &[Point]) {
    let across = || points.iter().map(|point| point.place.0);
    let up = || points.iter().map(|point| point.place.1);
    // Where both axes measure the same, they cover the same.
    let (x, y) = match panel.guide {
        Some(Guide::Diagonal) => {
            (Ruler::new(&panel.x, across().chain(up())), Ruler::new(&panel.y, up().chain(across())))
        }
        Some(Guide::Level(level)) => (Ruler::new(&panel.x, across()), Ruler::new(&panel.y, up().chain([level]))),
        None => (Ruler::new(&panel.x, across()), Ruler::new(&panel.y, up())),
    };
    area.x_ticks(svg, &x);
    area.y_ticks(svg, &y);
    area.frame(svg);
    draw_guide(svg, area, &x, &y, panel.guide);
    for Point { series, name, place } in points {
        let (left, top) = (area.x(&x, place.0), area.y(&y, place.1));
        let [across, up] =
            [(&panel.x, place.0), (&panel.y, place.1)].map(|(axis, value)| axis.unit.write_exactly(value));
        let title = escaped(&format!("{name}, {} {across}: {up}", panel.x.label));
        let (class, shape) = (series % COLOURS, mark(*series, left, top));
        let _ = writeln!(svg, "<path class=\"f{class}\" d=\"{shape}\"><title>{title}</title></path>");
    }
}
