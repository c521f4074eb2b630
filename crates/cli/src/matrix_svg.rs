//! A matrix as a picture: one cell per group and integer, or transition and place; self-contained.
//!
//! Reading fills the lower left half of a cell, writing the upper right half, so the picture reads without colours too.

use crate::error::Failure;
use crate::info::NO_DIFFERENCE;
use crate::matrix::{Access, Matrix, Terms};
use crate::output;
use std::fmt::Write;
use std::path::Path;

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
/// Width of a letter, on average and a little more.
const LETTER: f64 = 6.5;
/// The same in the title.
const TITLE_LETTER: f64 = 9.5;

const STYLE: &str = "text{font:12px sans-serif;fill:#222}.title{font-size:16px;font-weight:bold}.note{fill:#666}\
                     .r{fill:#2a6fb0}.w{fill:#e08214}.grid{stroke:#e4e4e4;stroke-width:1;fill:none}\
                     .tens{stroke:#b5b5b5;stroke-width:1;fill:none}.frame{stroke:#777;fill:#fff}";

/// Write the picture into a file, under the name of the model's file; `note` says more about it.
pub fn write(path: &Path, matrix: &Matrix, model: &Path, note: &str) -> Result<(), Failure> {
    let name = model.file_name().unwrap_or(model.as_os_str()).to_string_lossy();
    let svg = draw(matrix, &name, note);
    output::write_file(path, |out| {
        std::io::Write::write_all(out, svg.as_bytes()).map_err(|error| Failure::file(path, &error))
    })
}

fn draw(matrix: &Matrix, name: &str, note: &str) -> String {
    let cell = cell_size(matrix);
    let (inner_width, inner_height) = (matrix.columns as f64 * cell, matrix.rows.len() as f64 * cell);
    let below = description(matrix, note);
    let title = TITLE_LETTER * name.chars().count() as f64;
    let needed = LEAST_WIDTH.max(2.0 * MARGIN + title.max(LETTER * below.chars().count() as f64));
    let (width, height) = ((LEFT + inner_width + MARGIN).max(needed), TOP + inner_height + MARGIN);
    let mut svg = String::new();
    let _ = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">\n<style>{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    heading(&mut svg, matrix, name, &below);
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

/// What the matrix is made of, in words.
fn description(matrix: &Matrix, note: &str) -> String {
    let Terms { rows, columns, .. } = matrix.terms;
    let size = format!("{} {rows} (rows), {} {columns} (columns)", matrix.rows.len(), matrix.columns);
    if note.is_empty() { size } else { format!("{size}, {note}") }
}

fn heading(svg: &mut String, matrix: &Matrix, name: &str, below: &str) {
    let Terms { read, write, .. } = matrix.terms;
    let _ = writeln!(svg, "<text class=\"title\" x=\"{MARGIN}\" y=\"28\">{}</text>", escape(name));
    let _ = writeln!(svg, "<text class=\"note\" x=\"{MARGIN}\" y=\"46\">{}</text>", escape(below));
    let legend = match matrix.tells_reads_from_writes {
        true => vec![(*read, Access::Read), (*write, Access::Write), ("both", Access::Both)],
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
