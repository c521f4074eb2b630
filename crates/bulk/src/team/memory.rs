//! The memory of the team: words of all ranks that all may read and change.
//!
//! A node is its children, then one more than its level. A place is taken by a compare-and-swap of its first word, which
//! is never zero in a node, and complete when the second one is not zero. A request is: where its elements begin and how
//! many they are; what is not wanted, its level, and whether it is answered twice; its halves; its answers.

use super::plan::{Array, LINE, NODE, Plan, REQUEST};
use crate::layout::{BOTTOM, REQUEST_BIT, Ref, SPREAD, mix};
use std::sync::atomic::{AtomicU64, Ordering};

/// Words of a rank's part that are shared counters, each on a line of its own.
pub const CONTROL_WORDS: usize = 16 * LINE;
/// On the first rank: who has come to a meeting, and the meetings so far.
pub const ARRIVED: usize = 0;
pub const ROUND: usize = LINE;
/// On the first rank: what there was no room for.
pub const FULL: usize = 2 * LINE;
/// On the first rank: where a run of narrow levels has ended, on the way down and up.
pub const LEVELS: [usize; 2] = [3 * LINE, 11 * LINE];
/// On the first rank: nodes made by the sweep, requests and elements of it.
pub const MADE: usize = 4 * LINE;
pub const ASKED: usize = 5 * LINE;
pub const KEPT: usize = 6 * LINE;
/// On the first rank: the initial states.
pub const INITIAL: usize = 7 * LINE;
/// On each rank: requests, elements and blocks that are handed out.
pub const REQUESTS_OUT: usize = 8 * LINE;
pub const ELEMENTS_OUT: usize = 9 * LINE;
pub const BLOCKS_OUT: usize = 10 * LINE;

/// On the first rank: not zero when a worker has panicked, so that nobody waits for it.
pub const BROKEN: usize = 12 * LINE;

/// Bits of [`FULL`].
pub const FULL_NODES: u64 = 1;
pub const FULL_REQUESTS: u64 = 2;
pub const FULL_INDEX: u64 = 4;
pub const STOPPED: u64 = 8;

/// Elements of a request are counted in the bits above this one.
const LENGTH_SHIFT: u32 = 40;
/// Elements of a request.
pub const MOST_ELEMENTS: usize = (1 << (u64::BITS - LENGTH_SHIFT)) - 1;
/// Tells requests that are answered twice.
const TWICE: u64 = 1 << 63;

/// What a request asks, without its elements.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// The number of its first element.
    pub first: usize,
    /// How many elements.
    pub length: usize,
    /// What is not wanted.
    pub minus: u32,
    /// Its level.
    pub level: u32,
    /// Is it answered twice?
    pub twice: bool,
}

/// All parts, as this process sees them.
pub struct Memory<'s> {
    /// By rank.
    pub parts: Vec<&'s [AtomicU64]>,
    /// How they are divided.
    pub plan: Plan,
}

