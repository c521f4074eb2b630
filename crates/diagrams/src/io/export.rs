//! Diagrams as plain lists of nodes, children first: the inverse of [`Manager::import`].

use crate::Bdd;
use crate::error::Error;
use crate::lease;
use crate::manager::{ImportEdge, ImportNode, Manager};
use tremula_table::{Bitmap, Lease, Ranks, Ref, Solo};

/// What [`Manager::export`] returns.
///
/// The lists are canonical: no node twice, `low` is never complemented and differs from `high`. Their memory stays on
/// lease from the manager's budget while this value lives.
#[derive(Debug)]
pub struct Export {
    /// All nodes below the functions, children before parents; edges refer to them by position plus one.
    pub nodes: Vec<ImportNode>,
    /// The functions, in the order given.
    pub roots: Vec<ImportEdge>,
    _lease: Lease,
}

/// Bytes held per node while listing: the list, the map from rank to number.
const BYTES_PER_NODE: usize = size_of::<ImportNode>() + size_of::<u32>();

impl Manager {
    /// List the nodes of `functions`, children first, shared ones once.
    ///
    /// When the budget has no room for the lists even without the operation cache, the error is [`Error::TableFull`];
    /// [`Manager::compact`] then often makes room.
    ///
    /// ```
    /// use tremula_diagrams::{Budget, Manager};
    /// let manager = Manager::new(&Budget::new(16 << 20))?;
    /// let f = manager.var(0)?.and(&manager.var(1)?)?;
    /// let export = manager.export(&[&f, &!&f])?;
    /// assert_eq!((export.nodes.len(), export.roots.len()), (2, 2));
    /// assert_eq!(manager.import(export.nodes, &export.roots)?, [f.clone(), !f]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn export(&self, functions: &[&Bdd]) -> Result<Export, Error> {
        if functions.iter().any(|f| !self.is(&f.manager)) {
            return Err(Error::DifferentManagers);
        }
        let core = &mut *self.core.borrow_mut();
        let roots: Vec<Ref> = functions.iter().map(|f| core.table.handles().get(f.slot)).collect();
        let (marks, count) = core.table.reachable_by(&roots, core.workers())?;
        let lease = lease::take(&mut core.table, count.saturating_mul(BYTES_PER_NODE))?;
        let ranks = Ranks::new(&marks);
        let (numbers, nodes) = (vec![UNLISTED; count + 1], Vec::with_capacity(count));
        let mut lister = Lister { table: &core.table, marks, ranks, numbers, nodes };
        lister.numbers[0] = 0;
        roots.iter().for_each(|&root| lister.list(root));
        let roots = roots.iter().map(|&root| lister.edge(root)).collect();
        Ok(Export { nodes: lister.nodes, roots, _lease: lease })
    }
}

/// Number of a node that is not in the list yet. Tables hold fewer nodes than this.
const UNLISTED: u32 = u32::MAX;

struct Lister<'a> {
    table: &'a Solo,
    marks: Bitmap,
    ranks: Ranks,
    /// By rank: the node's number in the list, from one; the terminal's is zero.
    numbers: Vec<u32>,
    nodes: Vec<ImportNode>,
}

impl Lister<'_> {
    fn rank(&self, f: Ref) -> usize {
        self.ranks.rank(&self.marks, f.index()) as usize
    }

    fn is_listed(&self, f: Ref) -> bool {
        self.numbers[self.rank(f)] != UNLISTED
    }

    fn edge(&self, f: Ref) -> ImportEdge {
        ImportEdge { node: self.numbers[self.rank(f)], complement: f.is_complement() }
    }

    /// List everything below `root`, depth first on an explicit stack, so that most children come shortly before.
    fn list(&mut self, root: Ref) {
        let mut path = vec![root];
        while let Some(&top) = path.last() {
            let node = self.table.node(top);
            let open = [node.high, node.low].into_iter().find(|&child| !self.is_listed(child));
            if self.is_listed(top) {
                path.pop();
            } else if let Some(child) = open {
                path.push(child);
            } else {
                self.nodes.push(ImportNode { level: node.level, low: self.edge(node.low), high: self.edge(node.high) });
                let rank = self.rank(top);
                self.numbers[rank] = self.nodes.len() as u32;
                path.pop();
            }
        }
    }
}
