//! Whether nodes form list decision diagrams: each node is checked against those before it, so
//! nothing recurs, however long a list or a vector is.

use std::fmt::Display;

use super::system::{LddSystem, ListGroup, ListNode, Role};

/// What a node or diagram should have been, and what it is.
pub(super) struct Mismatch {
    pub(super) expected: String,
    pub(super) found: String,
}

impl Mismatch {
    fn new(expected: impl Display, found: impl Display) -> Self {
        Self { expected: expected.to_string(), found: found.to_string() }
    }
}

/// The nodes so far, and what is known about each.
pub(super) struct Shapes {
    nodes: Vec<ListNode>,
    /// How long the vectors of a node are, and whether there is a copy node at or below it.
    facts: Vec<Fact>,
    /// The relation in whose check a node was last met.
    met: Vec<u32>,
    relations: u32,
    visited: u64,
    most_visited: u64,
}

#[derive(Copy, Clone)]
struct Fact {
    length: u32,
    has_copy: bool,
}

impl Shapes {
    /// No nodes. Checks of relations may look at `most_visited` nodes in all.
    pub(super) fn new(most_visited: u64) -> Self {
        let (nodes, facts, met) = (Vec::new(), Vec::new(), Vec::new());
        Self { nodes, facts, met, relations: 0, visited: 0, most_visited }
    }

    pub(super) fn into_nodes(self) -> Vec<ListNode> {
        self.nodes
    }

    /// Ids below this exist.
    fn next_id(&self) -> u32 {
        LddSystem::FIRST_NODE + self.nodes.len() as u32
    }

    /// What is known about an id; nothing for the empty set, whose vectors have any length.
    fn fact(&self, id: u32) -> Option<Fact> {
        match id {
            LddSystem::EMPTY => None,
            LddSystem::UNIT => Some(Fact { length: 0, has_copy: false }),
            node => Some(self.facts[(node - LddSystem::FIRST_NODE) as usize]),
        }
    }

    /// Adds a node if L2, L3 and L4 hold for it.
    pub(super) fn add(&mut self, node: ListNode) -> Result<(), Mismatch> {
        let last = self.next_id() - 1;
        for child in [node.down, node.right] {
            if child > last {
                return Err(Mismatch::new(
                    format_args!("a node whose children come before it (at most {last})"),
                    child,
                ));
            }
        }
        let Some(below) = self.fact(node.down) else {
            return Err(Mismatch::new("a node with vectors below it", "one with the empty set"));
        };
        let mut fact = Fact { length: below.length + 1, has_copy: below.has_copy || node.copy };
        if node.right == LddSystem::UNIT {
            return Err(Mismatch::new("a node whose list ends with the empty set", "one that ends with the unit"));
        }
        if let Some(beside) = self.fact(node.right) {
            self.check_beside(node, fact, beside)?;
            fact.has_copy |= beside.has_copy;
        }
        self.nodes.push(node);
        self.facts.push(fact);
        self.met.push(0);
        Ok(())
    }

    fn check_beside(&self, node: ListNode, fact: Fact, beside: Fact) -> Result<(), Mismatch> {
        let next = self.nodes[(node.right - LddSystem::FIRST_NODE) as usize];
        if next.copy {
            return Err(Mismatch::new("a node with a value right of it", "a copy node"));
        }
        if !node.copy && next.value <= node.value {
            let expected = format!("a node with a value below that to its right ({})", next.value);
            return Err(Mismatch::new(expected, node.value));
        }
        if beside.length != fact.length {
            let expected = format!("a node with vectors as long as to its right ({})", beside.length);
            return Err(Mismatch::new(expected, fact.length));
        }
        Ok(())
    }

    fn known_root(&self, root: u32) -> Result<(), Mismatch> {
        let last = self.next_id() - 1;
        if root <= last {
            Ok(())
        } else {
            Err(Mismatch::new(format_args!("a node read before (at most {last})"), root))
        }
    }

    /// Checks that `root` is a set of vectors of this length.
    pub(super) fn check_set(&self, root: u32, length: u32) -> Result<(), Mismatch> {
        self.known_root(root)?;
        match self.fact(root) {
            Some(fact) if fact.length != length => {
                Err(Mismatch::new(format_args!("a set of vectors of length {length}"), fact.length))
            }
            Some(Fact { has_copy: true, .. }) => Err(Mismatch::new("a set without copy nodes", "a copy node")),
            _ => Ok(()),
        }
    }

    /// Checks L4 and L5 for the relation of a group.
    pub(super) fn check_relation(&mut self, group: &ListGroup) -> Result<(), Mismatch> {
        self.known_root(group.relation)?;
        let Some(fact) = self.fact(group.relation) else { return Ok(()) };
        let levels = group.levels();
        if ![levels, levels + 1].contains(&(fact.length as usize)) {
            let expected = format!("a relation of {levels} levels, or one more");
            return Err(Mismatch::new(expected, fact.length));
        }
        if fact.has_copy { self.check_copies(group, fact.length) } else { Ok(()) }
    }

    /// L5 for all nodes of a relation of so many levels.
    fn check_copies(&mut self, group: &ListGroup, length: u32) -> Result<(), Mismatch> {
        self.relations += 1;
        let roles = group.roles();
        let mut pending = vec![group.relation];
        while let Some(id) = pending.pop() {
            let Some(at) = id.checked_sub(LddSystem::FIRST_NODE) else { continue };
            let at = at as usize;
            if std::mem::replace(&mut self.met[at], self.relations) == self.relations {
                continue;
            }
            self.visited += 1;
            if self.visited > self.most_visited {
                let limit = self.most_visited;
                let expected = format!("relations of at most {limit} nodes together (a limit of the reader)");
                return Err(Mismatch::new(expected, "more"));
            }
            let level = (length - self.facts[at].length) as usize;
            if self.nodes[at].copy && roles.get(level) != Some(&Role::Write) {
                let expected = "a relation with copy nodes only where an integer is written";
                return Err(Mismatch::new(expected, format_args!("one on level {level}")));
            }
            pending.extend([self.nodes[at].down, self.nodes[at].right]);
        }
        Ok(())
    }
}
