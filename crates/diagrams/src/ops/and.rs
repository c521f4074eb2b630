//! Conjunction, and through complement edges disjunction and difference.

use super::code;
use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use crate::task::Task;
use tremula_table::layout::TERMINAL_LEVEL;
use tremula_table::{Key, OpTag, Ref};

const TAG: OpTag = OpTag::binary(code::AND, 0);

/// `f ∧ g` with `f < g`, neither terminal, not the same node.
#[derive(Copy, Clone)]
pub struct And {
    f: Ref,
    g: Ref,
}

/// Terminal tests and normalisation of `f ∧ g`.
#[inline]
pub fn and(f: Ref, g: Ref) -> Call<And> {
    if cfg!(feature = "cache-before-terminals") && !f.is_terminal() {
        return Call::todo(And { f, g }, false);
    }
    match trivial(f, g) {
        Some(result) => Call::Done(result),
        None => Call::todo(if f < g { And { f, g } } else { And { f: g, g: f } }, false),
    }
}

#[inline]
fn trivial(f: Ref, g: Ref) -> Option<Ref> {
    if f.index() == g.index() {
        return Some(if f == g { f } else { Ref::FALSE });
    }
    if f.is_terminal() {
        return Some(if f == Ref::TRUE { g } else { Ref::FALSE });
    }
    if g.is_terminal() {
        return Some(if g == Ref::TRUE { f } else { Ref::FALSE });
    }
    None
}

/// `f ∨ g`.
#[inline]
pub fn or(f: Ref, g: Ref) -> Call<And> {
    and(!f, !g).negated()
}

/// `f ∨ g` of two unprotected results.
#[inline]
pub fn or_of_results<E: Exec>(exec: &mut E, env: &Env, f: Ref, g: Ref) -> Outcome {
    if cfg!(feature = "or-through-ite") {
        exec.keep(f);
        exec.keep(g);
        let result = exec.solve(env, super::ite::plain_ite(f, Ref::TRUE, g));
        exec.release(2);
        return result;
    }
    let call = or(f, g);
    if let Call::Done(result) = call {
        return Ok(result);
    }
    exec.announce(call);
    exec.keep(f);
    exec.keep(g);
    let result = exec.solve(env, call);
    exec.release(2);
    result
}

impl Operation for And {
    #[inline]
    fn key(self) -> Option<Key> {
        Some(Key::binary(self.f, self.g, TAG))
    }

    #[inline]
    fn task(self) -> Task {
        Task::And(self)
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.f.bits(), self.g.bits(), 0]
    }

    #[inline]
    fn from_words([f, g, _]: [u32; 3]) -> Self {
        And { f: Ref::from_bits(f), g: Ref::from_bits(g) }
    }

    #[inline]
    fn prefetch<E: Exec>(self, exec: &E) {
        exec.prefetch_node(self.f);
        exec.prefetch_node(self.g);
    }

    #[inline]
    fn operands(self) -> [Ref; 2] {
        [self.f, self.g]
    }

    #[inline]
    fn own_level(self, _: &Env) -> Option<u32> {
        Some(TERMINAL_LEVEL)
    }

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        if cfg!(feature = "cache-before-terminals")
            && let Some(result) = trivial(self.f, self.g)
        {
            return Ok(result);
        }
        let level = exec.level(self.f).min(exec.level(self.g));
        let (f0, f1) = exec.cofactors(self.f, level);
        let (g0, g1) = exec.cofactors(self.g, level);
        let (low, high) = exec.both(env, and(f0, g0), and(f1, g1))?;
        // Where one operand implies the other, the result exists already.
        if (low, high) == (f0, f1) && !cfg!(feature = "always-make") {
            return Ok(self.f);
        }
        if (low, high) == (g0, g1) && !cfg!(feature = "always-make") {
            return Ok(self.g);
        }
        exec.make(level, low, high)
    }
}
