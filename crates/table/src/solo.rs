//! The table of a single thread: no compare-and-swap, no locks, nothing atomic but the attention word.

use crate::allocation::Allocation;
use crate::attention::{Attention, Interrupt};
use crate::bitmap::{Bitmap, Ranks};
use crate::books::Books;
use crate::budget::Budget;
use crate::cache::{OpCache, Slot};
use crate::division::Division;
use crate::index::{Probe, UniqueIndex};
use crate::layout::{IndexWord, Key, Node, Ref};
use crate::memory::{MapError, Region, prefetch};
use crate::roots::HandleSlots;
use crate::shared::{Control, mark_together};
use crate::sizing::{Sizes, Sizing};
use crate::stats::Counters;
use crate::tuning;
use crate::walk::walk;
use std::ops::ControlFlow;
use std::time::Instant;
use tremula_fabric::Ground;

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
    /// Workers that large operations run on, the calling thread included.
    pub workers: usize,
    /// Expansions that an operation does before it goes on with all workers.
    pub worker_threshold: u64,
    /// Levels that a task must have to go through before it goes to a worker of another process; zero if all may go.
    pub least_far_levels: u32,
    /// Use the shared table for large operations even with one worker, to see what it costs.
    pub always_shared: bool,
    /// Use lanes for every operation beyond the threshold, instead of where they prove faster.
    pub lanes_always: bool,
    /// Fibers of each worker where other processes are waited for.
    pub fibers: usize,
    /// Levels whose nodes belong to the same process, before those of the next one, unless that is to be chosen; zero to
    /// go by hash instead.
    pub level_block: Option<u32>,
    /// Nodes of other processes that this one keeps copies of, at most.
    pub node_copies: usize,
    /// Which part of a table that several processes hold together this one is.
    pub division: Division,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            sizing: Sizing::default(),
            stress: None,
            lanes: 8,
            lane_threshold: 5000,
            workers: 1,
            worker_threshold: 500,
            least_far_levels: 0,
            always_shared: false,
            lanes_always: false,
            fibers: 256,
            level_block: None,
            node_copies: 1 << 22,
            division: Division::WHOLE,
        }
    }
}

/// Node store, unique index, operation cache and roots of one thread.
///
/// Invariants (cited by number elsewhere):
/// - T1: granule 0 is the terminal and is never collected;
/// - T2: a granule is *in use* when it is marked in `live` or an allocation has handed it out since the last collection;
///   granules in use hold canonical nodes and are in the index exactly once;
/// - T3: children of a node in use are in use;
/// - T4: between collections a node in use never changes, so references and cache entries stay true;
/// - T5: every reference that survives a collection was reachable from a handle slot, a shadow stack, or the arguments
///   of the `make` that triggered it.
pub struct Solo {
    nodes: Region<Node>,
    index: UniqueIndex,
    cache: OpCache,
    live: Bitmap,
    /// Marks of nodes in other parts of the table, by their positions among those of all parts; empty for a whole table.
    foreign: Region<u64>,
    /// What parallel operations have in common, where other processes take part in them.
    control: Option<Ground>,
    books: Books,
    handles: HandleSlots,
    /// Shadow stacks: one for plain operations, then one per lane.
    shadows: Vec<Vec<Ref>>,
    /// Expansions that the running operation may do before it looks at the attention word and at `reserve`.
    fuel: u64,
    /// Expansions it may do after those before it stops with `OutOfFuel`.
    reserve: u64,
    /// A full table ends the operation with `OutOfFuel`: the collection is left to the way it is run next.
    defers_collection: bool,
    mark_stack: Vec<u32>,
    next_stress: u64,
    attention: Attention,
}

/// The table, taken apart for a parallel operation.
pub(crate) struct Parts<'a> {
    pub nodes: &'a mut Region<Node>,
    pub index: &'a mut Region<IndexWord>,
    pub cache: &'a mut Region<Slot>,
    pub live: &'a mut Region<u64>,
    pub foreign: &'a mut Region<u64>,
    pub books: &'a mut Books,
    /// All functions that are protected.
    pub roots: Vec<Ref>,
    pub attention: Attention,
    /// Where other processes take part.
    pub ground: Option<&'a Ground>,
}

