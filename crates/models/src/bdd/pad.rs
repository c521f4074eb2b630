//! Giving all integers the same width, as the legacy layout wants it.
//!
//! An integer gets its missing bits on the most significant side, so that it keeps its value.
//! They are 0 everywhere: every set is conjoined with the negated current-state variables of all
//! padding bits, every relation with the negated current and next variables of those bits that
//! belong to its group's integers.

use std::collections::HashMap;

use crate::builder::{Builder, Full};
use crate::system::{BddSystem, Edge, FIRST_ACTION_VARIABLE, MAX_STATE_BITS, Node};

/// The diagrams of a system whose integers all have the same width.
pub(super) struct Uniform {
    pub(super) builder: Builder,
    pub(super) initial: Edge,
    pub(super) relations: Vec<Edge>,
    pub(super) reachable: Option<Edge>,
}

/// The width that fits all integers, unless there are too many bits then.
pub(super) fn width(system: &BddSystem) -> Option<u32> {
    let width = system.variables.iter().map(|variable| variable.bits).max()?;
    let bits = system.variables.len() as u64 * u64::from(width);
    (bits <= u64::from(MAX_STATE_BITS)).then_some(width)
}

impl Uniform {
    /// Pads the integers of `system`, which satisfies its invariants, to `width` bits.
    pub(super) fn new(system: &BddSystem, width: u32) -> Result<Self, Full> {
        if system.variables.iter().all(|variable| variable.bits == width) {
            Self::copied(system)
        } else {
            Self::padded(system, width)
        }
    }

    /// There is nothing to pad.
    fn copied(system: &BddSystem) -> Result<Self, Full> {
        let mut builder = Builder::new();
        let mut edges = vec![Edge::FALSE];
        for node in &system.nodes {
            let low = copy_of(&edges, node.low);
            let high = copy_of(&edges, node.high);
            edges.push(builder.decide(node.variable, low, high)?);
        }
        let copy = |edge: Edge| copy_of(&edges, edge);
        let initial = copy(system.initial);
        let relations = system.groups.iter().map(|group| copy(group.relation)).collect();
        let reachable = system.reachable.map(copy);
        Ok(Self { builder, initial, relations, reachable })
    }

    fn padded(system: &BddSystem, width: u32) -> Result<Self, Full> {
        let mut builder = Builder::new();
        let moved = moved_variables(system, width);
        let integers = 0..system.variables.len() as u32;
        let mut pad =
            |root, pads: &[u32]| Padding { nodes: &system.nodes, moved: &moved, pads }.conjoin(&mut builder, root);

        let state_pads: Vec<u32> = pad_bits(system, width, integers).map(BddSystem::current_variable).collect();
        let initial = pad(system.initial, &state_pads)?;
        let mut relations = Vec::new();
        for group in &system.groups {
            let bits = pad_bits(system, width, group.touched().into_iter());
            let pads: Vec<u32> =
                bits.flat_map(|bit| [BddSystem::current_variable(bit), BddSystem::next_variable(bit)]).collect();
            relations.push(pad(group.relation, &pads)?);
        }
        let reachable = system.reachable.map(|root| pad(root, &state_pads)).transpose()?;
        Ok(Self { builder, initial, relations, reachable })
    }
}

fn copy_of(edges: &[Edge], edge: Edge) -> Edge {
    edges[edge.id() as usize].not_if(edge.is_complement())
}

/// For each state variable, the variable of the same bit in the padded state.
fn moved_variables(system: &BddSystem, width: u32) -> Vec<u32> {
    let bits = (0..).zip(&system.variables).flat_map(|(integer, variable)| {
        let end: u32 = (integer + 1) * width;
        end - variable.bits..end
    });
    bits.flat_map(|bit| [BddSystem::current_variable(bit), BddSystem::next_variable(bit)]).collect()
}

/// The padding bits of these integers.
fn pad_bits(system: &BddSystem, width: u32, integers: impl Iterator<Item = u32>) -> impl Iterator<Item = u32> {
    integers.flat_map(move |integer| {
        let missing = width - system.variables[integer as usize].bits;
        integer * width..integer * width + missing
    })
}

/// The conjunction with the negations of `pads` (ascending), in a system whose variables move.
///
/// Variables move monotonically, so the order of the nodes stays right.
struct Padding<'a> {
    nodes: &'a [Node],
    moved: &'a [u32],
    pads: &'a [u32],
}

impl Padding<'_> {
    fn conjoin(&self, builder: &mut Builder, root: Edge) -> Result<Edge, Full> {
        // For each edge, its function conjoined with the pads *below* its variable.
        let mut padded = HashMap::from([(Edge::FALSE, Edge::FALSE), (Edge::TRUE, Edge::TRUE)]);
        for edge in self.edges_below(root) {
            let node = self.nodes[edge.id() as usize - 1];
            let variable = self.variable(edge);
            let mut child = |child: Edge| {
                let child = child.not_if(edge.is_complement());
                self.guard(builder, padded[&child], variable + 1, self.variable(child))
            };
            let (low, high) = (child(node.low)?, child(node.high)?);
            padded.insert(edge, builder.decide(variable, low, high)?);
        }
        self.guard(builder, padded[&root], 0, self.variable(root))
    }

    /// The edges that lie between `root`, included, and the terminals, children first. An edge
    /// and its complement are two, since their conjunctions are not complements.
    fn edges_below(&self, root: Edge) -> Vec<Edge> {
        let mut seen = std::collections::HashSet::new();
        let mut pending = vec![root];
        while let Some(edge) = pending.pop() {
            if !edge.is_terminal() && seen.insert(edge) {
                let node = self.nodes[edge.id() as usize - 1];
                pending.extend([node.low, node.high].map(|e| e.not_if(edge.is_complement())));
            }
        }
        let mut edges: Vec<Edge> = seen.into_iter().collect();
        edges.sort_unstable();
        edges
    }

    /// The padded variable of an edge; for a terminal, a number above all variables.
    fn variable(&self, edge: Edge) -> u32 {
        match edge.id().checked_sub(1).map(|index| self.nodes[index as usize].variable) {
            None => u32::MAX,
            Some(action) if action >= FIRST_ACTION_VARIABLE => action,
            Some(state) => self.moved[state as usize],
        }
    }

    /// `edge` conjoined with the pads from `first` to before `end`.
    fn guard(&self, builder: &mut Builder, edge: Edge, first: u32, end: u32) -> Result<Edge, Full> {
        let from = self.pads.partition_point(|&pad| pad < first);
        let to = self.pads.partition_point(|&pad| pad < end);
        let between = &self.pads[from..to.max(from)];
        between.iter().rev().try_fold(edge, |rest, &pad| builder.decide(pad, rest, Edge::FALSE))
    }
}
