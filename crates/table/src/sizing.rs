//! How big the tables are: the policy that turns a budget and the number of live nodes into sizes.
//!
//! Tables start near the size of a processor cache and grow while they are small or while too much of them is alive.
//! Lengths are plain numbers, never forced to powers of two, so the last growth step can use the budget up.

use crate::bitmap::Bitmap;
use crate::cache::OpCache;
use crate::index::UniqueIndex;
use crate::layout::{GRANULE_BYTES, LEAST_CACHE_ENTRIES, MAX_NODES};
use crate::sync::unless_modelled;
use crate::tuning;

/// Lengths of all tables.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// Granules of the node store.
    pub nodes: usize,
    /// Entries of the operation cache.
    pub cache_entries: usize,
}

impl Sizes {
    /// Bytes of all tables at these lengths.
    pub fn bytes(self) -> usize {
        node_bytes(self.nodes) + OpCache::bytes(self.cache_entries)
    }
}

/// Node, index slots, mark bit, and a share of the stacks that marking and the operations need.
fn node_bytes(nodes: usize) -> usize {
    nodes * GRANULE_BYTES + UniqueIndex::bytes(nodes) + Bitmap::bytes(nodes) + nodes / 8 + 4096
}

/// The policy's knobs.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Sizing {
    /// Cache entries per node.
    pub cache_per_node: f64,
    /// Nodes to start with.
    pub initial_nodes: usize,
    /// Grow at every collection up to this many nodes; further with [many workers](Sizing::for_workers).
    pub eager_nodes: usize,
    /// Let misses alone grow the cache up to this many entries.
    pub eager_cache: usize,
    /// Above that, grow when more than this share is alive after a collection.
    pub live_share: f64,
    /// Or when this many times the present size was made since it was reached.
    pub node_patience: usize,
    /// Above `eager_cache`, grow the cache when this many times its entries were missed since that size was reached.
    pub cache_patience: usize,
    /// Most nodes that there are numbers for.
    pub node_limit: usize,
    /// Give up when more than this share is alive and nothing can grow.
    pub full_share: f64,
}

/// What a table has been asked for, in nodes made or look-ups missed.
#[derive(Copy, Clone, Debug)]
pub struct Work {
    /// Since its size was last considered.
    pub lately: usize,
    /// Since it last grew.
    pub since_growth: usize,
}

impl Default for Sizing {
    fn default() -> Sizing {
        Sizing::DEFAULT
    }
}

impl Sizing {
    /// What suits reachability best (docs/decisions/0003).
    pub const DEFAULT: Sizing = Sizing {
        cache_per_node: 1.0,
        initial_nodes: 1 << 16,
        eager_nodes: 1 << 22,
        eager_cache: 1 << 22,
        live_share: 0.25,
        node_patience: 2,
        cache_patience: 4,
        node_limit: MAX_NODES,
        full_share: 0.97,
    };
    /// The cache never gets smaller than this many entries.
    pub const LEAST_CACHE: usize = unless_modelled(1 << 10, LEAST_CACHE_ENTRIES);
    /// Fewest nodes that make sense: one bitmap word is the unit of allocation.
    pub const LEAST_NODES: usize = unless_modelled(1 << 10, 64);
    const NODE_STEP: usize = u64::BITS as usize;
    /// `eager_nodes` are for up to so many workers, and for each so many more once more.
    const WORKERS_FOR_EAGER_NODES: usize = 4;
    /// But no more often: tables that are larger grow by need, whoever uses them.
    const MOST_EAGER_TIMES: usize = 4;

    /// The same for so many workers: they fill a table sooner, and each collection stops all of them.
    pub fn for_workers(self, workers: usize) -> Sizing {
        let times = (workers / Self::WORKERS_FOR_EAGER_NODES).clamp(1, Self::MOST_EAGER_TIMES);
        Sizing { eager_nodes: self.eager_nodes.saturating_mul(times), ..self }
    }

    fn sized(&self, nodes: usize) -> Sizes {
        let nodes = nodes.next_multiple_of(Self::NODE_STEP).min(self.node_limit / Self::NODE_STEP * Self::NODE_STEP);
        let cache_entries = ((nodes as f64 * self.cache_per_node) as usize).max(Self::LEAST_CACHE);
        Sizes { nodes, cache_entries }
    }

    /// Sizes to start with inside `available` bytes; on error, the bytes that would be needed.
    pub fn initial(&self, available: usize) -> Result<Sizes, usize> {
        let start = if tuning::GROW { self.initial_nodes } else { usize::MAX };
        let sizes = self.sized(start.min(self.balanced_nodes(available)).max(Self::LEAST_NODES));
        if sizes.bytes() <= available { Ok(sizes) } else { Err(self.sized(Self::LEAST_NODES).bytes()) }
    }

