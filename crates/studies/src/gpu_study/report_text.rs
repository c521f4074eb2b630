//! The report as tables of text.

use super::report::GpuReport;
use crate::numbers::{bytes, nanoseconds, significant};
use crate::text::TextTable;
use std::fmt;

/// Bytes of a place.
const PLACE: f64 = 16.0;
/// Bytes of an entry of the index.
const ENTRY: f64 = 8.0;

impl fmt::Display for GpuReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{}. Medians of {} measurements; what is new is put once.", self.device, self.reps)?;
        let table = bytes(self.places as f64 * PLACE);
        writeln!(out, "\nTable of {table}, billions per second")?;
        write!(out, "{}", self.table_table())?;
        let index = bytes(self.index as f64 * ENTRY);
        writeln!(
            out,
            "\nRequests of earlier sweeps (the cache of operations), an index of {index}, billions per second"
        )?;
        write!(out, "{}", self.cache_table())?;
        writeln!(
            out,
            "\nSweeps: the union of two sets with so many requests at each level. The first one puts its nodes,"
        )?;
        writeln!(out, "with as many collections as it takes to have room for them; later ones find them.")?;
        write!(out, "{}", self.level_table())?;
        if !self.models.is_empty() {
            writeln!(out, "\nModels")?;
            write!(out, "{}", self.model_table())?;
        }
        Ok(())
    }
}

impl GpuReport {
    fn table_table(&self) -> TextTable {
        let mut table = TextTable::new(["", "per second"], 1);
        table.row(["random reads of 16 bytes".to_owned(), significant(self.reads.median)]);
        for one in &self.table {
            table.row([format!("put new nodes up to load {}", one.load), significant(one.put)]);
            table.row([format!("find nodes at load {}", one.load), significant(one.find.median)]);
        }
        table
    }

    fn cache_table(&self) -> TextTable {
        let mut table = TextTable::new(["load", "there", "not there", "made"], 0);
        for one in &self.cache {
            let [hit, miss, make] = [one.hit.median, one.miss.median, one.make].map(significant);
            table.row([one.load.to_string(), hit, miss, make]);
        }
        table
    }

    fn level_table(&self) -> TextTable {
        let heading =
            ["requests at a level", "levels", "first", "collections", "later", "a level", "10⁹ operations per second"];
        let mut table = TextTable::new(heading, 0);
        for one in &self.levels {
            table.row([
                one.width.to_string(),
                one.levels.to_string(),
                nanoseconds(one.first_seconds * 1e9),
                one.first_collections.to_string(),
                nanoseconds(one.seconds.median * 1e9),
                nanoseconds(one.nanoseconds_per_level()),
                significant(one.operations()),
            ]);
        }
        table
    }

    fn model_table(&self) -> TextTable {
        let mut table = TextTable::new(["model", "states", "seconds", "sweeps", "10⁶ requests", "10⁶ elements"], 1);
        for one in &self.models {
            let seconds = one.seconds.as_ref().map_or("full".to_owned(), |seconds| significant(seconds.median));
            let [requests, elements] = [one.requests, one.elements].map(|count| significant(count as f64 / 1e6));
            let states = one.states.clone().unwrap_or("-".to_owned());
            table.row([one.name.clone(), states, seconds, one.sweeps.to_string(), requests, elements]);
        }
        table
    }
}
