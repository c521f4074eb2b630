//! Random sequences of operations on sets of vectors, against sets of the standard library.
//!
//! `TREMULA_LIST_SEQUENCES` sets the number of sequences.

mod common;

use common::{Random, Seed};
use std::collections::{BTreeMap, BTreeSet};
use tremula_diagrams::{Attention, Budget, ImportList, Ldd, ListRelation, Manager, Options, Sizing, Transitions};

type Set = BTreeSet<Vec<u32>>;

const POOL: usize = 6;
const STEPS: usize = 8;

fn sequences() -> usize {
    let variable = std::env::var("TREMULA_LIST_SEQUENCES");
    variable.map_or(10_000, |value| value.parse().expect("a number of sequences"))
}

/// Values that are near each other, and some at the ends of the range.
fn value(random: &mut Random) -> u32 {
    const ODD: [u32; 4] = [0, u32::MAX, u32::MAX - 1, 1 << 31];
    if random.below(10) == 0 { *random.pick(&ODD) } else { random.below(5) as u32 }
}

fn random_set(length: usize, random: &mut Random) -> Set {
    (0..random.below(12)).map(|_| (0..length).map(|_| value(random)).collect()).collect()
}

/// The nodes of a set of rows, bottom up, without any operation. A value of none is a copy node.
#[derive(Default)]
struct Nodes {
    nodes: Vec<ImportList>,
    known: BTreeMap<(u32, bool, u32, u32), u32>,
}

impl Nodes {
    fn make(&mut self, value: Option<u32>, down: u32, right: u32) -> u32 {
        let (copy, value) = (value.is_none(), value.unwrap_or(0));
        *self.known.entry((value, copy, down, right)).or_insert_with(|| {
            self.nodes.push(ImportList { value, copy, down, right });
            self.nodes.len() as u32 - 1 + ImportList::FIRST
        })
    }

    /// The set of `rows`, from their position `at` on.
    fn add(&mut self, rows: &BTreeSet<Vec<Option<u32>>>, at: usize) -> u32 {
        let Some(first) = rows.first() else { return 0 };
        if at == first.len() {
            return 1;
        }
        let mut by_value: BTreeMap<Option<u32>, BTreeSet<Vec<Option<u32>>>> = BTreeMap::new();
        for row in rows {
            by_value.entry(row[at]).or_default().insert(row.clone());
        }
        by_value.into_iter().rev().fold(0, |right, (value, rows)| {
            let down = self.add(&rows, at + 1);
            self.make(value, down, right)
        })
    }
}

fn import(manager: &Manager, set: &Set) -> Ldd {
    let mut nodes = Nodes::default();
    let rows = set.iter().map(|vector| vector.iter().copied().map(Some).collect()).collect();
    let root = nodes.add(&rows, 0);
    manager.import_lists(&nodes.nodes, &[root]).unwrap().remove(0)
}

/// A relation as rows of values read and written; none copies the value before.
#[derive(Clone, Debug)]
struct Relation {
    reads: Vec<u32>,
    writes: Vec<u32>,
    rows: BTreeSet<Vec<Option<u32>>>,
}

impl Relation {
    fn random(length: usize, random: &mut Random) -> Relation {
        let (reads, writes) = (random.levels(length as u32), random.levels(length as u32));
        let mut rows = BTreeSet::new();
        for _ in 0..random.below(6) {
            let mut row = Vec::new();
            for level in 0..length as u32 {
                if reads.contains(&level) {
                    row.push(Some(value(random)));
                }
                if writes.contains(&level) {
                    row.push((random.below(3) > 0).then(|| value(random)));
                }
            }
            // The label of the action.
            row.push(Some(random.below(2) as u32));
            rows.insert(row);
        }
        Relation { reads, writes, rows }
    }

    fn build(&self, manager: &Manager, length: usize) -> ListRelation {
        let mut nodes = Nodes::default();
        let root = nodes.add(&self.rows, 0);
        let (reads, writes) = (&self.reads[..], &self.writes[..]);
        let length = length as u32;
        manager.list_relation(Transitions { nodes: &nodes.nodes, root, length, reads, writes }).unwrap()
    }

    /// The successor of a vector by one row.
    fn apply(&self, row: &[Option<u32>], vector: &[u32]) -> Option<Vec<u32>> {
        let mut cells = row.iter();
        let mut next = vector.to_vec();
        for (level, &before) in vector.iter().enumerate() {
            let level = level as u32;
            if self.reads.contains(&level) && *cells.next()? != Some(before) {
                return None;
            }
            if self.writes.contains(&level) {
                next[level as usize] = cells.next()?.unwrap_or(before);
            }
        }
        Some(next)
    }

    fn next(&self, set: &Set) -> Set {
        set.iter().flat_map(|vector| self.rows.iter().filter_map(|row| self.apply(row, vector))).collect()
    }

    fn previous(&self, set: &Set, universe: &Set) -> Set {
        let leads = |vector: &Vec<u32>| {
            self.rows.iter().any(|row| self.apply(row, vector).is_some_and(|next| set.contains(&next)))
        };
        universe.iter().filter(|vector| leads(vector)).cloned().collect()
    }
}

fn reachable(relations: &[Relation], mut set: Set) -> Set {
    loop {
        let next: Set = relations.iter().flat_map(|relation| relation.next(&set)).collect();
        let before = set.len();
        set.extend(next);
        if set.len() == before {
            return set;
        }
    }
}

fn projection(vector: &[u32], levels: &[u32]) -> Vec<u32> {
    levels.iter().map(|&level| vector[level as usize]).collect()
}

