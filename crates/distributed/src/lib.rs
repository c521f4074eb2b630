//! Node tables spread over the ranks of a computation.
//!
//! A node is two words, stored once: whoever puts it first gives it a [`Position`], and all who put it later, on whatever
//! rank, find that one. [`NodeTable`] says what all tables do, and there are two forms. [`OneSided`] is the algorithm of
//! Oortwijn's thesis: an index that all ranks change by compare-and-swap, and nodes that every rank reads and only their owner
//! writes; [`Inline`] is the same in one array, whose slots hold nodes. In [`Owned`] ranks ask the owners of nodes, many at a
//! time: where a network is between them, a message costs as much as a read, and settles hundreds. [`AnyTable`] is the form
//! that suits the ranks that there are.
//!
//! ```
//! use tremula_distributed::{AnyTable, NodeTable, Sizes};
//! use tremula_fabric::{Fabric, threads};
//! let positions = threads::run(3, |fabric| {
//!     let mut table = AnyTable::allocate(fabric, Sizes { slots: 64, nodes: 32 }).unwrap();
//!     let found = table.find_or_put(&[[5, 7]]).unwrap();
//!     table.settle();
//!     let node = table.node(found[0].position).unwrap();
//!     fabric.barrier();
//!     (found[0].position, node)
//! });
//! let positions = positions.unwrap();
//! assert!(positions.iter().all(|&found| found == positions[0] && found.1 == [5, 7]));
//! ```
//!
//! Results of operations are remembered in the same two ways, as [`ResultCache`] says, and some of them forgotten: [`Cache`] is
//! one-sided, and [`OwnedResults`] are those that owners of nodes keep.
//!
//! # Not yet
//!
//! Collection and growth; diagrams on top.

#![forbid(unsafe_code)]

mod any;
mod cache;
mod chunks;
mod contract;
mod inline;
mod inline_far;
mod inline_near;
mod letters;
mod near;
mod one_sided;
mod owned;
mod owned_results;
mod remembered;
mod results;
mod search;
mod shape;
mod slot;
mod traffic;
mod walk;

pub use any::{AnyKept, AnyTable, Form};
pub use cache::{Cache, CacheTraffic, CacheUser};
pub use chunks::Chunks;
pub use contract::{Find, Found, Full, NodeTable, SharedTable};
pub use inline::{Inline, InlineCheckpoint, InlineFinder, MOST_INLINE_SLOTS};
pub use one_sided::{Checkpoint, Finder, OneSided};
pub use owned::{Owned, Part};
pub use owned_results::OwnedResults;
pub use results::{Key, ResultCache};
pub use shape::{Position, Sizes};
pub use traffic::{Errands, Reach, Traffic};

/// What is stored.
pub type Node = [u64; 2];
