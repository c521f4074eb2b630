//! Workers on a ground: ranks that are threads stand for processes, each with its own view of everything.
#![cfg(not(any(loom, shuttle)))]

use tremula_fabric::{Fabric, Ground, threads};
use tremula_tasks::{Allies, Deque, Work, Worker};

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

/// Run `lead` on rank 0 with `each` workers on every rank.
fn with_allies<R: Send>(ranks: usize, each: usize, lead: impl Fn(&Allies) -> R + Sync) -> R {
    let workers = ranks * each;
    let results = threads::run(ranks, |fabric| {
        let segment = fabric.allocate(Ground::words_for([Allies::bytes(workers)])).unwrap();
        let mut ground = Ground::new(segment, 0).unwrap();
        let ground = ground.cut(Allies::bytes(workers)).unwrap();
        let rank = fabric.rank();
        let allies = if rank == 0 {
            let allies = Allies::lead(ground, workers);
            fabric.barrier();
            allies
        } else {
            fabric.barrier();
            Allies::join(ground, workers)
        };
        let allies = &allies.expect("the ground is large enough");
        std::thread::scope(|scope| {
            for number in (rank * each..(rank + 1) * each).filter(|&number| number != 0) {
                scope.spawn(move || {
                    while let Some(stack) = allies.next_run(number) {
                        allies.take_part(&Fibonacci { one: 1 }, number, stack);
                    }
                });
            }
            let result = (rank == 0).then(|| lead(allies));
            if rank == 0 {
                allies.dismiss();
            }
            result
        })
    });
    results.expect("no rank is lost").into_iter().flatten().next().expect("rank 0 has a result")
}

#[test]
fn all_take_part_in_many_runs() {
    for (ranks, each) in [(1, 1), (2, 1), (2, 2), (3, 2)] {
        let answers = with_allies(ranks, each, |allies| {
            assert_eq!(allies.workers(), ranks * each);
            [1, 2, 10, 20, 25].map(|n| allies.run(&Fibonacci { one: 1 }, n, 1 << 16).unwrap())
        });
        assert_eq!(answers, [1, 1, 55, 6765, 75025]);
    }
}

#[test]
fn a_small_ground_is_refused() {
    threads::run(1, |fabric| {
        let ground = Ground::new(fabric.allocate(100).unwrap(), 0).unwrap();
        assert!(Allies::lead(ground, 2).is_none());
    })
    .unwrap();
}