/// A manager, a pool of sets in it, and what they must be.
struct Sequence {
    manager: Manager,
    length: usize,
    relations: Vec<(Relation, ListRelation)>,
    pool: Vec<(Ldd, Set)>,
}

impl Sequence {
    fn new(manager: &Manager, random: &mut Random) -> Sequence {
        let length = 1 + random.below(5);
        let relations = (0..1 + random.below(4))
            .map(|_| {
                let relation = Relation::random(length, random);
                let built = relation.build(manager, length);
                (relation, built)
            })
            .collect();
        let mut sequence = Sequence { manager: manager.clone(), length, relations, pool: Vec::new() };
        for _ in 0..POOL {
            let set = random_set(length, random);
            sequence.pool.push((import(manager, &set), set));
        }
        sequence
    }

    fn step(&self, random: &mut Random) -> (&'static str, Ldd, Set) {
        let [(a, x), (b, y)] = [0; 2].map(|_| random.pick(&self.pool));
        let (relation, built) = random.pick(&self.relations);
        let all: Vec<ListRelation> = self.relations.iter().map(|(_, built)| built.clone()).collect();
        let plain: Vec<Relation> = self.relations.iter().map(|(relation, _)| relation.clone()).collect();
        let levels = random.levels(self.length as u32);
        match random.below(12) {
            0 | 1 => ("union", a.union(b).unwrap(), x | y),
            2 => ("intersection", a.intersection(b).unwrap(), x & y),
            3 | 4 => ("minus", a.minus(b).unwrap(), x - y),
            5 => ("next", a.relnext(built).unwrap(), relation.next(x)),
            6 => ("previous", a.relprev(built, b).unwrap(), relation.previous(x, y)),
            7 => {
                let bundle = self.manager.list_bundle(&all).unwrap();
                let next = plain.iter().flat_map(|relation| relation.next(x)).collect();
                ("next of all", a.relnext_all(&bundle).unwrap(), next)
            }
            8 => {
                let tree = self.manager.list_tree(&all).unwrap();
                let next: Set = plain.iter().flat_map(|relation| relation.next(x)).collect();
                ("new", a.relnext_new(&tree, b).unwrap(), &next - y)
            }
            9 => {
                let among: Set = y.iter().map(|vector| projection(vector, &levels)).collect();
                let matching = x.iter().filter(|vector| among.contains(&projection(vector, &levels)));
                let projected = b.project(&levels).unwrap();
                assert_eq!(projected.vectors().collect::<Vec<_>>(), among.iter().cloned().collect::<Vec<_>>());
                ("matching", a.matching(&levels, &projected).unwrap(), matching.cloned().collect())
            }
            10 => {
                let bundle = self.manager.list_bundle(&all).unwrap();
                let from = random.below(self.length + 1) as u32;
                let counted: Vec<Relation> = self
                    .relations
                    .iter()
                    .filter(|(_, built)| built.level().is_some_and(|level| level >= from))
                    .map(|(relation, _)| relation.clone())
                    .collect();
                ("saturate", a.saturate(&bundle, from).unwrap(), reachable(&counted, x.clone()))
            }
            _ => {
                let set = random_set(self.length, random);
                ("import", import(&self.manager, &set), set)
            }
        }
    }

    fn run(&mut self, random: &mut Random) {
        for number in 0..STEPS {
            let (what, set, expected) = self.step(random);
            let context =
                || format!("step {number}, {what}; {:?}", self.relations.iter().map(|r| &r.0).collect::<Vec<_>>());
            assert_eq!(set.count().unwrap(), expected.len().into(), "{}", context());
            assert!(set.vectors().eq(expected.iter().cloned()), "{}", context());
            assert_eq!(import(&self.manager, &expected), set, "{}", context());
            assert!(expected.iter().all(|vector| set.contains(vector)));
            let other: Vec<u32> = (0..self.length).map(|_| value(random)).collect();
            assert_eq!(set.contains(&other), expected.contains(&other));
            // Large sets take long to compare, and say no more.
            if expected.len() < 500 {
                self.pool[random.below(POOL)] = (set, expected);
            }
        }
    }
}

fn manager(options: Options) -> Manager {
    let sizing = Sizing { initial_nodes: 1 << 10, eager_nodes: 1 << 12, ..Sizing::default() };
    Manager::with_options(&Budget::new(64 << 20), Options { sizing, ..options }, Attention::default()).unwrap()
}

/// So many sequences, with new tables every thousand.
fn run(count: usize, seed: u64, options: Options) {
    for start in (0..count).step_by(1000) {
        let manager = manager(options);
        for number in start..count.min(start + 1000) {
            let seed = Seed(seed << 32 | number as u64);
            let mut random = Random::new(seed.0);
            Sequence::new(&manager, &mut random).run(&mut random);
            match number % 100 {
                0 => drop(manager.collect()),
                50 => manager.compact(),
                99 => manager.check().unwrap(),
                _ => {}
            }
        }
    }
}

#[test]
fn sequences_against_standard_sets() {
    run(sequences(), 1, Options::default());
}

#[test]
fn sequences_with_collections() {
    run(sequences() / 10, 2, Options { stress: Some(1), ..Options::default() });
    run(sequences() / 10, 3, Options { stress: Some(50), ..Options::default() });
}

#[test]
fn sequences_in_lanes() {
    let options = Options { stress: Some(20), lanes: 4, lane_threshold: 1, lanes_always: true, ..Options::default() };
    run(sequences() / 10, 4, options);
}

#[test]
fn sequences_on_several_workers() {
    for workers in [2, 4] {
        let options = Options { stress: Some(20), workers, worker_threshold: 1, ..Options::default() };
        run(sequences() / 50, 5 + workers as u64, options);
    }
}
