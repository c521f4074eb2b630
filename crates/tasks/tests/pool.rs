//! Pools of every kind against sequential twins: results, panics, reuse, sleeping.

mod common;

use common::Fibonacci;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tremula_fabric::topology::Topology;
use tremula_tasks::{Deque, MOST_WORDS, Pool, PoolOptions, Private, Split, StealAmount, Tactics, Work, Worker};

const PLAIN: Fibonacci = Fibonacci { poison: u64::MAX };

fn fibonacci(n: u64) -> u64 {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}

fn options(workers: usize, amount: StealAmount) -> PoolOptions {
    PoolOptions { workers, tactics: Tactics { amount, ..Tactics::default() }, ..PoolOptions::default() }
}

const AMOUNTS: [StealAmount; 3] = [StealAmount::One, StealAmount::Many(4), StealAmount::Half];

fn right_with<D: Deque>() {
    for workers in [1, 2, 3, 4, 8] {
        for amount in AMOUNTS {
            let mut pool: Pool<D> = Pool::new(options(workers, amount)).unwrap();
            for n in [0, 1, 2, 10, 20, 24] {
                assert_eq!(pool.run(&PLAIN, n).unwrap(), fibonacci(n), "{workers} {amount:?}");
            }
        }
    }
}

#[test]
fn private_deques_give_right_results() {
    right_with::<Private>();
}

#[test]
fn split_deques_give_right_results() {
    right_with::<Split>();
}

#[test]
fn bound_threads_with_near_and_far_mates_give_right_results() {
    let cpu = Topology::detect().available_cpus()[0];
    let distances = (0..4).map(|a| (0..4).map(|b| u8::from(a / 2 != b / 2)).collect()).collect();
    let bound = PoolOptions { cpus: vec![cpu; 4], distances, ..options(4, StealAmount::One) };
    let mut pool: Pool = Pool::new(bound).unwrap();
    assert_eq!(pool.run(&PLAIN, 24).unwrap(), fibonacci(24));
}

#[test]
fn a_pool_on_this_machine_has_a_place_for_each_worker_or_none() {
    for workers in 1..=Topology::detect().available_cpus().len() + 1 {
        let options = PoolOptions::on_this_machine(workers);
        assert_eq!(options.workers, workers);
        assert!(options.cpus.is_empty() || options.cpus.len() == workers);
        assert_eq!(options.distances.len(), options.cpus.len());
    }
}

/// The sum of all numbers of so many bits. A task has a list of the bits that are not yet chosen, which is as long as a task
/// may be, and checks it.
struct Choices;

const CHOICES: usize = MOST_WORDS - 2;

/// The sum of those chosen, how many are left, and these.
type Choice = [u64; MOST_WORDS];

impl Work for Choices {
    type Task = Choice;
    type Answer = u64;
    type State = ();
    fn state(&self, _: usize) {}
    fn run<D: Deque>(&self, worker: &mut Worker<'_, Self, D>, task: Choice) -> u64 {
        let left = task[1] as usize;
        let expected = |at: usize| if at < left { 1 << at } else { 0 };
        assert!((0..CHOICES).all(|at| task[2 + at] == expected(at)), "{task:?}");
        if left == 0 {
            return task[0];
        }
        let mut without = task;
        without[1] -= 1;
        without[1 + left] = 0;
        let mut with = without;
        with[0] += task[1 + left];
        worker.spawn(with);
        self.run(worker, without) + worker.join()
    }
}

fn right_with_long_tasks<D: Deque>() {
    let whole = std::array::from_fn(|at| if at < 2 { [0, CHOICES as u64][at] } else { 1 << (at - 2) });
    let sum = (0..1 << CHOICES).sum();
    for amount in AMOUNTS {
        let mut pool: Pool<D> = Pool::new(options(4, amount)).unwrap();
        // Until tasks have changed hands: how many runs that takes, the system decides.
        let limit = Instant::now() + Duration::from_secs(120);
        while pool.statistics().steals <= 10 {
            assert!(Instant::now() < limit, "{amount:?}");
            assert_eq!(pool.run(&Choices, whole).unwrap(), sum, "{amount:?}");
        }
    }
}

#[test]
fn long_tasks_arrive_whole() {
    right_with_long_tasks::<Private>();
    right_with_long_tasks::<Split>();
}

fn reusable<D: Deque>() {
    let mut pool: Pool<D> = Pool::new(options(4, StealAmount::One)).unwrap();
    for round in 0..3000 {
        assert_eq!(pool.run(&PLAIN, round % 18).unwrap(), fibonacci(round % 18));
    }
}

#[test]
fn pools_are_reusable() {
    reusable::<Private>();
    reusable::<Split>();
}

fn panics_end_the_run<D: Deque>() {
    for amount in AMOUNTS {
        let mut pool: Pool<D> = Pool::new(options(4, amount)).unwrap();
        for round in 0..100 {
            let panicked = pool.run(&Fibonacci { poison: round % 4 }, 16 + round % 5).unwrap_err();
            assert!(panicked.message().contains("as the test wants"), "{}", panicked.message());
            assert_eq!(pool.run(&PLAIN, 15).unwrap(), fibonacci(15));
        }
    }
}

#[test]
fn a_panic_ends_the_run_and_the_pool_goes_on() {
    panics_end_the_run::<Private>();
    panics_end_the_run::<Split>();
}

