//! The table in one array, by several threads of several ranks that read memory or ask for it, in chunks of any size.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use tremula_distributed::{Chunks, Find, Found, Full, Inline, Node, NodeTable, SharedTable};
use tremula_fabric::{Fabric, threads};

/// Nodes that differ in few bits: many have the same first word in their slots, so that searches meet slots that may become
/// theirs.
fn node(number: u64) -> Node {
    [(number % 3) | ((number % 2) << 63), (number / 6) | ((number % 5) << 61)]
}

/// Each thread of each rank puts all nodes; some of them ask for memory that they could address. The results by number.
fn put_all<F: Fabric>(fabric: &F, slots: usize, chunks: Chunks, below: u64, workers: u64) -> Vec<(u64, Found)>
where
    F::Segment: Sync,
{
    let table = Inline::allocate(fabric, slots).unwrap().with_chunks(chunks);
    fabric.barrier();
    let found = thread::scope(|scope| {
        let work = |worker: u64| {
            let (table, who) = (&table, fabric.rank() as u64 * workers + worker);
            scope.spawn(move || {
                let mut finder = if who % 2 == 0 { table.finder() } else { table.asking_finder() };
                // Those who meet most often begin with the same ones.
                let first = who / 4 * below / 7 % below;
                let numbers: Vec<u64> = (first..below).chain(0..first).collect();
                let mut found = Vec::new();
                for part in numbers.chunks(100) {
                    let nodes: Vec<Node> = part.iter().map(|&number| node(number)).collect();
                    found.extend(part.iter().copied().zip(finder.find_or_put(&nodes).unwrap()));
                }
                found
            })
        };
        let threads: Vec<_> = (0..workers).map(work).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    for (number, found) in &found {
        assert_eq!(table.node(found.position).unwrap(), node(*number));
    }
    // Nobody may use the memory of a rank that has gone.
    fabric.barrier();
    found
}

fn check(ranks: usize, workers: u64, slots: usize, chunks: Chunks, below: u64) {
    let all = threads::run(ranks, |fabric| put_all(fabric, slots, chunks, below, workers)).unwrap().concat();
    assert_eq!(all.len() as u64, ranks as u64 * workers * below);
    let mut positions = BTreeMap::new();
    for (number, found) in &all {
        assert_eq!(*positions.entry(number).or_insert(found.position), found.position, "number {number}");
    }
    assert_eq!(positions.values().collect::<BTreeSet<_>>().len() as u64, below, "no two nodes share a position");
    assert_eq!(all.iter().filter(|(_, found)| found.new).count() as u64, below, "each was put once");
}

/// Searches under way when there is no room for one of them finish the slots that they have claimed: nobody waits for these for ever.
#[test]
fn a_full_table_has_no_unfinished_slots() {
    let nodes = [[1, 2], [3, 4], [5, 6]];
    for slots in [1, 2] {
        let found = threads::run(1, |fabric| {
            let table = Inline::allocate(fabric, slots).unwrap();
            let mut finder = table.asking_finder();
            assert_eq!(finder.find_or_put(&nodes), Err(Full));
            nodes.iter().filter(|&&node| finder.find_or_put(&[node]).is_ok_and(|found| !found[0].new)).count()
        });
        assert_eq!(found.unwrap(), [slots]);
    }
}

#[test]
fn threads_of_ranks_agree() {
    for _ in 0..20 {
        check(2, 4, 700, Chunks::ByLoad, 1000);
    }
    check(5, 1, 1000, Chunks::ByLoad, 3000);
}

#[test]
fn chunks_of_any_size_will_do() {
    for chunk in [1, 3, 8, 42, 5000] {
        check(2, 2, 1100, Chunks::Fixed(chunk), 2000);
        check(3, 2, 1100, Chunks::Scattered(chunk.min(42)), 2000);
    }
}

#[test]
fn a_table_can_be_filled_to_the_last_slot() {
    check(2, 2, 500, Chunks::ByLoad, 1000);
}

/// One at a time: a find reads a chunk and nothing else, an insert swaps a word and writes two.
#[test]
fn nodes_come_with_their_slots() {
    let outcome = threads::run(2, |fabric| {
        let table = Inline::allocate(fabric, 1 << 12).unwrap().with_chunks(Chunks::Fixed(32));
        if fabric.rank() == 0 {
            let total = |counts: [u64; 3]| counts.iter().sum::<u64>();
            let spread = |number: u64| [number.wrapping_mul(0x9E37_79B9_7F4A_7C15), number];
            for (mut finder, from, inserts) in
                [(table.finder(), 0, 1000), (table.asking_finder(), 0, 0), (table.asking_finder(), 1000, 1000)]
            {
                (from..from + 1000).for_each(|number| drop(finder.find_or_put(&[spread(number)]).unwrap()));
                let traffic = *finder.traffic();
                assert_eq!((total(traffic.swaps), total(traffic.writes)), (inserts, 2 * inserts));
                assert!((1000..1040).contains(&total(traffic.chunks)) && total(traffic.nodes) == 0, "{traffic:?}");
                // Half of the slots are on the other rank.
                let all = total(traffic.total());
                assert!((all * 2 / 5..all * 3 / 5).contains(&traffic.remote()), "{traffic:?}");
            }
        }
        fabric.barrier();
        table.requests().iter().sum::<u64>()
    });
    // Of one rank two thousand inserts and a thousand finds, of the other nothing.
    let requests = outcome.unwrap();
    assert!((9000..9100).contains(&requests[0]) && requests[1] == 0, "{requests:?}");
}
