//! Equal nodes get one position, different ones different positions, whoever asks for them.

use std::collections::{BTreeMap, BTreeSet};
use tremula_distributed::{Found, Full, Node, NodeTable, Owned, Sizes};
use tremula_fabric::{Fabric, FabricError, threads};

/// A node that depends on its number alone, with all bits in use.
fn node(number: u64) -> Node {
    [number.wrapping_mul(0x9E37_79B9_7F4A_7C15), !number]
}

/// Each rank asks for all nodes, from another one on, in batches of this size; then the table is read.
fn put_all<F: Fabric>(fabric: &F, sizes: Sizes, below: u64, batch: usize) -> Vec<(u64, Found)> {
    let mut table = Owned::allocate(fabric, sizes).unwrap();
    let first = fabric.rank() as u64 * below / fabric.ranks() as u64;
    let numbers: Vec<u64> = (first..below).chain(0..first).collect();
    let mut found = Vec::new();
    for part in numbers.chunks(batch) {
        let nodes: Vec<Node> = part.iter().map(|&number| node(number)).collect();
        found.extend(part.iter().copied().zip(table.find_or_put(&nodes).unwrap()));
    }
    table.settle();
    for (number, found) in &found {
        assert_eq!(table.node(found.position).unwrap(), node(*number));
    }
    fabric.barrier();
    found
}

#[test]
fn ranks_agree_on_positions() {
    for (ranks, batch) in [(1, 100), (2, 1), (2, 5000), (3, 311), (4, 1000), (7, 10)] {
        let sizes = Sizes { slots: 4000, nodes: 2000 };
        let all = threads::run(ranks, |fabric| put_all(fabric, sizes, 2000, batch)).unwrap().concat();
        assert_eq!(all.len(), ranks * 2000);
        let mut positions = BTreeMap::new();
        for (number, found) in &all {
            assert_eq!(*positions.entry(number).or_insert(found.position), found.position, "number {number}");
        }
        assert_eq!(positions.values().collect::<BTreeSet<_>>().len(), 2000, "no two nodes share a position");
        assert_eq!(all.iter().filter(|(_, found)| found.new).count(), 2000, "each was put once");
    }
}

#[test]
fn a_full_part_says_so_and_still_finds() {
    for sizes in [Sizes { slots: 10, nodes: 100 }, Sizes { slots: 100, nodes: 10 }] {
        threads::run(2, |fabric| {
            let mut table = Owned::allocate(fabric, sizes).unwrap();
            if fabric.rank() == 0 {
                let nodes: Vec<Node> = (0..200).map(node).collect();
                assert_eq!(table.find_or_put(&nodes), Err(Full));
                let there = nodes.iter().filter(|&&one| table.find_or_put(&[one]).is_ok_and(|found| !found[0].new));
                assert_eq!(there.count(), 20);
            }
            table.settle();
        })
        .unwrap();
    }
}

#[test]
fn messages_are_counted() {
    let errands = threads::run(2, |fabric| {
        let mut table = Owned::allocate(fabric, Sizes { slots: 1 << 12, nodes: 1 << 11 }).unwrap();
        if fabric.rank() == 0 {
            table.find_or_put(&(0..2000).map(node).collect::<Vec<Node>>()).unwrap();
        }
        table.settle();
        *table.errands()
    });
    let errands = errands.unwrap();
    assert_eq!(errands[0].nodes.iter().sum::<u64>(), 2000);
    // Half of the nodes are the other's, 310 in each message.
    assert!((900..1100).contains(&errands[0].nodes[1]), "{errands:?}");
    assert_eq!((errands[0].messages, errands[1].messages), ([0, errands[0].nodes[1].div_ceil(310), 0], [0; 3]));
}

#[test]
fn all_ranks_name_the_lowest_without_memory() {
    let refused = threads::run(4, |fabric| {
        let results = if [1, 3].contains(&fabric.rank()) { usize::MAX } else { 1 };
        Owned::allocate_with_results(fabric, Sizes { slots: 1, nodes: 1 }, results).err()
    });
    for error in refused.unwrap() {
        assert!(matches!(error, Some(FabricError::NoMemory { rank: 1, .. })), "{error:?}");
    }
}
