//! The vectors of a set whose projection is in another set.

use super::row::{Row, Waiting};
use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use crate::lists::steps::Plan;
use crate::ops::code;
use crate::task::Task;
use tremula_table::{Key, OpTag, Ref};

/// The vectors of a set, not empty, whose projection is among others, not empty.
#[derive(Copy, Clone)]
pub struct Select {
    set: Ref,
    among: Ref,
    plan: u32,
}

/// Terminal tests of a selection.
#[inline]
pub fn select(set: Ref, among: Ref, plan: u32) -> Call<Select> {
    if set == Ref::FALSE || among == Ref::FALSE {
        return Call::Done(Ref::FALSE);
    }
    if plan == Plan::END {
        return Call::Done(set);
    }
    Call::todo(Select { set, among, plan }, false)
}

impl Operation for Select {
    #[inline]
    fn key(self) -> Option<Key> {
        Some(Key::binary(self.set, self.among, OpTag::binary(code::SELECT, self.plan)))
    }

    #[inline]
    fn task(self) -> Task {
        Task::Select(self)
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.set.bits(), self.among.bits(), self.plan]
    }

    #[inline]
    fn from_words([set, among, plan]: [u32; 3]) -> Self {
        Select { set: Ref::from_bits(set), among: Ref::from_bits(among), plan }
    }

    #[inline]
    fn prefetch<E: Exec>(self, exec: &E) {
        exec.prefetch_node(self.set);
        exec.prefetch_node(self.among);
    }

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        let Plan { kept, next } = env.lists.plan(self.plan);
        let (mut row, mut waiting) = (Row::default(), Waiting::default());
        let Select { mut set, mut among, .. } = self;
        while set != Ref::FALSE && among != Ref::FALSE {
            let node = exec.node(set);
            let below = if kept {
                let other = exec.node(among);
                if other.value() < node.value() {
                    among = other.right();
                    continue;
                }
                if other.value() == node.value() { other.down() } else { Ref::FALSE }
            } else {
                among
            };
            row.push_call(exec, env, &mut waiting, (node.value(), set), select(node.down(), below, next))?;
            set = node.right();
        }
        row.settle(exec, env, waiting)?;
        row.finish(exec, Ref::FALSE)
    }
}
