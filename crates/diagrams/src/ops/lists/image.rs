//! Successors and predecessors of a set of vectors under compiled relations.

use super::minus::subtract;
use super::row::{Row, Waiting};
use super::union::union_of_results;
use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use crate::lists::steps::Step;
use crate::ops::code;
use crate::relation::Tree;
use crate::task::Task;
use smallvec::SmallVec;
use tremula_table::{Interrupt, Key, OpTag, Ref};

const NEXT: OpTag = OpTag::unary(code::LIST_NEXT, 0);

/// Successors of a set, not empty, by a step that does something.
#[derive(Copy, Clone)]
pub struct ListNext {
    set: Ref,
    step: u32,
}

/// Terminal tests of an image.
#[inline]
pub fn list_next(set: Ref, step: u32) -> Call<ListNext> {
    if set == Ref::FALSE || step == Step::EMPTY {
        return Call::Done(Ref::FALSE);
    }
    if step == Step::IDENTITY {
        return Call::Done(set);
    }
    Call::todo(ListNext { set, step }, false)
}

/// Put successors of all vectors in `set` into a row, where `call` is what is left to do below a value.
pub fn fire_into<E: Exec, O: Operation>(
    exec: &mut E,
    env: &Env,
    row: &mut Row,
    (mut set, step): (Ref, &Step),
    call: impl Fn(Ref, u32) -> Call<O>,
) -> Result<(), Interrupt> {
    let mut waiting = None;
    while set != Ref::FALSE {
        let node = exec.node(set);
        for (to, next) in env.lists.ways(step, node.value()) {
            match (call(node.down(), next), waiting.take()) {
                (Call::Done(found), first) => {
                    waiting = first;
                    row.unite(exec, env, to, found)?;
                }
                (call, None) => waiting = Some((to, call)),
                (call, Some(first)) => row.unite_both(exec, env, first, (to, call))?,
            }
        }
        set = node.right();
    }
    match waiting {
        Some((to, call)) => row.unite_call(exec, env, to, call),
        None => Ok(()),
    }
}

/// Successors where the step leaves its level alone: those of each value by themselves.
pub fn pass_into<E: Exec, O: Operation>(
    exec: &mut E,
    env: &Env,
    row: &mut Row,
    mut set: Ref,
    call: impl Fn(Ref) -> Call<O>,
) -> Result<(), Interrupt> {
    let mut waiting = Waiting::default();
    while set != Ref::FALSE {
        let node = exec.node(set);
        row.push_call(exec, env, &mut waiting, (node.value(), set), call(node.down()))?;
        set = node.right();
    }
    row.settle(exec, env, waiting)
}

impl Operation for ListNext {
    #[inline]
    fn key(self) -> Option<Key> {
        Some(Key::unary(self.set, self.step, NEXT))
    }

    #[inline]
    fn task(self) -> Task {
        Task::ListNext(self)
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.set.bits(), self.step, 0]
    }

    #[inline]
    fn from_words([set, step, _]: [u32; 3]) -> Self {
        ListNext { set: Ref::from_bits(set), step }
    }

    #[inline]
    fn prefetch<E: Exec>(self, exec: &E) {
        exec.prefetch_node(self.set);
    }

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        let step = env.lists.step(self.step);
        let mut row = Row::default();
        match env.lists.skipped(step) {
            Some(next) => pass_into(exec, env, &mut row, self.set, |down| list_next(down, next))?,
            None => fire_into(exec, env, &mut row, (self.set, step), list_next)?,
        }
        row.finish(exec, Ref::FALSE)
    }
}

/// Predecessors of a set within a universe, neither empty.
#[derive(Copy, Clone)]
pub struct ListPrevious {
    set: Ref,
    universe: Ref,
    step: u32,
}

/// Terminal tests of a pre-image.
#[inline]
pub fn list_previous(set: Ref, universe: Ref, step: u32) -> Call<ListPrevious> {
    if set == Ref::FALSE || universe == Ref::FALSE || step == Step::EMPTY {
        return Call::Done(Ref::FALSE);
    }
    if step == Step::IDENTITY && set == universe {
        return Call::Done(set);
    }
    Call::todo(ListPrevious { set, universe, step }, false)
}

impl Operation for ListPrevious {
    #[inline]
    fn key(self) -> Option<Key> {
        Some(Key::binary(self.set, self.universe, OpTag::binary(code::LIST_PREVIOUS, self.step)))
    }

