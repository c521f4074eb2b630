//! Difference of sets of vectors.

use super::row::{Row, Waiting};
use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use crate::ops::code;
use crate::task::Task;
use tremula_table::{Key, OpTag, Ref};

const TAG: OpTag = OpTag::binary(code::SUBTRACT, 0);

/// `a ∖ b`, neither empty, not the same.
#[derive(Copy, Clone)]
pub struct Subtract {
    a: Ref,
    b: Ref,
}

/// Terminal tests of `a ∖ b`.
#[inline]
pub fn subtract(a: Ref, b: Ref) -> Call<Subtract> {
    if a == b || a == Ref::FALSE {
        return Call::Done(Ref::FALSE);
    }
    if b == Ref::FALSE {
        return Call::Done(a);
    }
    Call::todo(Subtract { a, b }, false)
}

impl Operation for Subtract {
    #[inline]
    fn key(self) -> Option<Key> {
        Some(Key::binary(self.a, self.b, TAG))
    }

    #[inline]
    fn task(self) -> Task {
        Task::Subtract(self)
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.a.bits(), self.b.bits(), 0]
    }

    #[inline]
    fn from_words([a, b, _]: [u32; 3]) -> Self {
        Subtract { a: Ref::from_bits(a), b: Ref::from_bits(b) }
    }

    #[inline]
    fn prefetch<E: Exec>(self, exec: &E) {
        exec.prefetch_node(self.a);
        exec.prefetch_node(self.b);
    }

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        let (mut row, mut waiting) = (Row::default(), Waiting::default());
        let Subtract { mut a, mut b } = self;
        while a != b && a != Ref::FALSE && b != Ref::FALSE {
            let (x, y) = (exec.node(a), exec.node(b));
            if x.value() < y.value() {
                row.push(exec, x.value(), a, x.down());
                a = x.right();
            } else if y.value() < x.value() {
                b = y.right();
            } else {
                row.push_call(exec, env, &mut waiting, (x.value(), a), subtract(x.down(), y.down()))?;
                (a, b) = (x.right(), y.right());
            }
        }
        row.settle(exec, env, waiting)?;
        row.finish(exec, if a == b { Ref::FALSE } else { a })
    }
}
