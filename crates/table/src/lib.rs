//! Node store, unique index and lossy operation cache.
//!
//! Decision diagrams share equal nodes: every node is looked up before it is made ([`Solo::make`]), and results of
//! operations are remembered as long as there is room ([`Solo::cache_put`]). All memory comes from one [`Budget`];
//! garbage is collected inside operations, and a table that is full for good is a value, [`Interrupt::TableFull`].
//!
//! ```
//! use tremula_table::{Attention, Budget, Options, Ref, Solo};
//! let mut table = Solo::new(&Budget::new(1 << 20), Options::default(), Attention::default())?;
//! let x = table.make(0, Ref::FALSE, Ref::TRUE)?;
//! assert_eq!(table.make(0, Ref::FALSE, Ref::TRUE)?, x);
//! assert_eq!(table.make(0, Ref::TRUE, Ref::FALSE)?, !x);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Layers inside: [`layout`] owns every bit; [`memory`] the mapped arrays; the node store, the unique index and the
//! operation cache are joined in [`Solo`], whose invariants T1 to T5 the rest of the workspace relies on.
//!
//! A table may be one of several parts that processes hold together ([`Division`]).
//!
//! Not yet: forests ([`Forest`]) for several workers; variables that change places.

pub mod layout;
pub mod memory;
pub mod tuning;

mod allocation;
mod attention;
mod bitmap;
mod books;
mod budget;
mod cache;
mod copies;
mod division;
mod forest;
mod index;
#[cfg(all(test, loom))]
mod interleavings;
mod probing;
mod roots;
mod shared;
mod sizing;
mod solo;
mod stats;
mod sync;
mod walk;
mod wide;
mod words;

pub use attention::{Attention, Interrupt};
pub use bitmap::{Bitmap, Ranks};
pub use budget::{Budget, Lease, OverBudget};
pub use copies::{Copies, CopyStore};
pub use division::Division;
pub use forest::{Branch, FOREST_LEVELS, Forest, ForestOptions, MemoKind, Operation, Question, Shape};
pub use layout::{Key, Node, OpTag, Ref};
pub use roots::HandleSlots;
#[cfg(not(any(loom, shuttle)))]
pub use shared::Outpost;
pub use shared::{Attendance, Blocked, Shared, Stretch, TableWorker};
pub use sizing::{Sizes, Sizing};
pub use solo::{Options, SetupError, Solo, TableGround};
pub use stats::{Counters, Snapshot};
pub use words::{SortedWords, Word, WordSet};
