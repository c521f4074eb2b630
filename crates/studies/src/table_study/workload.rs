//! What one worker does in one round, and what it sees of it.
//!
//! Finds and inserts come in random order and in exact numbers. Every [`SAMPLED`]th operation is timed by itself,
//! between two readings of the system's clock; what these readings take is part of both latency and throughput.

use super::keys;
use std::time::Instant;
use tremula_table::Node;
use tremula_table::layout::scale;

/// One operation in so many is timed.
pub const SAMPLED: u64 = 64;

/// Somebody who finds or makes nodes.
pub(crate) trait Maker {
    /// Find or make a node; tells how many chunks were read, if that is known (else zero). None: there is no room.
    fn make(&mut self, node: Node) -> Option<u32>;
}

/// What one worker does in one round.
pub(crate) struct Work {
    /// Finds and inserts together.
    pub(crate) operations: u64,
    /// How many of them are inserts.
    pub(crate) inserts: u64,
    /// Nodes below this number are there.
    pub(crate) existing: u64,
    /// New nodes are numbered from here.
    pub(crate) first_new: u64,
    /// Different for each worker and round.
    pub(crate) seed: u64,
}

/// What a worker saw in one round.
pub(crate) struct Seen {
    pub(crate) start: Instant,
    pub(crate) end: Instant,
    pub(crate) find_chunks: u64,
    pub(crate) insert_chunks: u64,
}

impl Work {
    /// Do it; adds nanoseconds of timed operations to `samples`. None: there was no room.
    #[inline(never)]
    pub(crate) fn run(&self, maker: &mut impl Maker, samples: &mut Vec<u32>) -> Option<Seen> {
        let mut random = Random(self.seed);
        let (mut find_chunks, mut insert_chunks) = (0, 0);
        let mut inserts = self.inserts;
        let start = Instant::now();
        for left in (1..=self.operations).rev() {
            let number = random.next();
            // Of `left` operations, `inserts` are to be inserts.
            let is_insert = ((u128::from(number as u32) * u128::from(left)) >> u32::BITS) < u128::from(inserts);
            inserts -= u64::from(is_insert);
            let key = if is_insert { self.first_new + inserts } else { scale(number, self.existing as usize) as u64 };
            let node = keys::node(key);
            let chunks = if left % SAMPLED == 0 {
                let before = Instant::now();
                let chunks = maker.make(node)?;
                samples.push(nanoseconds_since(before));
                chunks
            } else {
                maker.make(node)?
            };
            *if is_insert { &mut insert_chunks } else { &mut find_chunks } += u64::from(chunks);
        }
        Some(Seen { start, end: Instant::now(), find_chunks, insert_chunks })
    }
}

#[inline]
pub(super) fn nanoseconds_since(before: Instant) -> u32 {
    before.elapsed().as_nanos().try_into().unwrap_or(u32::MAX)
}

/// SplitMix64, by Steele, Lea and Flood.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Remembers nodes; a node that is there costs one chunk, a new one a hundred.
    #[derive(Default)]
    struct Notes(HashSet<(u32, u32, u32)>);

    impl Maker for Notes {
        fn make(&mut self, node: Node) -> Option<u32> {
            let is_new = self.0.insert((node.level, node.low.bits(), node.high.bits()));
            Some(if is_new { 100 } else { 1 })
        }
    }

    #[test]
    fn work_is_done_in_exact_numbers() {
        let (mut notes, mut samples) = (Notes::default(), Vec::new());
        assert!((0..50).all(|key| notes.make(keys::node(key)) == Some(100)));
        let work = Work { operations: 1000, inserts: 200, existing: 50, first_new: 1234, seed: 7 };
        let seen = work.run(&mut notes, &mut samples).unwrap();
        assert_eq!((seen.find_chunks, seen.insert_chunks), (800, 20_000));
        assert_eq!((notes.0.len(), samples.len()), (250, 1000 / SAMPLED as usize));
        assert!((1234..1434).all(|key| notes.make(keys::node(key)) == Some(1)));
    }
}
