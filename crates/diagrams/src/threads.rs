//! The execution of several threads: workers of a pool on one shared table, forking where an operation has two halves.
//!
//! What a worker needs is protected as for lanes: operands by whoever holds them, results in hand on the worker's shadow
//! stack. A result that a thief has delivered is a root of the worker that spawned the task, from then on until it syncs.
//! Wherever a worker waits it also comes to safepoints, so a collection never waits for one that waits.

use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use crate::size;
use crate::task::{Answer, Task};
use tremula_table::{Blocked, Interrupt, Key, Node, Ref, Shared, Solo, TableWorker};
use tremula_tasks::{Deque, Pool, Synced, Work, Worker};

/// Attention bit: a safepoint is due.
const SAFEPOINT: u32 = 1;

/// Run `task` on all workers of `pool`.
pub fn run<D: Deque>(pool: &mut Pool<D>, table: &mut Solo, env: &Env, task: Task) -> Outcome {
    let shared = table.share(pool.options().workers);
    let answer = pool.run(&Threads { shared: &shared, env }, task);
    drop(shared);
    match answer {
        Ok(answer) => answer.0,
        Err(panicked) => {
            // A fault of the program, perhaps in the middle of a safepoint: whoever catches it finds an index that is whole.
            table.collect();
            panicked.resume()
        }
    }
}

/// Operations on a shared table.
pub struct Threads<'s, 't> {
    pub shared: &'s Shared<'t>,
    pub env: &'s Env,
}

impl<'s, 't> Work for Threads<'s, 't> {
    type Task = Task;
    type Answer = Answer;
    type State = TableWorker<'s, 't>;

    fn state(&self, worker: usize) -> TableWorker<'s, 't> {
        self.shared.worker(worker)
    }

    fn run<D: Deque>(&self, worker: &mut Worker<'_, Self, D>, task: Task) -> Answer {
        let depth = worker.state.depth();
        let outcome = task.run(worker, self.env);
        worker.state.unwind(depth);
        Answer(outcome)
    }

    fn attend<D: Deque>(&self, worker: &mut Worker<'_, Self, D>) {
        // An interrupt will be met again by the operation itself.
        let _ = take_part(worker, &[]);
    }

    fn is_at_least(&self, state: &TableWorker<'s, 't>, task: Task, levels: u32) -> bool {
        size::is_at_least(task, self.env, levels, |f| state.node(f))
    }

    fn leave(&self, _: usize, state: TableWorker<'s, 't>) {
        state.leave();
    }

    fn abandon(&self) {
        self.shared.abandon();
    }
}

/// Come to the safepoint that is due; `needed` is protected, beside what is protected anyway.
fn take_part<D: Deque>(worker: &mut Worker<'_, Threads<'_, '_>, D>, needed: &[Ref]) -> Result<(), Interrupt> {
    let (state, inbox) = worker.state_and_inbox();
    let taken = state.take_part(|roots| {
        inbox.lower(SAFEPOINT);
        roots.extend(needed);
        inbox.arrived(|answer| roots.extend(answer.0.ok()));
    });
    if taken.is_err() {
        // Somebody has panicked, and no meeting will come about any more. A bit that stayed would keep who waits from sleeping.
        worker.lower(SAFEPOINT);
    }
    taken
}

