//! A deque that nobody but its owner touches: thieves put their number into a request slot and wait for an answer.
//!
//! Pushing and popping are plain memory accesses. What is shared is the request slots, and one result cell for each task
//! that was given away; thieves write results there.

use super::{Asked, Deque};
use crate::cells::{Outcome, Parcel, ResultCells};
use crate::plain::Plain;
use crate::sync::{AtomicU32, Ordering};
use crossbeam_utils::CachePadded;

/// No request.
const VACANT: u32 = 0;
/// No requests are accepted.
const CLOSED: u32 = u32::MAX;

/// A private deque, as others see it. Slots hold the number of a thief plus one.
#[repr(C)]
pub struct Private {
    requests: [CachePadded<AtomicU32>; MOST_SLOTS],
    /// How many of these are in use.
    slots: usize,
    results: ResultCells,
}

/// Thieves that can wait for one victim at a time.
const MOST_SLOTS: usize = 8;

/// A private deque, as its owner sees it: `tasks[..thieves.len()]` were given away, to these workers.
pub struct Own<T> {
    tasks: Vec<T>,
    thieves: Vec<u32>,
    number: u32,
}

impl Private {
    fn requests(&self) -> &[CachePadded<AtomicU32>] {
        &self.requests[..self.slots]
    }
}

/// For a gate, which has no tasks of its own: results of those that it has taken in.
#[cfg(not(any(loom, shuttle)))]
impl Private {
    /// A result is to arrive at `position`.
    pub(crate) fn expect(&self, position: u32) {
        self.results.cell(position as usize).expect();
    }

    /// What became of it.
    pub(crate) fn outcome(&self, position: u32) -> Outcome {
        self.results.cell(position as usize).outcome()
    }
}

impl Deque for Private {
    type Owner<T: Plain> = Own<T>;

    fn new(request_slots: usize) -> Private {
        Private {
            requests: std::array::from_fn(|_| CachePadded::new(AtomicU32::new(CLOSED))),
            slots: request_slots.clamp(1, MOST_SLOTS),
            results: ResultCells::default(),
        }
    }

    fn open<T: Plain>(&self, number: usize) -> Own<T> {
        for slot in self.requests() {
            // Relaxed: a request is a number and publishes nothing but itself.
            slot.store(VACANT, Ordering::Relaxed);
        }
        Own { tasks: Vec::with_capacity(256), thieves: Vec::new(), number: number as u32 }
    }

    fn close(&self) -> bool {
        self.requests().iter().all(|slot| {
            // Relaxed: as in `open`.
            let closed = slot.compare_exchange(VACANT, CLOSED, Ordering::Relaxed, Ordering::Relaxed);
            matches!(closed, Ok(_) | Err(CLOSED))
        })
    }

    #[inline]
    fn push<T: Plain>(&self, owner: &mut Own<T>, task: T) {
        owner.tasks.push(task);
    }

    #[inline]
    fn pop<T: Plain>(&self, owner: &mut Own<T>) -> Option<T> {
        if owner.tasks.len() > owner.thieves.len() { owner.tasks.pop() } else { None }
    }

    #[inline]
    fn len<T: Plain>(owner: &Own<T>) -> usize {
        owner.tasks.len()
    }

    fn spare<T: Plain>(&self, owner: &Own<T>) -> usize {
        owner.tasks.len().min(ResultCells::MOST).saturating_sub(owner.thieves.len())
    }

    fn oldest<T: Plain>(&self, owner: &Own<T>) -> Option<T> {
        let position = owner.thieves.len();
        if position < ResultCells::MOST { owner.tasks.get(position).copied() } else { None }
    }

    fn give<T: Plain>(&self, owner: &mut Own<T>, thief: usize) -> Option<Parcel<T>> {
        let task = self.oldest(owner)?;
        let position = owner.thieves.len();
        self.results.cell(position).expect();
        owner.thieves.push(thief as u32);
        Some(Parcel { task, victim: owner.number, position: position as u32 })
    }

    fn youngest<T: Plain>(&self, owner: &Own<T>) -> (Outcome, usize) {
        let position = owner.tasks.len() - 1;
        (self.results.cell(position).outcome(), owner.thieves[position] as usize)
    }

    fn forget_youngest<T: Plain>(&self, owner: &mut Own<T>) {
        owner.tasks.pop();
        owner.thieves.pop();
    }

    fn arrived<T: Plain>(&self, owner: &Own<T>, each: &mut dyn FnMut(u64)) {
        for position in 0..owner.thieves.len() {
            if let Outcome::Done(value) = self.results.cell(position).outcome() {
                each(value);
            }
        }
    }

    fn ask<T: Plain>(&self, thief: usize) -> Asked<T> {
        let me = thief as u32 + 1;
        let enter = |slot: &CachePadded<AtomicU32>| {
            // Relaxed read: saves the exchange where it would fail. Release pairs with the Acquire in `next_request`: the
            // thief's transfer cell expects an answer.
            slot.load(Ordering::Relaxed) == VACANT
                && slot.compare_exchange(VACANT, me, Ordering::Release, Ordering::Relaxed).is_ok()
        };
        if self.requests().iter().any(enter) { Asked::Wait } else { Asked::Refused }
    }

    fn next_request<T: Plain>(&self, _: &mut Own<T>) -> Option<usize> {
        self.requests().iter().find_map(|slot| {
            // Relaxed: only the owner takes numbers out; the exchange below reads the slot again.
            let number = slot.load(Ordering::Relaxed);
            if number == VACANT || number == CLOSED {
                return None;
            }
            // Acquire pairs with the Release in `ask`.
            let number = slot.swap(VACANT, Ordering::Acquire);
            Some(number as usize - 1)
        })
    }

    fn deliver(&self, position: u32, result: Option<u64>) {
        self.results.cell(position as usize).deliver(result);
    }
}
