//! A table for the study: find-or-put as the table itself does it, with any order of probing.
//!
//! A node is written before its position is published by the compare-exchange on its slot, and found through an Acquire
//! of that slot, so nodes are always seen complete. Two workers that make the same node meet in the same empty slot,
//! and one of them finds the other's. Each worker writes to positions of its own.

use super::keys;
use super::probing::Probing;
use super::words::{EMPTY, Words, position, tag_matches, word};
use super::workload::Maker;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use tremula_table::Node;

/// A table of nodes that probes by `P`.
pub(crate) struct LabTable<P> {
    words: Words,
    nodes: Vec<NodeCell>,
    probing: PhantomData<P>,
}

/// A node in two words.
#[derive(Default)]
struct NodeCell([AtomicU64; 2]);

impl NodeCell {
    #[inline]
    fn get(&self) -> [u64; 2] {
        // Relaxed: whoever knows the position has it from an Acquire that pairs with the Release that published it.
        [self.0[0].load(Ordering::Relaxed), self.0[1].load(Ordering::Relaxed)]
    }

    #[inline]
    fn set(&self, node: [u64; 2]) {
        // Relaxed: as in `get`.
        self.0[0].store(node[0], Ordering::Relaxed);
        self.0[1].store(node[1], Ordering::Relaxed);
    }
}

impl<P: Probing> LabTable<P> {
    /// An empty table.
    pub(crate) fn new(slots: usize) -> LabTable<P> {
        let nodes = (0..slots).map(|_| NodeCell::default()).collect();
        LabTable { words: Words::new(slots), nodes, probing: PhantomData }
    }

    /// A worker that makes at most `room` nodes, after the first `before`.
    pub(crate) fn worker(&self, before: u64, room: u64) -> LabWorker<'_, P> {
        // Position zero stays unused.
        let first = 1 + before as u32;
        LabWorker { table: self, free: first..first + room as u32, occupied: Vec::with_capacity(room as usize) }
    }

    /// Are exactly the nodes with these numbers in the table, each of them once?
    pub(crate) fn holds_exactly(&self, numbers: impl Iterator<Item = u64>) -> bool {
        let mut count = 0;
        let all_found = numbers.inspect(|_| count += 1).all(|key| self.contains(keys::node(key)));
        all_found && self.words.occupied() == count
    }

    fn contains(&self, node: Node) -> bool {
        let (node, hash) = packed(node);
        let look = |_, word| if word == EMPTY { Some(false) } else { self.is(word, hash, node).then_some(true) };
        P::walk(&self.words, hash, look).0
    }

    #[inline]
    fn is(&self, word: u64, hash: u64, node: [u64; 2]) -> bool {
        tag_matches(word, hash) && self.nodes[position(word) as usize].get() == node
    }

    /// Take back what a worker has done. What was there before it began does not depend on it.
    pub(crate) fn undo(&self, occupied: &[u32]) {
        occupied.iter().for_each(|&slot| self.words.clear(slot as usize));
    }
}

/// The node in two words, and its hash: multiplied and folded, so that slots are as good as random.
#[inline]
fn packed(node: Node) -> ([u64; 2], u64) {
    let words = [u64::from(node.low.bits()) | u64::from(node.high.bits()) << 32, u64::from(node.level)];
    let second = words[1].wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ 0xA076_1D64_78BD_642F;
    let wide = u128::from(words[0] ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(u128::from(second));
    let folded = wide as u64 ^ (wide >> 64) as u64;
    (words, folded.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// One worker's view of the table.
pub(crate) struct LabWorker<'t, P> {
    table: &'t LabTable<P>,
    /// Positions that it has not used.
    free: Range<u32>,
    /// Slots that it has occupied.
    occupied: Vec<u32>,
}

impl<P> LabWorker<'_, P> {
    /// The slots that it has occupied.
    pub(crate) fn into_occupied(self) -> Vec<u32> {
        self.occupied
    }
}

impl<P: Probing> Maker for LabWorker<'_, P> {
    #[inline]
    fn make(&mut self, node: Node) -> Option<u32> {
        let (node, hash) = packed(node);
        let table = self.table;
        let mut written = false;
        let (done, chunks) = P::walk(&table.words, hash, |slot, mut word_there| {
            if word_there == EMPTY {
                if self.free.is_empty() {
                    return Some(false);
                }
                let position = self.free.start;
                if !written {
                    table.nodes[position as usize].set(node);
                    written = true;
                }
                match table.words.occupy(slot, word(hash, position)) {
                    Ok(()) => {
                        self.free.start += 1;
                        self.occupied.push(slot as u32);
                        return Some(true);
                    }
                    // Somebody was faster, perhaps with the same node. The position stays the next one to be used.
                    Err(other) => word_there = other,
                }
            }
            table.is(word_there, hash, node).then_some(true)
        });
        done.then_some(chunks)
    }
}

#[cfg(test)]
mod tests {
    use super::super::crew::{Meeting, on_threads};
    use super::super::probing::{CacheLine, Chunks, Linear, Quadratic};
    use super::*;

    const SLOTS: usize = 1 << 14;
    const KEYS: u64 = 3000;
    const WORKERS: usize = 3;

    /// All workers make the same nodes at the same time.
    fn race<P: Probing>() {
        let table = LabTable::<P>::new(SLOTS);
        let start = Meeting::new(WORKERS);
        let occupied = on_threads(WORKERS, |number| {
            let mut worker = table.worker(number as u64 * KEYS, KEYS);
            start.wait();
            assert!((0..KEYS).all(|key| worker.make(keys::node(key)).is_some()));
            worker.into_occupied()
        })
        .unwrap();
        assert!(table.holds_exactly(0..KEYS));
        occupied.iter().for_each(|slots| table.undo(slots));
        assert!(table.holds_exactly(0..0));
    }

    #[test]
    fn equal_nodes_made_at_once_are_one_node() {
        race::<Chunks<8>>();
        race::<Chunks<128>>();
        race::<CacheLine>();
        race::<Linear>();
        race::<Quadratic>();
    }

    #[test]
    fn a_ledger_notices_what_is_missing_or_too_much() {
        let table = LabTable::<CacheLine>::new(SLOTS);
        let mut worker = table.worker(0, 2);
        assert_eq!([1, 1, 2, 3].map(|key| worker.make(keys::node(key)).is_some()), [true, true, true, false]);
        assert!(table.holds_exactly(1..3));
        assert!(!table.holds_exactly(1..2) && !table.holds_exactly(1..4) && !table.holds_exactly(2..4));
    }
}