/// What is called for in everybody's attention word panics.
#[cfg(unix)]
struct FaultyAttention;

#[cfg(unix)]
impl Work for FaultyAttention {
    type Task = u64;
    type Answer = ();
    type State = ();
    fn state(&self, _: usize) {}
    fn run<D: Deque>(&self, worker: &mut Worker<'_, Self, D>, _: u64) {
        worker.raise_all(1);
        worker.poll();
    }
    fn attend<D: Deque>(&self, _: &mut Worker<'_, Self, D>) {
        panic!("as the test wants");
    }
}

/// Others wait for who answers them, so nobody could go on: in a process of its own.
#[cfg(unix)]
#[test]
fn a_panic_outside_of_tasks_ends_the_process() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};
    const HERE: &str = "TREMULA_POOL_ENDS";
    if std::env::var_os(HERE).is_some() {
        let _ = Pool::<Private>::new(options(2, StealAmount::One)).unwrap().run(&FaultyAttention, 0);
        return;
    }
    let again = std::env::current_exe().unwrap();
    let name = "a_panic_outside_of_tasks_ends_the_process";
    let status = Command::new(again).args(["--exact", name]).env(HERE, "1").stderr(Stdio::null()).status().unwrap();
    const SIGABRT: i32 = 6;
    assert_eq!(status.signal(), Some(SIGABRT), "{status}");
}

/// Leaves that take long, in a comb: each task spawns one leaf and goes on with the rest. The
/// last one spawns more of them until every worker has been seen, because a busy machine may wake
/// a worker late.
struct Comb {
    spawned: AtomicUsize,
    leaves: AtomicUsize,
    workers_seen: [AtomicUsize; 8],
    deadline: Instant,
}

const LEAF: u64 = u64::MAX;
const NOTHING: u64 = u64::MAX - 1;

impl Comb {
    fn waits_for_workers(&self) -> bool {
        let unseen = |seen: &AtomicUsize| seen.load(Ordering::Relaxed) == 0;
        self.workers_seen.iter().any(unseen) && Instant::now() < self.deadline
    }

    fn spawn_leaf<D: Deque>(&self, worker: &mut Worker<'_, Self, D>) {
        self.spawned.fetch_add(1, Ordering::Relaxed);
        worker.spawn(LEAF);
    }
}

impl Work for Comb {
    type Task = u64;
    type Answer = ();
    type State = ();
    fn state(&self, _: usize) {}
    fn run<D: Deque>(&self, worker: &mut Worker<'_, Self, D>, task: u64) {
        self.workers_seen[worker.number()].fetch_add(1, Ordering::Relaxed);
        match task {
            NOTHING => {}
            LEAF => {
                std::thread::sleep(Duration::from_millis(1));
                self.leaves.fetch_add(1, Ordering::Relaxed);
            }
            0 => {
                while self.waits_for_workers() {
                    (0..8).for_each(|_| self.spawn_leaf(worker));
                    // Who sleeps is given a task that has been the oldest one at many looks.
                    for _ in 0..10_000 {
                        worker.spawn(NOTHING);
                        worker.join();
                    }
                    (0..8).for_each(|_| worker.join());
                }
            }
            _ => {
                self.spawn_leaf(worker);
                self.run(worker, task - 1);
                worker.join();
            }
        }
    }
}

#[test]
fn every_worker_takes_part_and_every_task_runs_once() {
    let mut pool: Pool = Pool::new(options(8, StealAmount::One)).unwrap();
    let comb = Comb {
        spawned: AtomicUsize::new(0),
        leaves: AtomicUsize::new(0),
        workers_seen: Default::default(),
        deadline: Instant::now() + Duration::from_secs(60),
    };
    pool.run(&comb, 200).unwrap();
    assert_eq!(comb.leaves.into_inner(), comb.spawned.into_inner());
    assert!(comb.workers_seen.into_iter().all(|seen| seen.into_inner() > 0));
    let statistics = pool.statistics();
    assert!(statistics.steals + statistics.gifts > 0);
}

/// Raises a bit of the work in all attention words and waits until everybody has seen it.
struct Alarm {
    seen: AtomicUsize,
}

impl Work for Alarm {
    type Task = u64;
    type Answer = ();
    type State = ();
    fn state(&self, _: usize) {}
    fn run<D: Deque>(&self, worker: &mut Worker<'_, Self, D>, _: u64) {
        // Long enough for the others to fall asleep.
        std::thread::sleep(Duration::from_millis(20));
        worker.raise_all(1);
        let limit = Instant::now() + Duration::from_secs(10);
        while self.seen.load(Ordering::Acquire) < worker.workers() && Instant::now() < limit {
            worker.poll();
            std::thread::yield_now();
        }
    }
    fn attend<D: Deque>(&self, worker: &mut Worker<'_, Self, D>) {
        assert_eq!(worker.lower(!0), 1);
        self.seen.fetch_add(1, Ordering::AcqRel);
    }
}

#[test]
fn bits_of_the_work_reach_sleepers_once() {
    let mut pool: Pool = Pool::new(options(6, StealAmount::One)).unwrap();
    for _ in 0..5 {
        let alarm = Alarm { seen: AtomicUsize::new(0) };
        pool.run(&alarm, 0).unwrap();
        assert_eq!(alarm.seen.into_inner(), 6);
    }
}
