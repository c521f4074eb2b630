//! Work stealing beside its peers: `tremula bench tasks`.
//!
//! Each program runs as a sequential twin, on our pool, on `rayon` and on `lace-ws`, with several numbers of workers.
//! All versions of a program spawn the same tasks, every answer is checked, and the versions take turns, in an order that is
//! drawn anew each time: so a change in the machine's speed, and what the run before leaves behind, hits them alike. (After
//! the sequential twin, for one, all processors but one have been idle.)
//! [`ranked`] does the same with workers of several processes.
//!
//! ```no_run
//! use tremula_studies::tasks_study::{TasksOptions, run};
//! let options = TasksOptions { quick: true, ..TasksOptions::default() };
//! let report = run(&options, &mut |line| eprintln!("{line}"))?;
//! println!("{report}");
//! for picture in report.pictures() {
//!     std::fs::write(&picture.file_name, &picture.svg)?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod options;
mod our_pool;
mod programs;
pub mod ranked;
mod report;
mod report_pictures;
mod report_text;
mod steals;
mod versions;

pub use options::TasksOptions;
pub use report::{ProgramReport, TasksReport, VersionReport};
pub use steals::Steals;
pub use versions::Version;

use crate::numbers;
use crate::stack::on_large_stack;
use crate::table_study::Random;
use crate::{Spread, StudyError};
use programs::Entry;
use tremula_fabric::topology::cpu_limit;
use versions::{Measured, measure};

/// Make the study; `progress` gets a line for each run.
pub fn run(options: &TasksOptions, progress: &mut dyn FnMut(&str)) -> Result<TasksReport, StudyError> {
    check(options)?;
    let chosen = chosen_programs(options.quick, &options.programs)?;
    let programs = chosen.iter().map(|entry| study(entry, options, progress)).collect::<Result<_, _>>()?;
    Ok(TasksReport { processors: cpu_limit(), reps: options.reps, programs })
}

fn check(options: &TasksOptions) -> Result<(), StudyError> {
    if options.reps == 0 || options.workers.is_empty() || options.workers.contains(&0) {
        return Err(StudyError::NothingToMeasure("give at least one run and one worker"));
    }
    if options.versions.iter().any(|version| !Version::PARALLEL.contains(version)) {
        return Err(StudyError::NothingToMeasure("this build does not have all the versions asked for"));
    }
    Ok(())
}

/// Names of all programs at the sizes that `quick` means.
pub fn program_names(quick: bool) -> Vec<String> {
    all_programs(quick).into_iter().map(|entry| entry.name).collect()
}

fn all_programs(quick: bool) -> Vec<Entry> {
    if quick { programs::quick() } else { programs::full() }
}

/// Programs of these names; all if there are none.
fn chosen_programs(quick: bool, names: &[String]) -> Result<Vec<Entry>, StudyError> {
    let is_meant = |entry: &Entry, name: &str| entry.name == name || entry.name.split('(').next() == Some(name);
    let all = all_programs(quick);
    let unknown = names.iter().find(|name| !all.iter().any(|entry| is_meant(entry, name)));
    if let Some(name) = unknown {
        let known = program_names(quick).join(", ");
        return Err(StudyError::UnknownProgram { name: name.clone(), known });
    }
    let is_chosen = |entry: &Entry| names.is_empty() || names.iter().any(|name| is_meant(entry, name));
    Ok(all.into_iter().filter(is_chosen).collect())
}

/// A program whose sequential twin takes less is short,
const SHORT_SECONDS: f64 = 0.1;
/// and every measurement of it, in all versions, is the fastest of so many runs in a row.
const SHORT_IN_A_ROW: usize = 7;

/// How many runs a measurement of a program is.
fn runs_in_a_row(entry: &Entry, options: &TasksOptions) -> Result<usize, StudyError> {
    let trial = measure(&*entry.program, Version::Sequential, 1, 1, options.stack_bytes);
    let trial = trial.map_err(|failure| failure.of(format!("{}, on trial", entry.name)))?;
    Ok(if trial.seconds < SHORT_SECONDS { SHORT_IN_A_ROW } else { 1 })
}

/// Runs of one version with one number of workers.
struct Runs {
    version: Version,
    workers: usize,
    seconds: Vec<f64>,
    steals: Option<Steals>,
}

fn study(entry: &Entry, options: &TasksOptions, progress: &mut dyn FnMut(&str)) -> Result<ProgramReport, StudyError> {
    let mut all = vec![Runs::new(Version::Sequential, 1)];
    for &workers in &options.workers {
        all.extend(options.versions.iter().map(|&version| Runs::new(version, workers)));
    }
    let in_a_row = runs_in_a_row(entry, options)?;
    let mut expected = entry.expected;
    let mut random = Random(0);
    for _ in 0..options.reps {
        let mut order: Vec<&mut Runs> = all.iter_mut().collect();
        order.sort_by_cached_key(|_| random.next());
        for runs in order {
            let answer = runs.once_more(entry, in_a_row, options, progress)?;
            let expected = *expected.get_or_insert(answer);
            if answer != expected {
                return Err(StudyError::WrongAnswer { run: runs.name(entry), answer, expected });
            }
        }
    }
    let tasks = on_large_stack(options.stack_bytes, || entry.program.tasks())?;
    Ok(summary(entry, expected.expect("there was a run"), tasks, all))
}

impl Runs {
    fn new(version: Version, workers: usize) -> Runs {
        Runs { version, workers, seconds: Vec::new(), steals: None }
    }

    fn name(&self, entry: &Entry) -> String {
        match self.version {
            Version::Sequential => format!("{}, sequential", entry.name),
            version => format!("{}, {version}, workers {}", entry.name, self.workers),
        }
    }

    /// Measure once more; returns the answer.
    fn once_more(
        &mut self,
        entry: &Entry,
        in_a_row: usize,
        options: &TasksOptions,
        progress: &mut dyn FnMut(&str),
    ) -> Result<u64, StudyError> {
        let measured = measure(&*entry.program, self.version, self.workers, in_a_row, options.stack_bytes);
        let Measured { seconds, answer, statistics } = measured.map_err(|failure| failure.of(self.name(entry)))?;
        self.seconds.push(seconds);
        if let Some((before, after)) = statistics {
            self.steals.get_or_insert_default().add(&before, &after);
        }
        progress(&format!("{}: {} s", self.name(entry), numbers::significant(seconds)));
        Ok(answer)
    }

    fn summary(self, sequential: &Spread) -> VersionReport {
        let seconds = Spread::of(self.seconds).expect("there was a run");
        let quantile = |q| self.steals.as_ref().and_then(|steals| steals.latency_quantile_ns(q));
        VersionReport {
            version: self.version,
            workers: self.workers,
            speed_up: sequential.median / seconds.median,
            seconds,
            steal_median_ns: quantile(0.5),
            steal_p99_ns: quantile(0.99),
            steals: self.steals,
        }
    }
}

fn summary(entry: &Entry, answer: u64, tasks: u64, mut all: Vec<Runs>) -> ProgramReport {
    let sequential_seconds = Spread::of(all.remove(0).seconds).expect("there was a run");
    let parallel = all.into_iter().map(|runs| runs.summary(&sequential_seconds)).collect();
    ProgramReport { name: entry.name.clone(), answer, tasks, sequential_seconds, parallel }
}
