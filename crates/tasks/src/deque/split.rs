//! A deque in two parts: the older tasks are open to thieves, the younger ones belong to the owner.
//!
//! One word holds both ends of the open part, `tail` and `split`. Thieves advance `tail`, the owner moves `split`, and
//! both do it by exchanging the whole word, so neither can miss what the other does. A thief reads a task after the
//! exchange that makes it its own; the owner leaves that slot alone until the result is there. A word that returns to an
//! earlier value is harmless for the same reason.
//!
//! A slot has words for a short task. A longer one takes several slots in a row, and its result is that of the first; so
//! short ones pay nothing for the long ones, of which there are fewer in the end.

use super::{Asked, Deque};
use crate::cells::{Outcome, Parcel, ResultCell};
use crate::plain::{Plain, Words};
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crossbeam_utils::CachePadded;

/// Tasks for which there is no slot stay with the owner.
const SLOTS: usize = if cfg!(any(loom, shuttle)) { 4 } else { 1 << 17 };

/// Words of a task that fits into one slot.
const SHORT: usize = 4;

/// The taker of a slot has not yet said who it is.
const UNKNOWN: u32 = u32::MAX;

#[derive(Default)]
struct Slot {
    words: [AtomicU64; SHORT],
    thief: AtomicU32,
    result: ResultCell,
}

/// A split deque, as others see it.
pub struct Split {
    ends: CachePadded<AtomicU64>,
    slots: Box<[Slot]>,
    number: AtomicU32,
}

/// A split deque, as its owner sees it. Its numbers, and those of the shared word, count tasks.
pub struct Own<T> {
    /// Tasks in slots.
    head: usize,
    /// Where the owner's part begins; never more than what the shared word says.
    split: usize,
    /// Tasks for which there was no slot.
    overflow: Vec<T>,
}

fn pack(tail: usize, split: usize) -> u64 {
    tail as u64 | (split as u64) << 32
}

fn unpack(ends: u64) -> (usize, usize) {
    (ends as u32 as usize, (ends >> 32) as usize)
}

/// Slots that a task takes.
const fn slots_of<T: Plain>() -> usize {
    if T::Words::LENGTH <= SHORT { 1 } else { T::Words::LENGTH.div_ceil(SHORT) }
}

/// Tasks that there are slots for.
const fn most_tasks<T: Plain>() -> usize {
    SLOTS / slots_of::<T>()
}

impl Split {
    /// The slots of a task, by its number.
    #[inline]
    fn slots<T: Plain>(&self, task: usize) -> &[Slot] {
        &self.slots[task * slots_of::<T>()..][..slots_of::<T>()]
    }

    #[inline]
    fn task<T: Plain>(&self, number: usize) -> T {
        let slots = self.slots::<T>(number);
        // Relaxed: the owner has written it, or it is ordered by the Acquire of the exchange that took the slot.
        T::from_words(T::Words::from_fn(|at| slots[at / SHORT].words[at % SHORT].load(Ordering::Relaxed)))
    }

    fn parcel<T: Plain>(&self, number: usize) -> Parcel<T> {
        // Relaxed: it changes only between runs.
        let victim = self.number.load(Ordering::Relaxed);
        Parcel { task: self.task(number), victim, position: (number * slots_of::<T>()) as u32 }
    }

