//! The algorithm of Farkas, as J. Martínez and M. Silva use it for nets (1982).
//!
//! The tableau starts with one row per place: the weights (one for this place) and their effect (what the transitions do
//! to the weighted sum). One transition after the other is eliminated: each row that gains by it is combined with each
//! one that loses, such that nothing changes, and the rows combined are dropped. What is left in the end has no effect.
//!
//! Invariants, between eliminations, unless a bound was met:
//!
//! - F1: the effect of a row is the product of its weights and the incidence matrix.
//! - F2: weights are positive and have no common divisor.
//! - F3: the rows are those solutions of the equations so far that have minimal support; no two have the same.
//!
//! F1 and F2 hold in any case. So a bound, if met, costs semiflows but never makes a wrong one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tremula_models::PetriNet;

use crate::effort::Effort;
use crate::incidence::Incidence;
use crate::semiflows::{FlowLimits, Semiflow, Semiflows};

/// Steps for a search in a list.
const SEARCH: usize = 8;

/// Entries that are not zero, ascending by index.
type Sparse = Vec<(u32, i128)>;

struct Row {
    weights: Sparse,
    effect: Sparse,
    signature: Signature,
}

/// The support of a row, folded into a few words: each bit stands for one place, or in a large net for several.
///
/// If a bit of one row is not in another, its support is not contained there.
#[derive(Copy, Clone, Default)]
struct Signature([u64; 4]);

struct Tableau {
    /// Rows by number; dropped ones leave a gap.
    rows: Vec<Option<Row>>,
    /// The rows that are there by the first place of their support.
    by_first: Vec<Vec<u32>>,
    live: usize,
    /// Rows with an effect on each transition, dropped ones among them.
    with_effect: Vec<Vec<u32>>,
    /// How many rows gain and lose by each transition.
    gain: Vec<u64>,
    lose: Vec<u64>,
    /// Transitions by what their elimination would add; old entries are still there.
    queue: BinaryHeap<Reverse<(i64, u32)>>,
    rows_allowed: usize,
    complete: bool,
}

/// How many searches there are at most, each with a tenth of the rows of the one before.
const SEARCHES: u32 = 3;

/// The semiflows of a net.
///
/// A search that runs out of steps has most of its rows unfinished, and nothing to show for them. Then one with fewer rows
/// finds more; of several unfinished ones, the one with semiflows for the most places counts.
pub(crate) fn semiflows(net: &PetriNet, limits: &FlowLimits) -> Semiflows {
    let mut best = (0, Semiflows::default());
    for search in 0..SEARCHES {
        let mut effort = Effort::new(limits.steps / u64::from(SEARCHES));
        let mut tableau = Tableau::new(net, limits.rows / 10_usize.pow(search));
        let finished = tableau.eliminate_all(&mut effort).is_some();
        tableau.complete &= finished;
        let found = tableau.finish();
        let covered = found.covered(net.places.len());
        if finished || covered > best.0 {
            best = (covered, found);
        }
        if finished {
            break;
        }
    }
    best.1
}

impl Tableau {
    fn new(net: &PetriNet, extra_rows: usize) -> Tableau {
        let net = Incidence::new(net);
        let transitions = net.effects.len();
        let mut tableau = Tableau {
            rows: Vec::new(),
            by_first: vec![Vec::new(); net.places()],
            live: 0,
            with_effect: vec![Vec::new(); transitions],
            gain: vec![0; transitions],
            lose: vec![0; transitions],
            queue: BinaryHeap::new(),
            rows_allowed: net.places() + extra_rows,
            complete: true,
        };
        let mut effects: Vec<Sparse> = vec![Vec::new(); net.places()];
        for (number, transition) in net.effects.iter().enumerate() {
            for effect in transition.iter().filter(|effect| effect.delta != 0) {
                effects[effect.place as usize].push((number as u32, effect.delta));
            }
        }
        for (place, effect) in effects.into_iter().enumerate() {
            tableau.add(Row::new(vec![(place as u32, 1)], effect));
        }
        for transition in 0..transitions as u32 {
            tableau.queue_up(transition);
        }
        tableau
    }

    fn add(&mut self, row: Row) {
        let number = self.rows.len() as u32;
        for &(transition, change) in &row.effect {
            let at = transition as usize;
            self.with_effect[at].push(number);
            *(if change > 0 { &mut self.gain[at] } else { &mut self.lose[at] }) += 1;
        }
        self.by_first[row.first()].push(number);
        self.rows.push(Some(row));
        self.live += 1;
    }

    fn drop_row(&mut self, number: u32) {
        let Some(row) = self.rows[number as usize].take() else { return };
        for &(transition, change) in &row.effect {
            let at = transition as usize;
            *(if change > 0 { &mut self.gain[at] } else { &mut self.lose[at] }) -= 1;
        }
        self.by_first[row.first()].retain(|&other| other != number);
        self.live -= 1;
    }

    /// What the elimination of a transition adds to the number of rows, at most.
    fn cost(&self, transition: u32) -> i64 {
        let (gain, lose) = (self.gain[transition as usize] as i64, self.lose[transition as usize] as i64);
        gain * lose - gain - lose
    }

