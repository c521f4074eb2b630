//! The report as tables of text.

use super::latency::Latency;
use super::mix::Mix;
use super::report::{self, ChunksRead, RunReport, Setting, TableReport, TheoryReport};
use super::subject::Subject;
use super::theory::efficiency_bound;
use crate::numbers::{count, significant};
use crate::text::TextTable;
use crate::unique::unique;
use std::fmt;

const UNKNOWN: &str = "-";

const TABLES: &str = "\
C=n: linear probing that copies n slots at a time. line: slot by slot in the cache line that the
hash picks, then in the next. linear, quadratic: slot by slot. itself: the program's own table; it
probes like line, gets no fuller than two thirds, and asks the system for huge pages.";

const THEORY: &str = "\
Chunks of C slots that an insert at load a reads, beside theory. From W. Oortwijn, Distributed
Symbolic Reachability Analysis (2015), section 3.3: g(C, a) = (1 + 1/(1-a)^2) / 2C chunks are
expected; up to the load V(C) = 1 - sqrt(1/(2C-1)), one chunk is expected to do. From its Figure
3.17: round trips as expected there (g, rounded up) and as measured over Infiniband. Simulated: the
mean of ceil(slots looked at / C) for linear probing with perfect hashing.";

impl fmt::Display for TableReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_preface(out)?;
        for (workers, mix) in self.combinations() {
            let who = format!("{} % finds, {} % inserts, workers {workers}", mix.finds(), mix.inserts());
            writeln!(out, "\nMillion operations per second: {who}\n{}", self.speeds(workers, mix))?;
            write!(out, "Latency in nanoseconds: {who}\n{}", self.latencies(workers, mix))?;
        }
        self.write_chunks(out)?;
        self.write_theory(out)
    }
}

impl TableReport {
    fn write_preface(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TableReport { processors, sampled, clock_ns, .. } = self;
        let (operations, slots, half) = (count(self.operations), count(self.slots as u64), self.window / 2.0);
        writeln!(out, "{processors} processors. {operations} operations per worker on tables of {slots} slots.")?;
        writeln!(out, "{TABLES}")?;
        if let Some(fewest) = self.fewest_by_itself() {
            let fewest = count(fewest);
            writeln!(out, "It cannot take nodes back, so it does fewer operations: {fewest} per worker or more.")?;
        }
        writeln!(out, "Loads vary by {half} in either direction. Operations per second are medians of rounds.")?;
        writeln!(
            out,
            "One operation in {sampled} is timed by the system's clock, which takes {clock_ns} ns of each latency."
        )
    }

    /// The fewest operations per worker of the table itself.
    fn fewest_by_itself(&self) -> Option<u64> {
        let own = self.runs.iter().filter(|run| run.setting.subject == Subject::Itself);
        own.map(|run| run.operations / run.setting.workers as u64).min()
    }

    /// Loads down, tables across.
    fn matrix(&self, entry: impl Fn(Subject, f64) -> String) -> TextTable {
        let subjects = self.subjects();
        let mut table = TextTable::new(heading("load", &subjects), 1);
        for load in self.loads() {
            table.row(row(load.to_string(), subjects.iter().map(|&subject| entry(subject, load))));
        }
        table
    }

    fn speeds(&self, workers: usize, mix: Mix) -> TextTable {
        self.matrix(|subject, load| {
            let run = self.run(Setting { subject, mix, load, workers });
            run.map_or(UNKNOWN.to_owned(), |run| format!("{:.2}", run.million_per_second.median))
        })
    }

    /// Loads and percentiles down, tables across. Two loads tell enough; pictures and JSON have all.
    fn latencies(&self, workers: usize, mix: Mix) -> TextTable {
        let subjects = self.subjects();
        let mut table = TextTable::new(heading("load", &[]).into_iter().chain(heading("", &subjects)), 2);
        let loads = self.loads();
        for load in unique([loads.len() / 2, loads.len() - 1].into_iter()).into_iter().map(|at| loads[at]) {
            for (at, name) in Latency::NAMES.into_iter().enumerate() {
                let latency = |run: &RunReport| run.latency_ns.values()[at].to_string();
                let entry = |&subject: &Subject| {
                    self.run(Setting { subject, mix, load, workers }).map_or(UNKNOWN.to_owned(), latency)
                };
                let load = if at == 0 { load.to_string() } else { String::new() };
                table.row([load, name.to_owned()].into_iter().chain(subjects.iter().map(entry)));
            }
        }
        table
    }

    fn write_chunks(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chunks = |of: fn(&ChunksRead) -> Option<f64>| {
            self.matrix(|subject, load| report::chunks(&self.runs, subject, load, of).map_or(UNKNOWN.to_owned(), fixed))
        };
        writeln!(out, "\nChunks that a find reads (slot by slot: cache lines)\n{}", chunks(|read| read.per_find))?;
        write!(out, "Chunks that an insert reads\n{}", chunks(|read| read.per_insert))
    }

    fn write_theory(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.theory.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{THEORY}")?;
        let heading = ["C", "V(C)", "load", "g(C, a)", "simulated", "measured", "thesis: expected", "measured"];
        let mut table = TextTable::new(heading, 0);
        self.theory.iter().for_each(|theory| table.row(theory_row(theory)));
        write!(out, "{table}")
    }
}

fn theory_row(theory: &TheoryReport) -> [String; 8] {
    let known = |number: Option<f64>| number.map_or(UNKNOWN.to_owned(), fixed);
    [
        theory.chunk.to_string(),
        format!("{:.2}", efficiency_bound(theory.chunk)),
        theory.load.to_string(),
        significant(theory.formula),
        fixed(theory.simulated),
        known(theory.measured),
        theory.thesis_expected.map_or(UNKNOWN.to_owned(), |expected| expected.to_string()),
        theory.thesis_measured.map_or(UNKNOWN.to_owned(), |measured| format!("{measured:.2}")),
    ]
}

fn fixed(number: f64) -> String {
    format!("{number:.3}")
}

fn heading(first: &str, subjects: &[Subject]) -> Vec<String> {
    row(first.to_owned(), subjects.iter().map(ToString::to_string))
}

fn row(first: String, entries: impl Iterator<Item = String>) -> Vec<String> {
    std::iter::once(first).chain(entries).collect()
}
