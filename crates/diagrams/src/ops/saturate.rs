//! Closure of a set under all relations of a bundle, the deepest first.
//!
//! A relation that touches nothing above its top level acts on each node of that level by itself. So a node is closed
//! under the relations below it before those of its own level fire, and whatever they add is closed again. States that
//! differ only above a node share all this work, and the diagrams in between stay small.

use super::code;
use super::image::unite_image;
use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use crate::relation::Bundle;
use crate::task::Task;
use tremula_table::{Key, OpTag, Ref};

const TAG: OpTag = OpTag::unary(code::SATURATE, 0);

/// Everything reachable from a set, not empty, under a bundle with relations.
#[derive(Copy, Clone)]
pub struct Saturate {
    set: Ref,
    bundle: u32,
}

/// Terminal tests of a closure.
#[inline]
pub fn saturate(set: Ref, bundle: u32) -> Call<Saturate> {
    if set.is_terminal() || bundle == Bundle::END {
        return Call::Done(set);
    }
    Call::todo(Saturate { set, bundle }, false)
}

impl Operation for Saturate {
    #[inline]
    fn key(self) -> Option<Key> {
        Some(Key::unary(self.set, self.bundle, TAG))
    }

    #[inline]
    fn task(self) -> Task {
        Task::Saturate(self)
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.set.bits(), self.bundle, 0]
    }

    #[inline]
    fn from_words([set, bundle, _]: [u32; 3]) -> Self {
        Saturate { set: Ref::from_bits(set), bundle }
    }

    #[inline]
    fn prefetch<E: Exec>(self, exec: &E) {
        exec.prefetch_node(self.set);
    }

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        let bundle = env.relations.bundle(self.bundle);
        let node = exec.node(self.set);
        if node.level < bundle.level {
            let cofactors = (node.low.under(self.set), node.high.under(self.set));
            let calls = (saturate(cofactors.0, self.bundle), saturate(cofactors.1, self.bundle));
            let (low, high) = exec.both(env, calls.0, calls.1)?;
            if (low, high) == cofactors {
                return Ok(self.set);
            }
            return exec.make(node.level, low, high);
        }
        let mut set = self.set;
        loop {
            exec.keep(set);
            let closed = exec.solve(env, saturate(set, bundle.rest))?;
            exec.release(1);
            // Kept, so that nothing new can take its place before they are compared.
            exec.keep(closed);
            set = bundle
                .relations
                .iter()
                .try_fold(closed, |known, &relation| unite_image(exec, env, known, known, relation))?;
            exec.release(1);
            if set == closed {
                return Ok(closed);
            }
        }
    }
}
