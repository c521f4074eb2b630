//! Operations on a table that several ranks hold together, each a part of it.
//!
//! A node belongs to one rank, which its level or its hash names (`placement`). That rank alone stores it, finds it and
//! makes it. Ranks send each other letters (`letter`): by hash, for nodes, of which they keep copies; by level, for steps
//! of operations, which are done where their nodes are. Operations run in fibers (`exec`): one that waits for an answer
//! lets others go on, so that many requests travel together. Threads without work get tasks from others (`place`).
//! Collections are done by all ranks together (`safepoint`). Every rank has its own copy of the relations, and an
//! operation cache of its own.
//!
//! All ranks [`Member::join`]. On rank 0 a program runs, in a thread of its own, which holds [`Set`]s and asks for operations on
//! them; the other ranks return when it has ended.

mod count;
mod crew;
mod exec;
mod letter;
mod place;
mod placement;
mod program;
mod rank;
mod safepoint;

pub use program::{Program, Set};

use crate::env::Env;
use crate::error::Error;
use crate::manager::{ImportEdge, ImportNode, Manager, Relation};
use crate::task::Task;
use crew::Crew;
use placement::Placement;
use rank::Rank;
use std::io;
use tremula_fabric::mail::Post;
use tremula_table::{
    Attention, Budget, CopyStore, Counters, Division, Lease, Options, OverBudget, Ref, SetupError, Solo,
};
use tremula_tasks::Fibers;

/// Share of the budget that goes to copies of other ranks' nodes.
const COPY_SHARE: usize = 8;
/// Bytes of a copy: by reference and by content.
const COPY_BYTES: usize = 32;
/// Fibers for tasks of a class: with a single one, a task that was asked for could find it taken by the one that waits for it.
/// As those of threads, their stacks are not charged to the budget.
const LEAST_FIBERS: usize = 2;
/// The largest share of the budget that goes to stacks of more fibers.
const STACK_SHARE: usize = 8;
/// Bytes of a fiber's stack that are touched: two pages.
const STACK_BYTES: usize = 8 << 10;

/// What a rank needs to take part.
pub struct Setup<'a> {
    /// The way to other ranks.
    pub post: &'a dyn Post,
    /// Memory for this rank's part of the table, and its copies.
    pub budget: Budget,
    /// How the table behaves; `workers` are the threads of this rank.
    pub options: Options,
    /// Through this, other threads can stop the running operation, on rank 0.
    pub attention: Attention,
}

/// Relations as all ranks must have them, so that numbers mean the same everywhere.
pub struct Blueprint {
    env: Env,
    relations: Vec<u32>,
    bundle: u32,
    tree: u32,
    /// Stack that an operation may need.
    stack_bytes: usize,
    /// Levels of sets are below this.
    levels: u32,
    _lease: Lease,
}

impl Blueprint {
    /// Take the relations out of a manager, which has none afterwards. Managers that have done the same give the same. Sets
    /// may depend on levels below `levels`.
    pub fn take(manager: &Manager, relations: &[Relation], levels: u32) -> Result<Blueprint, Error> {
        let (bundle, tree) = (manager.bundle(relations)?.number, manager.tree(relations)?.number);
        let relations = relations.iter().map(|relation| relation.number).collect();
        let (env, stack_bytes, _lease) = manager.take_environment();
        Ok(Blueprint { env, relations, bundle, tree, stack_bytes, levels, _lease })
    }
}

/// What went on at one rank.
#[derive(Copy, Clone, Default, Debug)]
pub struct RankFigures {
    /// Counters of its part of the table.
    pub counters: Counters,
    /// Recursive steps that were not found in the cache.
    pub expansions: u64,
    /// Nodes of other ranks that were asked for.
    pub reads: u64,
    /// Nodes that other ranks were asked to find or make.
    pub makes: u64,
    /// Tasks that were taken from other threads.
    pub tasks_stolen: u64,
    /// Steps that other ranks were asked to do.
    pub calls: u64,
    /// Batches of letters that were sent.
    pub batches: u64,
}

