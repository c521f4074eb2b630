//! Ways to deadlocks.

use super::support::*;
use std::collections::HashSet;
use tremula_diagrams::Budget;
use tremula_models::{PetriNet, Transition};

/// Firings from the initial marking to the nearest deadlock, by a search without diagrams.
fn distance_to_deadlock(net: &PetriNet) -> Option<usize> {
    let initial: Vec<u128> = net.places.iter().map(|place| place.initial.into()).collect();
    let mut known = HashSet::from([initial.clone()]);
    let mut newest = vec![initial];
    for distance in 0.. {
        let mut next = Vec::new();
        for marking in &newest {
            let successors: Vec<Vec<u128>> = net.transitions.iter().filter_map(|by| fired(marking, by)).collect();
            if successors.is_empty() {
                return Some(distance);
            }
            next.extend(successors.into_iter().filter(|successor| known.insert(successor.clone())));
        }
        if next.is_empty() {
            return None;
        }
        newest = next;
    }
    None
}

/// The marking after a transition, if it can fire.
fn fired(marking: &[u128], transition: &Transition) -> Option<Vec<u128>> {
    let mut next = marking.to_vec();
    for arc in &transition.inputs {
        next[arc.place as usize] = next[arc.place as usize].checked_sub(arc.weight.into())?;
    }
    transition.outputs.iter().for_each(|arc| next[arc.place as usize] += u128::from(arc.weight));
    Some(next)
}

#[test]
fn traces_are_shortest_and_the_net_fires_them() {
    let mut traced = 0;
    for Sample { name, net, explicit } in &samples() {
        let order: Vec<u32> = (0..net.places.len() as u32).collect();
        let system = build(net, &order, &Budget::new(MEMORY), THRIFTY).unwrap();
        let states = explore(&system, Way::Saturate(SATURATIONS[0])).unwrap();
        let trace = system.shortest_trace(&system.deadlocks(&states).unwrap()).unwrap();
        assert_eq!(trace.as_ref().map(|trace| trace.firings.len()), distance_to_deadlock(net), "{name}");
        let some_trace = system.any_trace(&system.deadlocks(&states).unwrap()).unwrap();
        assert_eq!(some_trace.is_some(), trace.is_some(), "{name}");
        assert!(
            some_trace.is_none_or(|trace| trace.holds(net) && explicit.deadlocks.contains(&trace.marking)),
            "{name}"
        );
        if let Some(mut trace) = trace {
            traced += 1;
            assert!(trace.holds(net) && explicit.deadlocks.contains(&trace.marking), "{name}");
            trace.marking[0] += 1;
            assert!(!trace.holds(net), "{name}");
        }
    }
    assert!(traced > 5, "{traced} nets can get stuck");
}
