//! The result, as one JSON object or as a few lines of text.

use crate::error::Failure;
use crate::events::micros;
use crate::memory;
use crate::numbers::{self, grouped, magnitude};
use crate::output;
use crate::progress;
use crate::run::{Marking, NetFigures, Phase, Run};
use serde::Serialize;
use tremula_diagrams::{Counters, Statistics};

/// Figures for those who ask for statistics.
pub struct Figures {
    /// Of the tables.
    pub counters: Counters,
    /// Of the workers, where there were several.
    pub stealing: Option<Statistics>,
}

/// Columns of the longest line of text.
const WIDTH: usize = 78;
/// Columns of the labels.
const LABEL: usize = 10;
/// Numbers with more digits are shown by their magnitude too.
const READABLE_DIGITS: usize = 15;

/// What an exploration found. The fields, their names and their order are part of the command line contract.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The model file, as named by the user.
    pub model: String,
    /// Its format.
    pub format: &'static str,
    /// Reachable states, in decimal digits; a lower bound if the verdict is unknown; none if nothing was counted.
    pub states: Option<String>,
    /// Nodes of the diagram of these states.
    pub nodes: Option<u64>,
    /// Breadth-first levels; none for strategies that do not go level by level.
    pub levels: Option<u64>,
    /// What did the work.
    pub strategy: String,
    /// With which kind of diagrams.
    pub engine: &'static str,
    /// In which variable order.
    pub order: String,
    /// Threads.
    pub workers: u32,
    /// Processes.
    pub ranks: u32,
    /// Where the time went.
    pub seconds: Seconds,
    /// The most memory the process ever had resident.
    pub peak_bytes: u64,
    /// Is this the answer?
    pub verdict: Verdict,
    /// Why not.
    pub reason: Option<String>,
    /// More about Petri nets.
    #[serde(flatten)]
    pub net: NetFigures,
}

/// Where the time went.
#[derive(Clone, Debug, Serialize)]
pub struct Seconds {
    /// Reading and building the model.
    pub load: f64,
    /// Exploring.
    pub reach: f64,
    /// Counting.
    pub count: f64,
    /// Everything since the program started.
    pub total: f64,
}

/// Is the answer complete?
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It is.
    Complete,
    /// It is not; what is given is true, but there may be more.
    Unknown,
}

impl Report {
    /// A complete answer, from what is known.
    pub fn complete(run: &Run) -> Report {
        Report::new(run, Verdict::Complete, None)
    }

    /// An exploration that ended early.
    pub fn unknown(run: &Run, reason: String) -> Report {
        Report::new(run, Verdict::Unknown, Some(reason))
    }

    fn new(run: &Run, verdict: Verdict, reason: Option<String>) -> Report {
        run.enter(Phase::Finish);
        let known = run.known().clone();
        let seconds = |duration: std::time::Duration| micros(duration.as_secs_f64());
        Report {
            model: run.model.to_string_lossy().into_owned(),
            format: known.setting.format,
            states: known.states.as_ref().map(|(digits, _)| digits.clone()),
            nodes: known.nodes,
            levels: progress::level(&known),
            strategy: known.strategy.to_string(),
            engine: known.setting.engine,
            order: known.setting.order.clone(),
            workers: run.workers,
            ranks: run.ranks,
            seconds: Seconds {
                load: seconds(known.times.load),
                reach: seconds(known.times.reach),
                count: seconds(known.times.count),
                total: seconds(run.elapsed()),
            },
            peak_bytes: memory::peak_resident().unwrap_or(run.budget.peak() as u64),
            verdict,
            reason,
            net: known.net,
        }
    }

    /// Tell everybody: the file of events, standard output, and standard error where statistics are wanted beside JSON.
    pub fn publish(&self, run: &Run, figures: Option<&Figures>) -> Result<(), Failure> {
        if let Some(events) = &run.events {
            events.end(run, self);
        }
        let stats = figures.filter(|_| run.stats).map(statistics).unwrap_or_default();
        if run.json {
            output::to_stderr(&stats);
            output::to_stdout(&format!("{}\n", serde_json::to_string(self).expect("plain data")))?;
        } else {
            output::to_stdout(&(self.text(run) + &stats))?;
        }
        Ok(())
    }

    fn text(&self, run: &Run) -> String {
        let Seconds { load, reach, count, total } = self.seconds;
        [
            line("Model", &self.model),
            line("Verdict", &self.verdict_text()),
            self.states_text(),
            self.net_text(),
            self.nodes.map(|nodes| line("Nodes", &grouped(&nodes.to_string()))).unwrap_or_default(),
            self.rounds_text(run),
            line("Strategy", &self.strategy_text(run)),
            self.engine_text(),
            self.order_text(),
            line("Time", &format!("{total:.2} s (load {load:.2}, reach {reach:.2}, count {count:.2})")),
            line("Memory", &self.memory_text(run)),
        ]
        .concat()
    }

    fn memory_text(&self, run: &Run) -> String {
        let peak = numbers::bytes(self.peak_bytes);
        let budget = numbers::bytes(run.budget.limit() as u64);
        match self.ranks {
            1 => format!("{peak} at most, {budget} allowed"),
            // What ranks share is in the figure of each of them, and the program and MPI are.
            _ => format!("{peak} at most in rank 0, with all that ranks share; each may add {budget}"),
        }
    }

