//! Node tables spread over the ranks of a computation.
//!
//! A node is two words, stored once: whoever puts it first gives it a [`Position`], and all who put it later, on whatever
//! rank, find that one. There are two forms. [`OneSided`] is the algorithm of Oortwijn's thesis: an index that all ranks
//! change by compare-and-swap, and nodes that every rank reads and only their owner writes. In [`Owned`] ranks ask the owners of
//! nodes, many at a time: where a network is between them, a message costs as much as a read, and settles hundreds.
//!
//! ```
//! use tremula_distributed::{OneSided, Sizes};
//! use tremula_fabric::threads;
//! let positions = threads::run(3, |fabric| {
//!     let table = OneSided::allocate(fabric, Sizes { slots: 64, nodes: 32 }).unwrap();
//!     let found = table.finder().find_or_put(&[[5, 7]]).unwrap();
//!     (found[0].position, table.node(found[0].position).unwrap())
//! });
//! let positions = positions.unwrap();
//! assert!(positions.iter().all(|&found| found == positions[0] && found.1 == [5, 7]));
//! ```
//!
//! [`Cache`] remembers results of operations in the same way, and forgets some of them.
//!
//! # Not yet
//!
//! Collection and growth; diagrams on top.

#![forbid(unsafe_code)]

mod cache;
mod chunks;
mod letters;
mod near;
mod one_sided;
mod owned;
mod search;
mod shape;
mod traffic;

pub use cache::{Cache, CacheTraffic, CacheUser, Key};
pub use chunks::Chunks;
pub use one_sided::{Checkpoint, Finder, Found, Full, OneSided};
pub use owned::{Owned, Part};
pub use shape::{Position, Sizes};
pub use traffic::{Errands, Reach, Traffic};

/// What is stored.
pub type Node = [u64; 2];
