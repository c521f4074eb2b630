//! Workers on a ground: ranks that are threads stand for processes, each with its own view of everything.
#![cfg(not(any(loom, shuttle)))]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tremula_fabric::{Fabric, Ground, threads};
use tremula_tasks::{Alliance, Allies, Deque, Statistics, StealAmount, Tactics, Work, Worker};

/// Fibonacci numbers; the multiplier is each rank's own copy of what all need.
struct Fibonacci {
    one: u64,
}

impl Work for Fibonacci {
    type Task = u64;
    type Answer = u64;
    type State = ();
    fn state(&self, _: usize) {}
    fn run<D: Deque>(&self, worker: &mut Worker<'_, Self, D>, n: u64) -> u64 {
        if n < 2 {
            return n * self.one;
        }
        worker.spawn(n - 2);
        let first = self.run(worker, n - 1);
        first + worker.join()
    }
}

fn alliance(processes: usize, each: usize) -> Alliance {
    Alliance { processes, each, tactics: Tactics::default(), crowd: true }
}

/// Run `lead` on rank 0, with the workers of all ranks. Its result, and what the workers of each rank have done.
fn with_allies<R: Send>(alliance: Alliance, lead: impl Fn(&Allies) -> R + Sync) -> (R, Vec<Statistics>) {
    with_allies_at(alliance, &Fibonacci { one: 1 }, lead)
}

/// The same, where those who follow work on this.
fn with_allies_at<R: Send>(
    alliance: Alliance,
    work: &impl Work,
    lead: impl Fn(&Allies) -> R + Sync,
) -> (R, Vec<Statistics>) {
    let results = threads::run(alliance.processes, |fabric| {
        let segment = fabric.allocate(Ground::words_for([alliance.bytes()])).unwrap();
        let mut ground = Ground::new(segment, 0).unwrap();
        let ground = ground.cut(alliance.bytes()).unwrap();
        let rank = fabric.rank();
        let allies = if rank == 0 {
            let allies = Allies::lead(ground, &alliance);
            fabric.barrier();
            allies
        } else {
            fabric.barrier();
            Allies::join(ground, &alliance, rank)
        };
        let allies = &allies.expect("the ground is large enough");
        let result = std::thread::scope(|scope| {
            for number in alliance.numbers(rank).filter(|&number| number != 0) {
                scope.spawn(move || allies.in_each_run(number, |stack| allies.take_part(work, number, stack)));
            }
            let result = (rank == 0).then(|| lead(allies));
            if rank == 0 {
                allies.dismiss();
            }
            result
        });
        (result, allies.statistics())
    });
    let (results, statistics): (Vec<_>, _) = results.expect("no rank is lost").into_iter().unzip();
    (results.into_iter().flatten().next().expect("rank 0 has a result"), statistics)
}

#[test]
fn all_take_part_in_many_runs() {
    for (ranks, each) in [(1, 1), (2, 1), (2, 2), (3, 2)] {
        let (answers, _) = with_allies(alliance(ranks, each), |allies| {
            assert_eq!(allies.workers(), ranks * each);
            [1, 2, 10, 20, 25].map(|n| allies.run(&Fibonacci { one: 1 }, n, 1 << 16).unwrap())
        });
        assert_eq!(answers, [1, 1, 55, 6765, 75025]);
    }
}

#[test]
fn answers_do_not_depend_on_tactics() {
    for amount in [StealAmount::One, StealAmount::Many(8), StealAmount::Half] {
        for (request_slots, shares_first) in [(1, true), (2, false), (8, true), (1, false)] {
            let tactics = Tactics { amount, request_slots, shares_first, ..Tactics::default() };
            let (answer, _) = with_allies(Alliance { processes: 2, each: 2, tactics, crowd: true }, |allies| {
                allies.run(&Fibonacci { one: 1 }, 22, 1 << 16).unwrap()
            });
            assert_eq!(answer, 17_711, "{tactics:?}");
        }
    }
}

