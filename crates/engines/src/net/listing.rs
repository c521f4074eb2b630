//! Places with more tokens than values of variables count: all numbers that they may have are listed, and values are the
//! places of numbers in the list.
//!
//! A list has what the transitions can make of the initial number, whatever other places have, up to the bound of the place.
//! Where weights are large there are few such numbers; a place with very many keeps its number of tokens as its value.

use std::collections::{BTreeSet, HashMap};
use tremula_diagrams::mdd::Change;
use tremula_models::{Effect, PetriNet};

/// Longer lists are not made: each number may mean an event of its own.
const MOST_NUMBERS: usize = 1024;

/// What transitions do to each place that is `wanted`.
pub fn effects_on(net: &PetriNet, wanted: &[bool]) -> HashMap<u32, Vec<Effect>> {
    let mut effects: HashMap<u32, Vec<Effect>> = HashMap::new();
    if wanted.contains(&true) {
        let all = net.transitions.iter().flat_map(|transition| transition.effects());
        all.filter(|effect| wanted[effect.place as usize])
            .for_each(|effect| effects.entry(effect.place).or_default().push(effect));
    }
    effects
}

/// All numbers of tokens that a place may have, ascending, if it has `initial` ones and these are all effects on it; none if
/// they are too many.
pub fn numbers(initial: u64, effects: &[Effect], bound: Option<u64>) -> Option<Vec<u128>> {
    let mut numbers = BTreeSet::from([u128::from(initial)]);
    let mut new = vec![u128::from(initial)];
    while let Some(number) = new.pop() {
        for next in effects.iter().filter_map(|effect| after(effect, number)) {
            if bound.is_none_or(|bound| next <= bound.into()) && numbers.insert(next) {
                new.push(next);
            }
        }
        if numbers.len() > MOST_NUMBERS {
            return None;
        }
    }
    Some(numbers.into_iter().collect())
}

/// Tokens afterwards, if the transition can fire with so many.
fn after(effect: &Effect, tokens: u128) -> Option<u128> {
    (tokens >= effect.guard.into()).then(|| tokens.checked_add_signed(effect.delta)).flatten()
}

/// What an effect does to the place at `level` in terms of its list: for each run of numbers that move equally far in it, one
/// change. A number beyond the list is never reached.
pub fn changes(level: u32, numbers: &[u128], effect: &Effect) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for (from, &number) in (0_u32..).zip(numbers) {
        let Some(to) = after(effect, number).and_then(|number| numbers.binary_search(&number).ok()) else { continue };
        let delta = to as i64 - i64::from(from);
        match changes.last_mut() {
            Some(run) if run.delta == delta && run.most + 1 == from => run.most = from,
            _ => changes.push(Change { level, least: from, most: from, delta }),
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use tremula_models::{Arc, Place, Transition};

    fn exchange(initial: u64, steps: &[(u64, u64)]) -> PetriNet {
        let transition = |&(taken, given): &(u64, u64)| Transition {
            id: format!("{taken}-{given}"),
            name: None,
            inputs: vec![Arc { place: 0, weight: taken }],
            outputs: vec![Arc { place: 0, weight: given }],
        };
        PetriNet {
            places: vec![Place { id: "p".to_owned(), name: None, initial }],
            transitions: steps.iter().map(transition).collect(),
            ..PetriNet::default()
        }
    }

    #[test]
    fn lists_are_closed_and_bounded() {
        let numbers = |initial, steps: &[(u64, u64)], bound| {
            let net = exchange(initial, steps);
            numbers(initial, &effects_on(&net, &[true])[&0], bound)
        };
        assert_eq!(numbers(10, &[(4, 1), (7, 0)], None), Some(vec![0, 1, 3, 4, 7, 10]));
        assert_eq!(numbers(2, &[(1, 3)], Some(7)), Some(vec![2, 4, 6]));
        assert_eq!(numbers(2, &[(1, 3)], None), None);
    }

    #[test]
    fn changes_are_runs_in_the_list() {
        let list = [0, 1, 3, 4, 7, 10];
        let taken = Effect { place: 0, guard: 3, delta: -3 };
        let run = |least, most, delta| Change { level: 5, least, most, delta };
        assert_eq!(changes(5, &list, &taken), [run(2, 3, -2), run(4, 5, -1)]);
        let tested = Effect { place: 0, guard: 4, delta: 0 };
        assert_eq!(changes(5, &list, &tested), [run(3, 5, 0)]);
    }
}
