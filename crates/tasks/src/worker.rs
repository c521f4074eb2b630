//! A worker: runs tasks, spawns and syncs, answers thieves, and steals when it has nothing of its own to do.

#[cfg(not(any(loom, shuttle)))]
mod gate;

use crate::attention::{FINISHED, GIFT, HUNGRY, POISON, REQUEST, RESULT, USER, USER_SHIFT};
use crate::cells::{Outcome, Parcel, most_tasks};
use crate::crew::{Abandoned, Crew, Mate};
use crate::deque::{Asked, Deque, Private};
use crate::plain::{Plain, Word};
use crate::pool::AbortOnUnwind;
use crate::statistics::Statistics;
use crate::synced::Synced;
use crate::tactics::Tactics;
use crate::victims::Victims;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Instant;

/// What a pool computes: tasks of one kind, solved by smaller ones.
///
/// A panic in [`Work::run`] ends the run with an error. One in any other of these, or where a task becomes words, ends the
/// process: others wait for this worker and would do so for ever.
pub trait Work: Sync {
    /// A task.
    type Task: Plain;
    /// The result of a task.
    type Answer: Word;
    /// What each worker keeps for itself during a run.
    type State;

    /// The state that worker `worker` starts a run with.
    fn state(&self, worker: usize) -> Self::State;

    /// Solve a task. Every task spawned meanwhile must be synced before this returns.
    fn run<D: Deque>(&self, worker: &mut Worker<'_, Self, D>, task: Self::Task) -> Self::Answer;

    /// Bits of the attention word that belong to the work are set; called at spawns and while waiting. Must lower them
    /// ([`Worker::lower`]).
    fn attend<D: Deque>(&self, worker: &mut Worker<'_, Self, D>) {
        worker.lower(!0);
    }

    /// Is a task at least this large, in whatever way the work measures that? Asked by the worker that has the task, before it
    /// goes to another process ([`Tactics::least_far`]), and at no other time. A task of which nothing is known is large.
    fn is_at_least(&self, state: &Self::State, task: Self::Task, size: u32) -> bool {
        let _ = (state, task, size);
        true
    }

    /// A worker leaves the run and gives its state back.
    fn leave(&self, worker: usize, state: Self::State) {
        let _ = (worker, state);
    }

    /// A task has panicked; whoever waits for its worker elsewhere than in the pool must be released.
    fn abandon(&self) {}
}

/// What a running task sees of its worker.
pub struct Worker<'r, W: Work + ?Sized, D: Deque = Private> {
    /// What the work keeps here.
    pub state: W::State,
    work: &'r W,
    crew: &'r Crew<D>,
    me: &'r Mate<D>,
    own: D::Owner<W::Task>,
    number: usize,
    tactics: Tactics,
    least_stack: usize,
    /// Tasks received together with the one that runs; they go to thieves first.
    received: Vec<Parcel<W::Task>>,
    /// Tasks to be given away as soon as they are spawned: at first, if so told, one for each other worker.
    to_share: usize,
    /// The oldest task, by position, and at how many looks in a row it was that.
    candidate: usize,
    survived: u32,
    victims: Victims,
    statistics: Statistics,
}

/// What reaches a worker from others: attention bits, and results of its tasks.
pub struct Inbox<'w, W: Work + ?Sized, D: Deque> {
    me: &'w Mate<D>,
    own: &'w D::Owner<W::Task>,
}

impl<W: Work + ?Sized, D: Deque> Inbox<'_, W, D> {
    /// Lower bits of the work in this worker's attention word; returns those that were set.
    pub fn lower(&self, bits: u32) -> u32 {
        (self.me.attention.lower(bits << USER_SHIFT) & USER) >> USER_SHIFT
    }

    /// Results of tasks of this worker that have arrived and were not yet synced.
    pub fn arrived(&self, mut each: impl FnMut(W::Answer)) {
        self.me.deque.arrived(self.own, &mut |word| each(W::Answer::from_word(word)));
    }
}

