//! A table of nodes with any number of children, for one thread.
//!
//! Nodes take whole granules of sixteen bytes ([`shape`]), each is there once, and results of operations are remembered
//! as in [`Solo`](crate::Solo); but the two tables have no code in common below the budget, because here nodes have
//! lengths: allocation has to find stretches, and a collection has to walk over them.
//!
//! ```
//! use tremula_table::{Attention, Branch, Budget, Forest, ForestOptions};
//! let mut forest = Forest::new(&Budget::new(1 << 22), ForestOptions::default(), Attention::default())?;
//! let branches = [3, 4].map(|value| Branch { value, child: Forest::TERMINAL });
//! let node = forest.make(0, &branches)?.unwrap();
//! assert_eq!(forest.make(0, &branches)?, Some(node));
//! assert_eq!(forest.branches(node).collect::<Vec<_>>(), branches);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Invariants:
//! - F1: what lies below `frontier` is a sequence of nodes and free stretches without gaps;
//! - F2: every node is in the index exactly once, and no two are equal;
//! - F3: children of nodes are nodes, or terminals;
//! - F4: between collections no node changes or moves; a collection frees what no root reaches, and moves nothing.

mod index;
mod memo;
mod shape;
mod space;

use crate::attention::{Attention, Interrupt};
use crate::bitmap::Bitmap;
use crate::budget::{Budget, Lease};
use crate::solo::SetupError;
use crate::stats::Counters;
use index::Index;
use memo::Memo;
pub use memo::{Operation, Question};
pub use shape::{Branch, FOREST_LEVELS, Shape};
use space::Space;
use std::time::Instant;

/// How a [`Forest`] behaves.
#[derive(Copy, Clone, Debug)]
pub struct ForestOptions {
    /// Granules to begin with.
    pub initial: usize,
    /// Up to so many bytes in all, the forest grows rather than collect.
    pub eager_bytes: usize,
    /// Collect at every so many nodes made, to find what is not protected.
    pub stress: Option<u64>,
}

impl Default for ForestOptions {
    fn default() -> Self {
        ForestOptions { initial: 1 << 12, eager_bytes: 1 << 29, stress: None }
    }
}

/// Which memory of results: operations of one kind do not drive out those of another.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum MemoKind {
    /// Unions and other operations on two sets.
    Sets,
    /// Successors under an event.
    Events,
    /// Sets closed under events.
    Closures,
}

/// Entries of each kind of memory, in quarters of the granules.
const MEMO_QUARTERS: [usize; 3] = [2, 4, 1];
/// More of the granules than this share in use after a collection: time to grow.
const CROWDED_SHARE: f64 = 0.5;
/// Branches that are gone through in the time of a look-up.
const BRANCHES_PER_LOOKUP: usize = 32;
/// More of the granules than this share in use, and no budget to grow: the table is full.
const FULL_SHARE: f64 = 0.9;

/// With so many bytes of nodes, huge pages pay: a contest has many forests that stay smaller.
const HUGE_PAGES_FROM: usize = 8 << 20;
/// Memories of results grow by use while the forest takes less than this part of the budget.
const SMALL_PART: usize = 8;
/// Fewer granules are not worth a table.
const LEAST_GRANULES: usize = 16;

/// Nodes with children, found by content.
pub struct Forest {
    space: Space,
    index: Index,
    marks: Bitmap,
    memos: [Memo; 3],
    scratch: Vec<u32>,
    lease: Lease,
    /// For what memories of results have beyond their share.
    memo_lease: Lease,
    budget: Budget,
    /// Granules that all parts have address space for.
    most: usize,
    options: ForestOptions,
    attention: Attention,
    counters: Counters,
    /// Nodes made when the next collection is due, under stress.
    next_stress: u64,
    /// Look-ups at which operations end.
    fuel: u64,
}

impl Forest {
    /// No node: the empty set.
    pub const EMPTY: u32 = 0;
    /// The node below the last level.
    pub const TERMINAL: u32 = 1;

