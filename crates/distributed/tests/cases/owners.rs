//! Results that owners remember: some may be forgotten, but what comes back was put with that key.

use super::{key, pairs, result, rounds};
use tremula_distributed::{Key, Node, NodeTable, Owned, Reach, ResultCache, Sizes};
use tremula_fabric::Fabric;

const SIZES: Sizes = Sizes { slots: 4096, nodes: 4096 };

/// Each rank puts some, and all ask for all of them, and for some that nobody has put.
pub fn all_ranks_find_what_owners_remember(fabric: &impl Fabric) {
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

/// Slots so few that results are overwritten all the time, while nodes are asked for by the same mail.
pub fn owners_make_nothing_up(fabric: &impl Fabric) {
    let rounds = rounds(fabric, 2000, 300);
    for slots in [0, 1, 7] {
        let mut table = Owned::allocate_with_results(fabric, SIZES, slots).unwrap();
        let mut known = 0;
        for round in 0..rounds {
            let number = (round * 7 + fabric.rank() as u64) % 11;
            table.results().put(&pairs(number..number + 2)).unwrap();
            let node: Node = key(number);
            let found = table.find_or_put(&[node]).unwrap();
            assert_eq!(table.node(found[0].position).unwrap(), node);
            let keys = [key(number), key(number + 1), key((number + 5) % 11), key(100)];
            let results = table.results().get(&keys).unwrap();
            assert_eq!(results[3], None);
            for (&key, found) in keys.iter().zip(&results) {
                assert!(found.is_none_or(|found| found == result(key)), "{key:?}: {found:?}");
                known += u64::from(found.is_some());
            }
        }
        table.settle();
        assert!(if slots == 0 { known == 0 } else { known > rounds / 20 }, "{known} known, {slots} slots");
    }
}

/// A rank that does nothing but put does not fill its memory with messages: it waits for owners to come.
pub fn many_puts_arrive(fabric: &impl Fabric) {
    let mut table = Owned::allocate_with_results(fabric, SIZES, 1 << 16).unwrap();
    if fabric.rank() == 0 {
        (0..50).for_each(|_| table.results().put(&pairs(0..10_000)).unwrap());
    }
    table.settle();
    fabric.barrier();
    let keys: Vec<Key> = (0..10_000).map(key).collect();
    let found = table.results().get(&keys).unwrap().iter().flatten().count();
    table.settle();
    assert!(found > 9000);
}

/// One rank puts and asks, the others do nothing but work for it.
pub fn owners_messages_are_counted(fabric: &impl Fabric) {
    let (own, ranks) = (Reach::Own as usize, fabric.ranks() as u64);
    let mut table = Owned::allocate_with_results(fabric, SIZES, 1 << 12).unwrap();
    let asks = fabric.rank() == 0;
    if asks {
        table.results().put(&pairs(0..2000)).unwrap();
        table.results().get(&(0..1000).map(key).collect::<Vec<Key>>()).unwrap();
        assert_eq!(table.results().requests(), table.requests());
    }
    table.settle();
    let (errands, requests) = (*table.errands(), table.requests());
    if asks {
        assert_eq!((errands.nodes, errands.results.iter().sum::<u64>()), ([0; 3], 3000));
        let others = 3000 - errands.results[own];
        let expected = 3000 * (ranks - 1) / ranks;
        assert!(others.abs_diff(expected) <= 150, "{errands:?}");
        // 310 in each message, and to each of the others two that are not full.
        let messages = errands.messages.iter().sum::<u64>();
        assert!((others.div_ceil(310)..=others / 310 + 2 * (ranks - 1)).contains(&messages), "{errands:?}");
        assert_eq!((errands.messages[own], requests.iter().sum::<u64>()), (0, 3000 - others + messages));
    } else {
        assert_eq!((errands.results, errands.messages, requests), ([0; 3], [0; 3], [0; 3]));
    }
}
