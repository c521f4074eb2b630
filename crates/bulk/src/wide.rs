//! A sweep that is as wide as one wants, to be measured: the union of two sets with so many nodes at each level.
//!
//! Both sets have the same shape, so that a level of the union has as many requests as each of them has nodes. The first
//! bit of a state tells which of the two sets it is in, and the only relation forgets it.

use crate::diagram::Diagram;
use crate::layout::{Node, Ref, mix};
use tremula_models::{BddSystem, Edge, Group, Layout, StateVariable};

/// A set and a relation whose image is a union.
#[derive(Clone, Debug)]
pub struct Wide {
    /// The relation, and how many bits there are.
    pub system: BddSystem,
    /// The set.
    pub states: Diagram,
}

impl Wide {
    /// Two sets with `width` nodes, a power of two and at least 2, at each of `levels` levels; above them the levels that it takes to get
    /// to so many, and below them those that it takes to tell so many apart.
    #[must_use]
    pub fn new(width: usize, levels: u32) -> Wide {
        let (above, below) = (width.ilog2(), levels_to_tell(width));
        let bits = 1 + above + levels + below;
        let mut nodes = Vec::new();
        let mut put = |level: u32, low: Ref, high: Ref| {
            nodes.push(Node::new(level, low, high));
            Diagram::reference(nodes.len() - 1)
        };
        // What tells the sets apart lies at the end; both have the same nodes there, in another order.
        let (mut level, mut known, mut ends) = (bits, vec![Ref::FALSE, Ref::TRUE], Vec::new());
        for _ in 0..below {
            level -= 1;
            ends = pairs(known.len()).take(width).map(|(low, high)| put(level, known[low], known[high])).collect();
            known.extend(&ends);
        }
        let mut both: [Vec<Ref>; 2] = [ends.clone(), ends.iter().skip(1).chain(&ends[..1]).copied().collect()];
        for _ in 0..levels {
            level -= 1;
            both = both
                .map(|set| (0..set.len()).map(|at| put(level, set[at], set[other(level, at, set.len())])).collect());
        }
        while level > 1 {
            level -= 1;
            both = both.map(|set| set.chunks(2).map(|pair| put(level, pair[0], pair[1])).collect());
        }
        let root = put(0, both[0][0], both[1][0]);
        Wide { system: forget_first(bits), states: Diagram { nodes, root } }
    }
}

/// Another node of a level, as if by chance.
fn other(level: u32, at: usize, width: usize) -> usize {
    (at + 1 + (mix(u64::from(level) << 32 | at as u64) % (width as u64 - 1)) as usize) % width
}

/// Levels that it takes to tell `width` nodes apart: each has a node for each pair of different ones below it.
fn levels_to_tell(width: usize) -> u32 {
    let (mut below, mut levels) = (2, 1);
    while below * (below - 1) < width {
        below *= below;
        levels += 1;
    }
    levels
}

/// Pairs of two different nodes of so many.
fn pairs(nodes: usize) -> impl Iterator<Item = (usize, usize)> {
    (1..nodes).flat_map(move |distance| (0..nodes).map(move |low| (low, (low + distance) % nodes)))
}

/// The system whose relation sets the first bit to 0, whatever it was.
fn forget_first(bits: u32) -> BddSystem {
    let node = tremula_models::Node { variable: BddSystem::next_variable(0), low: Edge::FALSE, high: Edge::TRUE };
    BddSystem {
        variables: vec![StateVariable { bits: 1 }; bits as usize],
        action_bits: 0,
        nodes: vec![node],
        initial: Edge::FALSE,
        groups: vec![Group { reads: vec![0], writes: vec![0], relation: Edge::new(1, true) }],
        reachable: None,
        action_labels: Vec::new(),
        layout: Layout::Sylvan,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bulk, Graph, Twin};
    use tremula_diagrams::{Attention, Budget, Manager};
    use tremula_engines::Space;

    #[test]
    fn a_wide_sweep_is_a_union_and_as_wide_as_wanted() {
        let (width, levels) = (1 << 10, 6);
        let Wide { system, states } = Wide::new(width, levels);
        assert_eq!(system.check(), Ok(()));
        let graph = Graph::compile(&system).unwrap();
        let machine = Twin::new(graph.clone(), &states, 64 << 20).unwrap();
        let space = Bulk::new(machine, &graph, Attention::default());
        let union = space.next(&space.initial(), 0).unwrap();
        let requests = space.figures().requests as usize;
        assert!(requests > width * levels as usize, "{requests}");
        assert!(requests < width * (levels as usize + 6), "{requests}");
        let manager = Manager::new(&Budget::new(64 << 20)).unwrap();
        let [both, found] = [&space.initial(), &union].map(|set| space.bring_back(set, &manager).unwrap());
        let first = manager.var(0).unwrap();
        let forgotten = both.exists(&[0]).unwrap().minus(&first).unwrap();
        assert!(found == forgotten);
    }
}
