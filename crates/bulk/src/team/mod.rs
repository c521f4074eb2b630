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
mod meeting;
mod memory;
mod plan;
mod sweep;

use crate::diagram::Diagram;
use crate::graph::Graph;
use crate::layout::{Node, Ref};
use crate::machine::{Figures, Grown, Machine, Part, Root, Trouble, as_they_are, take};
use crate::twin::GROWTH;
use desk::{Desk, Terms};
use meeting::Meeting;
use memory::{
    ASKED, BLOCKS_OUT, ELEMENTS_OUT, FULL, FULL_INDEX, FULL_NODES, INITIAL, KEPT, MADE, Memory, REQUESTS_OUT, STOPPED,
};
use plan::{MOST_ROOTS, NODE, Plan};
use rustc_hash::FxHashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use sweep::Sweep;
use tremula_diagrams::{Attention, Budget, Lease};
use tremula_fabric::{Fabric, FabricError, Segment};

/// Places of the first table on each rank.
const FIRST_PLACES: usize = 1 << 12;
/// Places of the index that are used at first, on each rank.
const FIRST_INDEX: usize = 1 << 12;
/// Part of a table that nodes may fill.
const LOAD: (usize, usize) = (3, 4);
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
    let memory = Memory { parts: parts.ok_or(NoTeam::OutOfReach)?, plan };
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
    let rank_of_team =
        RankOfTeam { memory: &memory, setup, rank, meeting, job: Mutex::new(None), is_over: AtomicBool::new(false) };
    let initial = Ref(initial as u32 - 1);
    Ok(std::thread::scope(|scope| {
        let rank_of_team = &rank_of_team;
        (1..workers).for_each(|worker| {
            scope.spawn(move || rank_of_team.serve(worker));
        });
        program(Team::new(rank_of_team, initial, places))
    }))
}

/// Nodes of the initial states in the first table, by one worker before all others begin.
fn put_initial(memory: &Memory<'_>, initial: &Diagram, places: usize) -> Option<u32> {
    let mut names: Vec<u32> = (0..Ref::TERMINALS).collect();
    for node in &initial.nodes {
        let halves = [node.low(), node.high()].map(|set| names[set.0 as usize]);
        names.push(memory.make(0, places, node.level(), halves)?.0);
    }
    Some(names[initial.root.0 as usize])
}

/// What the workers of one rank share.
struct RankOfTeam<'a> {
    memory: &'a Memory<'a>,
    setup: &'a Setup<'a>,
    rank: usize,
    meeting: Meeting,
    /// What to do after the next meeting; nothing if the team is over.
    job: Mutex<Option<Job>>,
    /// The program has ended, so that nobody will meet any more.
    is_over: AtomicBool,
}

/// A sweep, and what comes before it.
#[derive(Copy, Clone, Debug)]
struct Job {
    terms: Terms,
    phase: u32,
    /// Are requests of earlier sweeps forgotten?
    forgets: bool,
    /// Is the table emptied that nodes are put into?
    empties: bool,
}

