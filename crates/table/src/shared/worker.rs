//! One worker's view of the shared table: its allocation, its shadow stack, its counts.

use super::Shared;
use super::cells::{EntryCell, IndexCell, NodeCell};
use crate::allocation::Allocation;
use crate::attention::Interrupt;
use crate::cache::Entry;
use crate::division::Division;
use crate::layout::{IndexWord, Key, Node, Ref, cache_slot};
use crate::memory::prefetch;
use crate::sync::{Ordering, unless_modelled};
use crate::{probing, tuning};

/// Why a node could not be made.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Blocked {
    /// There is no free granule: a collection is due ([`TableWorker::demand_collection`]).
    NoRoom,
    /// The operation is to end.
    Interrupt(Interrupt),
}

/// What one worker of a parallel operation needs to use the tables.
pub struct TableWorker<'s, 't> {
    pub(super) shared: &'s Shared<'t>,
    nodes: &'s [NodeCell],
    index: &'s [IndexCell],
    cache: &'s [EntryCell],
    pub(super) number: usize,
    pub(super) division: Division,
    pub(super) allocation: Allocation,
    pub(super) shadow: Vec<Ref>,
    pub(super) mark_stack: Vec<u32>,
    // Copies of lengths that change in safepoints only.
    pub(super) index_slots: usize,
    pub(super) cache_entries: usize,
    pub(super) mark_words: usize,
    /// Expansions until the attention word is looked at.
    fuel: u32,
    created: u64,
    lookups: u64,
    hits: u64,
    /// Number of created nodes at which a collection is forced.
    next_stress: u64,
    all_created: u64,
}

/// A worker looks at the attention word and reports its counts at least this often.
const EXPANSIONS_PER_LOOK: u32 = unless_modelled(1 << 12, 4) as u32;
/// Mark words that a worker claims at a time, unless the table is small.
const CLAIM: usize = 64;

impl<'s, 't> TableWorker<'s, 't> {
    pub(super) fn new(shared: &'s Shared<'t>, number: usize) -> TableWorker<'s, 't> {
        let allocation = std::mem::take(&mut shared.office().allocations[number - shared.here.start]);
        let mut worker = TableWorker {
            shared,
            nodes: shared.nodes.items(),
            index: shared.index.items(),
            cache: shared.cache.items(),
            number,
            division: shared.division,
            allocation,
            shadow: Vec::new(),
            mark_stack: Vec::new(),
            index_slots: 0,
            cache_entries: 0,
            mark_words: 0,
            fuel: EXPANSIONS_PER_LOOK,
            created: 0,
            lookups: 0,
            hits: 0,
            next_stress: 0,
            all_created: 0,
        };
        worker.refresh();
        worker
    }

    /// After lengths have changed, and nodes were freed.
    pub(super) fn refresh(&mut self) {
        // Relaxed: they changed before a meeting of all workers, or before this worker began.
        self.index_slots = self.shared.control.lengths.index_slots.load(Ordering::Relaxed);
        self.cache_entries = self.shared.control.lengths.cache_entries.load(Ordering::Relaxed);
        self.mark_words = self.shared.control.lengths.mark_words.load(Ordering::Relaxed);
        self.next_stress = self.shared.stress.map_or(u64::MAX, |every| self.all_created + every);
    }

    // ---- the hot path -------------------------------------------------------------------------------------------

    /// The node that `f` refers to, ignoring the complement mark.
    #[inline]
    pub fn node(&self, f: Ref) -> Node {
        self.nodes[f.index() as usize].get()
    }

    /// Level of the top variable of `f`.
    #[inline]
    pub fn level(&self, f: Ref) -> u32 {
        self.nodes[f.index() as usize].level()
    }

    /// Fetch the node of `f` into the processor's cache.
    #[inline]
    pub fn prefetch_node(&self, f: Ref) {
        prefetch(self.nodes.as_ptr().wrapping_add(f.index() as usize));
    }

    /// The canonical function `if level then high else low`: found, or made. Never waits, never collects.
    #[inline]
    pub fn make(&mut self, level: u32, low: Ref, high: Ref) -> Result<Ref, Blocked> {
        if low == high {
            return Ok(low);
        }
        let negate = low.is_complement();
        let node = Node { level, low: low.negate_if(negate), high: high.negate_if(negate), spare: 0 };
        self.find_or_put(node).map(|position| Ref::new(position, negate))
    }

