//! Noack's and Tovchigrechko's orders: the next place is the one most bound to the places chosen so far.
//!
//! After M. Heiner, C. Rohr, M. Schwarick, A. Tovchigrechko, "MARCIE's secrets of efficient model checking", 2016. For a
//! transition, let `pre` and `post` be the numbers of places that it takes from and gives to, and `chosen_pre` and
//! `chosen_post` the numbers of those among them that are chosen. A place gets from each transition that takes from it
//!
//! - `(1 + chosen_pre) / pre` and `2 chosen_post / post`, the latter at least `0.2 / post`;
//!
//! and from each that gives to it
//!
//! - `chosen_pre / pre`, at least `0.1 / pre`, and `2 chosen_post / post`, for Tovchigrechko at least `0.1 / post`.
//!
//! What has nothing to divide by counts as nothing; for Noack neither does the rest of such a transition. The sum is
//! divided by the number of arcs of the place.

use tremula_models::Effect;

use crate::effort::Effort;
use crate::incidence::Incidence;

/// Which of the two sums is meant.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Greed {
    Noack,
    Tovchigrechko,
}

/// How many places a transition takes from and gives to.
#[derive(Copy, Clone, Default)]
struct Sides {
    pre: f64,
    post: f64,
}

/// What a transition is worth to the places that it takes from and gives to.
#[derive(Copy, Clone, Default)]
struct Worth {
    taken: f64,
    given: f64,
}

struct Greedy<'a> {
    net: &'a Incidence,
    greed: Greed,
    all: Vec<Sides>,
    chosen: Vec<Sides>,
    /// The sum for each place, and the arcs it is divided by.
    sum: Vec<f64>,
    arcs: Vec<f64>,
}

/// The places, most bound first.
pub(crate) fn greedy(net: &Incidence, greed: Greed, effort: &mut Effort) -> Option<Vec<u32>> {
    effort.spend(4 * net.touched.total())?;
    let mut greedy = Greedy::new(net, greed);
    let mut left: Vec<u32> = (0..net.places() as u32).collect();
    let mut order = Vec::with_capacity(left.len());
    while !left.is_empty() {
        // A look at a weight is cheaper than one at an arc.
        effort.spend(left.len() / 8)?;
        let at = greedy.best(&left);
        // Not swap_remove: among equals the first place is taken.
        let place = left.remove(at);
        order.push(place);
        let wide = net.touching.of(place as usize).iter().map(|&event| net.touched.of(event as usize).len());
        effort.spend(2 * wide.sum::<usize>())?;
        greedy.choose(place);
    }
    Some(order)
}

fn takes(effect: &Effect) -> bool {
    effect.guard > 0
}

fn gives(effect: &Effect) -> bool {
    effect.delta + i128::from(effect.guard) > 0
}

impl<'a> Greedy<'a> {
    fn new(net: &'a Incidence, greed: Greed) -> Greedy<'a> {
        let count = |effects: &Vec<Effect>| Sides {
            pre: effects.iter().filter(|effect| takes(effect)).count() as f64,
            post: effects.iter().filter(|effect| gives(effect)).count() as f64,
        };
        let all = net.effects.iter().map(count).collect();
        let chosen = vec![Sides::default(); net.effects.len()];
        let (sum, mut arcs) = (vec![0.0; net.places()], vec![0.0; net.places()]);
        for effect in net.effects.iter().flatten() {
            arcs[effect.place as usize] += f64::from(u8::from(takes(effect)) + u8::from(gives(effect)));
        }
        let mut greedy = Greedy { net, greed, all, chosen, sum, arcs };
        for event in 0..net.effects.len() {
            greedy.add(event, Worth::default(), greedy.worth(event));
        }
        greedy
    }

    /// Where the first of the best places is in a list.
    fn best(&self, left: &[u32]) -> usize {
        let mut best = (0, f64::NEG_INFINITY);
        for (at, &place) in left.iter().enumerate() {
            let weight = self.sum[place as usize] / self.arcs[place as usize].max(1.0);
            if weight > best.1 {
                best = (at, weight);
            }
        }
        best.0
    }

    fn choose(&mut self, place: u32) {
        let net = self.net;
        for &event in net.touching.of(place as usize) {
            let event = event as usize;
            let before = self.worth(event);
            let effects = &net.effects[event];
            if let Ok(at) = effects.binary_search_by_key(&place, |effect| effect.place) {
                self.chosen[event].pre += f64::from(u8::from(takes(&effects[at])));
                self.chosen[event].post += f64::from(u8::from(gives(&effects[at])));
            }
            self.add(event, before, self.worth(event));
        }
    }

    fn add(&mut self, event: usize, before: Worth, after: Worth) {
        for effect in &self.net.effects[event] {
            let sum = &mut self.sum[effect.place as usize];
            *sum += if takes(effect) { after.taken - before.taken } else { 0.0 };
            *sum += if gives(effect) { after.given - before.given } else { 0.0 };
        }
    }

    fn worth(&self, event: usize) -> Worth {
        let (all, chosen) = (self.all[event], self.chosen[event]);
        if self.greed == Greed::Noack && (all.pre == 0.0 || all.post == 0.0) {
            return Worth::default();
        }
        let share = |part: f64, whole: f64| if whole == 0.0 { 0.0 } else { part / whole };
        let least = if self.greed == Greed::Noack { 0.0 } else { 0.1 };
        let at_least = |value: f64, least: f64| if value == 0.0 { least } else { value };
        Worth {
            taken: share(1.0 + chosen.pre, all.pre) + share(at_least(2.0 * chosen.post, 0.2), all.post),
            given: share(at_least(chosen.pre, 0.1), all.pre) + share(at_least(2.0 * chosen.post, least), all.post),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{chain, net};

    #[test]
    fn a_chain_is_followed() {
        for greed in [Greed::Noack, Greed::Tovchigrechko] {
            let order = greedy(&Incidence::new(&chain(6)), greed, &mut Effort::new(10_000)).expect("enough effort");
            assert_eq!(order, [0, 1, 2, 3, 4, 5], "{greed:?}");
        }
    }

    #[test]
    fn weights_by_hand() {
        // t takes from 0 and 1 and gives to 2; u gives to 2 from nothing.
        let steps = vec![[vec![(0, 1), (1, 1)], vec![(2, 1)]], [vec![], vec![(2, 1)]]];
        let incidence = Incidence::new(&net(&[1, 1, 0], steps));
        let mut noack = Greedy::new(&incidence, Greed::Noack);
        let near = |sum: &[f64], expected: [f64; 3]| sum.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(near(&noack.sum, [0.5 + 0.2, 0.5 + 0.2, 0.05]), "{:?}", noack.sum);
        noack.choose(0);
        assert!(near(&noack.sum, [1.2, 1.2, 0.5]), "{:?}", noack.sum);
        let tovchigrechko = Greedy::new(&incidence, Greed::Tovchigrechko);
        assert!(near(&tovchigrechko.sum, [0.7, 0.7, 0.05 + 0.1 + 0.1]), "{:?}", tovchigrechko.sum);
    }

    #[test]
    fn too_little_effort_is_no_order() {
        assert_eq!(greedy(&Incidence::new(&chain(50)), Greed::Noack, &mut Effort::new(300)), None);
    }
}
