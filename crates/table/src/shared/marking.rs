//! Marking by several workers: each has a stack, and those without work get some from the others.
//!
//! A worker goes down first, so that its stack is as short as the diagram is high, and its oldest positions are those with most
//! below them: half of them are what it gives away.

use crate::sync::{AtomicBool, AtomicU32, AtomicUsize, Ordering, unless_modelled, yield_now};
use crate::walk::walk;
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

/// The lock of a [`Marking`], held. Everything under it is Relaxed: the lock orders it.
struct Held<'a>(&'a Marking);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let (waiting, ready) = (self.waiting(), self.0.ready.load(Ordering::Relaxed));
        self.0.wanted.store(waiting.saturating_sub(ready), Ordering::Relaxed);
        // Release pairs with the Acquire in `lock`.
        self.0.lock.store(false, Ordering::Release);
    }
}

impl Held<'_> {
    fn waiting(&self) -> usize {
        self.0.waiting.load(Ordering::Relaxed)
    }

    /// One more waits. If all do, there is nothing left.
    fn add_waiting(&self) {
        let waiting = self.waiting() + 1;
        self.0.waiting.store(waiting, Ordering::Relaxed);
        if waiting == self.0.workers.load(Ordering::Relaxed) && self.0.ready.load(Ordering::Relaxed) == 0 {
            self.end();
        }
    }

    /// Nobody is to wait any longer.
    fn end(&self) {
        self.0.over.store(true, Ordering::Relaxed);
        self.tell();
    }

    /// Those who sleep have said so under this lock, and what they have seen of the news by then is old now.
    fn tell(&self) {
        self.0.news.cell().fetch_add(1, Ordering::Relaxed);
        if self.0.asleep.load(Ordering::Relaxed) > 0 {
            self.0.news.wake_all();
        }
    }

    /// Take positions from the beginning of the stack, if there is a place for them.
    fn put(&self, stack: &mut Vec<u32>) {
        let ready = self.0.ready.load(Ordering::Relaxed);
        let Some(batch) = self.0.batches.get(ready) else { return };
        let length = (stack.len() / 2).min(BATCH);
        for (cell, position) in batch.positions.iter().zip(stack.drain(..length)) {
            cell.store(position, Ordering::Relaxed);
        }
        batch.length.store(length, Ordering::Relaxed);
        self.0.ready.store(ready + 1, Ordering::Relaxed);
        self.tell();
    }

    /// Take a batch for one who waits, whose stack is empty.
    fn take(&self, stack: &mut Vec<u32>) -> bool {
        let Some(last) = self.0.ready.load(Ordering::Relaxed).checked_sub(1) else { return false };
        self.0.ready.store(last, Ordering::Relaxed);
        self.0.waiting.store(self.waiting() - 1, Ordering::Relaxed);
        let Batch { length, positions } = &self.0.batches[last];
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
        self.lock().add_waiting();
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
        Held(self)
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
        self.lock().add_waiting();
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
    use std::time::Duration;

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
            std::thread::sleep(Duration::from_millis(50));
            assert_eq!(marking.asleep.load(Ordering::Relaxed), 3);
            marking.run(&mut Vec::new(), |_| (), |_, _| ());
        });
    }

    #[test]
    fn work_from_one_root_is_shared() {
        // As high as the diagrams of most models, and as many nodes as take long enough for all to come.
        let visits = visit_a_tree(0);
        assert!(visits.iter().all(|&visits| visits > 0), "{visits:?}");
    }

    /// Four workers visit a tree, less those who are excused; who has made how many visits.
    fn visit_a_tree(excused: usize) -> Vec<usize> {
        const NODES: u32 = 100_000;
        let workers = 4 - excused;
        let marking = Marking::new(4);
        (0..excused).for_each(|_| marking.excuse());
        let seen: Vec<AtomicUsize> = (0..NODES).map(|_| AtomicUsize::new(0)).collect();
        let first = |at: u32| seen[at as usize].fetch_add(1, Ordering::Relaxed) == 0;
        // Nobody begins to visit before the others wait for work.
        let all_wait = || marking.waiting.load(Ordering::Relaxed) == 3;
        let visits: Vec<usize> = std::thread::scope(|scope| {
            let start = |worker| {
                let (marking, first, all_wait) = (&marking, &first, &all_wait);
                scope.spawn(move || {
                    let mut stack = if worker == 0 && first(0) { vec![0] } else { Vec::new() };
                    while worker == 0 && !all_wait() {
                        yield_now();
                    }
                    let mut visits = 0;
                    marking.run(
                        &mut stack,
                        |_| (),
                        |at, stack| {
                            visits += 1;
                            if visits % 1000 == 0 {
                                // The others have a processor now and then.
                                yield_now();
                            }
                            let next = [2 * at + 1, 2 * at + 2].into_iter();
                            stack.extend(next.filter(|&next| next < NODES && first(next)));
                        },
                    );
                    visits
                })
            };
            let threads: Vec<_> = (0..workers).map(start).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(visits.iter().sum::<usize>(), NODES as usize);
        visits
    }
}
