//! Enumeration of satisfying assignments.
//!
//! The iterator remembers the last assignment only, and walks down from the root for the next one. So it holds no
//! references into the table that a compaction between two steps could move.

use crate::bdd::Bdd;
use crate::error::Error;
use tremula_table::Ref;

/// Iterator over satisfying assignments in lexicographic order; see [`Bdd::assignments`].
pub struct Assignments {
    function: Bdd,
    levels: Vec<u32>,
    state: State,
}

enum State {
    Fresh,
    After(Vec<bool>),
    Finished,
}

impl Assignments {
    pub(crate) fn new(function: Bdd, levels: &[u32]) -> Result<Assignments, Error> {
        let mut levels = levels.to_vec();
        levels.sort_unstable();
        levels.dedup();
        match function.support()?.into_iter().find(|level| levels.binary_search(level).is_err()) {
            Some(level) => Err(Error::NotCounted { level }),
            None => Ok(Assignments { function, levels, state: State::Fresh }),
        }
    }

    /// The function that remains after the variable at position `at` got `value`.
    fn step(&self, f: Ref, at: usize, value: bool) -> Ref {
        let core = self.function.manager().core.borrow();
        let node = core.table.node(f);
        if node.level != self.levels[at] {
            return f;
        }
        if value { node.high } else { node.low }.under(f)
    }

    /// Complete `prefix`, which leads to `f`, in the smallest way.
    fn complete(&self, mut prefix: Vec<bool>, mut f: Ref) -> Option<Vec<bool>> {
        if f == Ref::FALSE {
            return None;
        }
        for at in prefix.len()..self.levels.len() {
            let low = self.step(f, at, false);
            let value = low == Ref::FALSE;
            f = if value { self.step(f, at, true) } else { low };
            prefix.push(value);
        }
        Some(prefix)
    }

    /// The smallest assignment larger than `last`.
    fn following(&self, last: &[bool]) -> Option<Vec<bool>> {
        let mut path = vec![self.function.target()];
        for (at, &value) in last.iter().enumerate() {
            path.push(self.step(path[at], at, value));
        }
        (0..last.len()).rev().filter(|&at| !last[at]).find_map(|at| {
            let mut prefix = last[..at].to_vec();
            prefix.push(true);
            self.complete(prefix, self.step(path[at], at, true))
        })
    }
}

impl Iterator for Assignments {
    type Item = Vec<bool>;

    fn next(&mut self) -> Option<Vec<bool>> {
        let next = match &self.state {
            State::Fresh => self.complete(Vec::new(), self.function.target()),
            State::After(last) => self.following(last),
            State::Finished => None,
        };
        self.state = next.clone().map_or(State::Finished, State::After);
        next
    }
}
