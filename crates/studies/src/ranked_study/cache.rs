//! The caches of operations, measured: rounds of puts, of gets that find them, and of gets that find nothing.

use super::{CacheForm, CacheReport, RankedOptions};
use crate::agreement::agree;
use crate::table_study::Random;
use crate::{Spread, StudyError};
use std::time::Instant;
use tremula_distributed::{Cache, Key, Owned, Reach, ResultCache, Sizes};
use tremula_fabric::{Fabric, FabricError, Reduction};

/// Keys that a worker asks for at a time.
const BATCH: usize = 256;
/// The same where that takes the time of a message and its answer.
const LARGE_BATCH: usize = 16_384;

/// Operations of one kind.
#[derive(Default)]
struct Kind {
    /// Million per second of all ranks together, by rounds.
    speeds: Vec<f64>,
    /// Requests of this rank to others.
    remote: u64,
}

/// *Collective.* Measure both forms.
pub(super) fn measure<F: Fabric>(
    fabric: &F,
    options: &RankedOptions,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<CacheReport>, StudyError> {
    let cache = Cache::allocate(fabric, options.sizes())?;
    let one_sided = measure_one(fabric, options, CacheForm::OneSided, &mut cache.user(), BATCH)?;
    // Hardly any nodes: the mail is what matters.
    let mut table = Owned::allocate_with_results(fabric, Sizes { slots: 1, nodes: 1 }, options.slots)?;
    let owners = measure_one(fabric, options, CacheForm::Owners, &mut table.results(), LARGE_BATCH)?;
    let reports = vec![one_sided, owners];
    for CacheReport { form, hits, .. } in &reports {
        progress(&format!("cache, {form:?}: {:.3} million gets per second of what was put", hits.median));
    }
    Ok(reports)
}

fn measure_one<F: Fabric, C: ResultCache>(
    fabric: &F,
    options: &RankedOptions,
    form: CacheForm,
    cache: &mut C,
    batch: usize,
) -> Result<CacheReport, StudyError> {
    let (ranks, rank) = (fabric.ranks() as u64, fabric.rank() as u64);
    let a_round = options.slots as u64 / 2;
    let rounds = options.operations.div_ceil(a_round);
    let (mut puts, mut hits, mut misses) = (Kind::default(), Kind::default(), Kind::default());
    let (mut found, mut wrong) = (0, 0);
    for round in 0..rounds {
        let first = round * a_round * ranks;
        let mine: Vec<(Key, u64)> =
            (0..a_round).map(|number| key(first + number * ranks + rank)).map(|key| (key, result(key))).collect();
        puts.time(fabric, cache, a_round, |cache| mine.chunks(batch).try_for_each(|batch| cache.put(batch)))?;
        fabric.barrier();
        let mut random = Random(round << 32 | rank);
        let asked: Vec<Key> = (0..a_round).map(|_| key(first + random.next() % (a_round * ranks))).collect();
        let unknown: Vec<Key> = (0..a_round).map(|_| key(1 << 63 | random.next())).collect();
        hits.time(fabric, cache, a_round, |cache| {
            for batch in asked.chunks(batch) {
                for (&key, known) in batch.iter().zip(cache.get(batch)?) {
                    found += u64::from(known.is_some());
                    wrong += u64::from(known.is_some_and(|known| known != result(key)));
                }
            }
            Ok(())
        })?;
        misses.time(fabric, cache, a_round, |cache| {
            for batch in unknown.chunks(batch) {
                wrong += cache.get(batch)?.iter().flatten().count() as u64;
            }
            Ok(())
        })?;
    }
    let mut sums = [found, wrong, puts.remote, hits.remote, misses.remote];
    fabric.all_reduce(Reduction::Sum, &mut sums)?;
    let [found, wrong, put, hit, miss] = sums;
    if wrong > 0 {
        return Err(StudyError::WrongTable { run: format!("cache, {form:?}"), problem: "it returns what was not put" });
    }
    let each = |sum: u64| sum as f64 / (rounds * a_round * ranks) as f64;
    let spread = |kind: Kind| Spread::of(kind.speeds).expect("at least one round");
    Ok(CacheReport {
        form,
        puts: spread(puts),
        hits: spread(hits),
        misses: spread(misses),
        remembered: each(found),
        remote_per_put: each(put),
        remote_per_hit: each(hit),
        remote_per_miss: each(miss),
    })
}

impl Kind {
    /// *Collective.* Time so many operations, until no rank is needed for them any more.
    fn time<F: Fabric, C: ResultCache>(
        &mut self,
        fabric: &F,
        cache: &mut C,
        operations: u64,
        work: impl FnOnce(&mut C) -> Result<(), FabricError>,
    ) -> Result<(), StudyError> {
        let before = remote(cache);
        fabric.barrier();
        let started = Instant::now();
        let outcome = work(cache);
        cache.settle();
        let mut longest = [started.elapsed().as_nanos() as u64];
        agree(fabric, outcome.map_err(StudyError::from))?;
        fabric.all_reduce(Reduction::Max, &mut longest)?;
        self.remote += remote(cache) - before;
        self.speeds.push((operations * fabric.ranks() as u64) as f64 * 1e3 / longest[0].max(1) as f64);
        Ok(())
    }
}

/// Requests to other ranks, ever.
fn remote(cache: &impl ResultCache) -> u64 {
    let requests = cache.requests();
    requests[Reach::Host as usize] + requests[Reach::Far as usize]
}

fn key(number: u64) -> Key {
    [number, number.rotate_left(32)]
}

/// The only result that is ever put for a key.
fn result(key: Key) -> u64 {
    key[0].wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
