//! What users hold: managers, and sets that live as long as somebody has a handle on them.

use super::core::{Core, MddOptions};
use super::event::{Change, Event};
use super::levels::Levels;
use super::measure::Survey;
use super::project::Plan;
use super::saturate::{Closure, Saturation};
use crate::error::Error;
use dashu_int::UBig;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use tremula_table::{Attention, Branch, Budget, Counters, FOREST_LEVELS, Forest};

/// Sets of vectors of one length, and the memory they live in. Clones share it; operations of different threads take
/// turns.
#[derive(Clone)]
pub struct MddManager {
    core: Arc<Mutex<Core>>,
    levels: usize,
}

/// A set of vectors.
pub struct Mdd {
    manager: MddManager,
    slot: u32,
}

impl MddManager {
    /// A manager for vectors of `levels` numbers, inside `budget`.
    pub fn new(levels: usize, budget: &Budget, options: MddOptions, attention: Attention) -> Result<MddManager, Error> {
        if levels >= FOREST_LEVELS as usize {
            return Err(Error::LevelTooLarge { level: levels as u32 });
        }
        let core = Core::new(levels, budget, options, attention).map_err(|_| Error::TableFull)?;
        Ok(MddManager { core: Arc::new(Mutex::new(core)), levels })
    }

    /// How many numbers a vector has.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.levels
    }

    /// The set with no vector.
    #[must_use]
    pub fn empty(&self) -> Mdd {
        self.handle(Forest::EMPTY)
    }

    /// The set with one vector.
    ///
    /// # Panics
    ///
    /// If the vector has another length than those of this manager.
    pub fn vector(&self, values: &[u32]) -> Result<Mdd, Error> {
        assert_eq!(values.len(), self.levels, "the length of vectors is that of the manager");
        self.apply(|core| {
            (0..values.len()).rev().try_fold(Forest::TERMINAL, |child, level| {
                core.frames[level].branches.push(Branch { value: values[level], child });
                core.pack(level)
            })
        })
    }

    /// An event that makes these changes, which ascend by level.
    pub fn event(&self, changes: &[Change]) -> Result<Event, Error> {
        match changes.iter().find(|change| change.level as usize >= self.levels) {
            Some(change) => Err(Error::LevelTooLarge { level: change.level }),
            None => self.core().event(changes),
        }
    }

    /// The event that undoes another: it leads from each state back to those that the other came from. None if the other
    /// leads nowhere, because all values that it leads to are too large.
    pub fn reversed(&self, event: Event) -> Result<Option<Event>, Error> {
        let core = &mut *self.core();
        let back = |change: Change| {
            let least = change.apply(change.least).ok()?;
            let most = change.apply(change.most).unwrap_or(u32::MAX);
            Some(Change { least, most, delta: -change.delta, ..change })
        };
        let changes: Option<Vec<Change>> = core.events.changes(event).map(back).collect();
        changes.map(|changes| core.event(&changes)).transpose()
    }

    /// The changes of an event, from above; not those that change nothing and allow everything.
    #[must_use]
    pub fn changes(&self, event: Event) -> Vec<Change> {
        self.core().events.changes(event).collect()
    }

    /// Memory that events take, beside the table.
    #[must_use]
    pub fn event_bytes(&self) -> usize {
        self.core().events.bytes()
    }

    /// Free what no handle protects, and forget what is known of it. Operations do so by themselves when they need room.
    pub fn collect(&self) {
        self.core().collect();
    }

    /// Let operations end with [`Error::OutOfFuel`] after so many more look-ups of results, or never.
    pub fn set_fuel(&self, lookups: Option<u64>) {
        self.core().forest.set_fuel(lookups);
    }

    /// Listen to another attention word from now on: one that nobody cancels lets a stopped computation tell what it found.
    pub fn set_attention(&self, attention: Attention) {
        self.core().forest.set_attention(attention);
    }

    /// Running totals and present sizes of the tables.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.core().forest.counters()
    }

    fn is(&self, other: &MddManager) -> bool {
        Arc::ptr_eq(&self.core, &other.core)
    }

    /// The state, for one operation.
    ///
    /// # Panics
    ///
    /// If an operation panicked before.
    pub(super) fn core(&self) -> MutexGuard<'_, Core> {
        self.core.lock().expect("no operation panicked")
    }

    pub(super) fn apply(&self, operation: impl FnOnce(&mut Core) -> Result<u32, Error>) -> Result<Mdd, Error> {
        let result = {
            let core = &mut *self.core();
            operation(core).inspect_err(|_| core.reset())
        };
        Ok(self.handle(result?))
    }

    pub(super) fn handle(&self, node: u32) -> Mdd {
        let slot = self.core().open_slot(node);
        Mdd { manager: self.clone(), slot }
    }
}

impl Mdd {
    /// The manager that the set lives in.
    #[must_use]
    pub fn manager(&self) -> &MddManager {
        &self.manager
    }

    pub(super) fn node(&self) -> u32 {
        self.manager.core().in_slot(self.slot)
    }

    fn mate(&self, other: &Mdd) -> Result<u32, Error> {
        if self.manager.is(&other.manager) { Ok(other.node()) } else { Err(Error::DifferentManagers) }
    }

    /// What is in one of the sets or in both.
    pub fn union(&self, other: &Mdd) -> Result<Mdd, Error> {
        let (a, b) = (self.node(), self.mate(other)?);
        self.manager.apply(|core| core.union(a, b, 0))
    }

    /// What is in both sets.
    pub fn intersection(&self, other: &Mdd) -> Result<Mdd, Error> {
        let (a, b) = (self.node(), self.mate(other)?);
        self.manager.apply(|core| core.intersection(a, b, 0))
    }

