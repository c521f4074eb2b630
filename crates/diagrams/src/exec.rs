//! The small contract that all operations are written against, and how sub-problems are solved under it.
//!
//! An operation is plain data ([`Operation`]): operands in, one reference out. [`Call`] is such a sub-problem after its
//! terminal tests, so nothing trivial is ever hashed, looked up or (in parallel executions) spawned. [`Exec::both`] is
//! fork and join. The single-threaded execution runs one side after the other; others may run them at the same time.

use crate::env::Env;
use crate::task::Task;
use tremula_table::{Interrupt, Key, Node, Ref, Solo};

/// Result of an operation.
pub type Outcome = Result<Ref, Interrupt>;

/// A sub-problem as plain data.
pub trait Operation: Copy {
    /// Identity in the operation cache; none for what is never asked twice.
    fn key(self) -> Option<Key>;

    /// The same as a task that another lane or worker can run.
    fn task(self) -> Task;

    /// Operands as plain words, for workers elsewhere.
    fn words(self) -> [u32; 3];

    /// The operation that [`Operation::words`] gave these words for.
    fn from_words(words: [u32; 3]) -> Self;

    /// Fetch the nodes that [`Operation::expand`] reads first.
    fn prefetch<E: Exec>(self, exec: &E);

    /// The functions whose top variables it looks at; terminals stand for none.
    fn operands(self) -> [Ref; 2] {
        [Ref::FALSE; 2]
    }

    /// The level of another variable that it looks at, the terminal's if there is none. The nodes of its result begin there,
    /// or at the first level of its operands. None for what makes no nodes itself.
    fn own_level(self, _: &Env) -> Option<u32> {
        None
    }

    /// Solve by smaller sub-problems. Operands are protected by the caller; results in hand across a call must be kept.
    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome;
}

/// A sub-problem after its terminal tests.
#[derive(Copy, Clone)]
pub enum Call<O> {
    /// Trivial: here is the result.
    Done(Ref),
    /// To be looked up or solved.
    Todo {
        /// The normalised sub-problem.
        operation: O,
        /// Hash of its key, if it has one.
        hash: u64,
        /// Negate the result (part of the normalisation).
        negate: bool,
    },
}

impl<O: Operation> Call<O> {
    /// A sub-problem that is not trivial.
    #[inline]
    pub fn todo(operation: O, negate: bool) -> Call<O> {
        Call::Todo { operation, hash: operation.key().map_or(0, Key::hash), negate }
    }

    /// The call for the negated result.
    #[inline]
    pub fn negated(self) -> Call<O> {
        match self {
            Call::Done(f) => Call::Done(!f),
            Call::Todo { operation, hash, negate } => Call::Todo { operation, hash, negate: !negate },
        }
    }
}

/// What operations need: nodes, find-or-put, the cache, protection, fork and join.
pub trait Exec: Sized {
    /// The node behind a reference.
    fn node(&self, f: Ref) -> Node;
    /// Level of the top variable.
    fn level(&self, f: Ref) -> u32;
    /// Find or put; may collect garbage (the arguments are protected).
    fn make(&mut self, level: u32, low: Ref, high: Ref) -> Outcome;
    /// Find or put a list node; may collect garbage (the arguments are protected).
    fn make_list(&mut self, value: u32, down: Ref, right: Ref) -> Outcome;
    /// Cached result.
    fn cache_get(&mut self, hash: u64, key: Key) -> Option<Ref>;
    /// Remember a result.
    fn cache_put(&mut self, hash: u64, key: Key, result: Ref);
    /// Fetch a cache line.
    fn cache_prefetch(&self, hash: u64);
    /// Fetch a node.
    fn prefetch_node(&self, f: Ref);
    /// Protect a function in hand until released.
    fn keep(&mut self, f: Ref);
    /// Release the last `count` kept functions.
    fn release(&mut self, count: usize);
    /// The function kept `back` places before the last one.
    fn kept(&self, back: usize) -> Ref;
    /// Protect `f` in place of the function kept `back` places before the last one.
    fn keep_instead(&mut self, back: usize, f: Ref);
    /// Account for one expansion.
    fn burn(&mut self) -> Result<(), Interrupt>;

    /// Solve one sub-problem.
    #[inline]
    fn solve<O: Operation>(&mut self, env: &Env, call: Call<O>) -> Outcome {
        self.solve_now(env, call)
    }

