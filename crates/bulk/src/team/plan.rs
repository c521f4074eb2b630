//! How the part of memory that each rank gives is divided, in words. All ranks have the same plan.
//!
//! Nodes, requests, elements and blocks have numbers for the whole team: the rank in the upper bits, the place in that rank's
//! array in the lower ones.

use crate::layout::{MOST, Ref};
use crate::shares::{ELEMENTS_PER_REQUEST, INDEX_PER_REQUEST, TABLES};

/// Words of a node, of a request and of a block of a list.
pub const NODE: usize = 2;
pub const REQUEST: usize = 4;
pub const BLOCK: usize = 32;
/// Words of a block that are no entries: the next block, and how many entries there are.
pub const BLOCK_HEAD: usize = 2;
/// Entries for each request: blocks are rarely full on narrow levels.
const ENTRIES: usize = 2;
/// Words between two that are written by different threads.
pub const LINE: usize = 16;
/// Roots of a sweep.
pub const MOST_ROOTS: usize = 4096;

/// An array in a rank's part.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Array {
    /// Its first word.
    pub start: usize,
    /// Items.
    pub length: usize,
    /// Bits of a number that tell the item; those above tell the rank.
    pub shift: u32,
}

impl Array {
    fn new(next: &mut usize, length: usize, words: usize) -> Array {
        let start = *next;
        *next += length * words;
        Array { start, length, shift: length.next_power_of_two().trailing_zeros() }
    }

    /// The rank and the item of a number.
    #[inline]
    pub fn find(&self, number: usize) -> (usize, usize) {
        (number >> self.shift, number & ((1 << self.shift) - 1))
    }

    /// The number of an item.
    #[inline]
    pub fn number(&self, rank: usize, item: usize) -> usize {
        rank << self.shift | item
    }
}

/// Where everything is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Ranks of the team.
    pub ranks: usize,
    /// Levels of the system.
    pub levels: usize,
    /// First blocks of the lists of levels, and where takers of blocks are: on the first rank.
    pub heads: usize,
    /// See above.
    pub cursors: usize,
    /// Answers to the roots, on the first rank.
    pub roots: usize,
    /// The two tables.
    pub tables: [Array; 2],
    /// Requests.
    pub requests: Array,
    /// Elements of requests.
    pub elements: Array,
    /// Where to find requests.
    pub index: Array,
    /// Blocks of lists.
    pub blocks: Array,
    /// Words of a part in all.
    pub words: usize,
}

impl Plan {
    /// Divide `bytes` of each rank; none if they are too few to begin with, or if the ranks are too many.
    #[must_use]
    pub fn new(bytes: usize, ranks: usize, levels: usize) -> Option<Plan> {
        let mut next = super::memory::CONTROL_WORDS;
        let mut lines = |count: usize| {
            let start = next;
            next += count.next_multiple_of(LINE);
            start
        };
        let (heads, cursors, roots) = (lines(levels), lines(levels), lines(MOST_ROOTS));
        let rest = (bytes / size_of::<u64>()).checked_sub(next)?;
        let most = (MOST / ranks.next_power_of_two()).checked_next_power_of_two()? / 2;
        let places = (rest / TABLES.1 * TABLES.0 / 2 / NODE).min(most);
        let per_request =
            REQUEST + ELEMENTS_PER_REQUEST + INDEX_PER_REQUEST + ENTRIES * BLOCK / (BLOCK - BLOCK_HEAD) + 1;
        let requests = ((rest - 2 * NODE * places) / per_request).min(most);
        if places <= Ref::TERMINALS as usize * 4 || requests < 64 {
            return None;
        }
        let tables = [(); 2].map(|()| Array::new(&mut next, places, NODE));
        let requests_array = Array::new(&mut next, requests, REQUEST);
        let elements = Array::new(&mut next, requests * ELEMENTS_PER_REQUEST, 1);
        let index = Array::new(&mut next, requests * INDEX_PER_REQUEST, 1);
        let blocks = Array::new(&mut next, requests * ENTRIES / (BLOCK - BLOCK_HEAD), BLOCK);
        Some(Plan {
            ranks,
            levels,
            heads,
            cursors,
            roots,
            tables,
            requests: requests_array,
            elements,
            index,
            blocks,
            words: next,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_fits_and_numbers_are_unique() {
        for (bytes, ranks) in [(1 << 20, 1), (10 << 20, 3), (3 << 30, 4), (200 << 30, 16)] {
            let plan = Plan::new(bytes, ranks, 100).unwrap();
            assert!(plan.words * 8 <= bytes, "{plan:?}");
            for array in [plan.tables[0], plan.requests] {
                assert!(array.number(ranks - 1, array.length - 1) < MOST, "{plan:?}");
            }
            assert_eq!(plan.elements.find(plan.elements.number(ranks - 1, 77)), (ranks - 1, 77));
        }
        assert_eq!(Plan::new(1000, 1, 10), None);
    }
}
