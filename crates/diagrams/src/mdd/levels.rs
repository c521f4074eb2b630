//! The nodes of one diagram, level by level.

use super::core::Core;
use crate::error::Error;
use std::ops::Range;
use tremula_table::{Bitmap, Branch, Forest, Lease, Ranks};

/// All nodes of a set that is neither empty nor the terminal. Each has a number; those of a level follow each other.
///
/// Every path has a node at every level, so children of a level's nodes are the nodes of the next one.
pub struct Levels<'a> {
    forest: &'a Forest,
    marks: Bitmap,
    ranks: Ranks,
    /// Nodes by number.
    nodes: Vec<u32>,
    /// Numbers of nodes by rank among the marks.
    numbers: Vec<u32>,
    /// Where each level begins, and where the last one ends.
    starts: Vec<usize>,
    _lease: Lease,
}

impl<'a> Levels<'a> {
    /// Find all nodes of the set `root`.
    pub fn new(core: &'a Core, root: u32) -> Result<Levels<'a>, Error> {
        let forest = &core.forest;
        let capacity = forest.counters().capacity as usize;
        let mut marks = Bitmap::reserve(capacity)?;
        marks.resize(capacity);
        let mut lease = forest.budget().take(Bitmap::bytes(capacity) * 3 / 2)?;
        let mut nodes = vec![root];
        marks.insert(root);
        let mut starts = vec![0, 1];
        for level in 1..core.frames.len() {
            for at in starts[level - 1]..starts[level] {
                let children = forest.branches(nodes[at]).map(|branch| branch.child);
                nodes.extend(children.filter(|&child| marks.insert(child)));
            }
            starts.push(nodes.len());
            lease.resize(Bitmap::bytes(capacity) * 3 / 2 + 2 * nodes.capacity() * size_of::<u32>())?;
        }
        let ranks = Ranks::new(&marks);
        let mut numbers = vec![0; nodes.len()];
        for (number, &node) in nodes.iter().enumerate() {
            numbers[ranks.rank(&marks, node) as usize] = number as u32;
        }
        Ok(Levels { forest, marks, ranks, nodes, numbers, starts, _lease: lease })
    }

    /// How many nodes there are.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// How many levels there are.
    pub fn level_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The numbers of a level's nodes.
    pub fn numbers_at(&self, level: usize) -> Range<usize> {
        self.starts[level]..self.starts[level + 1]
    }

    /// The branches of the node with this number.
    pub fn branches(&self, number: usize) -> impl DoubleEndedIterator<Item = Branch> + '_ {
        self.forest.branches(self.nodes[number])
    }

    /// The number of a node.
    #[inline]
    pub fn number(&self, node: u32) -> usize {
        self.numbers[self.ranks.rank(&self.marks, node) as usize] as usize
    }

    /// The numbers of all nodes, those of the last level first.
    pub fn upwards(&self) -> impl Iterator<Item = usize> {
        (0..self.nodes.len()).rev()
    }

    /// Has somebody asked to stop?
    pub fn look_up(&self) -> Result<(), Error> {
        if self.forest.attention().is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// Memory for `per_node` bytes for each node.
    pub fn lease(&self, per_node: usize) -> Result<Lease, Error> {
        Ok(self.forest.budget().take(self.node_count().saturating_mul(per_node))?)
    }
}
