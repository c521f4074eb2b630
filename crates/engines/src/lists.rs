//! A model of list decision diagrams inside a manager, and its exploration.

use crate::reach::{Observer, Reached, Round, Stopped, explore};
use crate::space::Space;
use crate::strategy::{Order, Strategy};
use std::cell::OnceCell;
use tremula_diagrams::{Error, ImportList, Ldd, ListBundle, ListRelation, ListTree, Manager, Transitions};
use tremula_models::{LddSystem, ListNode};

/// A model of lists ready for exploration.
///
/// ```
/// use tremula_diagrams::{Budget, Manager};
/// use tremula_engines::{ListSystem, Strategy};
/// use tremula_models::{Limits, read_ldd_file};
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/sylvan/blocks.2.ldd");
/// let model = read_ldd_file(path.as_ref(), &Limits::default())?;
/// let manager = Manager::new(&Budget::new(64 << 20))?;
/// let system = ListSystem::build(&manager, &model)?;
/// let reached = system.reach(Strategy::AUTO, &mut ()).map_err(|stopped| stopped.error)?;
/// assert_eq!(reached.states.count()?.to_string(), "7057");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ListSystem {
    /// The manager everything lives in.
    pub manager: Manager,
    /// Integers of a state.
    pub integers: u32,
    /// The initial states.
    pub initial: Ldd,
    /// One relation per transition group, in the model's order.
    pub relations: Vec<ListRelation>,
    bundle: OnceCell<ListBundle>,
    tree: OnceCell<ListTree>,
}

impl ListSystem {
    /// Bring a model into `manager`. Nothing of `model` is needed afterwards.
    pub fn build(manager: &Manager, model: &LddSystem) -> Result<ListSystem, Error> {
        let nodes: Vec<ImportList> = model.nodes.iter().map(import).collect();
        let initial = manager.import_lists(&nodes, &[model.initial])?.remove(0);
        let relation = |group: &tremula_models::ListGroup| {
            manager.list_relation(Transitions {
                nodes: &nodes,
                root: group.relation,
                length: model.integers,
                reads: &group.reads,
                writes: &group.writes,
            })
        };
        let relations = model.groups.iter().map(relation).collect::<Result<_, _>>()?;
        let (bundle, tree) = (OnceCell::new(), OnceCell::new());
        Ok(ListSystem { manager: manager.clone(), integers: model.integers, initial, relations, bundle, tree })
    }

    /// The reachable set that the model file itself carries, for comparison.
    pub fn stored_reachable(&self, model: &LddSystem) -> Result<Option<Ldd>, Error> {
        let Some(root) = model.reachable else { return Ok(None) };
        let nodes: Vec<ImportList> = model.nodes.iter().map(import).collect();
        Ok(self.manager.import_lists(&nodes, &[root])?.pop())
    }

    /// All relations, for one sweep.
    fn bundle(&self) -> &ListBundle {
        self.bundle.get_or_init(|| self.manager.list_bundle(&self.relations).expect("relations of this manager"))
    }

    /// All relations, side by side.
    fn tree(&self) -> &ListTree {
        self.tree.get_or_init(|| self.manager.list_tree(&self.relations).expect("relations of this manager"))
    }

    /// Compute all reachable states with one strategy. There is no race: `auto` saturates.
    ///
    /// # Panics
    /// If the strategy is explicit.
    pub fn reach(
        &self,
        strategy: Strategy,
        observer: &mut dyn Observer<Ldd>,
    ) -> Result<Reached<Ldd>, Box<Stopped<Ldd>>> {
        match strategy.order {
            Order::Auto | Order::Saturation => self.saturate(observer),
            Order::Bfs | Order::Par | Order::Chaining | Order::Explicit => explore(self, strategy, observer),
        }
    }

    fn saturate(&self, observer: &mut dyn Observer<Ldd>) -> Result<Reached<Ldd>, Box<Stopped<Ldd>>> {
        let (mut states, mut rounds) = (self.initial.clone(), 0);
        for level in stages(&self.bundle().levels()) {
            states = match states.saturate(self.bundle(), level) {
                Ok(closed) => closed,
                Err(error) => {
                    return Err(Box::new(Stopped { error, states, levels: None, rounds, strategy: SATURATION }));
                }
            };
            rounds += 1;
            let (states, strategy) = (&states, SATURATION);
            observer.round(&Round { number: rounds, is_level: false, states, frontier: states, strategy });
        }
        Ok(Reached { states, levels: None, rounds, strategy: SATURATION })
    }
}

const SATURATION: Strategy = Strategy { order: Order::Saturation, frontier: true };

/// Calls at most: after each there is something to report, and each goes down from the root again.
const STAGES: usize = 16;

/// The levels from which on a set is closed in each stage: the deepest first, the first level last.
fn stages(levels: &[u32]) -> Vec<u32> {
    let every = levels.len().div_ceil(STAGES).max(1);
    levels.iter().copied().step_by(every).rev().collect()
}

fn import(node: &ListNode) -> ImportList {
    ImportList { value: node.value, copy: node.copy, down: node.down, right: node.right }
}

impl Space for ListSystem {
    type Set = Ldd;

    fn initial(&self) -> Ldd {
        self.initial.clone()
    }
    fn nothing(&self) -> Ldd {
        self.manager.no_vectors()
    }
    fn relations(&self) -> usize {
        self.relations.len()
    }
    fn next(&self, set: &Ldd, relation: usize) -> Result<Ldd, Error> {
        set.relnext(&self.relations[relation])
    }
    fn next_of_all(&self, set: &Ldd) -> Result<Ldd, Error> {
        set.relnext_all(self.bundle())
    }
    fn new_images(&self, set: &Ldd, known: &Ldd) -> Result<Ldd, Error> {
        set.relnext_new(self.tree(), known)
    }
    fn union(&self, a: &Ldd, b: &Ldd) -> Result<Ldd, Error> {
        a.union(b)
    }
    fn minus(&self, a: &Ldd, b: &Ldd) -> Result<Ldd, Error> {
        a.minus(b)
    }
}
