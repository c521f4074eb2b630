//! The table of a single thread: no compare-and-swap, no locks, nothing atomic but the attention word.

use crate::attention::{Attention, Interrupt};
use crate::bitmap::{Bitmap, Ranks};
use crate::budget::{Budget, Lease};
use crate::cache::OpCache;
use crate::index::{Probe, UniqueIndex};
use crate::layout::{Key, MAX_NODES, Node, Ref};
use crate::memory::{MapError, Region};
use crate::roots::HandleSlots;
use crate::sizing::{Sizes, Sizing};
use crate::stats::Counters;
use crate::tuning;
use std::time::Instant;

/// How a [`Solo`] table behaves.
#[derive(Copy, Clone, Debug)]
pub struct Options {
    /// How sizes follow from the budget and the live nodes.
    pub sizing: Sizing,
    /// Collect after every so many created nodes and poison what is freed: finds missing roots.
    pub stress: Option<u64>,
    /// Lanes that large operations run in, to overlap their memory accesses; one switches that off.
    pub lanes: usize,
    /// Expansions that an operation does before it goes on in lanes.
    pub lane_threshold: u64,
    /// Use lanes for every operation beyond the threshold, instead of where they prove faster.
    pub lanes_always: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { sizing: Sizing::default(), stress: None, lanes: 8, lane_threshold: 5000, lanes_always: false }
    }
}

/// Node store, unique index, operation cache and roots of one thread.
///
/// Invariants (cited by number elsewhere):
/// - T1: granule 0 is the terminal and is never collected;
/// - T2: a granule is *in use* when it is marked in `live` or lies in the part of the store that allocation has passed
///   since the last collection; granules in use hold canonical nodes and are in the index exactly once;
/// - T3: children of a node in use are in use;
/// - T4: between collections a node in use never changes, so references and cache entries stay true;
/// - T5: every reference that survives a collection was reachable from a handle slot, a shadow stack, or the arguments
///   of the `make` that triggered it.
pub struct Solo {
    nodes: Region<Node>,
    index: UniqueIndex,
    cache: OpCache,
    live: Bitmap,
    /// Free granules of the bitmap word that allocation is at, one bit each.
    free_bits: u64,
    /// Next bitmap word that allocation will look at.
    next_word: usize,
    live_at_collection: u64,
    created_at_collection: u64,
    handles: HandleSlots,
    /// Shadow stacks: one for plain operations, then one per lane.
    shadows: Vec<Vec<Ref>>,
    /// Expansions that the running operation may do before it looks at the attention word and at `reserve`.
    fuel: u64,
    /// Expansions it may do after those before it stops with `OutOfFuel`.
    reserve: u64,
    mark_stack: Vec<u32>,
    sizes: Sizes,
    options: Options,
    next_stress: u64,
    /// Number of look-ups at which the size of the cache is considered again.
    next_cache_check: u64,
    misses_at_check: u64,
    counters: Counters,
    attention: Attention,
    lease: Lease,
    budget: Budget,
}

/// An operation looks at the attention word at least this often: every few milliseconds.
const EXPANSIONS_PER_LOOK: u64 = 1 << 16;

/// The table could not be set up.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SetupError {
    /// The budget cannot hold even the smallest tables.
    #[error("a memory budget of {available} bytes is too small: at least {needed} are needed")]
    BudgetTooSmall {
        /// Bytes the budget has left.
        available: usize,
        /// Bytes the smallest tables take.
        needed: usize,
    },
    /// No address space.
    #[error(transparent)]
    Map(#[from] MapError),
}

