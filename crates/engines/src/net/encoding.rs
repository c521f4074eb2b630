//! From a Petri net to variables and events of a diagram, along an order of its places.
//!
//! - Places whose tokens never change have no variable: whether they allow a transition is known beforehand.
//! - Where every transition changes a place by a multiple of some number, its variable counts these multiples: what is
//!   stored stays small, however large the weights are.

use tremula_diagrams::mdd::Change;
use tremula_models::{Effect, PetriNet};

/// Why a net does not fit into diagrams.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodingError {
    /// A number of tokens is beyond what nodes can hold.
    #[error("place `{place}` has too many tokens, or an arc of too great a weight: values end at {}", u32::MAX)]
    TooManyTokens {
        /// The place.
        place: String,
    },
}

/// What the values of one variable mean: `least + step * value` tokens in a place.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// The index of the place.
    pub place: u32,
    least: u64,
    step: u64,
}

impl Variable {
    /// Tokens in the place.
    #[must_use]
    pub fn tokens(&self, value: u32) -> u128 {
        u128::from(self.least) + u128::from(self.step) * u128::from(value)
    }
}

/// A net in terms of variables.
#[derive(Clone, Debug)]
pub struct Encoding {
    /// The variables, that of the first level first.
    pub variables: Vec<Variable>,
    /// The value of each variable at the start.
    pub initial: Vec<u32>,
    /// What each transition does, in the order of the net; nothing for those that can never fire, because a place
    /// without a variable forbids it.
    pub transitions: Vec<Option<Vec<Change>>>,
    /// Tokens of each place that has no variable: its index and their number.
    pub constants: Vec<(u32, u64)>,
}

impl Encoding {
    /// Encode `net` with its places in this order, from the root of diagrams on.
    ///
    /// # Panics
    ///
    /// If `order` is not a permutation of the places.
    pub fn new(net: &PetriNet, order: &[u32]) -> Result<Encoding, EncodingError> {
        let steps = steps(net);
        let mut levels = vec![None; net.places.len()];
        let mut variables = Vec::new();
        let mut constants = Vec::new();
        for &place in order {
            let (step, initial) = (steps[place as usize], net.places[place as usize].initial);
            if step == 0 {
                constants.push((place, initial));
                continue;
            }
            let earlier = levels[place as usize].replace(variables.len() as u32);
            assert!(earlier.is_none(), "an order has each place once");
            variables.push(Variable { place, least: initial % step, step });
        }
        assert_eq!(variables.len() + constants.len(), net.places.len(), "an order has all places");
        let encoder = Encoder { net, variables: &variables, levels: &levels };
        let initial = encoder.initial()?;
        let transitions = net.transitions.iter().map(|transition| encoder.changes(&transition.effects()));
        let transitions = transitions.collect::<Result<_, _>>()?;
        Ok(Encoding { variables, initial, transitions, constants })
    }

    /// Tokens of all places, in the order of the net, where the variables have these values.
    #[must_use]
    pub fn marking(&self, values: &[u32]) -> Vec<u128> {
        let mut tokens = vec![0; self.variables.len() + self.constants.len()];
        for (variable, &value) in self.variables.iter().zip(values) {
            tokens[variable.place as usize] = variable.tokens(value);
        }
        for &(place, constant) in &self.constants {
            tokens[place as usize] = constant.into();
        }
        tokens
    }

    /// Tokens in the places without variables.
    #[must_use]
    pub fn constant_tokens(&self) -> u128 {
        self.constants.iter().map(|&(_, tokens)| u128::from(tokens)).sum()
    }
}

/// For each place, the greatest number that divides all changes of its tokens; zero if there are none.
fn steps(net: &PetriNet) -> Vec<u64> {
    let mut steps = vec![0; net.places.len()];
    for effect in net.transitions.iter().flat_map(|transition| transition.effects()) {
        // A change is the difference of two weights, so its size fits.
        let size = u64::try_from(effect.delta.unsigned_abs()).unwrap_or(1);
        let step = &mut steps[effect.place as usize];
        *step = greatest_common_divisor(*step, size);
    }
    steps
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

struct Encoder<'a> {
    net: &'a PetriNet,
    variables: &'a [Variable],
    /// The level of each place that has a variable.
    levels: &'a [Option<u32>],
}

