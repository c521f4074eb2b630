//! The books of a table: sizes and the budget they come from, counters, where allocation is. One thread at a time keeps
//! them, whoever else uses the table.

use crate::allocation::Allocation;
use crate::budget::{Budget, Lease};
use crate::sizing::{Sizes, Work};
use crate::solo::Options;
use crate::stats::Counters;

/// What does not belong to the hot path.
pub struct Books {
    /// Lengths of all tables, for which `lease` pays.
    pub sizes: Sizes,
    pub lease: Lease,
    pub budget: Budget,
    pub options: Options,
    pub counters: Counters,
    pub live_at_collection: u64,
    pub created_at_collection: u64,
    pub created_at_growth: u64,
    pub misses_at_check: u64,
    pub misses_at_growth: u64,
    /// Number of look-ups at which the size of the cache is considered again.
    pub next_cache_check: u64,
    /// Where the next nodes go.
    pub allocation: Allocation,
    /// Stretches that the other workers of a parallel operation have not used up.
    pub other_allocations: Vec<Allocation>,
    /// Next mark word that no allocation has claimed.
    pub next_word: usize,
}

impl Books {
    /// Bytes that the tables may take: what they have, and what is left.
    fn available(&self) -> usize {
        self.budget.available() + self.lease.bytes()
    }

    fn misses(&self) -> u64 {
        self.counters.lookups - self.counters.hits
    }

    /// The sizes to go on with after a collection that left `live` nodes, their bytes leased.
    pub fn sizes_after_collection(&mut self, live: usize) -> Sizes {
        let made = work(self.counters.created, self.created_at_collection, self.created_at_growth);
        let wanted = self.options.sizing.next(self.sizes, live, made, self.available());
        self.lease_for(wanted)
    }

    /// The sizes to go on with after many look-ups, their bytes leased: a small cache grows when far more was missed than
    /// it can hold, though the nodes themselves have room.
    pub fn sizes_after_misses(&mut self) -> Sizes {
        let misses = self.misses();
        let missed = work(misses, self.misses_at_check, self.misses_at_growth);
        let wanted = self.options.sizing.after_misses(self.sizes, missed, self.available());
        let sizes = self.lease_for(wanted);
        self.misses_at_check = misses;
        self.next_cache_check = self.next_check_with(sizes);
        sizes
    }

    /// The cache has become smaller: consider it again when that has been felt.
    pub fn check_cache_soon(&mut self) {
        self.next_cache_check = self.next_check_with(self.sizes);
    }

    fn next_check_with(&self, sizes: Sizes) -> u64 {
        self.counters.lookups + 2 * sizes.cache_entries as u64
    }

    /// These sizes if the budget allows them, else those that there are.
    fn lease_for(&mut self, wanted: Sizes) -> Sizes {
        if self.lease.resize(wanted.bytes()).is_ok() { wanted } else { self.sizes }
    }

    /// Write down sizes that are in force.
    pub fn set_sizes(&mut self, sizes: Sizes) {
        if sizes.nodes > self.sizes.nodes {
            self.created_at_growth = self.counters.created;
        }
        if sizes.cache_entries > self.sizes.cache_entries {
            self.misses_at_growth = self.misses();
        }
        self.sizes = sizes;
        self.counters.capacity = sizes.nodes as u64;
        self.counters.cache_entries = sizes.cache_entries as u64;
        self.counters.bytes = sizes.bytes() as u64;
    }

    /// Write down a collection that left `live` nodes. All free granules are to be found anew.
    pub fn note_collection(&mut self, live: usize) {
        self.live_at_collection = live as u64;
        self.created_at_collection = self.counters.created;
        (self.allocation, self.next_word) = (Allocation::default(), 0);
        self.other_allocations.fill(Allocation::default());
    }

    /// Present counters.
    pub fn present(&self) -> Counters {
        let since = self.counters.created - self.created_at_collection;
        Counters { nodes: self.live_at_collection + since, ..self.counters }
    }
}

/// What was done until `now`.
fn work(now: u64, considered: u64, grown: u64) -> Work {
    Work { lately: (now - considered) as usize, since_growth: (now - grown) as usize }
}