impl<D: Deque> Exec for Worker<'_, Threads<'_, '_>, D> {
    #[inline]
    fn node(&self, f: Ref) -> Node {
        self.state.node(f)
    }
    #[inline]
    fn level(&self, f: Ref) -> u32 {
        self.state.level(f)
    }
    #[inline]
    fn make(&mut self, level: u32, low: Ref, high: Ref) -> Outcome {
        loop {
            match self.state.make(level, low, high) {
                Ok(made) => return Ok(made),
                Err(Blocked::Interrupt(interrupt)) => return Err(interrupt),
                Err(Blocked::NoRoom) => collect(self, &[low, high])?,
            }
        }
    }
    #[inline]
    fn make_list(&mut self, value: u32, down: Ref, right: Ref) -> Outcome {
        loop {
            match self.state.make_list(value, down, right) {
                Ok(made) => return Ok(made),
                Err(Blocked::Interrupt(interrupt)) => return Err(interrupt),
                Err(Blocked::NoRoom) => collect(self, &[down, right])?,
            }
        }
    }
    #[inline]
    fn cache_get(&mut self, hash: u64, key: Key) -> Option<Ref> {
        self.state.cache_get(hash, key)
    }
    #[inline]
    fn cache_put(&mut self, hash: u64, key: Key, result: Ref) {
        self.state.cache_put(hash, key, result);
    }
    #[inline]
    fn cache_prefetch(&self, hash: u64) {
        self.state.cache_prefetch(hash);
    }
    #[inline]
    fn prefetch_node(&self, f: Ref) {
        self.state.prefetch_node(f);
    }
    #[inline]
    fn keep(&mut self, f: Ref) {
        self.state.keep(f);
    }
    #[inline]
    fn release(&mut self, count: usize) {
        self.state.release(count);
    }
    #[inline]
    fn kept(&self, back: usize) -> Ref {
        self.state.kept(back)
    }
    #[inline]
    fn keep_instead(&mut self, back: usize, f: Ref) {
        self.state.keep_instead(back, f);
    }
    #[inline]
    fn burn(&mut self) -> Result<(), Interrupt> {
        // Where one half is trivial again and again, there are no spawns at which thieves would be answered.
        self.poll();
        if self.state.burn()? { enlarge_cache(self) } else { Ok(()) }
    }

    #[inline]
    fn both<O: Operation>(&mut self, env: &Env, first: Call<O>, second: Call<O>) -> Result<(Ref, Ref), Interrupt> {
        fork(self, env, first, second, None)
    }

    #[inline]
    fn both_unless<O: Operation>(
        &mut self,
        env: &Env,
        first: Call<O>,
        second: Call<O>,
        enough: Ref,
    ) -> Result<(Ref, Ref), Interrupt> {
        fork(self, env, first, second, Some(enough))
    }

    fn both_tasks(
        &mut self,
        env: &Env,
        first: Task,
        second: Task,
        enough: Option<Ref>,
    ) -> Result<(Ref, Ref), Interrupt> {
        debug_assert!(enough.is_none_or(Ref::is_terminal), "it is not kept while the other half is waited for");
        self.spawn(second);
        let a = first.run(self, env).inspect_err(|_| drop_spawned(self))?;
        if Some(a) == enough {
            drop_spawned(self);
            return Ok((a, a));
        }
        self.keep(a);
        let b = match self.sync() {
            Synced::Task(task) => task.run(self, env)?,
            Synced::Result(answer) => answer.0?,
        };
        self.release(1);
        Ok((a, b))
    }
}

/// Solve two sub-problems, the second by whoever takes it; trivial ones are not offered. The second is not needed where the
/// first comes to `enough`.
#[inline]
fn fork<D: Deque, O: Operation>(
    worker: &mut Worker<'_, Threads<'_, '_>, D>,
    env: &Env,
    first: Call<O>,
    second: Call<O>,
    enough: Option<Ref>,
) -> Result<(Ref, Ref), Interrupt> {
    let (operation, negate) = match (first, second) {
        (Call::Done(a), _) if Some(a) == enough => return Ok((a, a)),
        (Call::Done(a), second) => return Ok((a, worker.solve(env, second)?)),
        (first, Call::Done(b)) => return Ok((worker.solve(env, first)?, b)),
        (Call::Todo { .. }, Call::Todo { operation, negate, .. }) => (operation, negate),
    };
    debug_assert!(enough.is_none_or(Ref::is_terminal), "it is not kept while the other half is waited for");
    worker.announce(first);
    worker.announce(second);
    worker.spawn(operation.task());
    let a = worker.solve(env, first).inspect_err(|_| drop_spawned(worker))?;
    if Some(a) == enough {
        drop_spawned(worker);
        return Ok((a, a));
    }
    worker.keep(a);
    let b = match worker.sync() {
        Synced::Task(_) => worker.solve(env, second)?,
        Synced::Result(answer) => answer.0?.negate_if(negate),
    };
    worker.release(1);
    Ok((a, b))
}

