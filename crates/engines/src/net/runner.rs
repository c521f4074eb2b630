//! A contestant at work.

use super::contest::{Contest, Finished};
use super::system::NetSystem;
use super::way::{Explorer, Means, Way};
use tremula_diagrams::mdd::Mdd;
use tremula_diagrams::{Attention, Error};

/// A contestant with what it has found so far.
pub struct Runner<'a> {
    contest: &'a Contest<'a>,
    /// Its number in the lineup.
    pub number: usize,
    pub attention: Attention,
    /// Its tables, from the first time that it runs.
    engine: Option<Engine>,
    /// Why it cannot go on.
    pub ended: Option<Error>,
    states: Option<Mdd>,
}

struct Engine {
    system: NetSystem,
    explorer: Explorer,
}

impl<'a> Runner<'a> {
    pub fn new(contest: &'a Contest<'a>, number: usize) -> Runner<'a> {
        let attention = contest.attention.of_one();
        Runner { contest, number, attention, engine: None, ended: None, states: None }
    }

    fn start(&self) -> Result<Engine, Error> {
        let Contest { lineup, budget, options, .. } = self.contest;
        let encoding = self.contest.encoding(self.number).expect("what fits in one order fits in all");
        let system = NetSystem::build(encoding, budget, *options, self.attention.clone())?;
        let alone = lineup.contestants.len() == 1;
        let list_bytes = if alone { budget.limit() } else { budget.limit() / 2 };
        let means = Means { bounds: &lineup.bounds, budget, list_bytes, attention: &self.attention };
        let explorer = Explorer::new(lineup.contestants[self.number].way, &system, &means)?;
        Ok(Engine { system, explorer })
    }

    /// Does it list markings?
    pub fn is_explicit(&self) -> bool {
        self.contest.lineup.contestants[self.number].way == Way::Explicit
    }

    /// How much is done, to compare those who did not get to the end.
    pub fn progress(&self) -> usize {
        self.engine.as_ref().map_or(0, |engine| engine.explorer.progress())
    }

    /// Memory that each contestant needs before it can begin, as far as this one knows: all of it, if it could not.
    pub fn entry_bytes(&self) -> usize {
        let all = if self.ended.is_some() { self.contest.budget.limit() } else { 0 };
        self.engine.as_ref().map_or(all, |engine| engine.system.manager.event_bytes())
    }

    /// Work to the end, and stop the others there.
    pub fn run_to_end(mut self, stop: &(impl Fn() + Sync)) -> Runner<'a> {
        if self.work(None) {
            stop();
        }
        self
    }

    /// Is it done?
    pub fn is_done(&self) -> bool {
        self.states.is_some()
    }

    /// Work on; true when done.
    pub fn work(&mut self, lookups: Option<u64>) -> bool {
        if self.ended.is_some() || self.is_done() || self.attention.is_cancelled() {
            return self.is_done();
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
        engine.explorer.run(&engine.system, lookups)
    }

    /// Give back all memory.
    pub fn leave(&mut self) {
        self.engine = None;
    }

    /// Everything, if it is done.
    pub fn finish(mut self) -> Option<Finished> {
        let states = self.states.take()?;
        self.finished(states)
    }

    /// What is found so far, if there is memory to tell.
    pub fn so_far(mut self) -> Option<Finished> {
        let engine = self.engine.as_mut()?;
        // Whoever stopped the contest still wants to know what it found.
        engine.system.manager.set_attention(Attention::default());
        let states = engine.explorer.so_far(&engine.system).ok()?;
        self.finished(states)
    }

    fn finished(self, states: Mdd) -> Option<Finished> {
        self.attention.reset();
        Some(Finished { winner: self.number, system: self.engine?.system, states })
    }
}
