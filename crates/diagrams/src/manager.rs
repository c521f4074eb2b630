//! Managers: one table, its relations and variable sets, and the handles into them.

use crate::bdd::Bdd;
use crate::env::{Env, Permutation, VarSet};
use crate::error::Error;
use crate::exec::{Call, Exec, Operation, Outcome};
use crate::joint::Lead;
use crate::lanes;
use crate::lease;
use crate::pace::{Pace, Way};
use crate::relation::Bundle;
use crate::task::Task;
use crate::threads;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Instant;
use tremula_table::layout::MAX_LEVELS;
use tremula_table::{Attention, Budget, Counters, Interrupt, Lease, OpTag, Options, Ref, SetupError, Solo};
use tremula_tasks::{Lanes, Pool, PoolOptions, Statistics};

/// Stack that one level of recursion may take, generously.
const FRAME_BYTES: usize = 1024;
/// Nested operations go down the levels this often at most: a closure has two steps for a level, and takes images that
/// unite.
const NESTING: usize = 4;
/// A worker that waits for a result runs other tasks meanwhile; its stack has room for so many.
pub(crate) const NESTED_TASKS: usize = 8;
/// Distinct levels in one manager: bounds the stack that a recursion can need.
const MAX_DISTINCT_LEVELS: usize = 1 << 18;

/// What all handles of a manager share.
pub(crate) struct Core {
    pub table: Solo,
    pub env: Env,
    levels: BTreeSet<u32>,
    /// The longest vectors.
    vector_length: usize,
    relations_lease: Lease,
    lane_count: usize,
    lane_threshold: u64,
    lanes_always: bool,
    pace: Pace,
    lanes: Option<Lanes>,
    /// Workers for large operations; none where these run in one thread.
    workers: Option<usize>,
    worker_threshold: u64,
    pool: Option<Pool>,
    /// Other processes that take part in large operations.
    lead: Option<Lead>,
}

impl Core {
    /// Run an operation, with enough stack for its recursion; the shadow stacks end as they were.
    ///
    /// Most operations are small and end in the plain execution. One that runs out of fuel there starts again, on all
    /// workers or in lanes if these pay; the cache already holds most of what the first attempt has found.
    pub fn run(&mut self, task: Task) -> Outcome {
        let depth = self.table.depth();
        self.table.set_fuel(self.first_fuel());
        self.table.defer_collections(self.workers.is_some());
        let mut result = self.run_plainly(|table, env| task.run(table, env));
        self.table.defer_collections(false);
        if result == Err(Interrupt::OutOfFuel) {
            self.table.unwind(depth);
            self.table.set_fuel(u64::MAX);
            result = match self.workers {
                Some(workers) => self.run_in_threads(task, workers),
                None => self.run_large(task),
            };
        }
        self.table.unwind(depth);
        result
    }

    /// Threads for work that needs no pool.
    pub fn workers(&self) -> usize {
        self.lead.as_ref().map_or(self.workers.unwrap_or(1), |lead| lead.workers)
    }

    /// Expansions that an operation gets in the plain execution.
    fn first_fuel(&self) -> u64 {
        if self.workers.is_some() {
            self.worker_threshold.max(1)
        } else if self.lane_count > 1 {
            self.lane_threshold.max(1)
        } else {
            u64::MAX
        }
    }

    fn stack_bytes(&self) -> usize {
        (self.levels.len().max(self.vector_length) + 64) * FRAME_BYTES * NESTING
    }

    fn run_plainly<T>(&mut self, work: impl FnOnce(&mut Solo, &Env) -> T) -> T {
        let (stack, table, env) = (self.stack_bytes(), &mut self.table, &self.env);
        stacker::maybe_grow(stack, stack + (64 << 10), || work(table, env))
    }

    fn run_large(&mut self, task: Task) -> Outcome {
        if task.walks_lists() && !self.lanes_always {
            return self.run_plainly(|table, env| task.run(table, env));
        }
        let way = if self.lanes_always { Way::Lanes } else { self.pace.choose(self.table.counters().bytes) };
        let (lookups, start) = (self.table.counters().lookups, Instant::now());
        let result = match way {
            Way::Plain => self.run_plainly(|table, env| task.run(table, env)),
            Way::Lanes => self.run_in_lanes(task),
        };
        self.pace.learn(way, self.table.counters().lookups - lookups, start.elapsed());
        result
    }

