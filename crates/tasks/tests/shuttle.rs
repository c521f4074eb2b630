//! Random schedules of whole pools: spawning, stealing, gifts, sleeping, panics, several runs, the end. To run them:
//! `scripts/shuttle.sh`. A wake-up that is lost is a deadlock, which shuttle reports.

#![cfg(shuttle)]

use std::sync::atomic::{AtomicUsize, Ordering};
use tremula_tasks::{Deque, Pool, PoolOptions, Private, Split, StealAmount, Tactics, Work, Worker};

/// How many schedules each test runs.
fn schedules() -> usize {
    std::env::var("SHUTTLE_ITERATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(200)
}

fn check(name: &str, body: impl Fn() + Send + Sync + 'static) {
    let mut config = shuttle::Config::new();
    config.stack_size = 1 << 18;
    let scheduler = shuttle::scheduler::RandomScheduler::new(schedules());
    shuttle::Runner::new(scheduler, config).run(body);
    println!("{name}: {} schedules", schedules());
}

/// Fibonacci numbers, one task per call; unwinds at `poison`. Counts the leaves that ran.
struct Fibonacci {
    poison: u64,
    leaves: AtomicUsize,
}

impl Fibonacci {
    fn new(poison: u64) -> Fibonacci {
        Fibonacci { poison, leaves: AtomicUsize::new(0) }
    }
}

impl Work for Fibonacci {
    type Task = u64;
    type Answer = u64;
    type State = ();
    fn state(&self, _: usize) {}
    fn run<D: Deque>(&self, worker: &mut Worker<'_, Self, D>, n: u64) -> u64 {
        if n == self.poison {
            // Not `panic!`, whose hook would end the schedule.
            std::panic::resume_unwind(Box::new("as the test wants"));
        }
        if n < 2 {
            self.leaves.fetch_add(1, Ordering::Relaxed);
            return n;
        }
        worker.spawn(n - 2);
        let first = self.run(worker, n - 1);
        first + worker.join()
    }
}

fn options(workers: usize, amount: StealAmount) -> PoolOptions {
    // Shuttle's stacks are not those whose rest a worker can ask for.
    PoolOptions { workers, tactics: Tactics { amount, ..Tactics::default() }, least_stack: 0, ..PoolOptions::default() }
}

fn right<D: Deque>(name: &str, workers: usize, amount: StealAmount) {
    check(&format!("{name}, {workers} workers, {amount:?}"), move || {
        let mut pool: Pool<D> = Pool::new(options(workers, amount)).unwrap();
        // More than one run: bits of one must not reach the next.
        for _ in 0..2 {
            let work = Fibonacci::new(u64::MAX);
            assert_eq!(pool.run(&work, 6).unwrap(), 8);
            assert_eq!(work.leaves.into_inner(), 13, "every task runs once");
        }
    });
}

#[test]
fn private_deques() {
    right::<Private>("private deques", 2, StealAmount::One);
    right::<Private>("private deques", 3, StealAmount::One);
    right::<Private>("private deques", 3, StealAmount::Half);
}

#[test]
fn split_deques() {
    right::<Split>("split deques", 2, StealAmount::One);
    right::<Split>("split deques", 3, StealAmount::One);
}

/// Many tasks, below each of them a few, and below those again: others take away what is left of several that were received
/// together, while the first of them runs.
struct Bush;

impl Work for Bush {
    type Task = u64;
    type Answer = u64;
    type State = ();
    fn state(&self, _: usize) {}
    fn run<D: Deque>(&self, worker: &mut Worker<'_, Self, D>, height: u64) -> u64 {
        let width = [0, 2, 2, 5][height as usize];
        (0..width).for_each(|_| worker.spawn(height - 1));
        1 + (0..width).map(|_| worker.join()).sum::<u64>()
    }
}

#[test]
fn tasks_taken_together_are_all_run() {
    check("private deques, several tasks at a time", || {
        let mut pool: Pool = Pool::new(options(3, StealAmount::Many(4))).unwrap();
        assert_eq!(pool.run(&Bush, 3).unwrap(), 36);
    });
}

fn panics<D: Deque>(name: &str) {
    check(&format!("{name}, a task panics"), || {
        let mut pool: Pool<D> = Pool::new(options(3, StealAmount::One)).unwrap();
        let panicked = pool.run(&Fibonacci::new(1), 5).unwrap_err();
        assert_eq!(panicked.message(), "as the test wants");
        assert_eq!(pool.run(&Fibonacci::new(u64::MAX), 5).unwrap(), 5);
    });
}

#[test]
fn a_panic_ends_the_run_and_the_pool_goes_on() {
    panics::<Private>("private deques");
    panics::<Split>("split deques");
}

/// A task raises a bit of the work for all and waits until everybody has seen it, sleepers too.
struct Alarm {
    seen: shuttle::sync::atomic::AtomicUsize,
}

impl Work for Alarm {
    type Task = u64;
    type Answer = ();
    type State = ();
    fn state(&self, _: usize) {}
    fn run<D: Deque>(&self, worker: &mut Worker<'_, Self, D>, _: u64) {
        for round in 1..=2 {
            worker.raise_all(1);
            while self.seen.load(Ordering::SeqCst) < round * worker.workers() {
                worker.poll();
                shuttle::thread::yield_now();
            }
        }
    }
    fn attend<D: Deque>(&self, worker: &mut Worker<'_, Self, D>) {
        assert_eq!(worker.lower(!0), 1);
        self.seen.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn bits_of_the_work_reach_everybody_once() {
    check("bits of the work", || {
        let mut pool: Pool = Pool::new(options(3, StealAmount::One)).unwrap();
        let alarm = Alarm { seen: shuttle::sync::atomic::AtomicUsize::new(0) };
        pool.run(&alarm, 0).unwrap();
        assert_eq!(alarm.seen.into_inner(), 6);
    });
}

/// Tasks that end only when all of them have begun: each worker must get one, and none of them may be forgotten asleep.
struct Roll {
    begun: shuttle::sync::atomic::AtomicUsize,
}

impl Roll {
    fn wait<D: Deque>(&self, worker: &mut Worker<'_, Roll, D>) {
        self.begun.fetch_add(1, Ordering::SeqCst);
        while self.begun.load(Ordering::SeqCst) < worker.workers() {
            worker.poll();
            shuttle::thread::yield_now();
        }
    }
}

impl Work for Roll {
    type Task = u64;
    type Answer = ();
    type State = ();
    fn state(&self, _: usize) {}
    fn run<D: Deque>(&self, worker: &mut Worker<'_, Self, D>, others: u64) {
        for _ in 0..others {
            worker.spawn(0);
        }
        self.wait(worker);
        for _ in 0..others {
            worker.join();
        }
    }
}

fn everybody<D: Deque>(name: &str) {
    check(&format!("{name}, a task for everybody"), || {
        let mut pool: Pool<D> = Pool::new(options(3, StealAmount::One)).unwrap();
        pool.run(&Roll { begun: shuttle::sync::atomic::AtomicUsize::new(0) }, 2).unwrap();
    });
}

#[test]
fn everybody_gets_a_task() {
    everybody::<Private>("private deques");
    everybody::<Split>("split deques");
}
