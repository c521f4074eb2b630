//! Transition relations on vectors, compiled for images.
//!
//! A step says what a relation does to the value at one level, and by which steps it goes on below. Levels that a relation
//! leaves alone have steps too, which keep any value, so that a step always belongs to one level; below the last level that
//! it touches there is only [`Step::IDENTITY`]. Equal steps are shared, and so are cached images.
//!
//! ```text
//! reads and writes   from one value to one value: the copy node of a value is that value
//! reads only         from one value to the same
//! writes only        from any value to one, or to the same where there is a copy node
//! ```

use crate::env::Interned;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// One way from a value to a value.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Arm {
    /// The value before, if one is asked for.
    pub from: u32,
    /// The value after, if it is a certain one.
    pub to: u32,
    /// The step below.
    pub next: u32,
}

/// What happens at one level.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Step {
    /// The level.
    pub level: u32,
    /// Any value stays.
    keeps: Range<u32>,
    /// Any value becomes a certain one.
    sets: Range<u32>,
    /// A certain value becomes a certain one; ascending.
    moves: Range<u32>,
}

impl Step {
    /// Nothing is possible.
    pub const EMPTY: u32 = 0;
    /// Nothing changes from here on.
    pub const IDENTITY: u32 = 1;
    const FIRST: u32 = 2;
}

/// The arms of a step in the making.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct Arms {
    /// Steps below, with the value kept.
    pub keeps: Vec<u32>,
    /// Values written, and the steps below.
    pub sets: Vec<(u32, u32)>,
    /// Arms for single values.
    pub moves: Vec<Arm>,
}

/// Relations side by side, for images and closures under all of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct System {
    /// For each level the step of all relations that begin there.
    pub events: Vec<u32>,
    /// The closure under all relations.
    pub whole: u32,
}

/// Closing a set under a system, from some level downwards only.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Closure {
    /// The system.
    pub system: u32,
    /// Relations that begin above this level do not count.
    pub from: u32,
}

/// A projection, level by level from the top.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// Does the value at this level belong to the projection?
    pub kept: bool,
    /// What is to be done below.
    pub next: u32,
}

impl Plan {
    /// No level from here on belongs to the projection.
    pub const END: u32 = 0;
}

/// Everything that operations on lists look up beside nodes.
#[derive(Default, Serialize, Deserialize)]
pub struct Steps {
    steps: Vec<Step>,
    arms: Vec<Arm>,
    /// Not needed by those who only look steps up.
    #[serde(skip)]
    unique: FxHashMap<(u32, Arms), u32>,
    systems: Vec<System>,
    closures: Interned<Closure>,
    plans: Interned<Plan>,
}

impl Steps {
    /// The step behind a number that is neither empty nor identity.
    #[inline]
    pub fn step(&self, number: u32) -> &Step {
        &self.steps[(number - Step::FIRST) as usize]
    }

    #[inline]
    fn arms(&self, range: &Range<u32>) -> &[Arm] {
        &self.arms[range.start as usize..range.end as usize]
    }

    /// The only step below, if this one leaves its level alone.
    #[inline]
    pub fn skipped(&self, step: &Step) -> Option<u32> {
        let alone = step.sets.is_empty() && step.moves.is_empty() && step.keeps.len() == 1;
        alone.then(|| self.arms[step.keeps.start as usize].next)
    }

    /// The values that `value` may become, and the steps below.
    #[inline]
    pub fn ways(&self, step: &Step, value: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let moves = self.arms(&step.moves);
        let first = moves.partition_point(|arm| arm.from < value);
        let moves = moves[first..].iter().take_while(move |arm| arm.from == value);
        let keeps = self.arms(&step.keeps).iter().map(move |arm| (value, arm.next));
        keeps.chain(self.arms(&step.sets).iter().chain(moves).map(|arm| (arm.to, arm.next)))
    }

    /// How many steps, systems, closures and plans there are.
    pub fn lengths(&self) -> [usize; 4] {
        [self.steps.len(), self.systems.len(), self.closures.len(), self.plans.len()]
    }

    /// Bytes in use, for the budget.
    pub fn bytes(&self) -> usize {
        // A key holds its arms once more.
        2 * self.arms.capacity() * size_of::<Arm>()
            + self.steps.capacity() * (size_of::<Step>() + 2 * size_of::<(u32, Arms)>())
    }

    /// The same without what finds steps by their content.
    pub fn bytes_of_copy(&self) -> usize {
        self.arms.len() * size_of::<Arm>() + self.steps.len() * size_of::<Step>()
    }

