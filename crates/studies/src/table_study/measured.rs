//! What the rounds of one run gave together.

use super::latency::Latency;
use super::report::ChunksRead;
use super::schedule::Schedule;
use super::workload::Seen;
use crate::Spread;

/// What the rounds of one run gave together.
#[derive(Default)]
pub(crate) struct Measured {
    /// Million operations per second of all workers, for each round.
    speeds: Vec<f64>,
    samples: Vec<u32>,
    operations: u64,
    inserts: u64,
    find_chunks: u64,
    insert_chunks: u64,
}

impl Measured {
    /// Add a round: one entry for each worker.
    pub(crate) fn add_round(&mut self, schedule: &Schedule, seen: &[Seen]) {
        let start = seen.iter().map(|seen| seen.start).min();
        let end = seen.iter().map(|seen| seen.end).max();
        let (Some(start), Some(end)) = (start, end) else { return };
        let operations = schedule.operations * seen.len() as u64;
        let seconds = end.duration_since(start).as_secs_f64().max(1e-9);
        self.speeds.push(operations as f64 / seconds / 1e6);
        self.operations += operations;
        self.inserts += schedule.inserts * seen.len() as u64;
        self.find_chunks += seen.iter().map(|seen| seen.find_chunks).sum::<u64>();
        self.insert_chunks += seen.iter().map(|seen| seen.insert_chunks).sum::<u64>();
    }

    /// Add nanoseconds of timed operations.
    pub(crate) fn add_samples(&mut self, samples: Vec<u32>) {
        self.samples.extend(samples);
    }

    pub(crate) fn operations(&self) -> u64 {
        self.operations
    }

    /// Million operations per second, by rounds.
    pub(crate) fn speed(&mut self) -> Spread {
        Spread::of(std::mem::take(&mut self.speeds)).expect("there was a round")
    }

    pub(crate) fn latency(&mut self) -> Latency {
        Latency::of(std::mem::take(&mut self.samples))
    }

    /// Averages, if chunks were counted.
    pub(crate) fn chunks(&self) -> Option<ChunksRead> {
        let all = self.find_chunks + self.insert_chunks;
        let finds = self.operations - self.inserts;
        let average = |sum: u64, count: u64| (count > 0).then(|| sum as f64 / count as f64);
        (all > 0).then(|| ChunksRead {
            per_find: average(self.find_chunks, finds),
            per_insert: average(self.insert_chunks, self.inserts),
            per_operation: all as f64 / self.operations as f64,
        })
    }
}
