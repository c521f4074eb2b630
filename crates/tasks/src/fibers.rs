//! Fibers: coroutines in one thread that share a computation, and wait for what comes from outside.
//!
//! As lanes do, fibers spawn tasks that idle ones among them take from the old end. Beyond that a fiber can wait until it is
//! woken ([`Fiber::wait`]), tasks come from elsewhere ([`Board::offer`]) and go elsewhere ([`Board::take_oldest`],
//! [`Fiber::spawn_away`], [`Board::deliver`]). The thread itself leads: it resumes fibers one [`Driver::step`] at a time and
//! looks after the outside world in between. No atomics, no locks: everything happens in one thread.
//!
//! Tasks from elsewhere have a class. Of each class only so many are under way at a time, those of the highest class are
//! begun first, and there are stacks for all of them. So if tasks wait only for tasks of higher classes, here or elsewhere,
//! none waits for ever.
//!
//! ```
//! use tremula_tasks::{Fiber, Fibers, Synced};
//!
//! fn double(fiber: &Fiber<'_, u32, u32>, n: u32) -> u32 {
//!     fiber.wait();
//!     2 * n
//! }
//! let results = Fibers::new(2, 1, 64 << 10).run(&double, |driver| {
//!     let board = driver.board();
//!     [1, 2, 3].map(|n| board.offer(n, u64::from(n), 0));
//!     let mut results = Vec::new();
//!     while results.len() < 3 {
//!         if !driver.step() {
//!             (0..2).for_each(|fiber| board.wake(fiber));
//!         }
//!         board.take_finished(|tag, result| results.push((tag, result)));
//!     }
//!     results
//! });
//! assert_eq!(results, [(1, 2), (2, 4), (3, 6)]);
//! ```

use crate::synced::Synced;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// Stacks for a number of fibers, reused from run to run.
pub struct Fibers {
    /// Tasks of each class that may be under way, and as many of this thread's own.
    each: usize,
    classes: usize,
    stack_bytes: usize,
    stacks: Vec<DefaultStack>,
}

/// What a running task sees of its fiber.
pub struct Fiber<'a, T, R> {
    number: usize,
    yielder: &'a Yielder<(), ()>,
    board: &'a Board<T, R>,
}

/// The state of all fibers, and of the tasks that come and go.
pub struct Board<T, R> {
    fibers: Vec<FiberState<T, R>>,
    /// Fibers that can go on.
    ready: RefCell<VecDeque<usize>>,
    idle: RefCell<Vec<usize>>,
    /// Fibers that have a stack.
    begun: Cell<usize>,
    /// Tasks of a class that may be under way.
    each: usize,
    /// By class.
    offered: RefCell<Vec<VecDeque<Assignment<T>>>>,
    /// How many there are.
    waiting: Cell<usize>,
    /// By class: tasks under way.
    active: Vec<Cell<usize>>,
    finished: RefCell<Vec<(u64, R)>>,
    /// Spawned tasks that nobody has taken.
    spare: Cell<usize>,
    spawned: Cell<u64>,
    /// The fiber whose tasks idle ones look at first.
    next_victim: Cell<usize>,
    over: Cell<bool>,
}

/// Where a task that went elsewhere came from: its result has to come back here.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Ticket {
    /// The fiber that spawned it.
    pub fiber: usize,
    /// Its number among the tasks of that fiber.
    pub position: usize,
}

struct FiberState<T, R> {
    tasks: RefCell<Vec<Spawned<T, R>>>,
    /// Tasks that nobody has taken.
    spare: Cell<usize>,
    /// All tasks before this one were taken.
    first_spare: Cell<usize>,
    status: Cell<Status>,
    assignment: RefCell<Option<Assignment<T>>>,
}

struct Spawned<T, R> {
    task: T,
    /// Smaller for those spawned earlier, by whichever fiber.
    stamp: u64,
    taken: bool,
    result: Option<R>,
}

struct Assignment<T> {
    task: T,
    origin: Origin,
}

enum Origin {
    /// A fiber of this thread.
    Here(Ticket),
    /// Elsewhere, with the tag and the class that were given.
    Elsewhere(u64, usize),
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Status {
    Idle,
    /// Running, or about to.
    Ready,
    /// Until it is woken.
    Waiting,
    /// Its youngest task was taken and is not finished.
    WaitingForTask,
}

type Routine = Coroutine<(), (), (), DefaultStack>;

impl Fibers {
    /// Fibers for `each` tasks of each of `classes` classes, and as many of this thread's own. Each has a stack of
    /// `stack_bytes`, when it is first needed (touched only as deep as recursion goes).
    pub fn new(each: usize, classes: usize, stack_bytes: usize) -> Fibers {
        Fibers { each: each.max(1), classes: classes.max(1), stack_bytes, stacks: Vec::new() }
    }