    /// Number of steps and arms, for statistics.
    pub fn size(&self, relation: u32) -> usize {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut pending = vec![relation];
        while let Some(number) = pending.pop() {
            if number >= Step::FIRST && seen.insert(number) {
                let step = self.step(number);
                let arms = [&step.keeps, &step.sets, &step.moves].map(|range| self.arms(range));
                pending.extend(arms.into_iter().flatten().map(|arm| arm.next));
            }
        }
        seen.len()
    }

    /// The step with these arms: found, or made.
    pub fn make(&mut self, level: u32, mut arms: Arms) -> u32 {
        arms.keeps.retain(|&next| next != Step::EMPTY);
        arms.sets.retain(|&(_, next)| next != Step::EMPTY);
        arms.moves.retain(|arm| arm.next != Step::EMPTY);
        arms.keeps.sort_unstable();
        arms.keeps.dedup();
        arms.sets.sort_unstable();
        arms.sets.dedup();
        arms.moves.sort_unstable();
        arms.moves.dedup();
        if arms.sets.is_empty() && arms.moves.is_empty() && arms.keeps.iter().all(|&next| next == Step::IDENTITY) {
            return if arms.keeps.is_empty() { Step::EMPTY } else { Step::IDENTITY };
        }
        let key = (level, arms);
        if let Some(&known) = self.unique.get(&key) {
            return known;
        }
        let arms = &key.1;
        let mut add = |arms: &mut dyn Iterator<Item = Arm>| {
            let start = self.arms.len() as u32;
            self.arms.extend(arms);
            start..self.arms.len() as u32
        };
        let keeps = add(&mut arms.keeps.iter().map(|&next| Arm { from: 0, to: 0, next }));
        let sets = add(&mut arms.sets.iter().map(|&(to, next)| Arm { from: 0, to, next }));
        let moves = add(&mut arms.moves.iter().copied());
        self.steps.push(Step { level, keeps, sets, moves });
        let number = self.steps.len() as u32 - 1 + Step::FIRST;
        self.unique.insert(key, number);
        number
    }

    /// The relation `below`, which begins at `from`, from the higher level `to` on: what is between stays as it is.
    pub fn raise(&mut self, below: u32, from: u32, to: u32) -> u32 {
        (to..from).rev().fold(below, |next, level| self.make(level, Arms { keeps: vec![next], ..Arms::default() }))
    }

    /// Relations side by side, each without the levels above its first, over vectors of `length`.
    pub fn put_together(&mut self, relations: &[u32], length: u32) -> u32 {
        let mut levels: Vec<Arms> = vec![Arms::default(); length as usize];
        for &relation in relations.iter().filter(|&&relation| relation >= Step::FIRST) {
            let step = self.step(relation);
            let all = &mut levels[step.level as usize];
            all.keeps.extend(self.arms(&step.keeps).iter().map(|arm| arm.next));
            all.sets.extend(self.arms(&step.sets).iter().map(|arm| (arm.to, arm.next)));
            all.moves.extend(self.arms(&step.moves));
        }
        let mut events: Vec<u32> = (0..).zip(levels).map(|(level, arms)| self.make(level, arms)).collect();
        events.truncate(events.iter().rposition(|&event| event != Step::EMPTY).map_or(0, |last| last + 1));
        let whole = self.closures.intern(Closure { system: self.systems.len() as u32, from: 0 });
        self.systems.push(System { events, whole });
        self.systems.len() as u32 - 1
    }

    /// The system behind a number.
    #[inline]
    pub fn system(&self, number: u32) -> &System {
        &self.systems[number as usize]
    }

    /// The number of a closure.
    pub fn closure_number(&mut self, closure: Closure) -> u32 {
        self.closures.intern(closure)
    }

    /// The closure behind a number.
    #[inline]
    pub fn closure(&self, number: u32) -> Closure {
        *self.closures.get(number)
    }

    /// The number of the plan of the projection on these levels, ascending.
    pub fn plan_number(&mut self, levels: &[u32]) -> u32 {
        let end = levels.last().map_or(0, |last| last + 1);
        (0..end).rev().fold(Plan::END, |next, level| {
            self.plans.intern(Plan { kept: levels.binary_search(&level).is_ok(), next }) + 1
        })
    }

    /// The plan behind a number that is not the end.
    #[inline]
    pub fn plan(&self, number: u32) -> Plan {
        *self.plans.get(number - 1)
    }
}

impl System {
    /// The step of all relations that begin at `level`; empty if there is none.
    #[inline]
    pub fn event(&self, level: u32) -> u32 {
        self.events.get(level as usize).copied().unwrap_or(Step::EMPTY)
    }

    /// Does no relation begin at `level` or below?
    #[inline]
    pub fn ends_above(&self, level: u32) -> bool {
        level as usize >= self.events.len()
    }
}
