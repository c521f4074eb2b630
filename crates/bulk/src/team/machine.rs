//! A team as a machine.

use super::desk::{Desk, Terms};
use super::export::Export;
use super::memory::{ASKED, BLOCKS_OUT, ELEMENTS_OUT, FULL, FULL_INDEX, FULL_NODES, KEPT, MADE, REQUESTS_OUT, STOPPED};
use super::plan::{MOST_ROOTS, Plan};
use super::rank::{Job, Rank};
use crate::diagram::Diagram;
use crate::layout::Ref;
use crate::machine::{Figures, Grown, Machine, Part, Root, Trouble, as_they_are};
use crate::shares::{INDEX_PER_REQUEST, Shares};
use crate::twin::GROWTH;
use std::sync::atomic::Ordering;
use tremula_diagrams::{Attention, Budget, Lease};

/// Places of the index that are used at first, on each rank.
const FIRST_INDEX: usize = 1 << 12;

/// A team, as one rank's program sees it.
pub struct Team<'t> {
    rank: &'t Rank<'t>,
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
    /// All places are empty but for the initial states.
    pub(super) fn new(rank: &'t Rank<'t>, initial: Ref, places: usize) -> Team<'t> {
        let bytes = rank.memory.plan.words * size_of::<u64>() * rank.memory.plan.ranks;
        Team {
            rank,
            desk: rank.desk(),
            table: 0,
            places,
            used: rank.setup.initial.nodes.len() as u64,
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
        let is_crowded = requests * INDEX_PER_REQUEST > self.index * plan.ranks;
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
        let most = (Shares::nodes(into.1) * plan.ranks) as u64;
        let terms = Terms {
            table: self.table,
            into,
            room: most.saturating_sub(used),
            index: self.index,
            visit: matches!(purpose, Purpose::Copy(_)),
            twice: purpose == Purpose::Grow,
        };
        let job = Job { terms, phase: self.sweeps << 1, forgets };
        self.sweeps = self.sweeps % (u32::MAX >> 2) + 1;
        self.reset(forgets);
        *self.rank.job.lock().expect("nobody panics with this lock") = Some(job);
        self.rank.meeting.meet(memory);
        let full = self.rank.perform(&job, roots, 0, &mut self.desk);
        let made = self.note(full, &terms);
        let sets = if full == 0 { self.results(roots) } else { Vec::new() };
        if !terms.visit {
            self.used += made;
        } else if full == 0 {
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
        Export::new(self.rank.memory, self.table).run(set, budget)
    }

    fn initial(&self) -> Ref {
        self.initial
    }

    fn figures(&self) -> Figures {
        Figures { nodes: self.used, capacity: (self.places * self.plan().ranks) as u64, ..self.figures }
    }
}
