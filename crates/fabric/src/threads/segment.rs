//! Segments between threads: arrays of atomic words that all ranks can address.

use super::world::World;
use crate::sync::{AtomicU64, Ordering};
use crate::{FabricError, Place, Ready, Segment, Update};
use std::sync::Arc;

/// The words of one rank.
pub(super) type Part = Arc<Vec<AtomicU64>>;

/// A segment between threads. All threads of all ranks may use clones of it at the same time.
#[derive(Clone, Debug)]
pub struct ThreadSegment {
    rank: usize,
    words: usize,
    parts: Arc<[Part]>,
    world: Arc<World>,
}

impl ThreadSegment {
    pub(super) fn new(rank: usize, words: usize, parts: Arc<[Part]>, world: Arc<World>) -> ThreadSegment {
        ThreadSegment { rank, words, parts, world }
    }

    /// The words in question, unless a rank was lost: so a loop that polls a word ends with the computation.
    fn range(&self, at: Place, length: usize) -> Result<&[AtomicU64], FabricError> {
        self.world.check_lost()?;
        let Place { rank, offset } = at;
        let range = offset.checked_add(length).map(|end| offset..end);
        let part = self.parts.get(rank);
        part.zip(range).and_then(|(part, range)| part.get(range)).ok_or(FabricError::OutOfSegment {
            rank,
            offset,
            length,
            words: self.words,
            ranks: self.ranks(),
        })
    }

    fn word(&self, at: Place) -> Result<&AtomicU64, FabricError> {
        Ok(&self.range(at, 1)?[0])
    }
}

// Orderings: every write below is a Release and every read an Acquire, and they pair with each other: who reads a word
// sees all that its writer did before (F3). That makes each operation complete when it returns, so a flush is nothing.
impl Segment for ThreadSegment {
    type Words = Ready<Vec<u64>>;
    type Word = Ready<u64>;

    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.parts.len()
    }

    fn words(&self) -> usize {
        self.words
    }

    fn local(&self) -> &[AtomicU64] {
        &self.parts[self.rank]
    }

    fn mapped(&self, rank: usize) -> Option<&[AtomicU64]> {
        self.parts.get(rank).map(|part| part.as_slice())
    }

    fn get(&self, from: Place, into: &mut [u64]) -> Result<(), FabricError> {
        let words = self.range(from, into.len())?;
        for (copy, word) in into.iter_mut().zip(words) {
            // Acquire pairs with the Releases in `put`, `compare_and_swap` and `fetch_with`.
            *copy = word.load(Ordering::Acquire);
        }
        Ok(())
    }

    fn put(&self, to: Place, words: &[u64]) -> Result<(), FabricError> {
        for (word, &new) in self.range(to, words.len())?.iter().zip(words) {
            // Release pairs with the Acquires in `get`, `compare_and_swap` and `fetch_with`.
            word.store(new, Ordering::Release);
        }
        Ok(())
    }

    fn compare_and_swap(&self, at: Place, expected: u64, new: u64) -> Result<u64, FabricError> {
        // Acquire and Release as in `get` and `put`; a failure is a read.
        match self.word(at)?.compare_exchange(expected, new, Ordering::AcqRel, Ordering::Acquire) {
            Ok(old) | Err(old) => Ok(old),
        }
    }

    fn fetch_with(&self, at: Place, update: Update, operand: u64) -> Result<u64, FabricError> {
        Ok(update.apply_to(self.word(at)?, operand))
    }

    fn start_get(&self, from: Place, length: usize) -> Result<Ready<Vec<u64>>, FabricError> {
        let words = self.range(from, length)?;
        // Acquire: as in `get`.
        Ok(Ready::new(words.iter().map(|word| word.load(Ordering::Acquire)).collect()))
    }

    fn start_put(&self, to: Place, words: Vec<u64>) -> Result<Ready<Vec<u64>>, FabricError> {
        self.put(to, &words)?;
        Ok(Ready::new(words))
    }

    fn start_compare_and_swap(&self, at: Place, expected: u64, new: u64) -> Result<Ready<u64>, FabricError> {
        self.compare_and_swap(at, expected, new).map(Ready::new)
    }

    fn start_fetch_with(&self, at: Place, update: Update, operand: u64) -> Result<Ready<u64>, FabricError> {
        self.fetch_with(at, update, operand).map(Ready::new)
    }

    fn flush(&self, rank: usize) -> Result<(), FabricError> {
        self.world.check_lost()?;
        self.world.check_rank(rank)
    }
}