    fn run_in_threads(&mut self, task: Task, workers: usize) -> Outcome {
        let stack = self.stack_bytes();
        if let Some(lead) = &mut self.lead {
            if lead.publish(&self.env) {
                let (lead, table, env) = (&*lead, &mut self.table, &self.env);
                return stacker::maybe_grow(2 * stack, NESTED_TASKS * stack, || lead.run(table, env, task, stack));
            }
            return self.run_large(task);
        }
        let pool = match &mut self.pool {
            Some(pool) if pool.options().least_stack >= stack => pool,
            slot => match Pool::new(pool_options(workers, stack.next_power_of_two())) {
                Ok(pool) => slot.insert(pool),
                Err(_) => {
                    // The system has no threads left: they are for speed only.
                    self.workers = None;
                    return self.run_large(task);
                }
            },
        };
        let (table, env) = (&mut self.table, &self.env);
        // The calling thread takes tasks of others on top of its own, as all workers do.
        stacker::maybe_grow(2 * stack, NESTED_TASKS * stack, || threads::run(pool, table, env, task))
    }

    fn run_in_lanes(&mut self, task: Task) -> Outcome {
        let stack = self.stack_bytes();
        let mut lanes = match self.lanes.take() {
            Some(lanes) if lanes.stack_bytes() >= stack => lanes,
            _ => match Lanes::new(self.lane_count, stack.next_power_of_two()) {
                Ok(lanes) => lanes,
                Err(_) => {
                    // No address space for the lanes' stacks: they are for speed only.
                    self.lane_count = 1;
                    return self.run_plainly(|table, env| task.run(table, env));
                }
            },
        };
        let result = lanes::run(&mut lanes, &mut self.table, &self.env, task);
        // Put back here only: a panic leaves lanes that are of no use.
        self.lanes = Some(lanes);
        result
    }

    /// Note that a level is in use.
    pub fn use_level(&mut self, level: u32) -> Result<(), Error> {
        if level >= MAX_LEVELS {
            return Err(Error::LevelTooLarge { level });
        }
        if self.levels.insert(level) && self.levels.len() > MAX_DISTINCT_LEVELS {
            self.levels.remove(&level);
            return Err(Error::LevelTooLarge { level });
        }
        self.env.end_of_levels = self.env.end_of_levels.max(level + 1);
        Ok(())
    }

    /// Note that vectors of this length are in use.
    pub fn use_levels(&mut self, length: usize) -> Result<(), Error> {
        if length > self.vector_length {
            let level = u32::try_from(length - 1).unwrap_or(u32::MAX);
            if length > MAX_DISTINCT_LEVELS {
                return Err(Error::LevelTooLarge { level });
            }
            self.vector_length = length;
        }
        Ok(())
    }

    /// Account for the memory of compiled relations, and of their copies for other processes.
    pub fn lease_relations(&mut self) -> Result<(), Error> {
        let own = self.env.relations.bytes() + self.env.lists.bytes();
        let copies = self.lead.as_ref().map_or(0, |lead| lead.copies() * self.env.bytes_of_copy());
        Ok(self.relations_lease.resize(own + copies)?)
    }

    /// The number of a set of levels; those that no function depends on are left out.
    pub fn var_set(&mut self, levels: &[u32]) -> Result<u32, Error> {
        let used: VarSet = levels.iter().copied().filter(|level| self.levels.contains(level)).collect();
        parameter(self.env.sets.intern(used))
    }

    pub fn permutation(&mut self, permutation: Permutation) -> Result<u32, Error> {
        permutation.targets().try_for_each(|level| self.use_level(level))?;
        parameter(self.env.permutations.intern(permutation))
    }
}

/// A pool whose workers have stack for several tasks, each of which may need `stack` bytes.
fn pool_options(workers: usize, stack: usize) -> PoolOptions {
    PoolOptions { stack_bytes: NESTED_TASKS * stack, least_stack: stack, ..PoolOptions::on_this_machine(workers) }
}

pub(crate) fn parameter(number: u32) -> Result<u32, Error> {
    if number < OpTag::MAX_PARAMETER { Ok(number) } else { Err(Error::TooManyParameters) }
}

/// Owner of a table of diagrams. Clones are handles on the same manager; managers do not know each other.
///
/// Variables are identified by their level in the order, starting at zero, nearest to the root. A manager and its
/// handles stay in one thread; other threads can ask it to stop or report through its [`Attention`].
#[derive(Clone)]
pub struct Manager {
    pub(crate) core: Rc<RefCell<Core>>,
}

