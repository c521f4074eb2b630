//! `tremula mcc`: the command line of the Model Checking Contest, which speaks through the environment.
//!
//! Answers are printed one by one, as they become known: what is printed counts even if the program is ended later.

use crate::args::{MccArgs, ReachArgs};
use crate::error::{Exit, Failure};
use crate::memory::Size;
use crate::model::{self, NoModel};
use crate::net::{self, Value};
use crate::output;
use crate::reach::Trouble;
use crate::run::Run;
use crate::watch::{LastWords, Watch};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tremula_engines::{Order, Strategy};
use tremula_orders::{Heuristic, Recipe};

/// What is in the folder of an instance.
const MODEL: &str = "model.pnml";
const STATE_SPACE: &str = "StateSpace";
const DO_NOT_COMPETE: &str = "DO_NOT_COMPETE";
const CANNOT_COMPUTE: &str = "CANNOT_COMPUTE";

/// The share of the time that is left twice: for reacting to the end, and for ending.
const TIME_MARGIN: f64 = 0.03;
const LONGEST_MARGIN: Duration = Duration::from_secs(10);
const LEAST_MARGIN: Duration = Duration::from_millis(100);
/// The share of the memory that tables may take.
const MEMORY_SHARE: f64 = 0.8;
/// At least so much is left for the program and its threads, as measured and a little more; but not most of the memory.
const LEAST_RESERVE: usize = 160 << 20;

/// Why there is no answer, or no further one.
enum NoAnswer {
    /// This program is not made for it.
    DoNotCompete(String),
    /// A limit.
    CannotCompute(String),
    /// Bad input, or a fault of the program.
    Failed(Failure),
}

/// Do what the environment says.
pub fn mcc(args: &MccArgs, started: Instant) -> Result<Exit, Failure> {
    let examination = variable("BK_EXAMINATION")?.ok_or_else(|| {
        Failure::Input("BK_EXAMINATION is not set: it says what to answer, for example StateSpace".to_owned())
    })?;
    let answers = Arc::new(Answers::default());
    if examination != STATE_SPACE {
        return answers.end(DO_NOT_COMPETE, &format!("there is no examination {examination} here yet"));
    }
    let confinement = Confinement::of_environment()?;
    let input = variable("BK_INPUT")?;
    state_space(
        &confinement.apply(model_path(args.model.as_deref(), input.as_deref())),
        started,
        &confinement,
        &answers,
    )
}

/// A variable of the environment; one without a value is as good as none.
fn variable(name: &str) -> Result<Option<String>, Failure> {
    match std::env::var_os(name) {
        None => Ok(None),
        Some(value) if value.is_empty() => Ok(None),
        Some(value) => value.into_string().map(Some).map_err(|_| Failure::Input(format!("{name} is not text"))),
    }
}

/// The file that is meant; it need not exist.
fn model_path(given: Option<&Path>, input: Option<&str>) -> PathBuf {
    let here = PathBuf::from(MODEL);
    match (given, input) {
        (Some(path), _) if path.is_dir() => path.join(MODEL),
        (Some(path), _) => path.to_owned(),
        (None, Some(input)) if !here.exists() && Path::new(input).join(MODEL).exists() => Path::new(input).join(MODEL),
        (None, _) => here,
    }
}

/// The limits of the contest; none where it sets none.
struct Confinement {
    time: Option<Duration>,
    memory: Option<usize>,
}

impl Confinement {
    fn of_environment() -> Result<Confinement, Failure> {
        let (time, memory) = ("BK_TIME_CONFINEMENT", "BK_MEMORY_CONFINEMENT");
        let bad = |name: &str, unit: &str| Failure::Input(format!("{name} is not a number of {unit}"));
        Ok(Confinement {
            time: variable(time)?.map(|text| seconds(&text).ok_or_else(|| bad(time, "seconds"))).transpose()?,
            memory: variable(memory)?.map(|text| bytes(&text).ok_or_else(|| bad(memory, "megabytes"))).transpose()?,
        })
    }

    /// How to explore a model within the limits.
    fn apply(&self, model: PathBuf) -> ReachArgs {
        let allowed = Size::default().to_bytes();
        ReachArgs {
            quiet: true,
            timeout: self.time.map(|time| time - 2 * self.margin()),
            mem: self.memory.map(|memory| Size::Bytes(tables(memory).min(allowed))),
            ..ReachArgs::of(model)
        }
    }