impl Solo {
    /// Empty tables inside `budget`.
    pub fn new(budget: &Budget, options: Options, attention: Attention) -> Result<Solo, SetupError> {
        let too_small = |needed| SetupError::BudgetTooSmall { available: budget.available(), needed };
        let sizes = options.sizing.initial(budget.available()).map_err(too_small)?;
        let lease = budget.take(sizes.bytes()).map_err(|_| too_small(sizes.bytes()))?;
        let most = options.sizing.most_nodes(budget.limit()).max(sizes.nodes);
        let most_entries = OpCache::entries_in(budget.limit()).max(sizes.cache_entries);
        let mut table = Solo {
            nodes: Region::reserve(most)?,
            index: UniqueIndex::reserve(most)?,
            cache: OpCache::reserve(most_entries)?,
            live: Bitmap::reserve(most)?,
            free_bits: 0,
            next_word: 0,
            live_at_collection: 0,
            created_at_collection: 0,
            handles: HandleSlots::default(),
            shadows: vec![Vec::new(); options.lanes + 1],
            fuel: u64::MAX,
            reserve: 0,
            mark_stack: Vec::new(),
            sizes,
            options,
            next_stress: options.stress.unwrap_or(u64::MAX),
            next_cache_check: sizes.cache_entries as u64,
            misses_at_check: 0,
            counters: Counters::default(),
            attention,
            lease,
            budget: budget.clone(),
        };
        table.apply_sizes(sizes);
        table.live.insert(0);
        table.nodes[0] = Node::TERMINAL;
        table.index.reset(sizes.nodes);
        table.update_sizes_in_counters();
        Ok(table)
    }

    // ---- the hot path -------------------------------------------------------------------------------------------

    /// The node that `f` refers to, ignoring the complement mark.
    #[inline]
    pub fn node(&self, f: Ref) -> Node {
        self.nodes[f.index() as usize]
    }

    /// Level of the top variable of `f`.
    #[inline]
    pub fn level(&self, f: Ref) -> u32 {
        self.nodes[f.index() as usize].level
    }

    /// Fetch the node of `f` into the processor's cache.
    #[inline]
    pub fn prefetch_node(&self, f: Ref) {
        self.nodes.prefetch(f.index() as usize);
    }

    /// The canonical function `if level then high else low`: found, or made.
    ///
    /// May collect garbage; `low` and `high` need no protection against that, everything else that the caller still
    /// wants does (T5).
    #[inline]
    pub fn make(&mut self, level: u32, low: Ref, high: Ref) -> Result<Ref, Interrupt> {
        if low == high {
            return Ok(low);
        }
        let negate = low.is_complement();
        let (low, high) = (low.negate_if(negate), high.negate_if(negate));
        let hash = Node::hash(level, low, high);
        let same = |position: u32| {
            let node = &self.nodes[position as usize];
            node.level == level && node.low == low && node.high == high
        };
        match self.index.probe(hash, same) {
            Probe::Found(position) => Ok(Ref::new(position, negate)),
            Probe::Vacant(slot) => {
                let node = Node { level, low, high, spare: 0 };
                self.insert(slot, hash, node).map(|position| Ref::new(position, negate))
            }
        }
    }

    /// Fetch what [`Solo::make`] will read first for this node.
    #[inline]
    pub fn prefetch_make(&self, level: u32, low: Ref, high: Ref) {
        let negate = low.is_complement();
        self.index.prefetch(Node::hash(level, low.negate_if(negate), high.negate_if(negate)));
    }

    #[inline]
    fn insert(&mut self, mut slot: usize, hash: u64, node: Node) -> Result<u32, Interrupt> {
        if self.attention.is_set() {
            self.attend()?;
        }
        if self.free_bits == 0 || self.counters.created >= self.next_stress {
            slot = self.find_room(hash, &node)?;
        }
        let bit = self.free_bits.trailing_zeros();
        self.free_bits &= self.free_bits - 1;
        let position = (self.next_word as u32 - 1) * u64::BITS + bit;
        self.nodes[position as usize] = node;
        self.index.occupy(slot, hash, position);
        self.counters.created += 1;
        Ok(position)
    }

    /// The cached result for `key`, whose hash is `hash`.
    #[inline]
    pub fn cache_get(&mut self, hash: u64, key: Key) -> Option<Ref> {
        let found = self.cache.get(hash, key);
        self.counters.lookups += 1;
        self.counters.hits += u64::from(found.is_some());
        if self.counters.lookups >= self.next_cache_check {
            self.consider_cache();
        }
        found
    }

    /// Remember a result.
    #[inline]
    pub fn cache_put(&mut self, hash: u64, key: Key, result: Ref) {
        self.cache.put(hash, key, result);
    }

    /// Fetch the cache line for `hash`.
    #[inline]
    pub fn cache_prefetch(&self, hash: u64) {
        self.cache.prefetch(hash);
    }

    // ---- roots --------------------------------------------------------------------------------------------------

    /// Protect `f` until the matching [`Solo::release`].
    #[inline]
    pub fn keep(&mut self, f: Ref) {
        self.keep_on(0, f);
    }

