//! What the study found out.

use crate::Spread;
use crate::table_study::Mix;
use serde::{Deserialize, Serialize};

/// What the study found out. Displays as tables of text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RankedReport {
    /// How many ranks there were.
    pub ranks: usize,
    /// Slots of each rank.
    pub slots: usize,
    /// Operations of each rank, for each mix, load and chunk.
    pub operations: u64,
    /// Throughput.
    pub speeds: Vec<SpeedReport>,
    /// Chunks that inserts read.
    pub chunks: Vec<ChunksReport>,
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
    /// Million operations per second of all ranks together, by rounds.
    pub speed: Spread,
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
