//! Successors under one event, and the states in which it is possible or not.

use super::core::{Core, with_stack};
use super::event::{Event, Step};
use crate::error::Error;
use tremula_table::{Forest, MemoKind, Operation, Question};

const FIRE: Operation = Operation::on_node(0);
const DISABLED: Operation = Operation::on_node(1);
/// Numbers of operations that other files may use.
pub const FIRST_FREE: u32 = 2;

impl Core {
    /// The states that `event` leads to from those of `set`, which is at `level` or the terminal.
    pub fn fire(&mut self, set: u32, event: Event, level: usize) -> Result<u32, Error> {
        if event == Event::NOTHING || set == Forest::EMPTY {
            return Ok(set);
        }
        let question = Question { node: set, other: event.0, operation: FIRE };
        if let Some(known) = self.forest.recall(MemoKind::Events, &question) {
            return Ok(known);
        }
        let result = with_stack(level, || {
            self.fire_branches(set, event, level, &mut Core::fire)?;
            self.pack(level)
        })?;
        self.forest.remember(MemoKind::Events, &question, result);
        Ok(result)
    }

    /// Fill the frame at `level` with what `event` makes of the branches of `set`; `below` does the same to children.
    #[inline]
    pub fn fire_branches(
        &mut self,
        set: u32,
        event: Event,
        level: usize,
        below: &mut impl FnMut(&mut Core, u32, Event, usize) -> Result<u32, Error>,
    ) -> Result<(), Error> {
        let shape = self.forest.shape(set);
        let Step { change, rest } = self.events.first(event);
        if change.level as usize > level {
            for n in 0..shape.len {
                let branch = self.forest.branch(&shape, n);
                let child = below(self, branch.child, event, level + 1)?;
                self.add_branch(level, branch.value, child);
            }
            return Ok(());
        }
        for n in self.forest.first_from(&shape, change.least)..shape.len {
            let branch = self.forest.branch(&shape, n);
            if branch.value > change.most {
                break;
            }
            let child = below(self, branch.child, rest, level + 1)?;
            if child != Forest::EMPTY {
                self.add_branch(level, change.apply(branch.value)?, child);
            }
        }
        Ok(())
    }

    /// The states of `set` in which `event` is not possible.
    pub fn disabled(&mut self, set: u32, event: Event, level: usize) -> Result<u32, Error> {
        if event == Event::NOTHING || set == Forest::EMPTY {
            return Ok(Forest::EMPTY);
        }
        let question = Question { node: set, other: event.0, operation: DISABLED };
        if let Some(known) = self.forest.recall(MemoKind::Events, &question) {
            return Ok(known);
        }
        let result = with_stack(level, || self.disabled_branches(set, event, level))?;
        self.forest.remember(MemoKind::Events, &question, result);
        Ok(result)
    }

    fn disabled_branches(&mut self, set: u32, event: Event, level: usize) -> Result<u32, Error> {
        let shape = self.forest.shape(set);
        let Step { change, rest } = self.events.first(event);
        for n in 0..shape.len {
            let branch = self.forest.branch(&shape, n);
            let child = if change.level as usize > level {
                self.disabled(branch.child, event, level + 1)?
            } else if change.allows(branch.value) {
                self.disabled(branch.child, rest, level + 1)?
            } else {
                branch.child
            };
            self.add_branch(level, branch.value, child);
        }
        self.pack(level)
    }
}
