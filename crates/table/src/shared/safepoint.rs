//! Safepoints: all workers stop, and together collect garbage or let the cache grow.
//!
//! A worker that needs one demands it; the first to do so has to alert the others, by means of its own choice. A
//! safepoint is a sequence of steps with a meeting of all workers ([`Rendezvous`](super::rendezvous)) after each. In a
//! step every worker does its share of a table, except where the first worker does it alone; so inside a step no two
//! workers write the same words, but for marking and for rebuilding the index, which are made for it.

use super::Shared;
use super::attendance::Attendance;
use super::cells::{IndexCell, MarkCell, mark_of};
use super::rendezvous::Broken;
use super::worker::TableWorker;
use crate::attention::Interrupt;
use crate::cache::Entry;
use crate::layout::{IndexWord, LEAST_CACHE_ENTRIES, Node, Ref, cache_slot, index_slot};
use crate::sync::{Ordering, unless_modelled};
use crate::{probing, tuning};
use bytemuck::Zeroable;
use std::cell::RefCell;
use std::ops::Range;
use std::time::Instant;

const COLLECT: u32 = 1;
const GROW_CACHE: u32 = 2;

/// Parts of the cache smaller than this are moved by one worker.
const SMALL: usize = unless_modelled(1 << 14, LEAST_CACHE_ENTRIES);

/// After a panic elsewhere the operation has no result anyway.
fn cancelled(_: Broken) -> Interrupt {
    Interrupt::Cancelled
}

impl TableWorker<'_, '_> {
    /// Ask for a collection. True for the first who asks: it must alert all others, so that they come to
    /// [`TableWorker::take_part`], as it must itself.
    pub fn demand_collection(&self) -> bool {
        self.demand(COLLECT)
    }

    /// Ask for a larger cache; otherwise as [`TableWorker::demand_collection`].
    pub fn demand_cache(&self) -> bool {
        self.demand(GROW_CACHE)
    }

    fn demand(&self, reason: u32) -> bool {
        // AcqRel: one worker is the first; a demand is made between two safepoints, never across one.
        self.shared.control.due.fetch_or(reason, Ordering::AcqRel) == 0
    }

    /// Take part in a safepoint of a whole table that somebody has demanded, with [`Attendance::begun`].
    pub fn take_part(&mut self, begun: impl FnMut(&mut Vec<Ref>)) -> Result<(), Interrupt> {
        self.attend(begun)
    }

    /// Take part in a safepoint that somebody has demanded. From [`Attendance::begun`] on an alert is about the next one.
    pub fn attend(&mut self, mut attendance: impl Attendance) -> Result<(), Interrupt> {
        self.report();
        self.meet_and_work(&mut attendance).map_err(cancelled)
    }

    fn meet_and_work(&mut self, attendance: &mut impl Attendance) -> Result<(), Broken> {
        let shared = self.shared;
        shared.control.rendezvous.meet()?;
        // Relaxed: demands came before the meeting, and the next ones come after the last.
        let collects = shared.control.due.load(Ordering::Relaxed) & COLLECT != 0;
        if collects && self.division.is_divided() {
            if self.number == 0 {
                attendance.settle(self);
            }
            shared.control.rendezvous.meet()?;
        }
        let mut roots = Vec::new();
        attendance.begun(&mut roots);
        if collects {
            self.collect(&roots, attendance)?
        } else {
            self.grow_cache_only()?
        }
        self.end_safepoint()
    }

    fn end_safepoint(&mut self) -> Result<(), Broken> {
        self.refresh();
        if self.number == 0 {
            // Relaxed: the last meeting orders it before the next demand.
            self.shared.control.due.store(0, Ordering::Relaxed);
        }
        self.shared.control.rendezvous.meet()
    }

    /// This worker's share of `length` things, in whole multiples of `unit`.
    fn share_of(&self, length: usize, unit: usize) -> Range<usize> {
        part(length, unit, self.number, self.shared.workers)
    }

    // ---- collection ---------------------------------------------------------------------------------------------

