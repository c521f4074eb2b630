//! What the workers of a pool have done, and how long steals took.

/// Sums over all workers and runs.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Tasks taken from another worker on request.
    pub steals: u64,
    /// Requests that brought nothing.
    pub failed_steals: u64,
    /// Tasks given to workers that waited.
    pub gifts: u64,
    /// Times that a worker found nothing to steal and waited.
    pub waits: u64,
    /// Nanoseconds from request to answer, of steals that brought a task.
    pub latency_ns: Histogram,
    /// The same, only of those steals whose victim was a worker of another process.
    pub between_ns: Histogram,
}

impl Statistics {
    pub(crate) fn add(&mut self, other: &Statistics) {
        self.steals += other.steals;
        self.failed_steals += other.failed_steals;
        self.gifts += other.gifts;
        self.waits += other.waits;
        self.latency_ns.add(&other.latency_ns);
        self.between_ns.add(&other.between_ns);
    }
}

/// Each power of two is divided into so many buckets.
const STEPS: usize = 8;

/// Counts of numbers, in buckets an eighth of a power of two wide.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Vec<u64>,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { counts: vec![0; STEPS * u64::BITS as usize] }
    }
}

impl Histogram {
    /// Count `value`.
    pub fn record(&mut self, value: u64) {
        self.counts[Self::bucket(value)] += 1;
    }

    /// Numbers counted.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The least number that at least a share `q` of all numbers do not exceed, to within an eighth; none without numbers.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let wanted = (q * self.count() as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        let at = self.counts.iter().position(|&count| {
            seen += count;
            seen >= wanted
        })?;
        Some(Self::upper_end(at))
    }

    /// Buckets that hold anything: upper end and count, ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.counts.iter().enumerate().filter(|&(_, &count)| count > 0).map(|(at, &count)| (Self::upper_end(at), count))
    }

    fn add(&mut self, other: &Histogram) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, count)| *sum += count);
    }

    fn bucket(value: u64) -> usize {
        if value < STEPS as u64 {
            return value as usize;
        }
        let power = value.ilog2() as usize;
        let step = (value >> (power - STEPS.ilog2() as usize)) as usize % STEPS;
        (power - STEPS.ilog2() as usize + 1) * STEPS + step
    }

    fn upper_end(bucket: usize) -> u64 {
        if bucket < STEPS {
            return bucket as u64;
        }
        let (shift, step) = (bucket / STEPS - 1, bucket % STEPS);
        (((STEPS + step) as u64 + 1) << shift) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_hold_their_numbers() {
        for value in (0..5000).chain([u64::from(u32::MAX), 1 << 40, (1 << 40) + 12345]) {
            let upper = Histogram::upper_end(Histogram::bucket(value));
            assert!(upper >= value && upper - value <= value / STEPS as u64, "{value} {upper}");
        }
    }

    #[test]
    fn quantiles_of_a_ramp() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        (1..=1000).for_each(|value| histogram.record(value));
        let median = histogram.quantile(0.5).unwrap();
        assert!((500..=563).contains(&median), "{median}");
        assert_eq!(histogram.count(), 1000);
    }
}