    /// Solve one sub-problem, without waiting for the memory it needs first.
    #[inline]
    fn solve_now<O: Operation>(&mut self, env: &Env, call: Call<O>) -> Outcome {
        let (operation, hash, negate) = match call {
            Call::Done(result) => return Ok(result),
            Call::Todo { operation, hash, negate } => (operation, hash, negate),
        };
        let Some(key) = operation.key() else {
            return Ok(operation.expand(self, env)?.negate_if(negate));
        };
        if let Some(result) = self.cache_get(hash, key) {
            return Ok(result.negate_if(negate));
        }
        self.burn()?;
        let result = operation.expand(self, env)?;
        self.cache_put(hash, key, result);
        Ok(result.negate_if(negate))
    }

    /// Solve two sub-problems, possibly at the same time; the results are not yet protected.
    #[inline]
    fn both<O: Operation>(&mut self, env: &Env, first: Call<O>, second: Call<O>) -> Result<(Ref, Ref), Interrupt> {
        self.announce(first);
        self.announce(second);
        let a = self.solve(env, first)?;
        self.keep(a);
        let b = self.solve(env, second)?;
        self.release(1);
        Ok((a, b))
    }

    /// As [`Exec::both`], but the second is not needed where the first comes to `enough`, and counts as equal to it then.
    #[inline]
    fn both_unless<O: Operation>(
        &mut self,
        env: &Env,
        first: Call<O>,
        second: Call<O>,
        enough: Ref,
    ) -> Result<(Ref, Ref), Interrupt> {
        let a = self.solve(env, first)?;
        if a == enough {
            return Ok((a, a));
        }
        self.keep(a);
        let b = self.solve(env, second)?;
        self.release(1);
        Ok((a, b))
    }

    /// As [`Exec::both_unless`], for operations before their terminal tests; none is enough if there is no such value.
    #[inline]
    fn both_tasks(
        &mut self,
        env: &Env,
        first: Task,
        second: Task,
        enough: Option<Ref>,
    ) -> Result<(Ref, Ref), Interrupt> {
        let a = first.run(self, env)?;
        if Some(a) == enough {
            return Ok((a, a));
        }
        self.keep(a);
        let b = second.run(self, env)?;
        self.release(1);
        Ok((a, b))
    }

    /// Fetch what a sub-problem will need first.
    #[inline]
    fn announce<O: Operation>(&self, call: Call<O>) {
        if let Call::Todo { operation, hash, .. } = call {
            self.cache_prefetch(hash);
            operation.prefetch(self);
        }
    }

    /// Both cofactors of `f` at `level`, which is at or above its top variable.
    #[inline]
    fn cofactors(&self, f: Ref, level: u32) -> (Ref, Ref) {
        let node = self.node(f);
        if node.level == level { (node.low.under(f), node.high.under(f)) } else { (f, f) }
    }
}

impl Exec for Solo {
    #[inline]
    fn node(&self, f: Ref) -> Node {
        Solo::node(self, f)
    }
    #[inline]
    fn level(&self, f: Ref) -> u32 {
        Solo::level(self, f)
    }
    #[inline]
    fn make(&mut self, level: u32, low: Ref, high: Ref) -> Outcome {
        Solo::make(self, level, low, high)
    }
    #[inline]
    fn make_list(&mut self, value: u32, down: Ref, right: Ref) -> Outcome {
        Solo::make_list(self, value, down, right)
    }
    #[inline]
    fn cache_get(&mut self, hash: u64, key: Key) -> Option<Ref> {
        Solo::cache_get(self, hash, key)
    }
    #[inline]
    fn cache_put(&mut self, hash: u64, key: Key, result: Ref) {
        Solo::cache_put(self, hash, key, result);
    }
    #[inline]
    fn cache_prefetch(&self, hash: u64) {
        Solo::cache_prefetch(self, hash);
    }
    #[inline]
    fn prefetch_node(&self, f: Ref) {
        Solo::prefetch_node(self, f);
    }
    #[inline]
    fn keep(&mut self, f: Ref) {
        Solo::keep(self, f);
    }
    #[inline]
    fn release(&mut self, count: usize) {
        Solo::release(self, count);
    }
    #[inline]
    fn kept(&self, back: usize) -> Ref {
        self.kept_on(0, back)
    }
    #[inline]
    fn keep_instead(&mut self, back: usize, f: Ref) {
        self.keep_instead_on(0, back, f);
    }
    #[inline]
    fn burn(&mut self) -> Result<(), Interrupt> {
        Solo::burn(self)
    }
}
