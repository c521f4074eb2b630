//! The unique table over ranks: `tremula bench table` under a launcher of MPI.
//!
//! All ranks find and put nodes at the same time; the slots that these belong to lie on all ranks alike. Tables are filled
//! almost to the load in question, a round of operations takes them a little beyond it, and then they are set back. Rounds
//! of inserts alone give the chunks that an insert reads, beside a simulation and the thesis.
//!
//! ```
//! use tremula_fabric::threads;
//! use tremula_studies::ranked_study::{RankedOptions, run};
//! let options = RankedOptions { loads: vec![0.5], chunks: vec![8], ..RankedOptions::quick() };
//! let reports = threads::run(2, |fabric| run(fabric, &options, &mut |_| ()).unwrap()).unwrap();
//! assert_eq!(reports[0].as_ref().unwrap().chunks.len(), 1);
//! ```

mod measure;
mod report;
mod report_pictures;
mod report_text;

pub use report::{ChunksReport, RankedReport, SpeedReport};

use crate::StudyError;
use crate::table_study::{LOADS, Mix, simulated_chunks, theory};
use measure::Subject;
use tremula_fabric::Fabric;

/// What the study measures.
#[derive(Clone, Debug)]
pub struct RankedOptions {
    /// Slots of each rank.
    pub slots: usize,
    /// Operations of each rank, for each mix, load and chunk.
    pub operations: u64,
    /// Shares of slots that are taken.
    pub loads: Vec<f64>,
    /// Slots read at a time.
    pub chunks: Vec<usize>,
    /// Finds and inserts.
    pub mixes: Vec<Mix>,
}

impl Default for RankedOptions {
    fn default() -> RankedOptions {
        RankedOptions {
            slots: 1 << 20,
            operations: 10_000_000,
            loads: vec![0.5, 0.8, 0.9],
            chunks: vec![8, 16, 32, 64, 128],
            mixes: vec![Mix::EVEN, Mix::READ_HEAVY, Mix::WRITE_HEAVY],
        }
    }
}

impl RankedOptions {
    /// For tests.
    pub fn quick() -> RankedOptions {
        RankedOptions { slots: 1 << 14, operations: 20_000, ..RankedOptions::default() }
    }
}

/// *Collective.* Make the study; `progress` gets a line for each run on rank 0, which gets the report.
pub fn run<F: Fabric>(
    fabric: &F,
    options: &RankedOptions,
    progress: &mut dyn FnMut(&str),
) -> Result<Option<RankedReport>, StudyError> {
    check(options)?;
    let mut report = RankedReport {
        ranks: fabric.ranks(),
        slots: options.slots,
        operations: options.operations,
        speeds: Vec::new(),
        chunks: Vec::new(),
    };
    let simulated = simulated_chunks(&options.loads, &options.chunks);
    for (&load, simulated) in options.loads.iter().zip(&simulated) {
        for (&chunk, &simulated) in options.chunks.iter().zip(simulated) {
            let subject = Subject::fill(fabric, options.slots, chunk, load)?;
            let measured = subject.chunks_per_insert()?;
            let thesis = theory::thesis(chunk, load);
            report.chunks.push(ChunksReport { chunk, load, measured, simulated, thesis });
            for &mix in &options.mixes {
                let speed = subject.speed(mix, options.operations)?;
                progress(&format!("C={chunk}, load {load}, {mix}: {:.3} million operations per second", speed.median));
                report.speeds.push(SpeedReport { chunk, load, mix, speed });
            }
        }
    }
    Ok((fabric.rank() == 0).then_some(report))
}

fn check(options: &RankedOptions) -> Result<(), StudyError> {
    let possible = options.loads.iter().all(|load| LOADS.contains(load))
        && options.loads.is_sorted()
        && options.operations > 0
        && options.slots >= 1 << 10
        && !options.chunks.contains(&0);
    if possible { Ok(()) } else { Err(StudyError::NothingToMeasure("give loads in order, operations and slots")) }
}
