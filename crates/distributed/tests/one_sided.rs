//! Equal nodes get one position, different ones different positions, whoever puts them and however many do at once.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use tremula_distributed::{Chunks, Find, Finder, Found, Full, Node, NodeTable, OneSided, SharedTable, Sizes};
use tremula_fabric::Fabric;
use tremula_fabric::threads::{self, ThreadSegment};

type Table = OneSided<ThreadSegment>;

/// A node that depends on its number alone.
fn node(number: u64) -> Node {
    [number.wrapping_mul(0x9E37_79B9_7F4A_7C15), number / 7]
}

/// Numbers from `below`, in an order that depends on the seed.
fn shuffled(seed: u64, below: u64) -> Vec<u64> {
    let mut numbers: Vec<u64> = (0..below).collect();
    let mut state = seed.wrapping_mul(0x2545_F491_4F6C_DD1D) | 1;
    for at in (1..numbers.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        numbers.swap(at, state as usize % (at + 1));
    }
    numbers
}

/// Which threads ask for memory that they could address.
#[derive(Copy, Clone)]
enum Asking {
    None,
    All,
    EverySecond,
}

/// Each rank and thread puts all nodes, in an order of its own; the results by number.
fn put_all<F: Fabric>(
    fabric: &F,
    sizes: Sizes,
    chunks: Chunks,
    below: u64,
    workers: u64,
    asking: Asking,
) -> Vec<Vec<(u64, Found)>>
where
    F::Segment: Sync,
{
    let table = OneSided::allocate(fabric, sizes).unwrap().with_chunks(chunks);
    // Where memory is asked for, some ranks ask for more than they need.
    let table = if fabric.rank() % 2 == 1 { table.reading_ahead() } else { table };
    let asking = |worker: u64| match asking {
        Asking::None => false,
        Asking::All => true,
        Asking::EverySecond => (fabric.rank() as u64 + worker).is_multiple_of(2),
    };
    fabric.barrier();
    let found = thread::scope(|scope| {
        let work = |worker: u64| {
            let (table, seed) = (&table, fabric.rank() as u64 * workers + worker + 1);
            let is_asking = asking(worker);
            scope.spawn(move || {
                let numbers = shuffled(seed, below);
                let mut finder = if is_asking { table.asking_finder() } else { table.finder() };
                let mut found = Vec::new();
                for part in numbers.chunks(100) {
                    let nodes: Vec<Node> = part.iter().map(|&number| node(number)).collect();
                    found.extend(part.iter().copied().zip(finder.find_or_put(&nodes).unwrap()));
                }
                found
            })
        };
        let threads: Vec<_> = (0..workers).map(work).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    fabric.barrier();
    for (number, found) in found.iter().flatten() {
        assert_eq!(table.node(found.position).unwrap(), node(*number));
    }
    // Nobody may use the memory of a rank that has gone.
    fabric.barrier();
    found
}

fn check(ranks: usize, workers: u64, sizes: Sizes, chunks: Chunks, below: u64) {
    for asking in [Asking::None, Asking::All, Asking::EverySecond] {
        let found = threads::run(ranks, |fabric| put_all(fabric, sizes, chunks, below, workers, asking)).unwrap();
        check_found(found, ranks, workers, below);
    }
}

fn check_found(found: Vec<Vec<Vec<(u64, Found)>>>, ranks: usize, workers: u64, below: u64) {
    let all: Vec<(u64, Found)> = found.into_iter().flatten().flatten().collect();
    assert_eq!(all.len() as u64, ranks as u64 * workers * below);
    let mut positions = BTreeMap::new();
    for (number, found) in &all {
        assert_eq!(*positions.entry(number).or_insert(found.position), found.position, "number {number}");
    }
    let different: BTreeSet<_> = positions.values().collect();
    assert_eq!(different.len() as u64, below, "no two nodes share a position");
    assert_eq!(all.iter().filter(|(_, found)| found.new).count() as u64, below, "each was put once");
}

#[test]
fn ranks_agree_on_positions() {
    for ranks in [1, 2, 3, 4, 7] {
        let sizes = Sizes { slots: 4000 / ranks + 1, nodes: 4000 };
        check(ranks, 1, sizes, Chunks::ByLoad, 2000);
    }
}

#[test]
fn threads_of_ranks_agree_too() {
    check(3, 3, Sizes { slots: 1000, nodes: 3000 }, Chunks::ByLoad, 2000);
}

#[test]
fn chunks_of_any_size_will_do() {
    for chunk in [1, 3, 8, 128, 5000] {
        check(2, 1, Sizes { slots: 1100, nodes: 2200 }, Chunks::Fixed(chunk), 2000);
    }
}

#[test]
fn chunks_may_lie_apart() {
    for chunk in [1, 3, 8, 128] {
        check(3, 2, Sizes { slots: 1100, nodes: 2200 }, Chunks::Scattered(chunk), 2000);
    }
}

#[test]
fn a_table_can_be_filled_to_the_last_slot() {
    check(2, 2, Sizes { slots: 500, nodes: 2000 }, Chunks::ByLoad, 1000);
}

#[test]
fn a_full_table_says_so() {
    full_tables_say_so(SharedTable::finder);
    full_tables_say_so(OneSided::asking_finder);
}

fn full_tables_say_so(finder: impl for<'t> Fn(&'t Table) -> Finder<'t, ThreadSegment> + Copy + Sync) {
    let no_slots = Sizes { slots: 10, nodes: 100 };
    let no_nodes = Sizes { slots: 100, nodes: 10 };
    for sizes in [no_slots, no_nodes] {
        threads::run(1, |fabric| {
            let table = OneSided::allocate(fabric, sizes).unwrap();
            let mut finder = finder(&table);
            let nodes: Vec<Node> = (0..10).map(node).collect();
            let found = finder.find_or_put(&nodes).unwrap();
            assert_eq!(finder.find_or_put(&[node(10)]), Err(Full));
            // What is there is still found.
            let again = finder.find_or_put(&nodes).unwrap();
            assert!(again.iter().zip(found).all(|(again, found)| again.position == found.position && !again.new));
        })
        .unwrap();
    }
}

#[test]
fn nodes_that_were_offered_in_vain_are_used_again() {
    threads::run(1, |fabric| {
        let table = OneSided::allocate(fabric, Sizes { slots: 500, nodes: 101 }).unwrap();
        for number in 0..100 {
            // Two searches for the same node are under way together, and both offer one of their own.
            let found = table.asking_finder().find_or_put(&[node(number); 2]).unwrap();
            assert_eq!(found[0].position, found[1].position);
            assert!(found[0].new != found[1].new);
        }
    })
    .unwrap();
}

#[test]
fn a_node_that_was_just_put_needs_no_room() {
    threads::run(1, |fabric| {
        let table = OneSided::allocate(fabric, Sizes { slots: 10, nodes: 1 }).unwrap();
        let found = table.finder().find_or_put(&[node(1); 3]).unwrap();
        assert_eq!(found.iter().map(|found| found.new).collect::<Vec<_>>(), [true, false, false]);
        assert_eq!(table.finder().find_or_put(&[node(2)]), Err(Full));
    })
    .unwrap();
}

#[test]
fn requests_are_counted() {
    let traffic = threads::run(2, |fabric| {
        let table = OneSided::allocate(fabric, Sizes { slots: 1 << 12, nodes: 1 << 10 }).unwrap();
        let mut finder = table.finder();
        if fabric.rank() == 0 {
            // One at a time: searches that are under way together may lose a slot to each other.
            (0..1000).for_each(|number| drop(finder.find_or_put(&[node(number)]).unwrap()));
        }
        fabric.barrier();
        *finder.traffic()
    });
    let traffic = traffic.unwrap()[0];
    let total = |counts: [u64; 3]| counts.iter().sum::<u64>();
    // At such a load a chunk is nearly always enough, and every node is new.
    assert!((1000..1020).contains(&total(traffic.chunks)), "{traffic:?}");
    assert_eq!((total(traffic.swaps), total(traffic.nodes)), (1000, 0));
    // Half of the slots are on the other rank.
    assert!((800..1200).contains(&traffic.remote()), "{traffic:?}");
}