    /// An empty forest inside `budget`.
    pub fn new(budget: &Budget, options: ForestOptions, attention: Attention) -> Result<Forest, SetupError> {
        let most = granules_in(for_tables(budget.limit())).clamp(LEAST_GRANULES, u32::MAX as usize);
        let initial = options.initial.min(granules_in(for_tables(budget.available()))).clamp(LEAST_GRANULES, most);
        let needed = bytes_for(initial);
        let too_small = |_| SetupError::BudgetTooSmall { available: budget.available(), needed };
        let lease = budget.take(needed).map_err(too_small)?;
        let memo = |quarters: usize| Memo::new(most * quarters / 4 + 1, initial * quarters / 4 + 1);
        let mut marks = Bitmap::reserve(most)?;
        marks.resize(initial);
        let mut forest = Forest {
            space: Space::new(most, initial)?,
            index: Index::new(most, initial)?,
            marks,
            memos: [memo(MEMO_QUARTERS[0])?, memo(MEMO_QUARTERS[1])?, memo(MEMO_QUARTERS[2])?],
            scratch: Vec::new(),
            lease,
            memo_lease: budget.take(0).map_err(too_small)?,
            budget: budget.clone(),
            most,
            options,
            attention,
            counters: Counters::default(),
            next_stress: options.stress.unwrap_or(u64::MAX),
            fuel: u64::MAX,
        };
        forest.note_sizes();
        Ok(forest)
    }

    /// The form of a node, which is not a terminal.
    #[inline]
    pub fn shape(&self, node: u32) -> Shape {
        self.space.shape(node)
    }

    /// Child number `n` of a node with this shape.
    #[inline]
    pub fn branch(&self, shape: &Shape, n: usize) -> Branch {
        shape.branch(self.space.words(), n)
    }

    /// The number of the first child with at least this value, in a node with this shape.
    #[inline]
    pub fn first_from(&self, shape: &Shape, value: u32) -> usize {
        shape.first_from(self.space.words(), value)
    }