impl RankOfTeam<'_> {
    /// Take part in sweeps until there are no more.
    fn serve(&self, worker: usize) {
        let mut desk = self.desk();
        while self.meeting.meet_unless(self.memory, &self.is_over).is_some() {
            let Some(job) = *self.job.lock().expect("nobody panics with this lock") else { return };
            self.perform(&job, &[], worker, &mut desk);
            self.meeting.meet(self.memory);
        }
    }

    fn desk(&self) -> Desk<'_> {
        Desk::new(self.memory, self.setup.graph.arrays()[0], self.rank)
    }

    /// A worker's part of a sweep, from the first meeting to the last but one: what there was no room for. The first worker
    /// of all asks for the roots.
    fn perform(&self, job: &Job, roots: &[Root], worker: usize, desk: &mut Desk<'_>) -> u64 {
        let Job { terms, phase, forgets, empties } = *job;
        let leads = self.rank == 0 && worker == 0;
        let sweep = Sweep {
            memory: self.memory,
            graph: self.setup.graph,
            meeting: self.meeting,
            terms,
            phase,
            attention: leads.then_some(&self.setup.attention),
        };
        desk.begin(forgets);
        if forgets {
            self.clear(self.memory.plan.index.start, terms.index, worker);
        }
        if empties {
            let (table, places) = terms.into;
            self.clear(self.memory.plan.tables[table].start, places * NODE, worker);
        }
        if forgets || empties {
            self.meeting.meet(self.memory);
        }
        if leads {
            self.ask_roots(roots, &terms, desk);
        }
        match self.meeting.meet(self.memory) {
            0 => sweep.run(desk),
            full => full,
        }
    }

    /// A worker's share of making words of this rank's part zero.
    fn clear(&self, start: usize, words: usize, worker: usize) {
        let workers = self.setup.workers.max(1);
        let share = words.div_ceil(workers);
        let own = (share * worker).min(words)..(share * (worker + 1)).min(words);
        // Relaxed: read after a meeting.
        let zero = |word: &AtomicU64| word.store(0, Ordering::Relaxed);
        self.memory.parts[self.rank][start..][own].iter().for_each(zero);
    }

    fn ask_roots(&self, roots: &[Root], terms: &Terms, desk: &mut Desk<'_>) {
        for (at, root) in roots.iter().enumerate() {
            let wanted = |element: &&crate::layout::Element| {
                element.set() != Ref::FALSE
                    && !(element.relation() == crate::graph::IDENTITY && element.set() == root.minus)
            };
            desk.candidates.clear();
            desk.candidates.extend(root.elements.iter().filter(wanted).map(|element| element.bits()));
            let answer = desk.ask(terms, root.minus.0);
            // Relaxed: read after a meeting.
            self.memory.control(self.memory.plan.roots + at).store(answer.into(), Ordering::Relaxed);
        }
    }
}

/// A team, as one rank's program sees it.
pub struct Team<'t> {
    rank: &'t RankOfTeam<'t>,
    desk: Desk<'t>,
    table: usize,
    /// Places in use on each rank, and nodes in all.
    places: usize,
    used: u64,
    /// Places of the index in use on each rank.
    index: usize,
    /// Requests and elements that are taken, of all ranks.
    past: (usize, usize),
    /// Nothing of the past can be used.
    is_stale: bool,
    /// One more than the sweeps so far: cursors of lists are zero before the first.
    sweeps: u32,
    initial: Ref,
    figures: Figures,
}

/// What a sweep is for.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Purpose {
    Compute,
    Grow,
    /// Sets into the other table, with so many places on each rank.
    Copy(usize),
}

