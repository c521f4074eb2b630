//! Files and pictures of diagrams.
//!
//! | Format | Write | Read |
//! |---|---|---|
//! | compact binary, with metadata | [`Manager::save_compact`] | [`Manager::load_compact`] |
//! | DDDMP text, for CUDD and its relatives | [`Manager::save_dddmp`] | [`Manager::load_dddmp`] |
//! | Graphviz DOT | [`Manager::write_dot`] | |
//! | SVG, laid out here | [`Manager::write_svg`] | |
//!
//! ```
//! use tremula_diagrams::{Budget, Manager, io};
//! let manager = Manager::new(&Budget::new(16 << 20))?;
//! let f = manager.var(0)?.xor(&manager.var(3)?)?;
//! let mut file = Vec::new();
//! manager.save_compact(&[("f", &f)], &[("width", "4")], &mut file)?;
//! let contents = manager.load_compact(file.as_slice(), 1000)?;
//! assert_eq!(contents.roots, [("f".to_string(), f.clone())]);
//! let mut picture = Vec::new();
//! manager.write_svg(&[("f", &f)], &io::numbered, io::PICTURE_LIMIT, &mut picture)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Invariants: writers hold memory in proportion to the nodes written, leased from the manager's budget. Readers trust
//! nothing: whatever the input, they return a value or a [`FileError`], they never allocate by a count that the input
//! merely claims, and they never make more nodes than the caller allows.
//!
//! Not yet: the binary mode of DDDMP.

mod bytes;
mod compact;
mod dddmp;
mod dot;
mod error;
mod export;
mod layers;
mod svg;

pub use compact::Contents;
pub use dddmp::DddmpContents;
pub(crate) use dot::quoted;
pub use error::FileError;
pub use export::Export;
pub use svg::PICTURE_LIMIT;

#[cfg(doc)]
use crate::Manager;

/// Names of variables, by level.
pub type Names<'a> = &'a dyn Fn(u32) -> String;

/// The plainest [`Names`]: `x` and the level.
pub fn numbered(level: u32) -> String {
    format!("x{level}")
}
