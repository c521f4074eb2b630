//! If-then-else, the one operation on three nodes.

use super::and::{and, or};
use super::xor::xor;
use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use crate::task::Task;
use tremula_table::{Key, Ref};

/// `if f then g else h` with `f` and `g` regular and no two operands related.
#[derive(Copy, Clone)]
pub struct Ite {
    f: Ref,
    g: Ref,
    h: Ref,
}

/// `if f then g else h`, by a cheaper operation where one will do.
pub fn ite<E: Exec>(exec: &mut E, env: &Env, f: Ref, g: Ref, h: Ref) -> Outcome {
    if f.is_terminal() || g == h {
        return Ok(if f == Ref::FALSE { h } else { g });
    }
    // Replace branches that the test decides.
    let g = if g.index() == f.index() { Ref::TRUE.negate_if(g != f) } else { g };
    let h = if h.index() == f.index() { Ref::FALSE.negate_if(h != f) } else { h };
    match (g, h) {
        (Ref::TRUE, _) => exec.solve(env, or(f, h)),
        (Ref::FALSE, _) => exec.solve(env, and(!f, h)),
        (_, Ref::FALSE) => exec.solve(env, and(f, g)),
        (_, Ref::TRUE) => exec.solve(env, or(!f, g)),
        _ if g == !h => exec.solve(env, xor(f, h)),
        _ => exec.solve(env, normalised(f, g, h)),
    }
}

#[inline]
fn normalised(f: Ref, g: Ref, h: Ref) -> Call<Ite> {
    let (f, g, h) = if f.is_complement() { (!f, h, g) } else { (f, g, h) };
    let negate = g.is_complement();
    Call::todo(Ite { f, g: g.negate_if(negate), h: h.negate_if(negate) }, negate)
}

/// A disjunction as the ternary operation computes it: what the ablation study compares `or` with.
#[inline]
pub fn plain_ite(f: Ref, g: Ref, h: Ref) -> Call<Ite> {
    if f.is_terminal() || g == h {
        return Call::Done(if f == Ref::FALSE { h } else { g });
    }
    if g == Ref::TRUE && (h == Ref::FALSE || f.index() == h.index()) {
        return Call::Done(if f == !h { Ref::TRUE } else { f });
    }
    normalised(f, g, h)
}

impl Operation for Ite {
    #[inline]
    fn key(self) -> Option<Key> {
        Some(Key::ternary(self.f, self.g, self.h))
    }

    #[inline]
    fn task(self) -> Task {
        Task::Ite(self)
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.f.bits(), self.g.bits(), self.h.bits()]
    }

    #[inline]
    fn from_words([f, g, h]: [u32; 3]) -> Self {
        Ite { f: Ref::from_bits(f), g: Ref::from_bits(g), h: Ref::from_bits(h) }
    }

    #[inline]
    fn prefetch<E: Exec>(self, exec: &E) {
        exec.prefetch_node(self.f);
        exec.prefetch_node(self.g);
        exec.prefetch_node(self.h);
    }

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        let level = exec.level(self.f).min(exec.level(self.g)).min(exec.level(self.h));
        let (f0, f1) = exec.cofactors(self.f, level);
        let (g0, g1) = exec.cofactors(self.g, level);
        let (h0, h1) = exec.cofactors(self.h, level);
        let halves = (Task::IteOf(f0, g0, h0), Task::IteOf(f1, g1, h1));
        let (low, high) = exec.both_tasks(env, halves.0, halves.1, None)?;
        exec.make(level, low, high)
    }
}
