//! Projection on some levels, and the vectors whose projection is in a set.
//!
//! All sets of a manager have vectors of one length, so a projection keeps the length: the values at other levels become
//! zero. What was different there only is the same afterwards.

use super::core::{Core, with_stack};
use super::sets::FIRST_FREE;
use crate::env::Interned;
use crate::error::Error;
use tremula_table::{Forest, MemoKind, Operation, Question};

const PROJECT: Operation = Operation::on_node(0);
const HAS_ZEROS: Operation = Operation::on_node(1);

/// More plans would leave no numbers to operations.
const MOST_PLANS: u32 = 1 << 30;

/// The levels on which a manager projects, from some level on: the number of the first of them.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Plan(u32);

impl Plan {
    /// No level from here on.
    pub const END: Plan = Plan(0);

    /// The selection by this plan.
    fn matching(self) -> Operation {
        Operation::on_nodes(FIRST_FREE + self.0)
    }
}

/// A level on which to project, and those further down.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
struct Kept {
    level: u32,
    rest: Plan,
}

/// All plans of a manager, with common endings stored once.
#[derive(Default)]
pub struct Plans {
    kept: Interned<Kept>,
}

impl Plans {
    /// The plan for these levels, in any order.
    pub fn plan(&mut self, levels: &[u32]) -> Result<Plan, Error> {
        let mut levels = levels.to_vec();
        levels.sort_unstable();
        levels.dedup();
        levels.into_iter().rev().try_fold(Plan::END, |rest, level| {
            let number = self.kept.intern(Kept { level, rest });
            if number < MOST_PLANS { Ok(Plan(number + 1)) } else { Err(Error::TooManyParameters) }
        })
    }

    /// Is `level`, the highest that the plan may begin with, kept? And what is the plan below it?
    #[inline]
    fn at(&self, plan: Plan, level: usize) -> (bool, Plan) {
        if plan == Plan::END {
            return (false, plan);
        }
        let &Kept { level: first, rest } = self.kept.get(plan.0 - 1);
        if first as usize == level { (true, rest) } else { (false, plan) }
    }
}

impl Core {
    /// The states of `set`, which is at `level`, with zeros at the levels that `plan` does not keep.
    pub fn project(&mut self, set: u32, plan: Plan, level: usize) -> Result<u32, Error> {
        if set <= Forest::TERMINAL {
            return Ok(set);
        }
        let question = Question { node: set, other: plan.0, operation: PROJECT };
        if let Some(known) = self.forest.recall(MemoKind::Sets, &question) {
            return Ok(known);
        }
        let result = with_stack(level, || self.project_branches(set, plan, level))?;
        self.forest.remember(MemoKind::Sets, &question, result);
        Ok(result)
    }

    fn project_branches(&mut self, set: u32, plan: Plan, level: usize) -> Result<u32, Error> {
        let shape = self.forest.shape(set);
        let (is_kept, below) = self.plans.at(plan, level);
        // Where no level is kept any more, all children become the same.
        let matter = if plan == Plan::END { 1 } else { shape.len };
        for n in 0..matter {
            let branch = self.forest.branch(&shape, n);
            let child = self.project(branch.child, below, level + 1)?;
            if is_kept {
                self.add_branch(level, branch.value, child);
            } else {
                self.add_below_zero(level, child)?;
            }
        }
        self.pack(level)
    }

    /// Add states to those below zero, the only value of the node in the making at `level`.
    fn add_below_zero(&mut self, level: usize, states: u32) -> Result<(), Error> {
        let before = self.frames[level].branches.first().map_or(Forest::EMPTY, |branch| branch.child);
        let all = self.keeping(states, |core| core.union(before, states, level + 1))?;
        self.frames[level].branches.clear();
        self.add_branch(level, 0, all);
        Ok(())
    }

    /// The states of `set` whose projection by `plan` is in `among`; both are at `level`.
    pub fn matching(&mut self, set: u32, among: u32, plan: Plan, level: usize) -> Result<u32, Error> {
        if set == Forest::EMPTY || among == Forest::EMPTY {
            return Ok(Forest::EMPTY);
        }
        if plan == Plan::END {
            return Ok(if self.has_zeros(among) { set } else { Forest::EMPTY });
        }
        let question = Question { node: set, other: among, operation: plan.matching() };
        if let Some(known) = self.forest.recall(MemoKind::Sets, &question) {
            return Ok(known);
        }
        let result = with_stack(level, || self.matching_branches(set, among, plan, level))?;
        self.forest.remember(MemoKind::Sets, &question, result);
        Ok(result)
    }

    fn matching_branches(&mut self, set: u32, among: u32, plan: Plan, level: usize) -> Result<u32, Error> {
        let shape = self.forest.shape(set);
        let (is_kept, below) = self.plans.at(plan, level);
        for n in 0..shape.len {
            let branch = self.forest.branch(&shape, n);
            let partner = self.child(among, if is_kept { branch.value } else { 0 });
            let child = self.matching(branch.child, partner, below, level + 1)?;
            self.add_branch(level, branch.value, child);
        }
        self.pack(level)
    }

    /// Is the vector of zeros in this set?
    fn has_zeros(&mut self, set: u32) -> bool {
        if set <= Forest::TERMINAL {
            return set == Forest::TERMINAL;
        }
        let question = Question { node: set, other: 0, operation: HAS_ZEROS };
        if let Some(known) = self.forest.recall(MemoKind::Sets, &question) {
            return known == Forest::TERMINAL;
        }
        let mut end = set;
        while end > Forest::TERMINAL {
            end = self.child(end, 0);
        }
        self.forest.remember(MemoKind::Sets, &question, end);
        end == Forest::TERMINAL
    }
}
