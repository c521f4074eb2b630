//! The slots of a table: words in whole cache lines, with the same protocol as those of the table itself.
//!
//! A word is a tag from the hash above and a position below; zero is an empty slot. A slot changes from empty to
//! occupied once, by the one whose compare-exchange succeeds; only between rounds, when nobody looks, may it be emptied
//! again.

use std::sync::atomic::{AtomicU64, Ordering};

/// Slots in a cache line.
pub(crate) const LINE: usize = 64 / size_of::<u64>();
/// An unused slot. No node is at position zero.
pub(crate) const EMPTY: u64 = 0;
const POSITION_BITS: u32 = 32;

/// The word for a node of this hash at this position.
#[inline]
pub(crate) fn word(hash: u64, position: u32) -> u64 {
    hash << POSITION_BITS | u64::from(position)
}

/// The position in a word.
#[inline]
pub(crate) fn position(word: u64) -> u32 {
    word as u32
}

/// Can this word belong to a node with `hash`?
#[inline]
pub(crate) fn tag_matches(word: u64, hash: u64) -> bool {
    word >> POSITION_BITS == hash & (u64::MAX >> POSITION_BITS)
}

#[derive(Default)]
#[repr(align(64))]
struct Line([AtomicU64; LINE]);

/// The slots of a table.
pub(crate) struct Words {
    lines: Vec<Line>,
}

impl Words {
    /// So many empty slots, whole lines.
    pub(crate) fn new(slots: usize) -> Words {
        debug_assert!(slots.is_multiple_of(LINE));
        Words { lines: (0..slots / LINE).map(|_| Line::default()).collect() }
    }

    /// How many slots there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.lines.len() * LINE
    }

    #[inline]
    fn slot(&self, slot: usize) -> &AtomicU64 {
        &self.lines[slot / LINE].0[slot % LINE]
    }

    /// The word in a slot; the node at its position is visible afterwards.
    #[inline]
    pub(crate) fn get(&self, slot: usize) -> u64 {
        // Acquire pairs with the Release in `occupy`.
        self.slot(slot).load(Ordering::Acquire)
    }

    /// Put `word` into an empty slot; on error, the word that was put there first.
    #[inline]
    pub(crate) fn occupy(&self, slot: usize, word: u64) -> Result<(), u64> {
        // Release publishes the node at this position; Acquire on failure is for the node of the one who was first.
        self.slot(slot).compare_exchange(EMPTY, word, Ordering::Release, Ordering::Acquire).map(drop)
    }

    /// Empty a slot, between rounds.
    pub(crate) fn clear(&self, slot: usize) {
        // Relaxed: a meeting of all workers follows.
        self.slot(slot).store(EMPTY, Ordering::Relaxed);
    }

    /// How many slots are not empty, when nobody changes them.
    pub(crate) fn occupied(&self) -> usize {
        (0..self.len()).filter(|&slot| self.get(slot) != EMPTY).count()
    }
}
