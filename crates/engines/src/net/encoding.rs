//! From a Petri net to variables and events of a diagram, along an order of its places.
//!
//! - Places that share one token ([`Group`]) share one variable.
//! - Places whose tokens never change have no variable: whether they allow a transition is known beforehand.
//! - Where every transition changes a place by a multiple of some number, its variable counts these multiples: what is
//!   stored stays small, however large the weights are.
//! - Where that is not enough, a variable may count the [numbers](super::listing) that its place can have; a transition
//!   then has several events, of which at most one is possible at a time.

use super::groups::Group;
use super::listing;
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
    /// Too many events would be needed for the numbers of tokens that a place may have.
    #[error("place `{place}` may have too many different numbers of tokens, with arcs of great weights")]
    TooManyNumbers {
        /// The place.
        place: String,
    },
}

/// What the values of one variable mean.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Variable {
    /// The tokens of one place.
    Place {
        /// The index of the place.
        place: u32,
        /// Tokens at value zero.
        least: u64,
        /// Tokens from one value to the next.
        step: u64,
    },
    /// The tokens of one place, of which these numbers are possible.
    Listed {
        /// The index of the place.
        place: u32,
        /// Tokens by value, ascending.
        numbers: Vec<u128>,
    },
    /// Which of some places has their only token.
    Group {
        /// The indices of the places, by value.
        places: Vec<u32>,
        /// Is there a value, zero, for none of them?
        or_none: bool,
        /// Is it only the file that says there is one token at most?
        believed: bool,
    },
}

impl Variable {
    /// Tokens in all places of the variable together.
    #[must_use]
    pub fn tokens(&self, value: u32) -> u128 {
        match self {
            Variable::Place { least, step, .. } => u128::from(*least) + u128::from(*step) * u128::from(value),
            Variable::Listed { numbers, .. } => numbers[value as usize],
            Variable::Group { or_none, .. } => u128::from(!(*or_none && value == 0)),
        }
    }

    /// A place of the variable.
    pub(super) fn first_place(&self) -> u32 {
        match self {
            Variable::Place { place, .. } | Variable::Listed { place, .. } => *place,
            Variable::Group { places, .. } => places[0],
        }
    }

    /// The greatest value, if each place has at most so many tokens; none if that is not known, or beyond all values.
    pub(super) fn greatest(&self, bounds: &[Option<u64>]) -> Option<u32> {
        match self {
            Variable::Place { place, least, step } => {
                let most = bounds[*place as usize]?;
                u32::try_from(most.checked_sub(*least)? / step).ok()
            }
            Variable::Listed { numbers, .. } => u32::try_from(numbers.len() - 1).ok(),
            Variable::Group { places, or_none, .. } => u32::try_from(places.len() - usize::from(!or_none)).ok(),
        }
    }

    /// The value at which a place of the group has the token.
    fn value_of(places: &[u32], or_none: bool, place: u32) -> u32 {
        let at = places.iter().position(|&member| member == place).expect("a member of the group");
        at as u32 + u32::from(or_none)
    }
}

/// A net in terms of variables.
#[derive(Clone, Debug)]
pub struct Encoding {
    /// The variables, that of the first level first.
    pub variables: Vec<Variable>,
    /// The value of each variable at the start.
    pub initial: Vec<u32>,
    /// Tokens of each place that has no variable: its index and their number.
    pub constants: Vec<(u32, u64)>,
}

/// A net in terms of variables, and what its transitions do to these.
#[derive(Clone, Debug)]
pub struct EncodedNet {
    /// What the variables mean.
    pub encoding: Encoding,
    /// What each transition does, in the order of the net. Mostly it is one event; none for those that can never fire,
    /// because a place without a variable forbids it.
    pub transitions: Vec<Vec<Vec<Change>>>,
}

