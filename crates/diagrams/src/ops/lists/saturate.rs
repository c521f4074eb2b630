//! Closure of a set of vectors under all relations of a system, the deepest first.
//!
//! Three operations call each other. [`Saturate`](ListSaturate) closes what is below each value of a list, and then the list. [`Close`]
//! closes a list under the relations that begin at its level: as long as something below a value is new, the relations fire
//! from that value, each adding to what is below another. [`Fire`] is an image whose every list is closed before anybody
//! sees it. So what a relation adds is completed where it was added, at the level where it was added, and unions of closed
//! sets are closed: nothing above needs to start again.

use super::image::{fire_into, pass_into};
use super::row::Row;
use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use crate::lists::steps::{Closure, Step};
use crate::ops::code;
use crate::task::Task;
use smallvec::SmallVec;
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
    if set.is_terminal() || env.lists.system(env.lists.closure(closure).system).ends_above(level) {
        return Call::Done(set);
    }
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
        let ListSaturate { set, level, closure } = self;
        let mut row = Row::default();
        pass_into(exec, env, &mut row, set, |down| list_saturate(env, down, level + 1, closure))?;
        let Closure { system, from } = env.lists.closure(closure);
        let list = row.finish(exec, Ref::FALSE)?;
        if level < from { Ok(list) } else { close_result(exec, env, list, level, system) }
    }
}

/// Close an unprotected list whose values have closed sets below them.
#[inline]
fn close_result<E: Exec>(exec: &mut E, env: &Env, list: Ref, level: u32, system: u32) -> Outcome {
    let call = close(env, list, level, system);
    if let Call::Done(closed) = call {
        return Ok(closed);
    }
    exec.keep(list);
    let closed = exec.solve(env, call);
    exec.release(1);
    closed
}

/// Everything reachable from a list, not empty, at whose level relations begin, and below whose values all is closed.
#[derive(Copy, Clone)]
pub struct Close {
    list: Ref,
    level: u32,
    system: u32,
}

#[inline]
fn close(env: &Env, list: Ref, level: u32, system: u32) -> Call<Close> {
    if list == Ref::FALSE || env.lists.system(system).event(level) == Step::EMPTY {
        return Call::Done(list);
    }
    Call::todo(Close { list, level, system }, false)
}

impl Operation for Close {
    #[inline]
    fn key(self) -> Option<Key> {
        Some(Key::unary(self.list, self.level, OpTag::unary(code::CLOSE, self.system)))
    }

    #[inline]
    fn task(self) -> Task {
        Task::Close(self)
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.list.bits(), self.level, self.system]
    }

    #[inline]
    fn from_words([list, level, system]: [u32; 3]) -> Self {
        Close { list: Ref::from_bits(list), level, system }
    }

    #[inline]
    fn prefetch<E: Exec>(self, exec: &E) {
        exec.prefetch_node(self.list);
    }

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        let mut row = Row::default();
        row.push_all(exec, self.list);
        if close_row(exec, env, &mut row, self.level, self.system)? {
            row.finish(exec, Ref::FALSE)
        } else {
            row.abandon(exec);
            Ok(self.list)
        }
    }
}

/// Fire the relations that begin at `level` until nothing is added. Was anything?
fn close_row<E: Exec>(exec: &mut E, env: &Env, row: &mut Row, level: u32, system: u32) -> Result<bool, Interrupt> {
    let step = env.lists.step(env.lists.system(system).event(level));
    // Values below which something is new, in the order in which they became so.
    let mut new: SmallVec<[u32; 16]> = (0..row.len()).rev().map(|at| row.value(at)).collect();
    let mut changed = false;
    while let Some(value) = new.pop() {
        for (to, next) in env.lists.ways(step, value) {
            let at = row.position(value).expect("it is in the row");
            let down = row.down(exec, at);
            if row.unite_call(exec, env, to, fire(down, next, system))? {
                changed = true;
                if !new.contains(&to) {
                    new.push(to);
                }
            }
        }
    }
    Ok(changed)
}

/// Successors of a closed set, not empty, by a step that does something, closed.
#[derive(Copy, Clone)]
pub struct Fire {
    set: Ref,
    step: u32,
    system: u32,
}

#[inline]
fn fire(set: Ref, step: u32, system: u32) -> Call<Fire> {
    if set == Ref::FALSE || step == Step::EMPTY {
        return Call::Done(Ref::FALSE);
    }
    if step == Step::IDENTITY {
        return Call::Done(set);
    }
    Call::todo(Fire { set, step, system }, false)
}

impl Operation for Fire {
    #[inline]
    fn key(self) -> Option<Key> {
        Some(Key::unary(self.set, self.step, OpTag::unary(code::FIRE, self.system)))
    }

    #[inline]
    fn task(self) -> Task {
        Task::Fire(self)
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.set.bits(), self.step, self.system]
    }

    #[inline]
    fn from_words([set, step, system]: [u32; 3]) -> Self {
        Fire { set: Ref::from_bits(set), step, system }
    }

    #[inline]
    fn prefetch<E: Exec>(self, exec: &E) {
        exec.prefetch_node(self.set);
    }

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        let Fire { set, system, .. } = self;
        let step = env.lists.step(self.step);
        let mut row = Row::default();
        match env.lists.skipped(step) {
            Some(next) => pass_into(exec, env, &mut row, set, |down| fire(down, next, system))?,
            None => fire_into(exec, env, &mut row, (set, step), |down, next| fire(down, next, system))?,
        }
        let list = row.finish(exec, Ref::FALSE)?;
        close_result(exec, env, list, step.level, system)
    }
}
