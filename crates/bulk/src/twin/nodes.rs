//! The table of nodes: open addressing, and the place of a node is its name.

use crate::layout::{BOTTOM, Node, Ref};
use crate::machine::{Part, Trouble};
use crate::shares::Shares;

/// Nodes, each once.
///
/// Invariants: a node's children are terminals or in the table, at greater levels; no node is there twice, and none has
/// equal children. So equal sets have equal references.
#[derive(Clone, Debug)]
pub struct Nodes {
    places: Vec<Node>,
    used: usize,
}

impl Nodes {
    /// An empty table.
    pub fn new(capacity: usize) -> Nodes {
        Nodes { places: vec![Node::default(); capacity.max(Ref::TERMINALS as usize + 1)], used: 0 }
    }

    /// The node of a reference that is no terminal.
    pub fn node(&self, set: Ref) -> Node {
        self.places[set.0 as usize]
    }

    /// The level of a set.
    pub fn level(&self, set: Ref) -> u32 {
        if set.is_terminal() { BOTTOM } else { self.node(set).level() }
    }

    /// What becomes of a set when the bit at `level`, which is not below the set's, is 0 or 1.
    pub fn cofactors(&self, set: Ref, level: u32) -> [Ref; 2] {
        if self.level(set) == level { [self.node(set).low(), self.node(set).high()] } else { [set; 2] }
    }

    /// The reference of a node, which is put into the table unless it is there.
    pub fn make(&mut self, level: u32, low: Ref, high: Ref) -> Result<Ref, Trouble> {
        if low == high {
            return Ok(low);
        }
        let node = Node::new(level, low, high);
        let mut place = node.home(self.places.len());
        while !self.places[place].is_empty() {
            if self.places[place] == node {
                return Ok(Ref(place as u32));
            }
            place = if place + 1 == self.places.len() { Ref::TERMINALS as usize } else { place + 1 };
        }
        if self.used >= Shares::nodes(self.places.len()) {
            return Err(Trouble::Full(Part::Nodes));
        }
        self.places[place] = node;
        self.used += 1;
        Ok(Ref(place as u32))
    }

    /// How many nodes there are.
    pub fn used(&self) -> usize {
        self.used
    }

    /// How many places there are.
    pub fn capacity(&self) -> usize {
        self.places.len()
    }

    /// All places, as the device sees them.
    pub fn places(&self) -> &[Node] {
        &self.places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_nodes_are_one() {
        let mut nodes = Nodes::new(8);
        let a = nodes.make(3, Ref::FALSE, Ref::TRUE).unwrap();
        assert_eq!(nodes.make(3, Ref::FALSE, Ref::TRUE), Ok(a));
        assert_eq!(nodes.make(2, a, a), Ok(a));
        assert_ne!(nodes.make(2, a, Ref::TRUE), Ok(a));
        assert_eq!((nodes.used(), nodes.level(a)), (2, 3));
    }

    #[test]
    fn a_full_table_is_an_error_and_keeps_what_it_has() {
        let mut nodes = Nodes::new(8);
        let room = Shares::nodes(8) as u32;
        let made: Vec<Ref> = (0..room).map(|level| nodes.make(level, Ref::FALSE, Ref::TRUE).unwrap()).collect();
        assert_eq!(nodes.make(room, Ref::FALSE, Ref::TRUE), Err(Trouble::Full(Part::Nodes)));
        for (level, &set) in made.iter().enumerate() {
            assert_eq!(nodes.make(level as u32, Ref::FALSE, Ref::TRUE), Ok(set));
        }
    }
}
