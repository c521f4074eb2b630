//! Programs whose tasks and answers say everything, so that workers of several processes can run them together.
//!
//! Each process has its own copy of the program, made of the same numbers; nothing that a task writes is looked at but
//! its answer.

use tremula_tasks::{Allies, Gate, Panicked, Pool, Work};

/// A program for workers of several processes.
pub(crate) trait ForRanks: Sync {
    /// Run it to the end, as the first worker.
    fn lead(&self, allies: &Allies, least_stack: usize) -> Result<u64, Panicked>;

    /// Take part in it as worker `number`.
    fn follow(&self, allies: &Allies, number: usize, least_stack: usize);

    /// *Collective.* Run it to the end, on pools that are joined by gates. The answer, for the rank that leads.
    fn between(&self, pool: &mut Pool, gate: &mut Gate<'_>, leads: bool) -> Result<Option<u64>, Panicked>;
}

/// Work with a task that stands for all of it.
pub(crate) trait Whole: Work<Answer = u64> {
    /// That task.
    fn whole(&self) -> Self::Task;
}

impl<W: Whole> ForRanks for W {
    fn lead(&self, allies: &Allies, least_stack: usize) -> Result<u64, Panicked> {
        allies.run(self, self.whole(), least_stack)
    }

    fn follow(&self, allies: &Allies, number: usize, least_stack: usize) {
        allies.take_part(self, number, least_stack);
    }

    fn between(&self, pool: &mut Pool, gate: &mut Gate<'_>, leads: bool) -> Result<Option<u64>, Panicked> {
        pool.run_between(gate, self, leads.then(|| self.whole()))
    }
}
