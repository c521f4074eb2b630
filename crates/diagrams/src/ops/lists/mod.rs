//! Operations on list decision diagrams. They walk along lists, and recur downwards only.
//!
//! The constant false is the empty set, the constant true the set of the empty vector. All vectors of a set are equally
//! long, and so are those of both operands, so an operation meets the constants in both at the same time.

pub mod add;
pub mod image;
pub mod intersect;
pub mod minus;
pub mod project;
mod row;
pub mod saturate;
pub mod select;
pub mod union;

pub use union::unite;
