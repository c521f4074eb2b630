//! The report as tables of text.

use super::Way;
use super::report::{
    CacheForm, CacheReport, ChunksReport, LatencyReport, LatencyTable, RankedReport, SpeedReport, WayReport,
};
use crate::Spread;
use crate::numbers::{count, significant};
use crate::table_study::{Latency, Mix, theory};
use crate::text::TextTable;
use crate::unique::unique;
use std::fmt;

const UNKNOWN: &str = "-";

fn cell(speed: Option<&Spread>) -> String {
    speed.map_or(UNKNOWN.to_owned(), |speed| significant(speed.median))
}

impl fmt::Display for RankedReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RankedReport { ranks, slots, operations, .. } = self;
        writeln!(
            out,
            "{ranks} ranks with {} slots each, {} operations each.",
            count(*slots as u64),
            count(*operations)
        )?;
        writeln!(
            out,
            "C: slots read at a time by ranks that help themselves; owners: nodes are sent to their owners, by"
        )?;
        writeln!(out, "one worker of each rank. Loads vary by 0.01 in either direction.")?;
        for (workers, mix) in self.combinations() {
            let (finds, inserts) = (mix.finds(), mix.inserts());
            let who = format!("all ranks, workers of each {workers}");
            writeln!(out, "\nMillion operations per second, {who}: {finds} % finds, {inserts} % inserts")?;
            write!(out, "{}", self.speeds_table(workers, mix))?;
        }
        self.write_chunks(out)?;
        self.write_ways(out)?;
        self.write_latencies(out)?;
        self.caches.iter().try_for_each(|cache| write_cache(out, cache))
    }
}

impl RankedReport {
    fn speeds_table(&self, workers: usize, mix: Mix) -> TextTable {
        let chunks = unique(self.speeds.iter().map(|report| report.chunk));
        let one_sided = chunks.iter().map(|chunk| format!("C={chunk}"));
        let has_owners = workers == 1 && !self.owned.is_empty();
        let owners = has_owners.then(|| "owners".to_owned());
        let mut table = TextTable::new(std::iter::once("load".to_owned()).chain(one_sided).chain(owners), 1);
        for load in self.loads() {
            let is_meant = |report: &&SpeedReport| (report.workers, report.mix, report.load) == (workers, mix, load);
            // Where only owners were measured with one worker, the others have nothing to say.
            let speed = |chunk: usize| {
                let report = self.speeds.iter().filter(is_meant).find(|report| report.chunk == chunk);
                cell(report.map(|report| &report.speed))
            };
            let owned = self.owned.iter().find(|report| (report.mix, report.load) == (mix, load));
            let owned = has_owners.then(|| cell(owned.map(|report| &report.speed)));
            table.row(std::iter::once(load.to_string()).chain(chunks.iter().map(|&chunk| speed(chunk))).chain(owned));
        }
        table
    }

    fn write_chunks(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.chunks.is_empty() {
            return Ok(());
        }
        writeln!(out, "\nChunks that an insert reads, each a round trip where it is remote, beside a simulation of")?;
        writeln!(out, "ceil(slots looked at / C) and Figure 3.17 of W. Oortwijn, Distributed Symbolic Reachability")?;
        writeln!(out, "Analysis (2015)")?;
        let mut table = TextTable::new(["C", "load", "simulated", "measured", "thesis: expected", "measured"], 0);
        self.chunks.iter().for_each(|report| table.row(row(report)));
        write!(out, "{table}")
    }

