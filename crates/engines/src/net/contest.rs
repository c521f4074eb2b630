//! A contest of orders: which of them is good is best found out by trying.
//!
//! The favourite runs all the time. The others, the field, share what workers are left: each gets a little work to do,
//! then fewer of them get more, and so on. Nobody starts again: a contestant that is interrupted goes on from there.
//! Whoever is done first ends the contest. With one worker, favourite and field take turns.
//!
//! Contestants share one budget; who leaves gives back what it had.
//!
//! How many levels a contestant has done does not tell how good it is: bad orders do the last levels quickly and never get
//! to the first. So the field shrinks from its end, which the metric thinks worst of.

use super::encoding::{Encoding, EncodingError};
use super::groups::Group;
use super::system::NetSystem;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tremula_diagrams::mdd::{Mdd, MddOptions, Saturation, Saturator};
use tremula_diagrams::{Attention, Budget, Error};
use tremula_models::PetriNet;

/// An order and a way to saturate.
#[derive(Clone, Debug)]
pub struct Contestant {
    /// Its name, for people.
    pub name: String,
    /// The places, from the root of diagrams on.
    pub order: Vec<u32>,
    /// How to saturate.
    pub saturation: Saturation,
    /// Do places that share a token share a variable?
    pub grouped: bool,
}

/// A contest about to begin.
pub struct Contest<'a> {
    /// The net.
    pub net: &'a PetriNet,
    /// Places that share a token.
    pub groups: &'a [Group],
    /// Who takes part, the most promising first.
    pub contestants: &'a [Contestant],
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
    /// All reachable markings.
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

/// Rounds of the field: how many are in it, and how many look-ups each of them may make.
const ROUNDS: [(usize, u64); 7] = [
    (16, 20_000),
    (12, 150_000),
    (8, 1_000_000),
    (8, 8_000_000),
    (6, 40_000_000),
    (3, 200_000_000),
    (2, 1_000_000_000),
];

/// A contestant at work.
struct Runner<'a> {
    contest: &'a Contest<'a>,
    number: usize,
    attention: Attention,
    /// Its tables, from the first time that it runs.
    engine: Option<Engine>,
    /// Why it cannot go on.
    ended: Option<Error>,
    states: Option<Mdd>,
}

struct Engine {
    system: NetSystem,
    saturator: Saturator,
}

impl Contest<'_> {
    /// Find all reachable markings.
    pub fn run(&self) -> Result<Finished, NoWinner> {
        // What does not fit in one order fits in none.
        self.encoding(0)?;
        let most = self.contestants.len().min(1 + ROUNDS[0].0);
        let mut runners: Vec<Runner> = (0..most).map(|number| Runner::new(self, number)).collect();
        let attentions: Vec<Attention> = runners.iter().map(|runner| runner.attention.clone()).collect();
        let field = runners.split_off(1);
        let favourite = runners.pop().expect("somebody takes part");
        let mut all = if self.workers > 1 && !field.is_empty() {
            let stop = || attentions.iter().for_each(Attention::cancel);
            let camps = AtomicUsize::new(2);
            std::thread::scope(|scope| {
                let favourite = scope.spawn(|| leave(vec![favourite.run_to_end(&stop)], &camps));
                let mut all = leave(self.run_field(field, &stop), &camps);
                all.extend(favourite.join().expect("runners do not panic"));
                all
            })
        } else {
            self.take_turns(favourite, field)
        };
        match take_winner(&mut all) {
            Some(finished) => Ok(finished),
            None => Err(self.unfinished(all)),
        }
    }

    /// The net as a contestant sees it.
    fn encoding(&self, number: usize) -> Result<Encoding, EncodingError> {
        let Contestant { order, grouped, .. } = &self.contestants[number];
        Encoding::new(self.net, order, if *grouped { self.groups } else { &[] })
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
            favourite.work(Some(lookups * field.len().max(1) as u64));
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
        runners.sort_by_key(|runner| std::cmp::Reverse(runner.levels_done()));
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

/// Let all work, `crew` at a time, until one is done or all have used up their share.
fn round(runners: &mut [Runner], crew: usize, lookups: Option<u64>, stop: &(impl Fn() + Sync)) {
    let crew = crew.min(runners.len());
    let shared: Vec<Mutex<&mut Runner>> = runners.iter_mut().map(Mutex::new).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        // Relaxed: a number of its own; the runners are handed over by their locks.
        while let Some(runner) = shared.get(next.fetch_add(1, Ordering::Relaxed)) {
            if runner.lock().expect("nobody else runs it").work(lookups) {
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
    for runner in runners.iter_mut().filter(|runner| !is_last && runner.ended == Some(Error::TableFull)) {
        runner.engine = None;
    }
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

impl<'a> Runner<'a> {
    fn new(contest: &'a Contest<'a>, number: usize) -> Runner<'a> {
        let attention = contest.attention.of_one();
        Runner { contest, number, attention, engine: None, ended: None, states: None }
    }

    fn start(&self) -> Result<Engine, Error> {
        let Contest { contestants, budget, options, .. } = self.contest;
        let encoding = self.contest.encoding(self.number).expect("what fits in one order fits in all");
        let system = NetSystem::build(encoding, budget, *options, self.attention.clone())?;
        let saturator = system.saturator(contestants[self.number].saturation);
        Ok(Engine { system, saturator })
    }

    fn levels_done(&self) -> usize {
        self.engine.as_ref().map_or(0, |engine| engine.saturator.levels_done())
    }

    /// Work to the end, and stop the others there.
    fn run_to_end(mut self, stop: &(impl Fn() + Sync)) -> Runner<'a> {
        if self.work(None) {
            stop();
        }
        self
    }

    /// Is it done?
    fn is_done(&self) -> bool {
        self.states.is_some()
    }

    /// Work on; true when done.
    fn work(&mut self, lookups: Option<u64>) -> bool {
        if self.ended.is_some() {
            return false;
        }
        match self.try_work(lookups) {
            Ok(states) => self.states = Some(states),
            Err(Error::OutOfFuel) => {}
            Err(error) => self.ended = Some(error),
        }
        self.is_done()
    }

    fn try_work(&mut self, lookups: Option<u64>) -> Result<Mdd, Error> {
        let engine = match self.engine.take() {
            Some(engine) => engine,
            None => self.start()?,
        };
        let engine = self.engine.insert(engine);
        engine.system.manager.set_fuel(lookups);
        let result = engine.saturator.run();
        engine.system.manager.set_fuel(None);
        result
    }

    fn finish(self, states: Mdd) -> Option<Finished> {
        self.attention.reset();
        Some(Finished { winner: self.number, system: self.engine?.system, states })
    }

    fn so_far(self) -> Option<Finished> {
        let engine = self.engine.as_ref()?;
        // Whoever stopped the contest still wants to know what it found.
        engine.system.manager.set_attention(Attention::default());
        let states = engine.saturator.so_far().ok()?;
        self.finish(states)
    }
}

/// The one that is done, if there is one; the others give back what they have.
fn take_winner(runners: &mut Vec<Runner>) -> Option<Finished> {
    let at = runners.iter().position(|runner| runner.states.is_some())?;
    let mut winner = runners.swap_remove(at);
    runners.clear();
    let states = winner.states.take()?;
    winner.finish(states)
}
