//! What the counters of our pool say about some runs.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tremula_tasks::Statistics;

/// Counters of our pool, summed over the runs with one number of workers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Steals {
    /// Tasks taken from another worker on request.
    pub succeeded: u64,
    /// Requests that brought nothing.
    pub failed: u64,
    /// Tasks given to workers that waited.
    pub gifts: u64,
    /// Times that a worker found nothing to steal and waited.
    pub waits: u64,
    /// Steals by nanoseconds from request to answer: upper ends of buckets, and how many fell into each.
    pub latency_ns: BTreeMap<u64, u64>,
}

impl Steals {
    /// Add what happened between two looks at the counters of one pool.
    pub(crate) fn add(&mut self, before: &Statistics, after: &Statistics) {
        self.succeeded += after.steals - before.steals;
        self.failed += after.failed_steals - before.failed_steals;
        self.gifts += after.gifts - before.gifts;
        self.waits += after.waits - before.waits;
        for (nanoseconds, count) in after.latency_ns.buckets() {
            *self.latency_ns.entry(nanoseconds).or_default() += count;
        }
        for (nanoseconds, count) in before.latency_ns.buckets() {
            *self.latency_ns.entry(nanoseconds).or_default() -= count;
        }
        self.latency_ns.retain(|_, &mut count| count > 0);
    }

    /// The nanoseconds that a share `q` of the steals did not exceed; none without steals.
    pub fn latency_quantile_ns(&self, q: f64) -> Option<u64> {
        self.cumulative().find(|&(_, share)| share >= q).map(|(nanoseconds, _)| nanoseconds)
    }

    /// Nanoseconds, and the share of steals that took no longer; ascending, up to one.
    pub fn cumulative(&self) -> impl Iterator<Item = (u64, f64)> + Clone + '_ {
        let total: u64 = self.latency_ns.values().sum();
        self.latency_ns.iter().scan(0, move |seen, (&nanoseconds, &count)| {
            *seen += count;
            Some((nanoseconds, *seen as f64 / total as f64))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_buckets() {
        let steals = Steals { latency_ns: BTreeMap::from([(10, 98), (20, 1), (40, 1)]), ..Steals::default() };
        assert_eq!([0.0, 0.5, 0.98, 0.99, 1.0].map(|q| steals.latency_quantile_ns(q).unwrap()), [10, 10, 10, 20, 40]);
        assert_eq!(Steals::default().latency_quantile_ns(0.5), None);
    }
}