impl Encoder<'_> {
    fn too_many(&self, place: u32) -> EncodingError {
        EncodingError::TooManyTokens { place: self.net.places[place as usize].id.clone() }
    }

    fn initial(&self) -> Result<Vec<u32>, EncodingError> {
        let value = |variable: &Variable| {
            let tokens = self.net.places[variable.place as usize].initial;
            u32::try_from(tokens / variable.step).map_err(|_| self.too_many(variable.place))
        };
        self.variables.iter().map(value).collect()
    }

    /// The changes of a transition by ascending level; nothing if it can never fire.
    fn changes(&self, effects: &[Effect]) -> Result<Option<Vec<Change>>, EncodingError> {
        let mut changes = Vec::with_capacity(effects.len());
        for effect in effects {
            match self.levels[effect.place as usize] {
                Some(level) => changes.push(self.change(level, effect)?),
                None if self.net.places[effect.place as usize].initial < effect.guard => return Ok(None),
                None => {}
            }
        }
        changes.sort_by_key(|change| change.level);
        Ok(Some(changes))
    }

    fn change(&self, level: u32, effect: &Effect) -> Result<Change, EncodingError> {
        let variable = self.variables[level as usize];
        let too_many = || self.too_many(variable.place);
        let needed = effect.guard.saturating_sub(variable.least).div_ceil(variable.step);
        let least = u32::try_from(needed).map_err(|_| too_many())?;
        let delta = i64::try_from(effect.delta / i128::from(variable.step)).map_err(|_| too_many())?;
        Ok(Change { level, least, most: u32::MAX, delta })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tremula_models::{Arc, Place, Transition};

    /// Places and weights.
    type Arcs<'a> = &'a [(u32, u64)];

    fn net(initial: &[u64], transitions: &[(Arcs, Arcs)]) -> PetriNet {
        let arcs = |list: Arcs| list.iter().map(|&(place, weight)| Arc { place, weight }).collect();
        let place = |(at, &initial): (usize, &u64)| Place { id: format!("p{at}"), name: None, initial };
        let transition = |(at, (inputs, outputs)): (usize, &(Arcs, Arcs))| Transition {
            id: format!("t{at}"),
            name: None,
            inputs: arcs(inputs),
            outputs: arcs(outputs),
        };
        PetriNet {
            places: initial.iter().enumerate().map(place).collect(),
            transitions: transitions.iter().enumerate().map(transition).collect(),
            ..Default::default()
        }
    }

    #[test]
    fn weights_shrink_to_steps_and_constant_places_vanish() {
        let great = 10_u64.pow(12);
        let net = net(
            &[7 + 3 * great, 5, 2],
            &[
                (&[(0, great), (1, 5)], &[(1, 5), (2, 1)]),
                (&[(1, 6)], &[(1, 6), (2, 1)]),
                (&[(0, 8)], &[(0, 8 + great)]),
            ],
        );
        let encoding = Encoding::new(&net, &[2, 1, 0]).unwrap();
        assert_eq!(encoding.constants, [(1, 5)]);
        assert_eq!(encoding.initial, [2, 3]);
        assert_eq!(encoding.variables[1].tokens(2), 7 + 2 * u128::from(great));
        assert_eq!(encoding.marking(&[4, 1]), [7 + u128::from(great), 5, 4]);
        let change = |level, least, delta| Change { level, least, most: u32::MAX, delta };
        // Taking a step needs one; eight tokens are there only if there is a step beyond the seven.
        let expected = [Some(vec![change(0, 0, 1), change(1, 1, -1)]), None, Some(vec![change(1, 1, 1)])];
        assert_eq!(encoding.transitions, expected);
    }

    #[test]
    fn what_nodes_cannot_hold_is_refused_by_name() {
        let net = net(&[1 << 40, 0], &[(&[(0, 1)], &[(1, 1)])]);
        let error = Encoding::new(&net, &[0, 1]).unwrap_err();
        assert_eq!(error, EncodingError::TooManyTokens { place: "p0".to_owned() });
    }
}