/// An edge of a diagram handed in by [`Manager::import`]: node 0 is the constant false, node `i` the `i`-th of the list.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct ImportEdge {
    /// The node.
    pub node: u32,
    /// Negate it.
    pub complement: bool,
}

/// A node of a diagram handed in by [`Manager::import`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct ImportNode {
    /// Level of its variable.
    pub level: u32,
    /// Child where the variable is false.
    pub low: ImportEdge,
    /// Child where the variable is true.
    pub high: ImportEdge,
}

impl Manager {
    /// A manager whose tables live in `budget`.
    pub fn new(budget: &Budget) -> Result<Manager, SetupError> {
        Manager::with_options(budget, Options::default(), Attention::default())
    }

    /// A manager with its own table options, watched through `attention`.
    pub fn with_options(budget: &Budget, options: Options, attention: Attention) -> Result<Manager, SetupError> {
        Ok(Manager::of(Solo::new(budget, options, attention)?, options, None))
    }

    /// A manager with a table in which workers of other processes take part.
    pub(crate) fn leading(table: Solo, options: Options, lead: Lead) -> Manager {
        Manager::of(table, options, Some(lead))
    }

    fn of(table: Solo, options: Options, lead: Option<Lead>) -> Manager {
        let relations_lease = table.budget().take(0).expect("nothing fits");
        let core = Core {
            table,
            env: Env::default(),
            levels: BTreeSet::new(),
            vector_length: 0,
            relations_lease,
            lane_count: options.lanes,
            lane_threshold: options.lane_threshold,
            lanes_always: options.lanes_always,
            pace: Pace::default(),
            lanes: None,
            workers: (options.workers > 1 || options.always_shared).then_some(options.workers.max(1)),
            worker_threshold: options.worker_threshold,
            pool: None,
            lead,
        };
        Manager { core: Rc::new(RefCell::new(core)) }
    }

    pub(crate) fn handle(&self, f: Ref) -> Bdd {
        let slot = self.core.borrow_mut().table.handles_mut().open(f);
        Bdd { manager: self.clone(), slot }
    }

    /// Take relations, variable sets and renamings out, with the stack that an operation may need, and the lease for
    /// their memory.
    pub(crate) fn take_environment(&self) -> (Env, usize, Lease) {
        let core = &mut *self.core.borrow_mut();
        let nothing = core.table.budget().take(0).expect("nothing fits");
        let lease = std::mem::replace(&mut core.relations_lease, nothing);
        (std::mem::take(&mut core.env), core.stack_bytes(), lease)
    }

    pub(crate) fn is(&self, other: &Manager) -> bool {
        Rc::ptr_eq(&self.core, &other.core)
    }

    /// Run an operation and protect its result.
    pub(crate) fn run(&self, task: Task) -> Result<Bdd, Error> {
        let result = self.core.borrow_mut().run(task)?;
        Ok(self.handle(result))
    }

    /// Run a sub-problem after its terminal tests.
    pub(crate) fn solve<O: Operation>(&self, call: Call<O>) -> Result<Bdd, Error> {
        match call {
            Call::Done(result) => Ok(self.handle(result)),
            Call::Todo { operation, negate, .. } => {
                let result = self.core.borrow_mut().run(operation.task())?;
                Ok(self.handle(result.negate_if(negate)))
            }
        }
    }

    /// A constant function.
    pub fn constant(&self, value: bool) -> Bdd {
        self.handle(Ref::FALSE.negate_if(value))
    }

    /// The function that is the variable at `level`.
    pub fn var(&self, level: u32) -> Result<Bdd, Error> {
        self.core.borrow_mut().use_level(level)?;
        let made = self.core.borrow_mut().table.make(level, Ref::FALSE, Ref::TRUE)?;
        Ok(self.handle(made))
    }

