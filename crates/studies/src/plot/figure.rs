//! Figures: panels in a grid under a title and a legend.

use super::area::{Area, text};
use super::axis::Axis;
use super::bars::{self, Bars};
use super::lines::{self, Line};
use super::points::{self, Point};
use super::style::{self, COLOURS};
use std::fmt::Write;

const MARGIN: f64 = 20.0;
const COLUMNS: usize = 3;
const PANEL_WIDTH: f64 = 350.0;
const PANEL_HEIGHT: f64 = 250.0;
/// Room inside a panel for the labels of its axes and its title.
const LEFT: f64 = 66.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 50.0;
/// Where title, note and the first line of the legend stand.
const TITLE_Y: f64 = 32.0;
const NOTE_Y: f64 = 52.0;
const LEGEND_Y: f64 = 76.0;
const LEGEND_LINE: f64 = 20.0;
const LETTER_WIDTH: f64 = 6.8;
const SWATCH: f64 = 26.0;

/// Charts that belong together.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    /// What it shows.
    pub title: String,
    /// What a reader needs to know.
    pub note: String,
    /// Names of the series, in the order of their colours.
    pub series: Vec<String>,
    /// What the panels' guides mean, if there are any.
    pub guide: Option<String>,
    /// The charts, from left to right and from top to bottom.
    pub panels: Vec<Panel>,
}

/// A chart.
#[derive(Clone, Debug)]
pub struct Panel {
    /// What it is about.
    pub title: String,
    /// Across. Bars use its label only.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// A dashed line to compare with.
    pub guide: Option<Guide>,
    /// What it shows.
    pub marks: Marks,
}

/// A dashed line to compare with.
#[derive(Copy, Clone, Debug)]
pub enum Guide {
    /// Everywhere at this height.
    Level(f64),
    /// As high as far to the right; among bars there is none.
    Diagonal,
}

/// What a panel shows.
#[derive(Clone, Debug)]
pub enum Marks {
    /// Lines with a mark at each point.
    Lines(Vec<Line>),
    /// Lines with too many points for marks.
    Curves(Vec<Line>),
    /// Points by themselves.
    Points(Vec<Point>),
    /// Bars in groups.
    Bars {
        /// Names of the groups.
        groups: Vec<String>,
        /// One entry for each series.
        bars: Vec<Bars>,
    },
}

