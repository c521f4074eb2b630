//! Which execution suits this machine and these tables: lanes or plain recursion.
//!
//! Lanes pay where a miss costs more than the turns they take: large tables, slow memory. Where the tables fit into the
//! processor's cache, plain recursion is faster. Nothing but measuring tells, so large operations are timed: both ways
//! get their turn at first and now and then later, and the faster one does the rest.

use std::time::Duration;

/// How large operations are run.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Way {
    /// Plain recursion.
    Plain,
    /// Several lanes.
    Lanes,
}

/// Look-ups per second of both ways, and whose turn it is.
#[derive(Default)]
pub struct Pace {
    operations: u64,
    plain: Rate,
    lanes: Rate,
}

/// Smaller tables are likely to stay in the processor's last cache, where a miss costs less than a turn.
const LEAST_BYTES: u64 = 48 << 20;
/// Operations at the beginning that alternate.
const TRIALS: u64 = 8;
/// After that, one of so many goes the way that seems slower.
const RETRY: u64 = 32;
/// A measurement counts this much against everything before.
const WEIGHT: f64 = 0.2;
/// Shorter operations say little.
const LEAST_LOOKUPS: u64 = 10_000;

#[derive(Default)]
struct Rate(Option<f64>);

impl Rate {
    fn add(&mut self, sample: f64) {
        self.0 = Some(self.0.map_or(sample, |mean| mean + WEIGHT * (sample - mean)));
    }
}

impl Pace {
    /// The way for the next large operation on tables of `bytes`.
    pub fn choose(&mut self, bytes: u64) -> Way {
        if bytes < LEAST_BYTES {
            return Way::Plain;
        }
        self.operations += 1;
        let (faster, slower) =
            if self.lanes.0 > self.plain.0 { (Way::Lanes, Way::Plain) } else { (Way::Plain, Way::Lanes) };
        if self.operations <= TRIALS {
            if self.operations.is_multiple_of(2) { Way::Plain } else { Way::Lanes }
        } else if self.operations.is_multiple_of(RETRY) {
            slower
        } else {
            faster
        }
    }

    /// Learn from an operation.
    pub fn learn(&mut self, way: Way, lookups: u64, time: Duration) {
        if lookups >= LEAST_LOOKUPS {
            let sample = lookups as f64 / time.as_secs_f64().max(1e-9);
            match way {
                Way::Plain => self.plain.add(sample),
                Way::Lanes => self.lanes.add(sample),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(plain_micros: u64, lanes_micros: u64) -> [usize; 2] {
        let mut pace = Pace::default();
        let mut counts = [0; 2];
        for _ in 0..1000 {
            let way = pace.choose(1 << 30);
            let micros = if way == Way::Plain { plain_micros } else { lanes_micros };
            pace.learn(way, 1_000_000, Duration::from_micros(micros));
            counts[way as usize] += 1;
        }
        counts
    }

    #[test]
    fn small_tables_need_no_lanes() {
        let mut pace = Pace::default();
        assert!((0..100).all(|_| pace.choose(1 << 20) == Way::Plain));
    }

    #[test]
    fn the_faster_way_does_most() {
        let [plain, lanes] = chosen(100, 200);
        assert!(plain > 900 && lanes > 10, "{plain} {lanes}");
        let [plain, lanes] = chosen(200, 100);
        assert!(lanes > 900 && plain > 10, "{plain} {lanes}");
    }
}