impl Memory<'_> {
    /// A word of the first rank's counters.
    pub fn control(&self, word: usize) -> &AtomicU64 {
        &self.parts[0][word]
    }

    #[inline]
    fn words(&self, array: &Array, number: usize, words: usize) -> &[AtomicU64] {
        let (rank, item) = array.find(number);
        let start = array.start + item * words;
        &self.parts[rank][start..start + words]
    }

    /// A word of an array of words.
    #[inline]
    pub fn word(&self, array: &Array, number: usize) -> &AtomicU64 {
        &self.words(array, number, 1)[0]
    }

    /// The words of a block.
    pub fn block(&self, number: usize) -> &[AtomicU64] {
        self.words(&self.plan.blocks, number, super::plan::BLOCK)
    }

    /// The level of a set.
    #[inline]
    pub fn level(&self, table: usize, set: u32) -> u32 {
        if set < Ref::TERMINALS {
            return BOTTOM;
        }
        // Relaxed: sets come from before the last meeting.
        let tag = self.words(&self.plan.tables[table], set as usize, NODE)[1].load(Ordering::Relaxed);
        (tag - 1) as u32
    }

    /// What becomes of a set when the bit at `level`, which is not below the set's, is 0 or 1.
    #[inline]
    pub fn halves(&self, table: usize, set: u32, level: u32) -> [u32; 2] {
        if set < Ref::TERMINALS {
            return [set; 2];
        }
        let node = self.words(&self.plan.tables[table], set as usize, NODE);
        // Relaxed: as above.
        if node[1].load(Ordering::Relaxed) != u64::from(level) + 1 {
            return [set; 2];
        }
        let children = node[0].load(Ordering::Relaxed);
        [children as u32, (children >> 32) as u32]
    }

    /// The set with these halves, which differ, in the first `places` places of each rank's part of a table; and whether it is
    /// new. None if there is no room.
    #[inline]
    pub fn make(&self, table: usize, places: usize, level: u32, [low, high]: [u32; 2]) -> Option<(u32, bool)> {
        let (children, tag) = (u64::from(low) | u64::from(high) << 32, u64::from(level) + 1);
        let hash = mix(children ^ tag.wrapping_mul(SPREAD));
        let rank = (((hash >> 32) * self.plan.ranks as u64) >> 32) as usize;
        let terminals = Ref::TERMINALS as usize;
        let mut item = terminals + (((hash & 0xffff_ffff) * (places - terminals) as u64) >> 32) as usize;
        let array = &self.plan.tables[table];
        for _ in terminals..places {
            let words = &self.parts[rank][array.start + item * NODE..][..NODE];
            // Acquire here and below: whoever sees children sees what their owners published before.
            let mut seen = words[0].load(Ordering::Acquire);
            if seen == 0 {
                match words[0].compare_exchange(0, children, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => {
                        // Release: completes the node for those who wait for it.
                        words[1].store(tag, Ordering::Release);
                        return Some((array.number(rank, item) as u32, true));
                    }
                    Err(other) => seen = other,
                }
            }
            if seen == children && completed(&words[1]) == tag {
                return Some((array.number(rank, item) as u32, false));
            }
            item = if item + 1 == places { terminals } else { item + 1 };
        }
        None
    }

    fn request(&self, number: u32) -> &[AtomicU64] {
        self.words(&self.plan.requests, number as usize, REQUEST)
    }

    /// Write what a request asks. It is published by an entry of the index.
    pub fn write_request(&self, number: u32, header: Header) {
        let Header { first, length, minus, level, twice } = header;
        let words = self.request(number);
        // Relaxed: see above.
        words[0].store(first as u64 | (length as u64) << LENGTH_SHIFT, Ordering::Relaxed);
        let kind = if twice { TWICE } else { 0 };
        words[1].store(u64::from(minus) | u64::from(level) << 32 | kind, Ordering::Relaxed);
    }

    /// What a request asks.
    #[inline]
    pub fn header(&self, number: u32) -> Header {
        let words = self.request(number);
        // Relaxed: the reader has met the writer, or has found an entry of the index with Acquire.
        let (place, rest) = (words[0].load(Ordering::Relaxed), words[1].load(Ordering::Relaxed));
        Header {
            first: (place & ((1 << LENGTH_SHIFT) - 1)) as usize,
            length: (place >> LENGTH_SHIFT) as usize,
            minus: rest as u32,
            level: ((rest & !TWICE) >> 32) as u32,
            twice: rest & TWICE != 0,
        }
    }

    /// Two words of a request that are written once in a sweep: its halves, then its answers.
    #[inline]
    pub fn pair(&self, number: u32, which: Pair) -> [u32; 2] {
        // Relaxed: read after a meeting.
        let word = self.request(number)[which as usize].load(Ordering::Relaxed);
        [word as u32, (word >> 32) as u32]
    }

    /// See above.
    #[inline]
    pub fn set_pair(&self, number: u32, which: Pair, [low, high]: [u32; 2]) {
        // Relaxed: read after a meeting.
        self.request(number)[which as usize].store(u64::from(low) | u64::from(high) << 32, Ordering::Relaxed);
    }

    /// The sets of an answer: without what is not wanted, and together with it.
    #[inline]
    pub fn sets(&self, answer: u32, minus: u32) -> [u32; 2] {
        if answer & REQUEST_BIT != 0 {
            return self.pair(answer & !REQUEST_BIT, Pair::Answers);
        }
        // An answer that is a set is empty, or nothing is to be taken away.
        [answer, if answer == Ref::FALSE.0 { minus } else { answer }]
    }

    /// The elements of a request, which lie in one rank's part.
    #[inline]
    pub fn elements(&self, first: usize, length: usize) -> &[AtomicU64] {
        let (rank, item) = self.plan.elements.find(first);
        let start = self.plan.elements.start + item;
        &self.parts[rank][start..start + length]
    }
}

/// Parts of a request.
#[derive(Copy, Clone)]
pub enum Pair {
    /// Sets or requests, where the bit is 0 and 1.
    Halves = 2,
    /// The set without what is not wanted, and together with it.
    Answers = 3,
}

/// The second word of a place, as soon as it is there: whoever takes a place completes it at once.
#[inline]
fn completed(word: &AtomicU64) -> u64 {
    loop {
        // Acquire: pairs with the store that completes the node.
        let tag = word.load(Ordering::Acquire);
        if tag != 0 {
            return tag;
        }
        std::hint::spin_loop();
    }
}