    /// Drop the protection of the last `count` kept functions.
    #[inline]
    pub fn release(&mut self, count: usize) {
        self.release_on(0, count);
    }

    /// Protect `f` on one of the shadow stacks; the first is that of plain operations.
    #[inline]
    pub fn keep_on(&mut self, stack: usize, f: Ref) {
        self.shadows[stack].push(f);
    }

    /// Drop the protection of the last `count` functions kept on a shadow stack.
    #[inline]
    pub fn release_on(&mut self, stack: usize, count: usize) {
        let shadow = &mut self.shadows[stack];
        shadow.truncate(shadow.len() - count);
    }

    /// Depth of the first shadow stack, to return to with [`Solo::unwind`].
    pub fn depth(&self) -> usize {
        self.shadows[0].len()
    }

    /// Forget everything kept above `depth` on the first shadow stack, and everything on the others (after an error).
    pub fn unwind(&mut self, depth: usize) {
        self.shadows[0].truncate(depth);
        self.shadows[1..].iter_mut().for_each(Vec::clear);
    }

    /// How many expansions may follow before [`Interrupt::OutOfFuel`].
    pub fn set_fuel(&mut self, expansions: u64) {
        self.fuel = expansions.min(EXPANSIONS_PER_LOOK);
        self.reserve = expansions - self.fuel;
    }

    /// Account for one expansion. Operations that make no nodes notice the attention word here.
    #[inline]
    pub fn burn(&mut self) -> Result<(), Interrupt> {
        self.fuel = self.fuel.wrapping_sub(1);
        if self.fuel == 0 { self.refuel() } else { Ok(()) }
    }

    #[cold]
    fn refuel(&mut self) -> Result<(), Interrupt> {
        if self.attention.is_set() {
            self.attend()?;
        }
        self.set_fuel(self.reserve);
        if self.fuel == 0 { Err(Interrupt::OutOfFuel) } else { Ok(()) }
    }

    /// The slots of user handles.
    pub fn handles(&self) -> &HandleSlots {
        &self.handles
    }

    /// The slots of user handles, to open and close them.
    pub fn handles_mut(&mut self) -> &mut HandleSlots {
        &mut self.handles
    }

    // ---- allocation and collection ------------------------------------------------------------------------------

    #[cold]
    fn attend(&mut self) -> Result<(), Interrupt> {
        let counters = self.counters();
        self.attention.attend(&counters)
    }

    /// Make `free_bits` non-empty: by walking on, else by collecting and growing. Returns the index slot for `node`.
    #[cold]
    fn find_room(&mut self, hash: u64, node: &Node) -> Result<usize, Interrupt> {
        let stressed = self.counters.created >= self.next_stress;
        if stressed || !self.advance() {
            self.collect_for([node.low, node.high])?;
        }
        match self.index.probe(hash, |_| false) {
            Probe::Vacant(slot) => Ok(slot),
            Probe::Found(_) => unreachable!("nothing is the same"),
        }
    }

    /// Go to the next bitmap word with a free granule.
    fn advance(&mut self) -> bool {
        let words = self.sizes.nodes / u64::BITS as usize;
        while self.free_bits == 0 && self.next_word < words {
            self.free_bits = !self.live.word(self.next_word);
            self.next_word += 1;
        }
        self.free_bits != 0
    }

    /// Collect, then resize as the policy says; an error when that leaves too little room to go on.
    fn collect_for(&mut self, extra: [Ref; 2]) -> Result<(), Interrupt> {
        let live = self.collect_with(&extra, true);
        if self.advance() && self.options.sizing.has_room(live, self.sizes.nodes) {
            Ok(())
        } else {
            Err(Interrupt::TableFull)
        }
    }

    /// Mark and sweep now. Returns the number of nodes that are alive.
    pub fn collect(&mut self) -> usize {
        let live = self.collect_with(&[], false);
        self.advance();
        live
    }