impl Figure {
    /// The figure as an SVG document.
    pub fn to_svg(&self) -> String {
        let columns = self.panels.len().clamp(1, COLUMNS);
        let rows = self.panels.len().div_ceil(columns);
        let width = 2.0 * MARGIN + columns as f64 * PANEL_WIDTH;
        let (legend, panels_top) = self.legend(width);
        let height = panels_top + rows as f64 * PANEL_HEIGHT + MARGIN / 2.0;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\">\n<style>{}</style>\n\
             <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
            style::sheet()
        );
        text(&mut svg, "title", MARGIN, TITLE_Y, &self.title);
        text(&mut svg, "note", MARGIN, NOTE_Y, &self.note);
        svg.push_str(&legend);
        for (at, panel) in self.panels.iter().enumerate() {
            let area = Area {
                left: MARGIN + (at % columns) as f64 * PANEL_WIDTH + LEFT,
                top: panels_top + (at / columns) as f64 * PANEL_HEIGHT + TOP,
                width: PANEL_WIDTH - LEFT - RIGHT,
                height: PANEL_HEIGHT - TOP - BOTTOM,
            };
            area.titles(&mut svg, panel);
            match &panel.marks {
                Marks::Lines(lines) => lines::draw(&mut svg, &area, self, panel, lines, true),
                Marks::Curves(lines) => lines::draw(&mut svg, &area, self, panel, lines, false),
                Marks::Points(points) => points::draw(&mut svg, &area, panel, points),
                Marks::Bars { groups, bars } => bars::draw(&mut svg, &area, self, panel, groups, bars),
            }
        }
        svg + "</svg>\n"
    }

    /// The legend, in as many lines as it needs, and where it ends.
    fn legend(&self, width: f64) -> (String, f64) {
        let mut svg = String::new();
        let (mut x, mut y) = (MARGIN, LEGEND_Y);
        let names = self.series.iter().chain(&self.guide);
        for (series, name) in names.enumerate() {
            let entry = SWATCH + 6.0 + LETTER_WIDTH * name.chars().count() as f64 + 18.0;
            if x > MARGIN && x + entry > width - MARGIN {
                (x, y) = (MARGIN, y + LEGEND_LINE);
            }
            self.swatch(&mut svg, series, x, y - 4.0);
            text(&mut svg, "entry", x + SWATCH + 6.0, y, name);
            x += entry;
        }
        (svg, y + 8.0)
    }

    /// A sample of the series, or of the guide, which comes last.
    fn swatch(&self, svg: &mut String, series: usize, x: f64, y: f64) {
        if series >= self.series.len() {
            let _ = writeln!(svg, "<path class=\"guide\" d=\"M{x:.1} {y:.1}h{SWATCH}\"/>");
            return;
        }
        let class = series % COLOURS;
        let any = |is: fn(&Marks) -> bool| self.panels.iter().any(|panel| is(&panel.marks));
        if any(|marks| matches!(marks, Marks::Bars { .. })) {
            let (left, top) = (x + SWATCH - 14.0, y - 6.0);
            let _ =
                writeln!(svg, "<rect class=\"f{class}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"14\" height=\"12\"/>");
            return;
        }
        if any(|marks| !matches!(marks, Marks::Points(_))) {
            let _ = writeln!(svg, "<path class=\"{}\" d=\"M{x:.1} {y:.1}h{SWATCH}\"/>", style::line_class(series));
        }
        if any(|marks| matches!(marks, Marks::Lines(_) | Marks::Points(_))) {
            let _ = writeln!(svg, "<path class=\"f{class}\" d=\"{}\"/>", style::mark(series, x + SWATCH / 2.0, y));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Bar, Scale, Unit};
    use super::*;

    fn axis(label: &str) -> Axis {
        Axis { label: label.into(), scale: Scale::Linear, unit: Unit::Number }
    }

    fn figure(marks: Marks) -> Figure {
        let guide = Some(Guide::Level(3.0));
        let panel = Panel { title: "a < b & c".into(), x: axis("x"), y: axis("y"), guide, marks };
        Figure {
            title: "\"T\"".into(),
            series: vec!["one".into(), "two".into()],
            panels: vec![panel; 4],
            ..Figure::default()
        }
    }

    fn lines() -> Marks {
        Marks::Lines(vec![Line { series: 0, points: vec![(1.0, 1.0), (2.0, 4.0)] }, Line { series: 1, points: vec![] }])
    }

    fn points() -> Marks {
        Marks::Points(vec![Point { series: 1, name: "m".into(), place: (1.0, 2.0) }])
    }

    fn bars() -> Marks {
        let bar = Bar { value: 2.0, least: 1.0, greatest: 2.5 };
        let bars = vec![Bars { series: 0, bars: vec![Some(bar), None] }, Bars { series: 1, bars: vec![] }];
        Marks::Bars { groups: vec!["g".into(), "h".into()], bars }
    }

    /// Every tag is closed, in the right order; nothing but tags contains `<` or `>`.
    fn assert_well_formed(svg: &str) {
        let mut open = Vec::new();
        for piece in svg.split('<').skip(1) {
            let (tag, _) = piece.split_once('>').unwrap_or_else(|| panic!("unclosed tag: {piece}"));
            let name = tag.split([' ', '/']).find(|part| !part.is_empty()).unwrap();
            if tag.starts_with('/') {
                assert_eq!(open.pop(), Some(name));
            } else if !tag.ends_with('/') {
                open.push(name);
            }
        }
        assert_eq!(open, [""; 0]);
    }

    #[test]
    fn figures_are_well_formed() {
        for marks in [lines(), bars(), points(), Marks::Curves(vec![]), Marks::Points(vec![])] {
            let svg = figure(marks).to_svg();
            assert_well_formed(&svg);
            assert!(svg.contains("a &lt; b &amp; c") && svg.contains("prefers-color-scheme:dark"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn an_empty_figure_is_a_title() {
        assert_well_formed(&Figure::default().to_svg());
    }

    #[test]
    fn marks_tell_their_numbers() {
        assert!(figure(lines()).to_svg().contains("<title>one, x 2.000: 4.000</title>"));
        assert!(figure(points()).to_svg().contains("<title>m, x 1.000: 2.000</title>"));
        assert!(figure(bars()).to_svg().contains("<title>one, x g: 2.000 (1.000 to 2.500)</title>"));
    }
}
