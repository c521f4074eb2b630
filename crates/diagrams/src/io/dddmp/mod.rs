//! The text form of DDDMP, the file format of CUDD (version 2.0, mode A).
//!
//! A header of lines that start with a dot, then one line per node, children first:
//!
//! ```text
//! .ver DDDMP-2.0
//! .mode A
//! .varinfo 3
//! .nnodes 3
//! .nvars 2
//! .nsuppvars 2
//! .suppvarnames a b
//! .orderedvarnames a b
//! .ids 0 1
//! .permids 0 1
//! .nroots 1
//! .rootids -3
//! .nodes
//! 1 T 1 0 0
//! 2 b 1 1 -1
//! 3 a 0 1 2
//! .end
//! ```
//!
//! A node line is its number, its variable's name, the variable's position among the `.ids`, the node where the variable
//! is true, and the node where it is false. A negative number is a complement.
//!
//! CUDD's convention differs from ours: its terminal is the constant true and edges to the true side are never
//! complemented, ours is the constant false and edges to the false side never are. A node of one stands for the same
//! function as a node of the other, or for its negation; the writer computes which.

mod read;
mod write;

pub use read::DddmpContents;
