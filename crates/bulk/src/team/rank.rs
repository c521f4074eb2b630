//! What the workers of one rank do together with those of all others.

use super::Setup;
use super::desk::{Desk, Terms};
use super::meeting::{Alarm, Meeting};
use super::memory::Memory;
use super::plan::NODE;
use super::sweep::Sweep;
use crate::machine::Root;
use crate::question::{Simplified, simplify};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What the workers of one rank share.
pub struct Rank<'a> {
    /// The memory of the team.
    pub memory: &'a Memory<'a>,
    /// What the rank has brought along.
    pub setup: &'a Setup<'a>,
    /// Its number.
    pub rank: usize,
    /// Its threads.
    pub workers: usize,
    /// Where all workers meet.
    pub meeting: Meeting,
    /// What to do after the next meeting; nothing before the first sweep.
    pub job: Mutex<Option<Job>>,
    /// The program has ended, so that nobody will meet any more.
    pub is_over: AtomicBool,
}

/// A sweep, and what comes before it.
#[derive(Copy, Clone, Debug)]
pub struct Job {
    /// How it uses the memory.
    pub terms: Terms,
    /// Tells it from others.
    pub phase: u32,
    /// Are requests of earlier sweeps forgotten?
    pub forgets: bool,
}

impl Rank<'_> {
    /// Take part in sweeps until there are no more.
    pub fn serve(&self, worker: usize) {
        let _alarm = Alarm(self.memory);
        let mut desk = self.desk();
        while self.meeting.meet_unless(self.memory, &self.is_over).is_some() {
            let job = self.job.lock().expect("nobody panics with this lock").expect("a sweep begins");
            self.perform(&job, &[], worker, &mut desk);
            self.meeting.meet(self.memory);
        }
    }

    /// A worker's desk.
    pub fn desk(&self) -> Desk<'_> {
        Desk::new(self.memory, self.setup.graph.arrays()[0], self.rank)
    }

    /// A worker's part of a sweep, from the first meeting to the last but one: what there was no room for. The first worker
    /// of all asks for the roots.
    pub fn perform(&self, job: &Job, roots: &[Root], worker: usize, desk: &mut Desk<'_>) -> u64 {
        let Job { terms, phase, forgets } = *job;
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
        if terms.visit {
            // Sets are copied, into an empty table.
            let (table, places) = terms.into;
            self.clear(self.memory.plan.tables[table].start, places * NODE, worker);
        }
        if forgets || terms.visit {
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
        let share = words.div_ceil(self.workers);
        let own = (share * worker).min(words)..(share * (worker + 1)).min(words);
        // Relaxed: read after a meeting.
        let zero = |word: &AtomicU64| word.store(0, Ordering::Relaxed);
        self.memory.parts[self.rank][start..][own].iter().for_each(zero);
    }

    fn ask_roots(&self, roots: &[Root], terms: &Terms, desk: &mut Desk<'_>) {
        for (at, root) in roots.iter().enumerate() {
            let answer = match simplify(root.elements.clone(), root.minus, terms.visit) {
                Simplified::Plain(set) => set.0,
                Simplified::Open(elements) => {
                    desk.candidates.clear();
                    desk.candidates.extend(elements.iter().map(|element| element.bits()));
                    desk.ask(terms, root.minus.0)
                }
            };
            // Relaxed: read after a meeting.
            self.memory.control(self.memory.plan.roots + at).store(answer.into(), Ordering::Relaxed);
        }
    }
}
