//! Marking by several workers: each has a stack, and those without work get some from the others.

use crate::sync::{AtomicBool, AtomicU32, AtomicUsize, Ordering, unless_modelled, yield_now};

/// Positions that are handed over at a time.
const BATCH: usize = unless_modelled(256, 2);
/// Batches that can lie ready.
const PLACES: usize = unless_modelled(16, 2);

/// Batches of positions for whoever has nothing to do, and who that is. All of it is used under the lock but for the hint, and
/// by workers of whatever process. Zeros are a state without workers.
#[derive(Default)]
#[repr(C)]
pub struct Marking {
    workers: AtomicUsize,
    /// Is there somebody who uses what follows?
    lock: AtomicBool,
    waiting: AtomicUsize,
    over: AtomicBool,
    /// How many batches lie ready.
    ready: AtomicUsize,
    batches: [Batch; PLACES],
    /// How many batches would be welcome: workers that wait, less batches that lie ready.
    wanted: AtomicUsize,
}

#[repr(C)]
struct Batch([AtomicU32; BATCH]);

impl Default for Batch {
    fn default() -> Batch {
        Batch(std::array::from_fn(|_| AtomicU32::new(0)))
    }
}

/// The lock of a [`Marking`], held. Everything under it is Relaxed: the lock orders it.
struct Held<'a>(&'a Marking);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // Release pairs with the Acquire in `lock`.
        self.0.lock.store(false, Ordering::Release);
    }
}

impl Held<'_> {
    fn add_waiting(&self, more: usize) -> usize {
        let waiting = self.0.waiting.load(Ordering::Relaxed) + more;
        self.0.waiting.store(waiting, Ordering::Relaxed);
        waiting
    }

    /// Put a batch there, if there is a place for it.
    fn put(&self, positions: &[u32]) -> bool {
        let ready = self.0.ready.load(Ordering::Relaxed);
        let Some(batch) = self.0.batches.get(ready) else { return false };
        batch.0.iter().zip(positions).for_each(|(cell, &position)| cell.store(position, Ordering::Relaxed));
        self.0.ready.store(ready + 1, Ordering::Relaxed);
        true
    }

    /// Take a batch for one who waits.
    fn take(&self) -> Option<Vec<u32>> {
        let last = self.0.ready.load(Ordering::Relaxed).checked_sub(1)?;
        self.0.ready.store(last, Ordering::Relaxed);
        self.0.waiting.store(self.0.waiting.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
        Some(self.0.batches[last].0.iter().map(|cell| cell.load(Ordering::Relaxed)).collect())
    }

    fn update_hint(&self) {
        let (waiting, ready) = (self.0.waiting.load(Ordering::Relaxed), self.0.ready.load(Ordering::Relaxed));
        self.0.wanted.store(waiting.saturating_sub(ready), Ordering::Relaxed);
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
        let held = self.lock();
        // Relaxed, all: the lock, and the meeting.
        self.waiting.store(0, Ordering::Relaxed);
        self.ready.store(0, Ordering::Relaxed);
        self.over.store(false, Ordering::Relaxed);
        held.update_hint();
    }

    /// A worker has not come and never will: the others do without it.
    pub fn excuse(&self) {
        self.lock().add_waiting(1);
    }

    /// Somebody will not come back: nobody is to wait any longer.
    pub fn break_up(&self) {
        let _held = self.lock();
        self.over.store(true, Ordering::Relaxed);
    }

    fn lock(&self) -> Held<'_> {
        // Acquire pairs with the Release in `Held::drop`; on failure nothing is read.
        while self.lock.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            yield_now();
        }
        Held(self)
    }

    /// Visit everything that can be reached: `visit` takes a position and pushes those that follow it.
    pub fn run(&self, stack: &mut Vec<u32>, mut visit: impl FnMut(u32, &mut Vec<u32>)) {
        loop {
            while let Some(position) = stack.pop() {
                visit(position, stack);
                // Relaxed: a hint.
                if stack.len() >= 2 * BATCH && self.wanted.load(Ordering::Relaxed) > 0 {
                    self.offer(stack);
                }
            }
            if !self.receive(stack) {
                return;
            }
        }
    }

    /// Give the oldest positions away.
    fn offer(&self, stack: &mut Vec<u32>) {
        let held = self.lock();
        if held.put(&stack[..BATCH]) {
            stack.drain(..BATCH);
        }
        held.update_hint();
    }

    /// Wait for a batch; false when all workers wait, for then there is nothing left.
    fn receive(&self, stack: &mut Vec<u32>) -> bool {
        self.lock().add_waiting(1);
        loop {
            let held = self.lock();
            if let Some(batch) = held.take() {
                held.update_hint();
                *stack = batch;
                return true;
            }
            // Relaxed: under the lock; the number of workers does not change.
            let all_wait = self.waiting.load(Ordering::Relaxed) == self.workers.load(Ordering::Relaxed);
            if all_wait || self.over.load(Ordering::Relaxed) {
                self.over.store(true, Ordering::Relaxed);
                return false;
            }
            held.update_hint();
            drop(held);
            yield_now();
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn everything_is_visited_once() {
        visit_a_tree(0);
    }

    #[test]
    fn nobody_waits_for_who_was_excused() {
        visit_a_tree(2);
    }

    /// Four workers visit a tree, less those who are excused.
    fn visit_a_tree(excused: usize) {
        const NODES: u32 = 100_000;
        let marking = Marking::new(4);
        (0..excused).for_each(|_| marking.excuse());
        let seen: Vec<AtomicUsize> = (0..NODES).map(|_| AtomicUsize::new(0)).collect();
        let first = |at: u32| seen[at as usize].fetch_add(1, Ordering::Relaxed) == 0;
        let visits = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for worker in 0..4 - excused {
                let (marking, first, visits) = (&marking, &first, &visits);
                scope.spawn(move || {
                    let mut stack = if worker == 0 && first(0) { vec![0] } else { Vec::new() };
                    marking.run(&mut stack, |at, stack| {
                        visits.fetch_add(1, Ordering::Relaxed);
                        stack.extend([2 * at + 1, 2 * at + 2].into_iter().filter(|&next| next < NODES && first(next)));
                    });
                });
            }
        });
        assert_eq!(visits.into_inner(), NODES as usize);
    }
}
