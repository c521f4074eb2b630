//! A transition system inside a manager: initial states and compiled relations.

use crate::images::Way;
use std::cell::OnceCell;
use tremula_diagrams::{Bdd, Error, ImportEdge, ImportNode, Manager, Relation, RelationBundle, RelationTree};
use tremula_models::{BddSystem, Edge};

/// A model ready for exploration.
pub struct SymbolicSystem {
    /// The manager everything lives in.
    pub manager: Manager,
    /// Levels of the current-state variables, ascending.
    pub state_levels: Vec<u32>,
    /// The initial states.
    pub initial: Bdd,
    /// One relation per transition group, in the model's order.
    pub relations: Vec<Relation>,
    bundle: OnceCell<RelationBundle>,
    tree: OnceCell<RelationTree>,
    /// How images are taken side by side.
    pub(crate) way: Way,
}

impl SymbolicSystem {
    /// Bring a model into `manager`. Nothing of `model` is needed afterwards.
    pub fn build(manager: &Manager, model: &BddSystem) -> Result<SymbolicSystem, Error> {
        let roots: Vec<ImportEdge> = std::iter::once(model.initial)
            .chain(model.groups.iter().map(|group| group.relation))
            .map(import_edge)
            .collect();
        let mut functions = manager.import(model.nodes.iter().map(import_node), &roots)?.into_iter();
        let initial = functions.next().expect("the first root is the initial set");
        let relations = functions
            .zip(model.bits_of_groups())
            .map(|(function, bits)| {
                let levels = |bit| (BddSystem::current_variable(bit), BddSystem::next_variable(bit));
                let pairs: Vec<(u32, u32)> = bits.into_iter().map(levels).collect();
                manager.relation(&function, &pairs)
            })
            .collect::<Result<_, _>>()?;
        let state_levels = (0..model.state_bits()).map(BddSystem::current_variable).collect();
        let (bundle, tree, way) = (OnceCell::new(), OnceCell::new(), Way::default());
        Ok(SymbolicSystem { manager: manager.clone(), state_levels, initial, relations, bundle, tree, way })
    }

    /// Let `par` take known states away within images, or from whole images, instead of finding out which is less work (for
    /// measurements).
    pub fn fix_images(&mut self, within: bool) {
        self.way = Way::fixed(within);
    }

    /// All relations, for one sweep.
    pub(crate) fn bundle(&self) -> &RelationBundle {
        self.bundle.get_or_init(|| self.manager.bundle(&self.relations).expect("relations of this manager"))
    }

    /// All relations, side by side.
    pub(crate) fn tree(&self) -> &RelationTree {
        self.tree.get_or_init(|| self.manager.tree(&self.relations).expect("relations of this manager"))
    }

    /// The reachable set that the model file itself carries, for comparison.
    pub fn stored_reachable(&self, model: &BddSystem) -> Result<Option<Bdd>, Error> {
        stored_reachable(&self.manager, model)
    }
}

/// The reachable set that a model file itself carries, brought into a manager.
pub fn stored_reachable(manager: &Manager, model: &BddSystem) -> Result<Option<Bdd>, Error> {
    let Some(root) = model.reachable else { return Ok(None) };
    let mut functions = manager.import(model.nodes.iter().map(import_node), &[import_edge(root)])?;
    Ok(functions.pop())
}

pub(crate) fn import_edge(edge: Edge) -> ImportEdge {
    ImportEdge { node: edge.id(), complement: edge.is_complement() }
}

pub(crate) fn import_node(node: &tremula_models::Node) -> ImportNode {
    ImportNode { level: node.variable, low: import_edge(node.low), high: import_edge(node.high) }
}
