//! Memory that all ranks can reach.

use crate::sync::{AtomicU64, Ordering};
use crate::{FabricError, Pending};

/// The longest slice whose words are read whole while others write them (F1).
pub const WHOLE_WORDS: usize = 128;

/// A word of a segment: a rank and an offset into its part, in words.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// The rank that owns the word.
    pub rank: usize,
    /// The number of words before it.
    pub offset: usize,
}

/// How an atomic operation makes a new word from the old one and an operand.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Update {
    /// The sum, modulo 2 to the power 64.
    Add,
    /// Bits set in both.
    And,
    /// Bits set in either.
    Or,
    /// Bits set in one of them.
    Xor,
    /// The operand.
    Replace,
}

impl Update {
    /// Change a word of memory that this process can address; the old word.
    pub(crate) fn apply_to(self, word: &AtomicU64, operand: u64) -> u64 {
        // AcqRel: a read and a write as of any other operation on segments.
        match self {
            Update::Add => word.fetch_add(operand, Ordering::AcqRel),
            Update::And => word.fetch_and(operand, Ordering::AcqRel),
            Update::Or => word.fetch_or(operand, Ordering::AcqRel),
            Update::Xor => word.fetch_xor(operand, Ordering::AcqRel),
            Update::Replace => word.swap(operand, Ordering::AcqRel),
        }
    }
}

/// Memory that was allocated by all ranks together: as many words on each, zero at first.
///
/// None of the methods is collective. Those that name a place return [`FabricError::OutOfSegment`] if any of its words
/// does not exist; then nothing has happened. A range of no words may begin at the end of a part. Clones are the same
/// memory; dropping a segment waits for nobody, and a backend may keep the memory until the computation ends.
///
/// Effects are visible to others according to F1 to F4 (see the [crate](crate#what-a-program-may-rely-on)). In short,
/// what has returned a value has happened; what has not is complete after [`Segment::flush`].
///
/// A word that ranks update with atomic operations is changed by these only, between one barrier and the next: on a
/// network, neither `put` nor the processor's own instructions are atomic with respect to them. Reading it is always
/// allowed; how whole the words are is said by F1.
pub trait Segment: Clone {
    /// Started operations that hand a buffer back.
    type Words: Pending<Output = Vec<u64>>;
    /// Started operations that hand a word back.
    type Word: Pending<Output = u64>;

    /// The rank that holds this handle.
    fn rank(&self) -> usize;

    /// How many ranks share the segment.
    fn ranks(&self) -> usize;

    /// The words on each rank.
    fn words(&self) -> usize;

    /// This rank's own part as plain memory: how a program works on its own words without asking the fabric each time.
    ///
    /// Changes become visible to others, and those of others here, as between two threads: a word stored with Release
    /// publishes what was stored before it to a `get` that reads it, and a load with Acquire sees what was published by
    /// F3. Words that others update with atomic operations may be read but not written here.
    fn local(&self) -> &[AtomicU64];

    /// The part of `rank` as plain memory, like [`Segment::local`], where this process can address it.
    fn mapped(&self, rank: usize) -> Option<&[AtomicU64]>;

    /// Read words into `into`, which is filled on return.
    fn get(&self, from: Place, into: &mut [u64]) -> Result<(), FabricError>;

    /// Write `words`, a buffer that may be reused on return. Visible to others after a flush of the target.
    fn put(&self, to: Place, words: &[u64]) -> Result<(), FabricError>;

    /// Replace a word by `new` if it is `expected`, atomically. Returns the old word, so it has happened if that is
    /// `expected`, and its effect is visible on return.
    fn compare_and_swap(&self, at: Place, expected: u64, new: u64) -> Result<u64, FabricError>;

    /// Change a word atomically. Returns the old word; the effect is visible on return.
    fn fetch_with(&self, at: Place, update: Update, operand: u64) -> Result<u64, FabricError>;

    /// Start to read `length` words. Waiting for the handle gives them.
    fn start_get(&self, from: Place, length: usize) -> Result<Self::Words, FabricError>;

    /// Start to write `words`. Waiting for the handle gives the buffer back and says nothing about the effect, which is
    /// visible to others after a flush of the target.
    fn start_put(&self, to: Place, words: Vec<u64>) -> Result<Self::Words, FabricError>;

    /// Start a [`Segment::compare_and_swap`]. Waiting for the handle gives the old word; then the effect is visible.
    fn start_compare_and_swap(&self, at: Place, expected: u64, new: u64) -> Result<Self::Word, FabricError>;

    /// Start a [`Segment::fetch_with`]. Waiting for the handle gives the old word; then the effect is visible.
    fn start_fetch_with(&self, at: Place, update: Update, operand: u64) -> Result<Self::Word, FabricError>;

    /// Wait until everything that the calling thread has begun on the part of `rank` is complete and visible to all.
    /// Handles may be waited for before or after.
    ///
    /// Returns [`FabricError::NoSuchRank`] if there is none.
    fn flush(&self, rank: usize) -> Result<(), FabricError>;

    /// [`Segment::flush`] for all ranks.
    fn flush_all(&self) -> Result<(), FabricError> {
        (0..self.ranks()).try_for_each(|rank| self.flush(rank))
    }

    /// [`Segment::get`] of one word.
    fn get_word(&self, from: Place) -> Result<u64, FabricError> {
        let mut word = [0];
        self.get(from, &mut word)?;
        Ok(word[0])
    }

    /// [`Segment::put`] of one word.
    fn put_word(&self, to: Place, word: u64) -> Result<(), FabricError> {
        self.put(to, &[word])
    }

    /// [`Segment::fetch_with`] addition.
    fn fetch_add(&self, at: Place, operand: u64) -> Result<u64, FabricError> {
        self.fetch_with(at, Update::Add, operand)
    }

    /// [`Segment::fetch_with`] bitwise and.
    fn fetch_and(&self, at: Place, operand: u64) -> Result<u64, FabricError> {
        self.fetch_with(at, Update::And, operand)
    }

    /// [`Segment::fetch_with`] bitwise or.
    fn fetch_or(&self, at: Place, operand: u64) -> Result<u64, FabricError> {
        self.fetch_with(at, Update::Or, operand)
    }

    /// [`Segment::fetch_with`] bitwise exclusive or.
    fn fetch_xor(&self, at: Place, operand: u64) -> Result<u64, FabricError> {
        self.fetch_with(at, Update::Xor, operand)
    }

    /// [`Segment::start_fetch_with`] addition.
    fn start_fetch_add(&self, at: Place, operand: u64) -> Result<Self::Word, FabricError> {
        self.start_fetch_with(at, Update::Add, operand)
    }
}
