//! How operations are cut into rounds, so that the load factor stays where it is wanted.
//!
//! Inserts raise the load. A round begins a little below the wanted load and ends at most as far above it; then its
//! inserts are taken back, and the next round inserts other nodes.

use super::mix::Mix;
use super::workload::Work;
use std::ops::Range;

/// The load changes by so much in a round.
pub const WINDOW: f64 = 0.02;

/// The rounds of one run.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Schedule {
    /// Nodes that are there before each round.
    pub(crate) existing: u64,
    pub(crate) workers: usize,
    pub(crate) rounds: u64,
    /// Operations of each worker in each round, and the inserts among them.
    pub(crate) operations: u64,
    pub(crate) inserts: u64,
}

/// Nodes that are in a table of `slots` when a round around this load begins.
pub(crate) fn existing(slots: usize, load: f64) -> u64 {
    ((load - WINDOW / 2.0) * slots as f64) as u64
}

impl Schedule {
    /// At least `operations` of each worker, in equal rounds.
    pub(crate) fn new(slots: usize, load: f64, workers: usize, mix: Mix, operations: u64) -> Schedule {
        let most_inserts = ((WINDOW * slots as f64) as u64 / workers as u64).max(1);
        let most_operations = most_inserts * 100 / mix.inserts();
        let rounds = operations.div_ceil(most_operations);
        let operations = operations.div_ceil(rounds);
        let inserts = operations * mix.inserts() / 100;
        Schedule { existing: existing(slots, load), workers, rounds, operations, inserts }
    }

    /// What a worker does in a round.
    pub(crate) fn work(&self, worker: usize, round: u64) -> Work {
        let number = round * self.workers as u64 + worker as u64;
        Work {
            operations: self.operations,
            inserts: self.inserts,
            existing: self.existing,
            first_new: self.existing + number * self.inserts,
            seed: number,
        }
    }

    /// Numbers of the nodes that all workers together insert in a round.
    pub(crate) fn new_keys(&self, round: u64) -> Range<u64> {
        let first = self.work(0, round).first_new;
        first..first + self.inserts * self.workers as u64
    }

    /// Numbers of all nodes that are there after a round.
    pub(crate) fn keys_after(&self, round: u64) -> impl Iterator<Item = u64> {
        (0..self.existing).chain(self.new_keys(round))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_stay_in_the_window() {
        for (workers, mix, operations) in
            [(1, Mix::EVEN, 100_000), (3, Mix::READ_HEAVY, 12_345), (2, Mix::WRITE_HEAVY, 1)]
        {
            let schedule = Schedule::new(10_000, 0.5, workers, mix, operations);
            assert!(schedule.operations * schedule.rounds >= operations);
            assert!((schedule.operations - 1) * schedule.rounds < operations);
            assert!(schedule.inserts * workers as u64 <= 200 && schedule.existing == 4900);
        }
        let schedule = Schedule::new(10_000, 0.5, 2, Mix::EVEN, 100_000);
        assert_eq!((schedule.rounds, schedule.operations, schedule.inserts), (500, 200, 100));
        assert_eq!((schedule.work(0, 0).first_new, schedule.work(1, 3).first_new), (4900, 5600));
        assert_eq!(schedule.new_keys(1), 5100..5300);
    }
}
