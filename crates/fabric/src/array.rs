//! Arrays that are dealt out to all ranks in blocks, and used by index.

use crate::sync::AtomicU64;
use crate::{Blocks, Fabric, FabricError, Pending, Place, Segment, Update};
use std::num::NonZeroUsize;
use std::ops::Range;

/// An array of words over all ranks; its layout is [`Blocks`].
///
/// The contracts are those of the [`Segment`] method with the same name, with an index instead of a place and
/// [`FabricError::OutOfArray`] for words that do not exist.
///
/// ```
/// use std::num::NonZeroUsize;
/// use tremula_fabric::{BlockArray, Fabric, threads};
/// threads::run(2, |fabric| {
///     let squares = BlockArray::allocate(fabric, 7, NonZeroUsize::new(2).unwrap()).unwrap();
///     for index in squares.owned(fabric.rank()).flatten() {
///         squares.put_word(index, (index * index) as u64).unwrap();
///     }
///     fabric.barrier();
///     let mut some = [0; 4];
///     squares.get(3, &mut some).unwrap();
///     assert_eq!(some, [9, 16, 25, 36]);
/// })
/// .unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct BlockArray<S> {
    blocks: Blocks,
    segment: S,
}

impl<S: Segment> BlockArray<S> {
    /// *Collective.* An array of `len` zeros in blocks of `block` words. All ranks give the same numbers.
    pub fn allocate<F>(fabric: &F, len: usize, block: NonZeroUsize) -> Result<BlockArray<S>, FabricError>
    where
        F: Fabric<Segment = S>,
    {
        BlockArray::with(fabric, |ranks| Blocks::new(len, block, ranks))
    }

    /// *Collective.* An array of `len` zeros, one block on each rank. All ranks give the same number.
    pub fn even<F>(fabric: &F, len: usize) -> Result<BlockArray<S>, FabricError>
    where
        F: Fabric<Segment = S>,
    {
        BlockArray::with(fabric, |ranks| Blocks::even(len, ranks))
    }

    fn with<F>(fabric: &F, layout: impl Fn(NonZeroUsize) -> Blocks) -> Result<BlockArray<S>, FabricError>
    where
        F: Fabric<Segment = S>,
    {
        let blocks = layout(NonZeroUsize::new(fabric.ranks()).expect("a rank calls this, so there is one"));
        Ok(BlockArray { blocks, segment: fabric.allocate(blocks.words_per_rank())? })
    }

    /// The length of the array.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Is the array of length zero?
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The memory below the array.
    pub fn segment(&self) -> &S {
        &self.segment
    }

    /// Where the word at `index` lies.
    pub fn place(&self, index: usize) -> Result<Place, FabricError> {
        self.blocks.place(index).ok_or(FabricError::OutOfArray { index, length: 1, words: self.len() })
    }

    /// The ranges of indices that lie on `rank`, in the order of their offsets.
    pub fn owned(&self, rank: usize) -> impl Iterator<Item = Range<usize>> {
        self.blocks.owned(rank)
    }

    /// This rank's words with their indices, as plain memory; see [`Segment::local`].
    pub fn local(&self) -> impl Iterator<Item = (usize, &AtomicU64)> {
        // Only the last block of all may be short, and it is the last of its rank: the others leave no gaps.
        self.blocks.owned(self.segment.rank()).flatten().zip(self.segment.local())
    }

    /// Read the words from `index` on, from as many blocks as they lie in.
    pub fn get(&self, index: usize, into: &mut [u64]) -> Result<(), FabricError> {
        let range = self.range(index, into.len())?;
        // All requests are under way before the first is waited for.
        let started: Vec<_> = self
            .blocks
            .pieces(range)
            .map(|(place, piece)| Ok((self.segment.start_get(place, piece.len())?, piece)))
            .collect::<Result<_, FabricError>>()?;
        for (pending, piece) in started {
            into[piece.start - index..piece.end - index].copy_from_slice(&pending.wait());
        }
        Ok(())
    }

    /// Write `words` from `index` on, to as many blocks as they lie in.
    pub fn put(&self, index: usize, words: &[u64]) -> Result<(), FabricError> {
        let range = self.range(index, words.len())?;
        let mut pieces = self.blocks.pieces(range);
        pieces.try_for_each(|(place, piece)| self.segment.put(place, &words[piece.start - index..piece.end - index]))
    }

    /// Read one word.
    pub fn get_word(&self, index: usize) -> Result<u64, FabricError> {
        self.segment.get_word(self.place(index)?)
    }

    /// Write one word.
    pub fn put_word(&self, index: usize, word: u64) -> Result<(), FabricError> {
        self.segment.put_word(self.place(index)?, word)
    }

    /// Replace a word by `new` if it is `expected`, atomically; the old word.
    pub fn compare_and_swap(&self, index: usize, expected: u64, new: u64) -> Result<u64, FabricError> {
        self.segment.compare_and_swap(self.place(index)?, expected, new)
    }

    /// Change a word atomically; the old word.
    pub fn fetch_with(&self, index: usize, update: Update, operand: u64) -> Result<u64, FabricError> {
        self.segment.fetch_with(self.place(index)?, update, operand)
    }

    /// Add to a word atomically; the old word.
    pub fn fetch_add(&self, index: usize, operand: u64) -> Result<u64, FabricError> {
        self.fetch_with(index, Update::Add, operand)
    }

    /// Wait until everything that the calling thread has begun on the array is complete and visible to all.
    pub fn flush_all(&self) -> Result<(), FabricError> {
        self.segment.flush_all()
    }

    /// `length` indices from `index` on, if all exist; none may begin at the end.
    fn range(&self, index: usize, length: usize) -> Result<Range<usize>, FabricError> {
        let end = index.checked_add(length).filter(|&end| end <= self.len());
        end.map(|end| index..end).ok_or(FabricError::OutOfArray { index, length, words: self.len() })
    }
}
