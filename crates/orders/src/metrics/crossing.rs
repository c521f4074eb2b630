//! Crossing: how many independent things the transitions that cross a cut do on one side of it.
//!
//! A transition that touches places on both sides of a cut ties what it does above to what it does below. How much is tied
//! depends on how many different things there are: transitions that do the same below need no distinction there, nor do
//! those that are sums of others. So at each cut the rank of what the crossing transitions do below it is computed, and of
//! what they do above it. A mere test is taken for a change of its own kind.
//!
//! Saturation fires a transition from its highest place down, and remembers the results below: there the rank tells how
//! many different things are to be remembered, so it matters more than the rank above.
//!
//! # How it is computed
//!
//! For what is done below, the rows of the incidence matrix are added from the lowest level up. A column goes when the
//! cut passes the highest place of its transition. Columns are numbered such that those that stay longest come first:
//! then what goes is always at the right end, and the rank of the rest is known without any new elimination.

use tremula_models::Effect;

use crate::effort::Effort;
use crate::incidence::{Incidence, levels};

use super::echelon::{Echelon, PRIME, Sparse};

/// Ranks at all cuts: entry `k` is about the cut between the levels up to `k` and those below.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Crossing {
    /// Of what crossing transitions do below the cut.
    pub below: Vec<u32>,
    /// Of what they do above it.
    pub above: Vec<u32>,
}

impl Crossing {
    /// The sums over all cuts: below and above. They change places if the order is reversed.
    #[must_use]
    pub fn sums(&self) -> (u64, u64) {
        let sum = |ranks: &[u32]| ranks.iter().copied().map(u64::from).sum();
        (sum(&self.below), sum(&self.above))
    }
}

/// The ranks of what transitions do on either side of the cuts that they cross. None if it takes more steps.
#[must_use]
pub fn crossing_ranks(net: &Incidence, order: &[u32], steps: u64) -> Option<Crossing> {
    let mut effort = Effort::new(steps);
    let last = net.places().saturating_sub(1) as u32;
    let level = levels(order);
    let below = ranks_below(net, &level, &mut effort)?;
    let mirrored: Vec<u32> = level.iter().map(|level| last - level).collect();
    let mut above = ranks_below(net, &mirrored, &mut effort)?;
    above.reverse();
    Some(Crossing { below, above })
}

/// For each cut, from the top, the rank of what crossing transitions do below it.
fn ranks_below(net: &Incidence, level: &[u32], effort: &mut Effort) -> Option<Vec<u32>> {
    effort.spend(net.touched.total())?;
    let mut events: Vec<(u32, &Vec<Effect>)> =
        net.effects.iter().map(|effects| (top(effects, level), effects)).collect();
    events.sort_by_key(|&(top, _)| top);
    let mut rows: Vec<Sparse> = vec![Vec::new(); net.places()];
    for (number, (_, effects)) in events.iter().enumerate() {
        for effect in effects.iter() {
            rows[level[effect.place as usize] as usize].push((number as u32, entry(effect)));
        }
    }
    let mut echelon = Echelon::new(events.len());
    let mut ranks = Vec::with_capacity(net.places());
    for (level, row) in rows.into_iter().enumerate().skip(1).rev() {
        echelon.narrow(events.partition_point(|&(top, _)| (top as usize) < level) as u32);
        echelon.insert(row, effort)?;
        ranks.push(echelon.rank());
    }
    ranks.reverse();
    Some(ranks)
}

fn top(effects: &[Effect], level: &[u32]) -> u32 {
    effects.iter().map(|effect| level[effect.place as usize]).min().unwrap_or(0)
}