    fn collect_with(&mut self, extra: &[Ref], may_grow: bool) -> usize {
        let start = Instant::now();
        let live = self.mark(extra);
        if self.options.stress.is_some() {
            self.poison_dead();
        }
        self.retain_cache();
        let sizes = if may_grow { self.grown(live) } else { self.sizes };
        self.apply_sizes(sizes);
        self.rebuild_index();
        (self.free_bits, self.next_word) = (0, 0);
        self.live_at_collection = live as u64;
        self.created_at_collection = self.counters.created;
        self.next_stress = self.options.stress.map_or(u64::MAX, |every| self.counters.created + every);
        self.counters.collections += 1;
        self.counters.collection_micros += start.elapsed().as_micros() as u64;
        self.update_sizes_in_counters();
        let counters = self.counters();
        self.attention.publish(&counters);
        live
    }

    fn mark(&mut self, extra: &[Ref]) -> usize {
        self.live.clear();
        self.live.insert(0);
        let mut count = 0;
        let kept = self.shadows.iter().flatten().copied();
        let roots = self.handles.iter().chain(kept).chain(extra.iter().copied());
        for root in roots {
            count += mark_from(&self.nodes, &mut self.live, &mut self.mark_stack, root);
        }
        count
    }

    fn poison_dead(&mut self) {
        for position in 0..self.sizes.nodes as u32 {
            if !self.live.get(position) {
                self.nodes[position as usize] = Node::POISON;
            }
        }
    }

    fn retain_cache(&mut self) {
        if tuning::KEEP_CACHE {
            let live = &self.live;
            self.cache.retain(|f| live.get(f.index()));
        } else {
            self.cache.clear();
        }
    }

    /// The sizes to go on with, their bytes leased.
    fn grown(&mut self, live: usize) -> Sizes {
        let made = self.counters.created - self.created_at_collection;
        let available = self.budget.available() + self.lease.bytes();
        let wanted = self.options.sizing.next(self.sizes, live, made as usize, available);
        match self.lease.resize(wanted.bytes()) {
            Ok(()) => wanted,
            Err(_) => self.sizes,
        }
    }

    /// Grow the cache when far more was missed than it can hold, though the nodes themselves have room.
    #[cold]
    fn consider_cache(&mut self) {
        let misses = self.counters.lookups - self.counters.hits;
        let missed = (misses - self.misses_at_check) as usize;
        let available = self.budget.available() + self.lease.bytes();
        let wanted = self.options.sizing.after_misses(self.sizes, missed, available);
        if wanted != self.sizes && self.lease.resize(wanted.bytes()).is_ok() {
            self.apply_sizes(wanted);
            self.update_sizes_in_counters();
        }
        self.misses_at_check = misses;
        self.next_cache_check = self.counters.lookups + 2 * self.sizes.cache_entries as u64;
    }

    fn apply_sizes(&mut self, sizes: Sizes) {
        self.nodes.resize(sizes.nodes);
        self.live.resize(sizes.nodes);
        if self.cache.len() != sizes.cache_entries {
            self.cache.resize(sizes.cache_entries);
        }
        self.sizes = sizes;
    }

    fn rebuild_index(&mut self) {
        /// Far enough ahead for the line to arrive, near enough for it to stay.
        const AHEAD: usize = 8;
        self.index.reset(self.sizes.nodes);
        let mut positions = self.live.iter().skip(1);
        let mut window = std::collections::VecDeque::with_capacity(AHEAD);
        loop {
            let next = positions.next();
            if let Some(position) = next {
                let node = &self.nodes[position as usize];
                self.index.prefetch(Node::hash(node.level, node.low, node.high));
                window.push_back(position);
            }
            if window.len() == AHEAD || next.is_none() {
                let Some(position) = window.pop_front() else { break };
                self.index.insert_new(&self.nodes[position as usize], position);
            }
        }
    }

    /// Collect, then slide the live nodes together and give memory back. Only between operations.
    ///
    /// # Panics
    /// When an operation is under way (the shadow stack is not empty).
    pub fn compact(&mut self) {
        assert!(self.shadows.iter().all(Vec::is_empty), "compaction inside an operation");
        let live = self.mark(&[]);
        let ranks = Ranks::new(&self.live);
        let new_ref = |live: &Bitmap, f: Ref| Ref::new(ranks.rank(live, f.index()), f.is_complement());
        for (rank, position) in self.live.iter().enumerate() {
            let mut node = self.nodes[position as usize];
            node.low = new_ref(&self.live, node.low);
            node.high = new_ref(&self.live, node.high);
            // A rank never exceeds its position, so no node is overwritten before it has moved.
            self.nodes[rank] = node;
        }
        let live_bits = &self.live;
        self.handles.remap(|f| new_ref(live_bits, f));
        self.cache.clear();
        self.live.clear();
        (0..=live as u32).for_each(|position| {
            self.live.insert(position);
        });
        self.shrink_to(live);
        self.rebuild_index();
        (self.free_bits, self.next_word) = (0, 0);
        self.advance();
        self.live_at_collection = live as u64;
        self.created_at_collection = self.counters.created;
        self.counters.compactions += 1;
        self.update_sizes_in_counters();
    }

