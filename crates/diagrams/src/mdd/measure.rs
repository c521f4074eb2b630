//! Exact figures of a set: vectors, ways on from them, and sums over their variables.
//!
//! Everything is a sum or a maximum over branches, computed from the last level up. Sums are integers of 128 bits where an
//! estimate says that they fit, and of any size otherwise.

use super::core::Core;
use super::event::{Change, Event};
use super::levels::Levels;
use crate::error::Error;
use dashu_int::UBig;
use rustc_hash::FxHashMap;
use std::ops::AddAssign;
use std::rc::Rc;
use tremula_table::{Branch, Forest, Lease};

/// Sums below this fit into 128 bits, with room for the error of the estimate.
const SURELY_FITS: f64 = 1e37;

/// Numbers that can be added.
trait Number: Clone + Default + for<'a> AddAssign<&'a Self> + Into<UBig> {
    const ONE: Self;
    /// Bytes of a number up to this size.
    fn bytes(estimate: f64) -> usize;
}

impl Number for u128 {
    const ONE: u128 = 1;
    fn bytes(_: f64) -> usize {
        size_of::<u128>()
    }
}

impl Number for UBig {
    const ONE: UBig = UBig::ONE;
    fn bytes(estimate: f64) -> usize {
        let digits = if estimate.is_finite() { estimate.log2() / 8.0 } else { 256.0 };
        size_of::<UBig>() + digits as usize
    }
}

/// The number of a diagram's first node.
const ROOT: usize = 0;

impl Core {
    /// How many vectors are in the set.
    pub fn count(&self, set: u32) -> Result<UBig, Error> {
        if set == Forest::EMPTY {
            return Ok(UBig::ZERO);
        }
        if set == Forest::TERMINAL {
            return Ok(UBig::ONE);
        }
        let levels = Levels::new(self, set)?;
        let estimate = estimate(&levels)?;
        if estimate < SURELY_FITS { paths::<u128>(&levels, estimate) } else { paths::<UBig>(&levels, estimate) }
    }

    /// Nodes of the set.
    pub fn node_count(&self, set: u32) -> Result<usize, Error> {
        if set <= Forest::TERMINAL { Ok(0) } else { Ok(Levels::new(self, set)?.node_count()) }
    }

    /// The greatest value of each variable in the set.
    pub fn greatest_values(&self, set: u32) -> Result<Vec<u32>, Error> {
        if set <= Forest::TERMINAL {
            return Ok(vec![0; self.frames.len()]);
        }
        let levels = Levels::new(self, set)?;
        let greatest = |number| levels.branches(number).next_back().map_or(0, |branch| branch.value);
        let at_level = |level| levels.numbers_at(level).map(greatest).max().unwrap_or(0);
        Ok((0..levels.level_count()).map(at_level).collect())
    }

    /// The greatest sum that a vector of the set has, if `weight` tells what a variable's value counts for.
    pub fn greatest_sum(&self, set: u32, weight: impl Fn(u32, u32) -> u128) -> Result<Option<u128>, Error> {
        if set <= Forest::TERMINAL {
            return Ok((set == Forest::TERMINAL).then_some(0));
        }
        let levels = Levels::new(self, set)?;
        let _lease = levels.lease(size_of::<u128>())?;
        let mut sums = vec![0_u128; levels.node_count()];
        for level in (0..levels.level_count()).rev() {
            for number in levels.numbers_at(level) {
                let below = |child: u32| if child == Forest::TERMINAL { 0 } else { sums[levels.number(child)] };
                let sum = |branch: Branch| weight(level as u32, branch.value).saturating_add(below(branch.child));
                sums[number] = levels.branches(number).map(sum).max().unwrap_or(0);
            }
        }
        Ok(Some(sums[ROOT]))
    }

    /// Count the pairs of a vector of the set and one of `events` that is possible in it.
    pub fn transitions(&self, set: u32, events: &[Event]) -> Result<UBig, Error> {
        if set == Forest::EMPTY {
            return Ok(UBig::ZERO);
        }
        if set == Forest::TERMINAL {
            return Ok(UBig::from(events.len()));
        }
        let levels = Levels::new(self, set)?;
        let estimate = estimate(&levels)? * (events.len() + 1) as f64;
        if estimate < SURELY_FITS {
            pairs::<u128>(self, &levels, estimate, events)
        } else {
            pairs::<UBig>(self, &levels, estimate, events)
        }
    }
}

