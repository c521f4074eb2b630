//! One-sided operations between ranks: `tremula bench fabric`.
//!
//! Rank 0 reads, writes and changes memory of its own, of a rank on its host and of one on another host, as far as there
//! are such: one operation after the other, and many at a time. Once more it does so while the other ranks compute and
//! never call the fabric, which must not slow it down. What is read is checked.
//!
//! ```
//! use tremula_fabric::threads;
//! use tremula_studies::fabric_study::{FabricOptions, run};
//! let options = FabricOptions { reps: 1, ..FabricOptions::quick() };
//! let reports = threads::run(2, |fabric| run(fabric, &options, &mut |_| ()).unwrap()).unwrap();
//! assert_eq!(reports[0].as_ref().unwrap().targets.len(), 3);
//! assert!(reports[1].is_none());
//! ```

mod measure;
mod report;
mod report_pictures;
mod report_text;

pub use report::{BySize, FabricReport, TargetReport};

use crate::StudyError;
use crate::agreement::agree;
use measure::Target;
use std::hint::black_box;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tremula_fabric::{Distance, Fabric, FabricError, Place, Segment};

/// Words of each rank; what is read and written lies behind the first few.
const WORDS: usize = 1 << 17;
/// Set when the ranks that compute shall stop.
const STOP: usize = 0;
/// Counters for atomic operations.
const COUNTER: usize = 8;
/// Words that hold their own offset.
const DATA: usize = 64;

/// What the study measures.
#[derive(Clone, Debug)]
pub struct FabricOptions {
    /// Measurements of each kind.
    pub reps: usize,
    /// How long each of them takes, about.
    pub time: Duration,
    /// Words that are moved at a time, from few to many.
    pub sizes: Vec<usize>,
}

impl Default for FabricOptions {
    fn default() -> FabricOptions {
        let sizes = vec![1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384, 65536];
        FabricOptions { reps: 5, time: Duration::from_millis(20), sizes }
    }
}

impl FabricOptions {
    /// For tests.
    pub fn quick() -> FabricOptions {
        FabricOptions { reps: 3, time: Duration::from_millis(1), sizes: vec![1, 16, 128, 1024] }
    }
}

/// *Collective.* Make the study; `progress` gets a line for each target on rank 0, which gets the report. If it fails, it does
/// so on all ranks, and on one of them at least with another reason than [`StudyError::Elsewhere`].
pub fn run<F: Fabric>(
    fabric: &F,
    options: &FabricOptions,
    progress: &mut dyn FnMut(&str),
) -> Result<Option<FabricReport>, StudyError> {
    agree(fabric, check(options))?;
    let segment = fabric.allocate(WORDS)?;
    for (offset, word) in segment.local().iter().enumerate().skip(DATA) {
        // Relaxed: the barrier orders it with the reads of others.
        word.store(offset as u64, Ordering::Relaxed);
    }
    fabric.barrier();
    let mut targets = Vec::new();
    for busy in [false, true] {
        let mut mine = Ok(());
        if fabric.rank() == 0 {
            mine = chosen(fabric, busy).map_err(StudyError::from).and_then(|chosen| {
                chosen.into_iter().try_for_each(|(rank, distance)| {
                    progress(&format!("{}{}", name(distance), if busy { ", which computes" } else { "" }));
                    targets.push(Target::new(&segment, rank, options).measure(distance, busy)?);
                    Ok(())
                })
            });
            // Whatever came of it: the others wait for this.
            (1..fabric.ranks()).try_for_each(|rank| segment.put_word(Place { rank, offset: STOP }, u64::from(busy)))?;
            segment.flush_all()?;
        } else if busy {
            compute_until_stopped(&segment);
        }
        agree(fabric, mine)?;
    }
    Ok((fabric.rank() == 0).then(|| FabricReport { ranks: fabric.ranks(), reps: options.reps, targets }))
}

fn check(options: &FabricOptions) -> Result<(), StudyError> {
    if options.reps == 0 || options.sizes.iter().any(|&words| words == 0 || words > WORDS - DATA) {
        return Err(StudyError::NothingToMeasure("give at least one run, and sizes from 1 to 131008 words"));
    }
    Ok(())
}

/// The first rank at each distance; those that compute are others.
fn chosen<F: Fabric>(fabric: &F, busy: bool) -> Result<Vec<(usize, Distance)>, FabricError> {
    let mut chosen: Vec<(usize, Distance)> = Vec::new();
    for rank in usize::from(busy)..fabric.ranks() {
        let distance = fabric.distance(rank)?;
        if !chosen.iter().any(|&(_, known)| known == distance) {
            chosen.push((rank, distance));
        }
    }
    Ok(chosen)
}

/// What ranks do that have no time for the fabric.
fn compute_until_stopped(segment: &impl Segment) {
    let mut number = 1u64;
    // Acquire: as any look at a word that others write; nothing else is needed.
    while segment.local()[STOP].load(Ordering::Acquire) == 0 {
        number = (0..1000).fold(number, |number, step| black_box(number.wrapping_mul(0x9E37_79B9).wrapping_add(step)));
    }
    black_box(number);
}

/// A distance in words.
fn name(distance: Distance) -> &'static str {
    match distance {
        Distance::Same => "own memory",
        Distance::CoreGroup | Distance::Socket | Distance::Machine => "same host",
        Distance::Remote => "other host",
    }
}
