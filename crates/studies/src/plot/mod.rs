//! Charts as SVG that needs nothing but a browser, in light and dark.
//!
//! A [`Figure`] is a grid of [`Panel`]s with one legend. Each panel has its own axes and holds lines, points or grouped bars. A
//! series has the same colour in all panels, and lines differ in dashes and marks as well, so colours are not needed.
//! The pointer on a mark shows its numbers.
//!
//! ```
//! use tremula_studies::plot::{Axis, Figure, Line, Marks, Panel, Scale, Unit};
//! let squares = Line { series: 0, points: vec![(1.0, 1.0), (2.0, 4.0), (3.0, 9.0)] };
//! let marks = Marks::Lines(vec![squares]);
//! let axis = |label| Axis::new(label, Scale::Linear, Unit::Number);
//! let panel = Panel { title: String::new(), x: axis("n"), y: axis("value"), guide: None, marks };
//! let series = vec!["n²".into()];
//! let figure = Figure { title: "Squares".into(), series, panels: vec![panel], ..Figure::default() };
//! assert!(figure.to_svg().starts_with("<svg"));
//! ```

mod area;
mod axis;
mod bars;
mod figure;
mod lines;
mod points;
mod style;

pub use axis::{Axis, Scale, Unit};
pub use bars::{Bar, Bars};
pub use figure::{Figure, Guide, Marks, Panel};
pub use lines::Line;
pub use points::Point;