impl<'t> Team<'t> {
    fn new(rank: &'t RankOfTeam<'t>, initial: Ref, places: usize) -> Team<'t> {
        let bytes = rank.memory.plan.words * size_of::<u64>() * rank.memory.plan.ranks;
        Team {
            rank,
            desk: rank.desk(),
            table: 0,
            places,
            used: 0,
            index: FIRST_INDEX.min(most_index(&rank.memory.plan)),
            past: (0, 0),
            is_stale: false,
            sweeps: 1,
            initial,
            figures: Figures { bytes: bytes as u64, ..Figures::default() },
        }
    }

    fn plan(&self) -> &'t Plan {
        &self.rank.memory.plan
    }

    /// Sweep. What there is no room for beside earlier sweeps is tried again without them, or with a larger part of the
    /// index.
    fn run(&mut self, roots: &[Root], purpose: Purpose) -> Result<Vec<[u32; 2]>, Trouble> {
        if roots.len() > MOST_ROOTS {
            return Err(Trouble::Full(Part::Requests));
        }
        loop {
            let forgets = self.makes_room(purpose);
            let was_alone = self.past.0 == 0 || forgets;
            let (full, answers) = self.sweep_once(roots, purpose, forgets);
            if full == 0 {
                return Ok(answers);
            }
            self.is_stale = true;
            if full & STOPPED != 0 {
                return Err(Trouble::Stopped);
            }
            if full & FULL_NODES != 0 {
                return Err(Trouble::Full(Part::Nodes));
            }
            if !(full == FULL_INDEX && self.enlarge_index()) && was_alone {
                return Err(Trouble::Full(Part::Requests));
            }
        }
    }

    /// Is what earlier sweeps asked in the way of this one, or of no use? Then it is forgotten.
    fn makes_room(&mut self, purpose: Purpose) -> bool {
        let (plan, (requests, elements)) = (self.plan(), self.past);
        let is_crowded = requests * 2 > self.index * plan.ranks;
        let is_much =
            requests > plan.requests.length * plan.ranks / 2 || elements > plan.elements.length * plan.ranks / 2;
        if is_crowded && !is_much {
            self.enlarge_index();
        }
        is_crowded || is_much || self.is_stale || matches!(purpose, Purpose::Copy(_))
    }

    fn enlarge_index(&mut self) -> bool {
        let before = self.index;
        self.index = (before * GROWTH).min(most_index(self.plan()));
        self.index > before
    }

    /// One sweep, by all workers together: what there was no room for, and the sets of the roots.
    fn sweep_once(&mut self, roots: &[Root], purpose: Purpose, forgets: bool) -> (u64, Vec<[u32; 2]>) {
        let (memory, plan) = (self.rank.memory, self.plan());
        let (into, used) = match purpose {
            Purpose::Copy(places) => ((1 - self.table, places), 0),
            Purpose::Compute | Purpose::Grow => ((self.table, self.places), self.used),
        };
        let most = ((into.1 - Ref::TERMINALS as usize) / LOAD.1 * LOAD.0 * plan.ranks) as u64;
        let terms = Terms {
            table: self.table,
            into,
            room: most.saturating_sub(used),
            index: self.index,
            visit: matches!(purpose, Purpose::Copy(_)),
            twice: purpose == Purpose::Grow,
        };
        let empties = terms.visit;
        let job = Job { terms, phase: self.sweeps << 1, forgets, empties };
        self.sweeps = self.sweeps.wrapping_add(1) & (u32::MAX >> 2);
        self.reset(forgets);
        *self.rank.job.lock().expect("nobody panics with this lock") = Some(job);
        self.rank.meeting.meet(memory);
        let full = self.rank.perform(&job, roots, 0, &mut self.desk);
        let made = self.note(full, &terms);
        let sets = if full == 0 { self.results(roots) } else { Vec::new() };
        self.used = if terms.visit { self.used } else { self.used + made };
        if full == 0 && terms.visit {
            (self.table, self.places, self.used) = (into.0, into.1, made);
        }
        // Nobody goes on before all have read.
        self.rank.meeting.meet(memory);
        (full, sets)
    }

    /// Counters and lists as they are before a sweep: each rank has its own, and the first one those of all.
    fn reset(&self, forgets: bool) {
        let (memory, plan) = (self.rank.memory, self.plan());
        // Relaxed, all of these: read after a meeting.
        let zero = |rank: usize, word: usize| memory.parts[rank][word].store(0, Ordering::Relaxed);
        let own = self.rank.rank;
        zero(own, BLOCKS_OUT);
        if forgets {
            zero(own, REQUESTS_OUT);
            zero(own, ELEMENTS_OUT);
        }
        if own == 0 {
            [FULL, MADE, ASKED, KEPT].into_iter().for_each(|word| zero(0, word));
            (plan.heads..plan.heads + plan.levels).for_each(|word| zero(0, word));
        }
    }

    /// Take note of what a sweep has done; the nodes that it made.
    fn note(&mut self, full: u64, terms: &Terms) -> u64 {
        let memory = self.rank.memory;
        // Relaxed, all of these: written before the last meeting.
        let total = |word: usize| memory.control(word).load(Ordering::Relaxed);
        let taken = |word: usize| -> u64 { memory.parts.iter().map(|part| part[word].load(Ordering::Relaxed)).sum() };
        self.past = (taken(REQUESTS_OUT) as usize, taken(ELEMENTS_OUT) as usize);
        self.is_stale = full != 0 || terms.visit;
        self.figures.sweeps += 1;
        self.figures.requests += total(ASKED);
        self.figures.elements += total(KEPT);
        total(MADE)
    }

    /// The sets of the roots, when a sweep is over.
    fn results(&self, roots: &[Root]) -> Vec<[u32; 2]> {
        let memory = self.rank.memory;
        let answer = |(at, root): (usize, &Root)| {
            // Relaxed: written before the last meeting.
            let answer = memory.control(memory.plan.roots + at).load(Ordering::Relaxed) as u32;
            memory.sets(answer, root.minus.0)
        };
        roots.iter().enumerate().map(answer).collect()
    }
}