    /// How many fibers there may be.
    pub fn most(&self) -> usize {
        self.each * (self.classes + 1)
    }

    /// Let `lead` drive fibers that run tasks by `work`.
    ///
    /// `work` must sync every task it spawns. When `lead` returns, no task may be under way.
    pub fn run<T: Copy, R, O>(
        &mut self,
        work: &dyn Fn(&Fiber<'_, T, R>, T) -> R,
        lead: impl FnOnce(&mut Driver<'_, T, R>) -> O,
    ) -> O {
        let board = Board::new(self.most(), self.each, self.classes);
        let stacks = std::mem::take(&mut self.stacks);
        let mut driver = Driver { board: &board, work, routines: Vec::new(), stacks, stack_bytes: self.stack_bytes };
        let outcome = lead(&mut driver);
        self.stacks = driver.end();
        outcome
    }
}

/// Resumes fibers.
pub struct Driver<'a, T, R> {
    board: &'a Board<T, R>,
    work: &'a dyn Fn(&Fiber<'_, T, R>, T) -> R,
    routines: Vec<Routine>,
    /// Stacks that no fiber has.
    stacks: Vec<DefaultStack>,
    stack_bytes: usize,
}

impl<'a, T: Copy, R> Driver<'a, T, R> {
    /// The state of the fibers.
    pub fn board(&self) -> &'a Board<T, R> {
        self.board
    }

    /// Resume a fiber that can go on, or else let an idle one begin a task. False if there is neither.
    ///
    /// # Panics
    /// If there is no address space for the stack of another fiber.
    pub fn step(&mut self) -> bool {
        let Some(number) = self.board.next_ready() else { return false };
        if number == self.routines.len() {
            self.add_fiber(number);
        }
        self.routines[number].resume(());
        true
    }

    fn add_fiber(&mut self, number: usize) {
        let new = || DefaultStack::new(self.stack_bytes).expect("no address space for another stack");
        let stack = self.stacks.pop().unwrap_or_else(new);
        let (board, work) = (self.board, self.work);
        let body = move |yielder: &Yielder<(), ()>, ()| Fiber { number, yielder, board }.serve(work);
        // SAFETY: `body` borrows `board` and `work`, which outlive the driver, by `Fibers::run`: it is a local variable there,
        // declared after `board`. All routines are finished or dropped when the driver is: they never leave it.
        self.routines.push(unsafe { Coroutine::with_stack_unchecked(stack, body) });
    }

    /// Let all fibers end; their stacks.
    fn end(self) -> Vec<DefaultStack> {
        self.board.over.set(true);
        let end = |mut routine: Routine| {
            if !routine.done() {
                let ended = routine.resume(());
                assert!(matches!(ended, CoroutineResult::Return(())), "a task was under way");
            }
            routine.into_stack()
        };
        self.routines.into_iter().map(end).chain(self.stacks).collect()
    }
}

impl<T: Copy, R> Board<T, R> {
    fn new(fibers: usize, each: usize, classes: usize) -> Board<T, R> {
        let fiber = |_| FiberState {
            tasks: RefCell::new(Vec::new()),
            spare: Cell::new(0),
            first_spare: Cell::new(0),
            status: Cell::new(Status::Idle),
            assignment: RefCell::new(None),
        };
        Board {
            fibers: (0..fibers).map(fiber).collect(),
            ready: RefCell::default(),
            idle: RefCell::default(),
            begun: Cell::new(0),
            each,
            offered: RefCell::new((0..classes).map(|_| VecDeque::new()).collect()),
            waiting: Cell::new(0),
            active: (0..classes).map(|_| Cell::new(0)).collect(),
            finished: RefCell::default(),
            spare: Cell::new(0),
            spawned: Cell::new(0),
            next_victim: Cell::new(0),
            over: Cell::new(false),
        }
    }

    /// Run a task from elsewhere, of some class; its result will be among the finished ones, with this tag.
    pub fn offer(&self, task: T, tag: u64, class: usize) {
        self.offered.borrow_mut()[class].push_back(Assignment { task, origin: Origin::Elsewhere(tag, class) });
        self.waiting.set(self.waiting.get() + 1);
    }

