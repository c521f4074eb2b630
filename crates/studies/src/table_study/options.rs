//! What the study measures.

use super::mix::Mix;
use super::subject::Subject;
use crate::StudyError;
use crate::unique::unique;
use std::ops::RangeInclusive;
use tremula_fabric::topology::cpu_limit;

/// Load factors that can be measured.
pub const LOADS: RangeInclusive<f64> = 0.02..=0.98;

/// What the study measures. The default is everything at full size, with one worker and with all processors.
#[derive(Clone, Debug)]
pub struct TableOptions {
    /// Numbers of workers to measure with, all above zero.
    pub workers: Vec<usize>,
    /// Operations of each worker.
    pub operations: u64,
    /// Load factors, within [`LOADS`].
    pub loads: Vec<f64>,
    /// Slots read at a time, out of [`Subject::CHUNKS`].
    pub chunks: Vec<usize>,
    /// Shares of finds and inserts.
    pub mixes: Vec<Mix>,
    /// Slots of the table, whole cache lines.
    pub slots: usize,
}

/// Slots of a table at full size: with its nodes, it is larger than the caches of most processors.
const FULL_SLOTS: usize = 1 << 22;
/// With more workers there are more slots, so that each of them has enough to do in a round.
const SLOTS_PER_WORKER: usize = 1 << 18;

impl Default for TableOptions {
    fn default() -> TableOptions {
        let all = cpu_limit();
        TableOptions {
            workers: if all == 1 { vec![1] } else { vec![1, all] },
            operations: 10_000_000,
            // The table itself gets no fuller than two thirds.
            loads: vec![0.1, 0.3, 0.5, 0.65, 0.7, 0.8, 0.9],
            chunks: vec![8, 16, 32, 64, 128],
            mixes: vec![Mix::EVEN, Mix::READ_HEAVY, Mix::WRITE_HEAVY],
            slots: FULL_SLOTS.max(SLOTS_PER_WORKER * all.next_power_of_two()),
        }
    }
}

impl TableOptions {
    /// Few operations on a small table, for tests: seconds instead of minutes.
    pub fn quick() -> TableOptions {
        TableOptions { operations: 100_000, slots: 1 << 18, ..TableOptions::default() }
    }

    /// The same without repetitions, loads in ascending order.
    pub(super) fn tidy(&self) -> TableOptions {
        let mut loads = unique(self.loads.iter().copied());
        loads.sort_by(f64::total_cmp);
        TableOptions {
            workers: unique(self.workers.iter().copied()),
            chunks: unique(self.chunks.iter().copied()),
            mixes: unique(self.mixes.iter().copied()),
            loads,
            ..*self
        }
    }

    pub(super) fn check(&self) -> Result<(), StudyError> {
        let problem = if self.workers.is_empty() || self.workers.iter().any(|number| !WORKERS.contains(number)) {
            "give between 1 and 1024 workers"
        } else if self.operations == 0 || self.mixes.is_empty() {
            "give at least one operation and one mix"
        } else if self.loads.is_empty() || !self.loads.iter().all(|load| LOADS.contains(load)) {
            "load factors lie between 0.02 and 0.98"
        } else if self.chunks.iter().any(|chunk| !Subject::CHUNKS.contains(chunk)) {
            "chunks have 8, 16, 32, 64, 128 or 256 slots"
        } else if self.slots < LEAST_SLOTS || self.slots > MOST_SLOTS || !self.slots.is_multiple_of(8) {
            "the table has too few or too many slots, or a line that is not whole"
        } else {
            return Ok(());
        };
        Err(StudyError::NothingToMeasure(problem))
    }
}

const WORKERS: RangeInclusive<usize> = 1..=1024;
/// So that all workers can insert something in a round.
const LEAST_SLOTS: usize = 1 << 16;
/// So that slots and positions fit 32 bits.
const MOST_SLOTS: usize = 1 << 31;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_vanish() {
        let options = TableOptions { loads: vec![0.9, 0.1, 0.9], chunks: vec![16, 8, 16], ..TableOptions::quick() };
        let tidy = options.tidy();
        assert_eq!((tidy.loads, tidy.chunks), (vec![0.1, 0.9], vec![16, 8]));
    }

    #[test]
    fn options_that_make_no_sense_are_refused() {
        let quick = TableOptions::quick;
        assert!(quick().check().is_ok() && TableOptions::default().check().is_ok());
        for options in [
            TableOptions { workers: vec![], ..quick() },
            TableOptions { workers: vec![1, 0], ..quick() },
            TableOptions { operations: 0, ..quick() },
            TableOptions { mixes: vec![], ..quick() },
            TableOptions { loads: vec![], ..quick() },
            TableOptions { loads: vec![0.5, f64::NAN], ..quick() },
            TableOptions { loads: vec![0.99], ..quick() },
            TableOptions { chunks: vec![12], ..quick() },
            TableOptions { workers: vec![1025], ..quick() },
            TableOptions { slots: 1 << 10, ..quick() },
            TableOptions { slots: (1 << 20) + 1, ..quick() },
        ] {
            assert!(matches!(options.check(), Err(StudyError::NothingToMeasure(_))), "{options:?}");
        }
    }
}
