//! Lanes: coroutines in one thread that share a computation.
//!
//! Each lane has a stack of spawned tasks. Its owner pushes and pops at the young end; lanes without work take tasks from
//! the old end, which are the largest. Tasks that were taken form a prefix of the stack, and a lane syncs its tasks in
//! reverse order of spawning, so one number, `taken`, tells the two kinds apart. Everything happens in one thread and
//! control changes hands only in [`Lane::pause`] and [`Lane::sync`]: no atomics, no locks.

use crate::synced::Synced;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::{Cell, RefCell};
use std::io;

/// Stacks for a number of lanes, reused from run to run.
pub struct Lanes {
    stacks: Vec<DefaultStack>,
    stack_bytes: usize,
}

/// What a running task sees of its lane.
pub struct Lane<'a, T, R> {
    number: usize,
    yielder: &'a Yielder<(), ()>,
    board: &'a Board<T, R>,
}

/// State of all lanes of one run.
struct Board<T, R> {
    lanes: Vec<LaneState<T, R>>,
    root_result: RefCell<Option<R>>,
    finished: Cell<bool>,
}

struct LaneState<T, R> {
    tasks: RefCell<Vec<Spawned<T, R>>>,
    /// How many of the oldest tasks other lanes have taken.
    taken: Cell<usize>,
    status: Cell<Status>,
    assignment: RefCell<Option<Assignment<T>>>,
}

struct Spawned<T, R> {
    task: T,
    result: Option<R>,
}

struct Assignment<T> {
    task: T,
    /// Lane and position of the task; none for the root.
    origin: Option<(usize, usize)>,
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Status {
    Idle,
    Running,
    /// Its youngest task was taken and is not finished.
    Waiting,
}

type Routine = Coroutine<(), (), (), DefaultStack>;

impl Lanes {
    /// `count` lanes, each with a stack of `stack_bytes` (touched only as deep as recursion goes).
    pub fn new(count: usize, stack_bytes: usize) -> io::Result<Lanes> {
        let stacks = (0..count.max(1)).map(|_| DefaultStack::new(stack_bytes)).collect::<io::Result<_>>()?;
        Ok(Lanes { stacks, stack_bytes })
    }

    /// Bytes of each lane's stack.
    pub fn stack_bytes(&self) -> usize {
        self.stack_bytes
    }

    /// Run `root` and everything it spawns to the end.
    ///
    /// `work` may be under way in several lanes at once, one of which runs at a time. It must sync every task it spawns.
    /// If it panics, the stacks are gone, and the lanes cannot be used any more.
    pub fn run<T: Copy, R>(&mut self, root: T, work: &dyn Fn(&Lane<'_, T, R>, T) -> R) -> R {
        assert!(!self.stacks.is_empty(), "lanes were used after a panic");
        let board = Board::new(self.stacks.len(), root);
        let mut routines: Vec<Routine> = self
            .stacks
            .drain(..)
            .enumerate()
            .map(|(number, stack)| {
                let board = &board;
                let body = move |yielder: &Yielder<(), ()>, ()| Lane { number, yielder, board }.serve(work);
                // SAFETY: `body` borrows `board` and `work`. All routines are finished or dropped before this function
                // returns or unwinds: they live in `routines`, declared after `board`, and never leave this function.
                unsafe { Coroutine::with_stack_unchecked(stack, body) }
            })
            .collect();
        board.drive(&mut routines);
        self.stacks.extend(routines.into_iter().map(Coroutine::into_stack));
        board.root_result.into_inner().expect("the root task ran to its end")
    }
}

impl<T: Copy, R> Board<T, R> {
    fn new(lanes: usize, root: T) -> Board<T, R> {
        let idle = || LaneState {
            tasks: RefCell::new(Vec::new()),
            taken: Cell::new(0),
            status: Cell::new(Status::Idle),
            assignment: RefCell::new(None),
        };
        let board = Board {
            lanes: (0..lanes).map(|_| idle()).collect(),
            root_result: RefCell::new(None),
            finished: Cell::new(false),
        };
        board.assign(0, Assignment { task: root, origin: None });
        board
    }

    fn assign(&self, lane: usize, assignment: Assignment<T>) {
        *self.lanes[lane].assignment.borrow_mut() = Some(assignment);
        self.lanes[lane].status.set(Status::Running);
    }

    /// Resume lanes in turn until the root is done, then let all of them end.
    fn drive(&self, routines: &mut [Routine]) {
        while !self.finished.get() {
            for (number, routine) in routines.iter_mut().enumerate() {
                if self.is_runnable(number) {
                    routine.resume(());
                }
            }
        }
        for routine in routines {
            if !routine.done() {
                let ended = routine.resume(());
                debug_assert!(matches!(ended, CoroutineResult::Return(())), "an idle lane ends when told to");
            }
        }
    }

