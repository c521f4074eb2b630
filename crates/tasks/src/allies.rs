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
use crate::patience::Patience;
use crate::pool::{AbortOnUnwind, Panicked, conduct, follow, wait_for_start};
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
    /// Are there fewer processors than workers? No process can tell by itself: a launcher may have divided them.
    pub crowd: bool,
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
        Allies::on(ground, alliance, 0, Some((Patience::in_crowd(alliance.crowd), alliance.tactics.request_slots)))
    }

    /// Join the others as this process, on the ground that was prepared for all.
    pub fn join(ground: Ground, alliance: &Alliance, process: usize) -> Option<Allies> {
        Allies::on(ground, alliance, process, None)
    }

    fn on(ground: Ground, alliance: &Alliance, process: usize, new: Option<(Patience, usize)>) -> Option<Allies> {
        let common = Common::on(ground, alliance.workers(), new)?;
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
        let outcome =
            conduct(&self.crew, || self.worker(work, 0, least_stack), |leader| leader.lead(root), least_stack);
        self.runs.store(false, Ordering::Release);
        outcome.map(|answer| answer.expect("nobody has panicked"))
    }

    /// Wait for the next run, as worker `number`: the stack below which a worker that waits takes no other task on. None when
    /// there will be no more. After each run, [`Allies::take_part`].
    pub fn next_run(&self, number: usize) -> Option<usize> {
        wait_for_start(&self.crew.mates()[number].attention).then(|| self.crew.least_stack())
    }

    /// Be worker `number` of all runs: in each, `body` is told what [`Allies::next_run`] tells, and takes part. If it panics
    /// outside of tasks, the process ends, since the leader waits for this worker.
    pub fn in_each_run(&self, number: usize, mut body: impl FnMut(usize)) {
        while let Some(least_stack) = self.next_run(number) {
            let no_unwinding = AbortOnUnwind;
            body(least_stack);
            std::mem::forget(no_unwinding);
        }
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
    use crate::deque::Deque;
    use tremula_fabric::{Fabric, threads};

    /// Distances of workers as process 1 of three sees them.
    fn distances(tell: impl Fn(Allies) -> Allies + Sync) -> Vec<u8> {
        let alliance = Alliance { processes: 3, each: 2, tactics: Tactics::default(), crowd: true };
        let all = threads::run(1, |fabric| {
            let mut ground = Ground::new(fabric.allocate(Ground::words_for([alliance.bytes()])).unwrap(), 0).unwrap();
            let ground = ground.cut(alliance.bytes()).unwrap();
            tell(Allies::on(ground, &alliance, 1, Some((Patience::in_crowd(true), 2))).unwrap()).distances
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

    /// As soon as it runs, another process has a panic.
    struct PanicElsewhere<'a>(&'a Allies);

    impl Work for PanicElsewhere<'_> {
        type Task = u64;
        type Answer = u64;
        type State = ();
        fn state(&self, _: usize) {}
        fn run<D: Deque>(&self, _: &mut Worker<'_, Self, D>, task: u64) -> u64 {
            self.0.crew.poison(Box::new("elsewhere"));
            task
        }
    }

    #[test]
    fn an_answer_is_none_if_another_process_has_had_a_panic() {
        let alliance = Alliance { processes: 2, each: 1, tactics: Tactics::default(), crowd: true };
        let is_refused = threads::run(1, |fabric| {
            let segment = fabric.allocate(Ground::words_for([alliance.bytes()])).unwrap();
            let ground = || Ground::new(segment.clone(), 0).unwrap().cut(alliance.bytes()).unwrap();
            let leader = Allies::lead(ground(), &alliance).unwrap();
            let other = Allies::join(ground(), &alliance, 1).unwrap();
            let work = PanicElsewhere(&other);
            std::thread::scope(|scope| {
                scope.spawn(|| other.in_each_run(1, |stack| other.take_part(&work, 1, stack)));
                let outcome = leader.run(&work, 7, 1 << 16);
                leader.dismiss();
                outcome.is_err()
            })
        });
        assert_eq!(is_refused.unwrap(), [true]);
    }
}
