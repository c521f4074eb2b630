//! The unique index: from a node's hash to its position, open addressing over whole cache lines.
//!
//! [`probing`] tells the order in which slots are visited. Nothing is ever deleted: a collection rebuilds the index from
//! the surviving nodes, so an empty slot always ends a probe.

use crate::layout::{INDEX_BLOCK, IndexWord, Node, index_slot};
use crate::memory::{MapError, Region};
use crate::probing;
use crate::tuning;
use tremula_fabric::Ground;

/// Slots per node in tenths: a full node store loads the index to two thirds.
const SLOTS_PER_NODE_TENTHS: usize = 15;

/// The index over one node store.
pub struct UniqueIndex {
    words: Region<IndexWord>,
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
        (nodes * SLOTS_PER_NODE_TENTHS / 10).next_multiple_of(INDEX_BLOCK).max(2 * INDEX_BLOCK)
    }

    /// Bytes that an index for `nodes` nodes takes.
    pub fn bytes(nodes: usize) -> usize {
        Self::words_for(nodes) * size_of::<IndexWord>()
    }

    /// Address space for up to `nodes` nodes.
    pub fn reserve(nodes: usize) -> Result<UniqueIndex, MapError> {
        Ok(UniqueIndex { words: Region::reserve(Self::words_for(nodes))? })
    }

    /// An index on a ground.
    pub fn on(ground: Ground) -> UniqueIndex {
        UniqueIndex { words: Region::on(ground) }
    }

    /// Forget all nodes and make room for `nodes` of them.
    pub fn reset(&mut self, nodes: usize) {
        let words = Self::words_for(nodes);
        self.words.fill(IndexWord::EMPTY);
        self.words.resize(words);
    }

    /// The words, to be shared by several threads.
    pub fn words_mut(&mut self) -> &mut Region<IndexWord> {
        &mut self.words
    }

    /// Fetch the line that a probe for `hash` reads first.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        self.words.prefetch(index_slot(hash, self.words.len()));
    }

    /// Find the node with `hash` for which `same` holds at its position.
    #[inline]
    pub fn probe(&self, hash: u64, mut same: impl FnMut(u32) -> bool) -> Probe {
        let words: &[IndexWord] = &self.words;
        probing::walk(hash, words.len(), |slot| {
            let word = words[slot];
            if word == IndexWord::EMPTY {
                return Some(Probe::Vacant(slot));
            }
            let found = (!tuning::INDEX_TAGS || word.tag_matches(hash)) && same(word.position());
            found.then(|| Probe::Found(word.position()))
        })
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
