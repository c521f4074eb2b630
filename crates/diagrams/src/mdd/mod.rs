//! Multi-valued decision diagrams: sets of vectors of numbers, and events that change them.
//!
//! A set over `n` variables has a node for each of its levels on every path, and a node lists the values that its
//! variable can have there. Domains need not be known: they grow as values turn up. An [`Event`] is implicit: it says for
//! each variable that it touches which values allow it and by how much it changes them, which is all that a transition of
//! a Petri net is. Sets are closed under events by [`Mdd::closure`], which is saturation.
//!
//! ```
//! use tremula_diagrams::mdd::{Change, MddManager, Saturation};
//! use tremula_diagrams::{Attention, Budget};
//! let manager = MddManager::new(2, &Budget::new(1 << 24), Default::default(), Attention::default())?;
//! // Three tokens move from the first place to the second, one by one.
//! let take = Change { level: 0, least: 1, most: u32::MAX, delta: -1 };
//! let give = Change { level: 1, least: 0, most: u32::MAX, delta: 1 };
//! let event = manager.event(&[take, give])?;
//! let start = manager.vector(&[3, 0])?;
//! let reached = start.closure(&[event], Saturation::default())?;
//! assert_eq!(reached.count()?.to_string(), "4");
//! assert!(reached.contains(&[1, 2]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Invariants: sets are canonical, so equality of handles is equality of sets. At most one node is in the making at each
//! level (a frame), because whatever an operation calls works further down; so frames, kept nodes and handles are all
//! roots that a collection needs.
//!
//! Nodes live in a [`Forest`](tremula_table::Forest) of one thread; several managers can work side by side.

mod core;
mod dot;
mod event;
mod fire;
mod handle;
mod levels;
mod measure;
mod packed;
mod possible;
mod project;
mod saturate;
mod saturator;
mod sets;

pub use self::core::MddOptions;
pub use event::{Change, Event};
pub use handle::{Mdd, MddManager, Vectors};
pub use measure::Survey;
pub use saturate::Saturation;
pub use saturator::Saturator;
