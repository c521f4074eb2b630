//! Marking by several workers: each has a stack, and those without work get some from the others.

use crate::sync::{AtomicUsize, Mutex, MutexGuard, Ordering, unless_modelled, yield_now};

/// Positions that are handed over at a time.
const BATCH: usize = unless_modelled(256, 2);

/// Batches of positions for whoever has nothing to do, and who that is.
pub struct Marking {
    workers: usize,
    exchange: Mutex<Exchange>,
    /// How many batches would be welcome: workers that wait, less batches that lie ready.
    wanted: AtomicUsize,
}

#[derive(Default)]
struct Exchange {
    batches: Vec<Vec<u32>>,
    waiting: usize,
    over: bool,
}

impl Marking {
    pub fn new(workers: usize) -> Marking {
        Marking { workers, exchange: Mutex::default(), wanted: AtomicUsize::new(0) }
    }

    /// Nothing is marked yet. By one worker, before a meeting of all.
    pub fn restart(&self) {
        *self.lock() = Exchange::default();
        // Relaxed: a hint.
        self.wanted.store(0, Ordering::Relaxed);
    }

    /// A worker has not come and never will: the others do without it.
    pub fn excuse(&self) {
        self.lock().waiting += 1;
    }

    /// Somebody will not come back: nobody is to wait any longer.
    pub fn break_up(&self) {
        self.lock().over = true;
    }

    fn lock(&self) -> MutexGuard<'_, Exchange> {
        self.exchange.lock().expect("nobody panics with this lock")
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
        let batch = stack.drain(..BATCH).collect();
        let mut exchange = self.lock();
        exchange.batches.push(batch);
        self.update(&exchange);
    }

    fn update(&self, exchange: &Exchange) {
        // Relaxed: a hint.
        self.wanted.store(exchange.waiting.saturating_sub(exchange.batches.len()), Ordering::Relaxed);
    }

    /// Wait for a batch; false when all workers wait, for then there is nothing left.
    fn receive(&self, stack: &mut Vec<u32>) -> bool {
        self.lock().waiting += 1;
        loop {
            let mut exchange = self.lock();
            if let Some(batch) = exchange.batches.pop() {
                exchange.waiting -= 1;
                self.update(&exchange);
                *stack = batch;
                return true;
            }
            exchange.over |= exchange.waiting == self.workers;
            if exchange.over {
                return false;
            }
            self.update(&exchange);
            drop(exchange);
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