    /// Take the results of tasks from elsewhere.
    pub fn take_finished(&self, mut take: impl FnMut(u64, R)) {
        if !self.finished.borrow().is_empty() {
            let finished = std::mem::take(&mut *self.finished.borrow_mut());
            finished.into_iter().for_each(|(tag, result)| take(tag, result));
        }
    }

    /// Could a fiber begin a task if there were one?
    pub fn wants_work(&self) -> bool {
        self.spare.get() == 0 && self.waiting.get() == 0 && self.busy() < self.each
    }

    /// Fibers that have a task.
    fn busy(&self) -> usize {
        self.begun.get() - self.idle.borrow().len()
    }

    /// Take the task that was spawned first of all that nobody has taken: likely the largest. Its result must be delivered.
    pub fn take_oldest(&self) -> Option<(T, Ticket)> {
        if self.spare.get() == 0 {
            return None;
        }
        let oldest_of = |(fiber, state): (usize, &FiberState<T, R>)| {
            let spare = state.spare.get() > 0;
            spare.then(|| (state.tasks.borrow()[state.oldest_spare()].stamp, fiber))
        };
        let (_, fiber) = self.fibers.iter().enumerate().filter_map(oldest_of).min()?;
        Some(self.take_from(fiber))
    }

    /// Take the oldest task of a fiber that has one.
    fn take_from(&self, fiber: usize) -> (T, Ticket) {
        let state = &self.fibers[fiber];
        let position = state.oldest_spare();
        state.first_spare.set(position + 1);
        state.spare.set(state.spare.get() - 1);
        self.spare.set(self.spare.get() - 1);
        let spawned = &mut state.tasks.borrow_mut()[position];
        spawned.taken = true;
        (spawned.task, Ticket { fiber, position })
    }

    /// The result of a task that was taken.
    pub fn deliver(&self, ticket: Ticket, result: R) {
        let Ticket { fiber, position } = ticket;
        let state = &self.fibers[fiber];
        let mut tasks = state.tasks.borrow_mut();
        tasks[position].result = Some(result);
        if state.status.get() == Status::WaitingForTask && position + 1 == tasks.len() {
            self.make_ready(fiber);
        }
    }

    /// Let a fiber go on that is waiting; nothing happens to others.
    pub fn wake(&self, fiber: usize) {
        if self.fibers[fiber].status.get() == Status::Waiting {
            self.make_ready(fiber);
        }
    }

    /// Look at all results that have come and were not used yet.
    pub fn visit_results(&self, mut visit: impl FnMut(&R)) {
        for state in &self.fibers {
            state.tasks.borrow().iter().filter_map(|spawned| spawned.result.as_ref()).for_each(&mut visit);
        }
        self.finished.borrow().iter().for_each(|(_, result)| visit(result));
    }

    fn make_ready(&self, fiber: usize) {
        self.fibers[fiber].status.set(Status::Ready);
        self.ready.borrow_mut().push_back(fiber);
    }

    fn next_ready(&self) -> Option<usize> {
        let ready = self.ready.borrow_mut().pop_front();
        ready.or_else(|| self.begin_task())
    }

    /// Give an idle fiber a task: one that came from elsewhere, or else one of another fiber.
    fn begin_task(&self) -> Option<usize> {
        let assignment = self.take_offered().or_else(|| self.take_spare())?;
        let idle = self.idle.borrow_mut().pop();
        let fiber = idle.unwrap_or_else(|| self.begun.replace(self.begun.get() + 1));
        *self.fibers[fiber].assignment.borrow_mut() = Some(assignment);
        self.fibers[fiber].status.set(Status::Ready);
        Some(fiber)
    }

    /// The next task from elsewhere: of the highest class of which not too many are under way.
    fn take_offered(&self) -> Option<Assignment<T>> {
        if self.waiting.get() == 0 {
            return None;
        }
        let mut offered = self.offered.borrow_mut();
        let may_begin = |class: &usize| !offered[*class].is_empty() && self.active[*class].get() < self.each;
        let class = (0..offered.len()).rev().find(may_begin)?;
        self.active[class].set(self.active[class].get() + 1);
        self.waiting.set(self.waiting.get() - 1);
        offered[class].pop_front()
    }