    /// Exchange the ends, unless they are no longer `seen`.
    fn exchange(&self, seen: u64, wanted: u64) -> bool {
        // AcqRel: Release publishes the owner's tasks to thieves, Acquire makes them visible to the thief that succeeds.
        // Relaxed on failure: the word is read again.
        self.ends.compare_exchange(seen, wanted, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Open half of the owner's part, at least one task.
    fn open_more<T>(&self, owner: &mut Own<T>) {
        let wanted = (owner.split + owner.head).div_ceil(2);
        while owner.split < wanted {
            // Relaxed: the exchange checks it.
            let seen = self.ends.load(Ordering::Relaxed);
            if self.exchange(seen, pack(unpack(seen).0, wanted)) {
                owner.split = wanted;
            }
        }
    }

    /// Take the youngest open tasks back, half of them; false if all were taken.
    #[cold]
    fn take_back<T>(&self, owner: &mut Own<T>) -> bool {
        loop {
            // Relaxed: the exchange checks it.
            let seen = self.ends.load(Ordering::Relaxed);
            let (tail, split) = unpack(seen);
            if tail == split {
                return false;
            }
            let wanted = usize::midpoint(tail, split);
            if self.exchange(seen, pack(tail, wanted)) {
                owner.split = wanted;
                return true;
            }
        }
    }
}

impl Deque for Split {
    type Owner<T: Plain> = Own<T>;

    fn new(_: usize) -> Split {
        Split {
            ends: CachePadded::new(AtomicU64::new(0)),
            slots: (0..SLOTS).map(|_| Slot { thief: AtomicU32::new(UNKNOWN), ..Slot::default() }).collect(),
            number: AtomicU32::new(0),
        }
    }

    fn open<T: Plain>(&self, number: usize) -> Own<T> {
        // Relaxed: thieves learn of this deque's tasks only through `ends`, by Acquire.
        self.number.store(number as u32, Ordering::Relaxed);
        self.ends.store(0, Ordering::Relaxed);
        Own { head: 0, split: 0, overflow: Vec::new() }
    }

    fn close(&self) -> bool {
        true
    }

    #[inline]
    fn push<T: Plain>(&self, owner: &mut Own<T>, task: T) {
        if owner.head == most_tasks::<T>() {
            owner.overflow.push(task);
            return;
        }
        let (slots, words) = (self.slots::<T>(owner.head), task.to_words());
        for (at, &word) in words.as_ref().iter().enumerate() {
            // Relaxed: published by the exchange that opens the slot.
            slots[at / SHORT].words[at % SHORT].store(word, Ordering::Relaxed);
        }
        owner.head += 1;
    }

    #[inline]
    fn pop<T: Plain>(&self, owner: &mut Own<T>) -> Option<T> {
        if owner.head == most_tasks::<T>()
            && let Some(task) = owner.overflow.pop()
        {
            return Some(task);
        }
        if owner.head == owner.split && !self.take_back(owner) {
            return None;
        }
        owner.head -= 1;
        Some(self.task(owner.head))
    }

    #[inline]
    fn len<T: Plain>(owner: &Own<T>) -> usize {
        owner.head + owner.overflow.len()
    }

    fn spare<T: Plain>(&self, owner: &Own<T>) -> usize {
        // Relaxed: an estimate.
        owner.head - unpack(self.ends.load(Ordering::Relaxed)).0
    }

    fn oldest<T: Plain>(&self, owner: &Own<T>) -> Option<T> {
        // Relaxed: an estimate, too: a thief may take it meanwhile. The owner has written it, and nobody else writes there.
        let tail = unpack(self.ends.load(Ordering::Relaxed)).0;
        (tail < owner.head).then(|| self.task(tail))
    }

    fn give<T: Plain>(&self, owner: &mut Own<T>, thief: usize) -> Option<Parcel<T>> {
        if self.spare(owner) == 0 {
            return None;
        }
        self.open_more(owner);
        match self.ask(thief) {
            Asked::Loot(parcel) => Some(parcel),
            Asked::Refused | Asked::Alert | Asked::Wait => None,
        }
    }

    fn youngest<T: Plain>(&self, owner: &Own<T>) -> (Outcome, usize) {
        let slot = &self.slots::<T>(owner.head - 1)[0];
        // Relaxed: a hint whom to steal from.
        (slot.result.outcome(), slot.thief.load(Ordering::Relaxed) as usize)
    }

    fn forget_youngest<T: Plain>(&self, owner: &mut Own<T>) {
        owner.head -= 1;
        owner.split = owner.head;
        let slot = &self.slots::<T>(owner.head)[0];
        slot.result.expect();
        // Relaxed: a hint; and an empty open part offers nothing, so no thief changes the word meanwhile.
        slot.thief.store(UNKNOWN, Ordering::Relaxed);
        // Release: a thief of the slot's next task sees that its result is expected.
        self.ends.store(pack(owner.head, owner.head), Ordering::Release);
    }

    fn arrived<T: Plain>(&self, owner: &Own<T>, each: &mut dyn FnMut(u64)) {
        // Relaxed: the slots' own states are read with Acquire.
        let taken = unpack(self.ends.load(Ordering::Relaxed)).0;
        for number in 0..taken.min(owner.head) {
            if let Outcome::Done(value) = self.slots::<T>(number)[0].result.outcome() {
                each(value);
            }
        }
    }

    fn ask<T: Plain>(&self, thief: usize) -> Asked<T> {
        // Relaxed: the exchange checks it.
        let seen = self.ends.load(Ordering::Relaxed);
        let (tail, split) = unpack(seen);
        if tail >= split {
            return Asked::Alert;
        }
        if !self.exchange(seen, pack(tail + 1, split)) {
            return Asked::Refused;
        }
        // Relaxed: a hint for the owner.
        self.slots::<T>(tail)[0].thief.store(thief as u32, Ordering::Relaxed);
        Asked::Loot(self.parcel(tail))
    }

    fn next_request<T: Plain>(&self, owner: &mut Own<T>) -> Option<usize> {
        self.open_more(owner);
        None
    }

    fn deliver(&self, position: u32, result: Option<u64>) {
        self.slots[position as usize].result.deliver(result);
    }
}
