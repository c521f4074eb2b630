//! Pools of several ranks that steal from each other: answers, panics, several runs, what may travel. Ranks are threads here; the
//! studies run the same under mpirun.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tremula_fabric::{Fabric, threads};
use tremula_tasks::{Deque, Gate, Panicked, Pool, PoolOptions, StealAmount, Tactics, Work, Worker};

/// Fibonacci numbers, one task per call; panics at `poison`.
struct Fibonacci {
    poison: u64,
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

fn pool(workers: usize, tactics: Tactics) -> Pool {
    Pool::new(PoolOptions { workers: workers + 1, tactics, ..PoolOptions::default() }).unwrap()
}

/// The outcomes of several runs on one rank.
type Outcomes = Vec<Result<Option<u64>, Panicked>>;

/// What the pools of so many ranks, with so many workers each, come to, in several runs.
fn on_ranks(ranks: usize, workers: usize, tactics: Tactics, roots: &[(Fibonacci, u64)]) -> Vec<Outcomes> {
    let all = threads::run(ranks, |fabric| {
        let (mut pool, mut gate) = (pool(workers, tactics), Gate::new(fabric).unwrap());
        let root = |n: u64| (fabric.rank() == 0).then_some(n);
        roots.iter().map(|(work, n)| pool.run_between(&mut gate, work, root(*n))).collect()
    });
    all.unwrap()
}

#[test]
fn pools_of_several_ranks_give_right_results() {
    for (ranks, workers) in [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (4, 2)] {
        for amount in [StealAmount::One, StealAmount::Many(4), StealAmount::Half] {
            let tactics = Tactics { amount, ..Tactics::default() };
            let roots = [0, 1, 10, 20, 24].map(|n| (Fibonacci { poison: u64::MAX }, n));
            let all = on_ranks(ranks, workers, tactics, &roots);
            let answers: Vec<u64> = all[0].iter().map(|answer| answer.as_ref().unwrap().unwrap()).collect();
            assert_eq!(answers, [0, 1, 55, 6765, 46368], "{ranks} x {workers}, {amount:?}");
            assert!(all[1..].iter().all(|answers| answers.iter().all(|answer| matches!(answer, Ok(None)))));
        }
    }
}

#[test]
fn a_panic_anywhere_ends_the_run_everywhere_and_pools_go_on() {
    for round in 0..20 {
        let roots = [(Fibonacci { poison: round % 4 }, 16 + round % 5), (Fibonacci { poison: u64::MAX }, 15)];
        let all = on_ranks(3, 2, Tactics::default(), &roots);
        assert!(all[0][0].is_err(), "rank 0 has no answer");
        let told = all.iter().filter_map(|answers| answers[0].as_ref().err());
        assert!(told.map(Panicked::message).any(|message| message == "as the test wants"));
        assert_eq!(all[0][1].as_ref().unwrap(), &Some(610));
    }
}

/// Tasks that end only when some of them have begun on every rank, or after a while: `begun` are those of this rank.
#[derive(Clone)]
struct Roll<'a> {
    begun: &'a [AtomicUsize],
    rank: usize,
    deadline: Instant,
}

const LEAVES: u64 = 40;

impl Work for Roll<'_> {
    type Task = u64;
    type Answer = u64;
    type State = ();
    fn state(&self, _: usize) {}
    fn run<D: Deque>(&self, worker: &mut Worker<'_, Self, D>, leaves: u64) -> u64 {
        if leaves > 0 {
            (0..leaves).for_each(|_| worker.spawn(0));
            return (0..leaves).map(|_| worker.join()).sum();
        }
        self.begun[self.rank].fetch_add(1, Ordering::Relaxed);
        let all_have = || self.begun.iter().all(|begun| begun.load(Ordering::Relaxed) > 0);
        while !all_have() && Instant::now() < self.deadline {
            worker.poll();
            std::thread::yield_now();
        }
        1
    }

    fn is_at_least(&self, (): &(), _: u64, size: u32) -> bool {
        size <= 5
    }
}

/// Tasks that have begun on each of three ranks.
fn begun(least_far: u32, time: Duration) -> (Vec<usize>, u64) {
    let begun = [const { AtomicUsize::new(0) }; 3];
    let all = threads::run(3, |fabric| {
        let roll = Roll { begun: &begun, rank: fabric.rank(), deadline: Instant::now() + time };
        let tactics = Tactics { least_far, ..Tactics::default() };
        let (mut pool, mut gate) = (pool(2, tactics), Gate::new(fabric).unwrap());
        let answer = pool.run_between(&mut gate, &roll, (fabric.rank() == 0).then_some(LEAVES)).unwrap();
        assert_eq!(answer, (fabric.rank() == 0).then_some(LEAVES));
        pool.statistics().between_ns.count()
    });
    (begun.map(AtomicUsize::into_inner).to_vec(), all.unwrap().iter().sum())
}

#[test]
fn every_rank_gets_tasks_and_each_runs_once() {
    let (begun, between) = begun(5, Duration::from_secs(60));
    assert!(begun.iter().all(|&begun| begun > 0), "{begun:?}");
    assert_eq!(begun.iter().sum::<usize>(), LEAVES as usize);
    assert!(between >= 2);
}

#[test]
fn small_tasks_stay() {
    assert_eq!(begun(6, Duration::from_millis(20)), (vec![LEAVES as usize, 0, 0], 0));
}
