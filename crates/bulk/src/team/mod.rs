//! A machine of many workers: threads of one process, or of several processes that can address each other's memory.
//!
//! All ranks run the same program at the same time, and each asks for the same sweeps in the same order ([`join`]). The workers
//! of all ranks do a sweep together, in memory to which every rank gives an equal part: a table of nodes, requests with their
//! index, lists of requests by level. Any worker reads and puts anything anywhere, so that nothing is sent, and no rank owns
//! more than its part of the nodes. Workers meet after each level, but for runs of narrow levels, which the first one does alone.
//!
//! Invariants: what decides how ranks go on (what there was no room for, totals, answers) is read between two meetings, in
//! which nobody changes it; so all ranks decide the same. Only the first rank's [`Attention`] counts, and ends sweeps on all.
//!
//! ```
//! use tremula_bulk::team::{Setup, join};
//! use tremula_bulk::{Bulk, Diagram, Graph};
//! use tremula_diagrams::{Attention, Budget, Manager};
//! use tremula_engines::{Order, Strategy, explore};
//! use tremula_fabric::threads;
//! use tremula_models::{Limits, read_file};
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/beem/phils.1.bdd");
//! let model = read_file(path.as_ref(), &Limits::default())?;
//! let graph = Graph::compile(&model)?;
//! let counts = threads::run(2, |fabric| {
//!     let setup = Setup {
//!         graph: &graph,
//!         initial: &Diagram::of_initial_states(&model),
//!         bytes: 16 << 20,
//!         workers: 2,
//!         attention: Attention::default(),
//!     };
//!     join(fabric, &setup, |team| {
//!         let space = Bulk::new(team, &graph, Attention::default());
//!         let strategy = Strategy { order: Order::Par, frontier: true };
//!         let reached = explore(&space, strategy, &mut ()).map_err(|stopped| stopped.error).unwrap();
//!         let manager = Manager::new(&Budget::new(64 << 20)).unwrap();
//!         let levels: Vec<u32> = (0..model.state_bits()).map(|bit| 2 * bit).collect();
//!         space.bring_back(&reached.states, &manager).unwrap().count(&levels).unwrap().to_string()
//!     })
//! })?;
//! assert!(counts.iter().all(|count| count.as_ref().unwrap() == "80"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod desk;
mod export;
mod machine;
mod meeting;
mod memory;
mod plan;
mod rank;
mod sweep;

pub use machine::Team;

use crate::diagram::Diagram;
use crate::graph::Graph;
use crate::layout::Ref;
use crate::twin::GROWTH;
use meeting::{Alarm, Meeting};
use memory::{INITIAL, Memory};
use plan::Plan;
use rank::Rank;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tremula_diagrams::Attention;
use tremula_fabric::{Fabric, FabricError, Reduction, Segment};

/// Places of the first table on each rank.
const FIRST_PLACES: usize = 1 << 12;
/// Looks at a word while waiting, where there is a processor for each worker.
const SPINS: u32 = 20_000;

/// What a rank brings along. All but the attention is the same on all ranks.
pub struct Setup<'a> {
    /// The relations.
    pub graph: &'a Graph,
    /// The initial states.
    pub initial: &'a Diagram,
    /// Memory that each rank gives.
    pub bytes: usize,
    /// Threads of each rank.
    pub workers: usize,
    /// Through this, others can end a sweep; on the first rank.
    pub attention: Attention,
}

/// Why ranks cannot be a team.
#[derive(Debug, thiserror::Error)]
pub enum NoTeam {
    /// The memory is not for so little.
    #[error("{0} bytes are too few to explore")]
    TooSmall(usize),
    /// The memory was not to be had.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// Some rank's memory is out of reach.
    #[error("the ranks cannot address each other's memory")]
    OutOfReach,
}

/// *Collective.* Be a team, and run a program on each rank with it.
pub fn join<F: Fabric, R>(fabric: &F, setup: &Setup<'_>, program: impl FnOnce(Team<'_>) -> R) -> Result<R, NoTeam> {
    let (rank, ranks, workers) = (fabric.rank(), fabric.ranks(), setup.workers.max(1));
    let plan = Plan::new(setup.bytes, ranks, setup.graph.bits() as usize).ok_or(NoTeam::TooSmall(setup.bytes))?;
    let segment = fabric.allocate(plan.words)?;
    let parts: Option<Vec<&[AtomicU64]>> = (0..ranks).map(|rank| segment.mapped(rank)).collect();
    let mut within_reach = [u64::from(parts.is_some())];
    fabric.all_reduce(Reduction::Min, &mut within_reach)?;
    let parts = parts.filter(|_| within_reach[0] == 1).ok_or(NoTeam::OutOfReach)?;
    let memory = Memory { parts, plan };
    let places = (FIRST_PLACES.max(GROWTH * setup.initial.nodes.len())).min(plan.tables[0].length);
    if rank == 0 {
        let initial = put_initial(&memory, setup.initial, places).ok_or(NoTeam::TooSmall(setup.bytes));
        // Relaxed: read after the barrier. One more than the set, so that zero tells that there was no room.
        memory.control(INITIAL).store(initial.map_or(0, |set| u64::from(set) + 1), Ordering::Relaxed);
    }
    fabric.barrier();
    let initial = memory.control(INITIAL).load(Ordering::Relaxed);
    if initial == 0 {
        return Err(NoTeam::TooSmall(setup.bytes));
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let spins = if workers * ranks <= processors { SPINS } else { 0 };
    let meeting = Meeting { workers: (workers * ranks) as u64, spins };
    let (job, is_over) = (Mutex::new(None), AtomicBool::new(false));
    let rank = Rank { memory: &memory, setup, rank, workers, meeting, job, is_over };
    let initial = Ref(initial as u32 - 1);
    Ok(std::thread::scope(|scope| {
        let rank = &rank;
        // Before any thread starts: if one cannot, those that have must not wait for it.
        let _alarm = Alarm(rank.memory);
        (1..workers).for_each(|worker| {
            scope.spawn(move || rank.serve(worker));
        });
        program(Team::new(rank, initial, places))
    }))
}

/// Nodes of the initial states in the first table, by one worker before all others begin.
fn put_initial(memory: &Memory<'_>, initial: &Diagram, places: usize) -> Option<u32> {
    let mut names: Vec<u32> = (0..Ref::TERMINALS).collect();
    for node in &initial.nodes {
        let halves = [node.low(), node.high()].map(|set| names[set.0 as usize]);
        let is_plain = halves[0] == halves[1];
        names.push(if is_plain { halves[0] } else { memory.make(0, places, node.level(), halves)?.0 });
    }
    Some(names[initial.root.0 as usize])
}
