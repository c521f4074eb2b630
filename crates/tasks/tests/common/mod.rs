//! What several tests run.

use tremula_tasks::{Deque, Work, Worker};

/// Fibonacci numbers, one task per call; panics at `poison`.
pub struct Fibonacci {
    pub poison: u64,
}

impl Work for Fibonacci {
    type Task = u64;
    type Answer = u64;
    type State = ();
    fn state(&self, _: usize) {}
    fn run<D: Deque>(&self, worker: &mut Worker<'_, Self, D>, n: u64) -> u64 {
        if n == self.poison {
            // Not `panic!`, of which hundreds would be printed.
            std::panic::resume_unwind(Box::new("as the test wants"));
        }
        if n < 2 {
            return n;
        }
        worker.spawn(n - 2);
        let first = self.run(worker, n - 1);
        first + worker.join()
    }
}
