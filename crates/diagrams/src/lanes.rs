//! The execution that overlaps memory accesses: several lanes of one operation, taking turns at every likely miss.
//!
//! A lane asks for the cache line it needs next, pauses, and finds it there when it runs again. Between two pauses a lane
//! has the table for itself. Whatever a pausing lane still needs is protected: operands by whoever holds them, the
//! children of a node about to be made on the lane's shadow stack, results for other lanes in handle slots.

use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use crate::task::Task;
use std::cell::RefCell;
use tremula_table::{Interrupt, Key, Node, Ref, Solo};
use tremula_tasks::{Lane, Lanes, Synced};

/// Number of the handle slot that holds a lane's result, or why there is none.
type SlotOutcome = Result<u32, Interrupt>;

/// Run `task` in lanes.
pub fn run(lanes: &mut Lanes, table: &mut Solo, env: &Env, task: Task) -> Outcome {
    let table = RefCell::new(table);
    let work = |lane: &Lane<'_, Task, SlotOutcome>, task: Task| {
        let result = task.run(&mut LaneExec { lane, table: &table }, env)?;
        Ok(table.borrow_mut().handles_mut().open(result))
    };
    let slot = lanes.run(task, &work)?;
    Ok(take(&table, slot))
}

/// Empty a slot that a lane has put its result into.
fn take(table: &RefCell<&mut Solo>, slot: u32) -> Ref {
    let mut table = table.borrow_mut();
    let result = table.handles().get(slot);
    table.handles_mut().close(slot);
    result
}

/// The table as one lane sees it.
struct LaneExec<'a, 'l, 't> {
    lane: &'a Lane<'l, Task, SlotOutcome>,
    table: &'a RefCell<&'t mut Solo>,
}

impl LaneExec<'_, '_, '_> {
    /// Number of this lane's shadow stack; the first belongs to plain operations.
    #[inline]
    fn shadow(&self) -> usize {
        self.lane.number() + 1
    }

    /// Take back the task spawned last without wanting it; a lane that has begun it is waited for.
    fn discard_spawned(&self) {
        if let Synced::Result(Ok(slot)) = self.lane.sync() {
            take(self.table, slot);
        }
    }
}

impl Exec for LaneExec<'_, '_, '_> {
    #[inline]
    fn node(&self, f: Ref) -> Node {
        self.table.borrow().node(f)
    }
    #[inline]
    fn level(&self, f: Ref) -> u32 {
        self.table.borrow().level(f)
    }
    #[inline]
    fn make(&mut self, level: u32, low: Ref, high: Ref) -> Outcome {
        if low == high {
            return Ok(low);
        }
        let shadow = self.shadow();
        {
            let mut table = self.table.borrow_mut();
            table.prefetch_make(level, low, high);
            table.keep_on(shadow, low);
            table.keep_on(shadow, high);
        }
        self.lane.pause();
        let mut table = self.table.borrow_mut();
        table.release_on(shadow, 2);
        table.make(level, low, high)
    }
    #[inline]
    fn make_list(&mut self, value: u32, down: Ref, right: Ref) -> Outcome {
        let shadow = self.shadow();
        {
            let mut table = self.table.borrow_mut();
            table.prefetch_list(value, down, right);
            table.keep_on(shadow, down);
            table.keep_on(shadow, right);
        }
        self.lane.pause();
        let mut table = self.table.borrow_mut();
        table.release_on(shadow, 2);
        table.make_list(value, down, right)
    }
    #[inline]
    fn cache_get(&mut self, hash: u64, key: Key) -> Option<Ref> {
        self.table.borrow_mut().cache_get(hash, key)
    }
    #[inline]
    fn cache_put(&mut self, hash: u64, key: Key, result: Ref) {
        self.table.borrow_mut().cache_put(hash, key, result);
    }
    #[inline]
    fn cache_prefetch(&self, hash: u64) {
        self.table.borrow().cache_prefetch(hash);
    }
    #[inline]
    fn prefetch_node(&self, f: Ref) {
        self.table.borrow().prefetch_node(f);
    }
    #[inline]
    fn keep(&mut self, f: Ref) {
        self.table.borrow_mut().keep_on(self.shadow(), f);
    }
    #[inline]
    fn release(&mut self, count: usize) {
        self.table.borrow_mut().release_on(self.shadow(), count);
    }
    #[inline]
    fn kept(&self, back: usize) -> Ref {
        self.table.borrow().kept_on(self.shadow(), back)
    }
    #[inline]
    fn keep_instead(&mut self, back: usize, f: Ref) {
        self.table.borrow_mut().keep_instead_on(self.shadow(), back, f);
    }
    #[inline]
    fn burn(&mut self) -> Result<(), Interrupt> {
        self.table.borrow_mut().burn()
    }

    #[inline]
    fn solve<O: Operation>(&mut self, env: &Env, call: Call<O>) -> Outcome {
        if let Call::Todo { operation, .. } = call
            && operation.key().is_some()
        {
            self.announce(call);
            self.lane.pause();
        }
        self.solve_now(env, call)
    }

    fn both<O: Operation>(&mut self, env: &Env, first: Call<O>, second: Call<O>) -> Result<(Ref, Ref), Interrupt> {
        let Call::Todo { operation, negate, .. } = second else {
            return self.solve(env, first).and_then(|a| Ok((a, self.solve(env, second)?)));
        };
        if let Call::Done(a) = first {
            return Ok((a, self.solve(env, second)?));
        }
        self.announce(second);
        self.lane.spawn(operation.task());
        let a = self.solve(env, first).inspect_err(|_| self.discard_spawned())?;
        self.keep(a);
        let b = match self.lane.sync() {
            // Announced before the first was solved: it has had time to arrive.
            Synced::Task(_) => self.solve_now(env, second)?,
            Synced::Result(slot) => take(self.table, slot?).negate_if(negate),
        };
        self.release(1);
        Ok((a, b))
    }
}
