//! What the study found out.

use crate::Spread;
use serde::{Deserialize, Serialize};

/// What the study found out. Displays as tables of text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FabricReport {
    /// How many ranks there were.
    pub ranks: usize,
    /// Measurements of each kind.
    pub reps: usize,
    /// One report for each rank that rank 0 was measured against.
    pub targets: Vec<TargetReport>,
}

/// Operations on the memory of one rank, in nanoseconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TargetReport {
    /// Where the memory is.
    pub name: String,
    /// Did its owner compute, without ever calling the fabric?
    pub busy: bool,
    /// Reads, one after the other.
    pub get: Vec<BySize>,
    /// Writes, each followed by a flush.
    pub put: Vec<BySize>,
    /// Reads, many at a time.
    pub many_gets: Vec<BySize>,
    /// Writes, many before a flush.
    pub many_puts: Vec<BySize>,
    /// Compare-and-swap, one after the other.
    pub compare_and_swap: Spread,
    /// Addition, one after the other.
    pub fetch_add: Spread,
    /// Addition, many at a time.
    pub many_fetch_adds: Spread,
}

/// Operations of one size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BySize {
    /// Bytes that one of them moves.
    pub bytes: usize,
    /// What one of them takes.
    pub nanoseconds: Spread,
}

impl BySize {
    /// Bytes per nanosecond.
    pub fn gigabytes_per_second(&self) -> f64 {
        self.bytes as f64 / self.nanoseconds.median
    }
}

impl TargetReport {
    /// Where the memory is, and what its owner does.
    pub fn title(&self) -> String {
        format!("{}{}", self.name, if self.busy { ", busy" } else { "" })
    }
}