impl EncodedNet {
    /// Encode `net` with its places in this order, from the root of diagrams on. A group of places has the level at which
    /// they are on average. `bounds` are the most tokens of each place, where that is known.
    ///
    /// # Panics
    ///
    /// If `order` is not a permutation of the places, or the groups are not disjoint.
    pub fn new(
        net: &PetriNet,
        order: &[u32],
        groups: &[Group],
        bounds: &[Option<u64>],
    ) -> Result<EncodedNet, EncodingError> {
        let mut positions = vec![None; net.places.len()];
        for (position, &place) in order.iter().enumerate() {
            let earlier = positions[place as usize].replace(position);
            assert!(earlier.is_none(), "an order has each place once");
        }
        let positions: Vec<usize> =
            positions.into_iter().map(|position| position.expect("an order has all places")).collect();
        let (variables, constants) = variables(net, &positions, groups, bounds);
        let levels = levels(net, &variables);
        let encoder = Encoder { net, variables: &variables, levels: &levels };
        let initial = encoder.initial()?;
        let mut left = MOST_MORE_EVENTS;
        let transitions = net.transitions.iter().map(|transition| encoder.events(&transition.effects(), &mut left));
        let transitions = transitions.collect::<Result<_, _>>()?;
        Ok(EncodedNet { encoding: Encoding { variables, initial, constants }, transitions })
    }
}

