//! Multi-valued diagrams against explicit sets of vectors.

mod common;

use common::{Random, Seed};
use std::collections::BTreeSet;
use tremula_diagrams::mdd::{Change, Event, Mdd, MddManager, MddOptions, Saturation, Saturator, Survey};
use tremula_diagrams::{Attention, Budget, Error};

type Vectors = BTreeSet<Vec<u32>>;

/// Random vectors and events.
struct Numbers(Random);

impl Numbers {
    fn new(seed: u64) -> Numbers {
        Numbers(Random::new(seed))
    }

    fn below(&mut self, bound: u32) -> u32 {
        self.0.below(bound as usize) as u32
    }

    fn vector(&mut self, levels: usize, bound: u32) -> Vec<u32> {
        (0..levels).map(|_| self.below(bound)).collect()
    }

    fn vectors(&mut self, levels: usize, bound: u32, most: u32) -> Vectors {
        (0..self.below(most)).map(|_| self.vector(levels, bound)).collect()
    }

    /// Changes that keep the sum of all values, so that what they lead to is finite, and one that may lower it.
    fn changes(&mut self, levels: usize) -> Vec<Change> {
        let mut deltas = vec![0_i64; levels];
        for _ in 0..1 + self.below(2) {
            deltas[self.below(levels as u32) as usize] -= 1;
            if self.below(8) > 0 {
                deltas[self.below(levels as u32) as usize] += 1;
            }
        }
        let mut changes = Vec::new();
        for (level, delta) in deltas.into_iter().enumerate() {
            let tested = self.below(6) == 0;
            if delta != 0 || tested {
                let least = (-delta).max(0) as u32 + u32::from(tested);
                let most = if self.below(5) == 0 { least + self.below(3) } else { u32::MAX };
                changes.push(Change { level: level as u32, least, most, delta });
            }
        }
        changes
    }
}

fn manager(levels: usize, stress: Option<u64>) -> MddManager {
    let options = MddOptions { initial: 1 << 10, stress, ..Default::default() };
    MddManager::new(levels, &Budget::new(64 << 20), options, Attention::default()).unwrap()
}

fn symbolic(manager: &MddManager, vectors: &Vectors) -> Mdd {
    vectors.iter().fold(manager.empty(), |set, vector| set.union(&manager.vector(vector).unwrap()).unwrap())
}

fn explicit(set: &Mdd) -> Vectors {
    set.vectors().collect()
}

fn successor(vector: &[u32], changes: &[Change]) -> Option<Vec<u32>> {
    let mut after = vector.to_vec();
    for change in changes {
        let value = &mut after[change.level as usize];
        if *value < change.least || *value > change.most {
            return None;
        }
        *value = (i64::from(*value) + change.delta) as u32;
    }
    Some(after)
}

fn explored(start: &Vectors, events: &[Vec<Change>]) -> Vectors {
    let mut known = start.clone();
    let mut waiting: Vec<Vec<u32>> = start.iter().cloned().collect();
    while let Some(vector) = waiting.pop() {
        for after in events.iter().filter_map(|changes| successor(&vector, changes)) {
            if known.insert(after.clone()) {
                waiting.push(after);
            }
        }
    }
    known
}

#[test]
fn sets_are_sets_of_vectors() {
    for seed in 0..300 {
        let mut numbers = Numbers::new(seed);
        let levels = 1 + numbers.below(5) as usize;
        let manager = manager(levels, (seed % 2 == 0).then_some(3));
        let bound = 1 + numbers.below(6);
        let (a, b) = (numbers.vectors(levels, bound, 40), numbers.vectors(levels, bound, 40));
        let (x, y) = (symbolic(&manager, &a), symbolic(&manager, &b));
        assert_eq!(explicit(&x), a, "seed {seed}");
        assert_eq!(explicit(&x.union(&y).unwrap()), a.union(&b).cloned().collect(), "seed {seed}");
        assert_eq!(explicit(&x.intersection(&y).unwrap()), a.intersection(&b).cloned().collect(), "seed {seed}");
        assert_eq!(explicit(&x.minus(&y).unwrap()), a.difference(&b).cloned().collect(), "seed {seed}");
        assert_eq!(x.count().unwrap().to_string(), a.len().to_string());
        assert_eq!(x.union(&y).unwrap(), symbolic(&manager, &a.union(&b).cloned().collect()));
        let vector = numbers.vector(levels, bound);
        assert_eq!(x.contains(&vector), a.contains(&vector));
        let sum = |vector: &Vec<u32>| vector.iter().map(|&value| u128::from(value)).sum::<u128>();
        let greatest = (0..levels).map(|level| a.iter().map(|vector| vector[level]).max().unwrap_or(0));
        let look = |survey: &Survey<'_>| {
            assert_eq!(survey.vectors().to_string(), a.len().to_string());
            assert_eq!(survey.greatest_sum(), a.iter().map(sum).max());
            assert_eq!(survey.greatest_values(), greatest.collect::<Vec<_>>());
        };
        x.survey(|_, value| value.into(), look).unwrap();
    }
}

