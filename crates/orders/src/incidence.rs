//! Which transition touches which place, in the forms that heuristics and metrics want.

use tremula_models::{Effect, PetriNet};

use crate::lists::Lists;

/// The incidence of a net, computed once and looked at often.
///
/// - I1: transitions that touch no place are left out; the others keep their sequence.
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
        let effects: Vec<Vec<Effect>> = effects.filter(|effects| !effects.is_empty()).collect();
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
