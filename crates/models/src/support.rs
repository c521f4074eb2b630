//! Which variables a diagram uses.

use crate::system::{Edge, Node};

/// The marks for walks over diagrams that share nodes. Each walk has its own number, so that
/// nothing needs to be cleared in between.
pub(crate) struct Support {
    /// The last walk that came by each node.
    walk_of_node: Vec<u32>,
    walk: u32,
    pending: Vec<u32>,
    visited: u64,
}

impl Support {
    pub(crate) fn new() -> Self {
        Self { walk_of_node: Vec::new(), walk: 0, pending: Vec::new(), visited: 0 }
    }

    /// Nodes visited in all walks together.
    pub(crate) fn visited(&self) -> u64 {
        self.visited
    }

    /// Starts a walk over diagrams within `nodes`.
    fn begin(&mut self, nodes: usize) {
        self.walk_of_node.resize(self.walk_of_node.len().max(nodes), 0);
        self.walk = self.walk.checked_add(1).unwrap_or_else(|| {
            self.walk_of_node.fill(0);
            1
        });
        self.pending.clear();
    }

    /// Notes that the walk has to visit the node of `edge`, unless it did already.
    fn visit(&mut self, edge: Edge) {
        let Some(index) = edge.id().checked_sub(1) else { return };
        let last = &mut self.walk_of_node[index as usize];
        if *last != self.walk {
            *last = self.walk;
            self.visited += 1;
            self.pending.push(index);
        }
    }
}

/// Checks that the diagram at `root` uses only variables that `allowed` accepts; otherwise the
/// error is a variable that it does not. The nodes must satisfy S2 and the root S5.
pub(crate) fn check_support(
    support: &mut Support,
    nodes: &[Node],
    root: Edge,
    allowed: impl Fn(u32) -> bool,
) -> Result<(), u32> {
    support.begin(nodes.len());
    support.visit(root);
    while let Some(index) = support.pending.pop() {
        let node = nodes[index as usize];
        if !allowed(node.variable) {
            return Err(node.variable);
        }
        support.visit(node.low);
        support.visit(node.high);
    }
    Ok(())
}
