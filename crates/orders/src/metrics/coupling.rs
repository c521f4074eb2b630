//! Coupling: how many independent sums of tokens tie what is above a cut to what is below it.
//!
//! Let `C` be the incidence matrix, with one row per place. The reachable markings lie in the space that its columns
//! span. Cut the places into those above and those below: were both sides free of each other, the dimension of that space
//! would be `rank(above) + rank(below)`. It is `rank(C)`; the rest is the number of independent equations that relate the
//! two sides, that is, of values which a diagram has to remember at the cut:
//!
//! ```text
//! coupling(cut) = rank(C above) + rank(C below) - rank(C)
//! ```
//!
//! The sum over all cuts is a relative of iRank (E. Amparore, G. Ciardo, S. Donatelli, A. Miner, 2019), which counts the
//! invariants that cross a cut; since a net and its invariants are dual, no invariant has to be known. An order and its
//! reverse have the same coupling.
//!
//! # How it is computed
//!
//! Rows are added one after the other, and one that depends on those before adds nothing to the rank. Columns are
//! numbered by the level at which they end. Then a row, once its leading entries are eliminated, consists of columns that
//! still go on, so the work depends on how many columns cross a cut: little for good orders.

use crate::effort::Effort;
use crate::incidence::{Incidence, levels};

use super::echelon::{Echelon, PRIME, Sparse};

/// The incidence matrix of a net, with as few columns as have the same rank.
#[derive(Clone, Debug)]
pub struct Coupling {
    /// Columns: pairs of place and change.
    columns: Vec<Sparse>,
    places: usize,
}

impl Coupling {
    /// Prepares the matrix of a net; `steps` bound the work.
    #[must_use]
    pub fn new(net: &Incidence, steps: u64) -> Coupling {
        let places = net.places();
        let mut columns: Vec<Sparse> = net.effects.iter().map(|effects| column(effects)).collect();
        columns.retain(|column| !column.is_empty());
        // Short columns first: the rest of the work is the smaller the fewer entries there are.
        columns.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        columns.dedup();
        match independent(&columns, places, &mut Effort::new(steps)) {
            Some(basis) => Coupling { columns: basis, places },
            // More columns than needed: slower, but right.
            None => Coupling { columns, places },
        }
    }

    /// The coupling at each cut: entry `k` is about the levels up to `k` and those below. None if it takes more steps.
    #[must_use]
    pub fn at_cuts(&self, order: &[u32], steps: u64) -> Option<Vec<u32>> {
        let mut effort = Effort::new(steps);
        let level = levels(order);
        let last = self.places.saturating_sub(1) as u32;
        let above = self.ranks(&level, &mut effort)?;
        let mirrored: Vec<u32> = level.iter().map(|level| last - level).collect();
        let below = self.ranks(&mirrored, &mut effort)?;
        let rank = above.last().copied().unwrap_or(0);
        let cut = |at: usize| above[at] + below[self.places - 2 - at] - rank;
        Some((0..self.places.saturating_sub(1)).map(cut).collect())
    }

    /// The sum over all cuts.
    #[must_use]
    pub fn sum(&self, order: &[u32], steps: u64) -> Option<u64> {
        Some(self.at_cuts(order, steps)?.into_iter().map(u64::from).sum())
    }

    /// For each level, the rank of the rows down to it.
    fn ranks(&self, level: &[u32], effort: &mut Effort) -> Option<Vec<u32>> {
        let mut echelon = Echelon::new(self.columns.len());
        let mut ranks = Vec::with_capacity(self.places);
        for row in self.rows(level) {
            echelon.insert(row, effort)?;
            ranks.push(echelon.rank());
        }
        Some(ranks)
    }

    /// The rows of the matrix from the top, their columns numbered by the level at which they end.
    fn rows(&self, level: &[u32]) -> Vec<Sparse> {
        let end = |column: &Sparse| column.iter().map(|&(place, _)| level[place as usize]).max();
        let mut columns: Vec<_> = self.columns.iter().map(|column| (end(column), column)).collect();
        columns.sort_by_key(|&(end, _)| end);
        let mut rows = vec![Vec::new(); self.places];
        for (number, (_, column)) in columns.into_iter().enumerate() {
            for &(place, change) in column {
                rows[level[place as usize] as usize].push((number as u32, change));
            }
        }
        rows
    }
}

fn column(effects: &[tremula_models::Effect]) -> Sparse {
    let entries = effects.iter().map(|effect| (effect.place, effect.delta.rem_euclid(i128::from(PRIME)) as u32));
    entries.filter(|&(_, change)| change != 0).collect()
}

