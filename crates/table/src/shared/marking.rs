//! Marking by several workers: each has a stack, and those without work get some from the others.
//!
//! A worker goes down first, so that its stack is as short as the diagram is high, and its oldest positions are those with most
//! below them: half of them are what it gives away.

use crate::sync::{AtomicBool, AtomicU32, AtomicUsize, Ordering, unless_modelled, yield_now};
use crate::walk::walk;
use std::cell::Cell;
use std::ops::ControlFlow;
use tremula_fabric::wake::WakeWord;

/// Most positions that are handed over at a time.
const BATCH: usize = unless_modelled(64, 2);
/// Batches that can lie ready.
const PLACES: usize = unless_modelled(16, 2);
/// Visits after which a worker looks whether others have nothing to do: they take some microseconds.
const VISITS_PER_LOOK: usize = unless_modelled(64, 1);
/// How often who waits looks before it gives its processor away, and how often it does that before it sleeps.
const SPINS: usize = unless_modelled(200, 0);
const YIELDS: usize = unless_modelled(200, 1);

/// Batches of positions for whoever has nothing to do, and who that is. All of it is used under the lock but for hints, and
/// by workers of whatever process. Zeros are a state without workers.
#[derive(Default)]
#[repr(C)]
pub struct Marking {
    workers: AtomicUsize,
    /// Is there somebody who uses what follows?
    lock: AtomicBool,
    waiting: AtomicUsize,
    /// Those of them who sleep, or are about to.
    asleep: AtomicUsize,
    batches: [Batch; PLACES],
    /// How many batches lie ready.
    ready: AtomicUsize,
    /// There is nothing left.
    over: AtomicBool,
    /// Counts what those who wait want to hear of; they sleep on it.
    news: WakeWord,
    /// How many batches would be welcome: workers that wait, less batches that lie ready.
    wanted: AtomicUsize,
}

#[repr(C)]
struct Batch {
    length: AtomicUsize,
    positions: [AtomicU32; BATCH],
}

impl Default for Batch {
    fn default() -> Batch {
        Batch { length: AtomicUsize::new(0), positions: std::array::from_fn(|_| AtomicU32::new(0)) }
    }
}

/// Who of those that sleep is to wake up.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Wakes {
    Nobody,
    One,
    All,
}

/// The lock of a [`Marking`], held. Everything under it is Relaxed: the lock orders it. Sleepers are woken once it is free.
struct Held<'a> {
    marking: &'a Marking,
    wakes: Cell<Wakes>,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let (waiting, ready) = (self.waiting(), self.marking.ready.load(Ordering::Relaxed));
        self.marking.wanted.store(waiting.saturating_sub(ready), Ordering::Relaxed);
        // Release pairs with the Acquire in `lock`.
        self.marking.lock.store(false, Ordering::Release);
        match self.wakes.get() {
            Wakes::Nobody => {}
            Wakes::One => self.marking.news.wake_one(),
            Wakes::All => self.marking.news.wake_all(),
        }
    }
}

