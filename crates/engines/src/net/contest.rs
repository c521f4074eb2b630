//! A contest of orders: which of them is good is best found out by trying.
//!
//! Those who [rehearse](super::rehearsal) well are the most promising; where there is no rehearsal, the metric tells. The
//! favourite runs all the time. The others, the field, share what workers are left: each gets a little work to do, the more
//! the more promising it is, then fewer of them get more, and so on. Nobody starts again: a contestant that is interrupted
//! goes on from there. Whoever is done first ends the contest. With one worker, favourite and field take turns.
//!
//! Contestants share one budget; who leaves gives back what it had.
//!
//! How many levels a contestant has done does not tell how good it is: bad orders do the last levels quickly and never get
//! to the first. So the field shrinks from its end.

use super::encoding::{EncodedNet, EncodingError};
use super::lineup::Lineup;
use super::rehearsal::{is_thorough, rehearse};
use super::runner::Runner;
use super::system::NetSystem;
use super::way::Way;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tremula_diagrams::mdd::{Mdd, MddOptions};
use tremula_diagrams::{Attention, Budget, Error};
use tremula_models::PetriNet;

/// An order and a way to explore.
#[derive(Clone, Debug)]
pub struct Contestant {
    /// Its name, for people.
    pub name: String,
    /// The places, from the root of diagrams on.
    pub order: Vec<u32>,
    /// How to explore.
    pub way: Way,
    /// Do places that share a token share a variable?
    pub grouped: bool,
}

/// A contest about to begin.
pub struct Contest<'a> {
    /// The net.
    pub net: &'a PetriNet,
    /// Who takes part, and what is known of the net.
    pub lineup: &'a Lineup,
    /// How many run at a time.
    pub workers: usize,
    /// What all of them share.
    pub budget: &'a Budget,
    /// How their tables behave.
    pub options: MddOptions,
    /// How to interrupt the contest, and where progress is told.
    pub attention: &'a Attention,
}

/// A complete exploration.
pub struct Finished {
    /// The number of the winner among the contestants.
    pub winner: usize,
    /// The net in the winner's order.
    pub system: NetSystem,
    /// All reachable markings, if the net [keeps what is believed of it](NetSystem::keeps_beliefs).
    pub states: Mdd,
}

/// A contest without a winner.
pub struct Unfinished {
    /// Why the contestant that got furthest ended.
    pub error: Error,
    /// The contestant, its system, and markings that are reachable for certain, if there is memory to tell.
    pub furthest: Option<Finished>,
}

/// Why there was no contest, or no winner.
#[derive(Debug, thiserror::Error)]
pub enum NoWinner {
    /// The net does not fit into diagrams.
    #[error(transparent)]
    Encoding(#[from] EncodingError),
    /// A limit was reached.
    #[error("{}", .0.error)]
    Unfinished(Box<Unfinished>),
}

impl std::fmt::Debug for Unfinished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unfinished").field("error", &self.error).finish_non_exhaustive()
    }
}

/// Look-ups of an attempt, and more of them for each place: to find all orders of a large net takes long.
const ATTEMPT: u64 = 20_000;
const ATTEMPT_PER_PLACE: u64 = 20;
/// Look-ups that the favourite gets before anybody else: many nets need no more.
const WARM_UP: u64 = 100_000;
/// The same where rehearsals will tell well who is good,
const SHORT_WARM_UP: u64 = 5_000;
/// and look-ups that who was best there gets before the others begin.
const HEAD_START: u64 = 200_000;

/// At most this part of the memory, one in so many, is for what contestants need before they begin.
const ENTRIES_SHARE: usize = 4;

/// Rounds of the field: how many are in it, and how many look-ups the first of them may make; the second may make half as
/// many, the third a third, and so on.
const ROUNDS: [(usize, u64); 11] = [
    (16, 20_000),
    (16, 60_000),
    (16, 200_000),
    (12, 600_000),
    (12, 2_000_000),
    (8, 6_000_000),
    (8, 20_000_000),
    (8, 60_000_000),
    (6, 200_000_000),
    (4, 600_000_000),
    (2, 2_000_000_000),
];