    /// Most nodes that fit into `bytes` beside a cache in proportion.
    fn balanced_nodes(&self, bytes: usize) -> usize {
        let per_node = self.sized(1 << 20).bytes() as f64 / f64::from(1 << 20);
        let guess = (bytes as f64 / per_node) as usize / Self::NODE_STEP * Self::NODE_STEP;
        // The proportion is exact for large tables; fixed parts may cost small ones a few granules.
        guess.saturating_sub(2 * Self::NODE_STEP)
    }

    /// Most nodes that fit into `bytes` when the cache is squeezed to an eighth of its proper share.
    pub fn most_nodes(&self, bytes: usize) -> usize {
        let squeezed = Sizing { cache_per_node: self.cache_per_node / 8.0, ..*self };
        squeezed.balanced_nodes(bytes).clamp(Self::LEAST_NODES, self.node_limit / Self::NODE_STEP * Self::NODE_STEP)
    }

    /// Sizes after a collection that left `live` nodes, inside `available` bytes.
    pub fn next(&self, now: Sizes, live: usize, made: Work, available: usize) -> Sizes {
        let crowded = live as f64 > self.live_share * now.nodes as f64;
        let busy = now.nodes < self.eager_nodes && made.lately * 2 > now.nodes;
        let wanted = self.sized(now.nodes.saturating_mul(2));
        let with_cache = Sizes { cache_entries: wanted.cache_entries.max(now.cache_entries), ..wanted };
        let outgrown = outgrown(made, now.nodes, self.node_patience) && with_cache.bytes() <= available / 2;
        if !crowded && !busy && !outgrown {
            return now;
        }
        if let Some(fitting) = [with_cache, wanted].into_iter().find(|sizes| sizes.bytes() <= available) {
            return fitting;
        }
        // One step may leave no room to go on, when tables that were compacted have little more than what is alive.
        let mut sizes = now;
        loop {
            let larger = self.last_steps(sizes, live, available);
            if larger == sizes || self.has_room(live, larger.nodes) {
                return larger;
            }
            sizes = larger;
        }
    }

    /// The budget does not allow doubling: use it up, and when most of that is alive, trade cache for nodes.
    fn last_steps(&self, now: Sizes, live: usize, available: usize) -> Sizes {
        let balanced = self.sized(self.balanced_nodes(available));
        if balanced.nodes > now.nodes && balanced.bytes() <= available {
            return balanced;
        }
        if live as f64 <= 0.6 * now.nodes as f64 {
            return now;
        }
        let most = self.most_nodes(available);
        let nodes = (now.nodes + now.nodes / 4).min(most) / Self::NODE_STEP * Self::NODE_STEP;
        let left = available.saturating_sub(node_bytes(nodes));
        let squeezed = Sizes { nodes, cache_entries: OpCache::entries_in(left).min(now.cache_entries) };
        let possible = squeezed.cache_entries >= Self::LEAST_CACHE && squeezed.bytes() <= available;
        if nodes > now.nodes && possible { squeezed } else { now }
    }

    /// Sizes after look-ups that `missed`: a small cache that loses most of what it is given grows even if the nodes do
    /// not, and so does a larger one after long use, up to half of the budget. One that has made room for something grows back
    /// in any case.
    pub fn after_misses(&self, now: Sizes, missed: Work, available: usize) -> Sizes {
        let proper = self.sized(now.nodes).cache_entries;
        let grown = Sizes { cache_entries: now.cache_entries * 2, ..now };
        let (is_due, room) = if grown.cache_entries <= proper {
            (missed.lately > now.cache_entries, available)
        } else {
            let thrashing = now.cache_entries < self.eager_cache && missed.lately > now.cache_entries;
            (thrashing || outgrown(missed, now.cache_entries, self.cache_patience), available / 2)
        };
        if tuning::GROW && is_due && grown.bytes() <= room { grown } else { now }
    }

    /// Sizes with a cache that takes `bytes` less, if it is large enough. At least half of it goes, so that a cache that makes room
    /// again and again is not moved more often than it has bits.
    pub fn without(&self, now: Sizes, bytes: usize) -> Sizes {
        if bytes == 0 {
            return now;
        }
        let kept = now.cache_entries.saturating_sub(bytes.div_ceil(OpCache::bytes(1))).min(now.cache_entries / 2);
        Sizes { cache_entries: kept.max(Self::LEAST_CACHE).min(now.cache_entries), ..now }
    }

    /// Is it worth going on with `live` of `nodes` alive?
    pub fn has_room(&self, live: usize, nodes: usize) -> bool {
        (live as f64) < self.full_share * nodes as f64
    }

    /// Sizes for `live` compacted nodes: little more than they need, never larger than before. Growth is a collection away.
    pub fn after_compaction(&self, now: Sizes, live: usize) -> Sizes {
        let sizes = self.sized(live + live / 8 + Self::LEAST_NODES);
        Sizes { nodes: sizes.nodes.min(now.nodes), cache_entries: sizes.cache_entries.min(now.cache_entries) }
    }
}

