//! Workers of several processes, on a ground that all of these address.
//!
//! The process that leads has the first worker, and starts runs. All other workers, its own and those of other processes,
//! are threads that wait for runs and take part in them, each with its own view of the work.

use crate::attention::QUIT;
use crate::common::Common;
use crate::crew::Crew;
use crate::deque::Private;
use crate::pool::{Panicked, StealAmount, conduct, follow, wait_for_start};
use crate::statistics::Statistics;
use crate::worker::{Work, Worker};
use tremula_fabric::Ground;

/// Thieves that can wait for one victim at a time.
const REQUEST_SLOTS: usize = 2;

/// All workers, as one process sees them.
pub struct Allies {
    crew: Crew<Private>,
}

impl Allies {
    /// Bytes of ground that so many workers need.
    pub fn bytes(workers: usize) -> usize {
        Common::bytes(workers)
    }

    /// Prepare the ground for so many workers, as the process that leads them, before any other process [joins](Allies::join).
    /// None if the ground is too small.
    pub fn lead(ground: Ground, workers: usize) -> Option<Allies> {
        Some(Allies { crew: Crew::with(Common::on(ground, workers, REQUEST_SLOTS, true)?) })
    }

    /// Join so many workers, on the ground that was prepared for them.
    pub fn join(ground: Ground, workers: usize) -> Option<Allies> {
        Some(Allies { crew: Crew::with(Common::on(ground, workers, REQUEST_SLOTS, false)?) })
    }

    /// How many workers there are, in all processes.
    pub fn workers(&self) -> usize {
        self.crew.mates().len()
    }

    /// Run `root` and everything it spawns to the end, as the first worker, one run at a time. A worker that waits takes no
    /// other task on when less stack than this is left.
    pub fn run<W: Work>(&self, work: &W, root: W::Task, least_stack: usize) -> Result<W::Answer, Panicked> {
        conduct(&self.crew, || self.worker(work, 0, least_stack), root, least_stack)
    }

    /// Wait for the next run, as worker `number`: the stack below which a worker that waits takes no other task on. None when
    /// there will be no more. After each run, [`Allies::take_part`].
    pub fn next_run(&self, number: usize) -> Option<usize> {
        wait_for_start(&self.crew.mates()[number].attention).then(|| self.crew.least_stack())
    }

    /// Take part in the run that has begun.
    pub fn take_part<W: Work>(&self, work: &W, number: usize, least_stack: usize) {
        follow(&self.crew, || {
            let mut worker = self.worker(work, number, least_stack);
            worker.serve();
            worker.leave();
        });
    }

    /// There will be no more runs.
    pub fn dismiss(&self) {
        self.crew.raise_all(QUIT);
    }

    /// What the workers of this process have done.
    pub fn statistics(&self) -> Statistics {
        self.crew.statistics()
    }

    fn worker<'r, W: Work>(&'r self, work: &'r W, number: usize, least_stack: usize) -> Worker<'r, W, Private> {
        Worker::new(work, &self.crew, number, StealAmount::One, least_stack, &[])
    }
}
