//! A set of vectors and successors of another, in one sweep.
//!
//! Most successors of a set are known already when it is explored. This adds them without building them first.

use super::row::{Row, Waiting};
use super::unite;
use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use crate::lists::steps::Step;
use crate::ops::code;
use crate::task::Task;
use tremula_table::{Key, OpTag, Ref};

/// `known` and the successors of `set`, which is not empty, by a step.
#[derive(Copy, Clone)]
pub struct AddNext {
    set: Ref,
    known: Ref,
    step: u32,
}

/// Terminal tests of an addition.
#[inline]
pub fn add_next(set: Ref, step: u32, known: Ref) -> Call<AddNext> {
    if set == Ref::FALSE || step == Step::EMPTY {
        return Call::Done(known);
    }
    if step == Step::IDENTITY {
        if let Call::Done(united) = unite(set, known) {
            return Call::Done(united);
        }
        let (set, known) = if set < known { (set, known) } else { (known, set) };
        return Call::todo(AddNext { set, known, step }, false);
    }
    Call::todo(AddNext { set, known, step }, false)
}

impl Operation for AddNext {
    #[inline]
    fn key(self) -> Option<Key> {
        let code = if self.step == Step::IDENTITY {
            OpTag::binary(code::UNITE, 0)
        } else {
            OpTag::binary(code::ADD_NEXT, self.step)
        };
        Some(Key::binary(self.set, self.known, code))
    }

    #[inline]
    fn task(self) -> Task {
        Task::AddNext(self)
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.set.bits(), self.known.bits(), self.step]
    }

    #[inline]
    fn from_words([set, known, step]: [u32; 3]) -> Self {
        AddNext { set: Ref::from_bits(set), known: Ref::from_bits(known), step }
    }

    #[inline]
    fn prefetch<E: Exec>(self, exec: &E) {
        exec.prefetch_node(self.set);
        exec.prefetch_node(self.known);
    }

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        if self.step == Step::IDENTITY {
            return super::union::expand(exec, env, self.set, self.known);
        }
        let step = env.lists.step(self.step);
        if let Some(next) = env.lists.skipped(step) {
            return self.pass(exec, env, next);
        }
        let mut row = Row::default();
        row.push_all(exec, self.known);
        let mut set = self.set;
        while set != Ref::FALSE {
            let node = exec.node(set);
            for (to, next) in env.lists.ways(step, node.value()) {
                let known = row.below(exec, to);
                let all = exec.solve(env, add_next(node.down(), next, known))?;
                if all != known {
                    row.put_new(exec, to, all);
                }
            }
            set = node.right();
        }
        row.finish(exec, Ref::FALSE)
    }
}

impl AddNext {
    /// Where the step leaves its level alone.
    fn pass<E: Exec>(self, exec: &mut E, env: &Env, next: u32) -> Outcome {
        let (mut row, mut waiting) = (Row::default(), Waiting::default());
        let AddNext { mut set, mut known, .. } = self;
        while set != Ref::FALSE {
            let node = exec.node(set);
            let other = (known != Ref::FALSE).then(|| exec.node(known));
            match other {
                Some(other) if other.value() < node.value() => {
                    row.push(exec, other.value(), known, other.down());
                    known = other.right();
                    continue;
                }
                Some(other) if other.value() == node.value() => {
                    let call = add_next(node.down(), next, other.down());
                    row.push_call(exec, env, &mut waiting, (node.value(), known), call)?;
                    known = other.right();
                }
                _ => {
                    let call = add_next(node.down(), next, Ref::FALSE);
                    row.push_call(exec, env, &mut waiting, (node.value(), Ref::FALSE), call)?;
                }
            }
            set = node.right();
        }
        row.settle(exec, env, waiting)?;
        row.finish(exec, known)
    }
}