impl Held<'_> {
    fn waiting(&self) -> usize {
        self.marking.waiting.load(Ordering::Relaxed)
    }

    /// If all wait, there is nothing left.
    fn end_if_all_wait(&self) {
        let workers = self.marking.workers.load(Ordering::Relaxed);
        if self.waiting() == workers && self.marking.ready.load(Ordering::Relaxed) == 0 {
            self.end();
        }
    }

    /// Nobody is to wait any longer.
    fn end(&self) {
        self.marking.over.store(true, Ordering::Relaxed);
        self.tell(Wakes::All);
    }

    /// Those who sleep have said so under this lock, and what they have seen of the news by then is old now.
    fn tell(&self, whom: Wakes) {
        self.marking.news.cell().fetch_add(1, Ordering::Relaxed);
        if self.marking.asleep.load(Ordering::Relaxed) > 0 {
            self.wakes.set(whom);
        }
    }

    /// Take positions from the beginning of the stack, if there is a place for them.
    fn put(&self, stack: &mut Vec<u32>) {
        let ready = self.marking.ready.load(Ordering::Relaxed);
        let Some(batch) = self.marking.batches.get(ready) else { return };
        let length = (stack.len() / 2).min(BATCH);
        for (cell, position) in batch.positions.iter().zip(stack.drain(..length)) {
            cell.store(position, Ordering::Relaxed);
        }
        batch.length.store(length, Ordering::Relaxed);
        self.marking.ready.store(ready + 1, Ordering::Relaxed);
        // It is for one. Should somebody who is awake be faster, the other sleeps on; should nobody take it, whoever put it
        // will, before waiting.
        self.tell(Wakes::One);
    }

    /// Take a batch for one who waits, whose stack is empty.
    fn take(&self, stack: &mut Vec<u32>) -> bool {
        let Some(last) = self.marking.ready.load(Ordering::Relaxed).checked_sub(1) else { return false };
        self.marking.ready.store(last, Ordering::Relaxed);
        self.marking.waiting.store(self.waiting() - 1, Ordering::Relaxed);
        let Batch { length, positions } = &self.marking.batches[last];
        stack.extend(positions[..length.load(Ordering::Relaxed)].iter().map(|cell| cell.load(Ordering::Relaxed)));
        true
    }
}

impl Marking {
    pub fn new(workers: usize) -> Marking {
        let marking = Marking::default();
        marking.open(workers);
        marking
    }

    /// So many workers mark from now on. Before any of them does.
    pub fn open(&self, workers: usize) {
        // Relaxed: whoever starts the workers publishes it to them.
        self.workers.store(workers, Ordering::Relaxed);
        self.restart();
    }

    /// Nothing is marked yet. By one worker, before a meeting of all.
    pub fn restart(&self) {
        let _held = self.lock();
        // Relaxed, all: the lock, and the meeting.
        self.waiting.store(0, Ordering::Relaxed);
        self.asleep.store(0, Ordering::Relaxed);
        self.ready.store(0, Ordering::Relaxed);
        self.over.store(false, Ordering::Relaxed);
    }

