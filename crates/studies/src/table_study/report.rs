//! What the study found out.

use super::latency::Latency;
use super::mix::Mix;
use super::subject::Subject;
use crate::unique::unique;
use crate::{Spread, StudyError};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What the study found out. Displays as tables of text that fit 100 columns.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TableReport {
    /// Processors that can be used; results with more workers say little.
    pub processors: usize,
    /// Slots of each table.
    pub slots: usize,
    /// Operations that each worker was to do.
    pub operations: u64,
    /// The load changes by so much in a round, around the one that is named.
    pub window: f64,
    /// One operation in so many was timed.
    pub sampled: u64,
    /// Nanoseconds that the clock itself takes, which latencies include.
    pub clock_ns: u32,
    /// One entry for each setting.
    pub runs: Vec<RunReport>,
    /// Chunks that inserts read, beside what is expected of them.
    pub theory: Vec<TheoryReport>,
}

/// What one run is about.
#[derive(Copy, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Setting {
    /// The table.
    pub subject: Subject,
    /// Shares of finds and inserts.
    pub mix: Mix,
    /// Share of slots that are occupied.
    pub load: f64,
    /// How many workers.
    pub workers: usize,
}

/// What the study found out with one setting.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunReport {
    /// What the run is about.
    #[serde(flatten)]
    pub setting: Setting,
    /// Operations of all workers together.
    pub operations: u64,
    /// Million operations per second of all workers together, by rounds.
    pub million_per_second: Spread,
    /// Latencies of the timed operations.
    pub latency_ns: Latency,
    /// Chunks read, where they were counted.
    pub chunks: Option<ChunksRead>,
}

/// Chunks read on average; cache lines where slots are visited one by one.
#[derive(Copy, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ChunksRead {
    /// By operations that found their node.
    pub per_find: Option<f64>,
    /// By operations that made one.
    pub per_insert: Option<f64>,
    /// By all.
    pub per_operation: f64,
}

/// Chunks that an insert reads, by theory and in fact.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TheoryReport {
    /// Slots in a chunk.
    pub chunk: usize,
    /// Share of slots that are occupied.
    pub load: f64,
    /// Corollary 1 of the thesis.
    pub formula: f64,
    /// Linear probing with perfect hashing.
    pub simulated: f64,
    /// Here, by all runs with this chunk size and load.
    pub measured: Option<f64>,
    /// Round trips that the thesis expects, from its Figure 3.17.
    pub thesis_expected: Option<u32>,
    /// Round trips that the thesis measured, from the same figure.
    pub thesis_measured: Option<f64>,
}

impl TableReport {
    /// The report as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data has a form in JSON")
    }

    /// The tables that were measured.
    pub(super) fn subjects(&self) -> Vec<Subject> {
        unique(self.runs.iter().map(|run| run.setting.subject))
    }

    /// The load factors, ascending.
    pub(super) fn loads(&self) -> Vec<f64> {
        unique(self.runs.iter().map(|run| run.setting.load))
    }

    /// Numbers of workers and mixes.
    pub(super) fn combinations(&self) -> Vec<(usize, Mix)> {
        unique(self.runs.iter().map(|run| (run.setting.workers, run.setting.mix)))
    }

    /// The run with this setting.
    pub(super) fn run(&self, setting: Setting) -> Option<&RunReport> {
        self.runs.iter().find(|run| run.setting == setting)
    }
}

/// A number of chunks, on average over mixes and workers.
pub(super) fn chunks(
    runs: &[RunReport],
    subject: Subject,
    load: f64,
    of: impl Fn(&ChunksRead) -> Option<f64>,
) -> Option<f64> {
    let meant = runs.iter().filter(|run| run.setting.subject == subject && run.setting.load == load);
    let numbers: Vec<f64> = meant.filter_map(|run| of(run.chunks.as_ref()?)).collect();
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

impl Setting {
    pub(super) fn wrong(self, problem: &'static str) -> StudyError {
        StudyError::WrongTable { run: self.to_string(), problem }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Setting { subject, mix, load, workers } = self;
        write!(out, "{subject}, load {load}, {mix}, workers {workers}")
    }
}
