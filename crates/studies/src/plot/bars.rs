//! Panels with grouped bars.

use super::area::{Area, escaped, text};
use super::axis::Ruler;
use super::figure::{Figure, Guide, Panel};
use super::style::COLOURS;
use std::fmt::Write;

/// The share of a group's room that its bars fill.
const FILLED: f64 = 0.78;

/// The bars of one series, one for each group.
#[derive(Clone, Debug)]
pub struct Bars {
    /// Position in [`Figure::series`].
    pub series: usize,
    /// In the order of the groups; none: no bar.
    pub bars: Vec<Option<Bar>>,
}

/// A bar with a whisker that shows the spread.
///
/// The axis covers values, and a whisker that goes further ends with it: one bad measurement must not flatten all bars.
#[derive(Copy, Clone, Debug)]
pub struct Bar {
    /// How high it is.
    pub value: f64,
    /// Where the whisker begins.
    pub least: f64,
    /// Where it ends.
    pub greatest: f64,
}

pub(super) fn draw(svg: &mut String, area: &Area, figure: &Figure, panel: &Panel, groups: &[String], all: &[Bars]) {
    let level = if let Some(Guide::Level(level)) = panel.guide { Some(level) } else { None };
    let heights = all.iter().flat_map(|bars| &bars.bars).flatten().map(|bar| bar.value);
    let y = Ruler::new(&panel.y, heights.chain(level));
    area.y_ticks(svg, &y);
    let room = area.width / groups.len().max(1) as f64;
    let width = room * FILLED / all.len().max(1) as f64;
    for (group, name) in groups.iter().enumerate() {
        let left = area.left + group as f64 * room;
        text(svg, "tick middle", left + room / 2.0, area.bottom() + 16.0, name);
        for (at, bars) in all.iter().enumerate() {
            if let Some(Some(bar)) = bars.bars.get(group) {
                let x = left + room * (1.0 - FILLED) / 2.0 + at as f64 * width;
                let title = title(figure, panel, bars.series, name, bar);
                draw_bar(svg, area, &y, (x, width), bars.series, bar, &title);
            }
        }
    }
    area.frame(svg);
    if let Some(level) = level {
        let (left, width, y) = (area.left, area.width, area.y(&y, level));
        let _ = writeln!(svg, "<path class=\"guide\" d=\"M{left:.1} {y:.1}h{width:.1}\"/>");
    }
}

fn draw_bar(svg: &mut String, area: &Area, y: &Ruler, (x, width): (f64, f64), series: usize, bar: &Bar, title: &str) {
    let (top, class) = (area.y(y, bar.value), series % COLOURS);
    let height = area.bottom() - top;
    // Neighbours stay apart by a pixel.
    let inner = (width - 1.0).max(1.0);
    let _ = writeln!(
        svg,
        "<rect class=\"f{class}\" x=\"{x:.1}\" y=\"{top:.1}\" width=\"{inner:.1}\" height=\"{height:.1}\">\
         <title>{title}</title></rect>"
    );
    let (middle, low, high) = (x + inner / 2.0, area.y(y, bar.least), area.y(y, bar.greatest).max(area.top));
    let _ = writeln!(svg, "<path class=\"whisker\" d=\"M{middle:.1} {low:.1}V{high:.1}\"/>");
}

fn title(figure: &Figure, panel: &Panel, series: usize, group: &str, bar: &Bar) -> String {
    let name = figure.series.get(series).map_or("", String::as_str);
    let [value, least, greatest] = [bar.value, bar.least, bar.greatest].map(|value| panel.y.unit.write_exactly(value));
    escaped(&format!("{name}, {} {group}: {value} ({least} to {greatest})", panel.x.label))
}