    /// The conjunction of literals: each level with the value it must have.
    ///
    /// A level given twice with different values makes the result false.
    pub fn cube(&self, literals: &[(u32, bool)]) -> Result<Bdd, Error> {
        let mut literals = literals.to_vec();
        literals.sort_unstable();
        literals.dedup();
        literals.iter().try_for_each(|&(level, _)| self.core.borrow_mut().use_level(level))?;
        if literals.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Ok(self.constant(false));
        }
        let table = &mut self.core.borrow_mut().table;
        let made = literals.iter().rev().try_fold(Ref::TRUE, |rest, &(level, value)| {
            let (low, high) = if value { (Ref::FALSE, rest) } else { (rest, Ref::FALSE) };
            table.make(level, low, high)
        })?;
        let slot = table.handles_mut().open(made);
        Ok(Bdd { manager: self.clone(), slot })
    }

    /// Build diagrams from a list of nodes, children first, and return the functions at `roots`.
    pub fn import(&self, nodes: impl IntoIterator<Item = ImportNode>, roots: &[ImportEdge]) -> Result<Vec<Bdd>, Error> {
        let core = &mut *self.core.borrow_mut();
        let depth = core.table.depth();
        let built = import(core, nodes, roots);
        core.table.unwind(depth);
        let slots: Vec<u32> = built?.into_iter().map(|f| core.table.handles_mut().open(f)).collect();
        Ok(slots.into_iter().map(|slot| Bdd { manager: self.clone(), slot }).collect())
    }

    /// Compile a transition relation for [`Bdd::relnext`].
    ///
    /// `pairs` are the (current, next) levels that the relation reads or writes, ascending; it may depend on them and on
    /// variables below all of them, which are quantified away. Variables outside the pairs keep their value.
    pub fn relation(&self, relation: &Bdd, pairs: &[(u32, u32)]) -> Result<Relation, Error> {
        if !self.is(&relation.manager) {
            return Err(Error::DifferentManagers);
        }
        let ordered = pairs.iter().all(|pair| pair.0 < pair.1) && pairs.windows(2).all(|two| two[0].1 < two[1].0);
        if !ordered {
            return Err(Error::UnorderedPairs);
        }
        let core = &mut *self.core.borrow_mut();
        pairs.iter().try_for_each(|&(current, next)| core.use_level(current).and(core.use_level(next)))?;
        let root = core.table.handles().get(relation.slot);
        let stack = (pairs.len() + 64) * FRAME_BYTES;
        let (table, relations) = (&core.table, &mut core.env.relations);
        let number = stacker::maybe_grow(stack, stack + (64 << 10), || relations.compile(table, root, pairs))
            .map_err(|outside| Error::OutsidePairs { level: outside.level })?;
        core.lease_relations()?;
        Ok(Relation { manager: self.clone(), number })
    }

    /// Numbers of relations that all belong to this manager.
    fn numbers(&self, relations: &[Relation]) -> Result<Vec<u32>, Error> {
        let number = |relation: &Relation| self.is(&relation.manager).then_some(relation.number);
        relations.iter().map(number).collect::<Option<_>>().ok_or(Error::DifferentManagers)
    }

    /// Put relations together for [`Bdd::relnext_all`] and [`Bdd::saturate`].
    pub fn bundle(&self, relations: &[Relation]) -> Result<RelationBundle, Error> {
        let numbers = self.numbers(relations)?;
        let number = self.core.borrow_mut().env.relations.bundle_up(&numbers);
        Ok(RelationBundle { manager: self.clone(), number })
    }

    /// Arrange relations for [`Bdd::relnext_new`].
    pub fn tree(&self, relations: &[Relation]) -> Result<RelationTree, Error> {
        let numbers = self.numbers(relations)?;
        let number = self.core.borrow_mut().env.relations.plant(&numbers);
        Ok(RelationTree { manager: self.clone(), number })
    }

    /// Counters of the tables.
    pub fn counters(&self) -> Counters {
        self.core.borrow().table.counters()
    }

    /// How many threads large operations run on.
    pub fn workers(&self) -> usize {
        self.core.borrow().workers()
    }

    /// What the workers have done for each other; none if no operation has needed several.
    pub fn stealing(&self) -> Option<Statistics> {
        let core = self.core.borrow();
        core.lead.as_ref().map(Lead::statistics).or_else(|| core.pool.as_ref().map(Pool::statistics))
    }

    /// The budget these tables live in.
    pub fn budget(&self) -> Budget {
        self.core.borrow().table.budget().clone()
    }

    /// Memory from that budget for work beside the tables. Where nothing else is left, the operation cache makes room, and
    /// the tables are compacted.
    pub fn lease(&self, bytes: usize) -> Result<Lease, Error> {
        let table = &mut self.core.borrow_mut().table;
        let lease = lease::take(table, bytes).or_else(|_| {
            table.compact();
            lease::take(table, bytes)
        });
        Ok(lease?)
    }

    /// Through this, other threads can stop the running operation or ask for a report.
    pub fn attention(&self) -> Attention {
        self.core.borrow().table.attention().clone()
    }

    /// Collect garbage now; returns the number of live nodes.
    pub fn collect(&self) -> usize {
        self.core.borrow_mut().table.collect()
    }

    /// Slide live nodes together and give memory back to the budget.
    pub fn compact(&self) {
        self.core.borrow_mut().table.compact();
    }

    /// Nodes of several functions together, shared ones counted once, without terminals.
    pub fn shared_node_count(&self, functions: &[&Bdd]) -> Result<usize, Error> {
        if functions.iter().any(|f| !self.is(&f.manager)) {
            return Err(Error::DifferentManagers);
        }
        let core = self.core.borrow();
        let roots: Vec<Ref> = functions.iter().map(|f| core.table.handles().get(f.slot)).collect();
        Ok(core.table.reachable_by(&roots, core.workers())?.1)
    }

    /// Check the invariants of everything that handles reach (for tests).
    pub fn check(&self) -> Result<(), String> {
        self.core.borrow().table.check()
    }
}

