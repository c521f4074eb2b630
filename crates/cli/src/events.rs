//! Progress as NDJSON: one JSON object per line, written at once.
//!
//! Every line has `event` and `elapsed` (seconds). `start` names the model and the limits; `round`, `progress` (once a
//! second) and `collect` (after a garbage collection) carry [`Measures`]; `end` carries the whole result. Rounds are
//! written at most twenty times a second, since some models have tens of thousands of them; their numbers tell which
//! were left out.

use crate::error::Failure;
use crate::progress::Measures;
use crate::report::Report;
use crate::run::Run;
use serde::Serialize;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Shortest time between two `round` lines.
const ROUND_INTERVAL: Duration = Duration::from_millis(50);

/// A file of events.
pub struct Events {
    state: Mutex<State>,
}

struct State {
    path: PathBuf,
    /// None after a failure to write.
    file: Option<File>,
    last_round: Option<Instant>,
    collections: u64,
}

#[derive(Serialize)]
struct Line<'a, T> {
    event: &'a str,
    elapsed: f64,
    #[serde(flatten)]
    content: T,
}

#[derive(Serialize)]
struct Start<'a> {
    model: &'a str,
    strategy: String,
    memory_budget: u64,
    time_limit: Option<f64>,
    pid: u32,
}

impl Events {
    /// Begin a file of events.
    pub fn create(path: &Path) -> Result<Events, Failure> {
        let file = File::create(path).map_err(|error| Failure::file(path, &error))?;
        let state = State { path: path.to_owned(), file: Some(file), last_round: None, collections: 0 };
        Ok(Events { state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("a panic ends the program")
    }

    /// The exploration begins.
    pub fn start(&self, run: &Run) {
        let content = Start {
            model: &run.model.to_string_lossy(),
            strategy: run.requested.to_string(),
            memory_budget: run.budget.limit() as u64,
            time_limit: run.time_limit.map(|limit| limit.as_secs_f64()),
            pid: std::process::id(),
        };
        self.state().write("start", run, content);
    }

    /// Is the next `round` line due?
    pub fn round_is_due(&self) -> bool {
        self.state().last_round.is_none_or(|last| last.elapsed() >= ROUND_INTERVAL)
    }

    /// A round is over.
    pub fn round(&self, run: &Run, measures: &Measures) {
        let mut state = self.state();
        state.last_round = Some(Instant::now());
        state.collections(run, measures);
        state.write("round", run, measures);
    }

    /// Time has passed.
    pub fn progress(&self, run: &Run, measures: &Measures) {
        let mut state = self.state();
        state.collections(run, measures);
        state.write("progress", run, measures);
    }

    /// The exploration has ended.
    pub fn end(&self, run: &Run, report: &Report) {
        self.state().write("end", run, report);
    }
}

impl State {
    /// Tell of collections that happened since the last line.
    fn collections(&mut self, run: &Run, measures: &Measures) {
        // A new exploration has a new count.
        let before = std::mem::replace(&mut self.collections, measures.collections);
        if measures.collections > before {
            self.write("collect", run, measures);
        }
    }

    fn write(&mut self, event: &str, run: &Run, content: impl Serialize) {
        let Some(file) = &mut self.file else { return };
        let line = Line { event, elapsed: micros(run.elapsed().as_secs_f64()), content };
        let mut text = serde_json::to_string(&line).expect("plain data");
        text.push('\n');
        if let Err(error) = file.write_all(text.as_bytes()) {
            let failure = Failure::file(&self.path, &error);
            crate::output::to_stderr(&format!("tremula: no more events are written: {failure}\n"));
            self.file = None;
        }
    }
}

/// Seconds to the microsecond: more digits would be noise.
pub fn micros(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}
