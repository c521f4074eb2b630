//! Work stealing between processes: `tremula bench tasks` under a launcher of MPI.
//!
//! The workers of all ranks are one crew whose cells lie in memory that all of them address, as in exploration by ranks of
//! one host. Ranks of several hosts have a pool each, and a gate that carries tasks between them. First a program in which one
//! worker has all tasks tells how long a steal takes, within a process and between two. Then each program runs as a sequential
//! twin on rank 0, and by several numbers of ranks and workers; every answer is checked, and shapes take turns. Every rank has its
//! own copy of a program. Programs whose answer is in the memory of one process are left out.
//!
//! ```
//! use tremula_fabric::threads;
//! use tremula_studies::tasks_study::ranked::{RankedTasksOptions, run};
//! let programs = vec!["queens".to_owned()];
//! let options = RankedTasksOptions { quick: true, reps: 1, workers: vec![1], programs, ..RankedTasksOptions::default() };
//! let reports = threads::run(2, |fabric| run(fabric, &options, &mut |_| ()).unwrap()).unwrap();
//! assert_eq!(reports[0].as_ref().unwrap().programs[0].answer, 724);
//! ```

mod measure;
mod report;
mod report_pictures;
mod report_text;
mod site;
mod tactic;
mod venue;

pub use report::{LatencyReport, RankedProgramReport, RankedTasksReport, ShapeReport, Way};
pub use tactic::Tactic;

use super::options::doublings;
use super::programs::{Entry, ForRanks, Hoard};
use super::versions::{Version, measure as measure_version};
use super::{Steals, TasksOptions, chosen_programs};
use crate::agreement::agree;
use crate::stack::on_large_stack;
use crate::{Spread, StudyError, numbers};
use measure::Subject;
use tremula_fabric::Fabric;
use tremula_fabric::topology::cpu_limit;
use tremula_tasks::Alliance;
use venue::Venue;

/// What the study measures.
#[derive(Clone, Debug)]
pub struct RankedTasksOptions {
    /// Numbers of workers of each rank, all above zero; none: powers of two, as far as there are processors.
    pub workers: Vec<usize>,
    /// Runs of each shape.
    pub reps: usize,
    /// Small sizes, for tests.
    pub quick: bool,
    /// Programs by name, such as `fib(42)`, or all sizes of one, such as `fib`; none: all that ranks can run.
    pub programs: Vec<String>,
    /// Ways to hand work over.
    pub tactics: Vec<Tactic>,
    /// Have a pool for each rank and gates between them, as ranks of several hosts have in any case.
    pub gates: bool,
    /// Stack of each worker, and of the sequential version. Touched only as deep as recursion goes.
    pub stack_bytes: usize,
}

impl Default for RankedTasksOptions {
    fn default() -> RankedTasksOptions {
        let TasksOptions { reps, quick, stack_bytes, .. } = TasksOptions::default();
        let tactics = vec![Tactic::StealOne, Tactic::StealMany];
        RankedTasksOptions {
            workers: Vec::new(),
            reps,
            quick,
            programs: Vec::new(),
            tactics,
            gates: false,
            stack_bytes,
        }
    }
}

/// *Collective.* Make the study; `progress` gets a line for each run on rank 0, which gets the report. If it fails, it does so
/// on all ranks, and on one of them with another reason than [`StudyError::Elsewhere`].
pub fn run<F: Fabric>(
    fabric: &F,
    options: &RankedTasksOptions,
    progress: &mut dyn FnMut(&str),
) -> Result<Option<RankedTasksReport>, StudyError>
where
    F::Segment: Send + Sync + 'static,
{
    let chosen = agree(fabric, check(options).and_then(|()| chosen_programs(options.quick, &options.programs)))?;
    let (shared, left_out): (Vec<&Entry>, Vec<&Entry>) =
        chosen.iter().partition(|entry| entry.program.for_ranks().is_some());
    let workers = worker_counts(options, fabric.ranks());
    let venue = Venue::new(fabric, workers.iter().copied().max().unwrap_or(1), options.gates)?;
    let gates = venue.has_gates();
    let mut study = Study { venue, options, workers, progress };
    let latency = study.latency()?;
    // All programs, also on ranks that get no report of them.
    let programs = shared.into_iter().map(|entry| study.program(entry)).collect::<Result<Vec<_>, _>>()?;
    Ok((fabric.rank() == 0).then(|| RankedTasksReport {
        processors: cpu_limit(),
        ranks: fabric.ranks(),
        gates,
        reps: options.reps,
        latency,
        programs: programs.into_iter().flatten().collect(),
        left_out: left_out.into_iter().map(|entry| entry.name.clone()).collect(),
    }))
}

fn check(options: &RankedTasksOptions) -> Result<(), StudyError> {
    if options.reps == 0 || options.tactics.is_empty() || options.workers.contains(&0) {
        return Err(StudyError::NothingToMeasure("give at least one run, one worker and one tactic"));
    }
    Ok(())
}

fn worker_counts(options: &RankedTasksOptions, ranks: usize) -> Vec<usize> {
    if options.workers.is_empty() { doublings((cpu_limit() / ranks).max(1)) } else { options.workers.clone() }
}

/// The study under way.
struct Study<'a, F: Fabric> {
    venue: Venue<'a, F>,
    options: &'a RankedTasksOptions,
    workers: Vec<usize>,
    progress: &'a mut dyn FnMut(&str),
}

/// Runs by one shape with one tactic.
struct Runs {
    tactic: Tactic,
    alliance: Alliance,
    seconds: Vec<f64>,
    /// By rank.
    steals: Vec<Steals>,
}