    fn queue_up(&mut self, transition: u32) {
        if self.gain[transition as usize] + self.lose[transition as usize] > 0 {
            self.queue.push(Reverse((self.cost(transition), transition)));
        }
    }

    fn eliminate_all(&mut self, effort: &mut Effort) -> Option<()> {
        while let Some(Reverse((cost, transition))) = self.queue.pop() {
            let at = transition as usize;
            if self.gain[at] + self.lose[at] > 0 && cost == self.cost(transition) {
                self.eliminate(transition, effort)?;
            }
        }
        Some(())
    }

    /// Replaces all rows that a transition has an effect on by combinations of which it has none.
    fn eliminate(&mut self, transition: u32, effort: &mut Effort) -> Option<()> {
        let involved = std::mem::take(&mut self.with_effect[transition as usize]);
        effort.spend(involved.len())?;
        let (mut gaining, mut losing): (Vec<u32>, Vec<u32>) = involved
            .into_iter()
            .filter(|&number| self.rows[number as usize].is_some())
            .partition(|&number| self.row(number).change(transition) > 0);
        // If not all can be combined, then those that are cheapest and likeliest to be of use.
        gaining.sort_by_key(|&number| self.row(number).weights.len());
        losing.sort_by_key(|&number| self.row(number).weights.len());
        let combined = self.combinations(transition, &gaining, &losing, effort)?;
        let mut touched: Vec<u32> = combined.iter().flat_map(|row| row.effect.iter().map(|entry| entry.0)).collect();
        for &number in gaining.iter().chain(&losing) {
            touched.extend(self.row(number).effect.iter().map(|entry| entry.0));
            self.drop_row(number);
        }
        for row in combined {
            self.add(row);
        }
        touched.sort_unstable();
        touched.dedup();
        for transition in touched {
            self.queue_up(transition);
        }
        Some(())
    }

    /// The combinations of rows that gain and rows that lose, as far as their support is minimal.
    fn combinations(
        &mut self,
        transition: u32,
        gaining: &[u32],
        losing: &[u32],
        effort: &mut Effort,
    ) -> Option<Vec<Row>> {
        let room = self.rows_allowed.saturating_sub(self.live - gaining.len() - losing.len());
        let mut combined = Vec::new();
        for &first in gaining {
            for &second in losing {
                if !self.is_minimal(first, second, effort)? {
                    continue;
                }
                if combined.len() == room {
                    self.complete = false;
                    return Some(combined);
                }
                let (a, b) = (self.row(first), self.row(second));
                effort.spend(a.weights.len() + a.effect.len() + b.weights.len() + b.effect.len())?;
                match a.combine(b, transition) {
                    Some(row) => combined.push(row),
                    None => self.complete = false,
                }
            }
        }
        Some(combined)
    }

    /// Does the union of two supports contain that of no third row?
    fn is_minimal(&self, first: u32, second: u32, effort: &mut Effort) -> Option<bool> {
        let (a, b) = (self.row(first), self.row(second));
        effort.spend(a.weights.len() + b.weights.len())?;
        let union = a.signature.union(b.signature);
        let inside = |&(place, _): &(u32, i128)| find(&a.weights, place) != 0 || find(&b.weights, place) != 0;
        // What is contained begins with a place of the union. Places of both are looked at twice.
        for &(place, _) in a.weights.iter().chain(&b.weights) {
            let beginning = &self.by_first[place as usize];
            effort.spend(beginning.len())?;
            for &number in beginning.iter().filter(|&&number| number != first && number != second) {
                let row = self.row(number);
                if row.signature.is_within(union) {
                    effort.spend(SEARCH * row.weights.len())?;
                    if row.weights.iter().all(inside) {
                        return Some(false);
                    }
                }
            }
        }
        Some(true)
    }

    fn row(&self, number: u32) -> &Row {
        self.rows[number as usize].as_ref().expect("a row that was not dropped")
    }

    fn finish(self) -> Semiflows {
        let mut complete = self.complete;
        let mut flows = Vec::new();
        for row in self.rows.into_iter().flatten().filter(|row| row.effect.is_empty()) {
            let weights = row.weights.iter().map(|&(place, weight)| Some((place, u64::try_from(weight).ok()?)));
            match weights.collect() {
                Some(weights) => flows.push(Semiflow { weights }),
                None => complete = false,
            }
        }
        flows.sort();
        Semiflows { flows, complete }
    }
}

impl Signature {
    fn of(weights: &Sparse) -> Signature {
        let mut signature = Signature::default();
        for &(place, _) in weights {
            let bit = place as usize % (signature.0.len() * u64::BITS as usize);
            signature.0[bit / u64::BITS as usize] |= 1 << (bit % u64::BITS as usize);
        }
        signature
    }

