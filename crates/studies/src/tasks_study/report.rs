//! What the study found out.

use super::steals::Steals;
use super::versions::Version;
use crate::Spread;
use serde::{Deserialize, Serialize};

/// What the study found out. Displays as tables of text that fit 100 columns.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TasksReport {
    /// Processors that can be used; results with more workers say little.
    pub processors: usize,
    /// Runs of each version.
    pub reps: usize,
    /// One report for each program.
    pub programs: Vec<ProgramReport>,
}

/// What the study found out about one program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProgramReport {
    /// Name with size, such as `fib(42)`.
    pub name: String,
    /// The answer that all runs gave.
    pub answer: u64,
    /// Tasks that each run of a parallel version spawns.
    pub tasks: u64,
    /// Seconds of the sequential version.
    pub sequential_seconds: Spread,
    /// One entry for each number of workers and version.
    pub parallel: Vec<VersionReport>,
}

/// What the study found out about one version of a program with one number of workers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VersionReport {
    /// Who ran the tasks.
    pub version: Version,
    /// How many workers.
    pub workers: usize,
    /// Seconds of its runs.
    pub seconds: Spread,
    /// Median of the sequential version divided by the median of this one.
    pub speed_up: f64,
    /// Counters, where the version has them.
    pub steals: Option<Steals>,
    /// Median steal latency, where known.
    pub steal_median_ns: Option<u64>,
    /// Steal latency that one steal in a hundred exceeds, where known.
    pub steal_p99_ns: Option<u64>,
}

impl TasksReport {
    /// The report as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data has a form in JSON")
    }
}
