//! Results that owners remember: some may be forgotten, but what comes back was put with that key.

mod common;

use common::Veiled;
use tremula_distributed::{Key, Node, NodeTable, Owned, ResultCache, Sizes};
use tremula_fabric::{Fabric, threads};

const SIZES: Sizes = Sizes { slots: 4096, nodes: 4096 };

fn key(number: u64) -> Key {
    [number.wrapping_mul(0x9E37_79B9_7F4A_7C15), !number]
}

/// The only result that is ever put for a key, with all bits in use.
fn result(key: Key) -> u64 {
    key[0].rotate_left(11) ^ key[1].wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

fn pairs(numbers: impl Iterator<Item = u64>) -> Vec<(Key, u64)> {
    numbers.map(|number| (key(number), result(key(number)))).collect()
}

/// Each rank puts some, and all ask for all of them, and for some that nobody has put.
fn share<F: Fabric>(fabric: &F) {
    let (ranks, rank) = (fabric.ranks() as u64, fabric.rank() as u64);
    let mut table = Owned::allocate_with_results(fabric, SIZES, 1 << 16).unwrap();
    let mut results = table.results();
    results.put(&pairs(rank * 1000..(rank + 1) * 1000)).unwrap();
    // What a rank has put itself it finds at once.
    let own: Vec<Key> = (rank * 1000..(rank + 1) * 1000).map(key).collect();
    assert!(results.get(&own).unwrap().iter().flatten().count() > 980);
    results.settle();
    fabric.barrier();
    let keys: Vec<Key> = (0..(ranks + 1) * 1000).map(key).collect();
    let found = results.get(&keys).unwrap();
    assert!(keys.iter().zip(&found).all(|(&key, found)| found.is_none_or(|found| found == result(key))));
    let (put, others) = found.split_at(ranks as usize * 1000);
    // Few of them have fallen on the same slots.
    assert!(put.iter().flatten().count() > 980 * ranks as usize && others.iter().all(Option::is_none));
    results.settle();
}

#[test]
fn all_ranks_find_what_any_has_put() {
    for ranks in [1, 2, 3, 5] {
        threads::run(ranks, share).unwrap();
        threads::run(ranks, |fabric| share(&Veiled(fabric))).unwrap();
    }
}

/// Slots so few that results are overwritten all the time, while nodes are asked for by the same mail.
#[test]
fn nothing_is_made_up() {
    for slots in [0, 1, 7] {
        let outcome = threads::run(3, |fabric| {
            let mut table = Owned::allocate_with_results(fabric, SIZES, slots).unwrap();
            let mut known = 0;
            for round in 0..2000 {
                let number = (round * 7 + fabric.rank() as u64) % 11;
                table.results().put(&pairs([number, number + 1].into_iter())).unwrap();
                let node: Node = key(number);
                let found = table.find_or_put(&[node]).unwrap();
                assert_eq!(table.node(found[0].position).unwrap(), node);
                let keys = [key(number), key((number + 5) % 11), key(100)];
                let results = table.results().get(&keys).unwrap();
                assert_eq!(results[2], None);
                for (&key, found) in keys.iter().zip(&results) {
                    assert!(found.is_none_or(|found| found == result(key)), "{key:?}: {found:?}");
                    known += u64::from(found.is_some());
                }
            }
            table.settle();
            known
        });
        assert!(outcome.unwrap().iter().all(|&known| if slots == 0 { known == 0 } else { known > 100 }));
    }
}

/// A rank that does nothing but put does not fill its memory with messages: it waits for owners to come.
#[test]
fn many_puts_arrive() {
    let outcome = threads::run(2, |fabric| {
        let mut table = Owned::allocate_with_results(fabric, SIZES, 1 << 16).unwrap();
        if fabric.rank() == 0 {
            (0..50).for_each(|_| table.results().put(&pairs(0..10_000)).unwrap());
        }
        table.settle();
        fabric.barrier();
        let keys: Vec<Key> = (0..10_000).map(key).collect();
        let found = table.results().get(&keys).unwrap().iter().flatten().count();
        table.settle();
        found
    });
    assert!(outcome.unwrap().iter().all(|&found| found > 9000));
}

#[test]
fn messages_are_counted() {
    let errands = threads::run(2, |fabric| {
        let mut table = Owned::allocate_with_results(fabric, SIZES, 1 << 12).unwrap();
        if fabric.rank() == 0 {
            table.results().put(&pairs(0..2000)).unwrap();
            table.results().get(&(0..1000).map(key).collect::<Vec<Key>>()).unwrap();
            let requests = table.results().requests();
            assert_eq!(requests, table.requests());
            assert!(requests[0] > 1200 && requests[1] < 12, "{requests:?}");
        }
        table.settle();
        *table.errands()
    });
    let errands = errands.unwrap();
    assert_eq!((errands[0].nodes, errands[0].results.iter().sum::<u64>()), ([0; 3], 3000));
    // Half of them are the other's, 310 in each message.
    assert!((1350..1650).contains(&errands[0].results[1]), "{errands:?}");
    assert!((5..=7).contains(&errands[0].messages[1]), "{errands:?}");
    assert_eq!((errands[1].results, errands[1].messages), ([0; 3], [0; 3]));
}