    fn union(self, other: Signature) -> Signature {
        Signature(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    fn is_within(self, other: Signature) -> bool {
        self.0.iter().zip(other.0).all(|(&mine, theirs)| mine & !theirs == 0)
    }
}

impl Row {
    fn new(weights: Sparse, effect: Sparse) -> Row {
        let signature = Signature::of(&weights);
        Row { weights, effect, signature }
    }

    /// The first place of the support.
    fn first(&self) -> usize {
        self.weights[0].0 as usize
    }

    /// The effect of a transition.
    fn change(&self, transition: u32) -> i128 {
        find(&self.effect, transition)
    }

    /// The sum of two rows with such factors that a transition has no effect. None if numbers become too large.
    fn combine(&self, other: &Row, transition: u32) -> Option<Row> {
        let (mine, theirs) = (self.change(transition).checked_abs()?, other.change(transition).checked_abs()?);
        let common = divisor(mine, theirs);
        let (my_factor, their_factor) = (theirs / common, mine / common);
        let mut weights = sum(&self.weights, my_factor, &other.weights, their_factor)?;
        let mut effect = sum(&self.effect, my_factor, &other.effect, their_factor)?;
        // By F1 what divides all weights divides the effect.
        let common = weights.iter().fold(0, |common, &(_, weight)| divisor(common, weight));
        for (_, value) in weights.iter_mut().chain(&mut effect) {
            *value /= common;
        }
        Some(Row::new(weights, effect))
    }
}

fn find(list: &Sparse, index: u32) -> i128 {
    list.binary_search_by_key(&index, |&(index, _)| index).map_or(0, |at| list[at].1)
}

/// The weighted sum of two lists, without zeros.
fn sum(a: &Sparse, a_factor: i128, b: &Sparse, b_factor: i128) -> Option<Sparse> {
    let mut result = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let index = a.get(i).map_or(u32::MAX, |entry| entry.0).min(b.get(j).map_or(u32::MAX, |entry| entry.0));
        let mut value = 0;
        if let Some(&(_, mine)) = a.get(i).filter(|entry| entry.0 == index) {
            value = mine.checked_mul(a_factor)?;
            i += 1;
        }
        if let Some(&(_, theirs)) = b.get(j).filter(|entry| entry.0 == index) {
            value = value.checked_add(theirs.checked_mul(b_factor)?)?;
            j += 1;
        }
        if value != 0 {
            result.push((index, value));
        }
    }
    Some(result)
}

/// The greatest common divisor of two numbers that are not negative.
fn divisor(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{Random, Seed, net};

    fn is_subset(a: &Semiflow, b: &Semiflow) -> bool {
        a.weights.iter().all(|&(place, _)| b.weight(place) > 0)
    }

    #[test]
    fn random_nets_have_the_semiflows_that_trying_finds() {
        for number in 0..400 {
            let seed = Seed(0xFA_0000 + number);
            let mut random = Random(seed.0);
            let places = 2 + random.below(4);
            let transitions = random.below(5);
            let net = random.net(places, transitions);
            let found = semiflows(&net, &FlowLimits::default());
            assert!(found.complete);
            assert_eq!(found.verify(&net), None);
            for (at, flow) in found.flows.iter().enumerate() {
                assert!(!found.flows.iter().enumerate().any(|(other, b)| other != at && is_subset(b, flow)));
            }
            for code in 1..4_u64.pow(places as u32) {
                let weights = (0..places as u32).map(|place| (place, code >> (2 * place) & 3));
                let tried = Semiflow { weights: weights.filter(|entry| entry.1 > 0).collect() };
                let covered = found.flows.iter().any(|flow| is_subset(flow, &tried));
                assert!(!tried.holds(&net) || covered, "{tried:?} holds in {net:?}");
            }
        }
    }

    /// `width` ways at each of `stages` stages: `width` to the power of `stages` semiflows.
    fn explosive(width: u32, stages: u32) -> PetriNet {
        let stage = |stage: u32| (0..width).map(|way| ((stage % stages) * width + way, 1)).collect();
        let steps = (0..stages).map(|at| [stage(at), stage(at + 1)]).collect();
        net(&vec![1; (width * stages) as usize], steps)
    }

    #[test]
    fn few_ways_give_all_combinations() {
        let found = semiflows(&explosive(2, 5), &FlowLimits::default());
        assert!(found.complete);
        assert_eq!(found.flows.len(), 32);
    }

    #[test]
    fn too_many_are_cut_off_and_those_found_hold() {
        let net = explosive(3, 12);
        for limits in [FlowLimits { rows: 100, steps: 10_000_000 }, FlowLimits { rows: 1_000_000, steps: 100_000 }] {
            let found = semiflows(&net, &limits);
            assert!(!found.complete);
            assert!(found.flows.len() <= 136);
            assert_eq!(found.verify(&net), None);
        }
        let found = semiflows(&net, &FlowLimits { rows: 100, steps: 10_000_000 });
        assert!(!found.flows.is_empty());
    }

    #[test]
    fn numbers_beyond_the_range_are_left_out() {
        let huge = u64::MAX;
        let steps = (0..4).map(|at| [vec![(at, huge - u64::from(at))], vec![(at + 1, 1)]]).collect();
        let found = semiflows(&net(&[1, 0, 0, 0, 0, 9], steps), &FlowLimits::default());
        assert!(!found.complete);
        assert_eq!(found.flows, [Semiflow { weights: vec![(5, 1)] }]);
    }
}
