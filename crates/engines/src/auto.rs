//! The strategy that finds out which strategy pays.
//!
//! Saturation wins nearly everywhere, because relations are mostly local: each touches a short stretch of the variables,
//! and closing the nodes below that stretch first keeps all diagrams small. Where relations reach over most variables and
//! start at few different levels, there is little to close below, and closing it first only disturbs the order in which
//! states are found. That can be told from the relations ([`saturation_suits`]).
//!
//! In the other models breadth-first search and chaining each win by an order of magnitude somewhere, and nothing in the
//! model tells where. What can be compared is the price of progress: a round of chaining covers some breadth-first levels,
//! and those levels have a price of their own. So both start side by side, each on its own states, chaining a round ahead
//! and breadth-first search catching up, until one is clearly cheaper or the trial has lasted long enough.

use crate::reach::{Observer, Reached, Run, Stopped};
use crate::saturation;
use crate::strategy::{Order, Strategy};
use crate::system::SymbolicSystem;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use tremula_diagrams::{Bdd, Error, Relation};

const LEVELS: Strategy = Strategy { order: Order::Bfs, frontier: true };
const CHAINS: Strategy = Strategy { order: Order::Chaining, frontier: true };

/// Relations that span at most this share of the variables, on average, are local enough for saturation ...
const LOCAL: f64 = 0.5;
/// ... and so are those that start at this many different levels or more.
const MANY_LAYERS: usize = 6;

/// Chaining runs alone for this long: the first rounds say little, and small models end here.
const HEAD_START: Duration = Duration::from_millis(15);
/// A race without a clear result ends here.
const LONGEST_RACE: Duration = Duration::from_millis(150);
/// Levels win when they cost less than this share of what chaining costs.
const CLEARLY_CHEAPER: f64 = 0.7;
/// Chaining wins early when the levels it covers cost this many times as much.
const CLEARLY_DEARER: f64 = 3.0;

/// Compute all reachable states, choosing the strategy while running.
pub(crate) fn reach(system: &SymbolicSystem, observer: &mut dyn Observer) -> Result<Reached, Box<Stopped>> {
    if saturation_suits(system) {
        return saturation::reach(system, observer);
    }
    let mut race = Race::new(system);
    let winner = match race.decide(observer) {
        Ok(winner) => winner,
        Err(error) => return Err(Box::new(race.chains.run.stopped(error))),
    };
    race.into_run(winner).explore(observer)
}

/// Are the relations local enough for saturation, or do they start at enough different levels?
fn saturation_suits(system: &SymbolicSystem) -> bool {
    let layers: BTreeSet<u32> = system.relations.iter().filter_map(Relation::level).collect();
    layers.len() >= MANY_LAYERS || mean_span(system) <= LOCAL
}

/// Share of the state variables between the topmost and the deepest one that a relation touches, averaged over relations
/// that touch any.
fn mean_span(system: &SymbolicSystem) -> f64 {
    let position = |level| system.state_levels.partition_point(|&other| other < level);
    let span = |relation: &Relation| Some(position(relation.deepest_level()?) + 1 - position(relation.level()?));
    let spans: Vec<usize> = system.relations.iter().filter_map(span).collect();
    let variables_touched: usize = spans.iter().sum();
    variables_touched as f64 / (spans.len() * system.state_levels.len()).max(1) as f64
}

/// A run and the time it has taken.
struct Timed<'a> {
    run: Run<'a, SymbolicSystem>,
    spent: Duration,
}

impl<'a> Timed<'a> {
    fn new(run: Run<'a, SymbolicSystem>) -> Timed<'a> {
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

impl<'a> Race<'a> {
    fn new(system: &'a SymbolicSystem) -> Race<'a> {
        let [levels, chains] = [LEVELS, CHAINS].map(|strategy| Timed::new(Run::new(system, strategy)));
        Race { levels, chains, started: Instant::now(), system }
    }

    /// The winner's run; the loser's states are dropped.
    fn into_run(self, winner: Strategy) -> Run<'a, SymbolicSystem> {
        if winner == LEVELS { self.levels.run } else { self.chains.run }
    }

    /// Who makes cheaper progress. A run that has found everything has won.
    fn decide(&mut self, observer: &mut dyn Observer) -> Result<Strategy, Error> {
        let (mut levels_before, mut chains_before) = (Duration::ZERO, Duration::ZERO);
        loop {
            if !self.chains.round()? {
                return Ok(CHAINS);
            }
            observer.round(&self.chains.run.report());
            if self.chains.spent < HEAD_START {
                continue;
            }
            let chain_price = price(self.chains.spent, chains_before);
            let Some(ratio) = self.catch_up(levels_before, chain_price, observer)? else { return Ok(LEVELS) };
            if let Some(strategy) = self.verdict(ratio) {
                return Ok(strategy);
            }
            (levels_before, chains_before) = (self.levels.spent, self.chains.spent);
        }
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
        if ratio < CLEARLY_CHEAPER {
            Some(LEVELS)
        } else if ratio >= CLEARLY_DEARER || self.started.elapsed() >= LONGEST_RACE {
            Some(CHAINS)
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

/// Does `covered` hold at least half of `states`? Where there is no memory to find out, it does not.
fn mostly_covered(system: &SymbolicSystem, states: &Bdd, covered: &Bdd) -> Result<bool, Error> {
    let compare = || {
        let outside = states.minus(covered)?;
        Ok(outside.is_false() || outside.count(&system.state_levels)? * 2u8 <= states.count(&system.state_levels)?)
    };
    match compare() {
        Err(Error::TableFull) => Ok(false),
        result => result,
    }
}