impl Encoding {
    /// What markings of `net`, which this is the encoding of, must not be reachable if places that are believed to share one
    /// token do: in these, without a change, a transition would give them another.
    pub fn overflows(&self, net: &PetriNet) -> Result<Vec<Vec<Change>>, EncodingError> {
        let is_believed = |variable: &Variable| matches!(variable, Variable::Group { believed: true, .. });
        if !self.variables.iter().any(is_believed) {
            return Ok(Vec::new());
        }
        let levels = levels(net, &self.variables);
        let encoder = Encoder { net, variables: &self.variables, levels: &levels };
        let of_each = net.transitions.iter().map(|transition| encoder.overflows(&transition.effects()));
        Ok(of_each.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Tokens of all places, in the order of the net, where the variables have these values.
    #[must_use]
    pub fn marking(&self, values: &[u32]) -> Vec<u128> {
        let places = |variable: &Variable| match variable {
            Variable::Place { .. } | Variable::Listed { .. } => 1,
            Variable::Group { places, .. } => places.len(),
        };
        let mut tokens = vec![0; self.variables.iter().map(places).sum::<usize>() + self.constants.len()];
        for (variable, &value) in self.variables.iter().zip(values) {
            match variable {
                Variable::Place { place, .. } | Variable::Listed { place, .. } => {
                    tokens[*place as usize] = variable.tokens(value);
                }
                Variable::Group { places, or_none, .. } => {
                    let holder = value.checked_sub(u32::from(*or_none)).map(|at| places[at as usize]);
                    holder.into_iter().for_each(|place| tokens[place as usize] = 1);
                }
            }
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

/// The variables in the order of their levels, and the places that need none.
fn variables(
    net: &PetriNet,
    positions: &[usize],
    groups: &[Group],
    bounds: &[Option<u64>],
) -> (Vec<Variable>, Vec<(u32, u64)>) {
    let mut grouped = vec![false; net.places.len()];
    let mut keyed: Vec<(f64, Variable)> = Vec::new();
    for &Group { ref places, always_one, believed } in groups {
        let mut places = places.clone();
        places.sort_by_key(|&place| positions[place as usize]);
        for &place in &places {
            assert!(!std::mem::replace(&mut grouped[place as usize], true), "groups are disjoint");
        }
        let sum: usize = places.iter().map(|&place| positions[place as usize]).sum();
        keyed.push((sum as f64 / places.len() as f64, Variable::Group { places, or_none: !always_one, believed }));
    }
    let mut constants = Vec::new();
    let steps = steps(net);
    let large: Vec<bool> = (0..).zip(&steps).map(|(place, steps)| steps.are_large(net.places[place].initial)).collect();
    let effects = listing::effects_on(net, &large);
    for (place, Steps { divisor, .. }) in (0..).zip(steps).filter(|&(place, _)| !grouped[place as usize]) {
        let initial = net.places[place as usize].initial;
        if divisor == 0 {
            constants.push((place, initial));
            continue;
        }
        let bound = bounds.get(place as usize).copied().flatten();
        let listed = effects.get(&place).and_then(|effects| listing::numbers(initial, effects, bound));
        let variable = match listed {
            Some(numbers) => Variable::Listed { place, numbers },
            None => Variable::Place { place, least: initial % divisor, step: divisor },
        };
        keyed.push((positions[place as usize] as f64, variable));
    }
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    (keyed.into_iter().map(|(_, variable)| variable).collect(), constants)
}

/// The level of each place that has a variable or shares one.
fn levels(net: &PetriNet, variables: &[Variable]) -> Vec<Option<u32>> {
    let mut levels = vec![None; net.places.len()];
    for (level, variable) in (0..).zip(variables) {
        match variable {
            Variable::Place { place, .. } | Variable::Listed { place, .. } => levels[*place as usize] = Some(level),
            Variable::Group { places, .. } => places.iter().for_each(|&place| levels[place as usize] = Some(level)),
        }
    }
    levels
}

/// From so many steps on, a list of numbers is tried.
const LARGE: u64 = 1 << 24;

/// What transitions do to the tokens of a place.
#[derive(Copy, Clone, Default)]
struct Steps {
    /// The greatest number that divides all changes; zero if there are none.
    divisor: u64,
    /// The greatest change, or number of tokens asked for.
    greatest: u64,
}

impl Steps {
    /// Do values count so far that a list of the numbers may be better? Some large steps may lead beyond all values.
    fn are_large(&self, initial: u64) -> bool {
        self.divisor > 0 && self.greatest.max(initial) / self.divisor >= LARGE
    }
}

/// For each place.
fn steps(net: &PetriNet) -> Vec<Steps> {
    let mut steps = vec![Steps::default(); net.places.len()];
    for effect in net.transitions.iter().flat_map(|transition| transition.effects()) {
        // A change is the difference of two weights, so its size fits.
        let size = u64::try_from(effect.delta.unsigned_abs()).unwrap_or(1);
        let Steps { divisor, greatest } = &mut steps[effect.place as usize];
        *divisor = greatest_common_divisor(*divisor, size);
        *greatest = size.max(effect.guard).max(*greatest);
    }
    steps
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// All transitions together have at most so many events more than one each: they are not worth much memory.
const MOST_MORE_EVENTS: usize = 1 << 13;

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
        let tokens = |place: u32| self.net.places[place as usize].initial;
        let value = |variable: &Variable| match variable {
            Variable::Place { place, step, .. } => {
                u32::try_from(tokens(*place) / step).map_err(|_| self.too_many(*place))
            }
            Variable::Listed { place, numbers } => {
                let at = numbers.binary_search(&tokens(*place).into());
                Ok(at.expect("the initial number is in the list") as u32)
            }
            Variable::Group { places, or_none, .. } => {
                let holder = places.iter().find(|&&place| tokens(place) > 0);
                Ok(holder.map_or(0, |&place| Variable::value_of(places, *or_none, place)))
            }
        };
        self.variables.iter().map(value).collect()
    }

    /// Effects with the level of their variable, by ascending level; nothing if a place without one forbids the transition.
    fn by_level<'e>(&self, effects: &'e [Effect]) -> Option<Vec<(u32, &'e Effect)>> {
        let mut by_level: Vec<(u32, &Effect)> = Vec::with_capacity(effects.len());
        for effect in effects {
            match self.levels[effect.place as usize] {
                Some(level) => by_level.push((level, effect)),
                None if self.net.places[effect.place as usize].initial < effect.guard => return None,
                None => {}
            }
        }
        by_level.sort_by_key(|&(level, effect)| (level, effect.place));
        Some(by_level)
    }

    /// The events of a transition: of the changes that each of its variables may make, by ascending level, one of each. All
    /// transitions together have at most `left` more events than one each.
    fn events(&self, effects: &[Effect], left: &mut usize) -> Result<Vec<Vec<Change>>, EncodingError> {
        let Some(by_level) = self.by_level(effects) else { return Ok(Vec::new()) };
        let mut events = vec![Vec::with_capacity(by_level.len())];
        for at_level in by_level.chunk_by(|a, b| a.0 == b.0) {
            let changes = self.changes(at_level)?;
            if let [only] = changes[..] {
                events.iter_mut().for_each(|event| event.push(only));
                continue;
            }
            if events.len() * changes.len() > *left + 1 {
                let place = self.net.places[at_level[0].1.place as usize].id.clone();
                return Err(EncodingError::TooManyNumbers { place });
            }
            let with = |event: &Vec<Change>, &change: &Change| event.iter().copied().chain([change]).collect();
            events = events.iter().flat_map(|event| changes.iter().map(|change| with(event, change))).collect();
        }
        *left -= events.len().saturating_sub(1);
        Ok(events)
    }

    /// Where a transition would give another token to places that are believed to share one: for each such variable, what
    /// it asks of all variables then.
    fn overflows(&self, effects: &[Effect]) -> Result<Vec<Vec<Change>>, EncodingError> {
        let Some(by_level) = self.by_level(effects) else { return Ok(Vec::new()) };
        let mut guards: Vec<Option<Change>> = Vec::new();
        let mut overflows: Vec<(usize, Option<Change>)> = Vec::new();
        for at_level in by_level.chunk_by(|a, b| a.0 == b.0) {
            let level = at_level[0].0;
            let Variable::Group { places, or_none, believed } = &self.variables[level as usize] else {
                match self.changes(at_level)?[..] {
                    // Runs of a list, up to its end: what allows the transition is at least the first.
                    [first, ..] => guards.push(Some(Change { most: u32::MAX, delta: 0, ..first })),
                    [] => return Ok(Vec::new()),
                }
                continue;
            };
            let guard = |least: u32, most: u32| Some(Change { level, least, most, delta: 0 });
            let (taken, given) = taken_and_given(at_level);
            let as_asked = match taken[..] {
                [] => None,
                [(place, 1)] => {
                    let value = Variable::value_of(places, *or_none, place);
                    guard(value, value)
                }
                // Two tokens are not there before somebody gives the second.
                _ => return Ok(Vec::new()),
            };
            match given.iter().map(|&(_, count)| count).sum::<i128>() {
                1 if *believed && taken.is_empty() => overflows.push((guards.len(), guard(1, u32::MAX))),
                2.. if *believed => overflows.push((guards.len(), as_asked)),
                _ => {}
            }
            guards.push(as_asked);
        }
        let with = |(at, overflow): (usize, Option<Change>)| {
            let guard = |(number, guard): (usize, &Option<Change>)| if number == at { overflow } else { *guard };
            guards.iter().enumerate().filter_map(guard).collect()
        };
        Ok(overflows.into_iter().map(with).collect())
    }

    /// What effects on one variable may come to, depending on its value; nothing if they are not possible together.
    fn changes(&self, effects: &[(u32, &Effect)]) -> Result<Vec<Change>, EncodingError> {
        let (level, first) = effects[0];
        match &self.variables[level as usize] {
            &Variable::Place { place, least, step } => {
                let too_many = || self.too_many(place);
                let needed = first.guard.saturating_sub(least).div_ceil(step);
                let least = u32::try_from(needed).map_err(|_| too_many())?;
                let delta = i64::try_from(first.delta / i128::from(step)).map_err(|_| too_many())?;
                Ok(vec![Change { level, least, most: u32::MAX, delta }])
            }
            Variable::Listed { numbers, .. } => Ok(listing::changes(level, numbers, first)),
            Variable::Group { places, or_none, .. } => {
                Ok(self.move_in_group(level, effects, places, *or_none).into_iter().collect())
            }
        }
    }

    /// A group has one token at most: what takes or gives more never fires.
    fn move_in_group(&self, level: u32, effects: &[(u32, &Effect)], places: &[u32], or_none: bool) -> Option<Change> {
        let value = |place: u32| Variable::value_of(places, or_none, place);
        let none = or_none.then_some(0);
        let (taken, given) = taken_and_given(effects);
        let only = |list: &[(u32, i128)]| match *list {
            [] => none,
            [(place, 1)] => Some(value(place)),
            _ => None,
        };
        let (from, to) = (only(&taken)?, only(&given)?);
        Some(Change { level, least: from, most: from, delta: i64::from(to) - i64::from(from) })
    }
}

/// Places and numbers of tokens.
type Tokens = Vec<(u32, i128)>;

/// What a transition takes and gives.
fn taken_and_given(effects: &[(u32, &Effect)]) -> (Tokens, Tokens) {
    let tokens = |pick: &dyn Fn(&Effect) -> i128| {
        let picked = effects.iter().map(|(_, effect)| (effect.place, pick(effect))).filter(|&(_, count)| count > 0);
        picked.collect::<Vec<_>>()
    };
    (tokens(&|effect| effect.guard.into()), tokens(&|effect| effect.delta + i128::from(effect.guard)))
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
        let EncodedNet { encoding, transitions } = EncodedNet::new(&net, &[2, 1, 0], &[], &[]).unwrap();
        assert_eq!(encoding.constants, [(1, 5)]);
        assert_eq!(encoding.initial, [2, 3]);
        assert_eq!(encoding.variables[1].tokens(2), 7 + 2 * u128::from(great));
        assert_eq!(encoding.marking(&[4, 1]), [7 + u128::from(great), 5, 4]);
        let change = |level, least, delta| Change { level, least, most: u32::MAX, delta };
        // Taking a step needs one; eight tokens are there only if there is a step beyond the seven.
        let expected = [vec![vec![change(0, 0, 1), change(1, 1, -1)]], vec![], vec![vec![change(1, 1, 1)]]];
        assert_eq!(transitions, expected);
    }

    #[test]
    fn what_nodes_cannot_hold_is_refused_by_name() {
        let net = net(&[1 << 40, 0], &[(&[(0, 1)], &[(1, 1)])]);
        let error = EncodedNet::new(&net, &[0, 1], &[], &[]).unwrap_err();
        assert_eq!(error, EncodingError::TooManyTokens { place: "p0".to_owned() });
    }

    #[test]
    fn places_that_share_a_token_share_a_variable() {
        // A token goes round three places; one of the moves also fills the fourth.
        let net = net(
            &[0, 1, 0, 0],
            &[(&[(1, 1)], &[(2, 1), (3, 1)]), (&[(2, 1)], &[(0, 1)]), (&[(0, 1), (1, 1)], &[(0, 1), (1, 1)])],
        );
        let places = vec![0, 1, 2];
        let EncodedNet { encoding: always, transitions } = EncodedNet::new(
            &net,
            &[3, 0, 1, 2],
            &[Group { places: places.clone(), always_one: true, believed: false }],
            &[],
        )
        .unwrap();
        assert_eq!(always.initial, [0, 1]);
        let moved =
            |from: u32, to: u32| Change { level: 1, least: from, most: from, delta: i64::from(to) - i64::from(from) };
        let give = Change { level: 0, least: 0, most: u32::MAX, delta: 1 };
        assert_eq!(transitions, [vec![vec![give, moved(1, 2)]], vec![vec![moved(2, 0)]], vec![]]);
        assert_eq!(always.marking(&[4, 2]), [0, 0, 1, 4]);
        let EncodedNet { encoding: maybe, transitions } =
            EncodedNet::new(&net, &[3, 0, 1, 2], &[Group { places, always_one: false, believed: true }], &[]).unwrap();
        assert_eq!(maybe.initial, [0, 2]);
        assert_eq!(maybe.marking(&[0, 0]), [0; 4]);
        assert_eq!(transitions[1], [vec![moved(3, 1)]]);
    }
}
