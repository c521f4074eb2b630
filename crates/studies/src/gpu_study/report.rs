//! What the study found out.

use crate::Spread;
use serde::{Deserialize, Serialize};

/// What the study found out. Displays as tables of text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GpuReport {
    /// The device.
    pub device: String,
    /// Measurements of each kind.
    pub reps: usize,
    /// Places of the table, of sixteen bytes each.
    pub places: usize,
    /// Random reads of a place, in billions per second.
    pub reads: Spread,
    /// Find-or-put, by load.
    pub table: Vec<TableReport>,
    /// Places of the index of requests.
    pub index: usize,
    /// Requests that are looked for among those of earlier sweeps, by load.
    pub cache: Vec<CacheReport>,
    /// Sweeps, by width.
    pub levels: Vec<LevelReport>,
    /// Whole models.
    pub models: Vec<ModelReport>,
}

/// Find-or-put at a load, in billions per second.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TableReport {
    /// Nodes for each place.
    pub load: f64,
    /// New nodes, from the load before up to this one; measured once.
    pub put: f64,
    /// Nodes that are there.
    pub find: Spread,
}

/// Look-ups of requests at a load of their index, in billions per second.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CacheReport {
    /// Requests for each place.
    pub load: f64,
    /// New requests, from the load before up to this one; measured once.
    pub make: f64,
    /// Requests that are there.
    pub hit: Spread,
    /// Requests that are not there.
    pub miss: Spread,
}

/// A sweep with so many requests at each of many levels.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LevelReport {
    /// Requests at each of these levels.
    pub width: usize,
    /// Requests of the whole sweep.
    pub requests: u64,
    /// Levels of the whole sweep.
    pub levels: u32,
    /// Seconds of the first sweep, which puts its nodes, with the collections that it takes to have room for them.
    pub first_seconds: f64,
    /// How many these are.
    pub first_collections: u64,
    /// Seconds of a later sweep, which finds its nodes.
    pub seconds: Spread,
}

impl LevelReport {
    /// Nanoseconds of a level, down and up again.
    pub fn nanoseconds_per_level(&self) -> f64 {
        self.seconds.median * 1e9 / f64::from(self.levels)
    }

    /// Find-or-put of requests and of nodes, one each, in billions per second.
    pub fn operations(&self) -> f64 {
        2.0 * self.requests as f64 / self.seconds.median / 1e9
    }
}

/// A model, explored to the end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ModelReport {
    /// The model.
    pub name: String,
    /// Seconds from the initial states to all; none if it did not get there.
    pub seconds: Option<Spread>,
    /// The number of states that were found, in digits.
    pub states: Option<String>,
    /// Sweeps of one exploration.
    pub sweeps: u64,
    /// Requests of one exploration.
    pub requests: u64,
    /// Elements of these requests.
    pub elements: u64,
}
