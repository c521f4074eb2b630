//! One run of a program by the workers of several processes, timed.
//!
//! Every measurement has crews and threads of its own. Threads take part in small programs at first, as one crew, until
//! all are awake, then in the program itself as another crew, so that counters are those of the program alone.

use super::site::{Crews, Dismissal, Site};
use crate::StudyError;
use crate::agreement::agree;
use crate::stack::on_large_stack;
use crate::tasks_study::programs::{ForRanks, warm_up};
use crate::tasks_study::steals::Steals;
use crate::tasks_study::versions::repeatedly;
use std::thread::{Builder, Scope, scope};
use std::time::{Duration, Instant};
use std::{hint, io};
use tremula_fabric::Fabric;
use tremula_tasks::{Alliance, Panicked, Statistics};

/// A worker that waits takes no other task on when less stack than this is left.
const LEAST_STACK: usize = 1 << 20;
/// How long threads may take to go over from one crew to the other: they are awake, and do nothing else.
const CHANGE_OVER: Duration = Duration::from_micros(20);

/// What is run, and how.
pub(super) struct Subject<'a> {
    /// For messages.
    pub(super) name: String,
    pub(super) program: &'a dyn ForRanks,
    pub(super) expected: u64,
    pub(super) alliance: Alliance,
    /// Stack of each worker.
    pub(super) stack_bytes: usize,
}

/// What a run took, and what the workers of each rank did in it.
pub(super) struct Measured {
    pub(super) seconds: f64,
    pub(super) steals: Vec<Steals>,
}

impl Subject<'_> {
    /// *Collective.* Run it once. On rank 0, what came out.
    pub(super) fn measure<F: Fabric>(&self, site: &Site<'_, F>) -> Result<Option<Measured>, StudyError>
    where
        F::Segment: Send + Sync + 'static,
    {
        let rank = site.fabric().rank();
        let crews = site.crews(&self.alliance);
        let seconds = scope(|scope| {
            let _end = (rank == 0).then(|| Dismissal(|| crews.dismiss()));
            agree(site.fabric(), self.start(scope, &crews, rank).map_err(StudyError::from))?;
            site.on_first(|| self.lead(&crews))
        })?;
        let mut own = Steals::default();
        own.add(&Statistics::default(), &crews.measured.statistics());
        let all = site.fabric().gather(0, &own.to_words())?.unwrap_or_default();
        let steals = all.iter().take(self.alliance.processes).map(|words| Steals::from_words(words)).collect();
        Ok(seconds.map(|seconds| Measured { seconds, steals }))
    }

    /// Start the workers of this rank, but for the first of all.
    fn start<'s>(&'s self, scope: &'s Scope<'s, '_>, crews: &'s Crews, rank: usize) -> io::Result<()> {
        let numbers = if rank < self.alliance.processes { self.alliance.numbers(rank) } else { 0..0 };
        numbers.filter(|&number| number != 0).try_for_each(|number| {
            let thread = Builder::new().name(format!("worker {number}")).stack_size(self.stack_bytes);
            thread.spawn_scoped(scope, move || self.follow(crews, number)).map(drop)
        })
    }

    /// Life of a worker.
    fn follow(&self, crews: &Crews, number: usize) {
        let small = warm_up();
        for (crew, program) in [(&crews.warm_up, &small as &dyn ForRanks), (&crews.measured, self.program)] {
            crew.in_each_run(number, |least_stack| program.follow(crew, number, least_stack));
        }
    }

    /// Run it as the first worker, and check the answer. The seconds that it took.
    fn lead(&self, crews: &Crews) -> Result<f64, StudyError> {
        let run = || {
            repeatedly(|| warm_up().lead(&crews.warm_up, LEAST_STACK))?;
            crews.warm_up.dismiss();
            wait(CHANGE_OVER);
            let start = Instant::now();
            let answer = self.program.lead(&crews.measured, LEAST_STACK)?;
            Ok((start.elapsed().as_secs_f64(), answer))
        };
        let outcome: Result<_, Panicked> = on_large_stack(self.stack_bytes, run)?;
        let name = || self.name.clone();
        let (seconds, answer) = outcome.map_err(|panicked| StudyError::Panicked { run: name(), panicked })?;
        if answer != self.expected {
            return Err(StudyError::WrongAnswer { run: name(), answer, expected: self.expected });
        }
        Ok(seconds)
    }
}

/// Wait awake: whoever sleeps loses the processor, and comes back late.
fn wait(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        hint::spin_loop();
    }
}
