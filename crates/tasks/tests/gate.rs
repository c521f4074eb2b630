//! Pools of several ranks that steal from each other: answers, panics, several runs, what may travel. Ranks are threads here; the
//! studies run the same under mpirun.
#![cfg(not(any(loom, shuttle)))]

mod common;

use common::Fibonacci;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tremula_fabric::{Fabric, threads};
use tremula_tasks::{Deque, Gate, MOST_WORDS, Panicked, Pool, PoolOptions, StealAmount, Tactics, Work, Worker};

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
    let shapes =
        [(3, 2, StealAmount::One), (2, 1, StealAmount::Many(8)), (2, 1, StealAmount::Half), (4, 1, StealAmount::One)];
    for round in 0..20 {
        for (ranks, workers, amount) in shapes {
            let roots = [(Fibonacci { poison: round % 4 }, 16 + round % 5), (Fibonacci { poison: u64::MAX }, 15)];
            let all = on_ranks(ranks, workers, Tactics { amount, ..Tactics::default() }, &roots);
            let told = all.iter().map(|outcomes| outcomes[0].as_ref().expect_err("no rank has an answer").message());
            assert!(told.into_iter().any(|message| message == "as the test wants"));
            assert_eq!(all[0][1].as_ref().unwrap(), &Some(610));
        }
    }
}

/// Tasks of as many words as there can be, which say what they are; a root without words spawns them.
struct Long {
    leaves: u64,
    /// Leaves that were run, by rank.
    run: [AtomicUsize; 3],
}

impl Long {
    fn leaf(number: u64) -> [u64; MOST_WORDS] {
        std::array::from_fn(|at| number.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(at as u32))
    }
}

struct LongOf<'a>(&'a Long, usize);

impl Work for LongOf<'_> {
    type Task = [u64; MOST_WORDS];
    type Answer = u64;
    type State = ();
    fn state(&self, _: usize) {}
    fn run<D: Deque>(&self, worker: &mut Worker<'_, Self, D>, task: Self::Task) -> u64 {
        if task != [0; MOST_WORDS] {
            let number = (1..=self.0.leaves).find(|&number| Long::leaf(number)[0] == task[0]);
            assert_eq!(number.map(Long::leaf), Some(task), "a task came in parts");
            self.0.run[self.1].fetch_add(1, Ordering::Relaxed);
            return 1;
        }
        // More at a time than there are slots.
        (1..=self.0.leaves).for_each(|number| worker.spawn(Long::leaf(number)));
        let deadline = Instant::now() + Duration::from_secs(60);
        let elsewhere = || self.0.run.iter().map(|run| run.load(Ordering::Relaxed)).sum::<usize>();
        while (elsewhere() as u64) < self.0.leaves / 2 && Instant::now() < deadline {
            worker.poll();
            std::thread::yield_now();
        }
        (0..self.0.leaves).map(|_| worker.join()).sum()
    }
}

#[test]
fn many_long_tasks_travel() {
    const LEAVES: u64 = 2000;
    for amount in [StealAmount::One, StealAmount::Many(100), StealAmount::Half] {
        let work = Long { leaves: LEAVES, run: Default::default() };
        let answers = threads::run(3, |fabric| {
            let tactics = Tactics { amount, ..Tactics::default() };
            let (mut pool, mut gate) = (pool(1, tactics), Gate::new(fabric).unwrap());
            let root = (fabric.rank() == 0).then_some([0; MOST_WORDS]);
            pool.run_between(&mut gate, &LongOf(&work, fabric.rank()), root).unwrap()
        });
        assert_eq!(answers.unwrap(), [Some(LEAVES), None, None]);
        let run = work.run.map(AtomicUsize::into_inner);
        assert!(
            run.iter().sum::<usize>() == LEAVES as usize && run.iter().filter(|&&run| run > 0).count() > 1,
            "{run:?}"
        );
    }
}

/// Many more tasks than a gate has room for, which come and go at any time, so that some are always there.
#[test]
fn more_tasks_pass_a_gate_than_there_is_room_for() {
    let tactics = Tactics { amount: StealAmount::Many(16), ..Tactics::default() };
    let begun = [const { AtomicUsize::new(0) }; 3];
    const LEAVES: u64 = 4_000;
    threads::run(3, |fabric| {
        // No rank waits for another to begin.
        let (now, later) = (Instant::now(), Instant::now() + Duration::from_secs(30));
        let roll = Roll { begun: &begun, rank: fabric.rank(), deadline: now, root_waits: later };
        // The only worker of rank 0 has the root, so all tasks that begin while it waits have travelled.
        let workers = if fabric.rank() == 0 { 1 } else { 2 };
        let (mut pool, mut gate) = (pool(workers, tactics), Gate::new(fabric).unwrap());
        let answer = pool.run_between(&mut gate, &roll, (fabric.rank() == 0).then_some(LEAVES)).unwrap();
        assert_eq!(answer, (fabric.rank() == 0).then_some(LEAVES));
    })
    .unwrap();
    let begun = begun.map(AtomicUsize::into_inner);
    assert_eq!(begun.iter().sum::<usize>(), LEAVES as usize, "{begun:?}");
    // Two gates have result cells for 512 at a time.
    assert!(begun[1] + begun[2] >= LEAVES as usize / 2, "{begun:?}");
}

/// Tasks that end only when some of them have begun on every rank, or after a while: `begun` are those of this rank.
struct Roll<'a> {
    begun: &'a [AtomicUsize],
    rank: usize,
    deadline: Instant,
    /// The root waits until half of its tasks have begun, until then at most.
    root_waits: Instant,
}

const LEAVES: u64 = 40;

impl Work for Roll<'_> {
    type Task = u64;
    type Answer = u64;
    type State = ();
    fn state(&self, _: usize) {}
    fn run<D: Deque>(&self, worker: &mut Worker<'_, Self, D>, leaves: u64) -> u64 {
        if leaves > 0 {
            let before: usize = self.begun.iter().map(|begun| begun.load(Ordering::Relaxed)).sum();
            (0..leaves).for_each(|_| worker.spawn(0));
            let all = || self.begun.iter().map(|begun| begun.load(Ordering::Relaxed)).sum::<usize>() - before;
            while (all() as u64) < leaves / 2 && Instant::now() < self.root_waits {
                worker.poll();
                std::thread::yield_now();
            }
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
        let roll =
            Roll { begun: &begun, rank: fabric.rank(), deadline: Instant::now() + time, root_waits: Instant::now() };
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

#[test]
fn nobody_stands_by_for_one_that_has_panicked() {
    let stood_by = threads::run(3, |fabric| {
        let mut gate = Gate::new(fabric).unwrap();
        match fabric.rank() {
            0 => gate.alone(|| std::panic::resume_unwind(Box::new("as the test wants"))),
            _ => gate.stand_by(),
        }
    });
    assert!(stood_by.is_err());
}
