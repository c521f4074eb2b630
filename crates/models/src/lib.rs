//! Symbolic models: [`BddSystem`] and [`LddSystem`], and the `.bdd` and `.ldd` files they are read from.
//!
//! A transition system is an initial set and a number of transition relations, all of them
//! binary decision diagrams over numbered variables. This crate turns files into such a value
//! and back; it computes no successors (that is the work of the engines).
//!
//! ```
//! use tremula_models::{read_bdd, write_bdd, Edge, Group, Layout, Limits, Node};
//! use tremula_models::{StateVariable, BddSystem};
//!
//! // One bit that starts at 0 and flips: initial = ¬x, relation = x ⊕ x'.
//! let nodes = vec![
//!     Node { variable: 0, low: Edge::FALSE, high: Edge::TRUE },                     // id 1: x
//!     Node { variable: 1, low: Edge::FALSE, high: Edge::TRUE },                     // id 2: x'
//!     Node { variable: 0, low: Edge::new(2, false), high: Edge::new(2, true) },     // id 3
//! ];
//! let flip = Group { reads: vec![0], writes: vec![0], relation: Edge::new(3, false) };
//! let system = BddSystem {
//!     variables: vec![StateVariable { bits: 1 }],
//!     action_bits: 0,
//!     nodes,
//!     initial: Edge::new(1, true),
//!     groups: vec![flip],
//!     reachable: None,
//!     action_labels: Vec::new(),
//!     layout: Layout::Sylvan,
//! };
//!
//! let mut file = Vec::new();
//! write_bdd(&system, Layout::Legacy, &mut file)?;
//! let again = read_bdd(file.as_slice(), &Limits::default())?;
//! assert_eq!(again.layout, Layout::Legacy);
//! assert!(again.evaluate(again.initial, |_| false));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//!
//! Every system that [`read_bdd`] returns satisfies S1 to S7 of [`BddSystem`], and no two
//! of its nodes are equal; so two edges are equal exactly if their functions are.
//!
//! Input is never trusted: a file gives a system or an error, whatever its bytes are. What a file
//! may cost is bounded by [`Limits`], and memory grows with the bytes that really arrive, never
//! with a count that the file merely claims.
//!
//! # Not yet
//!
//! PNML and DVE are not read. Sets over a part of the state vector and diagrams with
//! leaves other than true and false are refused.

#![forbid(unsafe_code)]

mod bdd;
mod builder;
mod check;
mod cursor;
mod error;
mod input;
mod ldd;
mod limits;
mod petri;
mod support;
mod system;

pub use bdd::{read_bdd, read_file, write_bdd};
pub use error::{FormatError, Malformed, MalformedLists, ReadError, SystemError, WriteError};
pub use ldd::{LddSystem, ListError, ListGroup, ListNode, MAX_INTEGERS, read_ldd, read_ldd_file};
pub use limits::Limits;
pub use petri::{Arc, Effect, NetError, PetriNet, Place, Transition, Unit, Units};
pub use system::{
    BddSystem, Edge, FIRST_ACTION_VARIABLE, Group, Layout, MAX_ACTION_BITS, MAX_NODE_ID, MAX_STATE_BITS,
    MAX_VARIABLE_BITS, Node, StateVariable,
};