/// The vector with zeros everywhere but at `levels`.
fn projection(vector: &[u32], levels: &[u32]) -> Vec<u32> {
    let kept = |(level, &value): (usize, &u32)| if levels.contains(&(level as u32)) { value } else { 0 };
    vector.iter().enumerate().map(kept).collect()
}

/// One random operation on sets, and what it must give.
fn step(manager: &MddManager, numbers: &mut Numbers, pool: &[(Mdd, Vectors)]) -> (String, Mdd, Vectors) {
    let levels = manager.levels();
    let [(a, x), (b, y)] = [0; 2].map(|_| numbers.0.pick(pool));
    let mut kept = numbers.0.permutation(levels as u32);
    kept.truncate(numbers.below(levels as u32 + 1) as usize);
    let all = |vectors: &Vectors| -> Vectors { vectors.iter().map(|vector| projection(vector, &kept)).collect() };
    let matching =
        |among: &Vectors| x.iter().filter(|vector| among.contains(&projection(vector, &kept))).cloned().collect();
    match numbers.below(8) {
        0 => ("union".to_owned(), a.union(b).unwrap(), x | y),
        1 => ("intersection".to_owned(), a.intersection(b).unwrap(), x & y),
        2 => ("minus".to_owned(), a.minus(b).unwrap(), x - y),
        3 => (format!("projection on {kept:?}"), a.project(&kept).unwrap(), all(x)),
        4 => {
            let among = b.project(&kept).unwrap();
            (format!("matching a projection on {kept:?}"), a.matching(&kept, &among).unwrap(), matching(&all(y)))
        }
        5 => (format!("matching on {kept:?}"), a.matching(&kept, b).unwrap(), matching(y)),
        6 => {
            let changes = numbers.changes(levels);
            let after = x.iter().filter_map(|vector| successor(vector, &changes)).collect();
            (format!("{changes:?}"), a.fire(manager.event(&changes).unwrap()).unwrap(), after)
        }
        _ => {
            let bound = 1 + numbers.below(5);
            let vectors = numbers.vectors(levels, bound, 60);
            ("new vectors".to_owned(), symbolic(manager, &vectors), vectors)
        }
    }
}

#[test]
fn sequences_with_projections() {
    let mut collections = 0;
    for seed in 0..1000 {
        let seed = Seed(3000 + seed);
        let mut numbers = Numbers::new(seed.0);
        let levels = 1 + numbers.below(6) as usize;
        let manager = manager(levels, [None, Some(1), Some(3), Some(50)][seed.0 as usize % 4]);
        let mut pool = vec![(manager.empty(), Vectors::new()); 6];
        for number in 0..30 {
            let (what, set, expected) = step(&manager, &mut numbers, &pool);
            assert_eq!(explicit(&set), expected, "step {number}, {what}");
            assert_eq!(set, symbolic(&manager, &expected), "step {number}, {what}");
            let place = numbers.0.below(pool.len());
            pool[place] = (set, expected);
        }
        collections += manager.counters().collections;
    }
    assert!(collections > 5_000, "{collections}");
}

#[test]
fn projections_know_their_levels() {
    let manager = manager(3, None);
    let set = manager.vector(&[5, 6, 7]).unwrap();
    assert_eq!(set.project(&[2, 0, 2]).unwrap(), manager.vector(&[5, 0, 7]).unwrap());
    assert_eq!(set.project(&[0, 1, 2]).unwrap(), set);
    assert_eq!(set.project(&[]).unwrap(), manager.vector(&[0, 0, 0]).unwrap());
    assert_eq!(set.project(&[0, 3]), Err(Error::LevelTooLarge { level: 3 }));
    assert_eq!(set.matching(&[3], &set), Err(Error::LevelTooLarge { level: 3 }));
    assert!(set.matching(&[0], &set).unwrap().is_empty(), "its projection has zeros where this has not");
    let elsewhere = self::manager(3, None).empty();
    assert_eq!(set.matching(&[0], &elsewhere), Err(Error::DifferentManagers));
    let nothing = self::manager(0, None);
    let only = nothing.vector(&[]).unwrap();
    assert_eq!((only.project(&[]).unwrap(), only.matching(&[], &only).unwrap()), (only.clone(), only.clone()));
}

