//! List decision diagrams: sets of vectors of numbers.
//!
//! ```
//! use tremula_diagrams::{Budget, Manager};
//! let manager = Manager::new(&Budget::new(16 << 20))?;
//! let few = manager.vector(&[1, 2])?.union(&manager.vector(&[3, 4])?)?;
//! let all = few.union(&manager.vector(&[3, 5])?)?;
//! assert_eq!(all.count()?.to_string(), "3");
//! assert_eq!(all.project(&[0])?.count()?.to_string(), "2");
//! assert!(all.contains(&[3, 4]) && !all.minus(&few)?.contains(&[3, 4]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A node has a value, `down` to the rests of the vectors that begin with it, and `right` to the node of the next larger
//! value. They live in the same table as nodes of binary diagrams, and are told apart there.
//!
//! Invariants: sets are canonical, so equality of handles is equality of sets; all vectors of a set are equally long;
//! nothing recurs along `right`.

mod compile;
mod count;
mod dot;
mod import;
mod ldd;
mod relation;
pub mod steps;
mod vectors;

pub use compile::Transitions;
pub use import::ImportList;
pub use ldd::Ldd;
pub use relation::{ListBundle, ListRelation, ListTree};
pub use vectors::Vectors;