fn import(
    core: &mut Core,
    nodes: impl IntoIterator<Item = ImportNode>,
    roots: &[ImportEdge],
) -> Result<Vec<Ref>, Error> {
    let mut built = vec![Ref::FALSE];
    let find = |built: &[Ref], edge: ImportEdge, position| match built.get(edge.node as usize) {
        Some(f) => Ok(f.negate_if(edge.complement)),
        None => Err(Error::MalformedNode { position, problem: "it refers to a node that does not come before it" }),
    };
    for (position, node) in nodes.into_iter().enumerate() {
        core.use_level(node.level)?;
        let (low, high) = (find(&built, node.low, position)?, find(&built, node.high, position)?);
        if node.level >= Exec::level(&core.table, low).min(Exec::level(&core.table, high)) {
            return Err(Error::MalformedNode { position, problem: "its variable does not come before its children's" });
        }
        let f = core.table.make(node.level, low, high)?;
        core.table.keep(f);
        built.push(f);
    }
    roots.iter().map(|&root| find(&built, root, built.len())).collect()
}

/// A transition relation compiled by [`Manager::relation`].
#[derive(Clone)]
pub struct Relation {
    pub(crate) manager: Manager,
    pub(crate) number: u32,
}

impl Relation {
    /// Level of the topmost variable that the relation tests or changes; none if it never fires or changes nothing.
    pub fn level(&self) -> Option<u32> {
        self.manager.core.borrow().env.relations.level(self.number)
    }

    /// Level of the deepest variable that the relation tests or changes; none if it never fires or changes nothing.
    pub fn deepest_level(&self) -> Option<u32> {
        self.manager.core.borrow().env.relations.deepest_level(self.number)
    }

    /// Number of nodes in compiled form.
    pub fn size(&self) -> usize {
        self.manager.core.borrow().env.relations.size(self.number)
    }

    /// Is there no transition at all?
    pub fn is_empty(&self) -> bool {
        self.number == crate::relation::Quad::EMPTY
    }

    /// The union of two relations, unless it would take more than `limit` new nodes.
    pub fn union(&self, other: &Relation, limit: usize) -> Result<Option<Relation>, Error> {
        if !self.manager.is(&other.manager) {
            return Err(Error::DifferentManagers);
        }
        let core = &mut *self.manager.core.borrow_mut();
        let number = core.env.relations.union(self.number, other.number, limit);
        core.lease_relations()?;
        Ok(number.map(|number| Relation { manager: self.manager.clone(), number }))
    }
}

/// Several relations filed by their top level, whose images or closures are computed together.
#[derive(Clone)]
pub struct RelationBundle {
    pub(crate) manager: Manager,
    pub(crate) number: u32,
}

impl RelationBundle {
    /// The relations further down than the topmost of these; none if these are all on one level.
    pub fn below(&self) -> Option<RelationBundle> {
        let rest = match self.number {
            Bundle::END => Bundle::END,
            number => self.manager.core.borrow().env.relations.bundle(number).rest,
        };
        (rest != Bundle::END).then(|| RelationBundle { manager: self.manager.clone(), number: rest })
    }
}

/// Several relations whose images are computed side by side.
#[derive(Clone)]
pub struct RelationTree {
    pub(crate) manager: Manager,
    pub(crate) number: u32,
}
