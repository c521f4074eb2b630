//! What the study found out.

use super::Way;
use crate::Spread;
use crate::table_study::{Latency, Mix};
use crate::unique::unique;
use serde::{Deserialize, Serialize};
use std::fmt;

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
    /// Latencies of single operations.
    pub latencies: Vec<LatencyReport>,
    /// Nanoseconds that the clock itself takes, which latencies include.
    pub clock_ns: u32,
    /// The caches of operations.
    pub caches: Vec<CacheReport>,
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

/// Latencies of single operations, by one worker of each rank, all ranks at the same time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LatencyReport {
    /// The table.
    #[serde(flatten)]
    pub table: LatencyTable,
    /// Share of slots that are taken.
    pub load: f64,
    /// Finds and inserts.
    pub mix: Mix,
    /// Operations of all ranks that were timed.
    pub operations: u64,
    /// What they took.
    pub latency_ns: Latency,
    /// The share of them that asked other ranks for anything.
    pub remote_operations: f64,
    /// Requests to other ranks for each, on average.
    pub remote_requests: f64,
}

/// A table whose latency was measured; the numbers are slots read at a time.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "table", content = "chunk", rename_all = "kebab-case")]
pub enum LatencyTable {
    /// Ranks help themselves: an index, and nodes elsewhere.
    OneSided(usize),
    /// Ranks help themselves: slots hold nodes.
    OneArray(usize),
    /// Owners are asked.
    Owners,
}

impl fmt::Display for LatencyTable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LatencyTable::OneSided(chunk) => write!(out, "C={chunk}"),
            LatencyTable::OneArray(chunk) => write!(out, "one array, C={chunk}"),
            LatencyTable::Owners => write!(out, "owners"),
        }
    }
}

/// Who does the work of a cache of operations.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheForm {
    /// Whoever puts or gets, with the memory of others.
    OneSided,
    /// The owner of a result, who is asked.
    Owners,
}

/// Throughput of a cache of operations, in million operations per second of all ranks together, by rounds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CacheReport {
    /// Who does the work.
    pub form: CacheForm,
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
