//! What must hold for any bytes at all; also the body of the fuzz targets.
#![allow(dead_code, reason = "every fuzz target uses its own part")]

use std::collections::HashSet;

use tremula_models::{BddSystem, Edge, Layout, Limits, WriteError, read_bdd, read_ldd, write_bdd};

/// Small enough that no input takes long.
fn limits() -> Limits {
    Limits {
        max_bytes: 1 << 20,
        max_nodes: 1 << 14,
        max_projections: 1 << 14,
        max_relation_nodes: 1 << 18,
        ..Limits::default()
    }
}

/// Reads `data` as a model. If it is one, it must satisfy its invariants, and must come back from
/// either layout.
pub fn reading_is_safe(data: &[u8]) {
    let Ok(system) = read_bdd(data, &limits()) else { return };
    assert_eq!(system.check(), Ok(()));
    round_trip(&system);
}

/// Reads `data` as a model of lists. If it is one, it must satisfy its invariants.
pub fn reading_lists_is_safe(data: &[u8]) {
    let Ok(system) = read_ldd(data, &limits()) else { return };
    assert_eq!(system.check(), Ok(()));
    // Few nodes, so that what is much larger than its file shows in time.
    if let Ok(bits) = system.in_bits(20_000) {
        assert_eq!(bits.check(), Ok(()));
    }
}

/// Writes a system in both layouts and reads it back.
fn round_trip(system: &BddSystem) {
    for layout in [Layout::Sylvan, Layout::Legacy] {
        // Padding each of many narrow integers to the widest one's width takes long, and may not
        // be possible. Real models are far from it.
        let widest = system.variables.iter().map(|variable| variable.bits).max().unwrap_or(0);
        if layout == Layout::Legacy && widest as usize * system.variables.len() > 4096 {
            continue;
        }
        let mut file = Vec::new();
        match write_bdd(system, layout, &mut file) {
            Ok(()) => {}
            Err(WriteError::DoesNotFit { .. }) => continue,
            Err(error) => panic!("writing what was read: {error}"),
        }
        let again = read_bdd(file.as_slice(), &Limits::default());
        let again = again.unwrap_or_else(|error| panic!("reading what was written: {error}"));
        assert_eq!(again.check(), Ok(()));
        assert_eq!(again.layout, layout);
        equal_up_to_layout(system, &again);
    }
}

/// What is in both layouts must be the same, diagrams included unless an integer was padded.
pub fn equal_up_to_layout(before: &BddSystem, after: &BddSystem) {
    assert_eq!(before.variables.len(), after.variables.len());
    assert_eq!(before.action_bits, after.action_bits);
    assert_eq!(before.reachable.is_some(), after.reachable.is_some());
    assert_eq!(before.groups.len(), after.groups.len());
    for (before, after) in before.groups.iter().zip(&after.groups) {
        assert_eq!(before.touched(), after.touched());
    }
    if after.layout == Layout::Sylvan {
        let lists = |system: &BddSystem| {
            let lists = system.groups.iter().map(|group| (group.reads.clone(), group.writes.clone()));
            lists.collect::<Vec<_>>()
        };
        assert_eq!(lists(before), lists(after));
        assert_eq!(before.action_labels, after.action_labels);
    }
    if before.variables == after.variables {
        assert!(have_same_diagrams(before, after));
    }
}

/// Whether two systems have the same diagrams, whatever the order of their nodes: whether
/// matching up the roots matches up all nodes, one to one.
pub fn have_same_diagrams(left: &BddSystem, right: &BddSystem) -> bool {
    let roots = |system: &BddSystem| {
        let relations = system.groups.iter().map(|group| group.relation);
        relations.chain(system.reachable).chain([system.initial]).collect::<Vec<Edge>>()
    };
    let mut pending: Vec<(Edge, Edge)> = roots(left).into_iter().zip(roots(right)).collect();
    let mut partner = vec![None; left.nodes.len() + 1];
    partner[0] = Some(0);
    while let Some((left_edge, right_edge)) = pending.pop() {
        let known = &mut partner[left_edge.id() as usize];
        let same_mark = left_edge.is_complement() == right_edge.is_complement();
        if !same_mark || known.is_some_and(|id| id != right_edge.id()) {
            return false;
        }
        if known.replace(right_edge.id()).is_none() {
            let (Some(left), Some(right)) = (left.node(left_edge), right.node(right_edge)) else { return false };
            if left.variable != right.variable {
                return false;
            }
            pending.extend([(left.low, right.low), (left.high, right.high)]);
        }
    }
    let partners: HashSet<u32> = partner.iter().flatten().copied().collect();
    left.nodes.len() == right.nodes.len() && partners.len() == left.nodes.len() + 1
}
