//! P-semiflows: weighted sums of tokens that no transition changes.
//!
//! A semiflow gives each place a weight that is not negative; a minimal one has a support (places of positive weight)
//! that contains no support of another. They bound the tokens of the places in them, and tell which places belong
//! together.

use tremula_models::PetriNet;

use crate::farkas;

/// A weighted sum of tokens that is the same in all reachable markings.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Semiflow {
    /// The places of positive weight and their weights, ascending by place; the weights have no common divisor.
    pub weights: Vec<(u32, u64)>,
}

/// The minimal semiflows of a net, or some of them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Semiflows {
    /// The semiflows, ascending.
    pub flows: Vec<Semiflow>,
    /// Whether these are all minimal ones. Otherwise a bound was met: some are missing, and some may not be minimal.
    pub complete: bool,
}

/// What the search for semiflows may cost.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct FlowLimits {
    /// Rows of the tableau at any time beyond one per place; there can be exponentially many.
    pub rows: usize,
    /// Steps of some nanoseconds each. They take the place of a time limit, which would make results depend on the
    /// machine.
    pub steps: u64,
}

impl Default for FlowLimits {
    fn default() -> FlowLimits {
        FlowLimits { rows: 1000, steps: 30_000_000 }
    }
}

impl Semiflows {
    /// Searches for the minimal semiflows of a net.
    #[must_use]
    pub fn of(net: &PetriNet, limits: &FlowLimits) -> Semiflows {
        farkas::semiflows(net, limits)
    }

    /// How many of so many places are in a semiflow.
    pub(crate) fn covered(&self, places: usize) -> usize {
        let mut covered = vec![false; places];
        for &(place, _) in self.flows.iter().flat_map(|flow| &flow.weights) {
            covered[place as usize] = true;
        }
        covered.into_iter().filter(|&covered| covered).count()
    }

    /// The first semiflow that does not hold in a net, if any.
    #[must_use]
    pub fn verify(&self, net: &PetriNet) -> Option<&Semiflow> {
        self.flows.iter().find(|flow| !flow.holds(net))
    }
}

impl Semiflow {
    /// The weight of a place.
    #[must_use]
    pub fn weight(&self, place: u32) -> u64 {
        self.weights.binary_search_by_key(&place, |&(place, _)| place).map_or(0, |at| self.weights[at].1)
    }

    /// The weighted sum of a marking, if it is less than 2^128.
    #[must_use]
    pub fn sum(&self, marking: &[u64]) -> Option<u128> {
        self.weights.iter().try_fold(0_u128, |sum, &(place, weight)| {
            sum.checked_add(u128::from(weight) * u128::from(*marking.get(place as usize)?))
        })
    }

    /// Does no transition change the sum? Also false if that cannot be told with 128 bits.
    #[must_use]
    pub fn holds(&self, net: &PetriNet) -> bool {
        net.transitions.iter().all(|transition| {
            let change = transition.effects().iter().try_fold(0_i128, |change, effect| {
                change.checked_add(i128::from(self.weight(effect.place)).checked_mul(effect.delta)?)
            });
            change == Some(0)
        })
    }
}

/// The most tokens that each place can have by the semiflows it is in; none where no semiflow tells.
#[must_use]
pub fn place_bounds(net: &PetriNet, semiflows: &Semiflows) -> Vec<Option<u64>> {
    let initial = net.initial_marking();
    let mut bounds: Vec<Option<u64>> = vec![None; net.places.len()];
    for flow in &semiflows.flows {
        let Some(sum) = flow.sum(&initial) else { continue };
        for &(place, weight) in &flow.weights {
            let bound = &mut bounds[place as usize];
            if let Ok(most) = u64::try_from(sum / u128::from(weight)) {
                *bound = Some(bound.map_or(most, |known| known.min(most)));
            }
        }
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{chain, kanban, net, philosophers};

    fn of(net: &PetriNet) -> Semiflows {
        Semiflows::of(net, &FlowLimits::default())
    }

    #[test]
    fn a_chain_has_one() {
        let flows = of(&chain(4));
        assert_eq!(flows.flows, [Semiflow { weights: vec![(0, 1), (1, 1), (2, 1), (3, 1)] }]);
        assert!(flows.complete);
        assert_eq!(place_bounds(&chain(4), &flows), [Some(1); 4]);
    }

    #[test]
    fn a_philosopher_has_one_and_so_has_a_fork() {
        let net = philosophers(5);
        let flows = of(&net);
        assert!(flows.complete);
        assert_eq!(flows.flows.len(), 10);
        assert_eq!(flows.verify(&net), None);
        let lengths: Vec<usize> = flows.flows.iter().map(|flow| flow.weights.len()).collect();
        assert_eq!(lengths.iter().filter(|&&length| length == 3).count(), 5);
        // A fork lies there, or is the left one of somebody with one or two, or the right one of somebody who eats.
        assert_eq!(lengths.iter().filter(|&&length| length == 4).count(), 5);
        assert_eq!(place_bounds(&net, &flows), [Some(1); 20]);
    }

    #[test]
    fn cards_bound_the_cells_of_kanban() {
        let net = kanban(7);
        let flows = of(&net);
        assert!(flows.complete);
        assert_eq!(flows.verify(&net), None);
        for cell in 0..4 {
            let weights = (4 * cell..4 * cell + 4).map(|place| (place, 1)).collect();
            assert!(flows.flows.contains(&Semiflow { weights }), "{cell}");
        }
        assert_eq!(place_bounds(&net, &flows), [Some(7); 16]);
    }

    #[test]
    fn weights_divide_bounds() {
        // Two tokens of place 0 become one of place 1.
        let net = net(&[5, 0, 3], vec![[vec![(0, 2)], vec![(1, 1)]]]);
        let flows = of(&net);
        assert_eq!(flows.flows, [Semiflow { weights: vec![(0, 1), (1, 2)] }, Semiflow { weights: vec![(2, 1)] }]);
        assert_eq!(place_bounds(&net, &flows), [Some(5), Some(2), Some(3)]);
    }

    #[test]
    fn what_changes_is_no_semiflow() {
        let net = net(&[1, 0], vec![[vec![(0, 1)], vec![(1, 2)]]]);
        assert!(!Semiflow { weights: vec![(0, 1), (1, 1)] }.holds(&net));
        assert!(Semiflow { weights: vec![(0, 2), (1, 1)] }.holds(&net));
        let wrong = Semiflows { flows: vec![Semiflow { weights: vec![(1, 1)] }], complete: false };
        assert_eq!(wrong.verify(&net), Some(&wrong.flows[0]));
    }

    #[test]
    fn an_unbounded_place_has_no_bound() {
        let net = net(&[1, 0], vec![[vec![(0, 1)], vec![(0, 1), (1, 1)]]]);
        let flows = of(&net);
        assert!(flows.complete);
        assert_eq!(place_bounds(&net, &flows), [Some(1), None]);
    }
}
