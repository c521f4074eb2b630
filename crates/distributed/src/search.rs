//! One search for a node, which can wait for other ranks while others go on.

use crate::Node;
use crate::chunks::Way;
use crate::shape::{Entry, NODE_WORDS, Position, hash};
use tremula_fabric::{Pending, Segment};

/// What a search needs next.
pub(crate) enum Need {
    /// Slots of the index, from this one on.
    Chunk { slot: usize },
    /// The node at a position.
    Node { position: Position },
    /// To put its node into a slot.
    Swap { slot: usize },
}

/// What came of a step.
pub(crate) enum Step {
    /// Something from a rank is needed.
    Need(Need),
    /// Somebody has put the node.
    Found(Position),
}

/// A request under way.
pub(crate) enum Flight<S: Segment> {
    Chunk(S::Words),
    Node { pending: S::Words, position: Position },
    Swap { pending: S::Word, entry: Entry },
}

impl<S: Segment> Flight<S> {
    pub(crate) fn test(&mut self) -> bool {
        match self {
            Flight::Chunk(pending) | Flight::Node { pending, .. } => pending.test(),
            Flight::Swap { pending, .. } => pending.test(),
        }
    }
}

/// A search.
pub(crate) struct Search {
    pub(crate) node: Node,
    pub(crate) hash: u64,
    /// Where it began.
    home: usize,
    /// The first slot of the chunk.
    slot: usize,
    /// The number of the chunk.
    number: usize,
    chunk: Vec<u64>,
    /// The slot of the chunk that is looked at.
    at: usize,
    /// Slots that were looked at in chunks before.
    pub(crate) looked: usize,
}

impl Search {
    pub(crate) fn new(node: Node, first_slot: impl FnOnce(u64) -> usize) -> Search {
        let hash = hash(node);
        let home = first_slot(hash);
        Search { node, hash, home, slot: home, number: 0, chunk: Vec::new(), at: 0, looked: 0 }
    }

    /// The slot that the search has come to.
    pub(crate) fn slot(&self) -> usize {
        self.slot + self.at
    }

    /// Where the chunk after this one begins, which has so many slots.
    pub(crate) fn next_chunk(&self, slots: usize, way: Way) -> usize {
        way.next(self.home, self.number + 1, self.slot + slots)
    }

    /// A chunk has arrived.
    pub(crate) fn take_chunk(&mut self, chunk: Vec<u64>, way: Way) -> Step {
        (self.chunk, self.at) = (chunk, 0);
        self.look(way)
    }

    /// The node at a position that might be this one has arrived.
    pub(crate) fn take_node(&mut self, words: &[u64], position: Position, way: Way) -> Step {
        debug_assert_eq!(words.len(), NODE_WORDS);
        if *words == self.node {
            return Step::Found(position);
        }
        self.at += 1;
        self.look(way)
    }

    /// Somebody else has taken the slot, with this word.
    pub(crate) fn take_lost_slot(&mut self, word: u64, way: Way) -> Step {
        self.chunk[self.at] = word;
        self.look(way)
    }

    /// Look at slots, from the present one on.
    fn look(&mut self, way: Way) -> Step {
        while let Some(&word) = self.chunk.get(self.at) {
            match Entry(word).position() {
                None => return Step::Need(Need::Swap { slot: self.slot() }),
                Some(position) if Entry(word).may_be(self.hash) => return Step::Need(Need::Node { position }),
                Some(_) => self.at += 1,
            }
        }
        self.looked += self.chunk.len();
        self.slot = self.next_chunk(self.chunk.len(), way);
        self.number += 1;
        (self.chunk, self.at) = (Vec::new(), 0);
        Step::Need(Need::Chunk { slot: self.slot })
    }
}
