//! The report as tables of text.

use super::report::{LatencyReport, RankedProgramReport, RankedTasksReport, ShapeReport, Way};
use crate::numbers::{count, nanoseconds, short_count, significant};
use crate::tasks_study::Steals;
use crate::text::TextTable;
use std::fmt;

const NONE: &str = "-";

impl fmt::Display for RankedTasksReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RankedTasksReport { processors, ranks, reps, .. } = self;
        let how = if self.gates { "gates between them" } else { "memory that all address" };
        writeln!(out, "{ranks} ranks, {processors} processors on the first host, {how}; r x w: r ranks of w workers.")?;
        if self.gates {
            writeln!(out, "Each rank has a thread more, its gate, which carries tasks and runs none.")?;
        }
        writeln!(out, "Seconds are medians of {reps} runs, steals and gifts counts per run.")?;
        if !self.left_out.is_empty() {
            let names = self.left_out.join(", ");
            writeln!(out, "Left out, for their answers are in the memory of one process: {names}.")?;
        }
        writeln!(out, "\nLatency of a steal from a victim that has all tasks and does nothing but answer one thief")?;
        write!(out, "{}", latency_table(&self.latency))?;
        for program in &self.programs {
            writeln!(out, "\n{} = {}, with {} tasks", program.name, program.answer, count(program.tasks))?;
            write!(out, "{}", program_table(program, *reps))?;
        }
        if !self.programs.is_empty() {
            writeln!(out, "\nLatency of steals in the programs: how many per run, median and p99")?;
            write!(out, "{}", programs_latency_table(&self.programs, *reps))?;
        }
        Ok(())
    }
}

fn latency_table(all: &[LatencyReport]) -> TextTable {
    let mut table = TextTable::new(["tactic", "steals", "requests", "median", "p90", "p99"], 2);
    for report in all {
        let quantiles = [0.5, 0.9, 0.99].map(|q| latency(report.quantile_ns(q)));
        let names = [report.tactic.to_string(), report.way.name().to_owned(), short_count(report.count())];
        table.row(names.into_iter().chain(quantiles));
    }
    table
}

const HEADING: [&str; 11] =
    ["tactic", "r x w", "seconds", "least", "most", "speed-up", "rank", "steals", "failed", "gifts", "waits"];

/// A row for each rank; times are in the first of a shape.
fn program_table(program: &RankedProgramReport, reps: usize) -> TextTable {
    let mut table = TextTable::new(HEADING, 2);
    let alone = &program.sequential_seconds;
    let mut first = vec!["sequential".to_owned(), NONE.to_owned()];
    first.extend([alone.median, alone.least, alone.greatest].map(significant));
    first.resize(HEADING.len(), NONE.to_owned());
    table.row(first);
    for shape in &program.shapes {
        for (rank, steals) in shape.steals.iter().enumerate() {
            let times = if rank == 0 { times(shape) } else { Default::default() };
            table.row(times.into_iter().chain([rank.to_string()]).chain(counters(steals, reps)));
        }
    }
    table
}

fn times(shape: &ShapeReport) -> [String; 6] {
    let [median, least, most] = [shape.seconds.median, shape.seconds.least, shape.seconds.greatest].map(significant);
    [shape.tactic.to_string(), shape.name(), median, least, most, format!("{:.2}", shape.speed_up)]
}

fn counters(steals: &Steals, reps: usize) -> [String; 4] {
    let Steals { succeeded, failed, gifts, waits, .. } = *steals;
    [succeeded, failed, gifts, waits].map(|number| short_count(number / reps as u64))
}

fn programs_latency_table(programs: &[RankedProgramReport], reps: usize) -> TextTable {
    let heading = ["program", "tactic", "r x w", "within", "median", "p99", "between", "median", "p99"];
    let mut table = TextTable::new(heading, 3);
    for program in programs {
        for shape in program.shapes.iter().filter(|shape| shape.ranks * shape.workers > 1) {
            let names = [program.name.clone(), shape.tactic.to_string(), shape.name()];
            table.row(names.into_iter().chain(Way::ALL.into_iter().flat_map(|way| quantiles(shape, way, reps))));
        }
    }
    table
}

fn quantiles(shape: &ShapeReport, way: Way, reps: usize) -> [String; 3] {
    let report = shape.latency(way);
    let [median, p99] = [0.5, 0.99].map(|q| latency(report.quantile_ns(q)));
    [short_count(report.count() / reps as u64), median, p99]
}

fn latency(latency: Option<u64>) -> String {
    latency.map_or(NONE.to_owned(), |latency| nanoseconds(latency as f64))
}
