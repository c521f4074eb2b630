//! Where the words of a block-distributed array lie.

use crate::Place;
use std::num::NonZeroUsize;
use std::ops::Range;

/// An array cut into blocks that are dealt out to the ranks in turn: block `b` lies on rank `b % ranks`, behind the
/// blocks that this rank already has. Pure arithmetic; the memory is in [`BlockArray`](crate::BlockArray).
///
/// ```
/// use std::num::NonZeroUsize;
/// use tremula_fabric::{Blocks, Place};
/// let count = |n| NonZeroUsize::new(n).unwrap();
/// let blocks = Blocks::new(10, count(3), count(2));
/// assert_eq!(blocks.place(7), Some(Place { rank: 0, offset: 4 }));
/// assert_eq!(blocks.owned(1).collect::<Vec<_>>(), [3..6, 9..10]);
/// ```
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Blocks {
    len: usize,
    block: NonZeroUsize,
    ranks: NonZeroUsize,
}

impl Blocks {
    /// `len` words in blocks of `block` words on `ranks` ranks. The last block may be shorter.
    pub fn new(len: usize, block: NonZeroUsize, ranks: NonZeroUsize) -> Blocks {
        // A block longer than the array would waste memory, as ranks own whole blocks.
        let longest = NonZeroUsize::new(len).unwrap_or(NonZeroUsize::MIN);
        Blocks { len, block: block.min(longest), ranks }
    }

    /// At most one block for each rank, as even as that can be.
    pub fn even(len: usize, ranks: NonZeroUsize) -> Blocks {
        let block = NonZeroUsize::new(len.div_ceil(ranks.get())).unwrap_or(NonZeroUsize::MIN);
        Blocks::new(len, block, ranks)
    }

    /// The length of the array.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Is the array of length zero?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The words that the largest part takes.
    pub fn words_per_rank(&self) -> usize {
        let blocks = self.len.div_ceil(self.block.get());
        // Saturation: nobody has that much memory, and the allocation will say so.
        blocks.div_ceil(self.ranks.get()).saturating_mul(self.block.get())
    }

    /// Where the word at `index` lies.
    pub fn place(&self, index: usize) -> Option<Place> {
        (index < self.len).then(|| {
            let (block, inside) = (index / self.block, index % self.block);
            Place { rank: block % self.ranks, offset: block / self.ranks * self.block.get() + inside }
        })
    }

    /// The ranges of indices that lie on `rank`, one for each block, in the order of their offsets.
    pub fn owned(self, rank: usize) -> impl Iterator<Item = Range<usize>> {
        let blocks = self.len.div_ceil(self.block.get());
        let end = if rank < self.ranks.get() { blocks } else { 0 };
        (rank..end).step_by(self.ranks.get()).map(move |block| self.range_of(block))
    }

    /// `range` cut where blocks end, with the place of each piece. What lies outside the array is left out.
    pub fn pieces(self, range: Range<usize>) -> impl Iterator<Item = (Place, Range<usize>)> {
        let mut start = range.start;
        let end = range.end.min(self.len);
        std::iter::from_fn(move || {
            if start >= end {
                return None;
            }
            let place = self.place(start)?;
            let piece = start..self.range_of(start / self.block).end.min(end);
            start = piece.end;
            Some((place, piece))
        })
    }

    /// The indices in a block that exists.
    fn range_of(&self, block: usize) -> Range<usize> {
        let start = block * self.block.get();
        start..start.saturating_add(self.block.get()).min(self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn count(number: usize) -> NonZeroUsize {
        NonZeroUsize::new(number).unwrap()
    }

    /// All arrays that are small.
    fn layouts() -> impl Iterator<Item = Blocks> {
        let sizes = (0..20).flat_map(|len| (1..6).map(move |block| (len, block)));
        sizes.flat_map(|(len, block)| (1..5).map(move |ranks| Blocks::new(len, count(block), count(ranks))))
    }

    #[test]
    fn each_index_has_a_place_of_its_own() {
        for blocks in layouts() {
            let places: BTreeSet<Place> = (0..blocks.len()).map(|index| blocks.place(index).unwrap()).collect();
            assert_eq!(places.len(), blocks.len(), "{blocks:?}");
            let inside = |place: &Place| place.rank < blocks.ranks.get() && place.offset < blocks.words_per_rank();
            assert!(places.iter().all(inside), "{blocks:?}");
            assert_eq!(blocks.place(blocks.len()), None);
        }
    }

    #[test]
    fn a_rank_owns_what_is_placed_on_it() {
        for blocks in layouts() {
            for rank in 0..5 {
                let owned: Vec<usize> = blocks.owned(rank).flatten().collect();
                let placed = |&index: &usize| blocks.place(index).unwrap().rank == rank;
                assert_eq!(owned, (0..blocks.len()).filter(placed).collect::<Vec<_>>(), "{blocks:?}");
            }
        }
    }

    #[test]
    fn pieces_are_the_range() {
        for blocks in layouts() {
            for start in 0..blocks.len() + 2 {
                for end in start..blocks.len() + 2 {
                    let mut next = start;
                    for (place, piece) in blocks.pieces(start..end) {
                        assert_eq!(piece.start, next);
                        for (step, index) in piece.clone().enumerate() {
                            let expected = Place { rank: place.rank, offset: place.offset + step };
                            assert_eq!(blocks.place(index), Some(expected), "{blocks:?}");
                        }
                        next = piece.end;
                    }
                    assert_eq!(next.max(start), end.min(blocks.len()).max(start), "{blocks:?}");
                }
            }
        }
    }

    #[test]
    fn even_blocks_differ_by_what_does_not_divide() {
        let lengths = |len, ranks| -> Vec<usize> {
            let blocks = Blocks::even(len, count(ranks));
            (0..ranks).map(|rank| blocks.owned(rank).map(|range| range.len()).sum()).collect()
        };
        assert_eq!(lengths(10, 3), [4, 4, 2]);
        assert_eq!(lengths(2, 3), [1, 1, 0]);
        assert_eq!(lengths(0, 2), [0, 0]);
    }

    #[test]
    fn absurd_sizes_do_not_overflow() {
        let blocks = Blocks::new(usize::MAX, count(usize::MAX / 2), count(2));
        assert!(blocks.words_per_rank() >= usize::MAX / 2);
        assert_eq!(blocks.pieces(0..usize::MAX).count(), 3);
        assert_eq!(blocks.owned(0).count() + blocks.owned(1).count(), 3);
    }
}
