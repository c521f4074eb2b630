//! All interleavings of the barrier. To run them:
//! `RUSTFLAGS="--cfg loom" cargo test -p tremula-fabric --release --test loom`

#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use tremula_fabric::barrier::Barrier;
use tremula_fabric::{LossCause, RankLost};

/// Looking once before sleeping explores both ways out of a wait.
const SPINS: u32 = 1;

/// Rank 0 here, the others in threads of their own.
fn on_ranks(ranks: usize, body: impl Fn(usize) + Clone + Send + Sync + 'static) {
    let threads: Vec<_> = (1..ranks)
        .map(|rank| {
            let body = body.clone();
            thread::spawn(move || body(rank))
        })
        .collect();
    body(0);
    for thread in threads {
        thread.join().unwrap();
    }
}

fn rounds(ranks: usize, rounds: usize) {
    let barrier = Arc::new(Barrier::new(ranks, SPINS));
    let marks: Arc<Vec<AtomicUsize>> = Arc::new((0..ranks).map(|_| AtomicUsize::new(0)).collect());
    on_ranks(ranks, move |rank| {
        for round in 1..=rounds {
            // Relaxed, so that only the barrier can order these marks.
            marks[rank].store(round, Ordering::Relaxed);
            barrier.wait().unwrap();
            // Nobody has left the barrier before all arrived; some may have arrived at the next one.
            assert!(marks.iter().all(|mark| mark.load(Ordering::Relaxed) >= round));
        }
    });
}

#[test]
fn nobody_leaves_early_and_the_barrier_can_be_used_again() {
    loom::model(|| rounds(2, 3));
}

/// All interleavings of three ranks with at most so many forced switches; without a bound they take hours.
fn model_of_three(body: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(body);
}

#[test]
fn nor_with_three_ranks() {
    model_of_three(|| rounds(3, 2));
}

#[test]
fn a_broken_barrier_releases_those_who_wait() {
    model_of_three(|| {
        let barrier = Arc::new(Barrier::new(3, SPINS));
        let lost = || RankLost { rank: 2, host: None, cause: LossCause::Panicked(String::new()) };
        on_ranks(3, move |rank| {
            if rank == 2 {
                barrier.break_with(lost());
            } else {
                assert_eq!(barrier.wait(), Err(lost()));
                assert_eq!(barrier.lost(), Some(lost()));
            }
        });
    });
}

#[test]
fn a_rank_that_ends_releases_those_who_wait() {
    loom::model(|| {
        let barrier = Arc::new(Barrier::new(2, SPINS));
        on_ranks(2, move |rank| {
            barrier.wait().unwrap();
            if rank == 1 {
                barrier.end(rank);
            } else {
                assert_eq!(barrier.wait(), Err(RankLost { rank: 1, host: None, cause: LossCause::EndedEarly }));
            }
        });
    });
}

#[test]
fn ranks_may_end_while_others_wake_up() {
    loom::model(|| {
        let barrier = Arc::new(Barrier::new(2, SPINS));
        on_ranks(2, move |rank| {
            barrier.wait().unwrap();
            barrier.end(rank);
            assert_eq!(barrier.lost(), None);
        });
    });
}
