//! What a worker keeps from one request to the next: numbers and space that it may use, blocks that it fills, and what it has
//! done.

use super::memory::{
    ASKED, BLOCKS_OUT, ELEMENTS_OUT, FULL, FULL_INDEX, FULL_NODES, FULL_REQUESTS, Header, KEPT, MADE, MOST_ELEMENTS,
    Memory, REQUESTS_OUT, STOPPED,
};
use super::plan::{Array, BLOCK, BLOCK_HEAD};
use crate::graph::IDENTITY;
use crate::layout::{Element, REQUEST_BIT, Ref, SPREAD, mix};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Requests, elements and blocks that a worker takes at once.
const REQUEST_CHUNK: usize = 64;
const ELEMENT_CHUNK: usize = 512;
const BLOCK_CHUNK: usize = 4;
/// Nodes that a worker makes before it tells.
const NODES_UNTOLD: u64 = 16;
/// Places of the index that are looked at.
const MOST_PROBES: usize = 256;

/// A worker's own things.
pub struct Desk<'m> {
    memory: &'m Memory<'m>,
    /// Levels of the relations.
    relation_levels: &'m [u32],
    rank: usize,
    requests: Range<usize>,
    elements: Range<usize>,
    blocks: Range<usize>,
    /// For each level, the block that the worker fills, one more than its number, and the entries in it.
    filling: Vec<(usize, usize)>,
    /// What is asked next.
    pub candidates: Vec<u64>,
    made: u64,
    asked: u64,
    kept: u64,
}

/// How a sweep uses the memory.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Terms {
    /// The table that is read.
    pub table: usize,
    /// The table that nodes are put into, and its places in use on each rank.
    pub into: (usize, usize),
    /// Nodes that may be put there.
    pub room: u64,
    /// Places of the index in use on each rank, a power of two.
    pub index: usize,
    /// Look into sets that could be taken as they are.
    pub visit: bool,
    /// Answer twice.
    pub twice: bool,
}

