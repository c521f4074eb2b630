//! What all threads know about the exploration under way.
//!
//! The exploring thread writes, the watching thread reads; and whoever gets to the end first, the explorer with an
//! answer or the watcher because the explorer does not react to a limit, claims the right to print the result.

use crate::args::{MOST_WORKERS, ReachArgs};
use crate::events::Events;
use crate::memory::Size;
use crate::numbers;
use crate::output;
use crate::processors::Processors;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tremula_diagrams::{Attention, Budget};
use tremula_engines::Strategy;

/// An exploration, seen from outside.
pub struct Run {
    /// The model file, as named by the user.
    pub model: PathBuf,
    /// What was asked for.
    pub requested: Strategy,
    /// When the program started.
    pub started: Instant,
    /// How long it may take.
    pub time_limit: Option<Duration>,
    /// How much memory it may take.
    pub budget: Budget,
    /// How to interrupt the exploring thread.
    pub attention: Attention,
    /// How many threads compute, in each process.
    pub workers: u32,
    /// How many processes compute.
    pub ranks: u32,
    /// Print the result as JSON?
    pub json: bool,
    /// Print statistics too?
    pub stats: bool,
    /// Where progress is recorded.
    pub events: Option<Events>,
    known: Mutex<Known>,
}

/// What is known so far.
#[derive(Clone, Debug)]
pub struct Known {
    /// What the exploring thread is doing.
    pub phase: Phase,
    /// When it began to.
    pub phase_started: Instant,
    /// How long the phases took.
    pub times: Times,
    /// What does the work.
    pub strategy: Strategy,
    /// The kind of model, the kind of diagrams, and the order of their variables.
    pub setting: Setting,
    /// What is known of Petri nets beyond their states.
    pub net: NetFigures,
    /// Rounds completed.
    pub rounds: u64,
    /// Was every round a breadth-first level?
    pub levels_only: bool,
    /// Number of states, in decimal digits, and the round after which it was counted.
    pub states: Option<(String, u64)>,
    /// Nodes of the diagram of these states.
    pub nodes: Option<u64>,
    /// Why the exploration is to end early, and since when.
    pub stop: Option<(Stop, Instant)>,
    /// Has another process been faster?
    beaten: bool,
    claimed: bool,
}

/// What is explored, and with what.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The format of the model.
    pub format: &'static str,
    /// The kind of diagrams.
    pub engine: &'static str,
    /// The order of variables.
    pub order: String,
}

impl Default for Setting {
    fn default() -> Setting {
        Setting { format: "bdd", engine: "bdd", order: "given".to_owned() }
    }
}

/// Figures of a Petri net.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct NetFigures {
    /// Pairs of a marking and a transition that can fire in it, in decimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transitions: Option<String>,
    /// The most tokens that are ever in one place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_token_in_place: Option<String>,
    /// The most tokens that are ever in all places together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_token_per_marking: Option<String>,
    /// Whether a marking can be reached in which nothing can fire, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadlock: Option<bool>,
    /// Such a marking: places with tokens, and their numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadlock_marking: Option<Marking>,
    /// Transitions that lead there one after the other, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadlock_trace: Option<Vec<String>>,
}

/// Tokens by place, where there are some.
pub type Marking = serde_json::Map<String, serde_json::Value>;

/// Stages of an exploration.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Reading and building the model.
    Load,
    /// Exploring.
    Reach,
    /// Counting the states.
    Count,
    /// Writing files, printing.
    Finish,
}

impl Phase {
    /// What is going on, in one word.
    pub fn doing(self) -> &'static str {
        match self {
            Phase::Load => "loading",
            Phase::Reach => "exploring",
            Phase::Count => "counting",
            Phase::Finish => "finishing",
        }
    }
}

/// Time spent in each phase.
#[derive(Copy, Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Times {
    /// Reading and building the model.
    pub load: Duration,
    /// Exploring.
    pub reach: Duration,
    /// Counting the states.
    pub count: Duration,
}

/// Why an exploration ends early.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// Somebody asked for it.
    Interrupted,
    /// Time is over.
    TimeLimit,
}

impl Run {
    /// An exploration that is about to start. Whatever it writes must not be the model.
    pub fn new(args: &ReachArgs, started: Instant) -> Result<Run, crate::error::Failure> {
        let mut written = args.save_states.iter().chain(&args.events);
        written.try_for_each(|path| output::must_differ(path, &args.model))?;
        let known = Known {
            phase: Phase::Load,
            phase_started: started,
            times: Times::default(),
            strategy: args.strategy,
            setting: Setting::default(),
            net: NetFigures::default(),
            rounds: 0,
            levels_only: true,
            states: None,
            nodes: None,
            stop: None,
            beaten: false,
            claimed: false,
        };
        Ok(Run {
            model: args.model.clone(),
            requested: args.strategy,
            started,
            time_limit: args.timeout,
            budget: Budget::new(args.mem.unwrap_or_default().to_bytes()),
            attention: Attention::default(),
            workers: args.workers(),
            ranks: 1,
            json: args.json,
            stats: args.stats,
            events: args.events.as_deref().map(Events::create).transpose()?,
            known: Mutex::new(known),
        })
    }

