//! Projection of vectors on some of their levels.

use super::row::{Row, Waiting};
use super::union::union_of_results;
use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use crate::lists::steps::Plan;
use crate::ops::code;
use crate::task::Task;
use tremula_table::{Key, OpTag, Ref};

const TAG: OpTag = OpTag::unary(code::PROJECT, 0);

/// The vectors of a set, not empty, without some of their values.
#[derive(Copy, Clone)]
pub struct Project {
    set: Ref,
    plan: u32,
}

/// Terminal tests of a projection.
#[inline]
pub fn project(set: Ref, plan: u32) -> Call<Project> {
    if set.is_terminal() {
        return Call::Done(set);
    }
    if plan == Plan::END {
        return Call::Done(Ref::TRUE);
    }
    Call::todo(Project { set, plan }, false)
}

impl Operation for Project {
    #[inline]
    fn key(self) -> Option<Key> {
        Some(Key::unary(self.set, self.plan, TAG))
    }

    #[inline]
    fn task(self) -> Task {
        Task::Project(self)
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.set.bits(), self.plan, 0]
    }

    #[inline]
    fn from_words([set, plan, _]: [u32; 3]) -> Self {
        Project { set: Ref::from_bits(set), plan }
    }

    #[inline]
    fn prefetch<E: Exec>(self, exec: &E) {
        exec.prefetch_node(self.set);
    }

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        let Plan { kept, next } = env.lists.plan(self.plan);
        let mut set = self.set;
        if !kept {
            let mut all = Ref::FALSE;
            while set != Ref::FALSE {
                let node = exec.node(set);
                exec.keep(all);
                let found = exec.solve(env, project(node.down(), next))?;
                exec.release(1);
                all = union_of_results(exec, env, all, found)?;
                set = node.right();
            }
            return Ok(all);
        }
        let (mut row, mut waiting) = (Row::default(), Waiting::default());
        while set != Ref::FALSE {
            let node = exec.node(set);
            row.push_call(exec, env, &mut waiting, (node.value(), set), project(node.down(), next))?;
            set = node.right();
        }
        row.settle(exec, env, waiting)?;
        row.finish(exec, Ref::FALSE)
    }
}
