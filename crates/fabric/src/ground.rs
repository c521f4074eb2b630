//! Memory that the processes of one host address together, cut into pieces in the same way by all of them.

use crate::sync::AtomicU64;
use crate::{Distance, Fabric, FabricError, Reduction, Segment};
use std::sync::Arc;

/// Pieces begin at multiples of this: pages, at which the memory of other processes begins, too.
const ALIGNMENT: usize = 4 << 10;
/// Pieces are multiples of this, in bytes: large pages.
const UNIT: usize = 2 << 20;
const WORD: usize = size_of::<AtomicU64>();

/// Words that every process sees, zero at first. They take no memory until they are touched.
///
/// Whoever makes something out of a ground takes it, so that within a process no two things share a word. All processes cut
/// theirs in the same way, and make the same things of the pieces.
pub struct Ground {
    part: Arc<dyn Part>,
    start: usize,
    words: usize,
}

trait Part: Send + Sync {
    fn words(&self) -> &[AtomicU64];
}

struct Mapped<S> {
    segment: S,
    owner: usize,
}

impl<S: Segment + Send + Sync> Part for Mapped<S> {
    fn words(&self) -> &[AtomicU64] {
        self.segment.mapped(self.owner).unwrap_or_default()
    }
}

impl Ground {
    /// *Collective.* Can all ranks address the memory of rank 0? Those of one host can, unless the system keeps them apart.
    pub fn is_possible<F: Fabric>(fabric: &F) -> Result<bool, FabricError> {
        let is_mapped = fabric.allocate(1)?.mapped(0).is_some();
        let near = |to: usize| fabric.distance(to).is_ok_and(|distance| distance != Distance::Remote);
        let mut all = [u64::from(is_mapped && (0..fabric.ranks()).all(near))];
        fabric.all_reduce(Reduction::Min, &mut all)?;
        Ok(all == [1])
    }

    /// The part of a segment that belongs to `owner`, if this process can address it. It is used through the ground only from
    /// now on, by all ranks.
    pub fn new<S: Segment + Send + Sync + 'static>(segment: S, owner: usize) -> Option<Ground> {
        let words = segment.mapped(owner)?.len();
        Some(Ground { part: Arc::new(Mapped { segment, owner }), start: 0, words })
    }

    /// Words that a ground must have for pieces of these numbers of bytes.
    pub fn words_for(pieces: impl IntoIterator<Item = usize>) -> usize {
        pieces.into_iter().map(|bytes| bytes.next_multiple_of(UNIT) + ALIGNMENT).sum::<usize>() / WORD
    }

    /// Cut off a piece of so many bytes and more; none if there is not so much left.
    pub fn cut(&mut self, bytes: usize) -> Option<Ground> {
        let address = self.words().as_ptr().addr();
        let skipped = (address.next_multiple_of(ALIGNMENT) - address) / WORD;
        let words = bytes.checked_next_multiple_of(UNIT)? / WORD;
        let taken = skipped.checked_add(words).filter(|&taken| taken <= self.words)?;
        let piece = Ground { part: Arc::clone(&self.part), start: self.start + skipped, words };
        (self.start, self.words) = (self.start + taken, self.words - taken);
        Some(piece)
    }

    /// The words.
    pub fn words(&self) -> &[AtomicU64] {
        &self.part.words()[self.start..][..self.words]
    }

    /// Bytes of these.
    pub fn bytes(&self) -> usize {
        self.words * WORD
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fabric;
    use crate::sync::Ordering;
    use crate::threads;

    #[test]
    fn ranks_cut_the_same_pieces() {
        let seen = threads::run(2, |fabric| {
            let segment = fabric.allocate(Ground::words_for([100, UNIT + 1])).unwrap();
            let mut ground = Ground::new(segment, 0).unwrap();
            let (first, second) = (ground.cut(100).unwrap(), ground.cut(UNIT + 1).unwrap());
            assert!(ground.cut(UNIT).is_none());
            assert_eq!((first.bytes(), second.bytes()), (UNIT, 2 * UNIT));
            assert!([&first, &second].iter().all(|piece| piece.words().as_ptr().addr().is_multiple_of(ALIGNMENT)));
            first.words()[0].fetch_add(1, Ordering::Relaxed);
            second.words()[7].fetch_add(10, Ordering::Relaxed);
            fabric.barrier();
            [&first.words()[0], &second.words()[7]].map(|word| word.load(Ordering::Relaxed))
        });
        assert_eq!(seen.unwrap(), [[2, 20]; 2]);
    }
}