    /// The oldest task of the next fiber that has one to spare, unless many are under way: who spawned it can do it too.
    fn take_spare(&self) -> Option<Assignment<T>> {
        if self.spare.get() == 0 || self.busy() >= self.each {
            return None;
        }
        let (count, start) = (self.begun.get(), self.next_victim.get());
        let has_spare = |&fiber: &usize| self.fibers[fiber].spare.get() > 0;
        let victim = (0..count).map(|distance| (start + distance) % count).find(has_spare)?;
        self.next_victim.set((victim + 1) % count);
        let (task, ticket) = self.take_from(victim);
        Some(Assignment { task, origin: Origin::Here(ticket) })
    }

    fn finish(&self, origin: Origin, result: R) {
        match origin {
            Origin::Here(ticket) => self.deliver(ticket, result),
            Origin::Elsewhere(tag, class) => {
                self.active[class].set(self.active[class].get() - 1);
                self.finished.borrow_mut().push((tag, result));
            }
        }
    }
}

impl<T, R> FiberState<T, R> {
    /// The oldest task that nobody has taken; there must be one.
    fn oldest_spare(&self) -> usize {
        let first = self.first_spare.get();
        first + self.tasks.borrow()[first..].iter().position(|spawned| !spawned.taken).expect("a spare task")
    }
}

