//! Pictures of diagrams that need nothing but a browser.
//!
//! One row per level in use, names at the left, the terminal at the bottom, a legend below it. Low edges leave a node at
//! its left and are dashed; high edges leave at its right; complemented edges are dotted and end in a hollow dot.

use super::Names;
use super::error::FileError;
use super::export::Export;
use super::layers::{Item, Kind, Layers, Link, Place};
use crate::Bdd;
use crate::manager::{ImportEdge, Manager};
use std::io::Write;

/// A limit on nodes above which pictures stop being readable.
pub const PICTURE_LIMIT: usize = 500;

const ROW_HEIGHT: f64 = 78.0;
const NODE_HEIGHT: f64 = 28.0;
const MARGIN: f64 = 24.0;
const LETTER_WIDTH: f64 = 7.4;
const LONGEST_LABEL: usize = 14;
const LONGEST_ROW_NAME: usize = 28;
const BEND_WIDTH: f64 = 6.0;
/// Room at the end of an edge for its head.
const HEAD: f64 = 7.0;
/// Half of the straight piece of an edge where it passes a row.
const STRAIGHT: f64 = 12.0;
const LEGEND_ENTRY: f64 = 215.0;
const LEGEND: [(Kind, &str); 3] = [
    (Kind::Low, "low: variable is false"),
    (Kind::High, "high: variable is true"),
    (Kind::HighComplement, "high, complemented: negate"),
];