    /// A worker has not come and never will: the others do without it.
    pub fn excuse(&self) {
        let held = self.lock();
        // Relaxed, both: under the lock.
        self.workers.store(self.workers.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
        held.end_if_all_wait();
    }

    /// Somebody will not come back: nobody is to wait any longer.
    pub fn break_up(&self) {
        self.lock().end();
    }

    fn lock(&self) -> Held<'_> {
        // Acquire pairs with the Release in `Held::drop`; on failure nothing is read.
        while self.lock.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            yield_now();
        }
        Held { marking: self, wakes: Cell::new(Wakes::Nobody) }
    }

    /// Visit everything that can be reached: `visit` takes a position, which `fetch` was asked for a little earlier, and pushes
    /// those that follow it.
    pub fn run(&self, stack: &mut Vec<u32>, fetch: impl Fn(u32), mut visit: impl FnMut(u32, &mut Vec<u32>)) {
        let mut visits = 0usize;
        loop {
            walk(stack, &fetch, |position, stack| {
                visit(position, stack);
                visits += 1;
                // Relaxed: a hint.
                if visits.is_multiple_of(VISITS_PER_LOOK) && stack.len() > 1 && self.wanted.load(Ordering::Relaxed) > 0
                {
                    self.lock().put(stack);
                }
                ControlFlow::Continue(())
            });
            if !self.receive(stack) {
                return;
            }
        }
    }

    /// Wait for a batch; false when all workers wait, for then there is nothing left.
    fn receive(&self, stack: &mut Vec<u32>) -> bool {
        let held = self.lock();
        // Relaxed: under the lock.
        self.waiting.store(held.waiting() + 1, Ordering::Relaxed);
        held.end_if_all_wait();
        drop(held);
        loop {
            self.wait_for_news();
            let held = self.lock();
            if held.take(stack) {
                return true;
            }
            // Relaxed: under the lock.
            if self.over.load(Ordering::Relaxed) {
                return false;
            }
        }
    }

    /// Return when there may be something to take, or nothing left.
    fn wait_for_news(&self) {
        // Relaxed, both: hints; whoever goes on looks again under the lock.
        let is_news = || self.ready.load(Ordering::Relaxed) > 0 || self.over.load(Ordering::Relaxed);
        for left in (1..=SPINS + YIELDS).rev() {
            if is_news() {
                return;
            }
            if left > YIELDS { std::hint::spin_loop() } else { yield_now() }
        }
        let held = self.lock();
        if is_news() {
            return;
        }
        // Relaxed, all: under the lock.
        let heard = self.news.cell().load(Ordering::Relaxed);
        self.asleep.store(self.asleep.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        drop(held);
        self.news.sleep_while(heard);
        let _held = self.lock();
        self.asleep.store(self.asleep.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn everything_is_visited_once() {
        visit_a_tree(0);
    }

    #[test]
    fn nobody_waits_for_who_was_excused() {
        visit_a_tree(2);
    }

    #[test]
    fn one_who_comes_late_wakes_all_who_sleep() {
        let marking = Marking::new(4);
        std::thread::scope(|scope| {
            (0..3).for_each(|_| drop(scope.spawn(|| marking.run(&mut Vec::new(), |_| (), |_, _| ()))));
            assert!(comes_true(|| marking.asleep.load(Ordering::Relaxed) == 3));
            marking.run(&mut Vec::new(), |_| (), |_, _| ());
        });
    }

    #[test]
    fn nobody_waits_for_one_who_will_not_come_back() {
        let marking = Marking::new(4);
        std::thread::scope(|scope| {
            (0..3).for_each(|_| drop(scope.spawn(|| marking.run(&mut Vec::new(), |_| (), |_, _| ()))));
            assert!(comes_true(|| marking.asleep.load(Ordering::Relaxed) == 3));
            marking.break_up();
        });
    }

    #[test]
    fn work_from_one_root_is_shared() {
        let visits = visit_a_tree(0);
        assert!(visits.iter().all(|&visits| visits > 0), "{visits:?}");
    }

    /// Does it, before long? On a machine that is busy with other things, too.
    fn comes_true(mut it: impl FnMut() -> bool) -> bool {
        let start = Instant::now();
        while !it() {
            if start.elapsed() > Duration::from_secs(20) {
                return false;
            }
            yield_now();
        }
        true
    }

    /// Four workers visit a tree, less those who are excused; who has made how many visits. The first one has the root, and
    /// nobody is fast before all have come.
    fn visit_a_tree(excused: usize) -> Vec<usize> {
        const NODES: u32 = 100_000;
        let workers = 4 - excused;
        let marking = Marking::new(4);
        (0..excused).for_each(|_| marking.excuse());
        let seen: Vec<AtomicUsize> = (0..NODES).map(|_| AtomicUsize::new(0)).collect();
        let first = |at: u32| seen[at as usize].fetch_add(1, Ordering::Relaxed) == 0;
        let visits: Vec<AtomicUsize> = (0..workers).map(|_| AtomicUsize::new(0)).collect();
        let all_wait = || marking.waiting.load(Ordering::Relaxed) == workers - 1;
        let all_visit = || visits.iter().all(|visits| visits.load(Ordering::Relaxed) > 0);
        let visit = |worker: usize, at: u32, stack: &mut Vec<u32>| {
            visits[worker].fetch_add(1, Ordering::Relaxed);
            if !all_visit() {
                std::thread::sleep(Duration::from_micros(100));
            }
            let next = [2 * at + 1, 2 * at + 2].into_iter();
            stack.extend(next.filter(|&next| next < NODES && first(next)));
        };
        let work = |worker: usize| {
            let mut stack = Vec::new();
            if worker == 0 && comes_true(all_wait) && first(0) {
                stack.push(0);
            }
            marking.run(&mut stack, |_| (), |at, stack| visit(worker, at, stack));
        };
        let work = &work;
        std::thread::scope(|scope| (0..workers).for_each(|worker| drop(scope.spawn(move || work(worker)))));
        let visits: Vec<usize> = visits.into_iter().map(AtomicUsize::into_inner).collect();
        assert_eq!(visits.iter().sum::<usize>(), NODES as usize);
        visits
    }
}
