//! The report as tables of text.

use super::report::{BySize, FabricReport, TargetReport};
use crate::numbers::{nanoseconds, significant};
use crate::text::TextTable;
use std::fmt;

type Sizes = fn(&TargetReport) -> &[BySize];
type Cell = fn(&BySize) -> String;

const TABLES: [(&str, Sizes, Cell); 6] = [
    ("Read, one after the other", |target| &target.get, time),
    ("Write and flush, one after the other", |target| &target.put, time),
    ("Read, up to 64 at a time, for each", |target| &target.many_gets, time),
    ("Read, up to 64 at a time, gigabytes per second", |target| &target.many_gets, rate),
    ("Write, up to 64 before a flush, for each", |target| &target.many_puts, time),
    ("Write, up to 64 before a flush, gigabytes per second", |target| &target.many_puts, rate),
];

fn time(one: &BySize) -> String {
    nanoseconds(one.nanoseconds.median)
}

fn rate(one: &BySize) -> String {
    significant(one.gigabytes_per_second())
}

impl fmt::Display for FabricReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{} ranks. All figures are medians of {} measurements by rank 0.", self.ranks, self.reps)?;
        writeln!(out, "busy: the rank computes and does not call the fabric.")?;
        for (title, sizes, cell) in TABLES {
            writeln!(out, "\n{title}")?;
            write!(out, "{}", self.by_size(sizes, cell))?;
        }
        writeln!(out, "\nAtomic operations")?;
        write!(out, "{}", self.atomics())
    }
}

impl FabricReport {
    fn heading(&self, first: &str) -> Vec<String> {
        std::iter::once(first.to_owned()).chain(self.targets.iter().map(TargetReport::title)).collect()
    }

    fn by_size(&self, sizes: Sizes, cell: Cell) -> TextTable {
        let mut table = TextTable::new(self.heading("bytes"), 0);
        let count = self.targets.first().map_or(0, |target| sizes(target).len());
        for at in 0..count {
            let bytes = sizes(&self.targets[0])[at].bytes.to_string();
            table.row(std::iter::once(bytes).chain(self.targets.iter().map(|target| cell(&sizes(target)[at]))));
        }
        table
    }

    fn atomics(&self) -> TextTable {
        let mut table = TextTable::new(self.heading(""), 1);
        for (name, value) in [
            ("compare and swap", (|target| &target.compare_and_swap) as fn(&TargetReport) -> &crate::Spread),
            ("fetch and add", |target| &target.fetch_add),
            ("fetch and add, 64 at a time", |target| &target.many_fetch_adds),
        ] {
            let cells = self.targets.iter().map(|target| nanoseconds(value(target).median));
            table.row(std::iter::once(name.to_owned()).chain(cells));
        }
        table
    }
}
