//! Work stealing between hosts: a gate on each, which carries tasks in and out.
//!
//! Ranks that cannot address each other's memory have a pool each. Its first worker, the gate, runs no tasks. To the workers of
//! its pool it is one of them: it steals their oldest tasks when another rank has asked for some, and they steal from it what
//! it was given by others. So within a host everything goes on as in a pool, and between hosts as between workers: a request
//! by compare-and-swap, an answer into the thief's memory, the result back into a slot of the victim, all by one-sided
//! operations ([`Far`]). A rank asks when one of its workers waits for a task: those that have tasks of its own, since it will
//! have to wait for these, and in turn the others, near ones first.
//!
//! Nobody is woken by what another host writes. So a gate looks at its words every now and then, often while it expects something.

use crate::far::{Far, MOST_TASKS, Request, SLOTS};
use crate::pool::{Panicked, Pool};
use crate::worker::Work;
use std::time::{Duration, Instant};
use tremula_fabric::{Fabric, FabricError};

/// How often a gate looks while it expects an answer or a result. (The system adds some 50 microseconds to each sleep.)
const SOON: Duration = Duration::from_micros(20);
/// The same while it expects nothing but requests.
const LATER: Duration = Duration::from_micros(200);
/// After a rank had nothing there is a pause, which gets longer with each round of such answers up to this.
const LONGEST_PAUSE: Duration = Duration::from_millis(2);
/// Tasks of other ranks that a pool has at a time.
const MOST_IMPORTS: u32 = 256;

/// A rank's gate to the pools of other ranks.
pub struct Gate<'f> {
    pub(crate) far: Far<'f>,
    /// Other ranks, near ones first.
    others: Vec<usize>,
    /// So many ranks take part, those with the lowest numbers.
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

    /// *Collective.* Sleep while others take part in a [`Pool::run_between`], or rank 0 does something [by itself](Gate::alone).
    pub fn stand_by(&mut self) {
        self.run += 1;
        while !self.far.is_over(self.run) {
            std::thread::sleep(LATER);
        }
        self.far.part();
    }

    /// *Collective.* Do something as rank 0, while all others stand by.
    pub fn alone<R>(&mut self, body: impl FnOnce() -> R) -> R {
        self.run += 1;
        let ends = Ends(&self.far, self.run);
        let result = body();
        drop(ends);
        self.far.part();
        result
    }

    /// The ranks to steal from, near ones first.
    fn victims(&self) -> impl Iterator<Item = usize> + '_ {
        self.others.iter().copied().filter(|&rank| rank < self.present)
    }
}

/// Ends a run, whatever happens: others would wait for ever.
struct Ends<'a, 'f>(&'a Far<'f>, u64);

impl Drop for Ends<'_, '_> {
    fn drop(&mut self) {
        self.0.end(self.1);
    }
}

impl Pool {
    /// *Collective.* Run `root`, which rank 0 gives, and everything it spawns to the end, on the pools of all ranks, and give
    /// the answer to rank 0. All ranks have the same work. If a task panics, all ranks get an error, and that of the rank
    /// where it did has its message.
    ///
    /// The thread that calls this is the gate: a pool with N workers runs tasks on N - 1 of them.
    ///
    /// # Panics
    /// If there is no other worker.
    pub fn run_between<W: Work>(
        &mut self,
        gate: &mut Gate<'_>,
        work: &W,
        root: Option<W::Task>,
    ) -> Result<Option<W::Answer>, Panicked> {
        assert!(self.options().workers > 1, "a gate runs no tasks");
        debug_assert_eq!(root.is_some(), gate.far.rank() == 0, "rank 0 gives the root");
        gate.run += 1;
        let answer = self.run_led(work, true, |leader| leader.keep_gate(gate, root));
        gate.far.part();
        answer
    }
}

/// Whose task it is that came in.
#[derive(Copy, Clone)]
pub(crate) enum Origin {
    /// The one that all others come from.
    Root,
    /// Another rank's, and its slot there.
    Rank(usize, u64),
}

/// A task that came in.
pub(crate) struct Import {
    pub(crate) origin: Origin,
    /// Which of the gate's result cells is for it.
    pub(crate) position: u32,
}

