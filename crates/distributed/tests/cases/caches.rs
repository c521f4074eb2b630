//! The one-sided cache may forget, but what it returns was put with that key, whoever overwrites what at that moment.

use super::{key, pairs, result, rounds};
use std::thread;
use tremula_distributed::{Cache, Key, ResultCache, Sizes};
use tremula_fabric::{Fabric, Segment};

pub fn all_ranks_find_what_any_has_cached(fabric: &impl Fabric) {
    let (ranks, rank) = (fabric.ranks(), fabric.rank() as u64);
    let cache = Cache::allocate(fabric, Sizes { slots: 1 << 16, nodes: 100 }).unwrap();
    let (mut user, first) = (cache.user(), rank * 100);
    user.put(&pairs(first..first + 100)).unwrap();
    fabric.barrier();
    let keys: Vec<Key> = (0..ranks as u64 * 100).map(key).collect();
    let found = user.get(&keys).unwrap();
    // Few of them have fallen on the same slots.
    assert!(found.iter().flatten().count() >= 99 * ranks);
    assert!(keys.iter().zip(&found).all(|(&key, found)| found.is_none_or(|found| found == result(key))));
    // Those that were overwritten are the oldest.
    fabric.barrier();
    user.put(&pairs(first + 10_000..first + 10_050)).unwrap();
    fabric.barrier();
    let found = user.get(&keys).unwrap();
    assert!(found.iter().enumerate().all(|(number, found)| found.is_none() || number % 100 >= 50));
    assert!(found.iter().flatten().count() >= 49 * ranks);
    fabric.barrier();
}

/// All ranks put the same; a put writes once.
pub fn gets_read_at_most_twice(fabric: &impl Fabric) {
    let cache = Cache::allocate(fabric, Sizes { slots: 4096, nodes: 4096 }).unwrap();
    let mut user = cache.user();
    user.put(&pairs(0..300)).unwrap();
    fabric.barrier();
    let missing: Vec<Key> = (1000..2000).map(key).collect();
    assert!(user.get(&missing).unwrap().iter().all(Option::is_none));
    let there: Vec<Key> = (0..300).map(key).collect();
    let found = user.get(&there).unwrap().iter().flatten().count() as u64;
    let sum = |counts: [u64; 3]| counts.iter().sum::<u64>();
    let traffic = *user.traffic();
    assert_eq!((sum(traffic.puts), sum(traffic.slots)), (300, 1300));
    // A part of the hash saves almost all entries of other keys.
    assert!((found..found + 5).contains(&sum(traffic.entries)), "{traffic:?}");
    assert!(traffic.remote() < 300 + 1300 + sum(traffic.entries));
    fabric.barrier();
}

/// Rings so short that entries are overwritten all the time, while other threads and ranks read them.
pub fn caches_make_nothing_up<F: Fabric>(fabric: &F)
where
    F::Segment: Sync,
{
    let rounds = rounds(fabric, 20_000, 500);
    for entries in [1, 2, 7] {
        let cache = Cache::allocate(fabric, Sizes { slots: 4, nodes: entries }).unwrap();
        let found = thread::scope(|scope| {
            let work = |seed: u64| {
                let cache = &cache;
                scope.spawn(move || put_and_get(cache, seed, rounds))
            };
            let threads: Vec<_> = (0..2).map(|thread| work(2 * fabric.rank() as u64 + thread)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u64>()
        });
        assert!(found > rounds / 20, "some is remembered: {found} in {rounds} rounds, {entries} entries");
        fabric.barrier();
    }
}

/// How many results were found.
fn put_and_get(cache: &Cache<impl Segment>, seed: u64, rounds: u64) -> u64 {
    let (mut user, mut found) = (cache.user(), 0);
    for round in 0..rounds {
        let number = (round * 7 + seed) % 11;
        user.put(&pairs(number..number + 1)).unwrap();
        let keys = [key(number), key((number + 1) % 11), key(100)];
        let results = user.get(&keys).unwrap();
        assert_eq!(results[2], None);
        for (&key, known) in keys.iter().zip(&results) {
            assert!(known.is_none_or(|known| known == result(key)), "{key:?}: {known:?}");
            found += u64::from(known.is_some());
        }
    }
    found
}
