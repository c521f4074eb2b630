//! Every form of the table.

use std::collections::{BTreeMap, BTreeSet};
use tremula_distributed::{AnyTable, Form, Found, Full, Inline, Node, NodeTable, OneSided, Owned, Position, Sizes};
use tremula_fabric::{Fabric, FabricError};

pub fn one_sided_tables_conform(fabric: &impl Fabric) {
    conforms(fabric, OneSided::allocate);
}

pub fn owned_tables_conform(fabric: &impl Fabric) {
    conforms(fabric, Owned::allocate);
}

pub fn inline_tables_conform(fabric: &impl Fabric) {
    conforms(fabric, |fabric, sizes| Inline::allocate(fabric, sizes.slots));
}

pub fn preferred_tables_conform(fabric: &impl Fabric) {
    conforms(fabric, AnyTable::allocate);
}

pub fn any_tables_conform_one_sided(fabric: &impl Fabric) {
    conforms(fabric, |fabric, sizes| AnyTable::of_form(fabric, sizes, Form::OneSided));
}

pub fn any_tables_conform_owned(fabric: &impl Fabric) {
    conforms(fabric, |fabric, sizes| AnyTable::of_form(fabric, sizes, Form::Owned));
}

fn conforms<F: Fabric, T: NodeTable>(fabric: &F, make: impl Fn(&F, Sizes) -> Result<T, FabricError>) {
    let make = |sizes: Sizes| make(fabric, sizes).unwrap();
    equal_nodes_have_one_position(fabric, make(Sizes { slots: 2000, nodes: 2000 }), 2000);
    equal_nodes_of_one_batch_meet(make(Sizes { slots: 10, nodes: 10 }));
    full_is_a_value(fabric, make(Sizes { slots: 10, nodes: 10 }));
    requests_are_counted(fabric, make(Sizes { slots: 4096, nodes: 4096 }));
    tables_go_back_to_where_they_were(fabric, make(Sizes { slots: 2000, nodes: 2000 }));
}

/// A node that depends on its number alone, with all bits in use.
fn node(number: u64) -> Node {
    [number.wrapping_mul(0x9E37_79B9_7F4A_7C15), !number.rotate_right(7)]
}

fn nodes(numbers: impl Iterator<Item = u64>) -> Vec<Node> {
    numbers.map(node).collect()
}

/// All ranks put all nodes, each beginning with others, and tell each other what they have found (N1, N2, N3).
fn equal_nodes_have_one_position<F: Fabric>(fabric: &F, mut table: impl NodeTable, below: u64) {
    let first = fabric.rank() as u64 * below / fabric.ranks() as u64;
    let numbers: Vec<u64> = (first..below).chain(0..first).collect();
    let mut mine: Vec<(u64, Found)> = Vec::new();
    for part in numbers.chunks(333) {
        let found = table.find_or_put(&nodes(part.iter().copied())).unwrap();
        mine.extend(part.iter().copied().zip(found));
    }
    table.settle();
    for (number, found) in &mine {
        assert_eq!(table.node(found.position).unwrap(), node(*number));
    }
    mine.sort_by_key(|&(number, _)| number);
    let words = |of: fn(&Found) -> u64| mine.iter().map(|(_, found)| of(found)).collect::<Vec<u64>>();
    let positions = fabric.all_gather(&words(|found| found.position.number().into())).unwrap();
    assert!(positions.iter().all(|others| *others == positions[0]), "ranks agree");
    assert_eq!(positions[0].iter().collect::<BTreeSet<_>>().len() as u64, below, "no two nodes share a position");
    let new = fabric.all_gather(&words(|found| found.new.into())).unwrap();
    let times = |number: usize| new.iter().map(|of_rank| of_rank[number]).sum::<u64>();
    assert!((0..below as usize).all(|number| times(number) == 1), "each was put once");
    fabric.barrier();
}

fn equal_nodes_of_one_batch_meet(mut table: impl NodeTable) {
    let found = table.find_or_put(&nodes([1, 2, 1, 1].into_iter())).unwrap();
    assert_eq!((found[0].position, found[0].position), (found[2].position, found[3].position));
    assert_ne!(found[0].position, found[1].position);
    assert!([0, 2, 3].into_iter().filter(|&at| found[at].new).count() <= 1, "at most one has put it");
    table.settle();
}

/// One rank fills the table; others work for it where that is needed.
fn full_is_a_value<F: Fabric>(fabric: &F, mut table: impl NodeTable) {
    if fabric.rank() == 0 {
        let room = 10 * fabric.ranks();
        let mut there: BTreeMap<Position, Node> = BTreeMap::new();
        let mut refused = 0;
        for one in nodes(0..20 * room as u64) {
            match table.find_or_put(&[one]) {
                Ok(found) => assert!(found[0].new && there.insert(found[0].position, one).is_none()),
                Err(Full) => refused += 1,
            }
        }
        assert!(refused > 0 && there.len() <= room, "{} of {room}", there.len());
        // Ranks that put their own nodes have no room for those of others.
        assert!(there.len() >= 10);
        // What is there is still found, also beside what is not.
        for (&position, &one) in &there {
            assert_eq!(table.find_or_put(&[one]), Ok(vec![Found { position, new: false }]));
        }
        assert_eq!(table.find_or_put(&nodes(0..20 * room as u64)), Err(Full));
    }
    table.settle();
    fabric.barrier();
}

fn requests_are_counted<F: Fabric>(fabric: &F, mut table: impl NodeTable) {
    assert_eq!(table.requests(), [0; 3]);
    if fabric.rank() == 0 {
        table.find_or_put(&nodes(0..1000)).unwrap();
        let first = table.requests();
        // Only a rank alone has nothing to ask others for.
        assert!(first[0] > 0 && (first[1] + first[2] > 0) == (fabric.ranks() > 1), "{first:?}");
        table.find_or_put(&nodes(0..1000)).unwrap();
        assert!(table.requests().iter().sum::<u64>() > first.iter().sum::<u64>());
    }
    table.settle();
    assert!(fabric.rank() == 0 || table.requests() == [0; 3], "what is done for others does not count");
    fabric.barrier();
}

fn tables_go_back_to_where_they_were<F: Fabric>(fabric: &F, mut table: impl NodeTable) {
    let (ranks, rank) = (fabric.ranks() as u64, fabric.rank() as u64);
    let mine = |from: u64| nodes((from..from + 50).map(|number| ranks * number + rank));
    let first = table.find_or_put(&mine(0)).unwrap();
    table.settle();
    fabric.barrier();
    let kept = table.checkpoint();
    fabric.barrier();
    for _ in 0..3 {
        assert!(table.find_or_put(&mine(1000)).unwrap().iter().all(|found| found.new));
        table.settle();
        fabric.barrier();
        table.restore(&kept);
        fabric.barrier();
        let again = table.find_or_put(&mine(0)).unwrap();
        assert!(again.iter().zip(&first).all(|(again, first)| again.position == first.position && !again.new));
    }
    table.settle();
    fabric.barrier();
}
