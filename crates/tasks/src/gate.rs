//! Work stealing between hosts: a gate on each, which carries tasks in and out.
//!
//! Ranks that cannot address each other's memory have a pool each. Its first worker, the gate, runs no tasks. To the workers of
//! its pool it is one of them: it steals their oldest tasks when another rank has asked for some, and they steal from it what
//! it was given by others. So within a host everything goes on as in a pool, and between hosts as between workers: a request
//! by compare-and-swap, an answer into the thief's memory, the result back into a slot of the victim, all by one-sided
//! operations ([`Far`]). A rank asks when one of its workers waits for a task: first those that have tasks of its own, since
//! it will have to wait for these, then the others, near ones first.
//!
//! Nobody is woken by what another host writes. So a gate looks at its words every now and then, often while it expects something.

use crate::far::{Far, MOST_TASKS, SLOTS};
use crate::pool::{Panicked, Pool};
use crate::tactics::Tactics;
use crate::worker::Work;
use std::time::{Duration, Instant};
use tremula_fabric::{Fabric, FabricError};

/// How often a gate looks while it expects an answer or a result.
const SOON: Duration = Duration::from_micros(20);
/// The same while it expects nothing but requests.
const LATER: Duration = Duration::from_micros(200);
/// After so many ranks in a row had nothing, the next one is asked after a pause, which gets longer up to this.
const LONGEST_PAUSE: Duration = Duration::from_millis(2);

/// A rank's gate to the pools of other ranks.
pub struct Gate<'f> {
    pub(crate) far: Far<'f>,
    /// Other ranks, near ones first.
    others: Vec<usize>,
    /// So many of them, and this one, take part, those with the lowest numbers.
    present: usize,
    pub(crate) run: u64,
    /// Requests so far.
    requests: u64,
}

impl<'f> Gate<'f> {
    /// *Collective.* A gate for each rank.
    pub fn new<F: Fabric>(fabric: &'f F) -> Result<Gate<'f>, FabricError> {
        let own = fabric.rank();
        let mut others: Vec<usize> = (0..fabric.ranks()).filter(|&rank| rank != own).collect();
        // Of those that are equally far, the next one by number: not all turn to the same one.
        others.sort_by_key(|&rank| (fabric.distance(rank).ok(), (rank + fabric.ranks() - own) % fabric.ranks()));
        Ok(Gate { far: Far::new(fabric)?, others, present: fabric.ranks(), run: 0, requests: 0 })
    }

    /// Only the first so many ranks take part from now on; the others [stand by](Gate::stand_by). All say the same.
    pub fn admit(&mut self, ranks: usize) {
        self.present = ranks;
    }

    /// *Collective.* What a rank that takes no part does while others call [`Pool::run_between`].
    pub fn stand_by(&mut self) {
        self.run += 1;
        self.far.meet();
        self.far.meet();
    }

    /// The ranks to steal from, near ones first.
    fn victims(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        self.others.iter().copied().filter(|&rank| rank < self.present)
    }
}

impl Pool {
    /// *Collective.* Run `root`, which rank 0 gives, and everything it spawns to the end, on the pools of all ranks, and give
    /// the answer to rank 0. All ranks have the same work.
    ///
    /// The thread that calls this is the gate: a pool with N workers runs tasks on N - 1 of them.
    pub fn run_between<W: Work>(
        &mut self,
        gate: &mut Gate<'_>,
        work: &W,
        root: Option<W::Task>,
    ) -> Result<Option<W::Answer>, Panicked> {
        debug_assert_eq!(root.is_some(), gate.far.rank() == 0, "rank 0 gives the root");
        gate.run += 1;
        gate.far.meet();
        let answer = self.run_led(work, |leader| leader.keep_gate(gate, root));
        gate.far.meet();
        answer
    }
}

/// Whose task it is that the gate has in its deque.
#[derive(Copy, Clone)]
pub(crate) enum Origin {
    /// The one that all others come from.
    Root,
    /// Another rank's, and its slot there.
    Rank(usize, u64),
}

/// A task that came in.
pub(crate) struct Incoming {
    pub(crate) origin: Origin,
    /// The result is on its way.
    pub(crate) is_told: bool,
}

/// A task that went out: whose it is, and who has it.
#[derive(Copy, Clone)]
pub(crate) struct Outgoing {
    pub(crate) worker: u32,
    pub(crate) position: u32,
    pub(crate) rank: usize,
}

/// A request of this rank.
#[derive(Copy, Clone)]
pub(crate) struct Asked {
    pub(crate) number: u64,
    pub(crate) rank: usize,
    pub(crate) since: Instant,
}

/// What passes a gate in a run.
pub(crate) struct Traffic {
    /// By position in the gate's deque.
    pub(crate) incoming: Vec<Incoming>,
    pub(crate) outgoing: [Option<Outgoing>; SLOTS],
    pub(crate) asked: Option<Asked>,
    /// Whom to turn to next, and how many had nothing in a row.
    next: usize,
    refusals: u32,
    not_before: Instant,
}

impl Traffic {
    pub(crate) fn new() -> Traffic {
        let not_before = Instant::now();
        Traffic { incoming: Vec::new(), outgoing: [None; SLOTS], asked: None, next: 0, refusals: 0, not_before }
    }

    /// A slot that is free.
    pub(crate) fn free_slot(&self) -> Option<usize> {
        self.outgoing.iter().position(Option::is_none)
    }

    /// How many tasks may go out at once.
    pub(crate) fn wanted(tactics: &Tactics, spare: usize) -> usize {
        tactics.wanted(spare).clamp(1, MOST_TASKS)
    }

    /// Whom to ask now, if anybody.
    fn victim(&self, gate: &Gate<'_>) -> Option<usize> {
        if self.asked.is_some() || Instant::now() < self.not_before {
            return None;
        }
        // Every other time one who has a task of ours.
        let mut thieves = self.outgoing.iter().flatten().map(|outgoing| outgoing.rank);
        let leap = if self.next.is_multiple_of(2) { thieves.next() } else { None };
        leap.or_else(|| gate.victims().cycle().nth(self.next / 2 % gate.victims().count().max(1)))
    }

    /// Ask somebody for tasks, if it is time to.
    pub(crate) fn ask(&mut self, gate: &mut Gate<'_>) -> bool {
        let Some(rank) = self.victim(gate) else { return false };
        gate.requests += 1;
        let (number, since) = (gate.requests, Instant::now());
        self.next += 1;
        if gate.far.ask(rank, number) {
            self.asked = Some(Asked { number, rank, since });
        } else {
            self.note_refusal(gate);
        }
        true
    }

    /// Somebody had nothing.
    pub(crate) fn note_refusal(&mut self, gate: &Gate<'_>) {
        self.refusals += 1;
        let rounds = self.refusals / gate.victims().count() as u32;
        let pause = SOON.saturating_mul(1 << rounds.min(8)).min(LONGEST_PAUSE);
        self.not_before = Instant::now() + pause;
    }

    /// Somebody had something, and is the first to be asked again.
    pub(crate) fn note_success(&mut self) {
        (self.refusals, self.not_before) = (0, Instant::now());
        self.next = self.next.saturating_sub(1);
    }

    /// How long the gate may sleep if nobody of its own pool wakes it.
    pub(crate) fn patience(&self) -> Duration {
        if self.asked.is_some() || self.outgoing.iter().any(Option::is_some) { SOON } else { LATER }
    }
}
