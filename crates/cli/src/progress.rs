//! How far the exploration is: measured once, shown as a status line, as an answer to SIGUSR1, or as an event.

use crate::events::micros;
use crate::numbers::{self, clock, magnitude, percent, short, short_bytes};
use crate::run::{Known, Run};
use serde::Serialize;
use std::io::IsTerminal;
use std::time::{Duration, Instant};
use tremula_diagrams::Counters;

/// Width of a terminal that does not tell.
const DEFAULT_WIDTH: usize = 80;
/// Columns that stay free: a terminal may wrap when the last one is written to, and it shows Ctrl-C as two characters.
const FREE_COLUMNS: usize = 3;

/// One look at the exploration.
#[derive(Clone, Debug, Serialize)]
pub struct Measures {
    /// What is going on.
    pub phase: &'static str,
    /// Rounds completed.
    pub round: u64,
    /// Breadth-first levels completed; none for strategies that do not go level by level.
    pub level: Option<u64>,
    /// States found, as decimal digits, when last counted.
    pub states: Option<String>,
    /// The round after which they were counted.
    pub counted_at_round: Option<u64>,
    /// Nodes in use.
    pub live_nodes: u64,
    /// Nodes that fit at the present size of the table.
    pub table_nodes: u64,
    /// Share of the table in use.
    pub table_fill: f64,
    /// Share of cache look-ups that found something, over the whole run.
    pub cache_hit_rate: f64,
    /// Bytes on lease.
    pub memory_used: u64,
    /// Bytes allowed.
    pub memory_budget: u64,
    /// Nodes created so far.
    pub created_nodes: u64,
    /// Nodes created per second, lately.
    pub nodes_per_second: f64,
    /// Garbage collections so far.
    pub collections: u64,
}

/// Turns counters into measures, remembering what a rate needs.
#[derive(Default)]
pub struct Meter {
    last: Option<(Instant, u64)>,
    rate: f64,
}

impl Meter {
    /// Rates over shorter times are not worth telling.
    const SHORTEST: Duration = Duration::from_millis(150);

    /// Measure.
    pub fn measure(&mut self, run: &Run, counters: &Counters) -> Measures {
        self.update_rate(run, counters.created);
        let known = run.known().clone();
        let (states, counted_at_round) = known.states.clone().unzip();
        Measures {
            phase: known.phase.doing(),
            round: known.rounds,
            level: level(&known),
            states,
            counted_at_round,
            live_nodes: counters.nodes,
            table_nodes: counters.capacity,
            table_fill: micros(numbers::ratio(counters.nodes, counters.capacity)),
            cache_hit_rate: micros(numbers::ratio(counters.hits, counters.lookups)),
            memory_used: memory_used(run, counters),
            memory_budget: run.budget.limit() as u64,
            created_nodes: counters.created,
            nodes_per_second: self.rate.round(),
            collections: counters.collections,
        }
    }

    fn update_rate(&mut self, run: &Run, created: u64) {
        let now = Instant::now();
        let (since, before) = self.last.unwrap_or((run.started, 0));
        let passed = now - since;
        if passed >= Self::SHORTEST {
            self.rate = created.saturating_sub(before) as f64 / passed.as_secs_f64();
            self.last = Some((now, created));
        }
    }
}

/// Levels completed, if rounds are levels.
pub fn level(known: &Known) -> Option<u64> {
    (known.levels_only && known.rounds > 0).then_some(known.rounds)
}

/// One line that fits into `width` columns; the least important comes last.
pub fn status_line(run: &Run, measures: &Measures, width: usize) -> String {
    let mut parts = Vec::new();
    match (measures.level, measures.round) {
        (_, 0) => parts.push(measures.phase.to_owned()),
        (Some(level), _) => parts.push(format!("level {level}")),
        (None, round) => parts.push(format!("round {round}")),
    }
    if let Some(states) = &measures.states {
        parts.push(format!("{} states", magnitude(states)));
    }
    parts.push(clock(run.elapsed()));
    parts.push(format!("{}/{}", short_bytes(measures.memory_used), short_bytes(measures.memory_budget)));
    parts.push(format!("{} nodes ({:.0}%)", short(measures.live_nodes), measures.table_fill * 100.0));
    parts.push(format!("hit {:.0}%", measures.cache_hit_rate * 100.0));
    parts.push(format!("{}/s", short(measures.nodes_per_second as u64)));
    fit(&parts, width.saturating_sub(FREE_COLUMNS))
}