/// About how many vectors there are.
fn estimate(levels: &Levels) -> Result<f64, Error> {
    let _lease = levels.lease(size_of::<f64>())?;
    let mut numbers = vec![0.0; levels.node_count()];
    for number in levels.upwards() {
        let below = |child: u32| if child == Forest::TERMINAL { 1.0 } else { numbers[levels.number(child)] };
        numbers[number] = levels.branches(number).map(|branch| below(branch.child)).sum::<f64>();
    }
    Ok(numbers[ROOT])
}

/// The number of vectors below each node.
struct Below<N> {
    numbers: Vec<N>,
    _lease: Lease,
}

impl<N: Number> Below<N> {
    fn new(levels: &Levels, estimate: f64) -> Result<Below<N>, Error> {
        let lease = levels.lease(N::bytes(estimate))?;
        let mut below = Below { numbers: vec![N::default(); levels.node_count()], _lease: lease };
        for number in levels.upwards() {
            let mut sum = N::default();
            levels.branches(number).for_each(|branch| below.add_to(&mut sum, levels, branch.child));
            below.numbers[number] = sum;
        }
        Ok(below)
    }

    fn add_to(&self, sum: &mut N, levels: &Levels, child: u32) {
        match child {
            Forest::TERMINAL => *sum += &N::ONE,
            child => *sum += &self.numbers[levels.number(child)],
        }
    }
}

fn paths<N: Number>(levels: &Levels, estimate: f64) -> Result<UBig, Error> {
    let mut below = Below::<N>::new(levels, estimate)?;
    Ok(std::mem::take(&mut below.numbers[ROOT]).into())
}

/// Guards of an event, with the same rest stored once: whether an event is possible does not depend on what it does.
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
struct Guard {
    level: u32,
    least: u32,
    most: u32,
    /// The number of the guard further down, if there is one.
    rest: Option<u32>,
}

/// All guards of some events.
#[derive(Default)]
struct Guards {
    guards: Vec<Guard>,
    numbers: FxHashMap<Guard, u32>,
    /// How many events begin with each guard.
    first: Vec<u64>,
    /// For each guard, the levels from which guards further up ask for it, once for each of them.
    asked_at: Vec<Vec<u32>>,
}

impl Guards {
    /// The guards of `events`, and how many events have none.
    fn new(core: &Core, events: &[Event]) -> (Guards, usize) {
        let mut guards = Guards::default();
        let mut free = 0;
        for &event in events {
            match guards.chain(core, event) {
                Some(first) => guards.first[first as usize] += 1,
                None => free += 1,
            }
        }
        guards.asked_at.iter_mut().for_each(|levels| levels.sort_unstable());
        (guards, free)
    }

    fn chain(&mut self, core: &Core, event: Event) -> Option<u32> {
        let changes: Vec<Change> = core.events.changes(event).collect();
        let guarded = changes.iter().rev().filter(|change| change.least > 0 || change.most < u32::MAX);
        guarded.fold(None, |rest, &Change { level, least, most, .. }| {
            Some(self.number(Guard { level, least, most, rest }))
        })
    }

    fn number(&mut self, guard: Guard) -> u32 {
        if let Some(&known) = self.numbers.get(&guard) {
            return known;
        }
        if let Some(rest) = guard.rest {
            self.asked_at[rest as usize].push(guard.level + 1);
        }
        let number = self.guards.len() as u32;
        self.numbers.insert(guard, number);
        self.guards.push(guard);
        self.first.push(0);
        self.asked_at.push(Vec::new());
        number
    }
}