    #[inline]
    fn is_runnable(&self, number: usize) -> bool {
        let lane = &self.lanes[number];
        match lane.status.get() {
            Status::Running => true,
            Status::Waiting => lane.tasks.borrow().last().is_some_and(|spawned| spawned.result.is_some()),
            Status::Idle => self.find_work(number),
        }
    }

    /// Give an idle lane the oldest task of the first lane that has one to spare.
    fn find_work(&self, thief: usize) -> bool {
        let count = self.lanes.len();
        let victims = (1..count).map(|distance| (thief + distance) % count);
        for victim in victims {
            let lane = &self.lanes[victim];
            let oldest = lane.taken.get();
            let task = lane.tasks.borrow().get(oldest).map(|spawned| spawned.task);
            if let Some(task) = task {
                lane.taken.set(oldest + 1);
                self.assign(thief, Assignment { task, origin: Some((victim, oldest)) });
                return true;
            }
        }
        false
    }

    fn finish(&self, assignment: &Assignment<T>, result: R) {
        match assignment.origin {
            Some((lane, position)) => self.lanes[lane].tasks.borrow_mut()[position].result = Some(result),
            None => {
                *self.root_result.borrow_mut() = Some(result);
                self.finished.set(true);
            }
        }
    }
}

impl<T: Copy, R> Lane<'_, T, R> {
    /// Life of a lane: run what is assigned, until the whole run is over.
    fn serve(&self, work: &dyn Fn(&Lane<'_, T, R>, T) -> R) {
        while !self.board.finished.get() {
            let assignment = self.state().assignment.borrow_mut().take();
            if let Some(assignment) = assignment {
                let result = work(self, assignment.task);
                self.board.finish(&assignment, result);
            }
            self.state().status.set(Status::Idle);
            self.yielder.suspend(());
        }
    }

    #[inline]
    fn state(&self) -> &LaneState<T, R> {
        &self.board.lanes[self.number]
    }

    /// Which lane this is, from zero.
    #[inline]
    pub fn number(&self) -> usize {
        self.number
    }

    /// Let the other lanes run for a while.
    #[inline]
    pub fn pause(&self) {
        self.yielder.suspend(());
    }

    /// Offer a task to other lanes. Must be followed by a [`Lane::sync`].
    #[inline]
    pub fn spawn(&self, task: T) {
        self.state().tasks.borrow_mut().push(Spawned { task, result: None });
    }

    /// Take back the task spawned last, or its result; waits for a lane that has begun it.
    ///
    /// # Panics
    /// If nothing was spawned.
    #[inline]
    pub fn sync(&self) -> Synced<T, R> {
        let state = self.state();
        let youngest = state.tasks.borrow().len() - 1;
        if youngest < state.taken.get() {
            return Synced::Result(self.wait_for_youngest());
        }
        Synced::Task(state.tasks.borrow_mut().pop().expect("a spawned task").task)
    }

    #[cold]
    fn wait_for_youngest(&self) -> R {
        let state = self.state();
        loop {
            let ready = state.tasks.borrow().last().is_some_and(|spawned| spawned.result.is_some());
            if ready {
                state.status.set(Status::Running);
                state.taken.set(state.taken.get() - 1);
                return state.tasks.borrow_mut().pop().and_then(|spawned| spawned.result).expect("a result");
            }
            state.status.set(Status::Waiting);
            self.yielder.suspend(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sum of `low..high` by halves, with a pause at every step.
    fn sum(lane: &Lane<'_, (u64, u64), u64>, (low, high): (u64, u64)) -> u64 {
        if high - low == 1 {
            lane.pause();
            return low;
        }
        let middle = low.midpoint(high);
        lane.spawn((middle, high));
        let left = sum(lane, (low, middle));
        left + match lane.sync() {
            Synced::Task(task) => sum(lane, task),
            Synced::Result(right) => right,
        }
    }

    #[test]
    fn every_number_of_lanes_gives_the_same_sum() {
        for count in 1..=9 {
            let mut lanes = Lanes::new(count, 64 << 10).unwrap();
            for high in [1, 2, 3, 100, 1000] {
                assert_eq!(lanes.run((0, high), &sum), (0..high).sum());
            }
        }
    }

    #[test]
    fn several_lanes_take_part() {
        let used = RefCell::new(std::collections::BTreeSet::new());
        let work = |lane: &Lane<'_, (u64, u64), u64>, task| {
            used.borrow_mut().insert(lane.number());
            sum(lane, task)
        };
        assert_eq!(Lanes::new(4, 64 << 10).unwrap().run((0, 1000), &work), 499_500);
        assert_eq!(used.borrow().len(), 4);
    }

    #[test]
    fn a_panic_reaches_the_caller_and_frees_the_lanes() {
        let caught = std::panic::catch_unwind(|| {
            let work = |lane: &Lane<'_, u32, u32>, n: u32| {
                lane.spawn(n + 1);
                lane.pause();
                assert!(n < 2, "as the test wants");
                0
            };
            Lanes::new(3, 64 << 10).unwrap().run(0, &work)
        });
        assert!(caught.is_err());
    }
}
