//! Fibonacci numbers by their definition: a task per call and next to nothing in it, so tasks are all one measures.

use super::Program;
use super::for_ranks::{ForRanks, Whole};
use crate::tasks_study::our_pool::OurPool;
use tremula_tasks::{Deque, Panicked, Work, Worker};

/// The Fibonacci number with this index.
pub(crate) struct Fibonacci(pub u64);

fn sequential(n: u64) -> u64 {
    if n < 2 { n } else { sequential(n - 1) + sequential(n - 2) }
}

impl Work for Fibonacci {
    type Task = u64;
    type Answer = u64;
    type State = ();

    fn state(&self, _: usize) {}

    fn run<D: Deque>(&self, worker: &mut Worker<'_, Self, D>, n: u64) -> u64 {
        if n < 2 {
            return n;
        }
        worker.spawn(n - 2);
        let first = self.run(worker, n - 1);
        first + worker.join()
    }
}

impl Whole for Fibonacci {
    fn whole(&self) -> u64 {
        self.0
    }
}

#[cfg(feature = "peers")]
fn by_rayon(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (first, second) = rayon::join(|| by_rayon(n - 1), || by_rayon(n - 2));
    first + second
}

#[cfg(feature = "peers")]
fn by_lace(worker: &mut lace_ws::Worker, n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let spawned = worker.spawn(by_lace, n - 2);
    let first = by_lace(worker, n - 1);
    first + worker.sync(spawned)
}

impl Program for Fibonacci {
    fn sequential(&self) -> u64 {
        sequential(self.0)
    }

    fn tasks(&self) -> u64 {
        let (next, _) = (0..self.0).fold((1, 0), |(next, this), _| (next + this, next));
        next - 1
    }

    fn pool(&self, pool: &mut OurPool) -> Result<u64, Panicked> {
        pool.run(self, self.0)
    }

    fn for_ranks(&self) -> Option<&dyn ForRanks> {
        Some(self)
    }

    #[cfg(feature = "peers")]
    fn rayon(&self) -> u64 {
        by_rayon(self.0)
    }

    #[cfg(feature = "peers")]
    fn lace(&self, worker: &mut lace_ws::Worker) -> u64 {
        by_lace(worker, self.0)
    }
}