    fn collect(&mut self, roots: &[Ref], attendance: &mut impl Attendance) -> Result<(), Broken> {
        let shared = self.shared;
        let start = Instant::now();
        self.clear_marks();
        shared.control.rendezvous.meet()?;
        // Those of the owner are known to its workers only.
        let common = &shared.roots[part(shared.roots.len(), 1, self.number - shared.here.start, shared.here.len())];
        let kept = std::mem::take(&mut self.shadow);
        self.mark(common.iter().chain(&kept).chain(roots));
        self.shadow = kept;
        shared.control.rendezvous.meet()?;
        if self.division.is_divided() {
            self.mark_across(attendance)?;
        }
        // New lengths are for after the next meeting; until then all go by their copies of the old ones.
        if self.number == 0 {
            self.decide_sizes();
        }
        self.poison_dead();
        self.retain_cache();
        self.clear_index();
        attendance.collected(&|f| self.is_live(f));
        shared.control.rendezvous.meet()?;
        self.rebuild_index();
        // Relaxed: written before a meeting.
        self.resize_cache(self.cache_entries, shared.control.lengths.cache_entries.load(Ordering::Relaxed))?;
        shared.control.rendezvous.meet()?;
        if self.number == 0 {
            self.close_books(start);
        }
        self.allocation = crate::allocation::Allocation::default();
        Ok(())
    }

    fn clear_marks(&self) {
        self.shared.live.items()[self.share_of(self.mark_words, 64)].iter().for_each(|word| word.set(0));
        if self.number == 0 {
            self.shared.control.marking.restart();
            // Relaxed: the others add to it after the next meeting.
            self.shared.control.marked.store(0, Ordering::Relaxed);
        }
        if self.number == 0
            && self.division.is_divided()
            && let Some(foreign) = &self.shared.foreign
        {
            // SAFETY: these marks are used in safepoints only, and in this one from the next meeting on.
            unsafe { foreign.give_back(0, self.division.positions() / u64::BITS as usize) };
        }
    }