    /// The same, as one of `ranks` processes. Ranks of a host share its memory and processors. Those that tell nobody write
    /// nothing.
    pub fn of_rank(
        args: &ReachArgs,
        started: Instant,
        ranks: usize,
        processors: &Processors,
        tells: bool,
    ) -> Result<Run, crate::error::Failure> {
        let written = |path: &Option<PathBuf>| path.clone().filter(|_| tells);
        let quiet =
            ReachArgs { events: written(&args.events), save_states: written(&args.save_states), ..args.clone() };
        let mut run = Run::new(&quiet, started)?;
        run.ranks = ranks as u32;
        if !matches!(args.mem, Some(Size::Bytes(_))) {
            run.budget = Budget::new(run.budget.limit() / processors.neighbours);
        }
        if args.workers.is_none() {
            run.workers = processors.workers().min(MOST_WORKERS as u32);
        }
        Ok(run)
    }

    /// What is known, to read or to change.
    pub fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().expect("a panic ends the program")
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// When time will be over.
    pub fn deadline(&self) -> Option<Instant> {
        self.started.checked_add(self.time_limit?)
    }

    /// Go on to another phase.
    pub fn enter(&self, phase: Phase) {
        self.known().enter(phase);
    }

    /// End the exploration early. The first reason counts.
    pub fn stop(&self, reason: Stop) {
        self.known().stop.get_or_insert((reason, Instant::now()));
        self.attention.cancel();
    }

    /// Is the exploration to end early? Notices by itself that time is over.
    pub fn is_stopped(&self) -> bool {
        if self.deadline().is_some_and(|deadline| Instant::now() >= deadline) {
            self.stop(Stop::TimeLimit);
        }
        self.known().stop.is_some()
    }

    /// End the exploration because another process was faster: nobody wants to know what this one has found.
    pub fn give_way(&self) {
        self.known().beaten = true;
        self.attention.cancel();
    }

    /// Has another process been faster?
    pub fn is_beaten(&self) -> bool {
        self.known().beaten
    }

    /// Why the exploration ended early, for people.
    pub fn stop_reason(&self) -> String {
        match self.known().stop {
            Some((Stop::TimeLimit, _)) => {
                let limit = self.time_limit.unwrap_or_default().as_secs_f64();
                format!("time limit of {limit} s reached")
            }
            _ => "interrupted".to_owned(),
        }
    }

    /// The memory budget as a reason for ending early.
    pub fn memory_reason(&self) -> String {
        format!("memory budget of {} exhausted", numbers::bytes(self.budget.limit() as u64))
    }

    /// Claim the right to print the result; it is given once.
    pub fn claim(&self) -> bool {
        !std::mem::replace(&mut self.known().claimed, true)
    }

    /// Claim that right for the exploring thread. If the watching thread has it, that is telling what is known, and ends
    /// the program when it has: this does not return then.
    pub fn claim_or_wait(&self) {
        if !self.claim() {
            loop {
                std::thread::park();
            }
        }
    }

    /// Has somebody claimed the right to print the result?
    pub fn is_claimed(&self) -> bool {
        self.known().claimed
    }
}

impl Known {
    fn enter(&mut self, phase: Phase) {
        let now = Instant::now();
        let spent = now - std::mem::replace(&mut self.phase_started, now);
        match std::mem::replace(&mut self.phase, phase) {
            Phase::Load => self.times.load += spent,
            Phase::Reach => self.times.reach += spent,
            Phase::Count => self.times.count += spent,
            Phase::Finish => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Args, Command};
    use clap::Parser;
    use std::collections::BTreeSet;

    /// The memory of each of three ranks on one machine.
    fn memory(options: &[&str]) -> usize {
        let line = ["tremula", "reach", "model"].iter().chain(options);
        let Command::Reach(args) = Args::parse_from(line).command else { panic!("reach") };
        let processors = Processors::among(BTreeSet::from([0]), [BTreeSet::from([1]), BTreeSet::from([2])]);
        Run::of_rank(&args, Instant::now(), 3, &processors, false).expect("no file is written").budget.limit()
    }

    #[test]
    fn ranks_of_a_machine_share_what_is_not_said_for_each() {
        assert_eq!(memory(&["--mem", "300M"]), 300 << 20);
        assert_eq!(memory(&["--mem", "2%"]), Size::Percent(2.0).to_bytes() / 3);
        assert_eq!(memory(&[]), Size::default().to_bytes() / 3);
    }
}