#[test]
fn pictures_show_every_node_and_edge() {
    let manager = manager(3, None);
    let dot = |set: &Mdd| {
        let mut dot = Vec::new();
        set.write_dot(&|level| format!("p\"{level}\""), &mut dot).unwrap();
        String::from_utf8(dot).unwrap()
    };
    let vectors = Vectors::from([vec![0, 4, 1], vec![2, 4, 1], vec![2, 9, 1], vec![2, 9, 3]]);
    let set = symbolic(&manager, &vectors);
    let expected = r#"digraph mdd {
  node [shape=record, fontname="sans-serif", fontsize=11, height=0.3, width=0.3];
  edge [arrowsize=0.7];
  end [shape=point];
  l0 [shape=plaintext, fontcolor=gray40, label="p\"0\""];
  l0 -> l1 [style=invis];
  { rank=same; l0; n0; }
  n0 [label="<b0> 0 | <b1> 2"];
  n0:b0 -> n1;
  n0:b1 -> n2;
  l1 [shape=plaintext, fontcolor=gray40, label="p\"1\""];
  l1 -> l2 [style=invis];
  { rank=same; l1; n1; n2; }
  n1 [label="<b0> 4"];
  n1:b0 -> n3;
  n2 [label="<b0> 4 | <b1> 9"];
  n2:b0 -> n3;
  n2:b1 -> n4;
  l2 [shape=plaintext, fontcolor=gray40, label="p\"2\""];
  l2 -> end [style=invis];
  { rank=same; l2; n3; n4; }
  n3 [label="<b0> 1"];
  n3:b0 -> end;
  n4 [label="<b0> 1 | <b1> 3"];
  n4:b0 -> end;
  n4:b1 -> end;
}
"#;
    assert_eq!(dot(&set), expected);
    assert!(!dot(&manager.empty()).contains("end"), "the empty set has no node at all");
    assert!(dot(&self::manager(0, None).vector(&[]).unwrap()).contains("end [shape=point]"));
}

#[test]
fn events_do_to_sets_what_they_do_to_vectors() {
    for seed in 0..300 {
        let mut numbers = Numbers::new(1000 + seed);
        let levels = 1 + numbers.below(5) as usize;
        let manager = manager(levels, (seed % 2 == 0).then_some(3));
        let vectors = numbers.vectors(levels, 4, 60);
        let set = symbolic(&manager, &vectors);
        let all: Vec<Vec<Change>> = (0..4).map(|_| numbers.changes(levels)).collect();
        let events: Vec<Event> = all.iter().map(|changes| manager.event(changes).unwrap()).collect();
        let mut possible = 0;
        for (changes, &event) in all.iter().zip(&events) {
            let after: Vectors = vectors.iter().filter_map(|vector| successor(vector, changes)).collect();
            let image = set.fire(event).unwrap();
            assert_eq!(explicit(&image), after, "seed {seed} {changes:?}");
            let able = |vector: &&Vec<u32>| successor(vector, changes).is_some();
            possible += vectors.iter().filter(able).count();
            let disabled: Vectors = vectors.iter().filter(|vector| !able(vector)).cloned().collect();
            assert_eq!(explicit(&set.disabled(event).unwrap()), disabled, "seed {seed} {changes:?}");
            let before = image.fire(manager.reversed(event).unwrap().expect("values are small")).unwrap();
            assert_eq!(explicit(&before), vectors.iter().filter(able).cloned().collect(), "seed {seed} {changes:?}");
        }
        assert_eq!(set.count_possible(&events).unwrap().to_string(), possible.to_string(), "seed {seed}");
    }
}

#[test]
fn closures_are_what_exploration_finds() {
    for seed in 0..400 {
        let mut numbers = Numbers::new(2000 + seed);
        let levels = 1 + numbers.below(6) as usize;
        let manager = manager(levels, (seed % 2 == 0).then_some(17));
        let start = numbers.vectors(levels, 4, 4);
        let all: Vec<Vec<Change>> = (0..1 + numbers.below(8)).map(|_| numbers.changes(levels)).collect();
        let events: Vec<Event> = all.iter().map(|changes| manager.event(changes).unwrap()).collect();
        let expected = explored(&start, &all);
        let set = symbolic(&manager, &start);
        for early in [false, true] {
            let closed = set.closure(&events, Saturation { early }).unwrap();
            assert_eq!(explicit(&closed), expected, "seed {seed} early {early}");
            let fewer = set.closure(&events[1..], Saturation { early }).unwrap();
            assert_eq!(explicit(&fewer), explored(&start, &all[1..]), "seed {seed} early {early}");
        }
    }
}