impl<'m> Desk<'m> {
    /// A desk of a worker on this rank.
    pub fn new(memory: &'m Memory<'m>, relation_levels: &'m [u32], rank: usize) -> Desk<'m> {
        let filling = vec![(0, 0); memory.plan.levels];
        Desk {
            memory,
            relation_levels,
            rank,
            requests: 0..0,
            elements: 0..0,
            blocks: 0..0,
            filling,
            candidates: Vec::new(),
            made: 0,
            asked: 0,
            kept: 0,
        }
    }

    /// A sweep begins. If all requests are forgotten, so is what was taken.
    pub fn begin(&mut self, is_forgotten: bool) {
        self.blocks = 0..0;
        self.filling.fill((0, 0));
        if is_forgotten {
            (self.requests, self.elements) = (0..0, 0..0);
        }
    }

    /// A sweep is over: tell what was done.
    pub fn end(&mut self, terms: &Terms) {
        if self.tell_nodes() > terms.room {
            self.give_up(FULL_NODES);
        }
        // Relaxed: read after a meeting.
        self.memory.control(ASKED).fetch_add(std::mem::take(&mut self.asked), Ordering::Relaxed);
        self.memory.control(KEPT).fetch_add(std::mem::take(&mut self.kept), Ordering::Relaxed);
    }

    fn tell_nodes(&mut self) -> u64 {
        // Relaxed: a count.
        let made = std::mem::take(&mut self.made);
        self.memory.control(MADE).fetch_add(made, Ordering::Relaxed) + made
    }

    /// There is no room for something, or somebody wants the sweep to end: all workers stop soon, and go on meeting.
    pub fn give_up(&self, why: u64) {
        // Relaxed: a flag, which all see at the next meeting.
        self.memory.control(FULL).fetch_or(why, Ordering::Relaxed);
    }

    /// Somebody wants the sweep to end.
    pub fn stop(&self) {
        self.give_up(STOPPED);
    }

    /// Has somebody given up?
    pub fn is_given_up(&self) -> bool {
        // Relaxed: as above.
        self.memory.control(FULL).load(Ordering::Relaxed) != 0
    }

    /// The set with these halves.
    #[inline]
    pub fn make(&mut self, terms: &Terms, level: u32, halves: [u32; 2]) -> u32 {
        if halves[0] == halves[1] {
            return halves[0];
        }
        let (table, places) = terms.into;
        let Some((set, is_new)) = self.memory.make(table, places, level, halves) else {
            self.give_up(FULL_NODES);
            return Ref::FALSE.0;
        };
        self.made += u64::from(is_new);
        if self.made >= NODES_UNTOLD && self.tell_nodes() > terms.room {
            self.give_up(FULL_NODES);
        }
        set
    }

    /// The answer to the question whose elements are the candidates, if it is plain; else the request for it.
    #[inline]
    pub fn ask(&mut self, terms: &Terms, minus: u32) -> u32 {
        if self.candidates.is_empty() || minus == Ref::TRUE.0 {
            return Ref::FALSE.0;
        }
        if self.candidates.len() > 1 {
            self.candidates.sort_unstable();
            self.candidates.dedup();
        }
        if minus == Ref::FALSE.0 {
            if self.candidates.contains(&Element::new(Ref::TRUE, IDENTITY).bits()) {
                return Ref::TRUE.0;
            }
            if let [only] = self.candidates[..]
                && only as u32 == IDENTITY
                && !terms.visit
            {
                return (only >> 32) as u32;
            }
        }
        self.find_or_make(terms, minus).unwrap_or_else(|full| {
            self.give_up(full);
            Ref::FALSE.0
        })
    }

    /// The request for the candidates. An entry of the index is a hash of 32 bits and the number of a request that is
    /// complete; it never changes while the index is in use.
    fn find_or_make(&mut self, terms: &Terms, minus: u32) -> Result<u32, u64> {
        let hash = hash(&self.candidates, minus, terms.twice);
        let array = self.memory.plan.index;
        let rank = (((hash >> 32) * self.memory.plan.ranks as u64) >> 32) as usize;
        let mut item = hash as usize & (terms.index - 1);
        let tag = mix(hash) & !0xffff_ffff;
        let mut written = None;
        for _ in 0..MOST_PROBES.min(terms.index) {
            let word = self.memory.word(&array, array.number(rank, item));
            // Acquire: whoever sees an entry sees the request.
            let mut seen = word.load(Ordering::Acquire);
            if seen == 0 {
                let number = match written {
                    Some(number) => number,
                    None => self.write(terms, minus)?,
                };
                written = Some(number);
                // One more than the number, so that no entry is zero. Release: publishes the request.
                let entry = tag | (u64::from(number) + 1);
                match word.compare_exchange(0, entry, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => {
                        self.enlist(number)?;
                        return Ok(number | REQUEST_BIT);
                    }
                    Err(other) => seen = other,
                }
            }
            let number = (seen as u32).wrapping_sub(1);
            if seen & !0xffff_ffff == tag && self.is_asked_by(terms, minus, number) {
                return Ok(number | REQUEST_BIT);
            }
            item = (item + 1) & (terms.index - 1);
        }
        Err(FULL_INDEX)
    }

    fn is_asked_by(&self, terms: &Terms, minus: u32, number: u32) -> bool {
        let header = self.memory.header(number);
        // Relaxed: published with the request.
        let same = |(word, own): (&AtomicU64, &u64)| word.load(Ordering::Relaxed) == *own;
        header.length == self.candidates.len()
            && header.minus == minus
            && header.twice == terms.twice
            && self.memory.elements(header.first, header.length).iter().zip(&self.candidates).all(same)
    }

    /// Write a request for the candidates, without taking its number and space away yet.
    fn write(&mut self, terms: &Terms, minus: u32) -> Result<u32, u64> {
        let (memory, length) = (self.memory, self.candidates.len());
        if length > MOST_ELEMENTS {
            return Err(FULL_REQUESTS);
        }
        let plan = &memory.plan;
        reserve(memory, &plan.requests, REQUESTS_OUT, self.rank, 1, REQUEST_CHUNK, &mut self.requests)?;
        reserve(
            memory,
            &plan.elements,
            ELEMENTS_OUT,
            self.rank,
            length,
            ELEMENT_CHUNK.max(length),
            &mut self.elements,
        )?;
        let (number, first) = (self.requests.start as u32, self.elements.start);
        let mut level = memory.level(terms.table, minus);
        for (word, &candidate) in memory.elements(first, length).iter().zip(&self.candidates) {
            // Relaxed: published with the request.
            word.store(candidate, Ordering::Relaxed);
            let own = memory.level(terms.table, (candidate >> 32) as u32);
            level = level.min(own).min(self.relation_levels[candidate as u32 as usize]);
        }
        memory.write_request(number, Header { first, length, minus, level, twice: terms.twice });
        Ok(number)
    }

    /// The request that was just made goes to the list of its level.
    fn enlist(&mut self, number: u32) -> Result<(), u64> {
        let Header { length, level, .. } = self.memory.header(number);
        self.requests.start += 1;
        self.elements.start += length;
        self.asked += 1;
        self.kept += length as u64;
        let (block, entries) = self.filling[level as usize];
        let (block, entries) =
            if block == 0 || entries == BLOCK - BLOCK_HEAD { (self.new_block(level)?, 0) } else { (block, entries) };
        let words = self.memory.block(block - 1);
        // Relaxed: read after a meeting.
        words[BLOCK_HEAD + entries].store(number.into(), Ordering::Relaxed);
        words[1].store(entries as u64 + 1, Ordering::Relaxed);
        self.filling[level as usize] = (block, entries + 1);
        Ok(())
    }

    /// An empty block, which is the first of its level's list; one more than its number.
    fn new_block(&mut self, level: u32) -> Result<usize, u64> {
        let memory = self.memory;
        reserve(memory, &memory.plan.blocks, BLOCKS_OUT, self.rank, 1, BLOCK_CHUNK, &mut self.blocks)?;
        let block = self.blocks.start + 1;
        self.blocks.start += 1;
        let (words, head) = (memory.block(block - 1), memory.control(memory.plan.heads + level as usize));
        // Relaxed, here and in the exchange: the list is read after a meeting.
        words[1].store(0, Ordering::Relaxed);
        let link = |first| {
            words[0].store(first, Ordering::Relaxed);
            Some(block as u64)
        };
        head.fetch_update(Ordering::Relaxed, Ordering::Relaxed, link).expect("a block is always given");
        Ok(block)
    }
}

/// See that a worker has so many items of an array, one after the other; if not, it takes a chunk, of its own rank if it can.
fn reserve(
    memory: &Memory<'_>,
    array: &Array,
    counter: usize,
    own: usize,
    wanted: usize,
    chunk: usize,
    has: &mut Range<usize>,
) -> Result<(), u64> {
    if has.len() >= wanted {
        return Ok(());
    }
    let ranks = memory.plan.ranks;
    for rank in (0..ranks).map(|next| (own + next) % ranks) {
        // Relaxed: what is handed out is one worker's alone. The first look keeps counters of full ranks from growing.
        let counter = &memory.parts[rank][counter];
        if counter.load(Ordering::Relaxed) as usize + chunk > array.length {
            continue;
        }
        let start = counter.fetch_add(chunk as u64, Ordering::Relaxed) as usize;
        if start + chunk <= array.length {
            let first = array.number(rank, start);
            *has = first..first + chunk;
            return Ok(());
        }
    }
    Err(FULL_REQUESTS)
}

fn hash(elements: &[u64], minus: u32, twice: bool) -> u64 {
    let start = u64::from(minus) | (elements.len() as u64) << 33 | u64::from(twice) << 32;
    let step = |hash: u64, element: &u64| (hash.rotate_left(23) ^ element).wrapping_mul(SPREAD);
    mix(elements.iter().fold(start, step))
}