    fn write_ways(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(WayReport { mix, .. }) = self.ways.first() else { return Ok(()) };
        writeln!(
            out,
            "\nWhere a search goes on after a chunk: the next one, or one at a distance that grows. By requests,"
        )?;
        writeln!(
            out,
            "even where memory can be addressed: the next one, asked for when it is needed, and ahead of that."
        )?;
        writeln!(
            out,
            "One array: as linear, but slots hold nodes. Million operations per second, {} % finds, and chunks",
            mix.finds()
        )?;
        writeln!(out, "that an insert asks for")?;
        let ways = ["linear", "", "quadratic", "", "requests", "", "ahead", "", "one array", ""];
        let heading = ["C", "load"].into_iter().chain(ways);
        let mut table = TextTable::new(heading, 0);
        let settings = unique(self.ways.iter().map(|report| (report.chunk, report.load)));
        for (chunk, load) in settings {
            let mine = |way: Way| {
                let mut reports = self.ways.iter().filter(move |report| (report.chunk, report.load) == (chunk, load));
                reports.find(|report| report.way == way)
            };
            let cell = |report: &WayReport| [significant(report.speed.median), format!("{:.3}", report.chunks)];
            let cells = [Way::Linear, Way::Quadratic, Way::Asking, Way::Ahead, Way::Inline].into_iter();
            let cells = cells.flat_map(|way| mine(way).map_or([UNKNOWN, UNKNOWN].map(str::to_owned), cell));
            table.row([chunk.to_string(), load.to_string()].into_iter().chain(cells));
        }
        write!(out, "{table}")
    }
}

impl RankedReport {
    fn write_latencies(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(LatencyReport { mix, .. }) = self.latencies.first() else { return Ok(()) };
        let (finds, clock) = (mix.finds(), self.clock_ns);
        writeln!(
            out,
            "\nLatency of single operations in nanoseconds, of which the clock takes {clock}: {finds} % finds, one"
        )?;
        writeln!(
            out,
            "worker of each rank, all ranks at once. Remote: operations that ask other ranks for anything, and"
        )?;
        writeln!(
            out,
            "requests to other ranks for each operation. Thesis: means in Figure 3.14, on one machine and over"
        )?;
        writeln!(out, "InfiniBand")?;
        let last = ["remote", "requests", "thesis", "over IB"];
        let heading = ["table", "load"].into_iter().chain(Latency::NAMES).chain(last);
        let mut table = TextTable::new(heading, 1);
        for report in &self.latencies {
            let LatencyReport { latency_ns, remote_operations, remote_requests, .. } = report;
            let remote = [format!("{:.1} %", remote_operations * 100.0), format!("{remote_requests:.3}")];
            let numbers = latency_ns.values().map(|value| value.to_string());
            let names = [report.table.to_string(), report.load.to_string()];
            table.row(names.into_iter().chain(numbers).chain(remote).chain(thesis_latencies(report)));
        }
        write!(out, "{table}")
    }
}

/// What the thesis has measured with the same algorithm, on one machine and over a network.
fn thesis_latencies(report: &LatencyReport) -> [String; 2] {
    let known = match report.table {
        LatencyTable::OneSided(chunk) => theory::thesis_latency(chunk, report.load),
        _ => None,
    };
    known.map_or([UNKNOWN, UNKNOWN].map(str::to_owned), |(near, far)| [near.to_string(), far.to_string()])
}

fn write_cache(out: &mut fmt::Formatter<'_>, cache: &CacheReport) -> fmt::Result {
    let who = match cache.form {
        CacheForm::OneSided => "by ranks that help themselves",
        CacheForm::Owners => "by owners",
    };
    let remembered = cache.remembered * 100.0;
    writeln!(out, "\nA cache of operations {who}: as many entries as slots, half of them put")?;
    writeln!(out, "({remembered:.1} % of these are remembered)")?;
    let mut table = TextTable::new(["", "million per second", "requests to other ranks"], 1);
    for (name, speed, remote) in [
        ("put", &cache.puts, cache.remote_per_put),
        ("get what was put", &cache.hits, cache.remote_per_hit),
        ("get what was not", &cache.misses, cache.remote_per_miss),
    ] {
        table.row([name.to_owned(), significant(speed.median), format!("{remote:.3}")]);
    }
    write!(out, "{table}")
}

fn row(report: &ChunksReport) -> [String; 6] {
    let thesis = |text: fn((u32, f64)) -> String| report.thesis.map_or("-".to_owned(), text);
    [
        report.chunk.to_string(),
        report.load.to_string(),
        format!("{:.3}", report.simulated),
        format!("{:.3}", report.measured),
        thesis(|(expected, _)| expected.to_string()),
        thesis(|(_, measured)| format!("{measured:.2}")),
    ]
}
