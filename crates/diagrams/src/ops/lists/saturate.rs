//! Closure of a set of vectors under all relations of a system, the deepest first.
//!
//! A list is closed value by value, always the smallest below which something is new: what is below it is closed under the
//! deeper relations, and then those that begin at this level fire from this value alone, each adding to what is below some
//! value. Nothing is closed before its turn comes, because more may be added until then. Only when no value is left do
//! these additions become nodes.

use super::add::add_next;
use super::image::pass_into;
use super::row::Row;
use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use crate::lists::steps::{Closure, Step};
use crate::ops::code;
use crate::task::Task;
use tremula_table::{Interrupt, Key, OpTag, Ref};

/// Everything reachable from a set, not empty, whose values begin at `level`.
#[derive(Copy, Clone)]
pub struct ListSaturate {
    set: Ref,
    level: u32,
    closure: u32,
}

/// Terminal tests of a closure.
#[inline]
pub fn list_saturate(env: &Env, set: Ref, level: u32, closure: u32) -> Call<ListSaturate> {
    let Closure { system, from } = env.lists.closure(closure);
    if set.is_terminal() || env.lists.system(system).ends_above(level) {
        return Call::Done(set);
    }
    // From that level on, what is left out above makes no difference.
    let closure = if level >= from { env.lists.system(system).whole } else { closure };
    Call::todo(ListSaturate { set, level, closure }, false)
}

impl Operation for ListSaturate {
    #[inline]
    fn key(self) -> Option<Key> {
        Some(Key::unary(self.set, self.level, OpTag::unary(code::LIST_SATURATE, self.closure)))
    }

    #[inline]
    fn task(self) -> Task {
        Task::ListSaturate(self)
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.set.bits(), self.level, self.closure]
    }

    #[inline]
    fn from_words([set, level, closure]: [u32; 3]) -> Self {
        ListSaturate { set: Ref::from_bits(set), level, closure }
    }

    #[inline]
    fn prefetch<E: Exec>(self, exec: &E) {
        exec.prefetch_node(self.set);
    }

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        let Closure { system, from } = env.lists.closure(self.closure);
        let event = env.lists.system(system).event(self.level);
        let mut row = Row::default();
        if self.level < from || event == Step::EMPTY {
            let below = |down| list_saturate(env, down, self.level + 1, self.closure);
            pass_into(exec, env, &mut row, self.set, below)?;
        } else {
            row.push_all(exec, self.set);
            self.close(exec, env, &mut row, env.lists.step(event))?;
        }
        let closed = row.finish(exec, Ref::FALSE)?;
        let again = ListSaturate { set: closed, ..self };
        if let (true, Some(key)) = (closed != self.set, again.key()) {
            // What is closed will be met again below other values.
            exec.cache_put(key.hash(), key, closed);
        }
        Ok(closed)
    }
}

impl ListSaturate {
    /// Fire the relations that begin at this level until nothing is new.
    fn close<E: Exec>(self, exec: &mut E, env: &Env, row: &mut Row, event: &Step) -> Result<(), Interrupt> {
        while let Some(at) = row.take_new() {
            let (value, below) = (row.value(at), row.down(exec, at));
            let closed = exec.solve(env, list_saturate(env, below, self.level + 1, self.closure))?;
            row.set_down(exec, at, closed);
            for (to, next) in env.lists.ways(event, value) {
                // Firing from it may have added to it, or put other values before it.
                let below = row.below(exec, value);
                let known = row.below(exec, to);
                let all = exec.solve(env, add_next(below, next, known))?;
                if all != known {
                    row.put_new(exec, to, all);
                }
            }
        }
        Ok(())
    }
}