    fn verdict_text(&self) -> String {
        match &self.reason {
            Some(reason) => format!("UNKNOWN: {reason}"),
            None => "complete".to_owned(),
        }
    }

    fn states_text(&self) -> String {
        let at_least = if self.verdict == Verdict::Unknown { "at least " } else { "" };
        match &self.states {
            None => line("States", "not counted"),
            Some(digits) if digits.len() <= READABLE_DIGITS => {
                line("States", &format!("{at_least}{}", grouped(digits)))
            }
            Some(digits) => {
                let about = line("States", &format!("{at_least}about {}, exactly", magnitude(digits)));
                let rows = digits.as_bytes().chunks(WIDTH - LABEL).map(String::from_utf8_lossy);
                rows.fold(about, |text, row| text + &line("", &row))
            }
        }
    }

    /// What is known of a net beyond its states.
    fn net_text(&self) -> String {
        let NetFigures { transitions, max_token_in_place, max_token_per_marking, .. } = &self.net;
        let mut text = String::new();
        if let Some(digits) = transitions {
            let shown =
                if digits.len() <= READABLE_DIGITS { grouped(digits) } else { format!("about {}", magnitude(digits)) };
            text += &line("Firings", &shown);
        }
        if let (Some(place), Some(marking)) = (max_token_in_place, max_token_per_marking) {
            text += &line("Tokens", &format!("at most {} in a place, {} in all", grouped(place), grouped(marking)));
        }
        text + &self.deadlock_text()
    }

    fn deadlock_text(&self) -> String {
        let trace = || {
            let firings = self.net.deadlock_trace.as_ref()?;
            let heading = format!("{} firings lead there:", grouped(&firings.len().to_string()));
            Some(
                line("Trace", &heading)
                    + &rows(firings.iter().map(|name| output::printable(name)), "(none: it is the initial marking)"),
            )
        };
        match (self.net.deadlock, &self.net.deadlock_marking) {
            (Some(false), _) => line("Deadlock", "none"),
            (Some(true), Some(marking)) => marking_text(marking) + &trace().unwrap_or_default(),
            _ => String::new(),
        }
    }

    fn engine_text(&self) -> String {
        if self.engine == "gpu" { line("Engine", "gpu") } else { String::new() }
    }

    fn order_text(&self) -> String {
        if self.format != "pnml" { String::new() } else { line("Order", &self.order) }
    }

    fn rounds_text(&self, run: &Run) -> String {
        let rounds = match run.known().rounds {
            0 => return String::new(),
            rounds => rounds.to_string(),
        };
        let done = if self.verdict == Verdict::Unknown { " completed" } else { "" };
        let label = if self.levels.is_some() { "Levels" } else { "Rounds" };
        line(label, &format!("{}{done}", grouped(&rounds)))
    }

    fn strategy_text(&self, run: &Run) -> String {
        let requested = run.requested.to_string();
        if requested == self.strategy {
            return requested;
        }
        format!("{} (chosen by {requested})", self.strategy)
    }
}

/// A marking in which nothing can fire.
fn marking_text(marking: &Marking) -> String {
    let item = |(place, tokens): (&String, &serde_json::Value)| match tokens.as_str() {
        Some("1") | None => output::printable(place),
        Some(tokens) => format!("{}={tokens}", output::printable(place)),
    };
    line("Deadlock", "yes, with these tokens:") + &rows(marking.iter().map(item), "(no tokens at all)")
}

/// Items on as many lines as it takes.
fn rows(items: impl Iterator<Item = String>, none: &str) -> String {
    let (mut text, mut row) = (String::new(), String::new());
    for item in items {
        if !row.is_empty() && row.chars().count() + 1 + item.chars().count() > WIDTH - LABEL {
            text += &line("", &std::mem::take(&mut row));
        }
        if !row.is_empty() {
            row.push(' ');
        }
        row += &item;
    }
    let last = if row.is_empty() { none } else { &row };
    text + &line("", last)
}

/// A label and a value.
fn line(label: &str, value: &str) -> String {
    format!("{label:<LABEL$}{value}\n")
}

/// What the tables and the workers went through.
fn statistics(Figures { counters, stealing }: &Figures) -> String {
    let created = grouped(&counters.created.to_string());
    let size = format!(
        "{} of {} nodes in use, {}",
        grouped(&counters.nodes.to_string()),
        grouped(&counters.capacity.to_string()),
        numbers::bytes(counters.bytes)
    );
    [
        line("Created", &format!("{created} nodes")),
        line("Table", &size),
        line("Cache", &progress::cache(counters)),
        line("Garbage", &format!("{}, {} compactions", progress::garbage(counters), counters.compactions)),
    ]
    .concat()
        + &stealing.as_ref().map(workers).unwrap_or_default()
}

/// What the workers did for each other.
fn workers(stealing: &Statistics) -> String {
    let [steals, vain, gifts, waits] =
        [stealing.steals, stealing.failed_steals, stealing.gifts, stealing.waits].map(numbers::short);
    let latency = stealing.latency_ns.quantile(0.5).map_or(String::new(), |ns| format!(" of {ns} ns"));
    line("Workers", &format!("{steals} steals{latency}, {vain} in vain, {gifts} gifts, {waits} waits"))
}