    /// All children of a node, which is not a terminal.
    pub fn branches(&self, node: u32) -> impl DoubleEndedIterator<Item = Branch> + ExactSizeIterator + '_ {
        self.shape(node).branches(self.space.words())
    }

    /// The node with these branches, which ascend by value and have no empty child; [`Forest::EMPTY`] without branches.
    ///
    /// Nothing if there is no room: then [`Forest::make_room`], which needs to know all roots, and try again.
    #[inline]
    pub fn make(&mut self, level: u32, branches: &[Branch]) -> Result<Option<u32>, Interrupt> {
        self.attend()?;
        if branches.is_empty() {
            return Ok(Some(Forest::EMPTY));
        }
        debug_assert!(branches.iter().all(|branch| branch.child != Forest::EMPTY));
        shape::write(&mut self.scratch, level, branches);
        let hash = index::hash(&self.scratch);
        let vacant = match self.index.find(&self.space, hash, &self.scratch) {
            Ok(node) => return Ok(Some(node)),
            Err(vacant) => vacant,
        };
        if self.counters.created >= self.next_stress {
            return Ok(None);
        }
        let Some(node) = self.space.put(&self.scratch) else { return Ok(None) };
        self.index.fill(vacant, hash, node);
        self.counters.created += 1;
        self.counters.nodes += 1;
        Ok(Some(node))
    }

    /// End what runs if somebody wants it to, or its share of work is used up. Making a node asks this too.
    #[inline]
    pub fn attend(&self) -> Result<(), Interrupt> {
        if self.attention.is_set() {
            self.attention.attend(&self.counters)?;
        }
        if self.counters.lookups > self.fuel { Err(Interrupt::OutOfFuel) } else { Ok(()) }
    }

    /// Count work that looks up nothing as a look-up.
    #[inline]
    pub fn count_work(&mut self) {
        self.counters.lookups += 1;
    }

    /// Count what it takes to go through the branches of a node: in long nodes that is more than a look-up.
    #[inline]
    pub fn count_branches(&mut self, branches: usize) {
        self.counters.lookups += (branches / BRANCHES_PER_LOOKUP) as u64;
    }

    /// A remembered result.
    #[inline]
    pub fn recall(&mut self, kind: MemoKind, question: &Question) -> Option<u32> {
        self.counters.lookups += 1;
        let answer = self.memos[kind as usize].get(question);
        self.counters.hits += u64::from(answer.is_some());
        answer
    }

    /// Remember a result, for as long as there is room.
    #[inline]
    pub fn remember(&mut self, kind: MemoKind, question: &Question, answer: u32) {
        if self.memos[kind as usize].put(question, answer) {
            self.widen(kind);
        }
    }

    /// Few nodes can give many results: let a crowded memory have twice the room, as long as the forest stays small.
    #[cold]
    fn widen(&mut self, kind: MemoKind) {
        let memo = &mut self.memos[kind as usize];
        let more = memo.len() * Memo::ENTRY_BYTES;
        let bytes = self.lease.bytes() + self.memo_lease.bytes() + more;
        let is_small = bytes <= self.options.eager_bytes && bytes <= self.budget.limit() / SMALL_PART;
        let fits = 2 * memo.len() <= memo.capacity();
        if is_small && fits && self.memo_lease.resize(self.memo_lease.bytes() + more).is_ok() {
            if more >= HUGE_PAGES_FROM {
                memo.use_huge_pages();
            }
            memo.grow(2 * memo.len());
            self.note_sizes();
        }
    }

    /// Make room for more nodes, by growth or by a collection that keeps what `roots` reach.
    pub fn make_room(&mut self, roots: impl Iterator<Item = u32>) -> Result<(), Interrupt> {
        let stressed = self.counters.created >= self.next_stress;
        let eager = !stressed && 2 * bytes_for(self.space.room()) <= self.options.eager_bytes;
        if eager && self.grow() {
            return Ok(());
        }
        self.collect(roots);
        let used = self.space.used() as f64 / self.space.room() as f64;
        let crowded = used > CROWDED_SHARE || !self.fits();
        if crowded && !self.grow() && (used > FULL_SHARE || !self.fits()) {
            return Err(Interrupt::TableFull);
        }
        Ok(())
    }

    /// Is there a stretch for the node that was last looked for?
    fn fits(&mut self) -> bool {
        self.space.fits(self.scratch.len())
    }

    /// Free everything that no root reaches.
    pub fn collect(&mut self, roots: impl Iterator<Item = u32>) {
        let started = Instant::now();
        self.marks.clear();
        self.marks.insert(Forest::EMPTY);
        self.marks.insert(Forest::TERMINAL);
        let nodes = self.space.mark(&mut self.marks, roots);
        self.memos.iter_mut().for_each(|memo| memo.sweep(&self.marks));
        self.space.sweep(&self.marks);
        self.index.rebuild(&self.space);
        self.next_stress = self.options.stress.map_or(u64::MAX, |every| self.counters.created + every);
        self.counters.nodes = nodes;
        self.counters.collections += 1;
        self.counters.collection_micros += started.elapsed().as_micros() as u64;
    }

    /// Twice the room, or as much as the budget allows; false if that is nothing worth the trouble.
    fn grow(&mut self) -> bool {
        let room = self.space.room();
        let affordable = granules_in(self.lease.bytes() + self.budget.available());
        let target = (2 * room).min(affordable).min(self.most);
        if target < room + room / 8 || self.lease.resize(bytes_for(target)).is_err() {
            return false;
        }
        if Space::bytes(target) >= HUGE_PAGES_FROM {
            self.space.use_huge_pages();
            self.index.use_huge_pages();
            self.memos.iter().for_each(Memo::use_huge_pages);
        }
        self.space.grow(target);
        self.marks.resize(target);
        self.index.grow(&self.space);
        let mut beyond = 0;
        for (memo, quarters) in self.memos.iter_mut().zip(MEMO_QUARTERS) {
            let share = target * quarters / 4 + 1;
            if memo.len() < share {
                memo.grow(share);
            }
            beyond += memo.len() - share;
        }
        self.memo_lease.resize(beyond * Memo::ENTRY_BYTES).expect("no more than before");
        self.note_sizes();
        true
    }

    fn note_sizes(&mut self) {
        self.counters.capacity = self.space.room() as u64;
        self.counters.cache_entries = self.memos.iter().map(|memo| memo.len() as u64).sum();
        self.counters.bytes = (self.lease.bytes() + self.memo_lease.bytes()) as u64;
    }

    /// End operations with [`Interrupt::OutOfFuel`] after so many more look-ups, or never.
    pub fn set_fuel(&mut self, lookups: Option<u64>) {
        self.fuel = lookups.map_or(u64::MAX, |more| self.counters.lookups + more);
    }

    /// Running totals and present sizes.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// How to interrupt, and where progress is published.
    #[must_use]
    pub fn attention(&self) -> &Attention {
        &self.attention
    }

    /// Listen to another attention word from now on.
    pub fn set_attention(&mut self, attention: Attention) {
        self.attention = attention;
    }

    /// What all memory is taken from.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.budget
    }
}

