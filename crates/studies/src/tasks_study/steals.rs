//! What the counters of our pool say about some runs.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tremula_tasks::{Histogram, Statistics};

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
    /// Those of them whose victim was a worker of another process.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub between_ns: BTreeMap<u64, u64>,
}

impl Steals {
    /// Add what happened between two looks at the counters of one pool.
    pub(crate) fn add(&mut self, before: &Statistics, after: &Statistics) {
        self.succeeded += after.steals - before.steals;
        self.failed += after.failed_steals - before.failed_steals;
        self.gifts += after.gifts - before.gifts;
        self.waits += after.waits - before.waits;
        add_buckets(&mut self.latency_ns, &before.latency_ns, &after.latency_ns);
        add_buckets(&mut self.between_ns, &before.between_ns, &after.between_ns);
    }

    /// Add what another rank's workers, or those of another run, have done.
    pub(crate) fn add_all(&mut self, other: &Steals) {
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        self.gifts += other.gifts;
        self.waits += other.waits;
        for (sum, counts) in [(&mut self.latency_ns, &other.latency_ns), (&mut self.between_ns, &other.between_ns)] {
            counts.iter().for_each(|(&nanoseconds, &count)| *sum.entry(nanoseconds).or_default() += count);
        }
    }

    /// Steals from workers of the same process, like [`Steals::latency_ns`].
    pub fn within_ns(&self) -> BTreeMap<u64, u64> {
        let between = |nanoseconds| self.between_ns.get(nanoseconds).copied().unwrap_or(0);
        let within = self.latency_ns.iter().map(|(nanoseconds, count)| (*nanoseconds, count - between(nanoseconds)));
        within.filter(|&(_, count)| count > 0).collect()
    }

    /// For another process.
    pub(crate) fn to_words(&self) -> Vec<u64> {
        let mut words = vec![self.succeeded, self.failed, self.gifts, self.waits, self.latency_ns.len() as u64];
        let pairs = self.latency_ns.iter().chain(&self.between_ns);
        words.extend(pairs.flat_map(|(&nanoseconds, &count)| [nanoseconds, count]));
        words
    }

    /// From what [`Steals::to_words`] of another process gave.
    pub(crate) fn from_words(words: &[u64]) -> Steals {
        let &[succeeded, failed, gifts, waits, buckets, ref pairs @ ..] = words else { return Steals::default() };
        let mut pairs = pairs.chunks_exact(2).map(|pair| (pair[0], pair[1]));
        let latency_ns = pairs.by_ref().take(buckets as usize).collect();
        Steals { succeeded, failed, gifts, waits, latency_ns, between_ns: pairs.collect() }
    }

    /// The nanoseconds that a share `q` of the steals did not exceed; none without steals.
    pub fn latency_quantile_ns(&self, q: f64) -> Option<u64> {
        quantile(&self.latency_ns, q)
    }

    /// Nanoseconds, and the share of steals that took no longer; ascending, up to one.
    pub fn cumulative(&self) -> impl Iterator<Item = (u64, f64)> + Clone + '_ {
        cumulative(&self.latency_ns)
    }
}

fn add_buckets(sum: &mut BTreeMap<u64, u64>, before: &Histogram, after: &Histogram) {
    for (nanoseconds, count) in after.buckets() {
        *sum.entry(nanoseconds).or_default() += count;
    }
    for (nanoseconds, count) in before.buckets() {
        *sum.entry(nanoseconds).or_default() -= count;
    }
    sum.retain(|_, &mut count| count > 0);
}

/// The number that a share `q` of those counted did not exceed; none without any.
pub(super) fn quantile(counts: &BTreeMap<u64, u64>, q: f64) -> Option<u64> {
    cumulative(counts).find(|&(_, share)| share >= q).map(|(number, _)| number)
}

/// Numbers, and the share of those counted that were not larger; ascending, up to one.
pub(super) fn cumulative(counts: &BTreeMap<u64, u64>) -> impl Iterator<Item = (u64, f64)> + Clone + '_ {
    let total: u64 = counts.values().sum();
    counts.iter().scan(0, move |seen, (&number, &count)| {
        *seen += count;
        Some((number, *seen as f64 / total as f64))
    })
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

    #[test]
    fn steals_travel_as_words_and_add_up() {
        let between_ns = BTreeMap::from([(20, 1)]);
        let latency_ns = BTreeMap::from([(10, 98), (20, 1), (40, 3)]);
        let steals = Steals { succeeded: 102, failed: 7, gifts: 3, waits: 2, latency_ns, between_ns };
        assert_eq!(Steals::from_words(&steals.to_words()), steals);
        assert_eq!(Steals::from_words(&Steals::default().to_words()), Steals::default());
        assert_eq!(steals.within_ns(), BTreeMap::from([(10, 98), (40, 3)]));
        let mut twice = steals.clone();
        twice.add_all(&steals);
        assert_eq!((twice.succeeded, twice.latency_ns[&40], twice.between_ns[&20]), (204, 6, 2));
    }
}