/// A task that went out: whose it is, and who has it.
#[derive(Copy, Clone)]
pub(crate) struct Export {
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

/// A request of another rank, for which workers of this one are asked in turn.
pub(crate) struct Errand {
    pub(crate) request: Request,
    /// Workers that were not asked yet.
    pub(crate) left: Vec<usize>,
    /// One was, and will answer.
    pub(crate) is_out: bool,
}

/// What passes a gate in a run.
pub(crate) struct Traffic {
    pub(crate) imports: Vec<Import>,
    /// Result cells of the gate that are for no task.
    free: Vec<u32>,
    pub(crate) exports: [Option<Export>; SLOTS],
    pub(crate) asked: Option<Asked>,
    pub(crate) errand: Option<Errand>,
    /// Others know that a task has panicked.
    pub(crate) is_poison_told: bool,
    /// Who has just had something.
    favourite: Option<usize>,
    /// Requests to others, and how many in a row brought nothing.
    turn: usize,
    refusals: u32,
    not_before: Instant,
}

impl Traffic {
    pub(crate) fn new() -> Traffic {
        Traffic {
            imports: Vec::new(),
            free: (0..MOST_IMPORTS).collect(),
            exports: [None; SLOTS],
            asked: None,
            errand: None,
            is_poison_told: false,
            favourite: None,
            turn: 0,
            refusals: 0,
            not_before: Instant::now(),
        }
    }

    /// A result cell for one more task that comes in.
    pub(crate) fn new_position(&mut self, origin: Origin) -> u32 {
        let position = self.free.pop().expect("nobody asks for more tasks than there is room for");
        self.imports.push(Import { origin, position });
        position
    }

    /// Is that the root, which came from nowhere?
    pub(crate) fn is_root(&self, position: u32) -> bool {
        self.imports.iter().any(|import| import.position == position && matches!(import.origin, Origin::Root))
    }

    /// The result of a task has been told.
    pub(crate) fn forget_import(&mut self, at: usize) {
        self.free.push(self.imports.swap_remove(at).position);
    }

    /// Where the result of one more task that goes out can arrive.
    pub(crate) fn free_slot(&self) -> Option<usize> {
        self.exports.iter().position(Option::is_none)
    }

    /// Whom to ask now, if anybody: the one that has just had something; else, every other time, one that has tasks of this rank.
    fn victim(&self, gate: &Gate<'_>) -> Option<usize> {
        if self.asked.is_some() || self.free.len() < MOST_TASKS || Instant::now() < self.not_before {
            return None;
        }
        let pick = |ranks: &[usize]| ranks.get(self.turn / 2 % ranks.len().max(1)).copied();
        let thieves = || self.exports.iter().flatten().map(|export| export.rank).collect::<Vec<_>>();
        let leap = if self.turn.is_multiple_of(2) { pick(&thieves()) } else { None };
        let in_turn = || gate.victims().nth(self.turn % gate.victims().count().max(1));
        self.favourite.or(leap).or_else(in_turn)
    }

    /// Ask somebody for tasks, if it is time to.
    pub(crate) fn ask(&mut self, gate: &mut Gate<'_>) -> bool {
        let Some(rank) = self.victim(gate) else { return false };
        gate.requests += 1;
        let (number, since) = (gate.requests, Instant::now());
        if gate.far.ask(rank, number) {
            self.asked = Some(Asked { number, rank, since });
        } else {
            self.note_refusal(gate);
        }
        true
    }

    /// Somebody had nothing.
    pub(crate) fn note_refusal(&mut self, gate: &Gate<'_>) {
        self.favourite = None;
        self.turn += 1;
        self.refusals += 1;
        let rounds = self.refusals / gate.victims().count().max(1) as u32;
        self.not_before = Instant::now() + SOON.saturating_mul(1 << rounds.min(8)).min(LONGEST_PAUSE);
    }

    /// Somebody had something.
    pub(crate) fn note_success(&mut self, rank: usize) {
        (self.favourite, self.refusals, self.not_before) = (Some(rank), 0, Instant::now());
    }

    /// How long the gate may sleep if nobody of its own pool wakes it.
    pub(crate) fn patience(&self) -> Duration {
        if self.asked.is_some() || self.exports.iter().any(Option::is_some) {
            return SOON;
        }
        let pause = self.not_before.saturating_duration_since(Instant::now());
        if pause.is_zero() { LATER } else { pause.clamp(SOON, LATER) }
    }
}
