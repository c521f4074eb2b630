//! Union of sets of vectors.

use super::row::{Row, Waiting};
use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use crate::ops::code;
use crate::task::Task;
use tremula_table::{Key, OpTag, Ref};

const TAG: OpTag = OpTag::binary(code::UNITE, 0);

/// `a ∪ b` with `a < b`, neither empty.
#[derive(Copy, Clone)]
pub struct Unite {
    a: Ref,
    b: Ref,
}

/// Terminal tests and normalisation of `a ∪ b`.
#[inline]
pub fn unite(a: Ref, b: Ref) -> Call<Unite> {
    if a == b || b == Ref::FALSE {
        return Call::Done(a);
    }
    if a == Ref::FALSE {
        return Call::Done(b);
    }
    Call::todo(if a < b { Unite { a, b } } else { Unite { a: b, b: a } }, false)
}

/// `a ∪ b` of two unprotected results.
#[inline]
pub fn union_of_results<E: Exec>(exec: &mut E, env: &Env, a: Ref, b: Ref) -> Outcome {
    let call = unite(a, b);
    if let Call::Done(result) = call {
        return Ok(result);
    }
    exec.keep(a);
    exec.keep(b);
    let result = exec.solve(env, call);
    exec.release(2);
    result
}

impl Operation for Unite {
    #[inline]
    fn key(self) -> Option<Key> {
        Some(Key::binary(self.a, self.b, TAG))
    }

    #[inline]
    fn task(self) -> Task {
        Task::Unite(self)
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.a.bits(), self.b.bits(), 0]
    }

    #[inline]
    fn from_words([a, b, _]: [u32; 3]) -> Self {
        Unite { a: Ref::from_bits(a), b: Ref::from_bits(b) }
    }

    #[inline]
    fn prefetch<E: Exec>(self, exec: &E) {
        exec.prefetch_node(self.a);
        exec.prefetch_node(self.b);
    }

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        expand(exec, env, self.a, self.b)
    }
}

/// `a ∪ b`, neither empty.
pub fn expand<E: Exec>(exec: &mut E, env: &Env, mut a: Ref, mut b: Ref) -> Outcome {
    let (mut row, mut waiting) = (Row::default(), Waiting::default());
    // Where both go on alike, or one has ended, the rest of the other is the rest of the union.
    while a != b && a != Ref::FALSE && b != Ref::FALSE {
        let (x, y) = (exec.node(a), exec.node(b));
        if x.value() < y.value() {
            row.push(exec, x.value(), a, x.down());
            a = x.right();
        } else if y.value() < x.value() {
            row.push(exec, y.value(), b, y.down());
            b = y.right();
        } else {
            row.push_call(exec, env, &mut waiting, (x.value(), a), unite(x.down(), y.down()))?;
            (a, b) = (x.right(), y.right());
        }
    }
    row.settle(exec, env, waiting)?;
    row.finish(exec, if a == Ref::FALSE { b } else { a })
}