/// Why a rank cannot take part.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The table could not be set up.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The nodes of so many ranks cannot be numbered.
    #[error("a table cannot have {0} parts")]
    TooManyRanks(usize),
    /// The stacks of fibers do not fit into the budget.
    #[error("the stacks of a rank do not fit: {0}")]
    Stacks(#[from] OverBudget),
    /// There are no more threads.
    #[error("a rank could not start: {0}")]
    System(#[from] io::Error),
}

/// A task of a fiber.
#[derive(Copy, Clone)]
enum Work {
    /// Part of the operation of that number.
    Task { task: Task, operation: u32 },
    /// Bring in the diagram that lies ready.
    Import,
}

/// What the program asks of the first thread.
enum Request {
    /// Run this, while these functions are protected.
    Run { work: Work, roots: Vec<Ref> },
    /// Get the nodes of these functions.
    Fetch(Vec<Ref>),
    /// There will be no more.
    End,
}

/// A diagram to be brought in.
#[derive(Default)]
struct Import {
    nodes: Vec<ImportNode>,
    root: ImportEdge,
}

/// A rank that has all it needs to take part.
pub struct Member<'a> {
    post: &'a dyn Post,
    blueprint: &'a Blueprint,
    division: Division,
    placement: Placement,
    store: CopyStore,
    table: Solo,
    /// For each thread.
    fibers: Vec<Fibers>,
    /// For the stacks of most.
    stacks: Lease,
}

impl<'a> Member<'a> {
    /// Get ready. Ranks should make sure that all of them are before they [`Member::join`].
    pub fn new(setup: Setup<'a>, blueprint: &'a Blueprint) -> Result<Member<'a>, JoinError> {
        let Setup { post, budget, mut options, attention } = setup;
        let ranks = post.ranks();
        let division = Division::new(post.rank(), ranks).ok_or(JoinError::TooManyRanks(ranks))?;
        options.division = division;
        let copies = (budget.available() / COPY_SHARE / COPY_BYTES).min(options.node_copies);
        let store = CopyStore::new(&budget, copies).map_err(SetupError::from)?;
        let placement = Placement::new(options.level_block, blueprint.levels, ranks);
        let classes = placement.classes(blueprint.levels);
        let threads = options.workers.clamp(1, u8::MAX.into());
        let bytes_each = threads * (classes + 1) * STACK_BYTES;
        let affordable = budget.available() / STACK_SHARE / bytes_each;
        let most_each = usize::from(u16::MAX) / (classes + 1);
        let each = options.fibers.min(affordable).clamp(LEAST_FIBERS, most_each);
        let stacks = budget.take((each - LEAST_FIBERS) * bytes_each)?;
        let table = Solo::new(&budget, options, attention)?;
        let fibers = (0..threads).map(|_| Fibers::new(each, classes, blueprint.stack_bytes)).collect();
        Ok(Member { post, blueprint, division, placement, store, table, fibers, stacks })
    }

    /// Take part in a computation with all ranks, which call this too. On rank 0 the result of `program` is returned.
    pub fn join<R>(self, program: impl FnOnce(&Program<'_>) -> R) -> Result<(Option<R>, RankFigures), JoinError> {
        let Member { post, blueprint, division, placement, mut store, mut table, fibers, stacks: _stacks } = self;
        let (result, mut figures) = {
            let shared = table.share(fibers.len());
            let rank = Rank::new(post, &blueprint.env, store.share(), division, placement, fibers.len());
            let crew = Crew::new(&rank, &shared);
            let result = if division.part() == 0 {
                Some(crew.lead(fibers, |desk| program(&Program::new(desk, &rank.import, blueprint)))?)
            } else {
                crew.serve(fibers)?;
                None
            };
            (result, rank.traffic.figures())
        };
        figures.counters = table.counters();
        Ok((result, figures))
    }
}
