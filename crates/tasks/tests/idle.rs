//! Idle workers use next to no processor time. In a file of its own: the time is that of the whole process.

use std::time::Duration;
use tremula_tasks::{Deque, Pool, PoolOptions, Work, Worker};

/// One task that sleeps, so that nobody has anything to do.
struct Nap;

impl Work for Nap {
    type Task = u64;
    type Answer = ();
    type State = ();
    fn state(&self, _: usize) {}
    fn run<D: Deque>(&self, _: &mut Worker<'_, Self, D>, milliseconds: u64) {
        std::thread::sleep(Duration::from_millis(milliseconds));
    }
}

/// Processor time of this process in clock ticks, of which a second has a hundred.
fn processor_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn idle_workers_sleep() {
    let mut pool: Pool = Pool::new(PoolOptions { workers: 9, ..PoolOptions::default() }).unwrap();
    let before = processor_ticks();
    pool.run(&Nap, 2000).unwrap();
    let during_a_run = processor_ticks() - before;
    std::thread::sleep(Duration::from_secs(1));
    let in_all = processor_ticks() - before;
    // Eight workers with nothing to do for two seconds: one per cent of that is sixteen ticks.
    assert!(during_a_run <= 16, "{during_a_run} ticks");
    assert!(in_all <= 24, "{in_all} ticks");
}
