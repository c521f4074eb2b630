//! The versions of a program, and how each is timed.
//!
//! Every measurement has a pool of its own, made before the clock starts and gone after it has stopped: idle workers of
//! one version must not disturb another. (Those of `lace-ws` never sleep.) Small programs run first, for so long that
//! threads have started and the system has spread them over the processors; without that, runs of milliseconds say
//! nothing. Of several runs in a row the fastest counts: what the host of a virtual machine takes away meanwhile is not the
//! program's.

use super::our_pool::OurPool;
use super::programs::{Program, warm_up};
use crate::StudyError;
use crate::stack::on_large_stack;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::hint::black_box;
use std::io;
use std::time::{Duration, Instant};
use tremula_tasks::{Panicked, PoolOptions, Statistics};

/// For so long small programs run before the clock starts.
const WARM_UP: Duration = Duration::from_millis(10);

/// Who runs the tasks.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Version {
    /// Nobody: plain recursion without tasks.
    Sequential,
    /// The pool of `tremula-tasks` with private deques: thieves ask, victims answer.
    Tremula,
    /// The pool of `tremula-tasks` with split deques: thieves help themselves to the shared part.
    TremulaSplit,
    /// The crate `rayon`.
    Rayon,
    /// The crate `lace-ws`, a port of Lace.
    LaceWs,
}

impl Version {
    /// Versions with tasks that this build has.
    pub const PARALLEL: &[Version] = match cfg!(feature = "peers") {
        true => &[Version::Tremula, Version::TremulaSplit, Version::Rayon, Version::LaceWs],
        false => &[Version::Tremula, Version::TremulaSplit],
    };

    /// As people call it.
    pub fn name(self) -> &'static str {
        match self {
            Version::Sequential => "sequential",
            Version::Tremula => "tremula",
            Version::TremulaSplit => "tremula-split",
            Version::Rayon => "rayon",
            Version::LaceWs => "lace-ws",
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// What one run took and gave.
pub(crate) struct Measured {
    pub(crate) seconds: f64,
    pub(crate) answer: u64,
    /// Counters of our pool, before and after the run.
    pub(crate) statistics: Option<(Statistics, Statistics)>,
}

/// Why there is no measurement.
pub(crate) enum Failure {
    Threads(io::Error),
    Panicked(Panicked),
    /// One run of a program gave this answer, and the next one that.
    Unsteady(u64, u64),
}

impl Failure {
    /// As the failure of a study, in the run of this name.
    pub(super) fn of(self, run: String) -> StudyError {
        match self {
            Failure::Threads(error) => StudyError::Threads(error),
            Failure::Panicked(panicked) => StudyError::Panicked { run, panicked },
            Failure::Unsteady(expected, answer) => StudyError::WrongAnswer { run, answer, expected },
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Threads(error)
    }
}

impl From<Panicked> for Failure {
    fn from(panicked: Panicked) -> Failure {
        Failure::Panicked(panicked)
    }
}

/// Run `program` so many times in a row, each time with a check of its answer, and tell of the fastest.
pub(crate) fn measure(
    program: &dyn Program,
    version: Version,
    workers: usize,
    in_a_row: usize,
    stack_bytes: usize,
) -> Result<Measured, Failure> {
    let series = Series { program, in_a_row };
    match version {
        Version::Sequential => on_large_stack(stack_bytes, || {
            repeatedly(|| Ok::<_, Failure>(warm_up().sequential()))?;
            series.fastest(|| timed(|| Ok(program.sequential())))
        })?,
        Version::Tremula => by_pool(series, OurPool::with_private_deques, workers, stack_bytes),
        Version::TremulaSplit => by_pool(series, OurPool::with_split_deques, workers, stack_bytes),
        #[cfg(feature = "peers")]
        Version::Rayon => by_rayon(series, workers, stack_bytes),
        #[cfg(feature = "peers")]
        Version::LaceWs => by_lace(series, workers, stack_bytes),
        #[cfg(not(feature = "peers"))]
        Version::Rayon | Version::LaceWs => unreachable!("not among the versions of this build"),
    }
}

/// Run a small program until its workers are warm.
pub(super) fn repeatedly<E>(mut run: impl FnMut() -> Result<u64, E>) -> Result<(), E> {
    let start = Instant::now();
    while start.elapsed() < WARM_UP {
        // Nobody needs the answer, but the compiler must not know that.
        black_box(run()?);
    }
    Ok(())
}

/// Runs of a program, one after the other.
#[derive(Copy, Clone)]
struct Series<'a> {
    program: &'a dyn Program,
    in_a_row: usize,
}

impl Series<'_> {
    /// The fastest run. All answers are looked at, not only that one's.
    fn fastest(self, mut run: impl FnMut() -> Result<Measured, Failure>) -> Result<Measured, Failure> {
        let mut checked_run = || -> Result<Measured, Failure> {
            let measured = run()?;
            Ok(Measured { answer: self.program.checked(measured.answer), ..measured })
        };
        let mut best = checked_run()?;
        for _ in 1..self.in_a_row {
            let other = checked_run()?;
            if other.answer != best.answer {
                return Err(Failure::Unsteady(best.answer, other.answer));
            }
            if other.seconds < best.seconds {
                best = other;
            }
        }
        Ok(best)
    }
}

fn timed(run: impl FnOnce() -> Result<u64, Failure>) -> Result<Measured, Failure> {
    let start = Instant::now();
    let answer = run()?;
    Ok(Measured { seconds: start.elapsed().as_secs_f64(), answer, statistics: None })
}

fn by_pool(
    series: Series<'_>,
    start: impl FnOnce(PoolOptions) -> io::Result<OurPool> + Send,
    workers: usize,
    stack_bytes: usize,
) -> Result<Measured, Failure> {
    // The first worker is the caller, hence the stack.
    on_large_stack(stack_bytes, || {
        let mut pool = start(PoolOptions { stack_bytes, ..PoolOptions::on_this_machine(workers) })?;
        repeatedly(|| warm_up().pool(&mut pool))?;
        series.fastest(|| {
            let before = pool.statistics();
            let mut measured = timed(|| Ok(series.program.pool(&mut pool)?))?;
            measured.statistics = Some((before, pool.statistics()));
            Ok(measured)
        })
    })?
}

#[cfg(feature = "peers")]
fn by_rayon(series: Series<'_>, workers: usize, stack_bytes: usize) -> Result<Measured, Failure> {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(workers).stack_size(stack_bytes);
    let pool = builder.build().map_err(io::Error::other)?;
    repeatedly(|| Ok::<_, Failure>(pool.install(|| warm_up().rayon())))?;
    // From outside, as with our pool: to hand the root task over is part of the run.
    series.fastest(|| timed(|| Ok(pool.install(|| series.program.rayon()))))
}

/// Its first worker is the caller; the stacks of the others have a fixed size.
#[cfg(feature = "peers")]
fn by_lace(series: Series<'_>, workers: usize, stack_bytes: usize) -> Result<Measured, Failure> {
    on_large_stack(stack_bytes, || {
        let mut pool = lace_ws::Lace::init(workers);
        repeatedly(|| Ok::<_, Failure>(pool.run(|worker| warm_up().lace(worker))))?;
        series.fastest(|| timed(|| Ok(pool.run(|worker| series.program.lace(worker)))))
    })?
}
