//! Every model comes back from either layout as the same system.

mod common;

use std::path::Path;

use common::property::{equal_up_to_layout, have_same_diagrams};
use common::random::Random;
use common::{collection, load, models_in, testdata};
use tremula_models::{BddSystem, Edge, FIRST_ACTION_VARIABLE, Layout, Limits, read_bdd, write_bdd};

fn converted(system: &BddSystem, layout: Layout) -> BddSystem {
    let mut file = Vec::new();
    write_bdd(system, layout, &mut file).expect("written");
    let again = read_bdd(file.as_slice(), &Limits::default()).expect("what was written");
    assert_eq!(again.layout, layout);
    assert_eq!(again.check(), Ok(()));
    again
}

/// For each variable of `narrow`, the same bit's variable in the system with integers of equal
/// width; and the variables of the bits that were added.
fn padding(narrow: &BddSystem, wide: &BddSystem) -> (Vec<u32>, Vec<u32>) {
    let (mut moved, mut added) = (Vec::new(), Vec::new());
    let mut variable = 0;
    for (before, after) in narrow.variables.iter().zip(&wide.variables) {
        let (pad, end) = (variable + 2 * (after.bits - before.bits), variable + 2 * after.bits);
        added.extend(variable..pad);
        moved.extend(pad..end);
        variable = end;
    }
    (moved, added)
}

/// A random assignment that follows a path to the wanted result half of the time, since most
/// assignments satisfy no set.
fn random_assignment(system: &BddSystem, root: Edge, random: &mut Random) -> Vec<(u32, bool)> {
    let mut path = Vec::new();
    let mut edge = root;
    while let Some(node) = system.node(edge) {
        let complement = edge.is_complement();
        let (low, high) = (node.low.not_if(complement), node.high.not_if(complement));
        let value = if low == Edge::FALSE { true } else { high != Edge::FALSE && random.coin() };
        path.push((node.variable, value));
        edge = if value { high } else { low };
    }
    if random.coin() && !path.is_empty() {
        let flipped = random.below(path.len());
        path[flipped].1 ^= true;
    }
    path
}

/// Compares the functions of `narrow` and `wide` on random assignments. `scope` says whether a
/// padding variable matters to the function.
fn assert_same_function(
    (narrow, before): (&BddSystem, Edge),
    (wide, after): (&BddSystem, Edge),
    scope: impl Fn(u32) -> bool,
    random: &mut Random,
) {
    let (moved, added) = padding(narrow, wide);
    let relevant: Vec<u32> = added.into_iter().filter(|&variable| scope(variable)).collect();
    for _ in 0..20 {
        let mut narrow_values = vec![false; moved.len()];
        narrow_values.iter_mut().for_each(|value| *value = random.coin());
        let mut actions: Vec<bool> = (0..narrow.action_bits).map(|_| random.coin()).collect();
        for (variable, value) in random_assignment(narrow, before, random) {
            match variable.checked_sub(FIRST_ACTION_VARIABLE) {
                None => narrow_values[variable as usize] = value,
                Some(action) => actions[action as usize] = value,
            }
        }
        let mut wide_values = vec![false; 2 * wide.state_bits() as usize];
        for (&variable, &value) in moved.iter().zip(&narrow_values) {
            wide_values[variable as usize] = value;
        }
        let lookup = |values: &[bool], variable: u32| match variable.checked_sub(FIRST_ACTION_VARIABLE) {
            None => values[variable as usize],
            Some(action) => actions[action as usize],
        };
        let expected = narrow.evaluate(before, |variable| lookup(&narrow_values, variable));
        assert_eq!(wide.evaluate(after, |variable| lookup(&wide_values, variable)), expected);
        if !relevant.is_empty() {
            wide_values[relevant[random.below(relevant.len())] as usize] = true;
            assert!(!wide.evaluate(after, |variable| lookup(&wide_values, variable)), "padding is 0");
        }
    }
}

fn assert_same_system(narrow: &BddSystem, wide: &BddSystem, random: &mut Random) {
    let width = wide.variables[0].bits;
    let current = |variable: u32| variable.is_multiple_of(2);
    assert_same_function((narrow, narrow.initial), (wide, wide.initial), current, random);
    if let (Some(before), Some(after)) = (narrow.reachable, wide.reachable) {
        assert_same_function((narrow, before), (wide, after), current, random);
    }
    assert_eq!(narrow.groups.len(), wide.groups.len());
    for (before, after) in narrow.groups.iter().zip(&wide.groups) {
        assert_eq!(before.touched(), after.touched());
        let touched = |variable: u32| after.touched().binary_search(&(variable / 2 / width)).is_ok();
        assert_same_function((narrow, before.relation), (wide, after.relation), touched, random);
    }
}

fn assert_round_trips(path: &Path, random: &mut Random) {
    let name = path.display();
    let system = load(path);
    assert_eq!(system.check(), Ok(()), "{name}");
    let sylvan = converted(&system, Layout::Sylvan);
    equal_up_to_layout(&system, &sylvan);
    let legacy = converted(&system, Layout::Legacy);
    equal_up_to_layout(&system, &legacy);
    if legacy.variables != system.variables {
        assert_same_system(&system, &legacy, random);
        // Now the widths are equal, so going round once more changes nothing.
        assert!(have_same_diagrams(&converted(&legacy, Layout::Legacy), &legacy), "{name}");
        assert!(have_same_diagrams(&converted(&legacy, Layout::Sylvan), &legacy), "{name}");
    }
    let stripped = system.without_reachable();
    assert_eq!(stripped.check(), Ok(()), "{name}");
    assert_eq!(converted(&stripped, Layout::Legacy).reachable, None, "{name}");
}

#[test]
fn repository_models() {
    let models = models_in(&testdata());
    assert!(!models.is_empty(), "no models in testdata");
    let mut random = Random(1);
    models.iter().for_each(|path| assert_round_trips(path, &mut random));
}

#[test]
fn whole_collection() {
    let models = models_in(&collection());
    if models.is_empty() {
        println!("skipped: there is no collection of models beside the repository");
        return;
    }
    let mut random = Random(2);
    models.iter().for_each(|path| assert_round_trips(path, &mut random));
    println!("{} models came back from both layouts", models.len());
}
