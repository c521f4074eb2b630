//! An accelerator: random reads, find-or-put of nodes, levels of sweeps, whole models.
//!
//! - *Reads*: sixteen bytes from random places of a table.
//! - *Find-or-put*: new nodes up to a load, then random ones of those that are there. The table is checked by counting.
//! - *Cache*: requests that are looked for among those of earlier sweeps, there and not there, by the load of their index.
//! - *Levels*: the union of two sets of equal shape with so many nodes at each level, see [`Wide`](tremula_bulk::Wide). An
//!   operation is a find-or-put, of a request or of a node. The first sweep puts its nodes, later ones find them.
//! - *Models*: `par` from the initial states to the end, and the number of states.
//!
//! ```no_run
//! use tremula_gpu::Device;
//! use tremula_studies::gpu_study::{GpuOptions, run};
//! println!("{}", run(&Device::first()?, &GpuOptions::quick(), &mut |line| eprintln!("{line}"))?);
//! # Ok::<(), tremula_studies::StudyError>(())
//! ```

mod measure;
mod report;
mod report_pictures;
mod report_text;

pub use measure::run;
pub use report::{CacheReport, GpuReport, LevelReport, ModelReport, TableReport};

use tremula_models::BddSystem;

/// What is measured.
#[derive(Clone, Debug)]
pub struct GpuOptions {
    /// Measurements of each kind.
    pub reps: usize,
    /// Places of the table for reads and find-or-put.
    pub places: usize,
    /// Up to which loads the table is filled, ascending.
    pub loads: Vec<f64>,
    /// Places of the index of requests.
    pub index: usize,
    /// Up to which loads the index is filled, ascending, up to a half: sweeps let it get no fuller.
    pub index_loads: Vec<f64>,
    /// Requests at each level, powers of two.
    pub widths: Vec<usize>,
    /// Bytes of the device for sweeps and models.
    pub bytes: usize,
    /// Models and their names.
    pub models: Vec<(String, BddSystem)>,
}

impl Default for GpuOptions {
    fn default() -> GpuOptions {
        GpuOptions {
            reps: 5,
            places: 1 << 30,
            loads: vec![0.25, 0.5, 0.75, 0.9],
            index: 1 << 28,
            index_loads: vec![0.125, 0.25, 0.5],
            widths: [1, 7, 11, 14, 17, 20].map(|bits| 1 << bits).to_vec(),
            bytes: 24 << 30,
            models: Vec::new(),
        }
    }
}

impl GpuOptions {
    /// Small tables and few widths.
    pub fn quick() -> GpuOptions {
        let widths = [1, 11, 17].map(|bits| 1 << bits).to_vec();
        GpuOptions { reps: 3, places: 1 << 24, index: 1 << 22, widths, bytes: 4 << 30, ..GpuOptions::default() }
    }
}
