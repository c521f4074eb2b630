//! The way of a search through slots that it can address, one by one, and what of it counts as chunks.

use crate::chunks::Way;
use crate::shape::Shape;
use crate::traffic::Reach;
use tremula_fabric::Place;

/// How the searches of a thread go through a table.
pub(crate) struct Walker<'r> {
    pub(crate) shape: Shape,
    pub(crate) way: Way,
    /// Slots of a chunk.
    pub(crate) chunk: usize,
    /// By rank.
    pub(crate) reaches: &'r [Reach],
    /// Chunks that were read.
    pub(crate) count: [u64; 3],
}

/// Where a search is.
pub(crate) struct Walk {
    pub(crate) place: Place,
    /// Where it began.
    home: usize,
    /// The number of the chunk.
    number: usize,
    /// Slots before the end of the chunk.
    chunk_left: usize,
    /// Slots that were passed.
    passed: usize,
}

impl Walker<'_> {
    /// Slots of the chunk that begins here, which is counted.
    fn chunk(&mut self, place: Place) -> usize {
        self.count[self.reaches[place.rank] as usize] += 1;
        // A chunk ends where the part of its rank does.
        self.chunk.min(self.shape.sizes.slots - place.offset)
    }

    /// A search at its first slot.
    pub(crate) fn begin(&mut self, hash: u64) -> Walk {
        let place = self.shape.place_of(hash);
        let home = place.rank * self.shape.sizes.slots + place.offset;
        Walk { place, home, number: 0, chunk_left: self.chunk(place), passed: 0 }
    }

    /// Pass a slot; false if that was the last one.
    pub(crate) fn step(&mut self, walk: &mut Walk) -> bool {
        walk.passed += 1;
        if walk.passed >= self.shape.slots() {
            return false;
        }
        walk.place.offset += 1;
        walk.chunk_left -= 1;
        if walk.chunk_left == 0 {
            walk.number += 1;
            let end = walk.place.rank * self.shape.sizes.slots + walk.place.offset;
            walk.place = self.shape.slot_place(self.way.next(walk.home, walk.number, end));
            walk.chunk_left = self.chunk(walk.place);
        }
        true
    }
}
