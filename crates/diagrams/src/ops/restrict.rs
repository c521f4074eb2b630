//! Simplification against a care set (Coudert and Madre's restrict). With a cube as care set it is the cofactor.

use super::and::or_of_results;
use super::code;
use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use crate::task::Task;
use tremula_table::{Key, OpTag, Ref};

/// A function that agrees with `f` wherever `care` holds; `f` regular, neither terminal.
#[derive(Copy, Clone)]
pub struct Restrict {
    f: Ref,
    care: Ref,
}

/// Terminal tests and normalisation. `care` must not be false.
#[inline]
pub fn restrict(f: Ref, care: Ref) -> Call<Restrict> {
    if f.is_terminal() || care == Ref::TRUE {
        return Call::Done(f);
    }
    if f.index() == care.index() {
        return Call::Done(Ref::TRUE.negate_if(f != care));
    }
    Call::todo(Restrict { f: f.regular(), care }, f.is_complement())
}

impl Operation for Restrict {
    #[inline]
    fn key(self) -> Option<Key> {
        Some(Key::binary(self.f, self.care, OpTag::binary(code::RESTRICT, 0)))
    }

    #[inline]
    fn task(self) -> Task {
        Task::Restrict(self)
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.f.bits(), self.care.bits(), 0]
    }

    #[inline]
    fn from_words([f, care, _]: [u32; 3]) -> Self {
        Restrict { f: Ref::from_bits(f), care: Ref::from_bits(care) }
    }

    #[inline]
    fn prefetch<E: Exec>(self, exec: &E) {
        exec.prefetch_node(self.f);
        exec.prefetch_node(self.care);
    }

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        let node = exec.node(self.f);
        let care_level = exec.level(self.care);
        let (c0, c1) = exec.cofactors(self.care, care_level);
        if care_level < node.level {
            // `f` does not depend on this variable: care where either branch does.
            let merged = or_of_results(exec, env, c0, c1)?;
            exec.keep(merged);
            let result = exec.solve(env, restrict(self.f, merged))?;
            exec.release(1);
            return Ok(result);
        }
        let (c0, c1) = if care_level == node.level { (c0, c1) } else { (self.care, self.care) };
        if c0 == Ref::FALSE {
            return exec.solve(env, restrict(node.high, c1));
        }
        if c1 == Ref::FALSE {
            return exec.solve(env, restrict(node.low, c0));
        }
        let (low, high) = exec.both(env, restrict(node.low, c0), restrict(node.high, c1))?;
        exec.make(node.level, low, high)
    }
}