/// Has a table of `len` entries been used so much that a larger one would have paid for itself?
fn outgrown(work: Work, len: usize, patience: usize) -> bool {
    work.since_growth > len.saturating_mul(patience)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_stays_inside_the_budget() {
        let sizing = Sizing::default();
        for budget in [200_000, 1 << 20, 10_000_001, 64 << 20, 3_000_000_000] {
            let mut sizes = sizing.initial(budget).unwrap();
            assert!(sizes.bytes() <= budget);
            loop {
                let next = sizing.next(sizes, sizes.nodes * 9 / 10, all(sizes.nodes), budget);
                assert!(next.bytes() <= budget, "{next:?} in {budget}");
                assert!(next.nodes <= sizing.most_nodes(budget).max(sizes.nodes));
                if next == sizes {
                    break;
                }
                assert!(next.nodes > sizes.nodes);
                sizes = next;
            }
            assert!(sizes.bytes() * 100 >= budget * 85 || budget < 1 << 20, "{sizes:?} leaves too much of {budget}");
        }
    }

    #[test]
    fn tiny_budgets_are_refused_with_the_need() {
        let needed = Sizing::default().initial(1000).unwrap_err();
        assert!(Sizing::default().initial(needed).is_ok());
    }

    /// All work was done since the table was last considered, and since it grew.
    fn all(work: usize) -> Work {
        Work { lately: work, since_growth: work }
    }

    #[test]
    fn long_use_grows_tables_up_to_half_of_the_budget() {
        let sizing = Sizing::default();
        let big = sizing.sized(1 << 24);
        let long = Work { lately: 1 << 23, since_growth: (sizing.node_patience << 24) + 1 };
        assert_eq!(sizing.next(big, 1000, long, 1 << 40).nodes, 1 << 25);
        assert_eq!(sizing.next(big, 1000, long, 3 * big.bytes()), big);
        let missed = Work { lately: 0, since_growth: (sizing.cache_patience << 24) + 1 };
        let grown = Sizes { cache_entries: 2 * big.cache_entries, ..big };
        assert_eq!(sizing.after_misses(big, missed, 1 << 40), grown);
        assert_eq!(sizing.after_misses(big, missed, 2 * grown.bytes() - 1), big);
    }

    #[test]
    fn steps_are_taken_until_there_is_room() {
        let sizing = Sizing::default();
        let now = sizing.sized(1 << 20);
        let available = now.bytes() + now.bytes() / 50;
        let live = now.nodes;
        let next = sizing.next(now, live, all(now.nodes), available);
        assert!(sizing.has_room(live, next.nodes) && next.bytes() <= available, "{next:?}");
        assert!(!sizing.has_room(live, sizing.sized(sizing.balanced_nodes(available)).nodes), "one step is enough");
    }

    #[test]
    fn a_cache_that_has_made_room_grows_back() {
        let sizing = Sizing::default();
        let whole = sizing.sized(1 << 24);
        let budget = whole.bytes() + whole.bytes() / 10;
        let mut sizes = sizing.without(whole, 1 << 20);
        assert_eq!(sizes.cache_entries, whole.cache_entries / 2);
        sizes = sizing.without(sizes, OpCache::bytes(sizes.cache_entries));
        assert_eq!((sizes.cache_entries, sizes.nodes), (Sizing::LEAST_CACHE, whole.nodes));
        assert_eq!((sizing.without(sizes, 1), sizing.without(whole, 0)), (sizes, whole));
        let few = |sizes: Sizes| Work { lately: sizes.cache_entries + 1, since_growth: sizes.cache_entries + 1 };
        assert_eq!(sizing.after_misses(sizes, few(sizes), sizes.bytes()), sizes, "there is no room");
        for _ in 0..20 {
            sizes = sizing.after_misses(sizes, few(sizes), budget);
        }
        assert_eq!(sizes, whole);
    }

    #[test]
    fn tables_of_many_workers_grow_further_while_they_are_busy() {
        let sizing = Sizing::default();
        let after_busy_time = |workers: usize, nodes: usize| {
            let now = sizing.sized(nodes);
            sizing.for_workers(workers).next(now, 1000, all(nodes), 1 << 40).nodes
        };
        assert_eq!([1, 4, 7].map(|workers| after_busy_time(workers, 1 << 22)), [1 << 22; 3]);
        assert_eq!([(8, 22), (16, 23)].map(|(workers, bits)| after_busy_time(workers, 1 << bits)), [1 << 23, 1 << 24]);
        assert_eq!(
            [(8, 23), (16, 24), (1000, 24)].map(|(workers, bits)| after_busy_time(workers, 1 << bits)),
            [1 << 23, 1 << 24, 1 << 24]
        );
    }

    #[test]
    fn idle_tables_do_not_grow() {
        let sizing = Sizing::default();
        let big = sizing.sized(1 << 24);
        assert_eq!(sizing.next(big, 1000, all(1 << 24), 1 << 40), big);
    }
}
