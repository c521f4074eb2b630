//! Linear probing with perfect hashing, simulated: how many chunks an insert reads.
//!
//! A table is filled with random first slots. For each slot, the distance to the next empty one is the number of slots
//! that an insert from there would look at; all slots are equally likely, so the average over them is exact for that
//! table, and a few tables are averaged.

use super::workload::Random;
use tremula_table::layout::scale;

/// Slots of a simulated table, and how many tables are averaged.
const SLOTS: usize = 1 << 20;
const TABLES: u64 = 4;

/// The expected number of chunks that an insert reads: for each load, for each chunk size. Loads ascend.
pub(crate) fn simulate(loads: &[f64], chunks: &[usize]) -> Vec<Vec<f64>> {
    let mut averages = vec![vec![0.0; chunks.len()]; loads.len()];
    for seed in 0..TABLES {
        let mut table = Simulated::new(SLOTS, seed);
        for (load, averages) in loads.iter().zip(&mut averages) {
            table.fill((load * SLOTS as f64) as usize);
            for (average, sum) in averages.iter_mut().zip(table.average_chunks(chunks)) {
                *average += sum / TABLES as f64;
            }
        }
    }
    averages
}

/// A table that knows only which slots are occupied.
struct Simulated {
    occupied: Vec<bool>,
    filled: usize,
    random: Random,
}

impl Simulated {
    fn new(slots: usize, seed: u64) -> Simulated {
        Simulated { occupied: vec![false; slots], filled: 0, random: Random(seed) }
    }

    /// Insert until so many slots are occupied; there must be an empty one left.
    fn fill(&mut self, wanted: usize) {
        while self.filled < wanted {
            let mut slot = scale(self.random.next(), self.occupied.len());
            while self.occupied[slot] {
                slot = (slot + 1) % self.occupied.len();
            }
            self.occupied[slot] = true;
            self.filled += 1;
        }
    }

    /// The average number of chunks that an insert reads, for each size of chunks.
    fn average_chunks(&self, chunks: &[usize]) -> Vec<f64> {
        let slots = self.occupied.len();
        let mut sums = vec![0; chunks.len()];
        let mut distance = self.occupied.iter().position(|&occupied| !occupied).unwrap_or(slots);
        for &occupied in self.occupied.iter().rev() {
            distance = if occupied { distance + 1 } else { 0 };
            for (sum, chunk) in sums.iter_mut().zip(chunks) {
                // The slot where the probe begins is looked at, too.
                *sum += (distance + 1).div_ceil(*chunk);
            }
        }
        sums.into_iter().map(|sum| sum as f64 / slots as f64).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::theory::expected_chunks;
    use super::*;

    fn of(occupied: &[u8], chunks: &[usize]) -> Vec<f64> {
        let occupied: Vec<bool> = occupied.iter().map(|&slot| slot == 1).collect();
        Simulated { filled: occupied.len(), occupied, random: Random(0) }.average_chunks(chunks)
    }

    #[test]
    fn small_tables_by_hand() {
        assert_eq!(of(&[0, 0, 0, 0], &[1, 8]), [1.0, 1.0]);
        // Distances 2 and 1.
        assert_eq!(of(&[1, 0], &[1, 2]), [1.5, 1.0]);
        // Distances 3, 2, 1, 4: the last one goes around.
        assert_eq!(of(&[1, 1, 0, 1], &[1, 2, 3, 4]), [2.5, 1.5, 1.25, 1.0]);
    }

    #[test]
    fn the_average_over_tables_is_known_for_few_keys() {
        // One key in four slots: distances 2, 1, 1, 1 wherever it is. Two keys: neighbours (3, 2, 1, 1), unless the
        // second falls on the slot opposite (2, 1, 2, 1), which happens once in four times.
        let mut sum = 0.0;
        for seed in 0..10_000 {
            let mut table = Simulated::new(4, seed);
            table.fill(1);
            assert_eq!(table.average_chunks(&[1]), [1.25]);
            table.fill(2);
            sum += table.average_chunks(&[1])[0];
        }
        let expected = (0.75 * 7.0 + 0.25 * 6.0) / 4.0;
        assert!((sum / 1e4 - expected).abs() < 0.01, "{} instead of {expected}", sum / 1e4);
    }

    #[test]
    fn single_slots_agree_with_the_formula() {
        for (averages, load) in simulate(&[0.3, 0.5, 0.8], &[1]).iter().zip([0.3, 0.5, 0.8]) {
            let expected = expected_chunks(1, load);
            assert!((averages[0] / expected - 1.0).abs() < 0.02, "load {load}: {} instead of {expected}", averages[0]);
        }
    }
}