    #[inline]
    fn task(self) -> Task {
        Task::ListPrevious(self)
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.set.bits(), self.universe.bits(), self.step]
    }

    #[inline]
    fn from_words([set, universe, step]: [u32; 3]) -> Self {
        ListPrevious { set: Ref::from_bits(set), universe: Ref::from_bits(universe), step }
    }

    #[inline]
    fn prefetch<E: Exec>(self, exec: &E) {
        exec.prefetch_node(self.set);
        exec.prefetch_node(self.universe);
    }

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        if self.step == Step::IDENTITY {
            return exec.solve(env, super::intersect::intersect(self.set, self.universe));
        }
        let step = env.lists.step(self.step);
        let mut targets: SmallVec<[(u32, Ref); 8]> = SmallVec::new();
        let mut set = self.set;
        while set != Ref::FALSE {
            let node = exec.node(set);
            targets.push((node.value(), node.down()));
            set = node.right();
        }
        let target = |value: u32| match targets.binary_search_by_key(&value, |target| target.0) {
            Ok(at) => targets[at].1,
            Err(_) => Ref::FALSE,
        };
        let mut row = Row::default();
        let mut universe = self.universe;
        while universe != Ref::FALSE {
            let node = exec.node(universe);
            for (to, next) in env.lists.ways(step, node.value()) {
                row.unite_call(exec, env, node.value(), list_previous(target(to), node.down(), next))?;
            }
            universe = node.right();
        }
        row.finish(exec, Ref::FALSE)
    }
}

/// Successors of a set, not empty, under all relations of a system that begin at `level` or below.
#[derive(Copy, Clone)]
pub struct ListNextOfAll {
    set: Ref,
    level: u32,
    system: u32,
}

/// Terminal tests of an image under all relations.
#[inline]
pub fn list_next_of_all(env: &Env, set: Ref, level: u32, system: u32) -> Call<ListNextOfAll> {
    if set == Ref::FALSE || env.lists.system(system).ends_above(level) {
        return Call::Done(Ref::FALSE);
    }
    Call::todo(ListNextOfAll { set, level, system }, false)
}

impl Operation for ListNextOfAll {
    #[inline]
    fn key(self) -> Option<Key> {
        Some(Key::unary(self.set, self.level, OpTag::unary(code::LIST_NEXT_OF_ALL, self.system)))
    }

    #[inline]
    fn task(self) -> Task {
        Task::ListNextOfAll(self)
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.set.bits(), self.level, self.system]
    }

    #[inline]
    fn from_words([set, level, system]: [u32; 3]) -> Self {
        ListNextOfAll { set: Ref::from_bits(set), level, system }
    }

    #[inline]
    fn prefetch<E: Exec>(self, exec: &E) {
        exec.prefetch_node(self.set);
    }

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        let ListNextOfAll { set, level, system } = self;
        let mut row = Row::default();
        pass_into(exec, env, &mut row, set, |down| list_next_of_all(env, down, level + 1, system))?;
        let event = env.lists.system(system).event(level);
        if event != Step::EMPTY {
            fire_into(exec, env, &mut row, (set, env.lists.step(event)), list_next)?;
        }
        row.finish(exec, Ref::FALSE)
    }
}

/// New successors of a set: each relation's image by itself, without the vectors in `known`, united in a tree.
#[derive(Copy, Clone)]
pub struct NewLists {
    set: Ref,
    known: Ref,
    tree: u32,
}

/// Terminal tests of the new successors.
#[inline]
pub fn new_lists(set: Ref, known: Ref, tree: u32) -> Call<NewLists> {
    if set == Ref::FALSE {
        return Call::Done(Ref::FALSE);
    }
    Call::todo(NewLists { set, known, tree }, false)
}

impl Operation for NewLists {
    #[inline]
    fn key(self) -> Option<Key> {
        None
    }

    #[inline]
    fn task(self) -> Task {
        Task::NewLists(self)
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.set.bits(), self.known.bits(), self.tree]
    }

    #[inline]
    fn from_words([set, known, tree]: [u32; 3]) -> Self {
        NewLists { set: Ref::from_bits(set), known: Ref::from_bits(known), tree }
    }

    #[inline]
    fn prefetch<E: Exec>(self, _: &E) {}

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        let NewLists { set, known, tree } = self;
        match env.relations.tree(tree) {
            Tree::Fork(left, right) => {
                let (a, b) = exec.both(env, new_lists(set, known, left), new_lists(set, known, right))?;
                union_of_results(exec, env, a, b)
            }
            Tree::Leaf(step) => {
                let found = exec.solve(env, list_next(set, step))?;
                exec.keep(found);
                let new = exec.solve(env, subtract(found, known));
                exec.release(1);
                new
            }
        }
    }
}
