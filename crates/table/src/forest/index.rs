//! Where nodes are found by content: open addressing over words that hold a part of the hash and the node.

use super::shape;
use super::space::Space;
use crate::layout::fold;
use crate::memory::{MapError, Region};

/// Slots of the index, searched one after the other. Zero is vacant: no node has the number of a terminal.
pub(super) struct Index {
    slots: Region<u64>,
}

/// Hash of the words of a node; its upper half is kept in the index.
#[inline]
pub(super) fn hash(words: &[u32]) -> u64 {
    let pairs = words.chunks_exact(2);
    let odd = pairs.remainder().first().map_or(1, |&last| u64::from(last) << 32);
    let start = fold(odd, words.len() as u64);
    pairs.fold(start, |sum, pair| fold(sum, u64::from(pair[0]) << 32 | u64::from(pair[1])))
}

impl Index {
    /// Slots for so many granules: nodes have one granule at least, so a third stays vacant at worst.
    fn slots_for(granules: usize) -> usize {
        granules + granules / 2 + 2
    }

    pub(super) fn bytes(granules: usize) -> usize {
        Self::slots_for(granules) * size_of::<u64>()
    }

    pub(super) fn new(most: usize, granules: usize) -> Result<Index, MapError> {
        let mut slots = Region::reserve_small_pages(Self::slots_for(most))?;
        slots.resize_eagerly(Self::slots_for(granules));
        Ok(Index { slots })
    }

    pub(super) fn use_huge_pages(&self) {
        self.slots.use_huge_pages();
    }

    #[inline]
    fn first_slot(&self, hash: u64) -> usize {
        (((hash >> 32) * self.slots.len() as u64) >> 32) as usize
    }

    /// The node with these words, or the vacant slot for it.
    #[inline]
    pub(super) fn find(&self, space: &Space, hash: u64, words: &[u32]) -> Result<u32, usize> {
        let mut slot = self.first_slot(hash);
        loop {
            let entry = self.slots[slot];
            if entry == 0 {
                return Err(slot);
            }
            if entry >> 32 == hash >> 32 && space.holds(entry as u32, words) {
                return Ok(entry as u32);
            }
            slot = if slot + 1 == self.slots.len() { 0 } else { slot + 1 };
        }
    }

    /// Put a node into a vacant slot.
    #[inline]
    pub(super) fn fill(&mut self, slot: usize, hash: u64, node: u32) {
        self.slots[slot] = hash & !u64::from(u32::MAX) | u64::from(node);
    }

    /// Fit the size to that of the nodes' space.
    pub(super) fn grow(&mut self, space: &Space) {
        self.slots.resize_eagerly(Self::slots_for(space.room()));
        self.rebuild(space);
    }

    /// Find all nodes of `space` and nothing else.
    pub(super) fn rebuild(&mut self, space: &Space) {
        self.slots.fill(0);
        for node in space.nodes() {
            let hash = hash(shape::node_words(space.words(), Space::at(node)));
            let mut slot = self.first_slot(hash);
            while self.slots[slot] != 0 {
                slot = if slot + 1 == self.slots.len() { 0 } else { slot + 1 };
            }
            self.fill(slot, hash, node);
        }
    }
}
