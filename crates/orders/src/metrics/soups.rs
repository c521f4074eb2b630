//! SOUPS: the sum of unique and productive spans.
//!
//! B. Smith, G. Ciardo, "SOUPS: a variable ordering metric for the saturation algorithm", 2018. A transition is a chain of
//! nodes, one for each level from its lowest place up to its highest. Two things are cheaper than the span tells:
//!
//! - tails that transitions have in common, since what was computed for one is remembered for the other;
//! - a tail that only tests: nothing is changed there.
//!
//! So each different tail counts once, and its tested part not at all. Levels between two places of a transition count as
//! well, as often as the longest of such gaps above the same tail.

use rustc_hash::FxHashMap;
use tremula_models::Effect;

use crate::incidence::{Incidence, levels};

/// What a transition does at a level, above what tail.
#[derive(PartialEq, Eq, Hash)]
struct Node {
    level: u32,
    guard: u64,
    delta: i128,
    tail: u32,
}

/// The tail of nothing at all.
const END: u32 = 0;

/// The sum of unique and productive spans.
#[must_use]
pub fn unique_productive_spans(net: &Incidence, order: &[u32]) -> u64 {
    let level = levels(order);
    // Only looked up, never iterated over: the result does not depend on how it hashes.
    let mut nodes: FxHashMap<Node, u32> = FxHashMap::default();
    let mut worth = vec![0];
    let mut chain: Vec<(u32, &Effect)> = Vec::new();
    for effects in &net.effects {
        chain.clear();
        chain.extend(effects.iter().map(|effect| (level[effect.place as usize], effect)));
        chain.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.0));
        let (mut tail, mut productive) = (END, false);
        for (at, &(level, effect)) in chain.iter().enumerate() {
            productive |= effect.delta != 0;
            let node = Node { level, guard: effect.guard, delta: effect.delta, tail };
            tail = *nodes.entry(node).or_insert(worth.len() as u32);
            if tail as usize == worth.len() {
                worth.push(0);
            }
            if productive {
                let gap = chain.get(at + 1).map_or(0, |above| level - above.0 - 1);
                let known = &mut worth[tail as usize];
                *known = u64::from(gap + 1).max(*known);
            }
        }
    }
    worth.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::event_spans;
    use crate::samples::{Random, Seed, chain, net};

    fn soups(net: &tremula_models::PetriNet, order: &[u32]) -> u64 {
        unique_productive_spans(&Incidence::new(net), order)
    }

    #[test]
    fn different_transitions_count_their_spans() {
        assert_eq!(soups(&chain(4), &[0, 1, 2, 3]), 6);
        assert_eq!(soups(&chain(4), &[0, 2, 3, 1]), 9);
    }

    #[test]
    fn a_common_tail_counts_once() {
        // Both give to place 2, one from place 0, the other from place 1.
        let net = net(&[1, 1, 0], vec![[vec![(0, 1)], vec![(2, 1)]], [vec![(1, 1)], vec![(2, 1)]]]);
        // The tail at level 2 with the longer gap, and the tops at levels 0 and 1.
        assert_eq!(soups(&net, &[0, 1, 2]), 2 + 1 + 1);
        // Upside down nothing is shared: tails at levels 2 and 1, then level 1 is a gap.
        assert_eq!(soups(&net, &[2, 1, 0]), 2 + 1 + 1 + 1);
    }

    #[test]
    fn a_tested_tail_counts_nothing() {
        // From place 0 to place 1, if there is a token in place 2.
        let net = net(&[1, 0, 1], vec![[vec![(0, 1), (2, 1)], vec![(1, 1), (2, 1)]]]);
        assert_eq!(soups(&net, &[0, 1, 2]), 2);
        assert_eq!(soups(&net, &[2, 0, 1]), 3);
        assert_eq!(soups(&net, &[0, 2, 1]), 3);
    }

    #[test]
    fn never_more_than_all_spans() {
        let seed = Seed(0x50);
        let mut random = Random(seed.0);
        for _ in 0..200 {
            let net = random.net(12, 15);
            let order = random.permutation(12);
            assert!(soups(&net, &order) <= event_spans(&Incidence::new(&net), &order));
        }
    }
}