impl<T: Copy, R> Fiber<'_, T, R> {
    /// Life of a fiber: run what is assigned, until all is over.
    fn serve(&self, work: &dyn Fn(&Fiber<'_, T, R>, T) -> R) {
        while !self.board.over.get() {
            let assignment = self.state().assignment.borrow_mut().take();
            if let Some(Assignment { task, origin }) = assignment {
                let result = work(self, task);
                self.board.finish(origin, result);
            }
            self.state().status.set(Status::Idle);
            self.board.idle.borrow_mut().push(self.number);
            self.yielder.suspend(());
        }
    }

    #[inline]
    fn state(&self) -> &FiberState<T, R> {
        &self.board.fibers[self.number]
    }

    /// Which fiber this is, from zero.
    #[inline]
    pub fn number(&self) -> usize {
        self.number
    }

    /// Let the thread and the other fibers have a turn.
    pub fn pause(&self) {
        self.board.ready.borrow_mut().push_back(self.number);
        self.yielder.suspend(());
    }

    /// Wait until somebody wakes this fiber ([`Board::wake`]).
    pub fn wait(&self) {
        self.state().status.set(Status::Waiting);
        self.yielder.suspend(());
    }

    /// Offer a task to other fibers. Must be followed by a [`Fiber::sync`].
    #[inline]
    pub fn spawn(&self, task: T) {
        let state = self.state();
        state.spare.set(state.spare.get() + 1);
        self.board.spare.set(self.board.spare.get() + 1);
        self.push(task, false);
    }

    /// Note a task that is done elsewhere, to where its result will be delivered. Must be followed by a [`Fiber::sync`].
    pub fn spawn_away(&self, task: T) -> Ticket {
        self.push(task, true);
        Ticket { fiber: self.number, position: self.state().tasks.borrow().len() - 1 }
    }

    #[inline]
    fn push(&self, task: T, taken: bool) {
        let stamp = self.board.spawned.get();
        self.board.spawned.set(stamp + 1);
        self.state().tasks.borrow_mut().push(Spawned { task, stamp, taken, result: None });
    }

    /// Take back the task spawned last, or its result; waits for who has begun it.
    ///
    /// # Panics
    /// If nothing was spawned.
    #[inline]
    pub fn sync(&self) -> Synced<T, R> {
        let state = self.state();
        let (taken, ready) = {
            let tasks = state.tasks.borrow();
            let youngest = tasks.last().expect("a spawned task");
            (youngest.taken, youngest.result.is_some())
        };
        if taken && !ready {
            state.status.set(Status::WaitingForTask);
            self.yielder.suspend(());
        }
        let mut tasks = state.tasks.borrow_mut();
        let youngest = tasks.pop().expect("a spawned task");
        state.first_spare.set(state.first_spare.get().min(tasks.len()));
        if taken {
            return Synced::Result(youngest.result.expect("a result"));
        }
        state.spare.set(state.spare.get() - 1);
        self.board.spare.set(self.board.spare.get() - 1);
        Synced::Task(youngest.task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sum of `low..high` by halves, waiting at every leaf.
    fn sum(fiber: &Fiber<'_, (u64, u64), u64>, (low, high): (u64, u64)) -> u64 {
        if high - low == 1 {
            if low.is_multiple_of(3) {
                fiber.pause()
            } else {
                fiber.wait()
            }
            return low;
        }
        let middle = low.midpoint(high);
        fiber.spawn((middle, high));
        let left = sum(fiber, (low, middle));
        left + match fiber.sync() {
            Synced::Task(task) => sum(fiber, task),
            Synced::Result(right) => right,
        }
    }

    /// Drive until the only task from elsewhere is finished; `outside` has its turn whenever no fiber can go on.
    fn drive(driver: &mut Driver<'_, (u64, u64), u64>, mut outside: impl FnMut(&Board<(u64, u64), u64>)) -> u64 {
        let board = driver.board();
        let mut result = None;
        while result.is_none() {
            if !driver.step() {
                outside(board);
            }
            board.take_finished(|_, value| result = Some(value));
        }
        result.unwrap()
    }

    #[test]
    fn every_number_of_fibers_gives_the_same_sum() {
        for count in 1..=9 {
            let mut fibers = Fibers::new(count, 1, 64 << 10);
            for high in [1, 2, 3, 100, 1000] {
                let total = fibers.run(&sum, |driver| {
                    driver.board().offer((0, high), 0, 0);
                    drive(driver, |board| (0..2 * count).for_each(|fiber| board.wake(fiber)))
                });
                assert_eq!(total, (0..high).sum());
            }
        }
    }

    #[test]
    fn tasks_go_elsewhere_and_their_results_come_back() {
        let mut away = Vec::new();
        let mut seen = 0;
        let total = Fibers::new(3, 1, 64 << 10).run(&sum, |driver| {
            driver.board().offer((0, 200), 0, 0);
            drive(driver, |board| {
                away.extend(board.take_oldest());
                if let Some(((low, high), ticket)) = away.pop() {
                    board.deliver(ticket, (low..high).sum());
                    board.visit_results(|_| seen += 1);
                }
                (0..6).for_each(|fiber| board.wake(fiber));
            })
        });
        assert_eq!(total, (0..200).sum());
        assert!(seen > 0);
    }

    #[test]
    fn the_oldest_task_is_the_largest() {
        let mut largest = Vec::new();
        Fibers::new(1, 1, 64 << 10).run(&sum, |driver| {
            driver.board().offer((0, 64), 0, 0);
            drive(driver, |board| {
                if let Some(((low, high), ticket)) = board.take_oldest() {
                    largest.push(high - low);
                    board.deliver(ticket, (low..high).sum());
                }
                board.wake(0);
            })
        });
        assert_eq!(largest[0], 32);
    }

    /// Ten tasks of the first class each call one of the second, which calls one of the third. Two of each class may be
    /// under way.
    #[test]
    fn tasks_that_wait_for_higher_classes_end() {
        let calls = RefCell::new(Vec::new());
        let work = |fiber: &Fiber<'_, u64, u64>, class: u64| {
            if class == 2 {
                return 1;
            }
            calls.borrow_mut().push((class + 1, fiber.spawn_away(0)));
            let Synced::Result(below) = fiber.sync() else { unreachable!("it was sent away") };
            below + 1
        };
        let total: u64 = Fibers::new(2, 3, 64 << 10).run(&work, |driver| {
            let board = driver.board();
            (0..10).for_each(|_| board.offer(0, u64::MAX, 0));
            let (mut results, mut tickets) = (Vec::new(), Vec::new());
            while results.len() < 10 {
                driver.step();
                for (class, ticket) in calls.borrow_mut().drain(..) {
                    board.offer(class, tickets.len() as u64, class as usize);
                    tickets.push(ticket);
                }
                let mut finished = Vec::new();
                board.take_finished(|tag, result| finished.push((tag, result)));
                for (tag, result) in finished {
                    match tickets.get(tag as usize) {
                        Some(&ticket) => board.deliver(ticket, result),
                        None => results.push(result),
                    }
                }
            }
            results.iter().sum()
        });
        assert_eq!(total, 30);
    }

    #[test]
    fn a_panic_reaches_the_caller_and_frees_the_fibers() {
        let caught = std::panic::catch_unwind(|| {
            let work = |fiber: &Fiber<'_, u32, u32>, n: u32| {
                fiber.spawn(n + 1);
                fiber.pause();
                assert!(n < 2, "as the test wants");
                0
            };
            Fibers::new(3, 1, 64 << 10).run(&work, |driver| {
                driver.board().offer(0, 0, 0);
                while driver.step() {}
            })
        });
        assert!(caught.is_err());
    }
}