    /// The set that [`Solo::make_list`](crate::Solo::make_list) describes: found, or made. Never waits, never collects.
    #[inline]
    pub fn make_list(&mut self, value: u32, down: Ref, right: Ref) -> Result<Ref, Blocked> {
        self.find_or_put(Node::list(value, down, right)).map(|position| Ref::new(position, false))
    }

    /// As [`TableWorker::make`], for a node that belongs to this part of a divided table: not trivial, `low` not
    /// complemented.
    #[inline]
    pub fn make_here(&mut self, node: Node) -> Result<Ref, Blocked> {
        self.find_or_put(node).map(|position| self.division.global(position))
    }

    /// The node that `f` refers to, if it belongs to this part of a divided table.
    #[inline]
    pub fn node_here(&self, f: Ref) -> Option<Node> {
        self.division.local(f).map(|position| self.nodes[position as usize].get())
    }

    /// The level of `f`, if it belongs to this part of a divided table.
    #[inline]
    pub fn level_here(&self, f: Ref) -> Option<u32> {
        self.division.local(f).map(|position| self.nodes[position as usize].level())
    }

    /// Fetch the node of `f`, if it belongs to this part, into the processor's cache.
    #[inline]
    pub fn prefetch_here(&self, f: Ref) -> bool {
        let position = self.division.local(f);
        if let Some(position) = position {
            prefetch(self.nodes.as_ptr().wrapping_add(position as usize));
        }
        position.is_some()
    }

    /// Which part of the table this is.
    #[inline]
    pub fn division(&self) -> Division {
        self.division
    }

    #[inline]
    fn find_or_put(&mut self, node: Node) -> Result<u32, Blocked> {
        let hash = Node::hash(node.level, node.low, node.high);
        let (nodes, index) = (self.nodes, self.index);
        let mut written = None;
        probing::walk(hash, self.index_slots, |slot| {
            let mut word = index[slot].get();
            if word == IndexWord::EMPTY {
                let position = match written {
                    Some(position) => position,
                    None if self.has_room() => {
                        let position = self.allocation.next();
                        nodes[position as usize].set(node);
                        *written.insert(position)
                    }
                    None => return Some(Err(self.why_no_room())),
                };
                match index[slot].occupy(IndexWord::new(hash, position)) {
                    Ok(()) => {
                        self.allocation.advance();
                        self.created += 1;
                        return Some(Ok(position));
                    }
                    // Somebody was faster, perhaps with the same node. The granule stays the next one to be used.
                    Err(other) => word = other,
                }
            }
            let found =
                (!tuning::INDEX_TAGS || word.tag_matches(hash)) && nodes[word.position() as usize].get() == node;
            found.then(|| Ok(word.position()))
        })
    }

    /// The cached result for `key`, whose hash is `hash`.
    #[inline]
    pub fn cache_get(&mut self, hash: u64, key: Key) -> Option<Ref> {
        let entry = self.cache[cache_slot(hash, self.cache_entries)].get();
        let found = entry.result_for(key);
        self.lookups += 1;
        self.hits += u64::from(found.is_some());
        found
    }

    /// Remember a result.
    #[inline]
    pub fn cache_put(&mut self, hash: u64, key: Key, result: Ref) {
        self.cache[cache_slot(hash, self.cache_entries)].set(Entry::new(key, result));
    }

    /// Fetch the cache line for `hash`.
    #[inline]
    pub fn cache_prefetch(&self, hash: u64) {
        prefetch(self.cache.as_ptr().wrapping_add(cache_slot(hash, self.cache_entries)));
    }

    /// Protect `f` until the matching [`TableWorker::release`].
    #[inline]
    pub fn keep(&mut self, f: Ref) {
        self.shadow.push(f);
    }

    /// Drop the protection of the last `count` kept functions.
    #[inline]
    pub fn release(&mut self, count: usize) {
        self.shadow.truncate(self.shadow.len() - count);
    }

    /// The function kept `back` places before the last one.
    #[inline]
    pub fn kept(&self, back: usize) -> Ref {
        self.shadow[self.shadow.len() - 1 - back]
    }

