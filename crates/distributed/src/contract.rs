//! What every table of nodes over ranks does, whoever does the work.
//!
//! - N1: equal nodes have one position, on all ranks, and different nodes have different ones.
//! - N2: of all searches for a node, at most one is told that it is new: the one that has put it.
//! - N3: whoever has heard of a position, by whatever means, can read its node.
//!
//! ```
//! use tremula_distributed::{Inline, NodeTable, OneSided, Owned, Sizes};
//! use tremula_fabric::{Fabric, threads};
//! /// How many of these nodes nobody had put.
//! fn count_new(table: &mut impl NodeTable) -> usize {
//!     let found = table.find_or_put(&[[1, 2], [3, 4], [1, 2]]).unwrap();
//!     table.settle();
//!     found.iter().filter(|found| found.new).count()
//! }
//! let sizes = Sizes { slots: 64, nodes: 64 };
//! let counts = threads::run(2, |fabric| {
//!     [
//!         count_new(&mut OneSided::allocate(fabric, sizes).unwrap()),
//!         count_new(&mut Owned::allocate(fabric, sizes).unwrap()),
//!         count_new(&mut Inline::allocate(fabric, sizes.slots).unwrap()),
//!     ]
//! });
//! let counts = counts.unwrap();
//! assert!((0..3).all(|form| counts[0][form] + counts[1][form] == 2));
//! ```

use crate::Node;
use crate::shape::Position;
use crate::traffic::Traffic;
use tremula_fabric::FabricError;

/// The table has no room for another node.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the table is full")]
pub struct Full;

/// Where a node is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// The same for equal nodes.
    pub position: Position,
    /// Was it put by this search?
    pub new: bool,
}

/// A table of nodes over all ranks, as one thread of a rank uses it.
pub trait NodeTable {
    /// What a rank had of a table at some time.
    type Kept;

    /// Find all of `nodes`, or put those that nobody has put; the results in the same order.
    ///
    /// Not collective; but where owners are asked, it returns only if these come to the table too, if only to
    /// [settle](NodeTable::settle). `nodes` may be reused on return, and what was put is visible to all ranks then (N3).
    ///
    /// If there is no room for one of them, others may have been put all the same. A full table still finds what it has, and
    /// the rank still has to settle.
    fn find_or_put(&mut self, nodes: &[Node]) -> Result<Vec<Found>, Full>;

    /// The node at a position that some search has returned. Not collective, and nobody's help is needed.
    fn node(&self, position: Position) -> Result<Node, FabricError>;

    /// *Collective.* Return when no rank needs this one any more for what was asked for before: each does so after its last
    /// search, before it waits for others by other means. Says nothing about where other ranks are.
    fn settle(&mut self);

    /// Requests that this rank has made, ever, by [`Reach`](crate::Reach): reads and swaps of single slots, or whole messages.
    /// What is done for others does not count. Not collective.
    fn requests(&self) -> [u64; 3];

    /// What this rank has of the table now. Not collective, but all ranks have settled, and nobody uses the table between a
    /// barrier before this and one after.
    fn checkpoint(&self) -> Self::Kept;

    /// Go back to what this rank had. All ranks do, to checkpoints that they have taken together, and nobody uses the table
    /// between a barrier before this and one after, when it is visible to all. Positions that were given out since are void.
    fn restore(&mut self, kept: &Self::Kept);
}

/// A table that several threads of a rank use at the same time.
pub trait SharedTable: NodeTable {
    /// One thread's access.
    type Finder<'t>: Find
    where
        Self: 't;

    /// What a thread needs to use the table. Not collective.
    fn finder(&self) -> Self::Finder<'_>;
}

/// One thread's access to a [`SharedTable`].
pub trait Find {
    /// As [`NodeTable::find_or_put`], by this thread, which needs no other rank for it.
    fn find_or_put(&mut self, nodes: &[Node]) -> Result<Vec<Found>, Full>;

    /// What this thread has asked for.
    fn traffic(&self) -> &Traffic;
}