/// The first columns that do not depend on those before.
fn independent(columns: &[Sparse], places: usize, effort: &mut Effort) -> Option<Vec<Sparse>> {
    let mut echelon = Echelon::new(places);
    let mut basis = Vec::new();
    for column in columns {
        if echelon.insert(column.clone(), effort)? {
            basis.push(column.clone());
        }
    }
    Some(basis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{Random, Seed, chain, net, philosophers};
    use tremula_models::PetriNet;

    const STEPS: u64 = 1_000_000;

    fn at_cuts(net: &PetriNet, order: &[u32]) -> Vec<u32> {
        Coupling::new(&Incidence::new(net), STEPS).at_cuts(order, STEPS).expect("enough steps")
    }

    #[test]
    fn one_token_is_one_equation_at_each_cut() {
        assert_eq!(at_cuts(&chain(5), &[0, 1, 2, 3, 4]), [1, 1, 1, 1]);
        assert_eq!(at_cuts(&chain(5), &[3, 0, 4, 1, 2]), [1, 1, 1, 1]);
    }

    #[test]
    fn tokens_of_their_own_are_tied_where_they_interleave() {
        // Two independent pairs of places.
        let steps = [(0, 1), (1, 0), (2, 3), (3, 2)].map(|(from, to)| [vec![(from, 1)], vec![(to, 1)]]);
        let net = net(&[1, 0, 1, 0], steps.to_vec());
        assert_eq!(at_cuts(&net, &[0, 1, 2, 3]), [1, 0, 1]);
        assert_eq!(at_cuts(&net, &[0, 2, 1, 3]), [1, 2, 1]);
    }

    #[test]
    fn places_that_do_not_change_are_free() {
        assert_eq!(at_cuts(&net(&[1, 2, 3], vec![]), &[2, 0, 1]), [0, 0]);
        assert_eq!(at_cuts(&net(&[], vec![]), &[]), [0; 0]);
        assert_eq!(at_cuts(&net(&[4], vec![]), &[0]), [0; 0]);
    }

    #[test]
    fn few_steps_are_no_answer() {
        let coupling = Coupling::new(&Incidence::new(&philosophers(6)), STEPS);
        let order: Vec<u32> = (0..24).collect();
        assert_eq!(coupling.sum(&order, 10), None);
        assert!(coupling.sum(&order, STEPS).is_some());
    }

    /// The rank of some rows of the incidence matrix, by plain elimination of fractions without division.
    fn dense_rank(net: &PetriNet, places: &[u32]) -> u32 {
        let entry = |place: u32, transition: &tremula_models::Transition| {
            transition.effects().iter().find(|effect| effect.place == place).map_or(0, |effect| effect.delta)
        };
        let row = |&place: &u32| net.transitions.iter().map(|transition| entry(place, transition)).collect();
        let mut rows: Vec<Vec<i128>> = places.iter().map(row).collect();
        let mut rank = 0;
        for column in 0..net.transitions.len() {
            let Some(pivot) = (rank..rows.len()).find(|&at| rows[at][column] != 0) else { continue };
            rows.swap(rank, pivot);
            let lead = rows[rank].clone();
            for row in &mut rows[rank + 1..] {
                let factor = row[column];
                for (value, &known) in row.iter_mut().zip(&lead) {
                    *value = *value * lead[column] - known * factor;
                }
            }
            rank += 1;
        }
        rank as u32
    }

    #[test]
    fn random_nets_agree_with_plain_elimination() {
        for number in 0..200 {
            let seed = Seed(0xC0_0000 + number);
            let mut random = Random(seed.0);
            let (places, transitions) = (2 + random.below(6), random.below(7));
            let net = random.net(places, transitions);
            let order = random.permutation(places as u32);
            let rank = dense_rank(&net, &order);
            let expected: Vec<u32> = (1..order.len())
                .map(|at| dense_rank(&net, &order[..at]) + dense_rank(&net, &order[at..]) - rank)
                .collect();
            assert_eq!(at_cuts(&net, &order), expected);
            let columns_kept = Coupling::new(&Incidence::new(&net), 0);
            assert_eq!(columns_kept.at_cuts(&order, STEPS), Some(expected));
        }
    }

    #[test]
    fn the_reverse_has_the_same_sum() {
        let seed = Seed(0xC1);
        let mut random = Random(seed.0);
        let coupling = Coupling::new(&Incidence::new(&philosophers(5)), STEPS);
        for _ in 0..20 {
            let mut order = random.permutation(20);
            let sum = coupling.sum(&order, STEPS);
            order.reverse();
            assert_eq!(coupling.sum(&order, STEPS), sum);
        }
    }
}
