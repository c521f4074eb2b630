//! A transition system as list decision diagrams, and its invariants.

use thiserror::Error;

use super::shape::Shapes;

/// States have at most this many integers.
pub const MAX_INTEGERS: u32 = 1 << 18;

/// A node of a list decision diagram: the vectors that begin with its value, and all others of
/// its list.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct ListNode {
    /// The first element of some vectors. Means nothing in a copy node.
    pub value: u32,
    /// On a level of a relation that gives the new value of an integer: keep the old one.
    pub copy: bool,
    /// The rests of these vectors.
    pub down: u32,
    /// The node with the next larger value, or the empty set.
    pub right: u32,
}

/// A group of transitions that touch the same integers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListGroup {
    /// The integers the transitions depend on, ascending.
    pub reads: Vec<u32>,
    /// The integers they may change, ascending.
    pub writes: Vec<u32>,
    /// The transitions: see [`ListGroup::levels`]. One level more, the action label, may follow.
    pub relation: u32,
}

/// What a level of a relation is about.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// The value before.
    Read,
    /// The value after, or a copy node.
    Write,
}

impl ListGroup {
    /// How many levels the relation has: one for each integer that is read or written, two where
    /// it is both (first the value before, then the value after).
    #[must_use]
    pub fn levels(&self) -> usize {
        self.reads.len() + self.writes.len()
    }

    /// The levels of the relation.
    pub(super) fn roles(&self) -> Vec<Role> {
        let tagged = |list: &[u32], role| list.iter().map(|&integer| (integer, role)).collect::<Vec<_>>();
        let mut levels = tagged(&self.reads, Role::Read);
        levels.extend(tagged(&self.writes, Role::Write));
        // Stable: a read comes before the write of the same integer.
        levels.sort_by_key(|&(integer, _)| integer);
        levels.into_iter().map(|(_, role)| role).collect()
    }
}

/// A transition system whose sets and relations are list decision diagrams.
///
/// An id is [`LddSystem::EMPTY`], [`LddSystem::UNIT`], or that of a node: the first of `nodes` has
/// the id [`LddSystem::FIRST_NODE`]. Invariants:
///
/// - L1: there are between 1 and [`MAX_INTEGERS`] integers;
/// - L2: children of a node have smaller ids; `down` is not empty, `right` not the unit;
/// - L3: values ascend along `right`; a copy node comes first;
/// - L4: all vectors of a set are equally long: as long as a state in the initial and the
///   reachable set, as [`ListGroup::levels`] says, or longer by one, in a relation;
/// - L5: copy nodes are only on those levels of relations that give the new value of an integer;
/// - L6: read and write lists ascend and name existing integers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LddSystem {
    /// Integers of a state.
    pub integers: u32,
    /// The nodes of all sets and relations.
    pub nodes: Vec<ListNode>,
    /// The initial states.
    pub initial: u32,
    /// The transition relations.
    pub groups: Vec<ListGroup>,
    /// The reachable states, if the file has them.
    pub reachable: Option<u32>,
    /// Names of actions.
    pub action_labels: Vec<Vec<u8>>,
}

impl LddSystem {
    /// The empty set.
    pub const EMPTY: u32 = 0;
    /// The set of just the vector without elements.
    pub const UNIT: u32 = 1;
    /// The id of the first node.
    pub const FIRST_NODE: u32 = 2;

    /// The node behind an id; none for the two constants.
    #[must_use]
    pub fn node(&self, id: u32) -> Option<&ListNode> {
        self.nodes.get(id.checked_sub(Self::FIRST_NODE)? as usize)
    }

    /// Checks L1 to L6.
    ///
    /// # Errors
    ///
    /// Says which invariant is violated first, and where.
    pub fn check(&self) -> Result<(), ListError> {
        if !(1..=MAX_INTEGERS).contains(&self.integers) {
            return Err(ListError::Integers);
        }
        let mut shapes = Shapes::new(u64::MAX);
        for (node, id) in self.nodes.iter().zip(Self::FIRST_NODE..) {
            shapes.add(*node).map_err(|problem| ListError::Node { id, problem: problem.expected })?;
        }
        for (what, root) in [("initial set", Some(self.initial)), ("reachable set", self.reachable)] {
            let checked = root.map_or(Ok(()), |root| shapes.check_set(root, self.integers));
            checked.map_err(|problem| ListError::Root { what: what.into(), problem: problem.expected })?;
        }
        for (index, group) in self.groups.iter().enumerate() {
            self.check_group(index, group, &mut shapes)?;
        }
        Ok(())
    }

    fn check_group(&self, index: usize, group: &ListGroup, shapes: &mut Shapes) -> Result<(), ListError> {
        for list in [&group.reads, &group.writes] {
            let ascending = list.is_sorted_by(|a, b| a < b);
            if !ascending || list.last().is_some_and(|&last| last >= self.integers) {
                return Err(ListError::Projection { group: index });
            }
        }
        shapes.check_relation(group).map_err(|problem| {
            let what = format!("relation of group {index}");
            ListError::Root { what, problem: problem.expected }
        })
    }
}

/// A violated invariant of an [`LddSystem`].
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ListError {
    /// L1 is violated.
    #[error("the number of integers is out of range")]
    Integers,
    /// L2, L3 or L4 is violated.
    #[error("node {id} should be {problem}")]
    Node {
        /// The first such node.
        id: u32,
        /// What it is not.
        problem: String,
    },
    /// L4 or L5 is violated.
    #[error("the {what} should be {problem}")]
    Root {
        /// The diagram.
        what: String,
        /// What it is not.
        problem: String,
    },
    /// L6 is violated.
    #[error("a read or write list of group {group} does not ascend or names an unknown integer")]
    Projection {
        /// The index of the group.
        group: usize,
    },
}
