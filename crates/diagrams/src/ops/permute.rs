//! Renaming of variables, in any order.

use super::code;
use super::ite::ite;
use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use crate::task::Task;
use tremula_table::{Key, OpTag, Ref};

/// `f` with its variables renamed; `f` regular and not terminal.
#[derive(Copy, Clone)]
pub struct Permute {
    f: Ref,
    permutation: u32,
}

/// Terminal tests and normalisation: renaming commutes with negation.
#[inline]
pub fn permute(f: Ref, permutation: u32) -> Call<Permute> {
    if f.is_terminal() {
        return Call::Done(f);
    }
    Call::todo(Permute { f: f.regular(), permutation }, f.is_complement())
}

impl Operation for Permute {
    #[inline]
    fn key(self) -> Option<Key> {
        Some(Key::unary(self.f, 0, OpTag::unary(code::PERMUTE, self.permutation)))
    }

    #[inline]
    fn task(self) -> Task {
        Task::Permute(self)
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.f.bits(), self.permutation, 0]
    }

    #[inline]
    fn from_words([f, permutation, _]: [u32; 3]) -> Self {
        Permute { f: Ref::from_bits(f), permutation }
    }

    #[inline]
    fn prefetch<E: Exec>(self, exec: &E) {
        exec.prefetch_node(self.f);
    }

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        let permutation = env.permutations.get(self.permutation);
        let node = exec.node(self.f);
        if permutation.ends_above(node.level) {
            return Ok(self.f);
        }
        let calls = (permute(node.low, self.permutation), permute(node.high, self.permutation));
        let (low, high) = exec.both(env, calls.0, calls.1)?;
        let level = permutation.apply(node.level);
        if level < exec.level(low) && level < exec.level(high) {
            return exec.make(level, low, high);
        }
        // The order changes here: the variable has to sink into its new place.
        exec.keep(low);
        exec.keep(high);
        let variable = exec.make(level, Ref::FALSE, Ref::TRUE)?;
        exec.keep(variable);
        let result = ite(exec, env, variable, high, low)?;
        exec.release(3);
        Ok(result)
    }
}
