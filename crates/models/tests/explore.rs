//! Small models have as many states as they should: a check of what variables, groups and
//! relations mean, by a naive exploration state by state.

mod common;

use std::collections::HashSet;

use common::{field, load, testdata};
use tremula_models::{BddSystem, Edge, Layout, Limits, read_bdd, write_bdd};

/// A state, bit by bit.
type State = Vec<bool>;

/// Hands every assignment of the variables `order[depth..]` (ascending) that satisfies `edge` to
/// `found`. Variables in `fixed` have that value only. Whatever is below the order must not be
/// false: actions vanish like this.
fn satisfy(
    system: &BddSystem,
    edge: Edge,
    order: &[(u32, Option<bool>)],
    values: &mut Vec<bool>,
    found: &mut dyn FnMut(&[bool]),
) {
    if edge == Edge::FALSE {
        return;
    }
    let Some(&(variable, fixed)) = order.get(values.len()) else { return found(values) };
    for value in [false, true].into_iter().filter(|value| fixed.is_none_or(|fixed| fixed == *value)) {
        let child = match system.node(edge) {
            Some(node) if node.variable == variable => {
                let child = if value { node.high } else { node.low };
                child.not_if(edge.is_complement())
            }
            _ => edge,
        };
        values.push(value);
        satisfy(system, child, order, values, found);
        values.pop();
    }
}

/// All states in a set.
fn states(system: &BddSystem, set: Edge) -> Vec<State> {
    let order: Vec<_> = (0..system.state_bits()).map(|bit| (BddSystem::current_variable(bit), None)).collect();
    let mut states = Vec::new();
    satisfy(system, set, &order, &mut Vec::new(), &mut |values| states.push(values.to_vec()));
    states
}

fn successors(system: &BddSystem, group: usize, bits: &[u32], state: &State) -> Vec<State> {
    let order: Vec<_> = bits
        .iter()
        .flat_map(|&bit| {
            let now = (BddSystem::current_variable(bit), Some(state[bit as usize]));
            [now, (BddSystem::next_variable(bit), None)]
        })
        .collect();
    let mut next = Vec::new();
    satisfy(system, system.groups[group].relation, &order, &mut Vec::new(), &mut |values| {
        let mut successor = state.clone();
        for (&bit, value) in bits.iter().zip(values.iter().skip(1).step_by(2)) {
            successor[bit as usize] = *value;
        }
        next.push(successor);
    });
    next
}

/// The number of reachable states and of breadth-first levels.
fn explore(system: &BddSystem) -> (usize, usize) {
    let bits: Vec<Vec<u32>> = system.groups.iter().map(|group| system.group_bits(group)).collect();
    let mut frontier = states(system, system.initial);
    let mut visited: HashSet<State> = frontier.iter().cloned().collect();
    let mut levels = 0;
    while !frontier.is_empty() {
        levels += 1;
        let mut next = Vec::new();
        for state in &frontier {
            for (group, bits) in bits.iter().enumerate() {
                let new = successors(system, group, bits, state).into_iter();
                next.extend(new.filter(|successor| visited.insert(successor.clone())));
            }
        }
        frontier = next;
    }
    if let Some(reachable) = system.reachable {
        assert!(visited.iter().all(|state| system.evaluate(reachable, |variable| state[variable as usize / 2])));
    }
    (visited.len(), levels)
}

/// Path, states and levels of the models in `expected.toml` with at most `most` states.
fn expected(most: usize) -> Vec<(String, usize, usize)> {
    let text = std::fs::read_to_string(testdata().join("expected.toml")).expect("expected.toml");
    let models = text.split("[[model]]").skip(1).filter_map(|entry| {
        let number = |name| field(entry, name)?.parse().ok();
        Some((field(entry, "path")?, number("states")?, number("levels")?))
    });
    models.filter(|&(_, states, _)| states <= most).collect()
}

#[test]
fn small_models_have_the_expected_states() {
    let models = expected(30_000);
    assert!(models.len() >= 10);
    for (path, states, levels) in models {
        let system = load(&testdata().join(&path));
        assert_eq!(explore(&system), (states, levels), "{path}");
        let other = match system.layout {
            Layout::Legacy => Layout::Sylvan,
            Layout::Sylvan => Layout::Legacy,
        };
        let mut file = Vec::new();
        write_bdd(&system, other, &mut file).expect("written");
        let converted = read_bdd(file.as_slice(), &Limits::default()).expect("what was written");
        assert_eq!(explore(&converted), (states, levels), "{path} in the {other} layout");
    }
}

#[test]
fn stored_reachable_sets_have_the_expected_nodes() {
    let text = std::fs::read_to_string(testdata().join("expected.toml")).expect("expected.toml");
    for entry in text.split("[[model]]").skip(1) {
        let path = field(entry, "path").expect("a path");
        let mut system = load(&testdata().join(&path));
        let Some(nodes) = field(entry, "nodes") else { continue };
        // Leave the reachable set alone in the system: then its nodes are all there are.
        system.initial = system.reachable.expect("a stored reachable set");
        system.groups.clear();
        assert_eq!(system.without_reachable().nodes.len().to_string(), nodes, "{path}");
    }
}