/// An operation looks at the attention word at least this often: every few milliseconds.
const EXPANSIONS_PER_LOOK: u64 = 1 << 16;

/// The largest tables inside a budget of so many bytes: all that there is for one or for the other.
fn most_sizes(limit: usize, options: &Options) -> Sizes {
    Sizes { nodes: options.sizing.most_nodes(limit), cache_entries: OpCache::entries_in(limit) }
}

/// The memory of all tables.
struct Memory {
    nodes: Region<Node>,
    index: UniqueIndex,
    cache: OpCache,
    live: Bitmap,
    foreign: Region<u64>,
    control: Option<Ground>,
}

impl Memory {
    /// Of this process.
    fn own(most: Sizes, division: Division) -> Result<Memory, MapError> {
        Ok(Memory {
            nodes: Region::reserve(most.nodes)?,
            index: UniqueIndex::reserve(most.nodes)?,
            cache: OpCache::reserve(most.cache_entries)?,
            live: Bitmap::reserve(most.nodes)?,
            foreign: foreign_marks(division)?,
            control: None,
        })
    }

    /// On a ground.
    fn on(ground: TableGround) -> Result<Memory, MapError> {
        Ok(Memory {
            nodes: Region::on(ground.nodes),
            index: UniqueIndex::on(ground.index),
            cache: OpCache::on(ground.cache)?,
            live: Bitmap::on(ground.live),
            foreign: foreign_marks(Division::WHOLE)?,
            control: Some(ground.control),
        })
    }
}

/// The ground of a table that several processes use ([`Solo::on_ground`], [`Outpost`](crate::Outpost)), cut into its parts.
pub struct TableGround {
    pub(crate) control: Ground,
    pub(crate) nodes: Ground,
    pub(crate) index: Ground,
    pub(crate) cache: Ground,
    pub(crate) live: Ground,
}

impl TableGround {
    /// Bytes of the parts, for a budget of so many bytes.
    pub fn bytes(limit: usize, options: &Options) -> [usize; 5] {
        let Sizes { nodes, cache_entries } = most_sizes(limit, options);
        // The smallest tables are larger than what a tiny budget allows.
        let (nodes, cache_entries) = (nodes.max(Sizing::LEAST_NODES), cache_entries.max(Sizing::LEAST_CACHE));
        [
            size_of::<Control>(),
            nodes * size_of::<Node>(),
            UniqueIndex::bytes(nodes),
            OpCache::bytes(cache_entries),
            Bitmap::bytes(nodes),
        ]
    }

    /// Cut the parts for such a budget off a ground; none if it is too small.
    pub fn cut(ground: &mut Ground, limit: usize, options: &Options) -> Option<TableGround> {
        let mut parts = TableGround::bytes(limit, options).into_iter().map(|bytes| ground.cut(bytes));
        let mut next = || parts.next().flatten();
        Some(TableGround { control: next()?, nodes: next()?, index: next()?, cache: next()?, live: next()? })
    }
}