/// The change modulo the prime, or a number that tells tests by their guards.
fn entry(effect: &Effect) -> u32 {
    let change = effect.delta.rem_euclid(i128::from(PRIME)) as u32;
    if change != 0 {
        return change;
    }
    // The multiplier is that of Fibonacci hashing; what matters is that the result is no small number.
    let mixed = effect.guard.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
    1 + (mixed % (PRIME - 1)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{Random, Seed, chain, net, philosophers};

    const STEPS: u64 = 1_000_000;

    fn ranks(net: &tremula_models::PetriNet, order: &[u32]) -> Crossing {
        crossing_ranks(&Incidence::new(net), order, STEPS).expect("enough steps")
    }

    fn crossing(below: &[u32], above: &[u32]) -> Crossing {
        Crossing { below: below.to_vec(), above: above.to_vec() }
    }

    #[test]
    fn a_chain_is_crossed_by_one_transition_at_a_time() {
        let ranks_of_chain = ranks(&chain(5), &[0, 1, 2, 3, 4]);
        assert_eq!(ranks_of_chain, crossing(&[1, 1, 1, 1], &[1, 1, 1, 1]));
        assert_eq!(ranks_of_chain.sums(), (4, 4));
        // All three transitions cross the middle. Below are places 1 and 3, above are 0 and 2.
        assert_eq!(ranks(&chain(4), &[0, 2, 1, 3]), crossing(&[1, 2, 1], &[1, 2, 1]));
    }

    #[test]
    fn what_is_the_same_on_one_side_counts_once() {
        // Three transitions from places of their own to a common one.
        let steps = (0..3).map(|from| [vec![(from, 1)], vec![(3, 1)]]).collect();
        assert_eq!(ranks(&net(&[1, 1, 1, 0], steps), &[0, 1, 2, 3]), crossing(&[1, 1, 1], &[1, 2, 3]));
    }

    #[test]
    fn a_test_counts() {
        // From place 1 to place 2 if place 0 has a token: the test ties place 0 to the rest.
        let steps = vec![[vec![(0, 1), (1, 1)], vec![(0, 1), (2, 1)]]];
        assert_eq!(ranks(&net(&[1, 1, 0], steps), &[0, 1, 2]), crossing(&[1, 1], &[1, 1]));
    }

    #[test]
    fn the_reverse_exchanges_above_and_below() {
        let seed = Seed(0xC3);
        let mut random = Random(seed.0);
        let net = philosophers(5);
        for _ in 0..20 {
            let mut order = random.permutation(20);
            let (below, above) = ranks(&net, &order).sums();
            order.reverse();
            assert_eq!(ranks(&net, &order).sums(), (above, below));
        }
    }

    #[test]
    fn trivial_nets_have_no_cuts_or_nothing_there() {
        assert_eq!(ranks(&net(&[], vec![]), &[]), crossing(&[], &[]));
        assert_eq!(ranks(&net(&[2], vec![]), &[0]), crossing(&[], &[]));
        assert_eq!(ranks(&net(&[2, 1], vec![]), &[0, 1]), crossing(&[0], &[0]));
    }

    #[test]
    fn few_steps_are_no_answer() {
        let order: Vec<u32> = (0..24).collect();
        assert_eq!(crossing_ranks(&Incidence::new(&philosophers(6)), &order, 10), None);
    }

    /// The same by the definition: all over again at each cut.
    fn plain(net: &Incidence, order: &[u32]) -> Crossing {
        let level = levels(order);
        let side = |cut: usize, below: bool| {
            let is_below = |effect: &&Effect| level[effect.place as usize] as usize > cut;
            let crosses = |effects: &&Vec<Effect>| {
                effects.iter().any(|effect| is_below(&effect)) && !effects.iter().all(|effect| is_below(&effect))
            };
            let mut echelon = Echelon::new(net.places());
            for effects in net.effects.iter().filter(crosses) {
                let part = effects.iter().filter(|effect| is_below(effect) == below);
                let part = part.map(|effect| (effect.place, entry(effect))).collect();
                echelon.insert(part, &mut Effort::new(STEPS)).expect("enough steps");
            }
            echelon.rank()
        };
        let sides = |below: bool| (0..order.len() - 1).map(|cut| side(cut, below)).collect();
        Crossing { below: sides(true), above: sides(false) }
    }

    #[test]
    fn random_nets_agree_with_the_definition() {
        for number in 0..300 {
            let seed = Seed(0xC2_0000 + number);
            let mut random = Random(seed.0);
            let (places, transitions) = (1 + random.below(9), random.below(12));
            let net = random.net(places, transitions);
            let order = random.permutation(places as u32);
            assert_eq!(ranks(&net, &order), plain(&Incidence::new(&net), &order));
        }
    }
}
