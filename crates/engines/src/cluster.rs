//! Exploration by several ranks together.
//!
//! Every rank builds the model by itself and takes a [`Plan`] from it; then all are a
//! [`Member`](tremula_diagrams::cluster::Member) with the plan's blueprint, and the program on rank 0 explores a [`Distributed`] system.

use crate::space::Space;
use crate::system::{SymbolicSystem, import_edge, import_node};
use tremula_diagrams::cluster::{Blueprint, Program, Set};
use tremula_diagrams::{Error, ImportEdge, ImportNode};
use tremula_models::BddSystem;

/// What a rank keeps of a model.
pub struct Plan {
    /// The relations.
    pub blueprint: Blueprint,
    /// Levels of the current-state variables, ascending.
    pub state_levels: Vec<u32>,
    /// The diagram of the initial states, children first.
    nodes: Vec<ImportNode>,
    initial: ImportEdge,
}

impl Plan {
    /// Take a system apart.
    pub fn new(model: &BddSystem, system: SymbolicSystem) -> Result<Plan, Error> {
        let (nodes, initial) = initial_states(model);
        let levels = system.state_levels.last().map_or(0, |last| last + 1);
        let blueprint = Blueprint::take(&system.manager, &system.relations, levels)?;
        Ok(Plan { blueprint, state_levels: system.state_levels, nodes, initial })
    }
}

/// The nodes below the initial states alone, numbered anew.
fn initial_states(model: &BddSystem) -> (Vec<ImportNode>, ImportEdge) {
    let root = import_edge(model.initial);
    let mut needed = vec![false; model.nodes.len() + 1];
    needed[root.node as usize] = true;
    let nodes: Vec<ImportNode> = model.nodes.iter().map(import_node).collect();
    // Children come first, so parents are met first from behind.
    for (position, node) in nodes.iter().enumerate().rev() {
        if needed[position + 1] {
            needed[node.low.node as usize] = true;
            needed[node.high.node as usize] = true;
        }
    }
    let mut numbers = vec![0u32; needed.len()];
    let mut kept = Vec::new();
    for (position, node) in nodes.into_iter().enumerate() {
        if needed[position + 1] {
            let renumbered = |edge: ImportEdge| ImportEdge { node: numbers[edge.node as usize], ..edge };
            kept.push(ImportNode { low: renumbered(node.low), high: renumbered(node.high), ..node });
            numbers[position + 1] = kept.len() as u32;
        }
    }
    (kept, ImportEdge { node: numbers[root.node as usize], ..root })
}

/// A system whose sets live in the memory of all ranks.
pub struct Distributed<'a> {
    program: &'a Program<'a>,
    initial: Set,
}

impl<'a> Distributed<'a> {
    /// Bring the initial states in.
    pub fn new(program: &'a Program<'a>, plan: &Plan) -> Result<Distributed<'a>, Error> {
        let initial = program.import(plan.nodes.clone(), plan.initial)?;
        Ok(Distributed { program, initial })
    }
}

impl Space for Distributed<'_> {
    type Set = Set;

    fn initial(&self) -> Set {
        self.initial.clone()
    }
    fn nothing(&self) -> Set {
        self.program.nothing()
    }
    fn relations(&self) -> usize {
        self.program.relations()
    }
    fn next(&self, set: &Set, relation: usize) -> Result<Set, Error> {
        self.program.next(set, relation)
    }
    fn next_of_all(&self, set: &Set) -> Result<Set, Error> {
        self.program.next_of_all(set)
    }
    fn new_images(&self, set: &Set, known: &Set) -> Result<Set, Error> {
        self.program.new_images(set, known)
    }
    fn union(&self, a: &Set, b: &Set) -> Result<Set, Error> {
        self.program.union(a, b)
    }
    fn minus(&self, a: &Set, b: &Set) -> Result<Set, Error> {
        self.program.minus(a, b)
    }
}
