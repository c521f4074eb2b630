//! The closure of one vector, level by level from the last: work that can be interrupted and goes on from there.

use super::event::Event;
use super::handle::{Mdd, MddManager};
use super::saturate::{Closure, Saturation};
use crate::error::Error;
use tremula_table::{Branch, Forest};

/// Everything that events lead to from one vector, in the making.
///
/// What is found for some of the last levels is closed under the events that touch only these: with the values of the
/// start before it, it is a part of the whole.
pub struct Saturator {
    closure: Closure,
    start: Vec<u32>,
    /// Levels that are not done yet.
    left: usize,
    /// What was found for the others.
    found: Mdd,
}

impl Saturator {
    /// Begin with the vector `start`.
    ///
    /// # Panics
    ///
    /// If the vector has another length than those of the manager.
    #[must_use]
    pub fn new(manager: &MddManager, start: &[u32], events: &[Event], saturation: Saturation) -> Saturator {
        assert_eq!(start.len(), manager.levels(), "the length of vectors is that of the manager");
        let closure = Closure::new(&mut manager.core(), events, saturation);
        Saturator { closure, start: start.to_vec(), left: start.len(), found: manager.handle(Forest::TERMINAL) }
    }

    /// The manager of all sets.
    #[must_use]
    pub fn manager(&self) -> &MddManager {
        self.found.manager()
    }

    /// How many levels are done.
    #[must_use]
    pub fn levels_done(&self) -> usize {
        self.start.len() - self.left
    }

    /// Go on to the end. After an error this may be called again.
    pub fn run(&mut self) -> Result<Mdd, Error> {
        while self.left > 0 {
            let (level, child) = (self.left - 1, self.found.node());
            let value = self.start[level];
            self.found = self.manager().apply(|core| {
                core.frames[level].branches.push(Branch { value, child });
                self.closure.close_frame(core, level)
            })?;
            self.left = level;
        }
        Ok(self.found.clone())
    }

    /// What is found so far.
    pub fn so_far(&self) -> Result<Mdd, Error> {
        let found = self.found.node();
        self.manager().apply(|core| {
            (0..self.left).rev().try_fold(found, |child, level| {
                core.frames[level].branches.push(Branch { value: self.start[level], child });
                core.pack(level)
            })
        })
    }
}