/// From so many look-ups in a round on, a list of markings goes on to its end. That is never far: either the net is done,
/// or the list's part of the memory is full.
const EXPLICIT_TO_END: u64 = 20_000_000;

impl Contest<'_> {
    /// Let the favourite work for a moment, which is enough for many nets.
    #[must_use]
    pub fn attempt(&self) -> Option<Finished> {
        self.encoding(0).ok()?;
        let mut favourite = Runner::new(self, 0);
        favourite.work(Some(ATTEMPT + ATTEMPT_PER_PLACE * self.net.places.len() as u64));
        favourite.finish()
    }

    /// Find all reachable markings.
    pub fn run(&self) -> Result<Finished, NoWinner> {
        // What does not fit in one order fits in none.
        self.encoding(0)?;
        let mut favourite = Runner::new(self, 0);
        favourite.work(Some(if is_thorough(self.net) { SHORT_WARM_UP } else { WARM_UP }));
        let mut all = if favourite.is_done() { vec![favourite] } else { self.run_all(favourite) };
        match take_winner(&mut all) {
            Some(finished) => Ok(finished),
            None => Err(self.unfinished(all)),
        }
    }

    /// Rehearse, then let all work until one is done.
    fn run_all<'a>(&'a self, early_favourite: Runner<'a>) -> Vec<Runner<'a>> {
        let mut runners: Vec<Runner> =
            self.ranking(early_favourite.entry_bytes()).into_iter().map(|number| Runner::new(self, number)).collect();
        match runners.iter().position(|runner| runner.number == early_favourite.number) {
            Some(place) => runners[place] = early_favourite,
            None => drop(early_favourite),
        }
        let attentions: Vec<Attention> = runners.iter().map(|runner| runner.attention.clone()).collect();
        let field = runners.split_off(1);
        let mut favourite = runners.pop().expect("somebody takes part");
        if is_thorough(self.net) && favourite.work(Some(HEAD_START)) {
            return vec![favourite];
        }
        if self.workers == 1 || field.is_empty() {
            return self.take_turns(favourite, field);
        }
        let stop = || attentions.iter().for_each(Attention::cancel);
        let camps = AtomicUsize::new(2);
        std::thread::scope(|scope| {
            let favourite = scope.spawn(|| leave(vec![favourite.run_to_end(&stop)], &camps));
            let mut all = leave(self.run_field(field, &stop), &camps);
            all.extend(favourite.join().expect("runners do not panic"));
            all
        })
    }

    /// Who takes part, the most promising first: those who rehearsed well, then the others as they are in the lineup. All
    /// of them need `entry_bytes` to begin, which shall not use up the memory for diagrams.
    fn ranking(&self, entry_bytes: usize) -> Vec<usize> {
        let mut ranking = rehearse(self);
        let others: Vec<usize> = (0..self.lineup.contestants.len()).filter(|n| !ranking.contains(n)).collect();
        ranking.extend(others);
        let most_entries = self.budget.limit() / ENTRIES_SHARE / entry_bytes.max(1);
        ranking.truncate((1 + ROUNDS[0].0).min(most_entries.max(1)));
        ranking
    }

    /// The net as a contestant sees it.
    pub(super) fn encoding(&self, number: usize) -> Result<EncodedNet, EncodingError> {
        self.encoding_of(self.net, number)
    }

    /// This or a similar net as a contestant sees it.
    pub(super) fn encoding_of(&self, net: &PetriNet, number: usize) -> Result<EncodedNet, EncodingError> {
        let Contestant { order, grouped, .. } = &self.lineup.contestants[number];
        let Lineup { groups, bounds, .. } = self.lineup;
        EncodedNet::new(net, order, if *grouped { groups } else { &[] }, bounds)
    }

    /// All rounds of the field, until one is done or nobody can go on.
    fn run_field<'a>(&self, mut field: Vec<Runner<'a>>, stop: &(impl Fn() + Sync)) -> Vec<Runner<'a>> {
        let crew = self.workers.saturating_sub(1).max(1);
        for (most, lookups) in
            ROUNDS.map(|(most, lookups)| (most.max(crew), Some(lookups))).into_iter().chain([(crew, None)])
        {
            field.truncate(most);
            round(&mut field, crew, lookups, stop);
            if field.iter().any(Runner::is_done) {
                break;
            }
            drop_those_who_ended(&mut field);
        }
        field
    }

    /// One worker: before each round of the field the favourite gets as much work as all the others together. In the end
    /// the first who can goes on alone, with all the memory.
    fn take_turns<'a>(&self, mut favourite: Runner<'a>, mut field: Vec<Runner<'a>>) -> Vec<Runner<'a>> {
        for (most, lookups) in ROUNDS {
            field.truncate(most);
            let all_others = (0..field.len()).map(|place| share(lookups, place)).sum::<u64>();
            favourite.work(Some(all_others.max(lookups)));
            if favourite.is_done() || self.attention.is_cancelled() {
                break;
            }
            if favourite.ended.is_some() && !field.is_empty() {
                favourite = field.remove(0);
            }
            round(&mut field, 1, Some(lookups), &|| {});
            if field.iter().any(Runner::is_done) || self.attention.is_cancelled() {
                break;
            }
            drop_those_who_ended(&mut field);
        }
        field.insert(0, favourite);
        if !field.iter().any(Runner::is_done) && !self.attention.is_cancelled() {
            drop_those_who_ended(&mut field);
            field.truncate(1);
            field[0].work(None);
        }
        field
    }

    fn unfinished(&self, mut runners: Vec<Runner>) -> NoWinner {
        runners.sort_by_key(|runner| std::cmp::Reverse(runner.progress()));
        runners.truncate(1);
        let furthest = runners.pop();
        let error = if self.attention.is_cancelled() {
            Error::Cancelled
        } else {
            furthest.as_ref().and_then(|runner| runner.ended.clone()).unwrap_or(Error::TableFull)
        };
        let furthest = furthest.and_then(Runner::so_far);
        NoWinner::Unfinished(Box::new(Unfinished { error, furthest }))
    }
}

