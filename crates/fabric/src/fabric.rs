//! A rank's endpoint.

use crate::{Distance, FabricError, Reduction, Segment};

/// What a rank holds of the computation that it is part of.
///
/// Methods marked *collective* are called by all ranks, in the same order; each returns when its result is there, which
/// may be before other ranks have theirs. Ranks that call the same one with another root, operation or length get
/// [`FabricError::Disagreement`], all of them. Only [`Fabric::barrier`] and [`Fabric::allocate`] say anything about the
/// visibility of one-sided operations. Buffers may be reused on return.
///
/// While one rank waits in a collective, others may read and write its memory.
pub trait Fabric {
    /// Memory allocated from this fabric.
    type Segment: Segment;

    /// The number of this rank, below [`Fabric::ranks`].
    fn rank(&self) -> usize;

    /// How many ranks there are, at least one.
    fn ranks(&self) -> usize;

    /// How far away another rank's memory and processor are: a hint for where to go first.
    ///
    /// Returns [`FabricError::NoSuchRank`] if there is none.
    fn distance(&self, to: usize) -> Result<Distance, FabricError>;

    /// *Collective.* Allocate `words_per_rank` words, all zero, on each rank; all may use them on return.
    ///
    /// Returns [`FabricError::NoMemory`] on all ranks if one of them has not got enough.
    fn allocate(&self, words_per_rank: usize) -> Result<Self::Segment, FabricError>;

    /// *Collective.* Wait until all ranks have called this. What they have begun on any segment before is then complete
    /// and visible to all, as if each had flushed everything.
    fn barrier(&self);

    /// *Collective.* `words` becomes what it is on `root`, its length included.
    ///
    /// Returns [`FabricError::NoSuchRank`] if there is no such root, here and below.
    fn broadcast(&self, root: usize, words: &mut Vec<u64>) -> Result<(), FabricError>;

    /// *Collective.* On `root`, each word becomes the reduction of those that the ranks have at its index; on other
    /// ranks nothing changes.
    fn reduce(&self, root: usize, reduction: Reduction, words: &mut [u64]) -> Result<(), FabricError>;

    /// *Collective.* On all ranks, each word becomes the reduction of those that the ranks have at its index.
    fn all_reduce(&self, reduction: Reduction, words: &mut [u64]) -> Result<(), FabricError>;

    /// *Collective.* On each rank, each word becomes the reduction of those that lower ranks have at its index: on rank
    /// 0 the identity of the reduction.
    fn scan(&self, reduction: Reduction, words: &mut [u64]) -> Result<(), FabricError>;

    /// *Collective.* What each rank gives, by rank, on `root`; nothing elsewhere. Lengths may differ.
    fn gather(&self, root: usize, words: &[u64]) -> Result<Option<Vec<Vec<u64>>>, FabricError>;

    /// *Collective.* What each rank gives, by rank, on all ranks. Lengths may differ.
    fn all_gather(&self, words: &[u64]) -> Result<Vec<Vec<u64>>, FabricError>;

    /// *Collective.* Send `messages[to]` to each rank `to`; returns what was received, by sender. Lengths may differ.
    ///
    /// Returns [`FabricError::MessageCount`] if the ranks agree in giving the wrong number of messages.
    fn all_to_all(&self, messages: &[Vec<u64>]) -> Result<Vec<Vec<u64>>, FabricError>;
}
