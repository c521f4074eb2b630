//! Panels with lines.

use super::area::{Area, escaped};
use super::axis::Ruler;
use super::figure::{Figure, Guide, Panel};
use super::style::{COLOURS, line_class, mark};
use std::fmt::Write;

/// A line through points.
#[derive(Clone, Debug)]
pub struct Line {
    /// Position in [`Figure::series`].
    pub series: usize,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

pub(super) fn draw(svg: &mut String, area: &Area, figure: &Figure, panel: &Panel, lines: &[Line], marked: bool) {
    let points = || lines.iter().flat_map(|line| &line.points);
    let level = if let Some(Guide::Level(level)) = panel.guide { Some(level) } else { None };
    let x = Ruler::new(&panel.x, points().map(|point| point.0));
    let y = Ruler::new(&panel.y, points().map(|point| point.1).chain(level));
    area.x_ticks(svg, &x);
    area.y_ticks(svg, &y);
    area.frame(svg);
    draw_guide(svg, area, &x, &y, panel.guide);
    for line in lines {
        let place = |&(across, up): &(f64, f64)| (area.x(&x, across), area.y(&y, up));
        let places: Vec<(f64, f64)> = line.points.iter().map(place).collect();
        let _ = writeln!(svg, "<path class=\"{}\" d=\"{}\"/>", line_class(line.series), path(&places));
        if marked {
            draw_marks(svg, figure, panel, line, &places);
        }
    }
}

fn draw_marks(svg: &mut String, figure: &Figure, panel: &Panel, line: &Line, places: &[(f64, f64)]) {
    let name = figure.series.get(line.series).map_or("", String::as_str);
    for (&(left, top), &(across, up)) in places.iter().zip(&line.points) {
        let (across, up) = (panel.x.unit.write_exactly(across), panel.y.unit.write_exactly(up));
        let title = escaped(&format!("{name}, {} {across}: {up}", panel.x.label));
        let (class, shape) = (line.series % COLOURS, mark(line.series, left, top));
        let _ = writeln!(svg, "<path class=\"f{class}\" d=\"{shape}\"><title>{title}</title></path>");
    }
}

/// A guide ends where either axis does.
pub(super) fn draw_guide(svg: &mut String, area: &Area, x: &Ruler, y: &Ruler, guide: Option<Guide>) {
    let Some(guide) = guide else { return };
    let ((left, right), (low, high)) = (x.ends(), y.ends());
    let ends = match guide {
        Guide::Level(level) => [(left, level), (right, level)],
        Guide::Diagonal => [left.max(low), right.min(high)].map(|end| (end, end)),
    };
    let places = ends.map(|(across, up)| (area.x(x, across), area.y(y, up)));
    let _ = writeln!(svg, "<path class=\"guide\" d=\"{}\"/>", path(&places));
}

fn path(places: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (at, (x, y)) in places.iter().enumerate() {
        let _ = write!(path, "{}{x:.1} {y:.1}", if at == 0 { "M" } else { "L" });
    }
    path
}