    /// Time between the end of the exploration and the end of the program, and again until the contest ends it.
    fn margin(&self) -> Duration {
        let Some(time) = self.time else { return LONGEST_MARGIN };
        time.mul_f64(TIME_MARGIN).clamp(LEAST_MARGIN, LONGEST_MARGIN).min(time / 4)
    }
}

/// Memory for tables, of so much for everything.
fn tables(memory: usize) -> usize {
    let share = (memory as f64 * MEMORY_SHARE) as usize;
    share.min(memory.saturating_sub(LEAST_RESERVE)).max(memory / 4)
}

fn seconds(text: &str) -> Option<Duration> {
    text.trim().parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}

fn bytes(text: &str) -> Option<usize> {
    let megabytes: u64 = text.trim().parse().ok().filter(|&megabytes| megabytes > 0)?;
    usize::try_from(megabytes.checked_mul(1 << 20)?).ok()
}

/// Compute the four values of a state space and print them.
fn state_space(
    args: &ReachArgs,
    started: Instant,
    confinement: &Confinement,
    answers: &Arc<Answers>,
) -> Result<Exit, Failure> {
    let run = Arc::new(Run::new(args, started)?);
    let watch = Watch::start_with(&run, args.quiet, last_words(answers, confinement.margin()));
    let watch = watch.map_err(|error| Failure::threads(&error))?;
    let outcome = explore(args, &run, answers);
    run.claim_or_wait();
    watch.finish();
    match outcome {
        Ok(()) => Ok(Exit::Complete),
        Err(NoAnswer::DoNotCompete(reason)) => answers.end(DO_NOT_COMPETE, &reason),
        Err(NoAnswer::CannotCompute(reason)) => answers.end(CANNOT_COMPUTE, &reason),
        Err(NoAnswer::Failed(failure)) => Err(failure),
    }
}

/// What to say if the exploration does not end in time.
fn last_words(answers: &Arc<Answers>, grace: Duration) -> LastWords {
    let answers = answers.clone();
    let tell = move |_: &Run, reason: String| match answers.end(CANNOT_COMPUTE, &reason) {
        Ok(exit) => exit,
        Err(failure) => failure.exit(),
    };
    LastWords { grace, tell: Box::new(tell) }
}

fn explore(args: &ReachArgs, run: &Run, answers: &Answers) -> Result<(), NoAnswer> {
    let net = model::read_net(&run.model, run.budget.limit(), &run.attention).map_err(|reason| match reason {
        NoModel::Bad(failure) => NoAnswer::Failed(failure),
        NoModel::Unsupported(failure) => NoAnswer::DoNotCompete(failure.to_string()),
        NoModel::TooLarge(reason) => NoAnswer::CannotCompute(reason),
        NoModel::Stopped => NoAnswer::CannotCompute(run.stop_reason()),
    })?;
    let explored = net::markings(args, run, &net, &mut None)?;
    let techniques = {
        let known = run.known();
        techniques(known.strategy, &known.setting.order, run.workers)
    };
    net::count(run, &explored, &mut |value, digits| {
        answers.give(&format!("STATE_SPACE {} {digits} TECHNIQUES {techniques}", name(value)))
    })?;
    Ok(())
}

impl From<Trouble> for NoAnswer {
    fn from(trouble: Trouble) -> NoAnswer {
        match trouble {
            Trouble::Unknown(reason) => NoAnswer::CannotCompute(reason),
            Trouble::Failed(failure) => NoAnswer::Failed(failure),
        }
    }
}

/// What the contest calls a value.
fn name(value: Value) -> &'static str {
    match value {
        Value::States => "STATES",
        Value::Transitions => "TRANSITIONS",
        Value::MaxTokenInPlace => "MAX_TOKEN_IN_PLACE",
        Value::MaxTokenPerMarking => "MAX_TOKEN_PER_MARKING",
    }
}

