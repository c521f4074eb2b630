//! Substitution of a function for a variable.

use super::code;
use super::ite::ite;
use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use crate::task::Task;
use tremula_table::{Key, OpTag, Ref};

/// `f` with `g` in place of the variable `level`; `f` regular.
#[derive(Copy, Clone)]
pub struct Compose {
    f: Ref,
    g: Ref,
    level: u32,
}

/// `f[level := g]`. `level` must be below [`OpTag::MAX_PARAMETER`].
pub fn compose<E: Exec>(exec: &mut E, env: &Env, f: Ref, level: u32, g: Ref) -> Outcome {
    if exec.level(f) > level {
        return Ok(f);
    }
    exec.solve(env, Call::todo(Compose { f: f.regular(), g, level }, f.is_complement()))
}

impl Operation for Compose {
    #[inline]
    fn key(self) -> Option<Key> {
        Some(Key::binary(self.f, self.g, OpTag::binary(code::COMPOSE, self.level)))
    }

    #[inline]
    fn task(self) -> Task {
        Task::Compose(self)
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.f.bits(), self.g.bits(), self.level]
    }

    #[inline]
    fn from_words([f, g, level]: [u32; 3]) -> Self {
        Compose { f: Ref::from_bits(f), g: Ref::from_bits(g), level }
    }

    #[inline]
    fn prefetch<E: Exec>(self, exec: &E) {
        exec.prefetch_node(self.f);
    }

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        let node = exec.node(self.f);
        if node.level == self.level {
            return ite(exec, env, self.g, node.high, node.low);
        }
        let halves = [node.low, node.high].map(|half| Task::ComposeOf(half, self.level, self.g));
        let (low, high) = exec.both_tasks(env, halves[0], halves[1], None)?;
        exec.keep(low);
        exec.keep(high);
        // `g` may reach above this variable, so the result is put together by ite.
        let variable = exec.make(node.level, Ref::FALSE, Ref::TRUE)?;
        exec.keep(variable);
        let result = ite(exec, env, variable, high, low)?;
        exec.release(3);
        Ok(result)
    }
}
