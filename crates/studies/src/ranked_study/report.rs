//! What the study found out.

use super::Way;
use crate::Spread;
use crate::table_study::Mix;
use crate::unique::unique;
use serde::{Deserialize, Serialize};

/// What the study found out. Displays as tables of text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RankedReport {
    /// How many ranks there were.
    pub ranks: usize,
    /// Slots of each rank.
    pub slots: usize,
    /// Operations of each rank, all its workers together, for each mix, load and chunk.
    pub operations: u64,
    /// Throughput of the one-sided form.
    pub speeds: Vec<SpeedReport>,
    /// Throughput where owners are asked.
    pub owned: Vec<OwnedReport>,
    /// Chunks that inserts read.
    pub chunks: Vec<ChunksReport>,
    /// Ways of the one-sided form through the index.
    pub ways: Vec<WayReport>,
    /// The cache of operations.
    pub cache: Option<CacheReport>,
}

impl RankedReport {
    /// Numbers of workers and mixes. Owners are asked by one worker of each rank.
    pub(super) fn combinations(&self) -> Vec<(usize, Mix)> {
        let owned = self.owned.iter().map(|report| (1, report.mix));
        unique(self.speeds.iter().map(|report| (report.workers, report.mix)).chain(owned))
    }

    pub(super) fn loads(&self) -> Vec<f64> {
        let owned = self.owned.iter().map(|report| report.load);
        unique(self.speeds.iter().map(|report| report.load).chain(owned))
    }
}

/// Throughput of one mix.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SpeedReport {
    /// Slots read at a time.
    pub chunk: usize,
    /// Share of slots that are taken.
    pub load: f64,
    /// Finds and inserts.
    pub mix: Mix,
    /// Threads of each rank.
    pub workers: usize,
    /// Million operations per second of all ranks together, by rounds.
    pub speed: Spread,
}

/// Throughput of one mix where owners are asked, by one thread of each rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OwnedReport {
    /// Share of slots that are taken.
    pub load: f64,
    /// Finds and inserts.
    pub mix: Mix,
    /// Million operations per second of all ranks together, by rounds.
    pub speed: Spread,
}

/// Searches that go on after a chunk in some way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WayReport {
    /// The way.
    pub way: Way,
    /// Slots read at a time.
    pub chunk: usize,
    /// Share of slots that are taken.
    pub load: f64,
    /// Finds and inserts.
    pub mix: Mix,
    /// Chunks that an insert asks for, on average.
    pub chunks: f64,
    /// Million operations per second of all ranks together, by rounds.
    pub speed: Spread,
}

/// Throughput of the cache of operations, in million operations per second of all ranks together, by rounds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CacheReport {
    /// Results that were put.
    pub puts: Spread,
    /// Results that were asked for and had been put.
    pub hits: Spread,
    /// Results that were asked for and had not been put.
    pub misses: Spread,
    /// The share of those that had been put that was still there.
    pub remembered: f64,
    /// Requests to other ranks for each put.
    pub remote_per_put: f64,
    /// Requests to other ranks for each get of what had been put.
    pub remote_per_hit: f64,
    /// Requests to other ranks for each get of what had not been put.
    pub remote_per_miss: f64,
}

/// Chunks that an insert reads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ChunksReport {
    /// Slots read at a time.
    pub chunk: usize,
    /// Share of slots that are taken.
    pub load: f64,
    /// What was measured.
    pub measured: f64,
    /// What a simulation with perfect hashing expects.
    pub simulated: f64,
    /// Round trips in the thesis' Figure 3.17: expected and measured there.
    pub thesis: Option<(u32, f64)>,
}