/// Of two processes with a worker each, every steal is between the two; within one process, none is.
#[test]
fn steals_between_processes_are_told_apart() {
    let steal = |processes, each| {
        let (_, statistics) = with_allies(alliance(processes, each), |allies| {
            // Until somebody has stolen: how many runs that takes, the system decides.
            let limit = Instant::now() + Duration::from_secs(120);
            while allies.statistics().steals == 0 && Instant::now() < limit {
                allies.run(&Fibonacci { one: 1 }, 20, 1 << 16).unwrap();
            }
        });
        let sum = |count: fn(&Statistics) -> u64| statistics.iter().map(count).sum::<u64>();
        (sum(|one| one.latency_ns.count()), sum(|one| one.between_ns.count()))
    };
    let (all, between) = steal(2, 1);
    assert!(all > 0 && all == between, "{all} {between}");
    let (_, between) = steal(1, 2);
    assert_eq!(between, 0);
}

/// The root spawns tasks of all sizes, the largest first, and waits until worker 1 has begun `wanted`, and some time more.
struct Sizes {
    /// A bit for each task.
    wanted: u64,
    begun: AtomicU64,
}

const ROOT: u64 = 0;
const LARGEST: u64 = 19;

impl Sizes {
    fn wait<D: Deque>(&self, worker: &mut Worker<'_, Self, D>) {
        let limit = Instant::now() + Duration::from_secs(60);
        while self.begun.load(Ordering::Relaxed) & self.wanted != self.wanted && Instant::now() < limit {
            worker.poll();
            std::thread::yield_now();
        }
        // Long enough for a gift, which is a task that was the oldest at many looks.
        for _ in 0..200 {
            worker.poll();
            std::thread::yield_now();
        }
    }
}

impl Work for Sizes {
    type Task = u64;
    type Answer = ();
    type State = ();
    fn state(&self, _: usize) {}
    fn run<D: Deque>(&self, worker: &mut Worker<'_, Self, D>, task: u64) {
        if task == ROOT {
            (1..=LARGEST).rev().for_each(|size| worker.spawn(size));
            self.wait(worker);
            (1..=LARGEST).for_each(|_| worker.join());
        } else if worker.number() == 1 {
            self.begun.fetch_or(1 << task, Ordering::Relaxed);
        }
    }
    fn is_at_least(&self, (): &(), task: u64, size: u32) -> bool {
        task >= size.into()
    }
}

/// The tasks that worker 1 of two gets, where those from `least` on are waited for.
fn begun(processes: usize, tactics: Tactics, least: u64) -> Vec<u64> {
    let wanted = (least..=LARGEST).map(|size| 1 << size).sum();
    let work = &Sizes { wanted, begun: AtomicU64::new(0) };
    let alliance = Alliance { processes, each: 2 / processes, tactics, crowd: true };
    with_allies_at(alliance, work, |allies| allies.run(work, ROOT, 1 << 16).unwrap());
    let begun = work.begun.load(Ordering::Relaxed);
    (1..=LARGEST).filter(|size| begun >> size & 1 == 1).collect()
}

/// Begun by asking or by waiting for gifts, and with several tasks at a time.
fn ways() -> impl Iterator<Item = Tactics> {
    let amounts = [StealAmount::One, StealAmount::Half].into_iter();
    amounts.flat_map(|amount| [true, false].map(|shares_first| Tactics { amount, shares_first, ..Tactics::default() }))
}

#[test]
fn only_large_tasks_go_to_other_processes() {
    for tactics in ways() {
        for least in [15, LARGEST, LARGEST + 1] {
            let tactics = Tactics { least_far: least as u32, ..tactics };
            assert_eq!(begun(2, tactics, least), (least..=LARGEST).collect::<Vec<_>>(), "{tactics:?}");
        }
    }
}

#[test]
fn all_tasks_go_where_they_may() {
    for tactics in ways() {
        let all: Vec<u64> = (1..=LARGEST).collect();
        assert_eq!(begun(2, tactics, 1), all, "{tactics:?}");
        assert_eq!(begun(1, Tactics { least_far: 15, ..tactics }, 1), all, "{tactics:?}");
    }
}

#[test]
fn a_small_ground_is_refused() {
    threads::run(1, |fabric| {
        let ground = Ground::new(fabric.allocate(100).unwrap(), 0).unwrap();
        assert!(Allies::lead(ground, &alliance(2, 1)).is_none());
    })
    .unwrap();
}