    /// What is in this set and not in the other.
    pub fn minus(&self, other: &Mdd) -> Result<Mdd, Error> {
        let (a, b) = (self.node(), self.mate(other)?);
        self.manager.apply(|core| core.minus(a, b, 0))
    }

    /// The plan for projections on `levels`.
    fn plan(&self, levels: &[u32]) -> Result<Plan, Error> {
        match levels.iter().find(|&&level| level as usize >= self.manager.levels) {
            Some(&level) => Err(Error::LevelTooLarge { level }),
            None => self.manager.core().plans.plan(levels),
        }
    }

    /// The vectors of this set with their values at `levels`, in any order, and zeros elsewhere.
    pub fn project(&self, levels: &[u32]) -> Result<Mdd, Error> {
        let (set, plan) = (self.node(), self.plan(levels)?);
        self.manager.apply(|core| core.project(set, plan, 0))
    }

    /// The vectors of this set whose projection on `levels` is in `among`. Vectors of `among` with other values than zeros
    /// elsewhere are projections of none.
    pub fn matching(&self, levels: &[u32], among: &Mdd) -> Result<Mdd, Error> {
        let (set, among, plan) = (self.node(), self.mate(among)?, self.plan(levels)?);
        self.manager.apply(|core| core.matching(set, among, plan, 0))
    }

    /// Where `event` leads from the vectors of this set.
    pub fn fire(&self, event: Event) -> Result<Mdd, Error> {
        let set = self.node();
        self.manager.apply(|core| core.fire(set, event, 0))
    }

    /// The vectors of this set in which `event` is not possible.
    pub fn disabled(&self, event: Event) -> Result<Mdd, Error> {
        let set = self.node();
        self.manager.apply(|core| core.disabled(set, event, 0))
    }

    /// The smallest set that contains this one and that no event leads out of.
    pub fn closure(&self, events: &[Event], saturation: Saturation) -> Result<Mdd, Error> {
        let set = self.node();
        self.manager.apply(|core| Closure::new(core, events, saturation).close(core, set, 0))
    }

    /// Has the set no vector?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.node() == Forest::EMPTY
    }

    /// Look at the figures of the set, for which `weight` tells what a value of a level counts for in a sum. The manager is
    /// locked meanwhile: `look` must not call anything of it.
    pub fn survey<T>(
        &self,
        weight: impl Fn(u32, u32) -> u128,
        look: impl FnOnce(&Survey<'_>) -> T,
    ) -> Result<T, Error> {
        let set = self.node();
        Ok(look(&Survey::new(&self.manager.core(), set, weight)?))
    }

    /// How many vectors there are.
    pub fn count(&self) -> Result<UBig, Error> {
        self.survey(|_, _| 0, |survey| survey.vectors().clone())
    }

    /// How many pairs there are of a vector and one of `events` that is possible in it.
    pub fn count_possible(&self, events: &[Event]) -> Result<UBig, Error> {
        self.survey(|_, _| 0, |survey| survey.possible(events))?
    }

    /// How many nodes the diagram has.
    pub fn node_count(&self) -> Result<usize, Error> {
        let (set, core) = (self.node(), self.manager.core());
        if set <= Forest::TERMINAL { Ok(0) } else { Ok(Levels::new(&core, set)?.node_count()) }
    }

    /// Is this vector in the set?
    #[must_use]
    pub fn contains(&self, vector: &[u32]) -> bool {
        let core = self.manager.core();
        let below = |node: u32, &value: &u32| (node > Forest::TERMINAL).then(|| core.child(node, value));
        vector.iter().try_fold(core.in_slot(self.slot), below) == Some(Forest::TERMINAL)
    }

    /// All vectors in lexicographic order.
    #[must_use]
    pub fn vectors(&self) -> Vectors<'_> {
        Vectors { set: self, path: Vec::new(), started: false }
    }
}

impl Clone for Mdd {
    fn clone(&self) -> Mdd {
        self.manager.core().slots.share(self.slot);
        Mdd { manager: self.manager.clone(), slot: self.slot }
    }
}

impl Drop for Mdd {
    fn drop(&mut self) {
        self.manager.core().slots.close(self.slot);
    }
}

impl PartialEq for Mdd {
    fn eq(&self, other: &Mdd) -> bool {
        self.manager.is(&other.manager) && self.node() == other.node()
    }
}

impl Eq for Mdd {}

impl fmt::Debug for Mdd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mdd({})", self.node())
    }
}

/// The vectors of a set, in lexicographic order.
pub struct Vectors<'a> {
    set: &'a Mdd,
    /// The node of each level on the way to the present vector, and which of its branches was taken.
    path: Vec<(u32, usize)>,
    started: bool,
}

impl Iterator for Vectors<'_> {
    type Item = Vec<u32>;

    fn next(&mut self) -> Option<Vec<u32>> {
        let core = self.set.manager.core();
        let root = core.in_slot(self.set.slot);
        if !std::mem::replace(&mut self.started, true) {
            if root <= Forest::TERMINAL {
                return (root == Forest::TERMINAL).then(Vec::new);
            }
            self.path.push((root, 0));
        } else {
            // Go back to the last node that has another branch.
            loop {
                let (node, taken) = self.path.pop()?;
                if taken + 1 < core.forest.shape(node).len {
                    self.path.push((node, taken + 1));
                    break;
                }
            }
        }
        while self.path.len() < self.set.manager.levels {
            let &(node, taken) = self.path.last()?;
            self.path.push((core.forest.branch(&core.forest.shape(node), taken).child, 0));
        }
        let value = |&(node, taken): &(u32, usize)| core.forest.branch(&core.forest.shape(node), taken).value;
        Some(self.path.iter().map(value).collect())
    }
}
