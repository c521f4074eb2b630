//! Nodes without duplicates: the unique table behind the reader and the writer.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use crate::system::{Edge, MAX_NODE_ID, Node};

/// There may be no more nodes.
#[derive(Debug)]
pub(crate) struct Full;

/// A growing list of distinct nodes.
///
/// Invariants: `nodes[i]` has id `i + 1`; `slots` is an open-addressing table of all ids, its
/// length a power of two and more than half of it empty (an empty slot is 0).
pub(crate) struct Builder {
    nodes: Vec<Node>,
    slots: Vec<u32>,
    /// Seeded per builder, so that no file can be made to collide on purpose.
    hasher: RandomState,
    /// The most nodes, and the most results that an operation remembers.
    most: usize,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self::with_most(MAX_NODE_ID as usize)
    }

    /// With at most so many nodes.
    pub(crate) fn with_most(nodes: usize) -> Self {
        let most = nodes.min(MAX_NODE_ID as usize);
        Self { nodes: Vec::new(), slots: vec![0; 16], hasher: RandomState::new(), most }
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) fn into_nodes(self) -> Vec<Node> {
        self.nodes
    }

    /// The variable of an edge's node; for a terminal, a number above all variables.
    pub(crate) fn variable(&self, edge: Edge) -> u32 {
        edge.id().checked_sub(1).map_or(u32::MAX, |index| self.nodes[index as usize].variable)
    }

    /// The function `if variable then high else low`, in canonical form.
    pub(crate) fn decide(&mut self, variable: u32, low: Edge, high: Edge) -> Result<Edge, Full> {
        if low == high {
            return Ok(low);
        }
        let negate = low.is_complement();
        let (low, high) = (low.not_if(negate), high.not_if(negate));
        Ok(self.add(Node { variable, low, high })?.not_if(negate))
    }

    /// Where one of two functions is true. Nothing recurs, however deep they are.
    pub(crate) fn or(&mut self, a: Edge, b: Edge) -> Result<Edge, Full> {
        let mut known: HashMap<(Edge, Edge), Edge> = HashMap::new();
        let mut open = vec![(a, b)];
        while let Some(&(a, b)) = open.last() {
            if known.len() > self.most {
                return Err(Full);
            }
            let variable = self.variable(a).min(self.variable(b));
            let halves =
                [false, true].map(|value| (self.cofactor(a, variable, value), self.cofactor(b, variable, value)));
            let of = |pair: (Edge, Edge)| plain_or(pair).or_else(|| known.get(&pair).copied());
            match (plain_or((a, b)), halves.map(of)) {
                (Some(edge), _) => {
                    known.insert((a, b), edge);
                    open.pop();
                }
                (None, [Some(low), Some(high)]) => {
                    known.insert((a, b), self.decide(variable, low, high)?);
                    open.pop();
                }
                (None, answers) => {
                    open.extend(halves.iter().zip(answers).filter(|(_, known)| known.is_none()).map(|(half, _)| *half))
                }
            }
        }
        Ok(known[&(a, b)])
    }

    /// The function where `variable`, which is not below its first, has a value.
    fn cofactor(&self, edge: Edge, variable: u32, value: bool) -> Edge {
        if edge.is_terminal() || self.variable(edge) != variable {
            return edge;
        }
        let node = &self.nodes[edge.id() as usize - 1];
        (if value { node.high } else { node.low }).not_if(edge.is_complement())
    }

    /// The edge to `node`, which must be reduced: low not complemented and not equal to high.
    pub(crate) fn add(&mut self, node: Node) -> Result<Edge, Full> {
        let slot = self.find(&node);
        if self.slots[slot] != 0 {
            return Ok(Edge::new(self.slots[slot], false));
        }
        if self.nodes.len() >= self.most {
            return Err(Full);
        }
        self.nodes.push(node);
        let id = self.nodes.len() as u32;
        self.slots[slot] = id;
        if self.nodes.len() * 2 >= self.slots.len() {
            self.grow();
        }
        Ok(Edge::new(id, false))
    }

    /// The slot that holds `node`, or the empty one where it belongs.
    fn find(&self, node: &Node) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = self.hasher.hash_one(node) as usize & mask;
        while let Some(index) = self.slots[slot].checked_sub(1) {
            if self.nodes[index as usize] == *node {
                break;
            }
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        self.slots = vec![0; self.slots.len() * 2];
        for index in 0..self.nodes.len() {
            let slot = self.find(&self.nodes[index]);
            self.slots[slot] = index as u32 + 1;
        }
    }
}

/// Where one of two functions is true, if that is plain.
fn plain_or((a, b): (Edge, Edge)) -> Option<Edge> {
    match (a, b) {
        (Edge::TRUE, _) | (_, Edge::TRUE) => Some(Edge::TRUE),
        (Edge::FALSE, other) | (other, Edge::FALSE) => Some(other),
        _ if a == b => Some(a),
        _ if a == !b => Some(Edge::TRUE),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn or_is_that_of_each_assignment() {
        let mut builder = Builder::new();
        // All functions of three variables, by their tables.
        let functions: Vec<Edge> = (0..256_u32)
            .map(|table| {
                let mut row: Vec<Edge> =
                    (0..8).map(|at| if table >> at & 1 == 1 { Edge::TRUE } else { Edge::FALSE }).collect();
                for variable in (0..3).rev() {
                    row = row.chunks(2).map(|pair| builder.decide(variable, pair[0], pair[1]).unwrap()).collect();
                }
                row[0]
            })
            .collect();
        for a in 0..256 {
            for b in 0..256 {
                assert_eq!(builder.or(functions[a], functions[b]).unwrap(), functions[a | b]);
            }
        }
    }

    #[test]
    fn equal_nodes_are_made_once() {
        let mut builder = Builder::new();
        let edges: Vec<Edge> = (0..1000).map(|v| builder.decide(v, Edge::FALSE, Edge::TRUE).unwrap()).collect();
        for (variable, edge) in (0..).zip(&edges) {
            assert_eq!(builder.decide(variable, Edge::FALSE, Edge::TRUE).unwrap(), *edge);
            assert_eq!(builder.decide(variable, Edge::TRUE, Edge::FALSE).unwrap(), !*edge);
        }
        assert_eq!(builder.nodes().len(), edges.len());
    }

    #[test]
    fn equal_children_need_no_node() {
        let mut builder = Builder::new();
        assert_eq!(builder.decide(7, Edge::TRUE, Edge::TRUE).unwrap(), Edge::TRUE);
        assert!(builder.nodes().is_empty());
    }
}
