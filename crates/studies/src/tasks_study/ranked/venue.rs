//! How the workers of all ranks come together: as one crew in memory that all of them address, or as a pool for each rank, with
//! gates between them.

use super::measure::{Measured, Subject};
use super::site::Site;
use crate::StudyError;
use crate::agreement::agree;
use crate::tasks_study::programs::{ForRanks, warm_up};
use crate::tasks_study::steals::Steals;
use std::cell::RefCell;
use std::time::Instant;
use tremula_fabric::{Fabric, Ground};
use tremula_tasks::{Alliance, Gate, Panicked, Pool, PoolOptions};

/// Runs of a small program before the clock starts.
const WARM_UPS: usize = 5;

/// Where runs take place.
pub(super) enum Venue<'f, F: Fabric> {
    /// Memory that all address.
    Site(Site<'f, F>),
    /// Memory of each, and a gate.
    Gates { fabric: &'f F, gate: RefCell<Gate<'f>> },
}

impl<'f, F: Fabric> Venue<'f, F>
where
    F::Segment: Send + Sync + 'static,
{
    /// *Collective.* With room for so many workers of each rank. Gates where nothing else is possible, or as told.
    pub(super) fn new(fabric: &'f F, workers: usize, gates: bool) -> Result<Venue<'f, F>, StudyError> {
        if gates || !Ground::is_possible(fabric)? {
            return Ok(Venue::Gates { fabric, gate: RefCell::new(Gate::new(fabric)?) });
        }
        Site::new(fabric, workers).map(Venue::Site)
    }

    pub(super) fn fabric(&self) -> &'f F {
        match self {
            Venue::Site(site) => site.fabric(),
            Venue::Gates { fabric, .. } => fabric,
        }
    }

    /// Are there gates?
    pub(super) fn has_gates(&self) -> bool {
        matches!(self, Venue::Gates { .. })
    }

    /// *Collective.* Let rank 0 do something, while all others wait. What it gives, on rank 0.
    pub(super) fn on_first<R>(&self, body: impl FnOnce() -> Result<R, StudyError>) -> Result<Option<R>, StudyError> {
        match self {
            Venue::Site(site) => site.on_first(body),
            Venue::Gates { fabric, .. } => agree(*fabric, if fabric.rank() == 0 { body().map(Some) } else { Ok(None) }),
        }
    }

    /// *Collective.* Run it once. On rank 0, what came out.
    pub(super) fn measure(&self, subject: &Subject<'_>) -> Result<Option<Measured>, StudyError> {
        match self {
            Venue::Site(site) => subject.measure(site),
            Venue::Gates { fabric, gate } => through_gates(*fabric, &mut gate.borrow_mut(), subject),
        }
    }
}

/// *Collective.* Run it once, by a pool for each rank that takes part.
fn through_gates<F: Fabric>(
    fabric: &F,
    gate: &mut Gate<'_>,
    subject: &Subject<'_>,
) -> Result<Option<Measured>, StudyError> {
    let (rank, Alliance { processes, each, tactics, .. }) = (fabric.rank(), subject.alliance);
    gate.admit(processes);
    // The thread that calls is the gate, which runs no tasks.
    let options =
        PoolOptions { workers: each + 1, tactics, stack_bytes: subject.stack_bytes, ..PoolOptions::default() };
    let pool = (rank < processes).then(|| Pool::new(options)).transpose();
    let mut pool = agree(fabric, pool.map_err(StudyError::from))?;
    let small = warm_up();
    let mut run = |pool: &mut Option<Pool>, program: &dyn ForRanks| -> Result<Option<u64>, Panicked> {
        match pool {
            Some(pool) => program.between(pool, gate, rank == 0),
            None => {
                gate.stand_by();
                Ok(None)
            }
        }
    };
    let told = |panicked| StudyError::Panicked { run: subject.name.clone(), panicked };
    // A panic is an error on all ranks, so that they all end here.
    (0..WARM_UPS).try_for_each(|_| run(&mut pool, &small).map(drop)).map_err(told)?;
    let before = pool.as_ref().map(Pool::statistics).unwrap_or_default();
    let start = Instant::now();
    let answer = run(&mut pool, subject.program).map_err(told);
    let seconds = start.elapsed().as_secs_f64();
    let checked = answer.and_then(|answer| match answer {
        Some(answer) if answer != subject.expected => {
            Err(StudyError::WrongAnswer { run: subject.name.clone(), answer, expected: subject.expected })
        }
        answer => Ok(answer),
    });
    let answer = agree(fabric, checked)?;
    let mut own = Steals::default();
    if let Some(pool) = &pool {
        own.add(&before, &pool.statistics());
    }
    let all = fabric.gather(0, &own.to_words())?.unwrap_or_default();
    let steals = all.iter().take(processes).map(|words| Steals::from_words(words)).collect();
    Ok(answer.map(|_| Measured { seconds, steals }))
}
