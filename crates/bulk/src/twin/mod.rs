//! The bulk algorithm in plain Rust, by one thread: what the kernels are compared with.
//!
//! Requests and nodes belong to owners by their hashes, and are asked for in batches, level by level (`batch`): with ranks as owners
//! these are the messages.

mod batch;
pub mod nodes;
mod requests;
mod sweep;

use crate::diagram::Diagram;
use crate::graph::Graph;
use crate::layout::{Node, Ref};
use crate::machine::{Figures, Grown, Machine, Part, Root, Trouble, as_they_are, take};
use crate::shares::Shares;
use nodes::Nodes;
use requests::{Answer, Requests};
use sweep::{Purpose, Sweep};
use tremula_diagrams::{Attention, Budget, Lease};

/// Places of the first table, unless memory is for fewer.
pub(crate) const FIRST_PLACES: usize = 1 << 12;
/// How a table grows at a collection, while it may.
pub const GROWTH: usize = 4;

/// A machine of one thread.
pub struct Twin {
    graph: Graph,
    nodes: Nodes,
    shares: Shares,
    owners: usize,
    initial: Ref,
    attention: Attention,
    /// Requests that were answered since the last collection, once and twice.
    answered: [Option<Requests>; 2],
    figures: Figures,
}

impl Twin {
    /// A machine for a system, within so many bytes.
    pub fn new(graph: Graph, initial: &Diagram, bytes: usize) -> Result<Twin, Trouble> {
        let machine = Twin::with_shares(graph, initial, Shares::of(bytes))?;
        Ok(Twin { figures: Figures { bytes: bytes as u64, ..machine.figures }, ..machine })
    }

    /// The same, with so much of everything.
    pub fn with_shares(graph: Graph, initial: &Diagram, shares: Shares) -> Result<Twin, Trouble> {
        let (nodes, initial) = first_table(initial, FIRST_PLACES, shares.places)?;
        let (attention, figures) = (Attention::default(), Figures::default());
        Ok(Twin { graph, nodes, shares, owners: 1, initial, attention, answered: [None, None], figures })
    }

    /// The same machine, whose requests and nodes belong to so many owners.
    #[must_use]
    pub fn with_owners(self, owners: usize) -> Twin {
        Twin { owners, ..self }
    }

    fn requests(&self) -> Requests {
        Requests::new(self.graph.bits(), self.owners, self.shares)
    }

    /// Sweep. What there is no room for beside the requests of earlier sweeps is tried again without them.
    fn run(&mut self, roots: &[Root], purpose: Purpose) -> Result<Vec<Grown>, Trouble> {
        let earlier = self.answered[usize::from(purpose == Purpose::Grow)].take();
        let requests = earlier.filter(|requests| !requests.is_crowded()).unwrap_or_else(|| self.requests());
        let has_past = requests.has_past();
        match self.sweep_with(requests, roots, purpose) {
            Err(Trouble::Full(Part::Requests)) if has_past => self.sweep_with(self.requests(), roots, purpose),
            outcome => outcome,
        }
    }

    fn sweep_with(&mut self, requests: Requests, roots: &[Root], purpose: Purpose) -> Result<Vec<Grown>, Trouble> {
        let mut sweep = Sweep::new(&self.graph, purpose, requests, &self.attention);
        let answers = sweep.expand(&self.nodes, roots)?;
        sweep.reduce(&mut self.nodes)?;
        let mut requests = sweep.requests;
        let results = answers.into_iter().map(|answer| requests.resolve(answer)).collect();
        self.note(requests.size());
        requests.begin();
        self.answered[usize::from(purpose == Purpose::Grow)] = Some(requests);
        Ok(results)
    }

    fn note(&mut self, (requests, elements): (usize, usize)) {
        self.figures.sweeps += 1;
        self.figures.requests += requests as u64;
        self.figures.elements += elements as u64;
    }
}

/// A table with the initial states: as small as may be, but with room to work in.
pub fn first_table(initial: &Diagram, first: usize, most: usize) -> Result<(Nodes, Ref), Trouble> {
    let wanted = first.max(GROWTH * initial.nodes.len()).min(most);
    let mut nodes = Nodes::new(wanted);
    let mut names: Vec<Ref> = (0..Ref::TERMINALS).map(Ref).collect();
    for node in &initial.nodes {
        let child = |set: Ref| names[set.0 as usize];
        names.push(nodes.make(node.level(), child(node.low()), child(node.high()))?);
    }
    Ok((nodes, names[initial.root.0 as usize]))
}

impl Machine for Twin {
    fn heed(&mut self, attention: &Attention) {
        self.attention = attention.clone();
    }

    fn sweep(&mut self, roots: &[Root]) -> Result<Vec<Ref>, Trouble> {
        Ok(self.run(roots, Purpose::Compute)?.into_iter().map(|sets| sets.new).collect())
    }

    fn grow(&mut self, root: &Root) -> Result<Grown, Trouble> {
        Ok(self.run(std::slice::from_ref(root), Purpose::Grow)?[0])
    }

    fn collect(&mut self, keep: &[Ref]) -> Result<Vec<Ref>, Trouble> {
        let mut sweep = Sweep::new(&self.graph, Purpose::Visit, self.requests(), &self.attention);
        let answers = sweep.expand(&self.nodes, &as_they_are(keep))?;
        let capacity = (self.nodes.capacity() * GROWTH).min(self.shares.places).max(self.nodes.capacity());
        let mut nodes = Nodes::new(capacity);
        sweep.reduce(&mut nodes)?;
        let (results, size) =
            (answers.into_iter().map(|answer| sweep.requests.resolve(answer).new).collect(), sweep.requests.size());
        self.nodes = nodes;
        self.answered = [None, None];
        self.note(size);
        self.figures.collections += 1;
        Ok(results)
    }

    fn export(&mut self, set: Ref, budget: &Budget) -> Result<(Diagram, Lease), Trouble> {
        let undisturbed = Attention::default();
        let mut sweep = Sweep::new(&self.graph, Purpose::Visit, self.requests(), &undisturbed);
        let root = sweep.expand(&self.nodes, &as_they_are(&[set]))?[0];
        let (count, _) = sweep.requests.size();
        let lease = take(budget, count * Diagram::BYTES_PER_NODE)?;
        let mut names = vec![Ref::FALSE; count];
        let mut nodes = Vec::with_capacity(count);
        let name = |names: &[Ref], answer| match answer {
            Answer::Known(sets) => sets.new,
            Answer::Asked(number) => names[number],
        };
        for level in (0..self.graph.bits()).rev() {
            for &number in sweep.requests.at(level) {
                let [low, high] = sweep.requests.request(number).children.map(|child| name(&names, child));
                nodes.push(Node::new(level, low, high));
                names[number] = Diagram::reference(nodes.len() - 1);
            }
        }
        Ok((Diagram { nodes, root: name(&names, root) }, lease))
    }

    fn initial(&self) -> Ref {
        self.initial
    }

    fn figures(&self) -> Figures {
        Figures { nodes: self.nodes.used() as u64, capacity: self.nodes.capacity() as u64, ..self.figures }
    }
}
