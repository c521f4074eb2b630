//! What all workers of a pool see of each other.

use crate::attention::{Attention, POISON, USER_SHIFT};
use crate::cells::Transfer;
use crate::deque::Deque;
use crate::patience::Patience;
use crate::statistics::Statistics;
use crate::sync::{AtomicUsize, Mutex, Ordering};
use crossbeam_utils::CachePadded;
use std::any::Any;

/// One worker, as the others see it.
pub struct Mate<D> {
    pub attention: Attention,
    pub transfer: CachePadded<Transfer>,
    pub deque: D,
}

/// All workers of a pool.
pub struct Crew<D> {
    pub mates: Box<[Mate<D>]>,
    /// Workers in the present run, beside the one that started it.
    present: AtomicUsize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    statistics: Mutex<Statistics>,
}

impl<D: Deque> Crew<D> {
    pub fn new(workers: usize, request_slots: usize) -> Crew<D> {
        let patience = Patience::of(workers);
        let mate = |_| Mate {
            attention: Attention::new(patience),
            transfer: CachePadded::new(Transfer::new()),
            deque: D::new(request_slots),
        };
        Crew {
            mates: (0..workers).map(mate).collect(),
            present: AtomicUsize::new(0),
            panic: Mutex::new(None),
            statistics: Mutex::new(Statistics::default()),
        }
    }

    /// Raise `bits` for all workers.
    pub fn raise_all(&self, bits: u32) {
        self.mates.iter().for_each(|mate| mate.attention.raise(bits));
    }

    /// Raise bits of the work for all workers.
    pub fn raise_user(&self, bits: u32) {
        self.raise_all(bits << USER_SHIFT);
    }

    /// A task has panicked: keep the first payload, and tell everybody.
    pub fn poison(&self, payload: Box<dyn Any + Send>) {
        let mut panic = self.panic.lock().expect("nobody panics with this lock");
        if !payload.is::<Abandoned>() {
            panic.get_or_insert(payload);
        }
        drop(panic);
        self.raise_all(POISON);
    }

    /// The first panic of the run, if there was one.
    pub fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        self.panic.lock().expect("nobody panics with this lock").take()
    }

    /// All other workers enter a run.
    pub fn enter_all(&self) {
        // Relaxed: published to them by the attention bit that starts them.
        self.present.store(self.mates.len() - 1, Ordering::Relaxed);
    }

    /// A worker has left the run; true for the last one.
    pub fn leave(&self) -> bool {
        // AcqRel: what a worker did in the run comes before the return of the one that started it.
        self.present.fetch_sub(1, Ordering::AcqRel) == 1
    }

    pub fn add_statistics(&self, part: &Statistics) {
        self.statistics.lock().expect("nobody panics with this lock").add(part);
    }

    pub fn statistics(&self) -> Statistics {
        self.statistics.lock().expect("nobody panics with this lock").clone()
    }
}

/// What unwinds a task whose run has been poisoned by another one.
pub struct Abandoned;
