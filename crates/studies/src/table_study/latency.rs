//! Latencies of single operations.

use super::workload::nanoseconds_since;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Nanoseconds that shares of the timed operations did not exceed.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Latency {
    /// Half of them.
    pub p50: u32,
    /// Nine of ten.
    pub p90: u32,
    /// 99 of a hundred.
    pub p99: u32,
    /// 999 of a thousand.
    pub p999: u32,
}

impl Latency {
    /// Names of the percentiles.
    pub const NAMES: [&str; 4] = ["p50", "p90", "p99", "p99.9"];

    /// Of these nanoseconds; all zero if there are none.
    pub(crate) fn of(mut samples: Vec<u32>) -> Latency {
        samples.sort_unstable();
        let quantile = |per_mille: usize| {
            let rank = (samples.len() * per_mille).div_ceil(1000).max(1);
            samples.get(rank - 1).copied().unwrap_or(0)
        };
        Latency { p50: quantile(500), p90: quantile(900), p99: quantile(990), p999: quantile(999) }
    }

    /// In the order of their names.
    pub fn values(self) -> [u32; 4] {
        [self.p50, self.p90, self.p99, self.p999]
    }
}

/// Nanoseconds between two readings of the clock with nothing between them: the median of many.
pub(crate) fn clock_nanoseconds() -> u32 {
    let samples = (0..1001).map(|_| nanoseconds_since(Instant::now()));
    Latency::of(samples.collect()).p50
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_few_and_many() {
        assert_eq!(Latency::of((1..=1000).rev().collect()).values(), [500, 900, 990, 999]);
        assert_eq!(Latency::of(vec![7]).values(), [7; 4]);
        assert_eq!(Latency::of(vec![]).values(), [0; 4]);
    }
}