/// Address space for the marks of all other parts.
fn foreign_marks(division: Division) -> Result<Region<u64>, MapError> {
    let words = if division.is_divided() { division.positions() / u64::BITS as usize } else { 0 };
    Region::reserve(words)
}

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
        Solo::with_memory(budget, options, attention, |most| Memory::own(most, options.division))
    }

    /// The same on a ground for tables of this budget, where other processes can take part in parallel operations.
    pub fn on_ground(
        budget: &Budget,
        options: Options,
        attention: Attention,
        ground: TableGround,
    ) -> Result<Solo, SetupError> {
        Solo::with_memory(budget, options, attention, |_| Memory::on(ground))
    }

    fn with_memory(
        budget: &Budget,
        mut options: Options,
        attention: Attention,
        memory: impl FnOnce(Sizes) -> Result<Memory, MapError>,
    ) -> Result<Solo, SetupError> {
        options.sizing = options.sizing.for_workers(options.workers);
        options.sizing.node_limit = options.sizing.node_limit.min(options.division.capacity());
        let too_small = |needed| SetupError::BudgetTooSmall { available: budget.available(), needed };
        let sizes = options.sizing.initial(budget.available()).map_err(too_small)?;
        let lease = budget.take(sizes.bytes()).map_err(|_| too_small(sizes.bytes()))?;
        let most = most_sizes(budget.limit(), &options);
        let Memory { nodes, index, cache, live, foreign, control } = memory(Sizes {
            nodes: most.nodes.max(sizes.nodes),
            cache_entries: most.cache_entries.max(sizes.cache_entries),
        })?;
        let mut table = Solo {
            nodes,
            index,
            cache,
            live,
            foreign,
            control,
            books: Books {
                sizes,
                lease,
                budget: budget.clone(),
                options,
                counters: Counters::default(),
                live_at_collection: 0,
                created_at_collection: 0,
                created_at_growth: 0,
                misses_at_growth: 0,
                misses_at_check: 0,
                next_cache_check: sizes.cache_entries as u64,
                allocation: Allocation::default(),
                other_allocations: Vec::new(),
                next_word: 0,
            },
            handles: HandleSlots::default(),
            shadows: vec![Vec::new(); options.lanes + 1],
            fuel: u64::MAX,
            reserve: 0,
            defers_collection: false,
            mark_stack: Vec::new(),
            next_stress: options.stress.unwrap_or(u64::MAX),
            attention,
        };
        table.apply_sizes(sizes);
        table.live.insert(0);
        table.nodes[0] = Node::TERMINAL;
        table.index.reset(sizes.nodes);
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
        let node = Node { level, low: low.negate_if(negate), high: high.negate_if(negate), spare: 0 };
        self.find_or_put(node).map(|position| Ref::new(position, negate))
    }

    /// The set of the vectors that begin with `value` and go on as in `down`, which is not empty, and of those in `right`,
    /// which all begin with larger values. As for [`Solo::make`], the arguments need no protection.
    #[inline]
    pub fn make_list(&mut self, value: u32, down: Ref, right: Ref) -> Result<Ref, Interrupt> {
        self.find_or_put(Node::list(value, down, right)).map(|position| Ref::new(position, false))
    }

    #[inline]
    fn find_or_put(&mut self, node: Node) -> Result<u32, Interrupt> {
        let hash = Node::hash(node.level, node.low, node.high);
        match self.index.probe(hash, |position| self.nodes[position as usize] == node) {
            Probe::Found(position) => Ok(position),
            Probe::Vacant(slot) => self.insert(slot, hash, node),
        }
    }

    /// Fetch what [`Solo::make`] will read first for this node.
    #[inline]
    pub fn prefetch_make(&self, level: u32, low: Ref, high: Ref) {
        let negate = low.is_complement();
        self.index.prefetch(Node::hash(level, low.negate_if(negate), high.negate_if(negate)));
    }

    /// Fetch what [`Solo::make_list`] will read first for this node.
    #[inline]
    pub fn prefetch_list(&self, value: u32, down: Ref, right: Ref) {
        let node = Node::list(value, down, right);
        self.index.prefetch(Node::hash(node.level, node.low, node.high));
    }

    #[inline]
    fn insert(&mut self, mut slot: usize, hash: u64, node: Node) -> Result<u32, Interrupt> {
        if self.attention.is_set() {
            self.attend()?;
        }
        if !self.books.allocation.has_room() || self.books.counters.created >= self.next_stress {
            slot = self.find_room(hash, &node)?;
        }
        let position = self.books.allocation.next();
        self.books.allocation.advance();
        self.nodes[position as usize] = node;
        self.index.occupy(slot, hash, position);
        self.books.counters.created += 1;
        Ok(position)
    }

    /// The cached result for `key`, whose hash is `hash`.
    #[inline]
    pub fn cache_get(&mut self, hash: u64, key: Key) -> Option<Ref> {
        let found = self.cache.get(hash, key);
        self.books.counters.lookups += 1;
        self.books.counters.hits += u64::from(found.is_some());
        if self.books.counters.lookups >= self.books.next_cache_check {
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

    /// The function kept on a shadow stack `back` places before the last one.
    #[inline]
    pub fn kept_on(&self, stack: usize, back: usize) -> Ref {
        let shadow = &self.shadows[stack];
        shadow[shadow.len() - 1 - back]
    }

    /// Protect `f` in place of the function kept on a shadow stack `back` places before the last one.
    #[inline]
    pub fn keep_instead_on(&mut self, stack: usize, back: usize, f: Ref) {
        let shadow = &mut self.shadows[stack];
        let last = shadow.len() - 1;
        shadow[last - back] = f;
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

    /// Leave collections to whoever runs the operation again after [`Interrupt::OutOfFuel`].
    pub fn defer_collections(&mut self, defer: bool) {
        self.defers_collection = defer;
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

    /// Have room for a node: by walking on, else by collecting and growing. Returns the index slot for `node`.
    #[cold]
    fn find_room(&mut self, hash: u64, node: &Node) -> Result<usize, Interrupt> {
        let stressed = self.books.counters.created >= self.next_stress;
        if stressed || !self.advance() {
            if self.defers_collection {
                return Err(Interrupt::OutOfFuel);
            }
            self.collect_for([node.low, node.high])?;
        }
        match self.index.probe(hash, |_| false) {
            Probe::Vacant(slot) => Ok(slot),
            Probe::Found(_) => unreachable!("nothing is the same"),
        }
    }

    /// Go to the next bitmap word with a free granule.
    fn advance(&mut self) -> bool {
        let words = self.books.sizes.nodes / u64::BITS as usize;
        let (live, next_word) = (&self.live, &mut self.books.next_word);
        let claim = || {
            let word = *next_word;
            *next_word += usize::from(word < words);
            (word < words).then_some(word..word + 1)
        };
        self.books.allocation.find_room(|word| live.word(word), claim)
    }

    /// Collect, then resize as the policy says; an error when that leaves too little room to go on.
    fn collect_for(&mut self, extra: [Ref; 2]) -> Result<(), Interrupt> {
        let live = self.collect_with(&extra, true);
        if self.advance() && self.books.options.sizing.has_room(live, self.books.sizes.nodes) {
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
        if self.books.options.stress.is_some() {
            self.poison_dead();
        }
        self.retain_cache();
        let sizes = if may_grow { self.books.sizes_after_collection(live) } else { self.books.sizes };
        self.apply_sizes(sizes);
        self.rebuild_index();
        self.books.note_collection(live);
        self.next_stress = self.books.options.stress.map_or(u64::MAX, |every| self.books.counters.created + every);
        self.books.counters.collections += 1;
        self.books.counters.collection_micros += start.elapsed().as_micros() as u64;
        self.attention.publish(&self.counters());
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
        for position in 0..self.books.sizes.nodes as u32 {
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

    /// Grow the cache when far more was missed than it can hold.
    #[cold]
    fn consider_cache(&mut self) {
        let wanted = self.books.sizes_after_misses();
        if wanted != self.books.sizes {
            self.apply_sizes(wanted);
        }
    }

    fn apply_sizes(&mut self, sizes: Sizes) {
        self.nodes.resize(sizes.nodes);
        self.live.resize(sizes.nodes);
        if self.cache.len() != sizes.cache_entries {
            self.cache.resize(sizes.cache_entries);
        }
        self.books.set_sizes(sizes);
    }

    fn rebuild_index(&mut self) {
        /// Far enough ahead for the line to arrive, near enough for it to stay.
        const AHEAD: usize = 8;
        self.index.reset(self.books.sizes.nodes);
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
        self.books.note_collection(live);
        self.advance();
        self.books.counters.compactions += 1;
    }

    fn shrink_to(&mut self, live: usize) {
        let sizes = self.books.options.sizing.after_compaction(self.books.sizes, live);
        self.books.lease.resize(sizes.bytes()).expect("shrinking needs nothing");
        self.apply_sizes(sizes);
    }

    /// Have the operation cache make room in the budget for `bytes` beside the tables, as far as that goes. It grows back when
    /// it is missed and there is room again.
    pub fn shrink_cache_for(&mut self, bytes: usize) {
        let missing = bytes.saturating_sub(self.books.budget.available());
        let sizes = self.books.options.sizing.without(self.books.sizes, missing);
        self.books.lease.resize(sizes.bytes()).expect("shrinking needs nothing");
        self.apply_sizes(sizes);
        self.books.check_cache_soon();
    }

    /// What a parallel operation borrows.
    pub(crate) fn parts(&mut self) -> Parts<'_> {
        let kept = self.shadows.iter().flatten().copied();
        let roots = self.handles.iter().chain(kept).filter(|root| !root.is_terminal()).collect();
        Parts {
            nodes: &mut self.nodes,
            index: self.index.words_mut(),
            cache: self.cache.entries_mut(),
            live: self.live.words_mut(),
            foreign: &mut self.foreign,
            books: &mut self.books,
            roots,
            attention: self.attention.clone(),
            ground: self.control.as_ref(),
        }
    }

    // ---- looking ------------------------------------------------------------------------------------------------

    /// Present counters.
    pub fn counters(&self) -> Counters {
        self.books.present()
    }

    /// The attention word.
    pub fn attention(&self) -> &Attention {
        &self.attention
    }

    /// The budget these tables live in.
    pub fn budget(&self) -> &Budget {
        &self.books.budget
    }

    /// Positions of all nodes below the given roots, marked in a fresh bitmap, and their number without the terminal.
    pub fn reachable(&self, roots: &[Ref]) -> Result<(Bitmap, usize), MapError> {
        self.reachable_by(roots, 1)
    }

    /// As [`Solo::reachable`], on up to `workers` threads.
    pub fn reachable_by(&self, roots: &[Ref], workers: usize) -> Result<(Bitmap, usize), MapError> {
        let mut bitmap = Bitmap::reserve(self.books.sizes.nodes)?;
        bitmap.resize(self.books.sizes.nodes);
        bitmap.insert(0);
        let mut stack: Vec<u32> = roots.iter().map(|root| root.index()).filter(|&at| bitmap.insert(at)).collect();
        let few = if workers > 1 { NODES_FOR_ONE } else { usize::MAX };
        let mut count = mark_some(&self.nodes, &mut bitmap, &mut stack, few);
        if !stack.is_empty() {
            count += mark_together(&self.nodes, &mut bitmap, stack, workers);
        }
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

    fn is_ordered(&self, node: Node) -> bool {
        let ordered = node.level < self.level(node.low) && node.level < self.level(node.high);
        ordered && !node.low.is_complement() && node.low != node.high
    }

    fn is_ordered_list(&self, node: Node) -> bool {
        let is_list = |f: Ref| !f.is_terminal() && !f.is_complement() && self.node(f).is_list();
        let (down, right) = (node.down(), node.right());
        let ascends = right == Ref::FALSE || is_list(right) && self.node(right).value() > node.value();
        ascends && (down == Ref::TRUE || is_list(down))
    }

    fn check_node(&self, position: u32) -> Result<(), String> {
        let node = self.nodes[position as usize];
        if !(if node.is_list() { self.is_ordered_list(node) } else { self.is_ordered(node) }) {
            return Err(format!("node {position} is not canonical: {node:?}"));
        }
        match self.index.probe(Node::hash(node.level, node.low, node.high), |at| self.nodes[at as usize] == node) {
            Probe::Found(at) if at == position => Ok(()),
            Probe::Found(at) => Err(format!("node {position} has a twin at {at}")),
            Probe::Vacant(_) => Err(format!("node {position} is missing from the index")),
        }
    }
}

/// A diagram of fewer nodes is marked by one thread before others could have started.
const NODES_FOR_ONE: usize = 1 << 14;

/// Mark everything below `root` and return how many granules were new.
fn mark_from(nodes: &[Node], live: &mut Bitmap, stack: &mut Vec<u32>, root: Ref) -> usize {
    if live.insert(root.index()) {
        stack.push(root.index());
    }
    mark_some(nodes, live, stack, usize::MAX)
}

/// Mark what is below the nodes on the stack, until `limit` of them were taken. Returns how many were.
fn mark_some(nodes: &[Node], live: &mut Bitmap, stack: &mut Vec<u32>, limit: usize) -> usize {
    let mut count = 0;
    let fetch = |position: u32| prefetch(&raw const nodes[position as usize]);
    walk(stack, fetch, |position, stack| {
        count += 1;
        let node = nodes[position as usize];
        stack.extend([node.low, node.high].into_iter().map(Ref::index).filter(|&child| live.insert(child)));
        if count == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    count
}