/// What a contestant gets in a round, by its place in the field.
fn share(lookups: u64, place: usize) -> u64 {
    lookups / (place as u64 + 1)
}

/// Let all work, `crew` at a time, until one is done or all have used up their share.
fn round(runners: &mut [Runner], crew: usize, lookups: Option<u64>, stop: &(impl Fn() + Sync)) {
    let crew = crew.min(runners.len());
    let shared: Vec<Mutex<&mut Runner>> = runners.iter_mut().map(Mutex::new).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            // Relaxed: a number of its own; the runners are handed over by their locks.
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(runner) = shared.get(place) else { break };
            let mut runner = runner.lock().expect("nobody else runs it");
            let goes_to_end = runner.is_explicit() && lookups >= Some(EXPLICIT_TO_END);
            if runner.work(lookups.filter(|_| !goes_to_end).map(|all| share(all, place))) {
                stop();
                break;
            }
        }
    };
    std::thread::scope(|scope| {
        // Threads that the system refuses are done without.
        for _ in 1..crew {
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
}

/// What a camp, the favourite or the field, leaves when it is at its end: if the other one is still running, it gets the
/// memory of those who had too little.
fn leave<'a>(mut runners: Vec<Runner<'a>>, camps: &AtomicUsize) -> Vec<Runner<'a>> {
    // Relaxed: the count hands nothing over; who is wrongly taken for running gets memory that it does not need.
    let is_last = camps.fetch_sub(1, Ordering::Relaxed) == 1;
    let short_of_memory = |runner: &&mut Runner| !is_last && runner.ended == Some(Error::TableFull);
    runners.iter_mut().filter(short_of_memory).for_each(Runner::leave);
    runners
}

/// Those who cannot go on leave, but somebody stays to tell why.
fn drop_those_who_ended(runners: &mut Vec<Runner>) {
    if runners.iter().any(|runner| runner.ended.is_none()) {
        runners.retain(|runner| runner.ended.is_none());
    } else {
        runners.truncate(1);
    }
}

/// The one that is done, if there is one; the others give back what they have.
fn take_winner(runners: &mut Vec<Runner>) -> Option<Finished> {
    let at = runners.iter().position(Runner::is_done)?;
    let winner = runners.swap_remove(at);
    runners.clear();
    winner.finish()
}
