//! Sets of states on the way to a machine and back: plain lists of nodes.

use crate::layout::{Node, Ref};
use rustc_hash::FxHashMap;
use tremula_diagrams::{Bdd, Error, ImportEdge, ImportNode, Manager};
use tremula_models::{BddSystem, Edge};

/// A set of states as a list of nodes, children first: a reference that is no terminal names a position in the list,
/// counted from [`Ref::TERMINALS`]. Levels are numbers of state bits. There are no complement edges.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagram {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The set.
    pub root: Ref,
}

impl Diagram {
    /// Bytes of the host for each node: the node itself, and its name while it is imported.
    pub const BYTES_PER_NODE: usize = size_of::<Node>() + size_of::<u64>();

    /// The reference to the node at `position`.
    #[must_use]
    pub fn reference(position: usize) -> Ref {
        Ref(position as u32 + Ref::TERMINALS)
    }

    /// The initial states of a system.
    #[must_use]
    pub fn of_initial_states(model: &BddSystem) -> Diagram {
        let mut needed = vec![[false; 2]; model.nodes.len() + 1];
        let polarity = |edge: Edge| usize::from(edge.is_complement());
        needed[model.initial.id() as usize][polarity(model.initial)] = true;
        // Children come first in the model, so parents are met first from behind.
        for (position, node) in model.nodes.iter().enumerate().rev() {
            for negate in [false, true] {
                if needed[position + 1][usize::from(negate)] {
                    for child in [node.low.not_if(negate), node.high.not_if(negate)] {
                        needed[child.id() as usize][polarity(child)] = true;
                    }
                }
            }
        }
        let mut nodes = Vec::new();
        let mut names: FxHashMap<Edge, Ref> =
            [(Edge::FALSE, Ref::FALSE), (Edge::TRUE, Ref::TRUE)].into_iter().collect();
        for (position, node) in model.nodes.iter().enumerate() {
            for negate in [false, true] {
                if needed[position + 1][usize::from(negate)] {
                    let child = |edge: Edge| names[&edge.not_if(negate)];
                    nodes.push(Node::new(node.variable / 2, child(node.low), child(node.high)));
                    names.insert(Edge::new(position as u32 + 1, negate), Diagram::reference(nodes.len() - 1));
                }
            }
        }
        Diagram { root: names[&model.initial], nodes }
    }

    /// The same set as an ordinary diagram over the current-state variables.
    pub fn import(&self, manager: &Manager) -> Result<Bdd, Error> {
        let edge = |set: Ref| match set {
            Ref::FALSE => ImportEdge { node: 0, complement: false },
            Ref::TRUE => ImportEdge { node: 0, complement: true },
            Ref(name) => ImportEdge { node: name - Ref::TERMINALS + 1, complement: false },
        };
        let nodes = self.nodes.iter().map(|node| ImportNode {
            level: BddSystem::current_variable(node.level()),
            low: edge(node.low()),
            high: edge(node.high()),
        });
        let mut functions = manager.import(nodes, &[edge(self.root)])?;
        Ok(functions.pop().expect("one root"))
    }
}
