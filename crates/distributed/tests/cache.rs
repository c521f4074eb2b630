//! A cache may forget, but what it returns was put with that key, whoever overwrites what at that moment.

use std::thread;
use tremula_distributed::{Cache, Key, ResultCache, Sizes};
use tremula_fabric::{Fabric, threads};

fn key(number: u64) -> Key {
    [number.wrapping_mul(0x9E37_79B9_7F4A_7C15), number / 3]
}

/// The only result that is ever put for a key.
fn result(key: Key) -> u64 {
    key[0].rotate_left(11) ^ key[1].wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

#[test]
fn all_ranks_find_what_any_has_put() {
    for ranks in [1, 2, 3, 5] {
        let outcome = threads::run(ranks, |fabric| {
            let cache = Cache::allocate(fabric, Sizes { slots: 1 << 16, nodes: 100 }).unwrap();
            let (mut user, first) = (cache.user(), fabric.rank() as u64 * 100);
            (first..first + 100).for_each(|number| user.put(&[(key(number), result(key(number)))]).unwrap());
            fabric.barrier();
            let keys: Vec<Key> = (0..ranks as u64 * 100).map(key).collect();
            let found = user.get(&keys).unwrap();
            // Few of them have fallen on the same slots.
            assert!(found.iter().flatten().count() >= 99 * ranks);
            assert!(keys.iter().zip(&found).all(|(&key, found)| found.is_none_or(|found| found == result(key))));
            // Those that were overwritten are the oldest.
            fabric.barrier();
            (first..first + 50).for_each(|number| user.put(&[(key(number + 10_000), 0)]).unwrap());
            fabric.barrier();
            let found = user.get(&keys).unwrap();
            assert!(found.iter().enumerate().all(|(number, found)| found.is_none() || number % 100 >= 50));
            assert!(found.iter().flatten().count() >= 49 * ranks);
            fabric.barrier();
        });
        outcome.unwrap();
    }
}

#[test]
fn a_put_writes_once_and_a_get_reads_at_most_twice() {
    let outcome = threads::run(3, |fabric| {
        let cache = Cache::allocate(fabric, Sizes { slots: 4096, nodes: 4096 }).unwrap();
        let mut user = cache.user();
        (0..300).for_each(|number| user.put(&[(key(number), 1)]).unwrap());
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
    });
    outcome.unwrap();
}

/// Rings so short that entries are overwritten all the time, while others read them.
#[test]
fn nothing_is_made_up() {
    for entries in [1, 2, 7] {
        let outcome = threads::run(2, |fabric| {
            let cache = Cache::allocate(fabric, Sizes { slots: 4, nodes: entries }).unwrap();
            let found = thread::scope(|scope| {
                let work = |seed: u64| {
                    let cache = &cache;
                    scope.spawn(move || {
                        let (mut user, mut found) = (cache.user(), 0);
                        for round in 0..20_000 {
                            let number = (round * 7 + seed) % 11;
                            user.put(&[(key(number), result(key(number)))]).unwrap();
                            let keys = [key(number), key((number + 1) % 11), key(100)];
                            let results = user.get(&keys).unwrap();
                            assert_eq!(results[2], None);
                            for (&key, known) in keys.iter().zip(&results) {
                                assert!(known.is_none_or(|known| known == result(key)), "{key:?}: {known:?}");
                                found += u64::from(known.is_some());
                            }
                        }
                        found
                    })
                };
                let threads: Vec<_> = (0..2).map(|thread| work(2 * fabric.rank() as u64 + thread)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u64>()
            });
            fabric.barrier();
            found
        });
        assert!(outcome.unwrap().iter().all(|&found| found > 1000), "some is remembered");
    }
}