impl<F: Fabric> Study<'_, F>
where
    F::Segment: Send + Sync + 'static,
{
    /// *Collective.* How long a steal takes within a process and between two.
    fn latency(&mut self) -> Result<Vec<LatencyReport>, StudyError> {
        let hoard = Hoard(if self.options.quick { 1000 } else { 16_000 });
        let ways: &[_] = if self.venue.fabric().ranks() > 1 { &[(1, 2), (2, 1)] } else { &[(1, 2)] };
        let shape = |&tactic| ways.iter().map(move |&(ranks, workers)| Runs::new(tactic, ranks, workers));
        let mut all: Vec<Runs> = self.options.tactics.iter().flat_map(shape).collect();
        for _ in 0..self.options.reps {
            for runs in &mut all {
                self.once_more(runs, "hoard", &hoard, hoard.0)?;
            }
        }
        Ok(all.iter().map(Runs::latency).collect())
    }

    /// *Collective.* All about one program, on rank 0.
    fn program(&mut self, entry: &Entry) -> Result<Option<RankedProgramReport>, StudyError> {
        let program = entry.program.for_ranks().expect("only programs for ranks are chosen");
        let ranks = doublings(self.venue.fabric().ranks());
        let shapes = self.workers.iter().flat_map(|&workers| ranks.iter().map(move |&ranks| (ranks, workers)));
        let runs = |(ranks, workers)| self.options.tactics.iter().map(move |&tactic| Runs::new(tactic, ranks, workers));
        let mut all: Vec<Runs> = shapes.flat_map(runs).collect();
        let (mut sequential, mut expected) = (Vec::new(), entry.expected);
        for _ in 0..self.options.reps {
            if let Some((seconds, answer)) = self.sequential(entry, expected)? {
                sequential.push(seconds);
                expected = Some(answer);
            }
            for runs in &mut all {
                // Rank 0 checks the answer; it knows what is expected by now.
                self.once_more(runs, &entry.name, program, expected.unwrap_or(0))?;
            }
        }
        let stack_bytes = self.options.stack_bytes;
        let tasks = self.venue.on_first(|| Ok(on_large_stack(stack_bytes, || entry.program.tasks())?))?;
        Ok(tasks.map(|tasks| {
            let alone = Spread::of(sequential).expect("there was a run");
            let shapes = all.into_iter().map(|runs| runs.summary(&alone)).collect();
            let answer = expected.expect("there was a run");
            RankedProgramReport { name: entry.name.clone(), answer, tasks, sequential_seconds: alone, shapes }
        }))
    }

    /// *Collective.* Run the sequential twin on rank 0: seconds and answer.
    fn sequential(&mut self, entry: &Entry, expected: Option<u64>) -> Result<Option<(f64, u64)>, StudyError> {
        let name = format!("{}, sequential", entry.name);
        let run = || {
            let measured = measure_version(&*entry.program, Version::Sequential, 1, 1, self.options.stack_bytes);
            let measured = measured.map_err(|failure| failure.of(name.clone()))?;
            match expected {
                Some(expected) if measured.answer != expected => {
                    Err(StudyError::WrongAnswer { run: name.clone(), answer: measured.answer, expected })
                }
                _ => Ok((measured.seconds, measured.answer)),
            }
        };
        let measured = self.venue.on_first(run)?;
        if let Some((seconds, _)) = measured {
            (self.progress)(&format!("{name}: {} s", numbers::significant(seconds)));
        }
        Ok(measured)
    }

    /// *Collective.* Measure once more.
    fn once_more(
        &mut self,
        runs: &mut Runs,
        program_name: &str,
        program: &dyn ForRanks,
        expected: u64,
    ) -> Result<(), StudyError> {
        let Runs { tactic, alliance: Alliance { processes, each, .. }, .. } = *runs;
        let name = format!("{program_name}, {tactic}, {processes} x {each}");
        let stack_bytes = self.options.stack_bytes;
        let subject = Subject { name: name.clone(), program, expected, alliance: runs.alliance, stack_bytes };
        if let Some(measured) = self.venue.measure(&subject)? {
            (self.progress)(&format!("{name}: {} s", numbers::significant(measured.seconds)));
            runs.seconds.push(measured.seconds);
            runs.steals.iter_mut().zip(&measured.steals).for_each(|(sum, steals)| sum.add_all(steals));
        }
        Ok(())
    }
}

impl Runs {
    fn new(tactic: Tactic, ranks: usize, workers: usize) -> Runs {
        // Where a launcher divides processors, this takes workers for a crowd that are none.
        let crowd = ranks * workers > cpu_limit();
        let alliance = Alliance { processes: ranks, each: workers, tactics: tactic.tactics(), crowd };
        Runs { tactic, alliance, seconds: Vec::new(), steals: vec![Steals::default(); ranks] }
    }

    /// What all ranks have done.
    fn sum(&self) -> Steals {
        let mut sum = Steals::default();
        self.steals.iter().for_each(|steals| sum.add_all(steals));
        sum
    }

    fn latency(&self) -> LatencyReport {
        let (way, latency_ns) = match self.alliance.processes {
            1 => (Way::Within, self.sum().within_ns()),
            _ => (Way::Between, self.sum().between_ns),
        };
        LatencyReport { tactic: self.tactic, way, latency_ns }
    }

    fn summary(self, sequential: &Spread) -> ShapeReport {
        let seconds = Spread::of(self.seconds).expect("there was a run");
        ShapeReport {
            tactic: self.tactic,
            ranks: self.alliance.processes,
            workers: self.alliance.each,
            speed_up: sequential.median / seconds.median,
            seconds,
            steals: self.steals,
        }
    }
}
