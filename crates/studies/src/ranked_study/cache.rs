//! The cache of operations, measured: rounds of puts, of gets that find them, and of gets that find nothing.

use super::{CacheReport, RankedOptions};
use crate::table_study::Random;
use crate::{Spread, StudyError};
use std::time::Instant;
use tremula_distributed::{Cache, CacheUser, Key};
use tremula_fabric::{Fabric, FabricError, Reduction};

/// Keys that a worker asks for at a time.
const BATCH: usize = 256;

/// Operations of one kind.
#[derive(Default)]
struct Kind {
    /// Million per second of all ranks together, by rounds.
    speeds: Vec<f64>,
    /// Requests of this rank to others.
    remote: u64,
}

/// *Collective.* Measure it.
pub(super) fn measure<F: Fabric>(
    fabric: &F,
    options: &RankedOptions,
    progress: &mut dyn FnMut(&str),
) -> Result<CacheReport, StudyError> {
    let cache = Cache::allocate(fabric, options.sizes())?;
    let (ranks, rank) = (fabric.ranks() as u64, fabric.rank() as u64);
    let a_round = options.slots as u64 / 2;
    let rounds = options.operations.div_ceil(a_round);
    let mut user = cache.user();
    let (mut puts, mut hits, mut misses) = (Kind::default(), Kind::default(), Kind::default());
    let (mut found, mut wrong) = (0, 0);
    for round in 0..rounds {
        let existing = round * a_round * ranks..(round + 1) * a_round * ranks;
        puts.time(fabric, &mut user, a_round, |user| {
            let mine = (existing.start + rank..existing.end).step_by(ranks as usize).map(key);
            mine.clone().try_for_each(|key| user.put(key, result(key)))
        })?;
        fabric.barrier();
        let mut random = Random(round << 32 | rank);
        let asked: Vec<Key> = (0..a_round).map(|_| key(existing.start + random.next() % (a_round * ranks))).collect();
        let unknown: Vec<Key> = (0..a_round).map(|_| key(1 << 63 | random.next())).collect();
        hits.time(fabric, &mut user, a_round, |user| {
            for batch in asked.chunks(BATCH) {
                for (&key, known) in batch.iter().zip(user.get(batch)?) {
                    found += u64::from(known.is_some());
                    wrong += u64::from(known.is_some_and(|known| known != result(key)));
                }
            }
            Ok(())
        })?;
        misses.time(fabric, &mut user, a_round, |user| {
            for batch in unknown.chunks(BATCH) {
                wrong += user.get(batch)?.iter().flatten().count() as u64;
            }
            Ok(())
        })?;
    }
    let mut sums = [found, wrong, puts.remote, hits.remote, misses.remote];
    fabric.all_reduce(Reduction::Sum, &mut sums)?;
    let [found, wrong, put, hit, miss] = sums;
    if wrong > 0 {
        return Err(StudyError::WrongTable { run: "cache".to_owned(), problem: "it returns what was not put" });
    }
    let each = |sum: u64| sum as f64 / (rounds * a_round * ranks) as f64;
    let spread = |kind: Kind| Spread::of(kind.speeds).expect("at least one round");
    let report = CacheReport {
        puts: spread(puts),
        hits: spread(hits),
        misses: spread(misses),
        remembered: each(found),
        remote_per_put: each(put),
        remote_per_hit: each(hit),
        remote_per_miss: each(miss),
    };
    progress(&format!("cache: {:.3} million gets per second of what was put", report.hits.median));
    Ok(report)
}

impl Kind {
    /// *Collective.* Time so many operations.
    fn time<F: Fabric>(
        &mut self,
        fabric: &F,
        user: &mut CacheUser<'_, F::Segment>,
        operations: u64,
        work: impl FnOnce(&mut CacheUser<'_, F::Segment>) -> Result<(), FabricError>,
    ) -> Result<(), StudyError> {
        let before = user.traffic().remote();
        fabric.barrier();
        let started = Instant::now();
        work(user)?;
        let mut longest = [started.elapsed().as_nanos() as u64];
        fabric.all_reduce(Reduction::Max, &mut longest)?;
        self.remote += user.traffic().remote() - before;
        self.speeds.push((operations * fabric.ranks() as u64) as f64 * 1e3 / longest[0].max(1) as f64);
        Ok(())
    }
}

fn key(number: u64) -> Key {
    [number, number.rotate_left(32)]
}

/// The only result that is ever put for a key.
fn result(key: Key) -> u64 {
    key[0].wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
