//! One worker has all tasks, and does nothing but answer thieves for a while: how long a steal takes at best.

use super::for_ranks::Whole;
use std::time::{Duration, Instant};
use tremula_tasks::{Deque, Work, Worker};

/// So many empty tasks, and a time in which their owner leaves them to thieves.
pub(crate) struct Hoard {
    pub(crate) tasks: u64,
    pub(crate) time: Duration,
}

const ALL: u64 = 0;
const ONE: u64 = 1;
/// Looks at the attention word between two looks at the clock.
const LOOKS: u32 = 64;

impl Work for Hoard {
    type Task = u64;
    type Answer = u64;
    type State = ();

    fn state(&self, _: usize) {}

    fn run<D: Deque>(&self, worker: &mut Worker<'_, Self, D>, task: u64) -> u64 {
        if task == ONE {
            return 1;
        }
        (0..self.tasks).for_each(|_| worker.spawn(ONE));
        let started = Instant::now();
        while started.elapsed() < self.time {
            (0..LOOKS).for_each(|_| worker.poll());
        }
        (0..self.tasks).map(|_| worker.join()).sum()
    }
}

impl Whole for Hoard {
    fn whole(&self) -> u64 {
        ALL
    }
}
