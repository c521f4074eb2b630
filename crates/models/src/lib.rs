//! Models: [`BddSystem`] with the `.bdd` files it is read from, [`LddSystem`] with `.ldd`, and [`PetriNet`] with PNML.
//!
//! A [`BddSystem`] is an initial set and a number of transition relations, all of them
//! binary decision diagrams over numbered variables. A [`PetriNet`] is places and transitions, with
//! the implicit form of what a transition does ([`Transition::effects`]). This crate turns files into
//! such values, and systems back into files; it computes no successors (that is the work of the
//! engines).
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
//! Every net that [`read_pnml`] returns satisfies N1 and N2 of [`PetriNet`].
//!
//! Input is never trusted: a file gives a system or an error, whatever its bytes are. What a file
//! may cost is bounded by [`Limits`], and memory grows with the bytes that really arrive, never
//! with a count that the file merely claims.
//!
//! # Not yet
//!
//! DVE is not read, nor are coloured nets and nets with arcs other than plain ones.
//! Sets over a part of the state vector and diagrams with leaves other than true and false are
//! refused.

#![forbid(unsafe_code)]

mod bdd;
mod bits;
mod builder;
mod check;
mod cursor;
mod error;
mod input;
mod ldd;
mod limits;
mod model;
mod petri;
mod support;
mod system;

pub use bdd::{read_bdd, read_file, write_bdd};
pub use bits::{CounterChange, Counters, TooManyBits};
pub use error::{FormatError, Malformed, MalformedLists, Position, ReadError, SystemError, TextFault, WriteError};
pub use ldd::{LddSystem, ListError, ListGroup, ListNode, MAX_INTEGERS, read_ldd, read_ldd_file};
pub use limits::Limits;
pub use model::{Format, TransitionSystem, read_model};
pub use petri::{Arc, Effect, NetError, PetriNet, Place, Transition, Unit, Units, read_pnml, read_pnml_file};
pub use system::{
    BddSystem, Edge, FIRST_ACTION_VARIABLE, Group, Layout, MAX_ACTION_BITS, MAX_NODE_ID, MAX_STATE_BITS,
    MAX_VARIABLE_BITS, Node, StateVariable,
};
