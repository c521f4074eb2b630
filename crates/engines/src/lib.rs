//! Exploration of symbolic models: strategies over the diagram operations.
//!
//! ```
//! use tremula_diagrams::{Budget, Manager};
//! use tremula_engines::{Strategy, SymbolicSystem, reach};
//! use tremula_models::{Limits, read_file};
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/beem/phils.1.bdd");
//! let model = read_file(path.as_ref(), &Limits::default())?;
//! let manager = Manager::new(&Budget::new(64 << 20))?;
//! let system = SymbolicSystem::build(&manager, &model)?;
//! let reached = reach(&system, Strategy::AUTO, &mut ()).map_err(|stopped| stopped.error)?;
//! assert_eq!(reached.states.count(&system.state_levels)?.to_string(), "80");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Invariants: every set that a strategy holds is a subset of the reachable states and contains the initial ones, so a
//! run that is stopped early still gives a lower bound; a run ends when a round adds nothing, so all strategies end with
//! the same set.
//!
//! Petri nets have a module of their own, [`net`]: a contest of orders. Not yet: orders for other models.
#![forbid(unsafe_code)]

mod auto;
mod cluster;
mod images;
mod lists;
pub mod net;
mod passes;
mod reach;
mod saturation;
mod space;
mod strategy;
mod system;
pub mod windows;

pub use cluster::{Distributed, Plan};
pub use lists::ListSystem;
pub use reach::{Observer, Reached, Round, Stopped, explore, reach};
pub use space::Space;
pub use strategy::{Order, Strategy, UnknownStrategy};
pub use system::{SymbolicSystem, stored_reachable};