#[test]
fn saturation_goes_on_where_it_was_interrupted() {
    let levels = 8;
    let manager = manager(levels, None);
    let mut numbers = Numbers::new(77);
    let all: Vec<Vec<Change>> = (0..12).map(|_| numbers.changes(levels)).collect();
    let events: Vec<Event> = all.iter().map(|changes| manager.event(changes).unwrap()).collect();
    let start = vec![2; levels];
    let expected = explored(&Vectors::from([start.clone()]), &all);
    let mut saturator = Saturator::new(&manager, &start, &events, Saturation { early: true });
    let mut tries = 0;
    let closed = loop {
        manager.set_fuel(Some(100 << tries));
        tries += 1;
        match saturator.run() {
            Ok(closed) => break closed,
            Err(error) => assert_eq!(error, Error::OutOfFuel),
        }
        manager.set_fuel(None);
        assert!(explicit(&saturator.so_far().unwrap()).is_subset(&expected));
    };
    manager.set_fuel(None);
    assert!(tries > 3, "{tries}");
    assert_eq!(saturator.levels_done(), levels);
    assert_eq!(explicit(&closed), expected);
    assert_eq!(saturator.so_far().unwrap(), closed);
}

#[test]
fn large_numbers_are_counted_exactly() {
    // 10^36 fits into 128 bits with its pairs, 10^37 and 10^38 without them, 10^39 does not.
    for levels in [36, 37, 38, 39, 200] {
        let manager = manager(levels, None);
        let events: Vec<Event> = (0..levels as u32)
            .map(|level| manager.event(&[Change { level, least: 0, most: 8, delta: 1 }]).unwrap())
            .collect();
        let all = manager.vector(&vec![0; levels]).unwrap().closure(&events, Saturation::default()).unwrap();
        assert_eq!(all.node_count().unwrap(), levels);
        assert_eq!(all.count().unwrap().to_string(), format!("1{}", "0".repeat(levels)));
        // Each event is possible in nine tenths of the vectors.
        let possible = format!("{}{}", 9 * levels, "0".repeat(levels - 1));
        assert_eq!(all.count_possible(&events).unwrap().to_string(), possible);
    }
}

#[test]
fn limits_are_errors_and_leave_sets_as_they_were() {
    let budget = Budget::new(150_000);
    let manager = MddManager::new(8, &budget, MddOptions::default(), Attention::default()).unwrap();
    let events: Vec<Event> = (0..7)
        .map(|level| {
            let take = Change { level, least: 1, most: u32::MAX, delta: -1 };
            manager.event(&[take, Change { level: level + 1, least: 0, most: u32::MAX, delta: 1 }]).unwrap()
        })
        .collect();
    let start = manager.vector(&[3000, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    assert_eq!(start.closure(&events, Saturation::default()), Err(Error::TableFull));
    assert_eq!(explicit(&start).len(), 1);
    let up = manager.event(&[Change { level: 3, least: 0, most: u32::MAX, delta: 1 << 30 }]).unwrap();
    assert_eq!(start.closure(&[up], Saturation::default()), Err(Error::ValueTooLarge { level: 3 }));
    assert!(budget.peak() <= 150_000);
}

#[test]
fn deep_diagrams_do_not_overflow_the_stack() {
    let levels = 100_000;
    let manager = manager(levels, None);
    let swap = |level: u32| {
        let take = Change { level, least: 1, most: u32::MAX, delta: -1 };
        manager.event(&[take, Change { level: levels as u32 - 1, least: 0, most: u32::MAX, delta: 1 }]).unwrap()
    };
    let events = [swap(0), swap(1), swap(levels as u32 / 2)];
    let mut start = vec![0; levels];
    (start[0], start[1], start[levels / 2]) = (1, 1, 1);
    for early in [false, true] {
        let reached = manager.vector(&start).unwrap().closure(&events, Saturation { early }).unwrap();
        assert_eq!(reached.count().unwrap().to_string(), "8");
        let kept = [0, levels as u32 - 1];
        let projected = reached.project(&kept).unwrap();
        assert_eq!(projected.count().unwrap().to_string(), "6");
        assert_eq!(reached.matching(&kept, &projected).unwrap(), reached);
        assert_eq!(projected.project(&[0]).unwrap().count().unwrap().to_string(), "2");
    }
}