    /// Protect `f` in place of the function kept `back` places before the last one.
    #[inline]
    pub fn keep_instead(&mut self, back: usize, f: Ref) {
        let last = self.shadow.len() - 1;
        self.shadow[last - back] = f;
    }

    /// Depth of the shadow stack, to return to with [`TableWorker::unwind`].
    pub fn depth(&self) -> usize {
        self.shadow.len()
    }

    /// Forget everything kept above `depth` (after an error).
    pub fn unwind(&mut self, depth: usize) {
        self.shadow.truncate(depth);
    }

    /// Account for one expansion, and now and then look whether the operation is to end. True when a safepoint would be
    /// good, in which the cache can grow.
    #[inline]
    pub fn burn(&mut self) -> Result<bool, Interrupt> {
        self.fuel -= 1;
        if self.fuel == 0 { self.look() } else { Ok(false) }
    }

    // ---- allocation ---------------------------------------------------------------------------------------------

    #[inline]
    fn has_room(&mut self) -> bool {
        (self.allocation.has_room() || self.find_room()) && self.all_created + self.created < self.next_stress
    }

    #[cold]
    fn find_room(&mut self) -> bool {
        let (shared, words) = (self.shared, self.mark_words);
        let size = (words / (shared.workers * 16)).clamp(1, CLAIM);
        let claim = || {
            // Relaxed: the number alone decides whose words these are.
            let start = shared.control.next_word.fetch_add(size, Ordering::Relaxed);
            (start < words).then(|| start..(start + size).min(words))
        };
        self.allocation.find_room(|word| shared.live.items()[word].get(), claim)
    }

    #[cold]
    fn why_no_room(&self) -> Blocked {
        // Relaxed: set in a safepoint, before a meeting of all workers.
        if self.shared.control.full.load(Ordering::Relaxed) {
            Blocked::Interrupt(Interrupt::TableFull)
        } else {
            Blocked::NoRoom
        }
    }

    // ---- now and then -------------------------------------------------------------------------------------------

    #[cold]
    fn look(&mut self) -> Result<bool, Interrupt> {
        self.fuel = EXPANSIONS_PER_LOOK;
        let lookups = self.report();
        let shared = self.shared;
        self.look_up()?;
        // Relaxed: `full` as in `why_no_room`; the other is a hint, and changes in safepoints only.
        if shared.control.full.load(Ordering::Relaxed) {
            return Err(Interrupt::TableFull);
        }
        Ok(lookups >= shared.control.next_cache_check.load(Ordering::Relaxed))
    }

    /// Look whether the operation is to end, though this worker expands nothing.
    pub fn look_up(&self) -> Result<(), Interrupt> {
        let Shared { attention, control, .. } = self.shared;
        // Relaxed, both: the word itself is the whole message, which those pass on who hear of it.
        if attention.is_set() && attention.attend(&self.shared.counters()).is_err() {
            control.cancelled.store(true, Ordering::Relaxed);
        }
        if control.cancelled.load(Ordering::Relaxed) { Err(Interrupt::Cancelled) } else { Ok(()) }
    }

    /// Does somebody wait for a safepoint?
    #[inline]
    pub fn safepoint_is_due(&self) -> bool {
        // Relaxed: a hint to come to the meeting, which orders everything.
        self.shared.control.due.load(Ordering::Relaxed) != 0
    }

    /// Add this worker's counts to those of all. Returns all look-ups of the operation.
    pub(super) fn report(&mut self) -> u64 {
        let totals = &self.shared.control.totals;
        // Relaxed: plain sums.
        totals.created.fetch_add(self.created, Ordering::Relaxed);
        totals.hits.fetch_add(self.hits, Ordering::Relaxed);
        let before = totals.lookups.fetch_add(self.lookups, Ordering::Relaxed);
        let sum = before + self.lookups;
        self.all_created += self.created;
        (self.created, self.hits, self.lookups) = (0, 0, 0);
        sum
    }

    /// The worker is done: report, and leave what it has not used to the next operation.
    pub fn leave(mut self) {
        self.report();
        self.shared.office().allocations[self.number - self.shared.here.start] = self.allocation;
    }
}
