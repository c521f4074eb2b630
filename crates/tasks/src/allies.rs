//! Workers of several processes, on a ground that all of these address.
//!
//! The process that leads has the first worker, and starts runs. All other workers, its own and those of other processes,
//! are threads that wait for runs and take part in them, each with its own view of the work.
//!
//! A worker turns to those of its own process first, then to those of others, the nearest process first where that is
//! [known](Allies::with_distances). What a task costs on its way grows with the distance, so one that goes far has to be
//! large enough ([`Tactics::least_far`]).

use crate::attention::QUIT;
use crate::common::Common;
use crate::crew::Crew;
use crate::deque::Private;
use crate::pool::{Panicked, conduct, follow, wait_for_start};
use crate::statistics::Statistics;
use crate::tactics::Tactics;
use crate::worker::{Work, Worker};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use tremula_fabric::{Distance, Ground};

/// What all processes agree on.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Alliance {
    /// How many processes there are.
    pub processes: usize,
    /// Workers of each.
    pub each: usize,
    /// How work changes hands.
    pub tactics: Tactics,
}

impl Alliance {
    /// Workers of all processes.
    pub fn workers(&self) -> usize {
        self.processes * self.each
    }

    /// Numbers of the workers of a process.
    pub fn numbers(&self, process: usize) -> Range<usize> {
        process * self.each..(process + 1) * self.each
    }

    /// Bytes of ground that they need.
    pub fn bytes(&self) -> usize {
        Common::bytes(self.workers())
    }
}

/// All workers, as one process sees them.
pub struct Allies {
    crew: Crew<Private>,
    alliance: Alliance,
    /// How far each worker is from those of this process.
    distances: Vec<u8>,
    /// Is a run of this process under way?
    runs: AtomicBool,
}

impl Allies {
    /// Prepare the ground for all workers, as the process that leads them, which is process 0, before any other process
    /// [joins](Allies::join). None if the ground is too small.
    pub fn lead(ground: Ground, alliance: &Alliance) -> Option<Allies> {
        Allies::on(ground, alliance, 0, true)
    }

    /// Join the others as this process, on the ground that was prepared for all.
    pub fn join(ground: Ground, alliance: &Alliance, process: usize) -> Option<Allies> {
        Allies::on(ground, alliance, process, false)
    }

    fn on(ground: Ground, alliance: &Alliance, process: usize, new: bool) -> Option<Allies> {
        let common = Common::on(ground, alliance.workers(), alliance.tactics.request_slots, new)?;
        let crew = Crew::with(common, alliance.numbers(process));
        // Without knowing more, all others are equally far.
        let allies = Allies { crew, alliance: *alliance, distances: Vec::new(), runs: AtomicBool::new(false) };
        Some(allies.with_distances(|_| Distance::Machine))
    }

    /// Tell how far other processes are from this one. Each process may know this in its own way.
    pub fn with_distances(mut self, of: impl Fn(usize) -> Distance) -> Allies {
        let distance = |number: usize| match self.crew.is_here(number) {
            true => 0,
            false => 1 + of(number / self.alliance.each) as u8,
        };
        self.distances = (0..self.alliance.workers()).map(distance).collect();
        self
    }

    /// How many workers there are, in all processes.
    pub fn workers(&self) -> usize {
        self.crew.mates().len()
    }

    /// Run `root` and everything it spawns to the end, as the first worker. A worker that waits takes no other task on when less
    /// stack than this is left.
    ///
    /// # Panics
    /// If another run is under way, or if this process does not lead.
    pub fn run<W: Work>(&self, work: &W, root: W::Task, least_stack: usize) -> Result<W::Answer, Panicked> {
        assert!(self.crew.is_here(0), "the first worker is of the process that leads");
        // Acquire pairs with the Release below: two first workers at a time would use the same cells.
        assert!(!self.runs.swap(true, Ordering::Acquire), "one run at a time");
        let outcome = conduct(&self.crew, || self.worker(work, 0, least_stack), root, least_stack);
        self.runs.store(false, Ordering::Release);
        outcome
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
        Worker::new(work, &self.crew, number, self.alliance.tactics, least_stack, &self.distances)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tremula_fabric::{Fabric, threads};

    /// Distances of workers as process 1 of three sees them.
    fn distances(tell: impl Fn(Allies) -> Allies + Sync) -> Vec<u8> {
        let alliance = Alliance { processes: 3, each: 2, tactics: Tactics::default() };
        let all = threads::run(1, |fabric| {
            let mut ground = Ground::new(fabric.allocate(Ground::words_for([alliance.bytes()])).unwrap(), 0).unwrap();
            let ground = ground.cut(alliance.bytes()).unwrap();
            tell(Allies::on(ground, &alliance, 1, true).unwrap()).distances
        });
        all.unwrap().remove(0)
    }

    #[test]
    fn workers_of_the_same_process_are_nearest() {
        let told = distances(|allies| allies);
        assert!(told[2..4] == [0, 0] && told[0] > 0, "{told:?}");
        assert!([0, 1, 4, 5].iter().all(|&other| told[other] == told[0]), "{told:?}");
    }

    #[test]
    fn near_processes_come_before_far_ones_and_after_the_own() {
        let near = |process| if process == 2 { Distance::Same } else { Distance::Socket };
        let told = distances(|allies| allies.with_distances(near));
        assert!(told[2..4] == [0, 0] && told[4] > 0 && told[4] == told[5], "{told:?}");
        assert!(told[0] > told[4] && told[0] == told[1], "{told:?}");
    }
}
