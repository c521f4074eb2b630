//! The unique table over ranks: `tremula bench table` under a launcher of MPI.
//!
//! All ranks find and put nodes at the same time; the slots that these belong to lie on all ranks alike. Tables are filled
//! almost to the load in question, a round of operations takes them a little beyond it, and then they are set back. Rounds
//! of inserts alone give the chunks that an insert reads, beside a simulation and the thesis. Other ways to go on after a chunk
//! are measured beside it, a table in one array, and the form in which ranks ask the owners of nodes, which reads no chunks.
//! At last, latencies of single operations, and the caches of operations.
//!
//! ```
//! use tremula_fabric::threads;
//! use tremula_studies::ranked_study::{RankedOptions, run};
//! let options = RankedOptions { loads: vec![0.5], chunks: vec![8], ..RankedOptions::quick() };
//! let reports = threads::run(2, |fabric| run(fabric, &options, &mut |_| ()).unwrap()).unwrap();
//! assert_eq!(reports[0].as_ref().unwrap().chunks.len(), 1);
//! ```

mod batches;
mod cache;
mod latency;
mod measure;
mod report;
mod report_pictures;
mod report_text;

pub use report::{
    CacheForm, CacheReport, ChunksReport, LatencyReport, LatencyTable, OwnedReport, RankedReport, SpeedReport,
    WayReport,
};

use crate::agreement::agree;
use crate::table_study::{LOADS, Mix, clock_nanoseconds, simulated_chunks, theory};
use crate::{Spread, StudyError};
use batches::{by_all, by_one};
use measure::Subject;
use serde::{Deserialize, Serialize};
use std::str::FromStr;
use tremula_distributed::{Chunks, Inline, MOST_INLINE_SLOTS, OneSided, Owned, SharedTable, Sizes};
use tremula_fabric::Fabric;

/// What is measured: who does the work of a table over ranks, or something beside it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum TableForm {
    /// The rank that wants a node, with the memory of others.
    OneSided,
    /// The owner of a node, who is asked.
    Owners,
    /// The rank that wants a node, with other ways through the index.
    Ways,
    /// Single operations of all forms.
    Latency,
    /// The caches of operations.
    Cache,
}

/// How a search of the one-sided form goes on after a chunk.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Way {
    /// With the chunk that follows.
    Linear,
    /// With chunks at distances that grow.
    Quadratic,
    /// With the chunk that follows, by requests even where memory can be addressed.
    Asking,
    /// The same, but the chunk was asked for before it was needed.
    Ahead,
    /// With the chunk that follows, in a table of one array, whose slots hold nodes.
    Inline,
}

impl Way {
    /// All that can read chunks of so many slots.
    fn all(chunk: usize) -> Vec<Way> {
        let inline = (chunk <= MOST_INLINE_SLOTS).then_some(Way::Inline);
        [Way::Linear, Way::Quadratic, Way::Asking, Way::Ahead].into_iter().chain(inline).collect()
    }
}

impl FromStr for TableForm {
    type Err = String;

    fn from_str(text: &str) -> Result<TableForm, String> {
        match text {
            "one-sided" => Ok(TableForm::OneSided),
            "owners" => Ok(TableForm::Owners),
            "ways" => Ok(TableForm::Ways),
            "latency" => Ok(TableForm::Latency),
            "cache" => Ok(TableForm::Cache),
            _ => Err("expected one-sided, owners, ways, latency or cache".to_owned()),
        }
    }
}

/// What the study measures.
#[derive(Clone, Debug)]
pub struct RankedOptions {
    /// Forms of the table, and what is beside it.
    pub forms: Vec<TableForm>,
    /// Slots of each rank.
    pub slots: usize,
    /// Operations of each rank, all its workers together, for each mix, load and chunk.
    pub operations: u64,
    /// Shares of slots that are taken.
    pub loads: Vec<f64>,
    /// Slots read at a time.
    pub chunks: Vec<usize>,
    /// Finds and inserts.
    pub mixes: Vec<Mix>,
    /// Numbers of workers of each rank, where several may use the table.
    pub workers: Vec<usize>,
}

