//! Sets on their way out of a team's memory.

use super::memory::Memory;
use crate::diagram::Diagram;
use crate::layout::{Node, Ref};
use crate::machine::{Trouble, take};
use rustc_hash::FxHashMap;
use tremula_diagrams::{Budget, Lease};

/// Nodes of a set on their way out, children first.
pub struct Export<'a> {
    memory: &'a Memory<'a>,
    table: usize,
    names: FxHashMap<u32, Ref>,
    nodes: Vec<Node>,
}

impl<'a> Export<'a> {
    /// Of sets in this table.
    pub fn new(memory: &'a Memory<'a>, table: usize) -> Export<'a> {
        Export { memory, table, names: FxHashMap::default(), nodes: Vec::new() }
    }

    /// Bytes for a node on its way: in the list and in the map, which may be half empty and about to grow.
    const BYTES_PER_NODE: usize = Diagram::BYTES_PER_NODE + 4 * size_of::<(u32, Ref)>();
    /// Nodes whose memory is taken at once.
    const STEP: usize = 1 << 12;

    /// The nodes of a set, in memory of this budget.
    pub fn run(mut self, root: Ref, budget: &Budget) -> Result<(Diagram, Lease), Trouble> {
        let mut leases = Vec::new();
        let mut open = vec![root.0];
        while let Some(&set) = open.last() {
            let Some([low, high]) = self.unnamed(set) else {
                open.pop();
                continue;
            };
            let missing = [low, high].into_iter().filter(|&half| self.unnamed(half).is_some());
            let before = open.len();
            open.extend(missing);
            if open.len() > before {
                continue;
            }
            if self.nodes.len().is_multiple_of(Self::STEP) {
                leases.push(take(budget, Self::STEP * Self::BYTES_PER_NODE)?);
            }
            let (level, [low, high]) = (self.memory.level(self.table, set), [low, high].map(|half| self.name(half)));
            self.nodes.push(Node::new(level, low, high));
            self.names.insert(set, Diagram::reference(self.nodes.len() - 1));
            open.pop();
        }
        let root = self.name(root.0);
        drop(leases);
        let lease = take(budget, self.nodes.len() * Diagram::BYTES_PER_NODE)?;
        Ok((Diagram { nodes: self.nodes, root }, lease))
    }

    /// The halves of a set that has no name yet.
    fn unnamed(&self, set: u32) -> Option<[u32; 2]> {
        let is_named = set < Ref::TERMINALS || self.names.contains_key(&set);
        (!is_named).then(|| self.memory.halves(self.table, set, self.memory.level(self.table, set)))
    }

    fn name(&self, set: u32) -> Ref {
        if set < Ref::TERMINALS { Ref(set) } else { self.names[&set] }
    }
}