/// Places of the index on each rank, a power of two.
fn most_index(plan: &Plan) -> usize {
    1 << plan.index.length.ilog2()
}

impl Drop for Team<'_> {
    /// The threads of this rank go home. Release: after everything that the program did.
    fn drop(&mut self) {
        self.rank.is_over.store(true, Ordering::Release);
    }
}

impl Machine for Team<'_> {
    /// It heeds the attention of its setup, on the first rank.
    fn heed(&mut self, _: &Attention) {}

    fn sweep(&mut self, roots: &[Root]) -> Result<Vec<Ref>, Trouble> {
        Ok(self.run(roots, Purpose::Compute)?.into_iter().map(|[set, _]| Ref(set)).collect())
    }

    fn grow(&mut self, root: &Root) -> Result<Grown, Trouble> {
        let [new, all] = self.run(std::slice::from_ref(root), Purpose::Grow)?[0].map(Ref);
        Ok(Grown { new, all })
    }

    fn collect(&mut self, keep: &[Ref]) -> Result<Vec<Ref>, Trouble> {
        let places = (self.places * GROWTH).min(self.plan().tables[0].length);
        let sets = self.run(&as_they_are(keep), Purpose::Copy(places))?;
        self.figures.collections += 1;
        Ok(sets.into_iter().map(|[set, _]| Ref(set)).collect())
    }

    /// Not collective: any rank may.
    fn export(&mut self, set: Ref, budget: &Budget) -> Result<(Diagram, Lease), Trouble> {
        Export { memory: self.rank.memory, table: self.table, names: FxHashMap::default(), nodes: Vec::new() }
            .run(set, budget)
    }

    fn initial(&self) -> Ref {
        self.initial
    }

    fn figures(&self) -> Figures {
        Figures { nodes: self.used, capacity: (self.places * self.plan().ranks) as u64, ..self.figures }
    }
}

/// Nodes of a set on their way out, children first.
struct Export<'a> {
    memory: &'a Memory<'a>,
    table: usize,
    names: FxHashMap<u32, Ref>,
    nodes: Vec<Node>,
}

impl Export<'_> {
    /// Bytes for a node on its way: in the list and in the map, which may be half empty and about to grow.
    const BYTES_PER_NODE: usize = Diagram::BYTES_PER_NODE + 4 * size_of::<(u32, Ref)>();
    /// Nodes whose memory is taken at once.
    const STEP: usize = 1 << 16;

    fn run(mut self, root: Ref, budget: &Budget) -> Result<(Diagram, Lease), Trouble> {
        let mut leases = Vec::new();
        let mut open = vec![root.0];
        while let Some(&set) = open.last() {
            let Some([low, high]) = self.unnamed(set) else {
                open.pop();
                continue;
            };
            let missing = [low, high].into_iter().filter(|&half| self.unnamed(half).is_some());
            let before = open.len();
            open.extend(missing);
            if open.len() > before {
                continue;
            }
            if self.nodes.len() % Self::STEP == 0 {
                leases.push(take(budget, Self::STEP * Self::BYTES_PER_NODE)?);
            }
            let (level, [low, high]) = (self.memory.level(self.table, set), [low, high].map(|half| self.name(half)));
            self.nodes.push(Node::new(level, low, high));
            self.names.insert(set, Diagram::reference(self.nodes.len() - 1));
            open.pop();
        }
        let root = self.name(root.0);
        drop(leases);
        let lease = take(budget, self.nodes.len() * Diagram::BYTES_PER_NODE)?;
        Ok((Diagram { nodes: self.nodes, root }, lease))
    }

    /// The halves of a set that has no name yet.
    fn unnamed(&self, set: u32) -> Option<[u32; 2]> {
        let is_named = set < Ref::TERMINALS || self.names.contains_key(&set);
        (!is_named).then(|| self.memory.halves(self.table, set, self.memory.level(self.table, set)))
    }

    fn name(&self, set: u32) -> Ref {
        if set < Ref::TERMINALS { Ref(set) } else { self.names[&set] }
    }
}
