//! Existential quantification, alone and fused with conjunction.

use super::and::{and, or_of_results};
use super::code;
use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use crate::task::Task;
use tremula_table::{Key, OpTag, Ref};

/// `∃ set. f` with `f` not terminal.
#[derive(Copy, Clone)]
pub struct Exists {
    f: Ref,
    set: u32,
}

/// Terminal tests of `∃ set. f`.
#[inline]
pub fn exists(f: Ref, set: u32) -> Call<Exists> {
    if f.is_terminal() { Call::Done(f) } else { Call::todo(Exists { f, set }, false) }
}

impl Operation for Exists {
    #[inline]
    fn key(self) -> Option<Key> {
        Some(Key::unary(self.f, 0, OpTag::unary(code::EXISTS, self.set)))
    }

    #[inline]
    fn task(self) -> Task {
        Task::Exists(self)
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.f.bits(), self.set, 0]
    }

    #[inline]
    fn from_words([f, set, _]: [u32; 3]) -> Self {
        Exists { f: Ref::from_bits(f), set }
    }

    #[inline]
    fn prefetch<E: Exec>(self, exec: &E) {
        exec.prefetch_node(self.f);
    }

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        let set = env.sets.get(self.set);
        let node = exec.node(self.f);
        if set.ends_above(node.level) {
            return Ok(self.f);
        }
        let (f0, f1) = (node.low.under(self.f), node.high.under(self.f));
        if !set.contains(node.level) {
            let (low, high) = exec.both(env, exists(f0, self.set), exists(f1, self.set))?;
            return exec.make(node.level, low, high);
        }
        let (low, high) = exec.both_unless(env, exists(f0, self.set), exists(f1, self.set), Ref::TRUE)?;
        or_of_results(exec, env, low, high)
    }
}

/// `∃ set. f ∧ g` with `f < g`, neither terminal, not the same node.
#[derive(Copy, Clone)]
pub struct AndExists {
    f: Ref,
    g: Ref,
    set: u32,
}

/// `∃ set. f ∧ g`.
pub fn and_exists<E: Exec>(exec: &mut E, env: &Env, f: Ref, g: Ref, set: u32) -> Outcome {
    if let Call::Done(conjunction) = and(f, g) {
        return exec.solve(env, exists(conjunction, set));
    }
    let (f, g) = if f < g { (f, g) } else { (g, f) };
    exec.solve(env, Call::todo(AndExists { f, g, set }, false))
}

impl Operation for AndExists {
    #[inline]
    fn key(self) -> Option<Key> {
        Some(Key::binary(self.f, self.g, OpTag::binary(code::AND_EXISTS, self.set)))
    }

    #[inline]
    fn task(self) -> Task {
        Task::AndExists(self)
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.f.bits(), self.g.bits(), self.set]
    }

    #[inline]
    fn from_words([f, g, set]: [u32; 3]) -> Self {
        AndExists { f: Ref::from_bits(f), g: Ref::from_bits(g), set }
    }

    #[inline]
    fn prefetch<E: Exec>(self, exec: &E) {
        exec.prefetch_node(self.f);
        exec.prefetch_node(self.g);
    }

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        let set = env.sets.get(self.set);
        let level = exec.level(self.f).min(exec.level(self.g));
        if set.ends_above(level) {
            return exec.solve(env, and(self.f, self.g));
        }
        let (f0, f1) = exec.cofactors(self.f, level);
        let (g0, g1) = exec.cofactors(self.g, level);
        let quantified = set.contains(level);
        let halves = (Task::AndExistsOf(f0, g0, self.set), Task::AndExistsOf(f1, g1, self.set));
        let (low, high) = exec.both_tasks(env, halves.0, halves.1, quantified.then_some(Ref::TRUE))?;
        if quantified { or_of_results(exec, env, low, high) } else { exec.make(level, low, high) }
    }
}
