//! Exclusive or, and through complement edges equivalence.

use super::code;
use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use crate::task::Task;
use tremula_table::{Key, OpTag, Ref};

const TAG: OpTag = OpTag::binary(code::XOR, 0);

/// `f ⊕ g` with `f < g`, both regular, neither terminal.
#[derive(Copy, Clone)]
pub struct Xor {
    f: Ref,
    g: Ref,
}

/// Terminal tests and normalisation of `f ⊕ g`.
#[inline]
pub fn xor(f: Ref, g: Ref) -> Call<Xor> {
    let negate = f.is_complement() != g.is_complement();
    let (f, g) = (f.regular(), g.regular());
    if f == g {
        return Call::Done(Ref::FALSE.negate_if(negate));
    }
    if f.is_terminal() {
        return Call::Done(g.negate_if(negate));
    }
    if g.is_terminal() {
        return Call::Done(f.negate_if(negate));
    }
    Call::todo(if f < g { Xor { f, g } } else { Xor { f: g, g: f } }, negate)
}

impl Operation for Xor {
    #[inline]
    fn key(self) -> Option<Key> {
        Some(Key::binary(self.f, self.g, TAG))
    }

    #[inline]
    fn task(self) -> Task {
        Task::Xor(self)
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.f.bits(), self.g.bits(), 0]
    }

    #[inline]
    fn from_words([f, g, _]: [u32; 3]) -> Self {
        Xor { f: Ref::from_bits(f), g: Ref::from_bits(g) }
    }

    #[inline]
    fn prefetch<E: Exec>(self, exec: &E) {
        exec.prefetch_node(self.f);
        exec.prefetch_node(self.g);
    }

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        let level = exec.level(self.f).min(exec.level(self.g));
        let (f0, f1) = exec.cofactors(self.f, level);
        let (g0, g1) = exec.cofactors(self.g, level);
        let (low, high) = exec.both(env, xor(f0, g0), xor(f1, g1))?;
        exec.make(level, low, high)
    }
}
