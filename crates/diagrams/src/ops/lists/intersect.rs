//! Intersection of sets of vectors.

use super::row::{Row, Waiting};
use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use crate::ops::code;
use crate::task::Task;
use tremula_table::{Key, OpTag, Ref};

const TAG: OpTag = OpTag::binary(code::INTERSECT, 0);

/// `a ∩ b` with `a < b`, neither empty.
#[derive(Copy, Clone)]
pub struct Intersect {
    a: Ref,
    b: Ref,
}

/// Terminal tests and normalisation of `a ∩ b`.
#[inline]
pub fn intersect(a: Ref, b: Ref) -> Call<Intersect> {
    if a == b || a == Ref::FALSE {
        return Call::Done(a);
    }
    if b == Ref::FALSE {
        return Call::Done(b);
    }
    Call::todo(if a < b { Intersect { a, b } } else { Intersect { a: b, b: a } }, false)
}

impl Operation for Intersect {
    #[inline]
    fn key(self) -> Option<Key> {
        Some(Key::binary(self.a, self.b, TAG))
    }

    #[inline]
    fn task(self) -> Task {
        Task::Intersect(self)
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.a.bits(), self.b.bits(), 0]
    }

    #[inline]
    fn from_words([a, b, _]: [u32; 3]) -> Self {
        Intersect { a: Ref::from_bits(a), b: Ref::from_bits(b) }
    }

    #[inline]
    fn prefetch<E: Exec>(self, exec: &E) {
        exec.prefetch_node(self.a);
        exec.prefetch_node(self.b);
    }

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        let (mut row, mut waiting) = (Row::default(), Waiting::default());
        let Intersect { mut a, mut b } = self;
        while a != b && a != Ref::FALSE && b != Ref::FALSE {
            let (x, y) = (exec.node(a), exec.node(b));
            if x.value() == y.value() {
                row.push_call(exec, env, &mut waiting, (x.value(), a), intersect(x.down(), y.down()))?;
            }
            let (next_a, next_b) = (x.value() <= y.value(), y.value() <= x.value());
            if next_a {
                a = x.right();
            }
            if next_b {
                b = y.right();
            }
        }
        row.settle(exec, env, waiting)?;
        row.finish(exec, if a == b { a } else { Ref::FALSE })
    }
}