/// Pairs of a vector and a possible event: those of events that begin at a node's level are counted at the node, and
/// those further down are added from its children.
fn pairs<N: Number>(core: &Core, levels: &Levels, estimate: f64, events: &[Event]) -> Result<UBig, Error> {
    let below = Below::<N>::new(levels, estimate)?;
    let _lease = levels.lease(N::bytes(estimate))?;
    let mut pairs = vec![N::default(); levels.node_count()];
    let (guards, free) = Guards::new(core, events);
    Possible { levels, below: &below, guards: &guards, answers: FxHashMap::default() }.add_to(&mut pairs)?;
    for number in levels.upwards() {
        let mut sum = std::mem::take(&mut pairs[number]);
        for branch in levels.branches(number).filter(|branch| branch.child != Forest::TERMINAL) {
            sum += &pairs[levels.number(branch.child)];
        }
        pairs[number] = sum;
    }
    let always: UBig = below.numbers[ROOT].clone().into();
    let guarded: UBig = std::mem::take(&mut pairs[ROOT]).into();
    Ok(guarded + always * UBig::from(free))
}

/// Numbers of a level's nodes, and how many guards will still ask for them.
type Answer<N> = (Rc<[N]>, usize);

/// Vectors below each node in which a guard and those further down hold.
struct Possible<'a, N> {
    levels: &'a Levels<'a>,
    below: &'a Below<N>,
    guards: &'a Guards,
    /// Answers by guard and level.
    answers: FxHashMap<(u32, u32), Answer<N>>,
}

impl<N: Number> Possible<'_, N> {
    /// Add the numbers of all events to the nodes at the levels at which they begin.
    fn add_to(&mut self, pairs: &mut [N]) -> Result<(), Error> {
        let mut from_below: Vec<u32> = (0..self.guards.guards.len() as u32).collect();
        from_below.sort_by_key(|&number| std::cmp::Reverse(self.guards.guards[number as usize].level));
        for number in from_below {
            self.levels.look_up()?;
            let possible = self.at_own_level(number);
            let level = self.guards.guards[number as usize].level as usize;
            for _ in 0..self.guards.first[number as usize] {
                let sums = &mut pairs[self.levels.numbers_at(level)];
                sums.iter_mut().zip(&*possible).for_each(|(sum, possible)| *sum += possible);
            }
            self.answer_above(number, possible);
        }
        Ok(())
    }

    /// For each node of the guard's level.
    fn at_own_level(&mut self, number: u32) -> Rc<[N]> {
        let Guard { level, least, most, rest } = self.guards.guards[number as usize];
        let below = rest.map(|rest| self.ask(rest, level + 1));
        self.sums(level as usize, below.as_deref(), |value| (least..=most).contains(&value))
    }

    /// Sums over the children of each node of `level`, of `below` or else of all vectors.
    fn sums(&self, level: usize, below: Option<&[N]>, allows: impl Fn(u32) -> bool) -> Rc<[N]> {
        let next = if below.is_some() { self.levels.numbers_at(level + 1).start } else { 0 };
        let sum = |number| {
            let mut sum = N::default();
            for branch in self.levels.branches(number).filter(|branch| allows(branch.value)) {
                match below {
                    Some(numbers) => sum += &numbers[self.levels.number(branch.child) - next],
                    None => self.below.add_to(&mut sum, self.levels, branch.child),
                }
            }
            sum
        };
        self.levels.numbers_at(level).map(sum).collect()
    }

    /// Carry numbers up to where they are asked for.
    fn answer_above(&mut self, number: u32, numbers: Rc<[N]>) {
        let asked_at = &self.guards.asked_at[number as usize];
        let Some(&highest) = asked_at.first() else { return };
        let own = self.guards.guards[number as usize].level;
        let mut numbers = numbers;
        for level in (highest..=own).rev() {
            if level < own {
                numbers = self.sums(level as usize, Some(&numbers), |_| true);
            }
            let askers = asked_at.iter().filter(|&&asked| asked == level).count();
            if askers > 0 {
                self.answers.insert((number, level), (numbers.clone(), askers));
            }
        }
    }

    /// The numbers of a guard at a level; they are gone when the last has asked.
    fn ask(&mut self, number: u32, level: u32) -> Rc<[N]> {
        let (numbers, askers) = self.answers.get_mut(&(number, level)).expect("guards further down come first");
        *askers -= 1;
        let numbers = numbers.clone();
        if *askers == 0 {
            self.answers.remove(&(number, level));
        }
        numbers
    }
}
