//! The cache of a shared table grows in a safepoint, and keeps what it knows.

#![cfg(not(any(loom, shuttle)))]

use std::sync::Barrier;
use tremula_table::{Attention, Budget, Key, OpTag, Options, Ref, Sizing, Solo, TableWorker};

const WORKERS: usize = 3;
/// Entries at first: enough for several workers to move them together.
const ENTRIES: usize = 1 << 16;

/// An operation on a node, which need not exist: nothing is collected here.
fn key(number: u32) -> Key {
    Key::unary(Ref::new(number + 1, false), 0, OpTag::unary(1, 0))
}

/// The results that the cache knows, of those that were put there.
fn known(worker: &mut TableWorker<'_, '_>) -> Vec<u32> {
    let found = |number: &u32| worker.cache_get(key(*number).hash(), key(*number)).is_some();
    (0..ENTRIES as u32).filter(found).collect()
}

#[test]
fn a_cache_that_grows_keeps_its_results() {
    let sizing = Sizing { initial_nodes: ENTRIES, cache_per_node: 1.0, ..Sizing::default() };
    let options = Options { sizing, ..Options::default() };
    let mut solo = Solo::new(&Budget::new(64 << 20), options, Attention::default()).unwrap();
    let before = solo.counters().cache_entries;
    let shared = solo.share(WORKERS);
    let meeting = Barrier::new(WORKERS);
    std::thread::scope(|scope| {
        for number in 0..WORKERS {
            let (shared, meeting) = (&shared, &meeting);
            scope.spawn(move || {
                let mut worker = shared.worker(number);
                let share = |numbers: &u32| *numbers as usize % WORKERS == number;
                for number in (0..ENTRIES as u32).filter(share) {
                    worker.cache_put(key(number).hash(), key(number), Ref::FALSE.negate_if(number % 2 == 0));
                }
                // Look-ups in vain: why a cache should grow.
                (ENTRIES as u32..3 * ENTRIES as u32).for_each(|other| {
                    assert_eq!(worker.cache_get(key(other).hash(), key(other)), None);
                });
                meeting.wait();
                let old = known(&mut worker);
                assert!(old.len() > ENTRIES / 4, "{} of {ENTRIES} are there", old.len());
                worker.demand_cache();
                worker.take_part(|_| ()).unwrap();
                assert_eq!(known(&mut worker), old);
                let results = old.iter().map(|&number| (number, worker.cache_get(key(number).hash(), key(number))));
                for (number, result) in results {
                    assert_eq!(result, Some(Ref::FALSE.negate_if(number % 2 == 0)));
                }
                meeting.wait();
                worker.leave();
            });
        }
    });
    drop(shared);
    assert_eq!(solo.counters().cache_entries, 2 * before);
    solo.check().unwrap();
}
