//! The read/write matrix as a picture: one cell per group and integer, self-contained.
//!
//! Reading fills the lower left half of a cell, writing the upper right half, so the picture reads without colours too.

use crate::info::NO_DIFFERENCE;
use crate::matrix::{Access, Matrix};
use std::fmt::Write;

/// Side of a cell, for matrices of moderate size.
const CELL: f64 = 12.0;
/// Large matrices get smaller cells, so that no side is much longer than this.
const LONGEST_SIDE: f64 = 4000.0;
/// Room for the numbers of groups.
const LEFT: f64 = 64.0;
/// Room for title, legend and the numbers of integers.
const TOP: f64 = 104.0;
const MARGIN: f64 = 20.0;
/// Narrower pictures would cut the legend off.
const LEAST_WIDTH: f64 = 420.0;

const STYLE: &str = "text{font:12px sans-serif;fill:#222}.title{font-size:16px;font-weight:bold}.note{fill:#666}\
                     .r{fill:#2a6fb0}.w{fill:#e08214}.grid{stroke:#e4e4e4;stroke-width:1;fill:none}\
                     .tens{stroke:#b5b5b5;stroke-width:1;fill:none}.frame{stroke:#777;fill:#fff}";

/// The picture of the matrix of a model called `name`.
pub fn draw(matrix: &Matrix, name: &str) -> String {
    let cell = cell_size(matrix);
    let (inner_width, inner_height) = (matrix.columns as f64 * cell, matrix.rows.len() as f64 * cell);
    let (width, height) = ((LEFT + inner_width + MARGIN).max(LEAST_WIDTH), TOP + inner_height + MARGIN);
    let mut svg = String::new();
    let _ = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">\n<style>{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    heading(&mut svg, matrix, name);
    let _ = writeln!(
        svg,
        "<rect class=\"frame\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{inner_width}\" height=\"{inner_height}\"/>"
    );
    grid(&mut svg, matrix, cell);
    axes(&mut svg, matrix, cell);
    cells(&mut svg, matrix, cell);
    svg + "</svg>\n"
}

fn cell_size(matrix: &Matrix) -> f64 {
    let longest = matrix.columns.max(matrix.rows.len()).max(1) as f64;
    // Halves of a pixel: short numbers, sharp edges.
    ((LONGEST_SIDE / longest).clamp(2.0, CELL) * 2.0).floor() / 2.0
}

fn heading(svg: &mut String, matrix: &Matrix, name: &str) {
    let (groups, integers) = (matrix.rows.len(), matrix.columns);
    let _ = writeln!(svg, "<text class=\"title\" x=\"{MARGIN}\" y=\"28\">{}</text>", escape(name));
    let _ = writeln!(
        svg,
        "<text class=\"note\" x=\"{MARGIN}\" y=\"46\">{groups} groups (rows), {integers} integers (columns)</text>"
    );
    let legend = match matrix.tells_reads_from_writes {
        true => vec![("read", Access::Read), ("written", Access::Write), ("both", Access::Both)],
        false => vec![("read or written (TEXT)", Access::Both)],
    };
    let mut x = MARGIN;
    for (text, access) in legend {
        let text = text.replace("TEXT", NO_DIFFERENCE);
        let mut halves = Halves::default();
        halves.add(x, 56.0, CELL, access);
        svg.push_str(&halves.finish());
        let _ = writeln!(svg, "<text x=\"{}\" y=\"66\">{text}</text>", x + CELL + 6.0);
        x += CELL + 6.0 + 7.0 * text.len() as f64 + 16.0;
    }
}

/// Thin lines between cells, darker ones at every tenth.
fn grid(svg: &mut String, matrix: &Matrix, cell: f64) {
    let (right, bottom) = (LEFT + matrix.columns as f64 * cell, TOP + matrix.rows.len() as f64 * cell);
    for (class, step, visible) in [("grid", 1, cell >= 6.0), ("tens", 10, true)] {
        if !visible {
            continue;
        }
        let mut path = String::new();
        for column in (step..matrix.columns).step_by(step) {
            let _ = write!(path, "M{} {TOP}V{bottom}", LEFT + column as f64 * cell);
        }
        for row in (step..matrix.rows.len()).step_by(step) {
            let _ = write!(path, "M{LEFT} {}H{right}", TOP + row as f64 * cell);
        }
        let _ = writeln!(svg, "<path class=\"{class}\" d=\"{path}\"/>");
    }
}

/// Numbers of columns and rows, as many as fit.
fn axes(svg: &mut String, matrix: &Matrix, cell: f64) {
    let step = |room: f64| [1, 2, 5, 10, 20, 50, 100, 200, 500].into_iter().find(|&step| step as f64 * cell >= room);
    for column in (0..matrix.columns).step_by(step(30.0).unwrap_or(1000)) {
        let x = LEFT + (column as f64 + 0.5) * cell;
        let _ = writeln!(svg, "<text text-anchor=\"middle\" x=\"{x}\" y=\"{}\">{column}</text>", TOP - 6.0);
    }
    for row in (0..matrix.rows.len()).step_by(step(14.0).unwrap_or(1000)) {
        let y = TOP + (row as f64 + 0.5) * cell + 4.0;
        let _ = writeln!(svg, "<text text-anchor=\"end\" x=\"{}\" y=\"{y}\">{row}</text>", LEFT - 6.0);
    }
}

fn cells(svg: &mut String, matrix: &Matrix, cell: f64) {
    for group in 0..matrix.rows.len() {
        let y = TOP + group as f64 * cell;
        let mut halves = Halves::default();
        for (integer, access) in matrix.accesses(group) {
            halves.add(LEFT + f64::from(integer) * cell, y, cell, access);
        }
        svg.push_str(&halves.finish());
    }
}

/// Halves of cells, as two paths.
#[derive(Default)]
struct Halves {
    read: String,
    written: String,
}

impl Halves {
    fn add(&mut self, x: f64, y: f64, cell: f64, access: Access) {
        let gap = if cell >= 6.0 { 1.0 } else { 0.0 };
        let (x, y, side) = (x + gap, y + gap, cell - 2.0 * gap);
        if access != Access::Write {
            let _ = write!(self.read, "M{x} {y}v{side}h{side}z");
        }
        if access != Access::Read {
            let _ = write!(self.written, "M{x} {y}h{side}v{side}z");
        }
    }

    fn finish(self) -> String {
        let path = |class: &str, d: &str| match d {
            "" => String::new(),
            _ => format!("<path class=\"{class}\" d=\"{d}\"/>\n"),
        };
        path("r", &self.read) + &path("w", &self.written)
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