/// Bytes of all parts of a forest with room for so many granules.
fn bytes_for(granules: usize) -> usize {
    let entries: usize = MEMO_QUARTERS.iter().map(|quarters| granules * quarters / 4 + 1).sum();
    Space::bytes(granules) + Index::bytes(granules) + Bitmap::bytes(granules) + entries * Memo::ENTRY_BYTES
}

/// What tables may take of a budget: the rest is for those who count what is in them.
fn for_tables(bytes: usize) -> usize {
    bytes / 4 * 3
}

/// The most granules, or hardly fewer, whose forest takes at most so many bytes.
fn granules_in(bytes: usize) -> usize {
    const SAMPLE: usize = 1 << 20;
    // All parts grow in proportion, but for rounding.
    let estimate = bytes as u128 * SAMPLE as u128 / bytes_for(SAMPLE) as u128;
    let mut granules = estimate as usize + 1;
    while granules > 0 && bytes_for(granules) > bytes {
        granules -= 1;
    }
    granules
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn granules_fill_a_budget() {
        for bytes in [0, 50, 200, 5_000, 100_000, 123_456_789, 8 << 30, 1 << 42] {
            let granules = granules_in(bytes);
            assert!(granules == 0 || bytes_for(granules) <= bytes, "{bytes}");
            assert!(bytes_for(granules + granules / 1000 + 1) > bytes, "{bytes}");
        }
    }

    #[test]
    fn a_forest_uses_most_of_its_budget_and_then_says_so() {
        for bytes in [1 << 20, 3_000_000, 16 << 20, 50_000_000] {
            let budget = Budget::new(bytes);
            let mut forest = Forest::new(&budget, ForestOptions::default(), Attention::default()).unwrap();
            let mut nodes = Vec::new();
            let end = (0..).find_map(|value| {
                loop {
                    match forest.make(0, &[Branch { value, child: 1 }]).unwrap() {
                        Some(node) => {
                            nodes.push(node);
                            return None;
                        }
                        None => {
                            if let Err(interrupt) = forest.make_room(nodes.iter().copied()) {
                                return Some(interrupt);
                            }
                        }
                    }
                }
            });
            assert_eq!(end, Some(Interrupt::TableFull));
            assert!(
                budget.peak() <= for_tables(bytes) && budget.peak() > bytes / 10 * 6,
                "{} of {bytes}",
                budget.peak()
            );
        }
    }

    fn forest(options: ForestOptions) -> Forest {
        Forest::new(&Budget::new(64 << 20), options, Attention::default()).unwrap()
    }

    fn make(forest: &mut Forest, level: u32, branches: &[(u32, u32)], roots: &[u32]) -> u32 {
        let branches: Vec<Branch> = branches.iter().map(|&(value, child)| Branch { value, child }).collect();
        loop {
            if let Some(node) = forest.make(level, &branches).unwrap() {
                return node;
            }
            forest.make_room(roots.iter().copied().chain(branches.iter().map(|branch| branch.child))).unwrap();
        }
    }

    #[test]
    fn equal_nodes_are_one_and_growth_keeps_them() {
        let mut forest = forest(ForestOptions { initial: 16, ..Default::default() });
        let nodes: Vec<u32> = (0..10_000).map(|n| make(&mut forest, 3, &[(n, 1), (n + 1 + n % 5, 1)], &[])).collect();
        assert!(forest.counters().collections == 0 && forest.counters().capacity > 10_000);
        for (n, &node) in nodes.iter().enumerate() {
            let n = n as u32;
            assert_eq!(make(&mut forest, 3, &[(n, 1), (n + 1 + n % 5, 1)], &[]), node);
        }
        assert_eq!(forest.counters().created, 10_000);
    }

    #[test]
    fn collections_keep_what_roots_reach_and_reuse_the_rest() {
        let options = ForestOptions { initial: 1 << 10, eager_bytes: 0, stress: Some(37) };
        let mut forest = forest(options);
        let mut kept: HashMap<u32, Vec<(u32, u32)>> = HashMap::new();
        let mut roots: Vec<u32> = Vec::new();
        // A linear congruential generator: reproducible without a crate.
        let mut seed = 12345_u32;
        let mut random = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) % below
        };
        for round in 0..20_000 {
            let child = if roots.is_empty() { 1 } else { roots[random(roots.len() as u32) as usize] };
            let len = 1 + random(12);
            let branches: Vec<(u32, u32)> =
                (0..len).map(|n| (n * (1 + round % 3), if n % 2 == 0 { child } else { 1 })).collect();
            let node = make(&mut forest, round % 100, &branches, &roots);
            kept.insert(node, branches);
            if roots.len() == 50 {
                let dropped = random(50) as usize;
                roots.swap_remove(dropped);
            }
            roots.push(node);
            for root in &roots {
                let found: Vec<(u32, u32)> =
                    forest.branches(*root).map(|branch| (branch.value, branch.child)).collect();
                assert_eq!(&found, &kept[root]);
            }
        }
        assert!(forest.counters().collections > 100);
    }

    #[test]
    fn a_full_table_is_a_value() {
        let budget = Budget::new(100_000);
        let options = ForestOptions { initial: 64, ..Default::default() };
        let mut forest = Forest::new(&budget, options, Attention::default()).unwrap();
        let mut nodes = Vec::new();
        let full = (0..).find_map(|n| {
            let branches = [Branch { value: n, child: 1 }];
            match forest.make(0, &branches).unwrap() {
                Some(node) => nodes.push(node),
                None => return forest.make_room(nodes.iter().copied()).err(),
            }
            None
        });
        assert_eq!(full, Some(Interrupt::TableFull));
        assert!(nodes.len() > 1000 && budget.peak() <= 100_000);
        // What was there is still there, and garbage makes room again.
        let again = forest.make(0, &[Branch { value: 5, child: 1 }]).unwrap();
        assert_eq!(again, Some(nodes[5]));
        forest.make_room(std::iter::empty()).unwrap();
        assert!(forest.make(0, &[Branch { value: u32::MAX, child: 1 }]).unwrap().is_some());
    }

    #[test]
    fn cancellation_is_seen() {
        let mut forest = forest(ForestOptions::default());
        forest.attention().cancel();
        assert_eq!(forest.make(0, &[]), Err(Interrupt::Cancelled));
    }
}
