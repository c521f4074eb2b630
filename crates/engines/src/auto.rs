//! The strategy that finds out which strategy pays.
//!
//! Breadth-first search and chaining each win by an order of magnitude somewhere, and nothing in the model tells where.
//! What can be compared is the price of progress: a round of chaining covers some breadth-first levels, and those levels
//! have a price of their own. So both start side by side, each on its own states, chaining a round ahead and breadth-first
//! search catching up, until one is clearly cheaper or the trial has lasted long enough. If it was breadth-first search,
//! chaining gets another chance at geometric distances of time, since its advantage tends to grow with the sets.

use crate::reach::{Observer, Reached, Run, Stopped};
use crate::strategy::{Order, Strategy};
use crate::system::SymbolicSystem;
use std::time::{Duration, Instant};
use tremula_diagrams::{Bdd, Error};

const LEVELS: Strategy = Strategy { order: Order::Bfs, frontier: true };
const CHAINS: Strategy = Strategy { order: Order::Chaining, frontier: false };

/// No decision before this much time: the first rounds say little.
const SHORTEST_RACE: Duration = Duration::from_millis(20);
/// A race without a clear result ends here.
const LONGEST_RACE: Duration = Duration::from_millis(150);
/// A round of chaining in a race may take this much longer than three times everything before.
const PATIENCE: Duration = Duration::from_millis(300);
/// Chaining wins the race when the levels it covers cost this many times as much. Its rounds get dearer on the way, and
/// the last states it finds are not those it covers first, so it must start far ahead (measured on the shipped models).
const CLEAR_LEAD: f64 = 4.3;
/// It need not be so far ahead when very few rounds have filled the race: then few are to come, and these are like them.
const LEAD_IN_FEW_ROUNDS: f64 = 1.8;
const FEW_ROUNDS: u64 = 2;
/// Breadth-first search that leads a race by as little as nothing keeps its lead.
const NO_LEAD: f64 = 1.0;
/// Later trials come when this many times as much time has passed as at the last, and not before [`FIRST_TRIAL`].
const SPACING: u32 = 3;
const FIRST_TRIAL: Duration = Duration::from_secs(1);
/// A trial may take this share of the time so far, and no more than this many levels' time.
const TRIAL_SHARE: u32 = 5;
const TRIAL_LEVELS: u32 = 6;
/// Chaining must be cheaper by this factor to replace breadth-first search in the first trials ...
const CONVINCING_EARLY: f64 = 1.85;
/// ... and by this one later, when the sets are more like those to come.
const CONVINCING_LATE: f64 = 1.5;
const LATE: Duration = Duration::from_millis(2500);

/// Compute all reachable states, choosing the strategy while running.
pub(crate) fn reach(system: &SymbolicSystem, observer: &mut dyn Observer) -> Result<Reached, Box<Stopped>> {
    let mut race = Race {
        levels: Timed::new(Run::new(system, LEVELS)),
        chains: Timed::new(Run::new(system, CHAINS)),
        started: Instant::now(),
        system,
    };
    let winner = match race.decide(observer) {
        Ok(winner) => winner,
        Err(error) => return Err(Box::new(race.chains.run.stopped(error))),
    };
    let started = race.started;
    let mut run = match winner {
        Winner::Ended(strategy) => return Ok(race.into_run(strategy).result()),
        Winner::Cheaper(strategy) => race.into_run(strategy),
    };
    match run_watchfully(system, &mut run, started, observer) {
        Ok(reached) => Ok(reached),
        Err(error) => Err(Box::new(run.stopped(error))),
    }
}

/// A run and the time it has taken.
struct Timed<'a> {
    run: Run<'a>,
    spent: Duration,
}

impl<'a> Timed<'a> {
    fn new(run: Run<'a>) -> Timed<'a> {
        Timed { run, spent: Duration::ZERO }
    }

    /// One round; false when it found nothing new.
    fn round(&mut self) -> Result<bool, Error> {
        let start = Instant::now();
        let changed = self.run.round();
        self.spent += start.elapsed();
        changed
    }
}

struct Race<'a> {
    levels: Timed<'a>,
    chains: Timed<'a>,
    started: Instant,
    system: &'a SymbolicSystem,
}

/// What became of a round of chaining in a race.
enum Chained {
    Further,
    NothingNew,
    TooSlowly,
}

enum Winner {
    /// This one has found everything.
    Ended(Strategy),
    /// This one makes cheaper progress.
    Cheaper(Strategy),
}

