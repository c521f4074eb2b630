//! The report as tables of text.

use super::report::{ProgramReport, TasksReport, VersionReport};
use crate::numbers::{count, nanoseconds, short_count, significant};
use crate::text::TextTable;
use std::fmt;

const HEADING: [&str; 11] =
    ["version", "n", "seconds", "least", "most", "speed-up", "steals", "failed", "gifts", "latency", "p99"];
const UNKNOWN: &str = "-";

impl fmt::Display for TasksReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (processors, reps) = (self.processors, self.reps);
        writeln!(
            out,
            "{processors} processors, n workers. Seconds are medians of {reps} runs, each the fastest\n\
             of several in a row if a program is short. Steals and gifts are counts per run."
        )?;
        for program in &self.programs {
            writeln!(out, "\n{} = {}, with {} tasks", program.name, program.answer, count(program.tasks))?;
            write!(out, "{}", table(program, reps))?;
        }
        Ok(())
    }
}

fn table(program: &ProgramReport, reps: usize) -> TextTable {
    let mut table = TextTable::new(HEADING, 1);
    let alone = &program.sequential_seconds;
    let mut first = vec!["sequential".to_owned(), UNKNOWN.to_owned()];
    first.extend([alone.median, alone.least, alone.greatest].map(significant));
    first.resize(HEADING.len(), UNKNOWN.to_owned());
    table.row(first);
    for version in &program.parallel {
        table.row(row(version, reps));
    }
    table
}

fn row(report: &VersionReport, reps: usize) -> Vec<String> {
    let mut row = vec![report.version.to_string(), report.workers.to_string()];
    row.extend([report.seconds.median, report.seconds.least, report.seconds.greatest].map(significant));
    row.push(format!("{:.2}", report.speed_up));
    let per_run = |number: Option<u64>| number.map_or(UNKNOWN.to_owned(), |number| short_count(number / reps as u64));
    row.push(per_run(report.steals.as_ref().map(|steals| steals.succeeded)));
    row.push(per_run(report.steals.as_ref().map(|steals| steals.failed)));
    row.push(per_run(report.steals.as_ref().map(|steals| steals.gifts)));
    let latency = |latency: Option<u64>| latency.map_or(UNKNOWN.to_owned(), |latency| nanoseconds(latency as f64));
    row.extend([report.steal_median_ns, report.steal_p99_ns].map(latency));
    row
}