/// As many parts as fit into `width` columns, from the first on.
fn fit(parts: &[String], width: usize) -> String {
    let mut line = String::new();
    for part in parts {
        let gap = if line.is_empty() { "" } else { "  " };
        if line.len() + gap.len() + part.len() > width {
            break;
        }
        line += gap;
        line += part;
    }
    line
}

/// Several lines for somebody who asked where it is.
pub fn full_status(run: &Run, measures: &Measures, counters: &Counters) -> String {
    let line = |label: &str, value: String| format!("  {label:<10}{value}\n");
    let states = match (&measures.states, measures.counted_at_round) {
        (Some(states), Some(round)) => format!("{} after round {round}", count(states)),
        _ => "not counted yet".to_owned(),
    };
    let kind = if measures.level.is_some() { "levels" } else { "rounds" };
    let strategy = run.known().strategy;
    [
        format!("tremula: {}, {} so far\n", measures.phase, clock(run.elapsed())),
        line("model", run.model.display().to_string()),
        line("strategy", format!("{strategy}, {} {kind} completed", measures.round)),
        line("states", states),
        line(
            "table",
            format!(
                "{} of {} nodes in use ({}), {} created per second",
                short(measures.live_nodes),
                short(measures.table_nodes),
                percent(measures.live_nodes, measures.table_nodes),
                short(measures.nodes_per_second as u64),
            ),
        ),
        line("cache", cache(counters)),
        line("memory", memory(measures, run)),
        line("garbage", garbage(counters)),
    ]
    .concat()
}

/// States for a line of text.
fn count(digits: &str) -> String {
    if digits.len() <= 15 { numbers::grouped(digits) } else { format!("about {}", magnitude(digits)) }
}

/// The operation cache in words.
pub fn cache(counters: &Counters) -> String {
    format!(
        "{} of {} look-ups hit, {} entries",
        percent(counters.hits, counters.lookups),
        short(counters.lookups),
        short(counters.cache_entries)
    )
}

/// Bytes of the budget in use. A table that ranks have together is in none of their budgets: to each, its share of it.
fn memory_used(run: &Run, counters: &Counters) -> u64 {
    (run.budget.used() as u64).max(counters.bytes / u64::from(run.ranks))
}

/// The budget in words.
fn memory(measures: &Measures, run: &Run) -> String {
    format!("{} of {} in use", numbers::bytes(measures.memory_used), numbers::bytes(run.budget.limit() as u64))
}

/// Collections in words.
pub fn garbage(counters: &Counters) -> String {
    format!("{} collections in {:.2} s", counters.collections, counters.collection_micros as f64 / 1e6)
}

/// The status line on a terminal, which is rewritten again and again.
pub struct StatusLine {
    shown: bool,
}

impl StatusLine {
    /// A status line, if standard error is a terminal that can rewrite lines.
    pub fn on_terminal() -> Option<StatusLine> {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        (std::io::stderr().is_terminal() && !dumb).then_some(StatusLine { shown: false })
    }

    /// Show another text.
    pub fn show(&mut self, run: &Run, measures: &Measures) {
        self.shown = true;
        crate::output::to_stderr(&format!("\r{}\x1b[K", status_line(run, measures, terminal_width())));
    }

    /// Leave an empty line.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            crate::output::to_stderr("\r\x1b[K");
        }
    }
}

/// Columns of the terminal that standard error goes to.
fn terminal_width() -> usize {
    match rustix::termios::tcgetwinsize(std::io::stderr()) {
        Ok(size) if size.ws_col > 0 => usize::from(size.ws_col),
        _ => DEFAULT_WIDTH,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_lines_drop_what_does_not_fit() {
        let parts = ["level 7", "123 states", "1.5s"].map(str::to_owned);
        assert_eq!(fit(&parts, 80), "level 7  123 states  1.5s");
        assert_eq!(fit(&parts, 20), "level 7  123 states");
        assert_eq!(fit(&parts, 3), "");
    }
}