impl Default for RankedOptions {
    fn default() -> RankedOptions {
        RankedOptions {
            forms: vec![TableForm::OneSided, TableForm::Owners, TableForm::Ways, TableForm::Latency, TableForm::Cache],
            slots: 1 << 20,
            operations: 10_000_000,
            loads: vec![0.5, 0.8, 0.9],
            chunks: vec![8, 16, 32, 64, 128],
            mixes: vec![Mix::EVEN, Mix::READ_HEAVY, Mix::WRITE_HEAVY],
            workers: vec![1, 2],
        }
    }
}

impl RankedOptions {
    /// For tests.
    pub fn quick() -> RankedOptions {
        RankedOptions { slots: 1 << 14, operations: 20_000, ..RankedOptions::default() }
    }

    fn sizes(&self) -> Sizes {
        Sizes { slots: self.slots, nodes: self.slots }
    }
}

/// *Collective.* Make the study; `progress` gets a line for each run on rank 0, which gets the report. If it fails, it does so
/// on all ranks, and on one of them at least with another reason than [`StudyError::Elsewhere`].
pub fn run<F: Fabric>(
    fabric: &F,
    options: &RankedOptions,
    progress: &mut dyn FnMut(&str),
) -> Result<Option<RankedReport>, StudyError>
where
    F::Segment: Sync,
{
    agree(fabric, check(options))?;
    let mut report = RankedReport {
        ranks: fabric.ranks(),
        slots: options.slots,
        operations: options.operations,
        speeds: Vec::new(),
        owned: Vec::new(),
        chunks: Vec::new(),
        ways: Vec::new(),
        latencies: Vec::new(),
        clock_ns: clock_nanoseconds(),
        caches: Vec::new(),
    };
    let chunks = if options.forms.contains(&TableForm::OneSided) { &options.chunks[..] } else { &[] };
    let simulated = simulated_chunks(&options.loads, chunks);
    for (&load, simulated) in options.loads.iter().zip(&simulated) {
        for form in &options.forms {
            match form {
                TableForm::OneSided => measure_one_sided(fabric, options, (load, simulated), &mut report, progress)?,
                TableForm::Owners => measure_owners(fabric, options, load, &mut report, progress)?,
                TableForm::Ways => measure_ways(fabric, options, load, &mut report, progress)?,
                TableForm::Latency => measure_latencies(fabric, options, load, &mut report, progress)?,
                TableForm::Cache => {}
            }
        }
    }
    if options.forms.contains(&TableForm::Cache) {
        report.caches = cache::measure(fabric, options, progress)?;
    }
    Ok((fabric.rank() == 0).then_some(report))
}

fn measure_one_sided<F: Fabric>(
    fabric: &F,
    options: &RankedOptions,
    (load, simulated): (f64, &[f64]),
    report: &mut RankedReport,
    progress: &mut dyn FnMut(&str),
) -> Result<(), StudyError>
where
    F::Segment: Sync,
{
    for (&chunk, &simulated) in options.chunks.iter().zip(simulated) {
        let table = OneSided::allocate(fabric, options.sizes())?.with_chunks(Chunks::Fixed(chunk));
        let mut subject = Subject::fill(fabric, table, by_all, options.slots, load)?;
        let measured = subject.chunks_per_insert()?;
        let thesis = theory::thesis(chunk, load);
        report.chunks.push(ChunksReport { chunk, load, measured, simulated, thesis });
        for (&mix, &workers) in
            options.mixes.iter().flat_map(|mix| options.workers.iter().map(move |workers| (mix, workers)))
        {
            let speed = subject.speed(mix, options.operations, workers)?;
            let million = speed.median;
            progress(&format!(
                "C={chunk}, load {load}, {mix}, workers {workers}: {million:.3} million operations per second"
            ));
            report.speeds.push(SpeedReport { chunk, load, mix, workers, speed });
        }
    }
    Ok(())
}

