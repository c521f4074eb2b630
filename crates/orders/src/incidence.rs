//! Which transition touches which place, in the forms that heuristics and metrics want.

use rustc_hash::FxHashSet;
use tremula_models::{Effect, PetriNet};

use crate::lists::Lists;

/// The incidence of a net, computed once and looked at often.
///
/// - I1: transitions that change nothing are left out, and of those that do the same all but the first: the reachable
///   markings do not depend on them. The others keep their sequence.
/// - I2: effects of a transition ascend by place.
#[derive(Clone, Debug)]
pub struct Incidence {
    /// What each transition does.
    pub(crate) effects: Vec<Vec<Effect>>,
    /// The places that each transition touches, ascending.
    pub(crate) touched: Lists,
    /// The transitions that touch each place, ascending.
    pub(crate) touching: Lists,
    places: usize,
}

impl Incidence {
    /// The incidence of a net that satisfies its invariants.
    #[must_use]
    pub fn new(net: &PetriNet) -> Incidence {
        let effects = net.transitions.iter().map(tremula_models::Transition::effects);
        let mut seen: FxHashSet<Vec<Effect>> = FxHashSet::default();
        let fresh =
            |effects: &Vec<Effect>| effects.iter().any(|effect| effect.delta != 0) && seen.insert(effects.clone());
        let effects: Vec<Vec<Effect>> = effects.filter(fresh).collect();
        let touched = Lists::new(effects.iter().map(|effects| effects.iter().map(|effect| effect.place)));
        let touching = touched.inverted(net.places.len());
        Incidence { effects, touched, touching, places: net.places.len() }
    }

    /// The number of places.
    #[must_use]
    pub fn places(&self) -> usize {
        self.places
    }
}

/// The level of each place: the inverse of an order.
pub(crate) fn levels(order: &[u32]) -> Vec<u32> {
    let mut levels = vec![0; order.len()];
    for (level, &place) in order.iter().enumerate() {
        levels[place as usize] = level as u32;
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::net;

    #[test]
    fn what_does_nothing_or_the_same_is_left_out() {
        let step = |from: u32, to: u32| [vec![(from, 1)], vec![(to, 1)]];
        let incidence = Incidence::new(&net(
            &[1, 0],
            vec![step(0, 1), [vec![], vec![]], [vec![(1, 2)], vec![(1, 2)]], step(1, 0), step(0, 1)],
        ));
        assert_eq!(incidence.effects.len(), 2);
        assert_eq!(incidence.touching.of(0), [0, 1]);
        assert_eq!(levels(&[2, 0, 1]), [1, 2, 0]);
    }
}
