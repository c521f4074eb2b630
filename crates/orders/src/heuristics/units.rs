//! Orders by nested units: the places of a unit stay together.

use tremula_models::Units;

use crate::effort::Effort;
use crate::incidence::Incidence;
use crate::lists::Lists;

use super::force::force;

/// The units that have places of their own, as a walk through the tree meets them: outer ones before inner ones.
pub(crate) fn in_tree_order(units: &Units) -> Lists {
    let mut groups = Vec::new();
    let mut waiting = vec![units.root];
    while let Some(unit) = waiting.pop() {
        let unit = &units.units[unit as usize];
        if !unit.places.is_empty() {
            groups.push(unit.places.iter().copied());
        }
        waiting.extend(unit.subunits.iter().rev());
    }
    Lists::new(groups)
}

/// The places, unit by unit in the order of the tree.
pub(crate) fn units(groups: &Lists) -> Vec<u32> {
    groups.iter().flatten().copied().collect()
}

/// The places, unit by unit; FORCE draws units together that share transitions.
pub(crate) fn units_drawn(net: &Incidence, groups: &Lists, effort: &mut Effort) -> Vec<u32> {
    let mut unit_of = vec![0; net.places()];
    for (unit, group) in groups.iter().enumerate() {
        for &place in group {
            unit_of[place as usize] = unit as u32;
        }
    }
    let edges = Lists::new(net.touched.iter().map(|event| {
        let mut met: Vec<u32> = event.iter().map(|&place| unit_of[place as usize]).collect();
        met.sort_unstable();
        met.dedup();
        met
    }));
    let order = force(&edges, (0..groups.len() as u32).collect(), effort);
    order.iter().flat_map(|&unit| groups.of(unit as usize)).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::chain;
    use tremula_models::Unit;

    fn nested() -> Units {
        let unit = |places: &[u32], subunits: &[u32]| Unit {
            id: String::new(),
            places: places.to_vec(),
            subunits: subunits.to_vec(),
        };
        let units =
            vec![unit(&[], &[1, 3]), unit(&[5], &[2]), unit(&[0, 1], &[]), unit(&[2, 3], &[4]), unit(&[4], &[])];
        Units { units, root: 0, safe: true }
    }

    #[test]
    fn the_tree_is_walked_outside_in() {
        assert_eq!(units(&in_tree_order(&nested())), [5, 0, 1, 2, 3, 4]);
    }

    #[test]
    fn units_that_share_transitions_come_together() {
        let order = units_drawn(&Incidence::new(&chain(6)), &in_tree_order(&nested()), &mut Effort::new(10_000));
        assert_eq!(order, [0, 1, 2, 3, 4, 5]);
    }
}
