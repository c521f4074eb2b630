//! Counting pairs of a vector and an event that is possible in it.

use super::core::Core;
use super::event::{Change, Event};
use super::levels::Levels;
use super::measure::{Below, Number};
use crate::error::Error;
use dashu_int::UBig;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use tremula_table::Forest;

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
/// those further down are added from its children. Numbers have room for all pairs that there could be.
pub(super) fn count_possible<N: Number>(
    core: &Core,
    levels: &Levels,
    below: &Below<N>,
    events: &[Event],
) -> Result<UBig, Error> {
    let beside: usize = levels.upwards().map(|number| below.at(number).bytes_beside()).sum();
    let _lease = levels.lease(size_of::<N>() + beside / levels.node_count())?;
    let mut pairs = vec![N::default(); levels.node_count()];
    let (guards, free) = Guards::new(core, events);
    Possible { levels, below, guards: &guards, answers: FxHashMap::default() }.add_to(&mut pairs)?;
    for number in levels.upwards() {
        let mut sum = std::mem::take(&mut pairs[number]);
        for branch in levels.branches(number).filter(|branch| branch.child != Forest::TERMINAL) {
            sum += &pairs[levels.number(branch.child)];
        }
        pairs[number] = sum;
    }
    let always: UBig = below.all().clone().into();
    let guarded: UBig = pairs.swap_remove(0).into();
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
                    None if branch.child == Forest::TERMINAL => sum += &N::ONE,
                    None => sum += self.below.at(self.levels.number(branch.child)),
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
