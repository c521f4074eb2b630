//! Binary decision diagrams with complement edges, and list decision diagrams.
//!
//! ```
//! use tremula_diagrams::{Budget, Manager};
//! let manager = Manager::new(&Budget::new(16 << 20))?;
//! let (x, y, z) = (manager.var(0)?, manager.var(1)?, manager.var(2)?);
//! let majority = x.and(&y)?.or(&y.and(&z)?)?.or(&x.and(&z)?)?;
//! assert_eq!(majority.count(&[0, 1, 2])?.to_string(), "4");
//! assert_eq!(majority.exists(&[0])?, y.or(&z)?);
//! assert_eq!(majority, x.ite(&y.or(&z)?, &y.and(&z)?)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - Operations return [`Error::TableFull`] when the memory budget is exhausted, and never abort.
//! - A [`Bdd`] or [`Ldd`] protects its function or set from collection while it lives. Collections happen inside operations.
//! - Several managers live side by side; nothing is global.
//! - Algorithms are written once against a small execution contract, and contain no `unsafe`.
//!
//! Invariants: functions are canonical, so equality of handles is equality of functions; operands in a running operation
//! are reachable from handles, results in hand are kept on the table's shadow stack.
//!
//! Not yet: dynamic reordering.
#![forbid(unsafe_code)]

mod assignments;
mod bdd;
pub mod cluster;
mod count;
mod env;
mod error;
mod exec;
pub mod io;
pub mod joint;
mod lanes;
mod lease;
mod lists;
mod manager;
pub mod mdd;
mod ops;
mod pace;
mod relation;
mod size;
mod task;
mod threads;

pub use assignments::Assignments;
pub use bdd::Bdd;
pub use dashu_base::BitTest;
pub use dashu_int::UBig;
pub use error::Error;
pub use io::Export;
pub use lists::{ImportList, Ldd, ListBundle, ListRelation, ListTree, Transitions, Vectors};
pub use manager::{ImportEdge, ImportNode, Manager, Relation, RelationBundle, RelationTree};
pub use tremula_table::{Attention, Budget, Counters, Lease, Options, SetupError, Sizing, Snapshot, Word, WordSet};
pub use tremula_tasks::Statistics;

/// Keeps the example on the front page compiling.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