    fn shrink_to(&mut self, live: usize) {
        let sizes = self.options.sizing.after_compaction(self.sizes, live);
        self.lease.resize(sizes.bytes()).expect("shrinking needs nothing");
        self.apply_sizes(sizes);
    }

    /// Give back all but a token part of the operation cache, so that others can use the memory for a while.
    pub fn shrink_cache(&mut self) {
        let sizes = Sizes { cache_entries: self.sizes.cache_entries.min(Sizing::LEAST_CACHE), ..self.sizes };
        self.lease.resize(sizes.bytes()).expect("shrinking needs nothing");
        self.apply_sizes(sizes);
        self.update_sizes_in_counters();
    }

    // ---- looking ------------------------------------------------------------------------------------------------

    /// Present counters.
    pub fn counters(&self) -> Counters {
        let since = self.counters.created - self.created_at_collection;
        Counters { nodes: self.live_at_collection + since, ..self.counters }
    }

    fn update_sizes_in_counters(&mut self) {
        self.counters.capacity = self.sizes.nodes as u64;
        self.counters.cache_entries = self.sizes.cache_entries as u64;
        self.counters.bytes = self.sizes.bytes() as u64;
    }

    /// The attention word.
    pub fn attention(&self) -> &Attention {
        &self.attention
    }

    /// The budget these tables live in.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Positions of all nodes below the given roots, marked in a fresh bitmap, and their number without the terminal.
    pub fn reachable(&self, roots: &[Ref]) -> Result<(Bitmap, usize), MapError> {
        let mut bitmap = Bitmap::reserve(self.sizes.nodes)?;
        bitmap.resize(self.sizes.nodes);
        bitmap.insert(0);
        let mut stack = Vec::new();
        let count = roots.iter().map(|&root| mark_from(&self.nodes, &mut bitmap, &mut stack, root)).sum();
        Ok((bitmap, count))
    }

    /// Check T1, T2 and T3 on all nodes reachable from handles (for tests).
    pub fn check(&self) -> Result<(), String> {
        let roots: Vec<Ref> = self.handles.iter().collect();
        let (reachable, _) = self.reachable(&roots).map_err(|e| e.to_string())?;
        if self.nodes[0] != Node::TERMINAL {
            return Err("the terminal was overwritten".into());
        }
        for position in reachable.iter().skip(1) {
            self.check_node(position)?;
        }
        Ok(())
    }

    fn check_node(&self, position: u32) -> Result<(), String> {
        let node = self.nodes[position as usize];
        let ordered = node.level < self.level(node.low) && node.level < self.level(node.high);
        if !ordered || node.low.is_complement() || node.low == node.high {
            return Err(format!("node {position} is not canonical: {node:?}"));
        }
        match self.index.probe(Node::hash(node.level, node.low, node.high), |at| self.nodes[at as usize] == node) {
            Probe::Found(at) if at == position => Ok(()),
            Probe::Found(at) => Err(format!("node {position} has a twin at {at}")),
            Probe::Vacant(_) => Err(format!("node {position} is missing from the index")),
        }
    }
}

/// Mark everything below `root` and return how many granules were new.
fn mark_from(nodes: &[Node], live: &mut Bitmap, stack: &mut Vec<u32>, root: Ref) -> usize {
    let mut count = 0;
    if live.insert(root.index()) {
        stack.push(root.index());
    }
    while let Some(position) = stack.pop() {
        count += 1;
        let node = nodes[position as usize];
        for child in [node.low, node.high] {
            if live.insert(child.index()) {
                stack.push(child.index());
            }
        }
    }
    count
}

/// Granules are addressed by 31 bits less the tag range; sizing never asks for more.
pub(crate) const NODE_LIMIT: usize = MAX_NODES;
