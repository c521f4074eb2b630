//! What all workers of a pool see of each other.

use crate::attention::{Attention, POISON, USER_SHIFT};
use crate::cells::Transfer;
use crate::common::Common;
use crate::deque::Deque;
use crate::patience::Patience;
use crate::statistics::Statistics;
use crate::sync::{AtomicBool, Mutex, Ordering};
use crossbeam_utils::CachePadded;
use std::any::Any;
use std::ops::Range;

/// One worker, as the others see it.
#[repr(C)]
pub struct Mate<D> {
    pub attention: Attention,
    pub transfer: CachePadded<Transfer>,
    pub deque: D,
}

impl<D: Deque> Mate<D> {
    /// One who does not work yet.
    pub fn new(patience: Patience, request_slots: usize) -> Mate<D> {
        Mate {
            attention: Attention::new(patience),
            transfer: CachePadded::new(Transfer::new()),
            deque: D::new(request_slots),
        }
    }
}

/// All workers of a pool, as one process sees them.
pub struct Crew<D> {
    common: Common<D>,
    /// Numbers of those who are threads of this process.
    here: Range<usize>,
    /// Is the first of them a gate, from which tasks go to other hosts?
    gated: AtomicBool,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    statistics: Mutex<Statistics>,
}

impl<D: Deque> Crew<D> {
    /// Workers of this process.
    pub fn new(workers: usize, request_slots: usize) -> Crew<D> {
        Crew::with(Common::own(workers, request_slots), 0..workers)
    }

    /// Workers who have this in common, and of whom these are threads of this process.
    pub fn with(common: Common<D>, here: Range<usize>) -> Crew<D> {
        Crew {
            common,
            here,
            gated: AtomicBool::new(false),
            panic: Mutex::new(None),
            statistics: Mutex::new(Statistics::default()),
        }
    }

    /// All workers, by number.
    #[inline]
    pub fn mates(&self) -> &[Mate<D>] {
        self.common.mates()
    }

    /// Is this worker a thread of this process?
    pub fn is_here(&self, number: usize) -> bool {
        self.here.contains(&number)
    }

    /// Does a task stay in this process if this worker gets it?
    pub fn is_near(&self, number: usize) -> bool {
        // Relaxed: said before the run, whose beginning publishes it.
        self.is_here(number) && !(number == self.here.start && self.gated.load(Ordering::Relaxed))
    }

    /// In the next run, the first worker is a gate, or none is. Before it begins.
    pub fn set_gated(&self, gated: bool) {
        // Relaxed: as above.
        self.gated.store(gated, Ordering::Relaxed);
    }

    /// Raise `bits` for all workers.
    pub fn raise_all(&self, bits: u32) {
        self.mates().iter().for_each(|mate| mate.attention.raise(bits));
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

    /// The first panic of the run in this process, if there was one.
    pub fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        self.panic.lock().expect("nobody panics with this lock").take()
    }

    /// All other workers enter a run, in which a worker that waits takes no task on with less stack than this.
    pub fn enter_all(&self, least_stack: usize) {
        let header = self.common.header();
        // Relaxed, both: published to them by the attention bit that starts them.
        header.least_stack.store(least_stack, Ordering::Relaxed);
        header.present.store(self.mates().len() - 1, Ordering::Relaxed);
    }

    /// What [`Crew::enter_all`] said. By a worker that was started.
    pub fn least_stack(&self) -> usize {
        // Relaxed: ordered by the attention bit.
        self.common.header().least_stack.load(Ordering::Relaxed)
    }

    /// A worker has left the run; true for the last one.
    pub fn leave(&self) -> bool {
        // AcqRel: what a worker did in the run comes before the return of the one that started it.
        self.common.header().present.fetch_sub(1, Ordering::AcqRel) == 1
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
