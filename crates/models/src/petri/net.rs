//! The net itself: places, transitions and the units that some nets come with.

use thiserror::Error;

/// A place and the tokens it starts with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// Its identifier in the file.
    pub id: String,
    /// The name for people, if it has one of its own.
    pub name: Option<String>,
    /// Tokens at the start.
    pub initial: u64,
}

/// An arc between a transition and a place, seen from the transition.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Arc {
    /// The index of the place.
    pub place: u32,
    /// Tokens that move, at least one.
    pub weight: u64,
}

/// A transition: what it takes and what it gives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transition {
    /// Its identifier in the file.
    pub id: String,
    /// The name for people, if it has one of its own.
    pub name: Option<String>,
    /// Tokens taken, by ascending place.
    pub inputs: Vec<Arc>,
    /// Tokens given, by ascending place.
    pub outputs: Vec<Arc>,
}

/// What a transition does to one place: with at least `guard` tokens there, it changes their number by `delta`.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Effect {
    /// The index of the place.
    pub place: u32,
    /// Tokens needed.
    pub guard: u64,
    /// Tokens gained, or lost if negative. Never more are lost than needed.
    pub delta: i128,
}

impl Transition {
    /// The implicit form of the transition: one effect for each place it touches, by ascending place.
    #[must_use]
    pub fn effects(&self) -> Vec<Effect> {
        let mut effects: Vec<Effect> = Vec::with_capacity(self.inputs.len() + self.outputs.len());
        let taken = self.inputs.iter().map(|arc| Effect {
            place: arc.place,
            guard: arc.weight,
            delta: -i128::from(arc.weight),
        });
        let given = self.outputs.iter().map(|arc| Effect { place: arc.place, guard: 0, delta: arc.weight.into() });
        effects.extend(taken.chain(given));
        effects.sort_by_key(|effect| effect.place);
        effects.dedup_by(|later, kept| {
            let same = later.place == kept.place;
            if same {
                kept.guard += later.guard;
                kept.delta += later.delta;
            }
            same
        });
        effects
    }
}

/// Nested units (NUPN): places of one unit and of units around it never hold tokens together if the net is unit-safe.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Units {
    /// All units.
    pub units: Vec<Unit>,
    /// The index of the unit that all others are in.
    pub root: u32,
    /// Whether the file says that the net is unit-safe.
    pub safe: bool,
}

/// One unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unit {
    /// Its identifier in the file.
    pub id: String,
    /// The indices of its own places, ascending.
    pub places: Vec<u32>,
    /// The indices of the units directly inside it.
    pub subunits: Vec<u32>,
}

/// A place/transition net.
///
/// The fields are open, so a net made by hand can be wrong; [`check`](Self::check) says whether these invariants hold:
///
/// - N1: every arc has a weight of at least one and a place that exists; arcs of a list ascend strictly by place.
/// - N2: every place is in exactly one unit, every unit but the root in exactly one other, all within the root.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PetriNet {
    /// The identifier of the net in the file.
    pub id: String,
    /// Its places.
    pub places: Vec<Place>,
    /// Its transitions.
    pub transitions: Vec<Transition>,
    /// Its units, if the file has any.
    pub units: Option<Units>,
}

/// A violated invariant of a [`PetriNet`].
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum NetError {
    /// N1 is violated.
    #[error("an arc of transition `{0}` has no weight, no place, or is out of order")]
    Arc(String),
    /// N2 is violated.
    #[error("the units do not form a tree that holds every place once")]
    Units,
}

impl PetriNet {
    /// Tokens at the start, place by place.
    #[must_use]
    pub fn initial_marking(&self) -> Vec<u64> {
        self.places.iter().map(|place| place.initial).collect()
    }

    /// Do the invariants hold?
    pub fn check(&self) -> Result<(), NetError> {
        for transition in &self.transitions {
            for arcs in [&transition.inputs, &transition.outputs] {
                let fits = |arc: &Arc| arc.weight > 0 && (arc.place as usize) < self.places.len();
                if !arcs.iter().all(fits) || !arcs.is_sorted_by(|a, b| a.place < b.place) {
                    return Err(NetError::Arc(transition.id.clone()));
                }
            }
        }
        match &self.units {
            Some(units) if !units.hold(self.places.len()) => Err(NetError::Units),
            _ => Ok(()),
        }
    }
}

impl Units {
    /// Is this a tree that holds each of so many places once?
    fn hold(&self, places: usize) -> bool {
        let mut unit_seen = vec![false; self.units.len()];
        let mut place_seen = vec![false; places];
        let mut waiting = vec![self.root];
        while let Some(unit) = waiting.pop() {
            let Some(known) = self.units.get(unit as usize) else { return false };
            if std::mem::replace(&mut unit_seen[unit as usize], true) {
                return false;
            }
            for &place in &known.places {
                match place_seen.get_mut(place as usize) {
                    Some(seen) if !*seen => *seen = true,
                    _ => return false,
                }
            }
            waiting.extend(&known.subunits);
        }
        unit_seen.into_iter().chain(place_seen).all(|seen| seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transition(inputs: &[(u32, u64)], outputs: &[(u32, u64)]) -> Transition {
        let arcs = |list: &[(u32, u64)]| list.iter().map(|&(place, weight)| Arc { place, weight }).collect();
        Transition { id: "t".to_owned(), name: None, inputs: arcs(inputs), outputs: arcs(outputs) }
    }

    #[test]
    fn an_effect_joins_what_is_taken_and_what_is_given() {
        let effects = transition(&[(0, 2), (3, 1)], &[(1, 5), (3, 4)]).effects();
        let expected = [(0, 2, -2), (1, 0, 5), (3, 1, 3)];
        assert_eq!(effects, expected.map(|(place, guard, delta)| Effect { place, guard, delta }));
    }

    #[test]
    fn arcs_out_of_order_or_without_a_place_are_refused() {
        let places = vec![Place { id: "p".to_owned(), name: None, initial: 0 }; 2];
        let net = |transition| PetriNet { places: places.clone(), transitions: vec![transition], ..Default::default() };
        assert!(net(transition(&[(0, 1), (1, 1)], &[])).check().is_ok());
        for arcs in [&[(1, 1), (0, 1)][..], &[(0, 1), (0, 1)], &[(2, 1)], &[(0, 0)]] {
            assert!(net(transition(arcs, &[])).check().is_err(), "{arcs:?}");
        }
    }

    #[test]
    fn units_must_hold_every_place_once() {
        let unit = |places: &[u32], subunits: &[u32]| Unit {
            id: String::new(),
            places: places.to_vec(),
            subunits: subunits.to_vec(),
        };
        let units = |units: Vec<Unit>| Units { units, root: 0, safe: true };
        assert!(units(vec![unit(&[], &[1, 2]), unit(&[0], &[]), unit(&[1, 2], &[])]).hold(3));
        assert!(!units(vec![unit(&[], &[1]), unit(&[0], &[]), unit(&[1, 2], &[])]).hold(3));
        assert!(!units(vec![unit(&[0], &[1]), unit(&[0, 1], &[])]).hold(2));
        assert!(!units(vec![unit(&[0], &[1]), unit(&[1], &[0])]).hold(2));
        assert!(!units(vec![unit(&[0], &[])]).hold(2));
    }
}
