//! The unique index: from a node's hash to its position, open addressing over whole cache lines.
//!
//! A line holds [`LINE`] words. A probe starts at a slot of its home line that the hash picks, wraps around inside the
//! line, then goes to the next line. Nothing is ever deleted: a collection rebuilds the index from the surviving nodes,
//! so an empty slot always ends a probe.

use crate::layout::{IndexWord, Node, scale};
use crate::memory::{MapError, Region};
use crate::tuning;

/// Words in one probed cache line.
const LINE: usize = 64 / size_of::<IndexWord>();

/// Slots per node in tenths: a full node store loads the index to two thirds.
const SLOTS_PER_NODE_TENTHS: usize = 15;

/// The index over one node store.
pub struct UniqueIndex {
    words: Region<IndexWord>,
    lines: usize,
}

/// Outcome of a probe.
pub enum Probe {
    /// The node is at this position.
    Found(u32),
    /// It is nowhere; this slot is where it belongs.
    Vacant(usize),
}

impl UniqueIndex {
    /// Words that an index for `nodes` nodes has.
    pub fn words_for(nodes: usize) -> usize {
        (nodes * SLOTS_PER_NODE_TENTHS / 10).next_multiple_of(LINE).max(2 * LINE)
    }

    /// Bytes that an index for `nodes` nodes takes.
    pub fn bytes(nodes: usize) -> usize {
        Self::words_for(nodes) * size_of::<IndexWord>()
    }

    /// Address space for up to `nodes` nodes.
    pub fn reserve(nodes: usize) -> Result<UniqueIndex, MapError> {
        Ok(UniqueIndex { words: Region::reserve(Self::words_for(nodes))?, lines: 0 })
    }

    /// Forget all nodes and make room for `nodes` of them.
    pub fn reset(&mut self, nodes: usize) {
        let words = Self::words_for(nodes);
        self.words.fill(IndexWord::EMPTY);
        self.words.resize(words);
        self.lines = words / LINE;
    }

    #[inline]
    fn home(&self, hash: u64) -> (usize, usize) {
        (scale(hash, self.lines) * LINE, hash as usize % LINE)
    }

    /// Fetch the line that a probe for `hash` reads first.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        self.words.prefetch(self.home(hash).0);
    }

    /// Find the node with `hash` for which `same` holds at its position.
    #[inline]
    pub fn probe(&self, hash: u64, mut same: impl FnMut(u32) -> bool) -> Probe {
        let (mut line, start) = self.home(hash);
        loop {
            let words: &[IndexWord; LINE] = self.words[line..line + LINE].try_into().expect("a whole line");
            for step in 0..LINE {
                let slot = (start + step) % LINE;
                let word = words[slot];
                if word == IndexWord::EMPTY {
                    return Probe::Vacant(line + slot);
                }
                if (!tuning::INDEX_TAGS || word.tag_matches(hash)) && same(word.position()) {
                    return Probe::Found(word.position());
                }
            }
            line = if line + LINE == self.words.len() { 0 } else { line + LINE };
        }
    }

    /// Put a node into the slot that [`UniqueIndex::probe`] found vacant.
    #[inline]
    pub fn occupy(&mut self, slot: usize, hash: u64, position: u32) {
        debug_assert_eq!(self.words[slot], IndexWord::EMPTY);
        self.words[slot] = IndexWord::new(hash, position);
    }

    /// Insert a node that is known to be absent (rebuilding after a collection).
    #[inline]
    pub fn insert_new(&mut self, node: &Node, position: u32) {
        let hash = Node::hash(node.level, node.low, node.high);
        let Probe::Vacant(slot) = self.probe(hash, |_| false) else { unreachable!("no node is the same as a new one") };
        self.occupy(slot, hash, position);
    }
}