impl<'a> Race<'a> {
    fn into_run(self, strategy: Strategy) -> Run<'a> {
        if strategy == LEVELS { self.levels.run } else { self.chains.run }
    }

    fn decide(&mut self, observer: &mut dyn Observer) -> Result<Winner, Error> {
        loop {
            let (levels_before, chains_before) = (self.levels.spent, self.chains.spent);
            match self.chain_briefly()? {
                Chained::Further => {}
                Chained::NothingNew => return Ok(Winner::Ended(CHAINS)),
                Chained::TooSlowly => return Ok(Winner::Cheaper(LEVELS)),
            }
            let chain_price = price(self.chains.spent, chains_before);
            let Some(ratio) = self.catch_up(levels_before, chain_price, observer)? else {
                return Ok(Winner::Ended(LEVELS));
            };
            if let Some(strategy) = self.verdict(ratio) {
                return Ok(Winner::Cheaper(strategy));
            }
        }
    }

    /// A round of chaining, unless it takes far longer than everything before.
    fn chain_briefly(&mut self) -> Result<Chained, Error> {
        let limit = self.started.elapsed() * 3 + PATIENCE;
        let start = Instant::now();
        let found = self.chains.run.chain_within(&self.system.relations, limit)?;
        self.chains.spent += start.elapsed();
        Ok(match found {
            None => Chained::TooSlowly,
            Some(states) if states == self.chains.run.visited => Chained::NothingNew,
            Some(states) => {
                self.chains.run.advance_to(states);
                Chained::Further
            }
        })
    }

    /// Run levels until they leave what chaining has covered, or cost so much more that chaining has won. Returns how
    /// many times as much they cost; nothing when they have found everything.
    fn catch_up(
        &mut self,
        before: Duration,
        chain_price: f64,
        observer: &mut dyn Observer,
    ) -> Result<Option<f64>, Error> {
        let mut next_look = Duration::ZERO;
        while self.levels.round()? {
            observer.round(&self.levels.run.report());
            let stretch = self.levels.spent - before;
            if stretch < next_look {
                continue;
            }
            let look = Instant::now();
            let ratio = price(self.levels.spent, before) / chain_price.max(1e-9);
            let covered = mostly_covered(self.system, &self.levels.run.frontier, &self.chains.run.visited)?;
            if !covered || self.verdict(ratio) == Some(CHAINS) {
                return Ok(Some(ratio));
            }
            // Looking costs, so it is done at growing distances.
            next_look = stretch + stretch / 4 + look.elapsed();
        }
        Ok(None)
    }

    /// Who wins if the levels so far cost `ratio` times as much as chaining, if that decides it.
    fn verdict(&self, ratio: f64) -> Option<Strategy> {
        let elapsed = self.started.elapsed();
        let lead = if self.chains.run.rounds <= FEW_ROUNDS { LEAD_IN_FEW_ROUNDS } else { CLEAR_LEAD };
        if elapsed >= SHORTEST_RACE && ratio >= lead {
            Some(CHAINS)
        } else if elapsed >= SHORTEST_RACE && ratio <= NO_LEAD || elapsed >= LONGEST_RACE {
            Some(LEVELS)
        } else {
            None
        }
    }
}

/// Price in seconds of a stretch that started at `before`. The latest stretch counts most: what comes is more like it than
/// like the beginning.
fn price(now: Duration, before: Duration) -> f64 {
    (now - before).as_secs_f64() + now.as_secs_f64() * 0.25
}

/// Go on with the winner; when that is breadth-first search, look at chaining again from time to time.
fn run_watchfully<'a>(
    system: &'a SymbolicSystem,
    run: &mut Run<'a>,
    started: Instant,
    observer: &mut dyn Observer,
) -> Result<Reached, Error> {
    let mut pure_levels = run.strategy == LEVELS;
    let mut next_trial = (started.elapsed() * SPACING).max(FIRST_TRIAL);
    let mut round_time = Duration::ZERO;
    loop {
        let elapsed = started.elapsed();
        if run.strategy == LEVELS && elapsed >= next_trial {
            let limit = (elapsed / TRIAL_SHARE).min(round_time * TRIAL_LEVELS);
            let factor = if elapsed < LATE { CONVINCING_EARLY } else { CONVINCING_LATE };
            if chaining_convinces(system, run, limit, factor)? {
                run.change_to(system, CHAINS);
                pure_levels = false;
            }
            next_trial = started.elapsed() * SPACING;
        }
        let round_start = Instant::now();
        let changed = run.round()?;
        round_time = round_start.elapsed();
        observer.round(&run.report());
        if !changed {
            let reached = run.result();
            return Ok(Reached { levels: reached.levels.filter(|_| pure_levels), ..reached });
        }
    }
}

/// Compare one round of chaining, from the states that breadth-first search has, with the levels it covers.
fn chaining_convinces(system: &SymbolicSystem, run: &mut Run<'_>, limit: Duration, factor: f64) -> Result<bool, Error> {
    let start = Instant::now();
    let Some(covered) = run.chain_within(&system.relations, limit)? else { return Ok(false) };
    let chain_price = start.elapsed();
    let start = Instant::now();
    while run.round()? {
        let level_price = start.elapsed();
        if level_price.as_secs_f64() > chain_price.as_secs_f64() * factor {
            return Ok(true);
        }
        if !mostly_covered(system, &run.frontier, &covered)? {
            return Ok(false);
        }
    }
    Ok(false)
}

/// Does `covered` hold at least half of `states`?
fn mostly_covered(system: &SymbolicSystem, states: &Bdd, covered: &Bdd) -> Result<bool, Error> {
    let outside = states.minus(covered)?;
    if outside.is_false() {
        return Ok(true);
    }
    Ok(outside.count(&system.state_levels)? * 2u8 <= states.count(&system.state_levels)?)
}