/// What led to the answer, in the contest's words: the winning order tells what of the net's structure was used.
fn techniques(strategy: Strategy, order: &str, workers: u32) -> String {
    let mut words = match strategy.order {
        Order::Explicit => vec!["EXPLICIT"],
        Order::Saturation | Order::Auto => vec!["DECISION_DIAGRAMS", "SATURATION"],
        Order::Bfs | Order::Par | Order::Chaining => vec!["DECISION_DIAGRAMS"],
    };
    if workers > 1 {
        words.push("PARALLEL_PROCESSING");
    }
    match order.parse().map(|recipe: Recipe| (recipe.heuristic, recipe.refined)) {
        Ok((Heuristic::Units | Heuristic::UnitsForce | Heuristic::GradientUnits, _)) => {
            words.extend(["TOPOLOGICAL", "USE_NUPN"]);
        }
        Ok((Heuristic::Given, false)) | Err(_) => {}
        Ok(_) => words.push("TOPOLOGICAL"),
    }
    words.join(" ")
}

/// What has been printed so far. Both threads may want to print; no line comes after the last one.
#[derive(Default)]
struct Answers {
    printed: Mutex<Printed>,
}

#[derive(Default)]
struct Printed {
    answers: u32,
    ended: bool,
}

impl Answers {
    fn printed(&self) -> MutexGuard<'_, Printed> {
        self.printed.lock().expect("a panic ends the program")
    }

    /// Print an answer at once.
    fn give(&self, line: &str) -> Result<(), Failure> {
        let mut printed = self.printed();
        if !printed.ended {
            output::to_stdout(&format!("{line}\n"))?;
            printed.answers += 1;
        }
        Ok(())
    }

    /// There are no more answers: print this word if there is none at all.
    fn end(&self, word: &str, reason: &str) -> Result<Exit, Failure> {
        let mut printed = self.printed();
        if !std::mem::replace(&mut printed.ended, true) {
            output::to_stderr(&format!("tremula: {reason}\n"));
            if printed.answers == 0 {
                output::to_stdout(&format!("{word}\n"))?;
            }
        }
        Ok(Exit::Complete)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confinement(seconds: f64) -> Confinement {
        Confinement { time: Some(Duration::from_secs_f64(seconds)), memory: Some(1000 << 20) }
    }

    #[test]
    fn the_program_ends_before_it_is_ended() {
        for seconds in [0.0, 0.1, 1.0, 60.0, 3600.0, 1e6] {
            let confinement = confinement(seconds);
            let limit = confinement.apply(PathBuf::new()).timeout.unwrap();
            let end = limit + confinement.margin();
            let left = Duration::from_secs_f64(seconds) - end;
            assert!(left >= Duration::from_secs_f64((seconds * 0.02).min(10.0)), "{seconds}: {left:?}");
            assert!(limit >= Duration::from_secs_f64(seconds / 2.0), "{seconds}: {limit:?}");
        }
        assert_eq!(confinement(3600.0).apply(PathBuf::new()).timeout, Some(Duration::from_secs(3580)));
    }

    #[test]
    fn some_memory_is_left() {
        let Some(Size::Bytes(bytes)) = confinement(1.0).apply(PathBuf::new()).mem else { panic!("a size") };
        assert!(bytes <= 800 << 20);
        assert_eq!(tables(400 << 20), 240 << 20);
        assert_eq!(tables(4 << 20), 1 << 20);
    }

    #[test]
    fn numbers_are_checked() {
        assert_eq!(seconds("3600"), Some(Duration::from_secs(3600)));
        assert_eq!(bytes("16384"), Some(16 << 30));
        assert!(["", "soon", "-1"].into_iter().all(|text| seconds(text).is_none() && bytes(text).is_none()));
        assert_eq!(bytes("0"), None);
        assert_eq!(bytes(&u64::MAX.to_string()), None);
    }

    #[test]
    fn techniques_are_those_that_were_used() {
        let by = |order, name, workers| techniques(Strategy { order, frontier: true }, name, workers);
        let saturation = |name, workers| by(Order::Saturation, name, workers);
        assert_eq!(saturation("given", 1), "DECISION_DIAGRAMS SATURATION");
        assert_eq!(saturation("given+reversed", 2), "DECISION_DIAGRAMS SATURATION PARALLEL_PROCESSING");
        assert_eq!(saturation("sloan+force", 1), "DECISION_DIAGRAMS SATURATION TOPOLOGICAL");
        assert_eq!(saturation("units-force+reversed", 1), "DECISION_DIAGRAMS SATURATION TOPOLOGICAL USE_NUPN");
        assert_eq!(by(Order::Explicit, "given", 1), "EXPLICIT");
        assert_eq!(by(Order::Chaining, "given", 1), "DECISION_DIAGRAMS");
    }
}
