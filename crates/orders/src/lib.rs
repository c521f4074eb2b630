//! Variable orders and P-semiflows of Petri nets.
//!
//! The size of a decision diagram depends on the order of its variables, often by orders of magnitude, and no heuristic
//! is good for all nets. This crate has many: [`candidates`] gives the orders of all, best first by a [`Score`] made of
//! [`metrics`]; [`quick_candidate`] gives a good one soon, [`order`] that of one heuristic, by name, and [`score`] tells what
//! is expected of any. [`Semiflows`] are weighted sums of tokens that never change; they
//! bound places ([`place_bounds`]) and tell which places belong together.
//!
//! ```
//! use tremula_models::{Arc, PetriNet, Place, Transition};
//! use tremula_orders::{FlowLimits, OrderLimits, Recipe, Semiflows, candidates, order, place_bounds};
//!
//! // A token goes from a to c to b.
//! let place = |id: &str, initial| Place { id: id.to_owned(), name: None, initial };
//! let step = |from, to| Transition {
//!     id: format!("{from}-{to}"),
//!     name: None,
//!     inputs: vec![Arc { place: from, weight: 1 }],
//!     outputs: vec![Arc { place: to, weight: 1 }],
//! };
//! let net = PetriNet {
//!     places: vec![place("a", 1), place("b", 0), place("c", 0)],
//!     transitions: vec![step(0, 2), step(2, 1)],
//!     ..PetriNet::default()
//! };
//!
//! let semiflows = Semiflows::of(&net, &FlowLimits::default());
//! assert_eq!(place_bounds(&net, &semiflows), [Some(1), Some(1), Some(1)]);
//!
//! let best = &candidates(&net, &semiflows, &OrderLimits::default())[0];
//! assert!(best.order == [0, 2, 1] || best.order == [1, 2, 0]);
//!
//! let recipe: Recipe = "sloan+reversed".parse()?;
//! assert!(order(&net, recipe, &semiflows, &OrderLimits::default()).is_some());
//! # Ok::<(), tremula_orders::UnknownOrder>(())
//! ```
//!
//! # Invariants
//!
//! - Every order is a permutation of the places: `order[level]` is a place, level 0 is the root of the diagram.
//! - Everything is a function of the net and the limits: the same on every machine, in every run. Work is bounded by
//!   steps, not by time.
//! - Every semiflow holds, whether or not all were found.
//!
//! Nets are expected to satisfy [`PetriNet::check`](tremula_models::PetriNet::check).
//!
//! # Not yet
//!
//! Orders are not improved by search under the metric, and bounds come from semiflows only, not from linear programs.

#![forbid(unsafe_code)]

mod candidates;
mod effort;
mod farkas;
mod graph;
mod heuristics;
mod incidence;
mod lists;
pub mod metrics;
mod parallel;
#[cfg(test)]
mod samples;
mod score;
mod semiflows;

pub use candidates::{Candidate, OrderLimits, candidates, order, quick_candidate, score};
pub use heuristics::{Heuristic, Recipe, UnknownOrder};
pub use incidence::Incidence;
pub use score::Score;
pub use semiflows::{FlowLimits, Semiflow, Semiflows, place_bounds};