/// The first mix only: all of them take the same ways.
fn measure_ways<F: Fabric>(
    fabric: &F,
    options: &RankedOptions,
    load: f64,
    report: &mut RankedReport,
    progress: &mut dyn FnMut(&str),
) -> Result<(), StudyError>
where
    F::Segment: Sync,
{
    let Some(&mix) = options.mixes.first() else { return Ok(()) };
    for &chunk in &options.chunks {
        for way in Way::all(chunk) {
            let (chunks, speed) = if way == Way::Inline {
                measure_way(fabric, options, inline(fabric, options, chunk)?, (load, mix))?
            } else {
                let table = OneSided::allocate(fabric, options.sizes())?.with_chunks(Chunks::Fixed(chunk));
                let table = match way {
                    Way::Linear | Way::Inline => table,
                    Way::Quadratic => table.with_chunks(Chunks::Scattered(chunk)),
                    Way::Asking => table.asking(),
                    Way::Ahead => table.asking().reading_ahead(),
                };
                measure_way(fabric, options, table, (load, mix))?
            };
            progress(&format!("{way:?}, C={chunk}, load {load}: {:.3} million operations per second", speed.median));
            report.ways.push(WayReport { way, chunk, load, mix, chunks, speed });
        }
    }
    Ok(())
}

/// Chunks that an insert reads, and throughput.
fn measure_way<F: Fabric, T: SharedTable + Sync>(
    fabric: &F,
    options: &RankedOptions,
    table: T,
    (load, mix): (f64, Mix),
) -> Result<(f64, Spread), StudyError> {
    let mut subject = Subject::fill(fabric, table, by_all, options.slots, load)?;
    Ok((subject.chunks_per_insert()?, subject.speed(mix, options.operations, 1)?))
}

fn inline<F: Fabric>(fabric: &F, options: &RankedOptions, chunk: usize) -> Result<Inline<F::Segment>, StudyError> {
    Ok(Inline::allocate(fabric, options.slots)?.with_chunks(Chunks::Fixed(chunk)))
}

/// Single operations of all forms, of the first mix.
fn measure_latencies<F: Fabric>(
    fabric: &F,
    options: &RankedOptions,
    load: f64,
    report: &mut RankedReport,
    progress: &mut dyn FnMut(&str),
) -> Result<(), StudyError>
where
    F::Segment: Sync,
{
    let Some(&mix) = options.mixes.first() else { return Ok(()) };
    let mut note = |latency: LatencyReport| {
        let LatencyReport { table, latency_ns, .. } = &latency;
        progress(&format!("latency, {table}, load {load}: median {} ns, p99 {} ns", latency_ns.p50, latency_ns.p99));
        report.latencies.push(latency);
    };
    for &chunk in &options.chunks {
        let table = OneSided::allocate(fabric, options.sizes())?.with_chunks(Chunks::Fixed(chunk));
        let mut subject = Subject::fill(fabric, table, by_all, options.slots, load)?;
        let what = (LatencyTable::OneSided(chunk), load, mix);
        note(latency::measure(&mut subject, what, options.operations, latency::by_finder)?);
    }
    for &chunk in options.chunks.iter().filter(|&&chunk| chunk <= MOST_INLINE_SLOTS) {
        let mut subject = Subject::fill(fabric, inline(fabric, options, chunk)?, by_all, options.slots, load)?;
        let what = (LatencyTable::OneArray(chunk), load, mix);
        note(latency::measure(&mut subject, what, options.operations, latency::by_finder)?);
    }
    let mut subject = Subject::fill(fabric, Owned::allocate(fabric, options.sizes())?, by_one, options.slots, load)?;
    let what = (LatencyTable::Owners, load, mix);
    note(latency::measure(&mut subject, what, options.operations, latency::by_table)?);
    Ok(())
}

fn measure_owners<F: Fabric>(
    fabric: &F,
    options: &RankedOptions,
    load: f64,
    report: &mut RankedReport,
    progress: &mut dyn FnMut(&str),
) -> Result<(), StudyError> {
    let mut subject = Subject::fill(fabric, Owned::allocate(fabric, options.sizes())?, by_one, options.slots, load)?;
    for &mix in &options.mixes {
        let speed = subject.speed(mix, options.operations, 1)?;
        progress(&format!("owners, load {load}, {mix}: {:.3} million operations per second", speed.median));
        report.owned.push(OwnedReport { load, mix, speed });
    }
    Ok(())
}

fn check(options: &RankedOptions) -> Result<(), StudyError> {
    let possible = options.loads.iter().all(|load| LOADS.contains(load))
        && options.loads.is_sorted()
        && options.operations > 0
        && options.slots >= 1 << 10
        && !options.chunks.contains(&0)
        && !options.workers.contains(&0);
    if possible { Ok(()) } else { Err(StudyError::NothingToMeasure("give loads in order, operations and slots")) }
}
