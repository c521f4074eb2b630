//! Find-or-put, the one operation of the unique table: `tremula bench table`.
//!
//! Tables that read chunks of several sizes, tables that probe slot by slot in several orders, and the table itself, at
//! several loads, with several mixes of finds and inserts and several numbers of workers. The study's own tables publish a
//! node as the table itself does, in safe code, and differ from each other in nothing but probing. A ledger is kept: after each run
//! the table must hold each node that was put into it once, and nothing else. Beside the chunks that inserts read stand
//! those that theory and a simulation expect.
//!
//! ```
//! use tremula_studies::table_study::{Mix, TableOptions, run};
//! let options = TableOptions {
//!     operations: 10_000,
//!     loads: vec![0.5],
//!     chunks: vec![8],
//!     mixes: vec![Mix::EVEN],
//!     workers: vec![1],
//!     ..TableOptions::quick()
//! };
//! let report = run(&options, &mut |line| eprintln!("{line}"))?;
//! assert!((report.theory[0].simulated - 1.04).abs() < 0.01);
//! # Ok::<(), tremula_studies::StudyError>(())
//! ```

mod crew;
mod itself;
mod keys;
mod lab;
mod lab_table;
mod latency;
mod measured;
mod mix;
mod options;
mod probing;
mod report;
mod report_pictures;
mod report_text;
mod schedule;
mod simulation;
mod subject;
pub mod theory;
mod words;
mod workload;

pub(crate) use crew::on_threads;
pub use latency::Latency;
pub(crate) use latency::clock_nanoseconds;
pub use mix::Mix;
pub use options::{LOADS, TableOptions};
pub use report::{ChunksRead, RunReport, Setting, TableReport, TheoryReport};
pub(crate) use simulation::simulate as simulated_chunks;
pub use subject::Subject;
pub(crate) use workload::Random;

use crate::{StudyError, numbers};
use measured::Measured;
use tremula_fabric::topology::cpu_limit;

/// Make the study; `progress` gets a line for each run.
pub fn run(options: &TableOptions, progress: &mut dyn FnMut(&str)) -> Result<TableReport, StudyError> {
    options.check()?;
    let options = &options.tidy();
    let mut study = Study { options, progress, runs: Vec::new() };
    let chunked = options.chunks.iter().map(|&slots| Subject::Chunks(slots));
    for subject in chunked.chain(Subject::UNCHUNKED) {
        study.measure(subject)?;
    }
    let theory = study.theory();
    Ok(TableReport {
        processors: cpu_limit(),
        slots: options.slots,
        operations: options.operations,
        window: schedule::WINDOW,
        sampled: workload::SAMPLED,
        clock_ns: latency::clock_nanoseconds(),
        runs: study.runs,
        theory,
    })
}

/// A study under way.
struct Study<'a> {
    /// Tidy.
    options: &'a TableOptions,
    progress: &'a mut dyn FnMut(&str),
    runs: Vec<RunReport>,
}

impl Study<'_> {
    fn measure(&mut self, subject: Subject) -> Result<(), StudyError> {
        match subject {
            Subject::Chunks(8) => lab::measure::<probing::Chunks<8>>(self, subject),
            Subject::Chunks(16) => lab::measure::<probing::Chunks<16>>(self, subject),
            Subject::Chunks(32) => lab::measure::<probing::Chunks<32>>(self, subject),
            Subject::Chunks(64) => lab::measure::<probing::Chunks<64>>(self, subject),
            Subject::Chunks(128) => lab::measure::<probing::Chunks<128>>(self, subject),
            Subject::Chunks(256) => lab::measure::<probing::Chunks<256>>(self, subject),
            Subject::Chunks(_) => unreachable!("the options were checked"),
            Subject::CacheLine => lab::measure::<probing::CacheLine>(self, subject),
            Subject::Linear => lab::measure::<probing::Linear>(self, subject),
            Subject::Quadratic => lab::measure::<probing::Quadratic>(self, subject),
            Subject::Itself => itself::measure(self),
        }
    }

    /// Numbers of workers and mixes.
    fn combinations(&self) -> Vec<(usize, Mix)> {
        let options = self.options;
        options.workers.iter().flat_map(|&workers| options.mixes.iter().map(move |&mix| (workers, mix))).collect()
    }

    fn note(&mut self, setting: Setting, mut measured: Measured) {
        let run = RunReport {
            setting,
            operations: measured.operations(),
            million_per_second: measured.speed(),
            latency_ns: measured.latency(),
            chunks: measured.chunks(),
        };
        let speed = numbers::significant(run.million_per_second.median);
        (self.progress)(&format!("{setting}: {speed} million operations per second"));
        self.runs.push(run);
    }

    /// Chunks that inserts read beside what is expected of them.
    fn theory(&self) -> Vec<TheoryReport> {
        let TableOptions { chunks, loads, .. } = self.options;
        let simulated = simulation::simulate(loads, chunks);
        let mut rows = Vec::new();
        for (chunk_at, &chunk) in chunks.iter().enumerate() {
            for (&load, simulated) in loads.iter().zip(&simulated) {
                let thesis = theory::thesis(chunk, load);
                rows.push(TheoryReport {
                    chunk,
                    load,
                    formula: theory::expected_chunks(chunk, load),
                    simulated: simulated[chunk_at],
                    measured: report::chunks(&self.runs, Subject::Chunks(chunk), load, |read| read.per_insert),
                    thesis_expected: thesis.map(|thesis| thesis.0),
                    thesis_measured: thesis.map(|thesis| thesis.1),
                });
            }
        }
        rows
    }
}
