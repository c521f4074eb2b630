//! One worker has all tasks, and does nothing but answer thieves until they have taken all: how long a steal takes at best.

use super::for_ranks::Whole;
use std::time::{Duration, Instant};
use tremula_tasks::{Deque, Work, Worker};

/// So many empty tasks.
pub(crate) struct Hoard(pub(crate) u64);

const ALL: u64 = 0;
const ONE: u64 = 1;
/// Looks at the attention word between two looks at the clock.
const LOOKS: u32 = 64;
/// How often the owner looks for results. That disturbs thieves, which write them.
const PAUSE: Duration = Duration::from_millis(1);
/// When it stops to wait for thieves, which may not have a processor.
const LIMIT: Duration = Duration::from_millis(100);

impl Work for Hoard {
    type Task = u64;
    type Answer = u64;
    type State = ();

    fn state(&self, _: usize) {}

    fn run<D: Deque>(&self, worker: &mut Worker<'_, Self, D>, task: u64) -> u64 {
        if task == ONE {
            return 1;
        }
        (0..self.0).for_each(|_| worker.spawn(ONE));
        let started = Instant::now();
        while arrived(worker) < self.0 && started.elapsed() < LIMIT {
            answer_for(worker, PAUSE);
        }
        (0..self.0).map(|_| worker.join()).sum()
    }
}

/// Tasks that thieves have taken and finished.
fn arrived<D: Deque>(worker: &mut Worker<'_, Hoard, D>) -> u64 {
    let mut count = 0;
    worker.state_and_inbox().1.arrived(|_| count += 1);
    count
}

/// Answer thieves for a while.
fn answer_for<D: Deque>(worker: &mut Worker<'_, Hoard, D>, time: Duration) {
    let started = Instant::now();
    while started.elapsed() < time {
        (0..LOOKS).for_each(|_| worker.poll());
    }
}

impl Whole for Hoard {
    fn whole(&self) -> u64 {
        ALL
    }
}
