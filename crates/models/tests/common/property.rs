//! What must hold for any bytes at all; also the body of the fuzz targets.

use std::collections::HashSet;

use tremula_models::{
    Arc, BddSystem, Edge, Layout, Limits, PetriNet, Units, WriteError, read_bdd, read_pnml, write_bdd,
};

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

/// Reads `data` as a net. If it is one, it must satisfy its invariants, and must come back when written plainly.
pub fn reading_a_net_is_safe(data: &[u8]) {
    let Ok(net) = read_pnml(data, &limits()) else { return };
    assert_eq!(net.check(), Ok(()));
    let again = read_pnml(plain_pnml(&net).as_bytes(), &Limits::default());
    let again = again.unwrap_or_else(|error| panic!("reading what was written: {error}"));
    assert_eq!(again, net);
}

/// A net as PNML, with nothing that is not needed.
fn plain_pnml(net: &PetriNet) -> String {
    let name = |name: &Option<String>| {
        let text = name.as_ref().map(|name| format!("<name><text>{}</text></name>", escape(name)));
        text.unwrap_or_default()
    };
    let mut text = format!("<pnml><net id='{}' type='ptnet'>", escape(&net.id));
    for place in &net.places {
        let marking = format!("<initialMarking><text>{}</text></initialMarking>", place.initial);
        text += &format!("<place id='{}'>{}{marking}</place>", escape(&place.id), name(&place.name));
    }
    for transition in &net.transitions {
        let id = escape(&transition.id);
        text += &format!("<transition id='{id}'>{}</transition>", name(&transition.name));
        let ends = |arc: &Arc| (escape(&net.places[arc.place as usize].id), arc.weight);
        for (place, weight) in transition.inputs.iter().map(ends) {
            let weight = format!("<inscription><text>{weight}</text></inscription>");
            text += &format!("<arc source='{place}' target='{id}'>{weight}</arc>");
        }
        for (place, weight) in transition.outputs.iter().map(ends) {
            let weight = format!("<inscription><text>{weight}</text></inscription>");
            text += &format!("<arc source='{id}' target='{place}'>{weight}</arc>");
        }
    }
    text + &net.units.as_ref().map(|units| plain_units(net, units)).unwrap_or_default() + "</net></pnml>"
}

fn plain_units(net: &PetriNet, units: &Units) -> String {
    let id = |unit: u32| escape(&units.units[unit as usize].id);
    let mut text = format!("<structure root='{}' safe='{}'>", id(units.root), units.safe);
    for unit in &units.units {
        let places: Vec<String> = unit.places.iter().map(|&place| escape(&net.places[place as usize].id)).collect();
        let subunits: Vec<String> = unit.subunits.iter().map(|&unit| id(unit)).collect();
        let lists = format!("<places>{}</places><subunits>{}</subunits>", places.join(" "), subunits.join(" "));
        text += &format!("<unit id='{}'>{lists}</unit>", escape(&unit.id));
    }
    format!("<toolspecific tool='nupn' version='1.1'>{text}</structure></toolspecific>")
}

/// All but letters and digits as numbers of characters, white space included.
fn escape(text: &str) -> String {
    let escaped = text.chars().map(|character| match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' => character.to_string(),
        other => format!("&#{};", u32::from(other)),
    });
    escaped.collect()
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
