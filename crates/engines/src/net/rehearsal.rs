//! A rehearsal: contestants explore the net with few tokens, to find out who is good at it.
//!
//! Where places hold many tokens, orders that look alike differ by factors, and the same ones are good with few tokens as
//! with many. A rehearsal costs little beside what it saves. Nets without many tokens have none.

use super::contest::Contest;
use super::system::NetSystem;
use super::way::Way;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tremula_diagrams::mdd::{MddManager, MddOptions};
use tremula_models::PetriNet;

/// With how many tokens in the fullest place to rehearse, for nets that have at least some more there, and how many
/// contestants go on from there.
const STAGES: [(u64, u64, usize); 3] = [(3, 6, 12), (8, 32, 5), (20, 80, 3)];

/// Nobody gets more look-ups than this.
const MOST_LOOKUPS: u64 = 100_000;
/// Who needs more than the best so far, so many times and a little, is bad.
const TIMES_THE_BEST: u64 = 2;
const A_LITTLE: u64 = 200;
/// Tables begin small.
const GRANULES: usize = 1 << 10;

/// Is there a rehearsal with the greatest number of tokens, which tells best?
pub fn is_thorough(net: &PetriNet) -> bool {
    let [.., (_, from, _)] = STAGES;
    most_tokens(net) >= from
}

fn most_tokens(net: &PetriNet) -> u64 {
    net.places.iter().map(|place| place.initial).max().unwrap_or(0)
}

/// The numbers of the contestants that did best, the best first; nobody if there is no rehearsal.
pub fn rehearse(contest: &Contest) -> Vec<usize> {
    let tokens = most_tokens(contest.net);
    let mut best: Vec<usize> = Vec::new();
    for (few, _, stay) in STAGES.into_iter().filter(|&(_, from, _)| tokens >= from) {
        let left = if best.is_empty() { saturating(contest) } else { best.clone() };
        let stage = Stage {
            contest,
            net: with_few_tokens(contest.net, few, tokens),
            least: AtomicU64::new(MOST_LOOKUPS),
            next: AtomicUsize::new(0),
            costs: Mutex::new(Vec::new()),
        };
        let better = stage.best_of(&left, stay);
        if better.is_empty() {
            break;
        }
        best = better;
    }
    best
}

/// Only saturation gains by it.
fn saturating(contest: &Contest) -> Vec<usize> {
    let contestants = contest.lineup.contestants.iter().enumerate();
    contestants
        .filter(|(_, contestant)| matches!(contestant.way, Way::Saturation(_)))
        .map(|(number, _)| number)
        .collect()
}

/// The same net with fewer tokens, in proportion; no marked place becomes empty.
fn with_few_tokens(net: &PetriNet, few: u64, most: u64) -> PetriNet {
    let mut net = net.clone();
    for place in &mut net.places {
        let share = (u128::from(place.initial) * u128::from(few)).div_ceil(u128::from(most));
        // At most `few`, since nobody has more than the most.
        place.initial = share as u64;
    }
    net
}

/// A rehearsal with one number of tokens.
struct Stage<'a> {
    contest: &'a Contest<'a>,
    net: PetriNet,
    /// Look-ups of the best so far.
    least: AtomicU64,
    /// Who is next, by place.
    next: AtomicUsize,
    /// Look-ups and places of those who got to the end.
    costs: Mutex<Vec<(u64, usize)>>,
}

impl Stage<'_> {
    /// Those who did best.
    fn best_of(self, left: &[usize], stay: usize) -> Vec<usize> {
        std::thread::scope(|scope| {
            // Threads that the system refuses are done without.
            for _ in 1..self.contest.workers.min(left.len()) {
                let _ = std::thread::Builder::new().spawn_scoped(scope, || self.take_part(left));
            }
            self.take_part(left);
        });
        let mut costs = self.costs.into_inner().expect("nobody panicked");
        costs.sort_unstable();
        costs.into_iter().take(stay).map(|(_, place)| left[place]).collect()
    }

    /// Let one after the other rehearse.
    fn take_part(&self, left: &[usize]) {
        let mut tables = Tables { contest: self.contest, managers: Vec::new() };
        loop {
            // Relaxed: a number of its own.
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(&number) = left.get(place) else { break };
            if let Some(cost) = self.cost(number, &mut tables) {
                // Relaxed: a bound that may be a little late.
                self.least.fetch_min(cost, Ordering::Relaxed);
                self.costs.lock().expect("nobody panicked").push((cost, place));
            }
        }
    }

    /// Look-ups that a contestant needs; none if they are too many.
    fn cost(&self, number: usize, tables: &mut Tables) -> Option<u64> {
        let Way::Saturation(saturation) = self.contest.lineup.contestants[number].way else { return None };
        let encoding = self.contest.encoding_of(&self.net, number).ok()?;
        let manager = tables.empty(encoding.encoding.variables.len())?;
        let before = manager.counters().lookups;
        // Relaxed: a bound that may be a little late.
        let most = TIMES_THE_BEST * self.least.load(Ordering::Relaxed) + A_LITTLE;
        manager.set_fuel(Some(most.min(MOST_LOOKUPS)));
        NetSystem::inside(manager.clone(), encoding).ok()?.saturator(saturation).run().ok()?;
        Some(manager.counters().lookups - before)
    }
}

/// Tables of one thread: making new ones takes longer than most rehearsals.
struct Tables<'a> {
    contest: &'a Contest<'a>,
    /// For each number of levels.
    managers: Vec<MddManager>,
}

impl Tables<'_> {
    /// A manager for so many levels, with nothing in it; none if there is no memory.
    fn empty(&mut self, levels: usize) -> Option<MddManager> {
        if let Some(known) = self.managers.iter().find(|manager| manager.levels() == levels) {
            known.collect();
            return Some(known.clone());
        }
        let Contest { budget, attention, .. } = self.contest;
        let options = MddOptions { initial: GRANULES, ..MddOptions::default() };
        let manager = MddManager::new(levels, budget, options, attention.of_one()).ok()?;
        self.managers.push(manager.clone());
        Some(manager)
    }
}