/// What a worker that waits must do for others.
const ORDERS: u32 = REQUEST | USER;
/// What ends a wait for want of work.
const ENDS: u32 = RESULT | FINISHED | POISON;

/// A waiting worker asks the thief of its task, and the others too at every so many attempts.
const LEAPS: u32 = 8;
/// A task that has lain below others at so many looks is large enough to be given away unasked.
const LARGE: u32 = 32;
/// The same for a task that is the only one: to be without any costs its owner more.
const LARGE_ALONE: u32 = 512;

impl<'r, W: Work + ?Sized, D: Deque> Worker<'r, W, D> {
    pub(crate) fn new(
        work: &'r W,
        crew: &'r Crew<D>,
        number: usize,
        tactics: Tactics,
        least_stack: usize,
        distances: &[u8],
    ) -> Worker<'r, W, D> {
        let me = &crew.mates()[number];
        Worker {
            state: work.state(number),
            work,
            crew,
            me,
            own: me.deque.open(number),
            number,
            tactics,
            least_stack,
            received: Vec::new(),
            to_share: if number == 0 && tactics.shares_first { crew.mates().len() - 1 } else { 0 },
            candidate: 0,
            survived: 0,
            victims: Victims::new(number, crew.mates().len(), distances),
            statistics: Statistics::default(),
        }
    }

    /// Which worker this is, from zero.
    #[inline]
    pub fn number(&self) -> usize {
        self.number
    }

    /// How many workers there are.
    pub fn workers(&self) -> usize {
        self.crew.mates().len()
    }

    /// What is being computed.
    #[inline]
    pub fn work(&self) -> &'r W {
        self.work
    }

    /// Offer a task to thieves. Must be followed by a [`Worker::sync`] or [`Worker::join`].
    #[inline]
    pub fn spawn(&mut self, task: W::Task) {
        self.me.deque.push(&mut self.own, task);
        self.poll();
    }

    /// Take back the task spawned last, or its result; waits for a thief that has begun it.
    #[inline]
    pub fn sync(&mut self) -> Synced<W::Task, W::Answer> {
        self.poll();
        match self.me.deque.pop(&mut self.own) {
            Some(task) => Synced::Task(task),
            None => Synced::Result(self.wait_for_youngest()),
        }
    }

    /// The answer of the task spawned last, which this worker runs if no other has taken it.
    #[inline]
    pub fn join(&mut self) -> W::Answer {
        match self.sync() {
            Synced::Task(task) => self.work.run(self, task),
            Synced::Result(answer) => answer,
        }
    }

    /// Look at the attention word: to be called in long stretches without spawns.
    #[inline]
    pub fn poll(&mut self) {
        if self.me.attention.is_set() {
            self.attend_or_unwind();
        }
    }

    /// Raise bits of the work in the attention words of all workers.
    pub fn raise_all(&self, bits: u32) {
        self.crew.raise_user(bits);
    }

    /// Lower bits of the work in this worker's attention word; returns those that were set.
    pub fn lower(&mut self, bits: u32) -> u32 {
        self.state_and_inbox().1.lower(bits)
    }

    /// The state, and what reaches the worker from others meanwhile.
    pub fn state_and_inbox(&mut self) -> (&mut W::State, Inbox<'_, W, D>) {
        (&mut self.state, Inbox { me: self.me, own: &self.own })
    }

    /// Has a task of this run panicked?
    pub fn is_poisoned(&self) -> bool {
        self.me.attention.bits() & POISON != 0
    }

    // ---- answering ----------------------------------------------------------------------------------------------

    /// As a busy worker: results and gifts are looked at by those who wait for them, before they go to sleep.
    #[cold]
    fn attend_or_unwind(&mut self) {
        // Not lowered in vain: an exchange at every look would slow busy workers down while others are hungry.
        if self.me.attention.bits() & (RESULT | GIFT) != 0 {
            self.me.attention.lower(RESULT | GIFT);
        }
        self.attend();
        if self.is_poisoned() {
            resume_unwind(Box::new(Abandoned));
        }
    }

    /// Do what the attention word asks for, but for what ends the run. Leaves the bits of results and gifts alone: a worker
    /// that waits lowers them before it looks for what they announce, and may sleep only if none came since.
    fn attend(&mut self) {
        // Whoever waits here has invited a gift, or is half-way through an answer: nobody could go on from there.
        let no_unwinding = AbortOnUnwind;
        let bits = self.me.attention.bits();
        if bits & USER != 0 {
            self.work.attend(self);
        }
        if bits & REQUEST != 0 {
            self.me.attention.lower(REQUEST);
            self.answer_requests();
        }
        if bits & HUNGRY != 0 {
            self.feed_hungry();
        }
        std::mem::forget(no_unwinding);
    }

    fn answer_requests(&mut self) {
        while let Some(thief) = self.me.deque.next_request(&mut self.own) {
            let wanted = self.tactics.wanted(self.me.deque.spare(&self.own) + self.received.len());
            self.hand_over(thief, wanted.clamp(1, most_tasks::<W::Task>()));
        }
    }

    /// Answer `thief` with up to `wanted` tasks; with none if they are too small for the way.
    fn hand_over(&mut self, thief: usize, wanted: usize) {
        let mate = &self.crew.mates()[thief];
        mate.transfer.answer(std::iter::from_fn(|| self.oldest_task(thief)).take(wanted));
        mate.attention.raise(GIFT);
    }

    fn oldest_task(&mut self, thief: usize) -> Option<Parcel<W::Task>> {
        if !self.is_worth_the_way(thief) {
            return None;
        }
        // They come oldest first.
        let received = (!self.received.is_empty()).then(|| self.received.remove(0));
        received.or_else(|| self.me.deque.give(&mut self.own, thief))
    }

    /// Is the oldest task large enough for the way to worker `number`? Within a process, every task is.
    fn is_worth_the_way(&self, number: usize) -> bool {
        let least = self.tactics.least_far;
        if least == 0 || self.crew.is_near(number) {
            return true;
        }
        let oldest = self.received.first().map(|parcel| parcel.task).or_else(|| self.me.deque.oldest(&self.own));
        oldest.is_some_and(|task| self.work.is_at_least(&self.state, task, least))
    }

    /// Give the oldest task to a worker that waits for one, if that is worth the trouble.
    fn feed_hungry(&mut self) {
        if !self.has_large_task() {
            return;
        }
        // Lowered first: a worker that begins to wait from now on raises it again.
        self.me.attention.lower(HUNGRY);
        let (mut served, mut wanting) = (false, false);
        for (number, mate) in self.crew.mates().iter().enumerate() {
            if number == self.number || !mate.transfer.is_wanted() {
                continue;
            }
            if !served && self.give_to(number) {
                served = true;
            } else {
                wanting = true;
            }
        }
        if wanting {
            self.me.attention.mark(HUNGRY);
        }
    }

    /// Give the oldest task to worker `number`, who waits for one; false if it is too small for the way, or if somebody else
    /// has given one.
    fn give_to(&mut self, number: usize) -> bool {
        if !self.is_worth_the_way(number) {
            // What comes after the first task is no larger, so it has to prove that it is large, as at any other time.
            self.to_share = 0;
            return false;
        }
        let is_mine = self.crew.mates()[number].transfer.reserve();
        if is_mine {
            self.statistics.gifts += 1;
            self.to_share = self.to_share.saturating_sub(1);
            self.hand_over(number, 1);
        }
        is_mine
    }

    /// Is the oldest task large? It is if it was the oldest at many looks in a row: then what was spawned beside it takes
    /// long, and so will it. At the beginning of a run, all tasks of the leader are.
    fn has_large_task(&mut self) -> bool {
        let (length, spare) = (D::len(&self.own), self.me.deque.spare(&self.own));
        if self.to_share > 0 || !self.received.is_empty() {
            return spare + self.received.len() > 0;
        }
        let oldest = length - spare;
        if spare == 0 || oldest != self.candidate {
            (self.candidate, self.survived) = (oldest, 0);
            return false;
        }
        self.survived += 1;
        if self.survived < if spare == 1 { LARGE_ALONE } else { LARGE } {
            return false;
        }
        self.survived = 0;
        true
    }

    // ---- waiting ------------------------------------------------------------------------------------------------

    /// The youngest task was taken: wait for its result, helping its thief and then others meanwhile.
    #[cold]
    fn wait_for_youngest(&mut self) -> W::Answer {
        let (mut leaps, mut attempts) = (0, 0);
        loop {
            self.me.attention.lower(RESULT | GIFT);
            let (outcome, thief) = self.me.deque.youngest(&self.own);
            match outcome {
                Outcome::Done(word) => {
                    self.me.deque.forget_youngest(&mut self.own);
                    return W::Answer::from_word(word);
                }
                Outcome::Failed => {
                    self.me.deque.forget_youngest(&mut self.own);
                    resume_unwind(Box::new(Abandoned));
                }
                Outcome::Pending => {}
            }
            self.attend();
            if self.is_poisoned() {
                resume_unwind(Box::new(Abandoned));
            }
            leaps += 1;
            let helped = self.has_stack()
                && (thief < self.workers() && self.steal_from(thief)
                    || leaps % LEAPS == 0 && self.steal_anywhere()
                    || self.run_left());
            if helped {
                attempts = 0;
            } else if self.me.attention.pause_after(attempts, ORDERS | ENDS) {
                attempts += 1;
            } else {
                self.beg();
            }
        }
    }

    /// Is there room for another task on top of those that wait?
    fn has_stack(&self) -> bool {
        stacker::remaining_stack().is_none_or(|left| left >= self.least_stack)
    }

    /// Wait until a result arrives, the run ends, or a task comes as a gift, which is run.
    ///
    /// Whoever has tasks to spare hears of it. That disturbs busy workers less than asking all of them again and again,
    /// and others who wait are not kept awake. They are answered meanwhile, but not asked in turn.
    fn beg(&mut self) {
        self.statistics.waits += 1;
        loop {
            let takes_gifts = self.has_stack();
            self.me.attention.lower(GIFT);
            if takes_gifts {
                self.me.transfer.invite();
                self.tell_hunger();
            }
            self.me.attention.rest(GIFT | ORDERS | ENDS);
            if takes_gifts && !self.me.transfer.withdraw() {
                self.await_answer();
                self.run_received();
                return;
            }
            if self.me.attention.bits() & ENDS != 0 {
                return;
            }
            self.attend();
        }
    }

    /// Ask those who have tasks to think of those who sleep.
    fn tell_hunger(&self) {
        for (number, mate) in self.crew.mates().iter().enumerate() {
            if number != self.number {
                mate.attention.mark(HUNGRY);
            }
        }
    }

    /// Wait until the transfer cell is filled, and empty it. Returns the number of tasks received.
    fn await_answer(&mut self) -> usize {
        let mut count = 0;
        loop {
            self.me.attention.lower(GIFT);
            let (received, transfer) = (&mut self.received, &self.me.transfer);
            let receive = |parcel| {
                received.push(parcel);
                count += 1;
            };
            if transfer.take(receive) {
                return count;
            }
            self.attend();
            self.me.attention.rest(GIFT | ORDERS);
        }
    }

    // ---- stealing -----------------------------------------------------------------------------------------------

    /// Turn to all others in order of distance; true when one had a task, which has been run.
    fn steal_anywhere(&mut self) -> bool {
        let mut victims = std::mem::take(&mut self.victims);
        let found = victims.visit(|victim| self.steal_from(victim));
        self.victims = victims;
        found
    }

    /// Steal from one worker and run what it gives; false when it gives nothing.
    fn steal_from(&mut self, victim: usize) -> bool {
        let mate = &self.crew.mates()[victim];
        if mate.transfer.is_wanted() {
            // It has nothing to spare.
            return false;
        }
        let asked = Instant::now();
        self.me.transfer.expect_answer();
        let count = match mate.deque.ask(self.number) {
            Asked::Refused => 0,
            Asked::Alert => {
                mate.attention.raise(REQUEST);
                0
            }
            Asked::Wait => {
                mate.attention.raise(REQUEST);
                self.await_answer()
            }
            Asked::Loot(parcel) => {
                self.received.push(parcel);
                1
            }
        };
        if count == 0 {
            self.statistics.failed_steals += 1;
            return false;
        }
        self.statistics.steals += count as u64;
        let nanoseconds = asked.elapsed().as_nanos() as u64;
        self.statistics.latency_ns.record(nanoseconds);
        if !self.crew.is_here(victim) {
            self.statistics.between_ns.record(nanoseconds);
        }
        self.run_received();
        true
    }

    /// Run tasks that were received with others and are still to do; false if there are none.
    fn run_left(&mut self) -> bool {
        let any = !self.received.is_empty();
        self.run_received();
        any
    }

    /// Run the tasks received, the last one first; others may take some of them meanwhile.
    fn run_received(&mut self) {
        let mut mine = std::mem::take(&mut self.received);
        while let Some(parcel) = mine.pop() {
            std::mem::swap(&mut mine, &mut self.received);
            self.run_parcel(&parcel);
            std::mem::swap(&mut mine, &mut self.received);
        }
        self.received = mine;
    }

    fn run_parcel(&mut self, parcel: &Parcel<W::Task>) {
        let depth = D::len(&self.own);
        let work = self.work;
        let outcome = catch_unwind(AssertUnwindSafe(|| work.run(self, parcel.task)));
        let result = match outcome {
            Ok(answer) => Some(answer.to_word()),
            Err(payload) => {
                self.give_up(payload, depth);
                None
            }
        };
        debug_assert_eq!(D::len(&self.own), depth, "every spawned task is synced");
        let victim = &self.crew.mates()[parcel.victim as usize];
        victim.deque.deliver(parcel.position, result);
        victim.attention.raise(RESULT);
    }

    /// A task has panicked: tell the others, drop what it has spawned, and wait for what was taken of that.
    fn give_up(&mut self, payload: Box<dyn std::any::Any + Send>, depth: usize) {
        let no_unwinding = AbortOnUnwind;
        self.crew.poison(payload);
        self.work.abandon();
        while D::len(&self.own) > depth {
            if self.me.deque.pop(&mut self.own).is_some() {
                continue;
            }
            self.me.attention.lower(RESULT | GIFT);
            if self.me.deque.youngest(&self.own).0 != Outcome::Pending {
                self.me.deque.forget_youngest(&mut self.own);
                continue;
            }
            self.attend();
            self.me.attention.rest(RESULT | ORDERS);
        }
        std::mem::forget(no_unwinding);
    }

    // ---- a run --------------------------------------------------------------------------------------------------

    /// Run the root task; none if it panics.
    pub(crate) fn lead(&mut self, root: W::Task) -> Option<W::Answer> {
        let work = self.work;
        let outcome = catch_unwind(AssertUnwindSafe(|| work.run(self, root)));
        match outcome {
            Ok(answer) => Some(answer),
            Err(payload) => {
                self.give_up(payload, 0);
                None
            }
        }
    }

    /// Steal until the root task is done.
    pub(crate) fn serve(&mut self) {
        if self.tactics.shares_first {
            // Everybody waits for a task that the leader gives away.
            self.beg();
        }
        let mut attempts = 0;
        loop {
            self.me.attention.lower(RESULT | GIFT);
            self.attend();
            if self.me.attention.bits() & FINISHED != 0 {
                return;
            }
            if self.steal_anywhere() {
                attempts = 0;
            } else if self.me.attention.pause_after(attempts, ORDERS | ENDS) {
                attempts += 1;
            } else {
                self.beg();
            }
        }
    }

    /// Refuse thieves, and give the state back. The last thing a worker does in a run.
    pub(crate) fn leave(mut self) {
        while !self.me.deque.close() {
            self.answer_requests();
        }
        self.crew.add_statistics(&self.statistics);
        self.work.leave(self.number, self.state);
    }
}
