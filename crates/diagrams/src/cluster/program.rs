//! What the program on rank 0 has: sets of states in the common table, and operations on them.

use super::rank::lock;
use super::{Blueprint, Import, Request, Work, count};
use crate::error::Error;
use crate::exec::{Call, Operation, Outcome};
use crate::manager::{ImportEdge, ImportNode};
use crate::ops::and::{and, or};
use crate::ops::image::{image, image_of_all, new_images};
use crate::task::Task;
use dashu_int::UBig;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender};
use tremula_table::{HandleSlots, Node, Ref};

/// A way to the first thread.
pub struct Desk {
    requests: Sender<Request>,
    outcomes: Receiver<Outcome>,
    nodes: Receiver<Vec<Node>>,
}

const ALIVE: &str = "the first thread lives as long as the program";

impl Desk {
    pub fn new(requests: Sender<Request>, outcomes: Receiver<Outcome>, nodes: Receiver<Vec<Node>>) -> Desk {
        Desk { requests, outcomes, nodes }
    }

    fn run(&self, work: Work, roots: Vec<Ref>) -> Outcome {
        self.requests.send(Request::Run { work, roots }).expect(ALIVE);
        self.outcomes.recv().expect(ALIVE)
    }

    /// The nodes of functions, wherever they are.
    pub fn fetch(&self, functions: Vec<Ref>) -> Vec<Node> {
        self.requests.send(Request::Fetch(functions)).expect(ALIVE);
        self.nodes.recv().expect(ALIVE)
    }
}

/// The program's side of a computation by several ranks.
///
/// After [`Error::TableFull`] the table counts as full for good; sets found before are still there, to be counted.
pub struct Program<'a> {
    desk: &'a Desk,
    import: &'a Mutex<Import>,
    blueprint: &'a Blueprint,
    handles: Rc<RefCell<HandleSlots>>,
    operations: Cell<u32>,
}

/// A set in the common table, protected from collection while the handle lives.
///
/// Two handles are equal exactly when their sets are.
pub struct Set {
    handles: Rc<RefCell<HandleSlots>>,
    slot: u32,
}

impl Set {
    fn target(&self) -> Ref {
        self.handles.borrow().get(self.slot)
    }
}

impl Clone for Set {
    fn clone(&self) -> Set {
        self.handles.borrow_mut().share(self.slot);
        Set { handles: Rc::clone(&self.handles), slot: self.slot }
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        self.handles.borrow_mut().close(self.slot);
    }
}

impl PartialEq for Set {
    fn eq(&self, other: &Set) -> bool {
        Rc::ptr_eq(&self.handles, &other.handles) && self.target() == other.target()
    }
}

impl<'a> Program<'a> {
    pub(super) fn new(desk: &'a Desk, import: &'a Mutex<Import>, blueprint: &'a Blueprint) -> Program<'a> {
        Program { desk, import, blueprint, handles: Rc::default(), operations: Cell::new(0) }
    }

    fn handle(&self, f: Ref) -> Set {
        let slot = self.handles.borrow_mut().open(f);
        Set { handles: Rc::clone(&self.handles), slot }
    }

    fn roots(&self) -> Vec<Ref> {
        self.handles.borrow().iter().filter(|f| !f.is_terminal()).collect()
    }

    fn solve<O: Operation>(&self, call: Call<O>) -> Result<Set, Error> {
        match call {
            Call::Done(f) => Ok(self.handle(f)),
            Call::Todo { operation, negate, .. } => {
                let f = self.run(operation.task())?;
                Ok(self.handle(f.negate_if(negate)))
            }
        }
    }

    fn run(&self, task: Task) -> Outcome {
        self.operations.set(self.operations.get() + 1);
        self.desk.run(Work::Task { task, operation: self.operations.get() }, self.roots())
    }

    /// The empty set.
    pub fn nothing(&self) -> Set {
        self.handle(Ref::FALSE)
    }

    /// Bring in a diagram, given by its nodes, children first.
    pub fn import(&self, nodes: Vec<ImportNode>, root: ImportEdge) -> Result<Set, Error> {
        check_nodes(&nodes, root)?;
        if let Some(node) = nodes.iter().find(|node| node.level >= self.blueprint.levels) {
            return Err(Error::LevelTooLarge { level: node.level });
        }
        *lock(self.import) = Import { nodes, root };
        Ok(self.handle(self.desk.run(Work::Import, self.roots())?))
    }

    /// How many relations there are.
    pub fn relations(&self) -> usize {
        self.blueprint.relations.len()
    }

    /// Successors under one of the relations.
    pub fn next(&self, set: &Set, relation: usize) -> Result<Set, Error> {
        self.solve(image::<true>(set.target(), self.blueprint.relations[relation]))
    }

    /// Successors under all relations, in one sweep.
    pub fn next_of_all(&self, set: &Set) -> Result<Set, Error> {
        self.solve(image_of_all(set.target(), self.blueprint.bundle))
    }

    /// Successors under all relations that are not `known`, each relation by itself.
    pub fn new_images(&self, set: &Set, known: &Set) -> Result<Set, Error> {
        self.solve(new_images::<false>(set.target(), known.target(), self.blueprint.tree))
    }

    /// Both sets together.
    pub fn union(&self, a: &Set, b: &Set) -> Result<Set, Error> {
        self.solve(or(a.target(), b.target()))
    }

    /// What is in `a` and not in `b`.
    pub fn minus(&self, a: &Set, b: &Set) -> Result<Set, Error> {
        self.solve(and(a.target(), !b.target()))
    }

    /// The number of assignments to `levels`, ascending, in a set, and the nodes of its diagram.
    ///
    /// Returns [`Error::NotCounted`] if the set depends on another level.
    pub fn count(&self, set: &Set, levels: &[u32]) -> Result<(UBig, usize), Error> {
        count::count(|functions| self.desk.fetch(functions), set.target(), levels)
    }
}

/// Do these nodes form an ordered diagram?
fn check_nodes(nodes: &[ImportNode], root: ImportEdge) -> Result<(), Error> {
    let level = |edge: ImportEdge, position: usize| match edge.node {
        0 => Ok(u32::MAX),
        node if (node as usize) <= position => Ok(nodes[node as usize - 1].level),
        _ => Err(Error::MalformedNode { position, problem: "it refers to a node that does not come before it" }),
    };
    for (position, node) in nodes.iter().enumerate() {
        if node.level >= level(node.low, position)?.min(level(node.high, position)?) {
            return Err(Error::MalformedNode { position, problem: "its variable does not come before its children's" });
        }
    }
    level(root, nodes.len()).map(drop)
}
