//! Searches in one array where this process can address the memory of all ranks.
//!
//! As [there](crate::near), memory is slow: a window of searches first touches the slots at which they begin, so that the
//! processor waits for many at a time, and then they go on one by one.

use crate::Node;
use crate::contract::Found;
use crate::inline::{Inline, InlineFinder};
use crate::one_sided::Stop;
use crate::shape::hash;
use crate::slot::{SLOT_WORDS, Sight, SlotWords, compare, encode};
use crate::walk::{Walk, Walker};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use tremula_fabric::{Pending, Place, Segment};

/// Searches that begin together.
const WINDOW: usize = 64;

/// The table as plain memory, by rank.
#[derive(Debug)]
pub(crate) struct NearSlots<'t>(Vec<&'t [AtomicU64]>);

impl<'t> NearSlots<'t> {
    /// The table, if all of it can be addressed.
    pub(crate) fn of<S: Segment>(slots: &'t S) -> Option<NearSlots<'t>> {
        (0..slots.ranks()).map(|rank| slots.mapped(rank)).collect::<Option<_>>().map(NearSlots)
    }

    fn words(&self, slot: Place) -> &'t [AtomicU64] {
        &self.0[slot.rank][slot.offset * SLOT_WORDS..][..SLOT_WORDS]
    }

    fn slot(&self, slot: Place) -> SlotWords {
        let words = self.words(slot);
        // Relaxed, here and below: each word says by its own flag whether it has come (I2), and nothing else hangs on it.
        std::array::from_fn(|word| words[word].load(Ordering::Relaxed))
    }

    /// Read a slot without looking at it: its first and its last word, which may lie in different lines.
    fn fetch(&self, slot: Place) {
        let words = self.words(slot);
        black_box(words[0].load(Ordering::Relaxed));
        black_box(words[SLOT_WORDS - 1].load(Ordering::Relaxed));
    }
}

impl<S: Segment> InlineFinder<'_, S> {
    /// Search in memory, window by window.
    pub(crate) fn search_near(&mut self, near: &NearSlots, nodes: &[Node]) -> Result<Vec<Found>, Stop> {
        let table = self.table;
        let (shape, way, chunk, reaches) = (table.shape, table.way(), table.chunk(), &table.reaches[..]);
        let mut walker = Walker { shape, way, chunk, reaches, count: [0; 3] };
        let (mut found, mut walks) = (Vec::with_capacity(nodes.len()), Vec::with_capacity(WINDOW));
        let outcome = nodes.chunks(WINDOW).try_for_each(|window| {
            walks.clear();
            walks.extend(window.iter().map(|&node| walker.begin(hash(node))));
            walks.iter().for_each(|walk| near.fetch(walk.place));
            for (&node, walk) in window.iter().zip(&mut walks) {
                found.push(self.search_on(near, &mut walker, encode(node), walk)?);
            }
            Ok(())
        });
        self.traffic.chunks.iter_mut().zip(walker.count).for_each(|(sum, count)| *sum += count);
        outcome.map(|()| found)
    }

    fn search_on(
        &mut self,
        near: &NearSlots,
        walker: &mut Walker,
        wanted: SlotWords,
        walk: &mut Walk,
    ) -> Result<Found, Stop> {
        loop {
            let place = walk.place;
            match compare(near.slot(place), wanted) {
                Sight::Equal => return Ok(Found { position: self.table.position(place), new: false }),
                Sight::Free if self.claim(place, wanted)? => {
                    return Ok(Found { position: self.table.position(place), new: true });
                }
                // Somebody was faster.
                Sight::Free => {}
                // Whoever has claimed it may need this processor.
                Sight::Unfinished => thread::yield_now(),
                Sight::Other if walker.step(walk) => {}
                Sight::Other => return Err(Stop::Full),
            }
        }
    }

    /// Put a node into a slot, unless somebody else has taken it.
    fn claim(&mut self, place: Place, words: SlotWords) -> Result<bool, Stop> {
        self.count(place, |traffic| &mut traffic.swaps, 1);
        let first = Inline::<S>::word_place(place, 0);
        if self.table.slots.compare_and_swap(first, 0, words[0])? != 0 {
            return Ok(false);
        }
        for word in self.start_rest(place, &words)? {
            word.wait();
        }
        Ok(true)
    }
}