const STYLE: &str = "text{font:12px ui-sans-serif,system-ui,'DejaVu Sans',sans-serif;fill:#1e293b}
.row{fill:#64748b}.band{fill:#f6f8fb}.root{font-weight:600;fill:#0f766e}
.node rect{fill:#fff;stroke:#334155;stroke-width:1.4}.node text,.root{text-anchor:middle}
.terminal rect{fill:#e2e8f0;stroke:#334155;stroke-width:1.4}.terminal text{text-anchor:middle;font-weight:700}
path{fill:none;stroke-width:1.5}.low{stroke:#2563eb;stroke-dasharray:7 4}.high{stroke:#1e293b}
.not{stroke:#c2410c;stroke-dasharray:.1 4.2;stroke-linecap:round;stroke-width:2.2}
.top{stroke:#0f766e}.topnot{stroke:#0f766e;stroke-dasharray:.1 4.2;stroke-linecap:round;stroke-width:2.2}";

impl Manager {
    /// Draw named functions as one SVG image; an error when they have more than `node_limit` nodes.
    ///
    /// [`PICTURE_LIMIT`](super::PICTURE_LIMIT) is a sensible limit.
    pub fn write_svg(
        &self,
        roots: &[(&str, &Bdd)],
        names: Names,
        node_limit: usize,
        out: impl Write,
    ) -> Result<(), FileError> {
        let functions: Vec<&Bdd> = roots.iter().map(|root| root.1).collect();
        let nodes = self.shared_node_count(&functions)?;
        if nodes > node_limit {
            return Err(FileError::TooManyNodes { nodes: nodes as u64, limit: node_limit as u64 });
        }
        let export = self.export(&functions)?;
        let label = |item: Item| match item {
            Item::Node(0) => "0".to_string(),
            Item::Node(number) => shortened(&names(export.nodes[number as usize - 1].level), LONGEST_LABEL),
            Item::Root(at) => shortened(roots[at].0, LONGEST_ROW_NAME),
            Item::Bend { .. } => String::new(),
        };
        let layers = Layers::new(&export, &|item| match item {
            Item::Bend { .. } => BEND_WIDTH,
            _ => text_width(&label(item)).max(NODE_HEIGHT),
        });
        Picture::new(&export, &layers, names, &label, out).draw()
    }
}

struct Picture<'a, W> {
    export: &'a Export,
    layers: &'a Layers,
    names: Names<'a>,
    label: &'a dyn Fn(Item) -> String,
    out: W,
    /// What to add to a place's position.
    shift: f64,
    width: f64,
    height: f64,
}

impl<'a, W: Write> Picture<'a, W> {
    fn new(
        export: &'a Export,
        layers: &'a Layers,
        names: Names<'a>,
        label: &'a dyn Fn(Item) -> String,
        out: W,
    ) -> Picture<'a, W> {
        let row_name = |&level: &u32| text_width(&shortened(&names(level), LONGEST_ROW_NAME));
        let gutter = layers.levels.iter().map(row_name).fold(0.0, f64::max);
        let (left, right) = layers.extent();
        let legend = LEGEND_ENTRY * LEGEND.len() as f64;
        let content = gutter + MARGIN + (right - left);
        let width = content.max(legend) + 2.0 * MARGIN;
        let height = layers.rows.len() as f64 * ROW_HEIGHT + 2.0 * MARGIN;
        // A picture narrower than its legend stands in the middle above it.
        let shift = MARGIN + gutter + MARGIN - left + (legend - content).max(0.0) / 2.0;
        Picture { export, layers, names, label, out, shift, width, height }
    }

    fn draw(mut self) -> Result<(), FileError> {
        let (width, height) = (self.width, self.height);
        writeln!(
            self.out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\">\n<style>{STYLE}</style>"
        )?;
        self.draw_heads()?;
        writeln!(self.out, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>")?;
        self.draw_rows()?;
        for link in &self.layers.links {
            self.draw_link(link)?;
        }
        for place in &self.layers.places {
            self.draw_place(place)?;
        }
        self.draw_legend()?;
        writeln!(self.out, "</svg>")?;
        Ok(self.out.flush()?)
    }

    /// Heads of edges: triangles, and hollow dots for complements.
    fn draw_heads(&mut self) -> Result<(), FileError> {
        writeln!(self.out, "<defs>")?;
        for (name, colour) in [("low", "#2563eb"), ("high", "#1e293b"), ("top", "#0f766e")] {
            writeln!(
                self.out,
                "<marker id=\"{name}\" viewBox=\"0 0 8 8\" refX=\"1\" refY=\"4\" markerWidth=\"7\" markerHeight=\"8\" \
                 markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0.8L8 4L0 7.2z\" \
                 style=\"fill:{colour};stroke:none\"/></marker>"
            )?;
        }
        for (name, colour) in [("not", "#c2410c"), ("topnot", "#0f766e")] {
            writeln!(
                self.out,
                "<marker id=\"{name}\" viewBox=\"0 0 8 8\" refX=\"1\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
                 markerUnits=\"userSpaceOnUse\" orient=\"auto\"><circle cx=\"4\" cy=\"4\" r=\"3\" \
                 style=\"fill:#fff;stroke:{colour};stroke-width:1.5\"/></marker>"
            )?;
        }
        Ok(writeln!(self.out, "</defs>")?)
    }

    fn y(&self, row: usize) -> f64 {
        MARGIN + (row as f64 + 0.5) * ROW_HEIGHT - ROW_HEIGHT / 4.0
    }

    /// A band and a name for each level.
    fn draw_rows(&mut self) -> Result<(), FileError> {
        for (at, &level) in self.layers.levels.iter().enumerate() {
            let y = self.y(at + 1);
            if at % 2 == 0 {
                let (top, width) = (y - ROW_HEIGHT / 2.0, self.width);
                let band = "class=\"band\" x=\"0\"";
                writeln!(self.out, "<rect {band} y=\"{top:.1}\" width=\"{width:.0}\" height=\"{ROW_HEIGHT}\"/>")?;
            }
            let full = (self.names)(level);
            let name = escaped(&shortened(&full, LONGEST_ROW_NAME));
            let title = escaped(&full);
            let y = y + 4.0;
            let text = format!("<title>{title} (level {level})</title>{name}");
            writeln!(self.out, "<text class=\"row\" x=\"{MARGIN}\" y=\"{y:.1}\">{text}</text>")?;
        }
        Ok(())
    }

    fn draw_link(&mut self, link: &Link) -> Result<(), FileError> {
        let (from, to) = (&self.layers.places[link.from], &self.layers.places[link.to]);
        let (x1, y1) = (self.shift + from.x + leaving(from, link.kind), self.y(from.row) + reach(from));
        let ends = !matches!(to.item, Item::Bend { .. });
        let y2 = self.y(to.row) - reach(to) - if ends { HEAD } else { 0.0 };
        let x2 = self.shift + to.x + if ends { arriving(link.kind) } else { 0.0 };
        let (class, middle) = (class(link.kind), (y1 + y2) / 2.0);
        let curve = format!("M{x1:.1} {y1:.1}C{x1:.1} {middle:.1} {x2:.1} {middle:.1} {x2:.1} {y2:.1}");
        let head = if ends { format!(" marker-end=\"url(#{class})\"") } else { String::new() };
        Ok(writeln!(self.out, "<path class=\"{class}\" d=\"{curve}\"{head}/>")?)
    }

    fn draw_place(&mut self, place: &Place) -> Result<(), FileError> {
        let (x, y) = (self.shift + place.x, self.y(place.row));
        let text = escaped(&(self.label)(place.item));
        let baseline = y + 4.2;
        match place.item {
            Item::Bend { kind, .. } => {
                let (class, top, length) = (class(kind), y - STRAIGHT, 2.0 * STRAIGHT);
                Ok(writeln!(self.out, "<path class=\"{class}\" d=\"M{x:.1} {top:.1}v{length}\"/>")?)
            }
            Item::Root(_) => {
                Ok(writeln!(self.out, "<text class=\"root\" x=\"{x:.1}\" y=\"{baseline:.1}\">{text}</text>")?)
            }
            Item::Node(number) => {
                let (class, round) = if number == 0 { ("terminal", 3.0) } else { ("node", NODE_HEIGHT / 2.0) };
                let (left, top, width) = (x - place.width / 2.0, y - NODE_HEIGHT / 2.0, place.width);
                let title = escaped(&self.describe(number));
                write!(self.out, "<g class=\"{class}\"><title>{title}</title>")?;
                write!(
                    self.out,
                    "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{NODE_HEIGHT}\" "
                )?;
                writeln!(self.out, "rx=\"{round}\"/><text x=\"{x:.1}\" y=\"{baseline:.1}\">{text}</text></g>")?;
                Ok(())
            }
        }
    }

    /// What a browser shows when the pointer rests on a node.
    fn describe(&self, number: u32) -> String {
        let Some(at) = (number as usize).checked_sub(1) else { return "the constant false".to_string() };
        let node = self.export.nodes[at];
        let edge = |edge: ImportEdge| match (edge.node, edge.complement) {
            (0, false) => "false".to_string(),
            (0, true) => "true".to_string(),
            (node, complement) => format!("{}node {node}", if complement { "not " } else { "" }),
        };
        let name = (self.names)(node.level);
        format!("node {number}: {name} (level {}), low {}, high {}", node.level, edge(node.low), edge(node.high))
    }

    fn draw_legend(&mut self) -> Result<(), FileError> {
        let y = self.height - MARGIN;
        let start = (self.width - LEGEND_ENTRY * LEGEND.len() as f64) / 2.0;
        for (at, (kind, text)) in LEGEND.iter().enumerate() {
            let (x, class) = (start + at as f64 * LEGEND_ENTRY, class(*kind));
            let (label, baseline) = (x + 48.0, y + 4.0);
            write!(self.out, "<path class=\"{class}\" d=\"M{x:.1} {y:.1}h30\" marker-end=\"url(#{class})\"/>")?;
            writeln!(self.out, "<text x=\"{label:.1}\" y=\"{baseline:.1}\">{text}</text>")?;
        }
        Ok(())
    }
}

fn class(kind: Kind) -> &'static str {
    match kind {
        Kind::Low => "low",
        Kind::High => "high",
        Kind::HighComplement => "not",
        Kind::Root => "top",
        Kind::RootComplement => "topnot",
    }
}

/// How far a place reaches up and down from the middle of its row.
fn reach(place: &Place) -> f64 {
    match place.item {
        Item::Node(_) => NODE_HEIGHT / 2.0,
        Item::Root(_) => 9.0,
        Item::Bend { .. } => STRAIGHT,
    }
}

/// Low edges leave at the left, high edges at the right.
fn leaving(place: &Place, kind: Kind) -> f64 {
    match place.item {
        Item::Node(_) => f64::from(kind.port()) * place.width / 5.0,
        Item::Root(_) | Item::Bend { .. } => 0.0,
    }
}

/// Edges of different kinds arrive apart.
fn arriving(kind: Kind) -> f64 {
    match kind {
        Kind::Low => -7.0,
        Kind::High => 7.0,
        _ => 0.0,
    }
}

fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * LETTER_WIDTH + 12.0
}

fn shortened(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_string();
    }
    text.chars().take(longest - 1).chain(['…']).collect()
}

/// Text for XML: markup escaped, characters that XML forbids replaced.
fn escaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => result.push_str("&amp;"),
            '<' => result.push_str("&lt;"),
            '>' => result.push_str("&gt;"),
            '"' => result.push_str("&quot;"),
            '\t' | '\n' => result.push(' '),
            '\u{0}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}' => result.push('\u{FFFD}'),
            _ => result.push(letter),
        }
    }
    result
}