    /// Mark what is below `roots` in this part, and note where that leads into others.
    fn mark<'r>(&mut self, roots: impl Iterator<Item = &'r Ref>) {
        let (shared, nodes, live) = (self.shared, self.shared.nodes.items(), self.shared.live.items());
        let (division, foreign) = (self.division, self.shared.foreign());
        let mut count = 0;
        let found = RefCell::new(Vec::new());
        // The position of a node of this part that is met for the first time.
        let first = |f: Ref| match division.local(f) {
            Some(0) => None,
            Some(position) => {
                let (word, bit) = mark_of(position);
                live[word].insert(bit).then_some(position)
            }
            None => {
                let (word, bit) = mark_of(f.index());
                if foreign[word].insert(bit) {
                    found.borrow_mut().push(f.regular());
                }
                None
            }
        };
        let mut stack = std::mem::take(&mut self.mark_stack);
        stack.extend(roots.filter_map(|&f| first(f)));
        let fetch = |position: u32| shared.nodes.prefetch(position as usize);
        shared.control.marking.run(&mut stack, fetch, |position, stack| {
            count += 1;
            let node = nodes[position as usize].get();
            stack.extend([node.low, node.high].into_iter().filter_map(first));
        });
        self.mark_stack = stack;
        shared.found().append(&mut found.into_inner());
        // Relaxed: a plain sum, read after a meeting.
        shared.control.marked.fetch_add(count, Ordering::Relaxed);
        if self.number == 0 {
            live[0].insert(1);
        }
    }

    /// Go on marking what other parts have found in this one, until no part finds more. Afterwards the marks of all parts are
    /// known here.
    fn mark_across(&mut self, attendance: &mut impl Attendance) -> Result<(), Broken> {
        let shared = self.shared;
        loop {
            if self.number == 0 {
                let found = std::mem::take(&mut *shared.found());
                *shared.told() = attendance.exchange(found);
                shared.control.marking.restart();
            }
            shared.control.rendezvous.meet()?;
            let share = shared.told().as_ref().map(|told| told[self.share_of(told.len(), 1)].to_vec());
            let Some(share) = share else { break };
            self.mark(share.iter());
            shared.control.rendezvous.meet()?;
        }
        if self.number == 0 {
            self.learn_marks(attendance);
        }
        shared.control.rendezvous.meet()
    }

    fn learn_marks(&self, attendance: &mut impl Attendance) {
        let own = self.shared.live.items()[..self.mark_words].iter().map(MarkCell::get).collect();
        for (part, marks) in attendance.exchange_marks(own).into_iter().enumerate() {
            if part != self.division.part() {
                let start = self.division.first_position(part) / u64::BITS as usize;
                let cells = &self.shared.foreign()[start..][..marks.len()];
                cells.iter().zip(marks).for_each(|(cell, marks)| cell.set(marks));
            }
        }
    }

    /// How large the tables are from now on. By one worker; the others still use their copies of the old lengths.
    fn decide_sizes(&self) {
        let shared = self.shared;
        // Relaxed: written before a meeting.
        let live = shared.control.marked.load(Ordering::Relaxed);
        let (sizes, room) = shared.with_books(|books| {
            let sizes = books.sizes_after_collection(live);
            books.set_sizes(sizes);
            books.note_collection(live);
            books.counters.collections += 1;
            (sizes, books.options.sizing.has_room(live, sizes.nodes))
        });
        shared.control.lengths.set(sizes);
        // Relaxed: the next meeting orders both.
        shared.control.full.store(!room, Ordering::Relaxed);
        shared.control.next_word.store(0, Ordering::Relaxed);
    }

    fn close_books(&self, start: Instant) {
        let counters = self.shared.with_books(|books| {
            books.counters.collection_micros += start.elapsed().as_micros() as u64;
            books.present()
        });
        self.shared.attention.publish(&counters);
    }

    fn is_live(&self, f: Ref) -> bool {
        let (marks, (word, bit)) = match self.division.local(f) {
            Some(position) => (self.shared.live.items(), mark_of(position)),
            None => (self.shared.foreign(), mark_of(f.index())),
        };
        marks[word].get() & bit != 0
    }

    /// In stress mode a use of a freed node cannot go unnoticed.
    fn poison_dead(&self) {
        if self.shared.stress.is_none() {
            return;
        }
        for position in self.share_of(self.mark_words * 64, 64) {
            let (word, bit) = mark_of(position as u32);
            if self.shared.live.items()[word].get() & bit == 0 {
                self.shared.nodes.items()[position].set(Node::POISON);
            }
        }
    }

    fn retain_cache(&self) {
        for cell in &self.shared.cache.items()[self.share_of(self.cache_entries, LEAST_CACHE_ENTRIES)] {
            let entry = cell.get();
            if !(entry.is_empty() || tuning::KEEP_CACHE && entry.lives(|f| self.is_live(f))) {
                cell.set(Entry::zeroed());
            }
        }
    }

    fn clear_index(&self) {
        let share = self.share_of(self.index_slots, probing::LINE);
        self.shared.index.items()[share].iter().for_each(IndexCell::clear);
    }

    /// Insert this worker's share of the surviving nodes.
    fn rebuild_index(&self) {
        /// Far enough ahead for the line to arrive, near enough for it to stay.
        const AHEAD: usize = 8;
        let shared = self.shared;
        // Relaxed: written before a meeting.
        let slots = shared.control.lengths.index_slots.load(Ordering::Relaxed);
        let words = shared.control.lengths.mark_words.load(Ordering::Relaxed);
        let mut window = [(0, 0); AHEAD];
        let mut count = 0;
        let insert = |(hash, position): (u64, u32)| {
            if position != 0 {
                insert_new(shared, slots, hash, position);
            }
        };
        for word in self.share_of(words, 64) {
            let mut bits = shared.live.items()[word].get();
            while bits != 0 {
                let position = word as u32 * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                if position == 0 {
                    continue;
                }
                let node = shared.nodes.items()[position as usize].get();
                let hash = Node::hash(node.level, node.low, node.high);
                shared.index.prefetch(index_slot(hash, slots));
                insert(std::mem::replace(&mut window[count % AHEAD], (hash, position)));
                count += 1;
            }
        }
        window.into_iter().for_each(insert);
    }

    // ---- the cache ----------------------------------------------------------------------------------------------

    fn grow_cache_only(&mut self) -> Result<(), Broken> {
        let (shared, old) = (self.shared, self.cache_entries);
        if self.number == 0 {
            // Relaxed: all have reported before a meeting.
            let lookups = shared.control.totals.lookups.load(Ordering::Relaxed);
            let (sizes, next) = shared.with_books(|books| {
                let sizes = books.sizes_after_misses();
                books.set_sizes(sizes);
                (sizes, books.next_cache_check + lookups - books.counters.lookups)
            });
            shared.control.lengths.set(sizes);
            // Relaxed: a hint.
            shared.control.next_cache_check.store(next, Ordering::Relaxed);
        }
        shared.control.rendezvous.meet()?;
        // Relaxed: written before a meeting.
        self.resize_cache(old, shared.control.lengths.cache_entries.load(Ordering::Relaxed))
    }

    /// Move all entries to where they belong in a cache of another length.
    fn resize_cache(&self, old: usize, new: usize) -> Result<(), Broken> {
        if new > old {
            return self.spread_cache(old, new);
        }
        if new < old {
            // The budget is exhausted, and the cache has to make room for nodes: it starts again.
            let cells = self.shared.cache.items();
            cells[self.share_of(new, LEAST_CACHE_ENTRIES)].iter().for_each(|cell| cell.set(Entry::zeroed()));
            if self.number == 0 {
                // SAFETY: all workers are in this safepoint, and none of them uses entries beyond the new length.
                unsafe { self.shared.cache.give_back(new, old) };
            }
        }
        Ok(())
    }

    /// Move entries up, in rounds from above: those of one round go to where none are left.
    fn spread_cache(&self, old: usize, new: usize) -> Result<(), Broken> {
        let blocks = |entries: usize| entries / LEAST_CACHE_ENTRIES;
        let mut end = blocks(old) * LEAST_CACHE_ENTRIES;
        while end > SMALL {
            // The first block all of whose entries go to `end` or beyond.
            let begin = (blocks(end) * blocks(old)).div_ceil(blocks(new)) * LEAST_CACHE_ENTRIES;
            if begin >= end {
                break;
            }
            let part = self.share_of(end - begin, LEAST_CACHE_ENTRIES);
            (begin + part.start..begin + part.end).for_each(|slot| self.rehome(slot, new));
            self.shared.control.rendezvous.meet()?;
            end = begin;
        }
        if self.number == 0 {
            (0..end).rev().for_each(|slot| self.rehome(slot, new));
        }
        Ok(())
    }

    fn rehome(&self, slot: usize, entries: usize) {
        let cells = self.shared.cache.items();
        let entry = cells[slot].get();
        if !entry.is_empty() {
            cells[slot].set(Entry::zeroed());
            cells[cache_slot(entry.key().hash(), entries)].set(entry);
        }
    }
}

/// Part `number` of so many parts of `length` things, in whole multiples of `unit`.
fn part(length: usize, unit: usize, number: usize, parts: usize) -> Range<usize> {
    let units = length.div_ceil(unit);
    let at = |number: usize| (units * number / parts * unit).min(length);
    at(number)..at(number + 1)
}

/// Insert a node that is known to be absent.
fn insert_new(shared: &Shared<'_>, slots: usize, hash: u64, position: u32) {
    let index = shared.index.items();
    probing::walk(hash, slots, |slot| {
        let vacant = index[slot].get() == IndexWord::EMPTY;
        (vacant && index[slot].occupy(IndexWord::new(hash, position)).is_ok()).then_some(())
    });
}
