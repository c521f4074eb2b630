//! What explores in bulk: the contract that the twin and the device keep.

use crate::diagram::Diagram;
use crate::graph::IDENTITY;
use crate::layout::{Element, Ref};
use tremula_diagrams::{Attention, Budget, Error, Lease};

/// One union to compute: the images of all elements, without what is in `minus`.
///
/// This is the only operation. The successors of a set are one element; a union is two elements under
/// [`IDENTITY`](crate::graph::IDENTITY), a difference is one of them and what to take away.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Root {
    /// Sets, each with the relation under which its image is wanted.
    pub elements: Vec<Element>,
    /// States that are not wanted.
    pub minus: Ref,
}

/// A union, answered twice.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Grown {
    /// The union without what is not wanted.
    pub new: Ref,
    /// The union together with it.
    pub all: Ref,
}

impl Grown {
    /// The answer to a question whose `union` is plain: it is empty, or nothing is to be taken away.
    #[must_use]
    pub fn plain(union: Ref, minus: Ref) -> Grown {
        Grown { new: union, all: if union == Ref::FALSE { minus } else { union } }
    }
}

/// What there was no room for.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// Nodes: a collection may help, and lets the table grow.
    Nodes,
    /// Requests of one sweep, or their elements: nothing helps but a smaller operation.
    Requests,
    /// Memory of the host, for what is brought back.
    Host,
}

/// Why a machine has no result. Sets that it has given before are still there.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Trouble {
    /// Its memory is full.
    #[error("no room for more {}", match .0 {
        Part::Nodes => "nodes",
        Part::Requests => "requests",
        Part::Host => "nodes outside of the device",
    })]
    Full(Part),
    /// Somebody asked it to stop.
    #[error("stopped before it was done")]
    Stopped,
    /// The device does not work as it should.
    #[error("{0}")]
    Device(String),
}

/// What a machine's trouble means to a strategy.
impl From<Trouble> for Error {
    fn from(trouble: Trouble) -> Error {
        match trouble {
            Trouble::Full(_) => Error::TableFull,
            Trouble::Stopped => Error::Cancelled,
            Trouble::Device(problem) => Error::Device { problem },
        }
    }
}

/// Take memory of the host from a budget.
pub fn take(budget: &Budget, bytes: usize) -> Result<Lease, Trouble> {
    budget.take(bytes).map_err(|_| Trouble::Full(Part::Host))
}

/// Requests for sets as they are.
#[must_use]
pub fn as_they_are(sets: &[Ref]) -> Vec<Root> {
    let root = |&set: &Ref| Root { elements: vec![Element::new(set, IDENTITY)], minus: Ref::FALSE };
    sets.iter().map(root).collect()
}

/// What went on in a machine.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct Figures {
    /// Nodes in the table.
    pub nodes: u64,
    /// Places of the table.
    pub capacity: u64,
    /// Sweeps so far, those of collections included.
    pub sweeps: u64,
    /// Requests of all sweeps: each is the creation of a node at most.
    pub requests: u64,
    /// Elements of these requests.
    pub elements: u64,
    /// Collections so far.
    pub collections: u64,
    /// Bytes that the machine has taken.
    pub bytes: u64,
}

/// What work costs a machine, in elements.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Costs {
    /// A request beside its elements.
    pub request: u64,
    /// A level of a sweep, however little it has to do.
    pub level: u64,
    /// So much of it in a round that another way to do it may be worth an attempt.
    pub much: u64,
}

impl Costs {
    /// Those of processors, estimated.
    pub const OF_PROCESSORS: Costs = Costs { request: 8, level: 64, much: 1 << 20 };
}

/// A place for sets of states, and the way to compute with them in bulk.
///
/// Invariants: references are canonical until the next collection, so that equal sets have equal references; after an
/// error all references are what they were.
pub trait Machine {
    /// From now on, end sweeps soon with [`Trouble::Stopped`] when somebody asks for it. Exports go on: what is known then
    /// is worth having.
    fn heed(&mut self, attention: &Attention);

    /// Compute all roots in one sweep over the levels.
    fn sweep(&mut self, roots: &[Root]) -> Result<Vec<Ref>, Trouble>;

    /// The union of a root, and that union together with what is not wanted in it, in one sweep.
    fn grow(&mut self, root: &Root) -> Result<Grown, Trouble>;

    /// Forget everything but these sets, which get new references, in the same order. The table grows if it may.
    fn collect(&mut self, keep: &[Ref]) -> Result<Vec<Ref>, Trouble>;

    /// The nodes of a set, in memory of this budget.
    fn export(&mut self, set: Ref, budget: &Budget) -> Result<(Diagram, Lease), Trouble>;

    /// The initial states of the system, as the machine was given them. Asked once, before anything else.
    fn initial(&self) -> Ref;

    /// What went on so far.
    fn figures(&self) -> Figures;

    /// What its work costs.
    fn costs(&self) -> Costs {
        Costs::OF_PROCESSORS
    }
}