/// Take the task spawned last back, whatever becomes of it. Whoever has begun it will write its result into our slot, so
/// that has to be waited for.
fn drop_spawned<D: Deque>(worker: &mut Worker<'_, Threads<'_, '_>, D>) {
    let _ = worker.sync();
}

/// Have garbage collected, by all workers together.
#[cold]
fn collect<D: Deque>(worker: &mut Worker<'_, Threads<'_, '_>, D>, roots: &[Ref]) -> Result<(), Interrupt> {
    if worker.is_poisoned() {
        return Err(Interrupt::Cancelled);
    }
    if worker.state.demand_collection() {
        worker.raise_all(SAFEPOINT);
    }
    take_part(worker, roots)
}

/// Have the cache enlarged, by all workers together.
#[cold]
fn enlarge_cache<D: Deque>(worker: &mut Worker<'_, Threads<'_, '_>, D>) -> Result<(), Interrupt> {
    if worker.is_poisoned() {
        return Err(Interrupt::Cancelled);
    }
    if worker.state.demand_cache() {
        worker.raise_all(SAFEPOINT);
    }
    take_part(worker, &[])
}

#[cfg(test)]
mod tests {
    use crate::{Attention, Bdd, Budget, Manager, Options, Relation};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    const BITS: u32 = 10;

    /// A set without much structure.
    fn some_states(manager: &Manager) -> Bdd {
        let bit = |number: u32| manager.var(2 * (number % BITS)).unwrap();
        let clauses = (0..3 * BITS).map(|at| bit(7 * at).xor(&bit(3 * at + 1)).unwrap().or(&bit(at * at)).unwrap());
        clauses.reduce(|all, clause| if all.is_false() { clause } else { all.and(&clause).unwrap() }).unwrap()
    }

    /// Relations that turn a bit around, each of them.
    fn flips(manager: &Manager) -> Vec<Relation> {
        let flip = |now: u32| {
            let differ = manager.var(now).unwrap().xor(&manager.var(now + 1).unwrap()).unwrap();
            manager.relation(&differ, &[(now, now + 1)]).unwrap()
        };
        (0..BITS).map(|bit| flip(2 * bit)).collect()
    }

    #[test]
    fn a_panic_ends_the_operation_for_all_and_the_manager_goes_on() {
        // All meet for a collection at each node, so that some wait there for the one that has panicked.
        let options = Options { workers: 3, worker_threshold: 1, stress: Some(1), ..Options::default() };
        let manager = Manager::with_options(&Budget::new(32 << 20), options, Attention::default()).unwrap();
        let (states, relations) = (some_states(&manager), flips(&manager));
        let none = manager.constant(false);
        let missing = Relation { manager: manager.clone(), number: u32::MAX - 1 };
        let faulty: Vec<Relation> = relations.iter().cloned().chain([missing]).collect();
        let (tree, faulty_tree) = (manager.tree(&relations).unwrap(), manager.tree(&faulty).unwrap());
        let levels: Vec<u32> = (0..BITS).map(|bit| 2 * bit).collect();
        let expected = states.relnext_new(&tree, &none).unwrap().count(&levels).unwrap();
        assert!(expected > 1u8.into());
        for _ in 0..20 {
            let outcome = catch_unwind(AssertUnwindSafe(|| states.relnext_new(&faulty_tree, &none)));
            assert!(outcome.is_err(), "there is no such relation");
            manager.check().unwrap();
            assert_eq!(states.relnext_new(&tree, &none).unwrap().count(&levels).unwrap(), expected);
        }
    }
}
