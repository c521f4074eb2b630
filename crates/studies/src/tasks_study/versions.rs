//! The versions of a program, and how each is timed.
//!
//! Every measurement has a pool of its own, made before the clock starts and gone after it has stopped: idle workers of
//! one version must not disturb another. (Those of `lace-ws` never sleep.) Small programs run first, for so long that
//! threads have started and the system has spread them over the processors; without that, runs of milliseconds say
//! nothing. A short program is run several times in a row, and the fastest run counts: what the host of a virtual machine takes
//! away meanwhile is not the program's.

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
/// A program that takes less than so many seconds is short.
const SHORT_SECONDS: f64 = 0.05;
/// So many times a short program is run.
const RUNS_IN_A_ROW: usize = 7;

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

/// Measure `program` once.
pub(crate) fn measure(
    program: &dyn Program,
    version: Version,
    workers: usize,
    stack_bytes: usize,
) -> Result<Measured, Failure> {
    let mut measured = match version {
        Version::Sequential => alone(program, stack_bytes, true)?,
        Version::Tremula => by_pool(program, OurPool::with_private_deques, workers, stack_bytes)?,
        Version::TremulaSplit => by_pool(program, OurPool::with_split_deques, workers, stack_bytes)?,
        #[cfg(feature = "peers")]
        Version::Rayon => by_rayon(program, workers, stack_bytes)?,
        #[cfg(feature = "peers")]
        Version::LaceWs => by_lace(program, workers, stack_bytes)?,
        #[cfg(not(feature = "peers"))]
        Version::Rayon | Version::LaceWs => unreachable!("not among the versions of this build"),
    };
    measured.answer = program.checked(measured.answer);
    Ok(measured)
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

/// Measure the sequential twin in a single run, however short.
pub(super) fn measure_once_alone(program: &dyn Program, stack_bytes: usize) -> Result<Measured, Failure> {
    let mut measured = alone(program, stack_bytes, false)?;
    measured.answer = program.checked(measured.answer);
    Ok(measured)
}

fn alone(program: &dyn Program, stack_bytes: usize, is_repeated: bool) -> Result<Measured, Failure> {
    on_large_stack(stack_bytes, || {
        repeatedly(|| Ok::<_, Failure>(warm_up().sequential()))?;
        let run = || timed(|| Ok(program.sequential()));
        if is_repeated { fastest(run) } else { run() }
    })?
}

/// Of several runs in a row, if the program is short.
fn fastest(mut run: impl FnMut() -> Result<Measured, Failure>) -> Result<Measured, Failure> {
    let mut best = run()?;
    for _ in 1..RUNS_IN_A_ROW {
        if best.seconds >= SHORT_SECONDS {
            break;
        }
        let other = run()?;
        if other.answer != best.answer {
            return Err(Failure::Unsteady(best.answer, other.answer));
        }
        if other.seconds < best.seconds {
            best = other;
        }
    }
    Ok(best)
}

fn timed(run: impl FnOnce() -> Result<u64, Failure>) -> Result<Measured, Failure> {
    let start = Instant::now();
    let answer = run()?;
    Ok(Measured { seconds: start.elapsed().as_secs_f64(), answer, statistics: None })
}

fn by_pool(
    program: &dyn Program,
    start: impl FnOnce(PoolOptions) -> io::Result<OurPool> + Send,
    workers: usize,
    stack_bytes: usize,
) -> Result<Measured, Failure> {
    // The first worker is the caller, hence the stack.
    on_large_stack(stack_bytes, || {
        let mut pool = start(PoolOptions { stack_bytes, ..PoolOptions::on_this_machine(workers) })?;
        repeatedly(|| warm_up().pool(&mut pool))?;
        fastest(|| {
            let before = pool.statistics();
            let mut measured = timed(|| Ok(program.pool(&mut pool)?))?;
            measured.statistics = Some((before, pool.statistics()));
            Ok(measured)
        })
    })?
}

#[cfg(feature = "peers")]
fn by_rayon(program: &dyn Program, workers: usize, stack_bytes: usize) -> Result<Measured, Failure> {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(workers).stack_size(stack_bytes);
    let pool = builder.build().map_err(io::Error::other)?;
    repeatedly(|| Ok::<_, Failure>(pool.install(|| warm_up().rayon())))?;
    // From outside, as with our pool: to hand the root task over is part of the run.
    fastest(|| timed(|| Ok(pool.install(|| program.rayon()))))
}

/// Its first worker is the caller; the stacks of the others have a fixed size.
#[cfg(feature = "peers")]
fn by_lace(program: &dyn Program, workers: usize, stack_bytes: usize) -> Result<Measured, Failure> {
    on_large_stack(stack_bytes, || {
        let mut pool = lace_ws::Lace::init(workers);
        repeatedly(|| Ok::<_, Failure>(pool.run(|worker| warm_up().lace(worker))))?;
        fastest(|| timed(|| Ok(pool.run(|worker| program.lace(worker)))))
    })?
}
