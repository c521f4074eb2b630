//! What the study found out.

use super::Tactic;
use crate::Spread;
use crate::tasks_study::Steals;
use crate::tasks_study::steals::quantile;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the study found out. Displays as tables of text that fit 100 columns.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RankedTasksReport {
    /// Processors that can be used; results with more workers say little.
    pub processors: usize,
    /// How many ranks there were.
    pub ranks: usize,
    /// Has each rank a pool of its own, and a gate? Otherwise all workers are one crew, in memory that all address.
    #[serde(default)]
    pub gates: bool,
    /// Runs of each shape.
    pub reps: usize,
    /// Steals by the only thief, whose victim has all tasks and waits for it.
    pub latency: Vec<LatencyReport>,
    /// One report for each program.
    pub programs: Vec<RankedProgramReport>,
    /// Programs whose answer is in the memory of one process, so that ranks cannot run them.
    pub left_out: Vec<String>,
}

/// Where a thief and its victim are.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// In one process.
    Within,
    /// In two processes.
    Between,
}

impl Way {
    /// Both.
    pub const ALL: [Way; 2] = [Way::Within, Way::Between];

    /// As people call it.
    pub fn name(self) -> &'static str {
        match self {
            Way::Within => "within a process",
            Way::Between => "between processes",
        }
    }
}

/// How long steals took.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LatencyReport {
    /// How work was handed over.
    pub tactic: Tactic,
    /// Where thief and victim were.
    pub way: Way,
    /// Requests that brought a task, by nanoseconds until it was there: upper ends of buckets, and how many fell into each.
    pub latency_ns: BTreeMap<u64, u64>,
}

impl LatencyReport {
    /// The nanoseconds that a share `q` of the steals did not exceed; none without steals.
    pub fn quantile_ns(&self, q: f64) -> Option<u64> {
        quantile(&self.latency_ns, q)
    }

    /// Requests that brought a task.
    pub fn count(&self) -> u64 {
        self.latency_ns.values().sum()
    }
}

/// What the study found out about one program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RankedProgramReport {
    /// Name with size, such as `fib(42)`.
    pub name: String,
    /// The answer that all runs gave.
    pub answer: u64,
    /// Tasks that each run spawns.
    pub tasks: u64,
    /// Seconds of the sequential version.
    pub sequential_seconds: Spread,
    /// One entry for each number of workers and of ranks, and each tactic.
    pub shapes: Vec<ShapeReport>,
}

/// What the study found out about some ranks with some workers each.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShapeReport {
    /// How work was handed over.
    pub tactic: Tactic,
    /// How many ranks took part.
    pub ranks: usize,
    /// Workers of each.
    pub workers: usize,
    /// Seconds of its runs.
    pub seconds: Spread,
    /// Median of the sequential version divided by the median of this one.
    pub speed_up: f64,
    /// Counters, summed over all runs, by rank.
    pub steals: Vec<Steals>,
}

impl ShapeReport {
    pub(super) fn name(&self) -> String {
        format!("{} x {}", self.ranks, self.workers)
    }

    /// Steals of all ranks, one way.
    pub(super) fn latency(&self, way: Way) -> LatencyReport {
        let mut sum = Steals::default();
        self.steals.iter().for_each(|steals| sum.add_all(steals));
        let latency_ns = match way {
            Way::Within => sum.within_ns(),
            Way::Between => sum.between_ns,
        };
        LatencyReport { tactic: self.tactic, way, latency_ns }
    }
}
