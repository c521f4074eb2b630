//! Tables that are too small: errors are values, handles stay valid, room comes back. And operations that are stopped.

mod common;

use common::{Random, Seed, Table, build, random_table, table};
use std::time::{Duration, Instant};
use tremula_diagrams::{Attention, Bdd, Budget, Error, ImportEdge, ImportNode, Manager, Options, SetupError, Sizing};

/// A manager with as little memory as it accepts, and a bit more.
fn tiny(extra: usize) -> Manager {
    let Err(SetupError::BudgetTooSmall { needed, .. }) = Manager::new(&Budget::new(0)) else {
        panic!("no memory at all must be too little");
    };
    Manager::new(&Budget::new(needed + extra)).unwrap()
}

/// A function's table, point by point: needs no memory, unlike an export.
fn values(variables: u32, f: &Bdd) -> Table {
    Table::from_points(variables, |point| f.eval(|level| point >> level & 1 != 0))
}

/// Random functions until there is no room for another.
fn fill(manager: &Manager, variables: u32, random: &mut Random) -> Vec<(Bdd, Table)> {
    let mut kept = Vec::new();
    loop {
        let expected = random_table(variables, random);
        match try_build(manager, &expected) {
            Ok(f) => kept.push((f, expected)),
            Err(e) => {
                assert_eq!(e, Error::TableFull);
                return kept;
            }
        }
        assert!(kept.len() < 100_000, "the table never fills up");
    }
}

/// A function from its table by operations, so that these meet the full table.
fn try_build(manager: &Manager, table: &Table) -> Result<Bdd, Error> {
    fn below(manager: &Manager, table: &Table, level: u32, point: usize) -> Result<Bdd, Error> {
        if level == table.variables {
            return Ok(manager.constant(table.value(point)));
        }
        let low = below(manager, table, level + 1, point)?;
        let high = below(manager, table, level + 1, point | 1 << level)?;
        manager.var(level)?.ite(&high, &low)
    }
    below(manager, table, 0, 0)
}

#[test]
fn too_small_a_budget_is_refused_with_the_need() {
    assert!(matches!(Manager::new(&Budget::new(1000)), Err(SetupError::BudgetTooSmall { available: 1000, .. })));
    assert_eq!(tiny(0).constant(true).as_constant(), Some(true));
}

#[test]
fn a_full_table_loses_nothing_and_recovers() {
    let seed = Seed(0xF011);
    let mut random = Random::new(seed.0);
    for extra in [0, 10_000, 100_000, 1_000_000] {
        let manager = tiny(extra);
        let budget = manager.budget();
        for _ in 0..3 {
            let mut kept = fill(&manager, 8, &mut random);
            assert!(kept.len() > 5);
            assert!(budget.used() <= budget.limit());
            manager.check().unwrap();
            kept.iter().for_each(|(f, expected)| assert_eq!(values(8, f), *expected));
            kept.truncate(kept.len() / 4);
            // With most handles gone there is room again, without anybody asking for a collection.
            for _ in 0..20 {
                let expected = random_table(8, &mut random);
                assert_eq!(try_build(&manager, &expected).unwrap(), build(&manager, &expected));
            }
            kept.iter().for_each(|(f, expected)| assert_eq!(values(8, f), *expected));
        }
        assert_eq!(manager.collect(), 0, "nothing is alive without handles");
    }
}

#[test]
fn every_operation_can_fail_and_be_tried_again() {
    operations_fail_and_are_tried_again(1);
}

#[test]
fn operations_of_several_workers_can_fail_too() {
    operations_fail_and_are_tried_again(4);
}

fn operations_fail_and_are_tried_again(workers: usize) {
    let seed = Seed(0xF012);
    let mut random = Random::new(seed.0);
    // A small start leaves room for the relation, before the table takes all.
    let sizing = Sizing { initial_nodes: 1 << 11, ..Sizing::default() };
    let options = Options { sizing, workers, worker_threshold: 1, ..Options::default() };
    let manager = Manager::with_options(&Budget::new(400_000), options, Attention::default()).unwrap();
    let [a, b, c] = [0; 3].map(|_| Table::from_points(10, |_| random.below(2) == 0));
    let [f, g, h] = [&a, &b, &c].map(|table| build(&manager, table));
    let (now, next): (Vec<u32>, Vec<u32>) = ((0..10).step_by(2).collect(), (1..10).step_by(2).collect());
    let relation = manager.relation(&g, &now.iter().copied().zip(next.iter().copied()).collect::<Vec<_>>()).unwrap();
    let (set, states) = (f.exists(&next).unwrap(), a.exists(&next));
    let turned: Vec<u32> = (0..10).rev().collect();
    let turn: Vec<(u32, u32)> = (0..10).zip(turned.iter().copied()).collect();
    let swapped: Vec<u32> = (0..10).map(|level| level ^ 1).collect();
    let import = || manager.import(unreduced(&c.xor(&a)), &[ImportEdge { node: 1023, complement: false }]);
    type Attempt<'a> = Box<dyn Fn() -> Result<Bdd, Error> + 'a>;
    let attempts: Vec<(&str, Attempt, Table)> = vec![
        ("and", Box::new(|| f.and(&g)), a.and(&b)),
        ("xor", Box::new(|| f.xor(&g)), a.xor(&b)),
        ("ite", Box::new(|| f.ite(&g, &h)), a.ite(&b, &c)),
        ("exists", Box::new(|| h.exists(&[4])), c.exists(&[4])),
        ("and_exists", Box::new(|| f.and_exists(&h, &[7])), a.and(&c).exists(&[7])),
        ("compose", Box::new(|| f.compose(3, &g)), a.compose(3, &b)),
        ("rename", Box::new(|| f.rename(&turn)), a.rename(&turned)),
        ("relnext", Box::new(|| set.relnext(&relation)), b.and(&states).exists(&now).rename(&swapped)),
        ("import", Box::new(|| Ok(import()?.remove(0))), c.xor(&a)),
    ];
    let mut refusals = 0;
    for (name, attempt, expected) in &attempts {
        let ballast = fill(&manager, 8, &mut random);
        match attempt() {
            Ok(result) => assert_eq!(values(10, &result), *expected, "{name} in a full table"),
            Err(e) => {
                assert_eq!(e, Error::TableFull, "{name}");
                refusals += 1;
            }
        }
        manager.check().unwrap();
        drop(ballast);
        assert_eq!(values(10, &attempt().unwrap()), *expected, "{name}, tried again");
        assert_eq!(values(10, &f), a);
    }
    assert!(refusals >= 7, "only {refusals} operations met the full table");
}

/// All nodes of the full decision tree of a table of ten variables, the root last.
fn unreduced(table: &Table) -> Vec<ImportNode> {
    let mut nodes: Vec<ImportNode> = Vec::new();
    let edge = |node: usize| ImportEdge { node: node as u32, complement: false };
    let leaf = |point: usize| ImportEdge { node: 0, complement: table.value(point) };
    let mut first_below = 0;
    for level in (0..10u32).rev() {
        let first = nodes.len();
        for path in 0..1usize << level {
            let child = |value: usize| match level {
                9 => leaf(path | value << 9),
                _ => edge(first_below + (path | value << level) + 1),
            };
            nodes.push(ImportNode { level, low: child(0), high: child(1) });
        }
        first_below = first;
    }
    nodes
}

#[test]
fn saving_and_counting_work_in_a_full_table() {
    let seed = Seed(0xF013);
    let mut random = Random::new(seed.0);
    let manager = tiny(200_000);
    let kept = fill(&manager, 8, &mut random);
    let (f, expected) = &kept[kept.len() / 2];
    let levels: Vec<u32> = (0..8).collect();
    assert_eq!(f.count(&levels).unwrap(), expected.count().into());
    let mut file = Vec::new();
    manager.save_compact(&[("f", f)], &[], &mut file).unwrap();
    let elsewhere = common::manager();
    let contents = elsewhere.load_compact(file.as_slice(), usize::MAX).unwrap();
    assert_eq!(table(8, contents.root("f").unwrap()), *expected);
}

#[test]
fn another_thread_can_stop_a_long_operation() {
    let attention = Attention::default();
    let sizing = Sizing { initial_nodes: 1 << 20, ..Sizing::default() };
    let options = Options { sizing, ..Options::default() };
    let manager = Manager::with_options(&Budget::new(1 << 30), options, attention.clone()).unwrap();
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        attention.cancel();
        Instant::now()
    });
    let f = manager.var(3).unwrap();
    let before = table(4, &f);
    let error = far_pairs(&manager, 40).unwrap_err();
    let stopped = Instant::now();
    assert_eq!(error, Error::Cancelled);
    let cancelled = canceller.join().unwrap();
    assert!(stopped.duration_since(cancelled) < Duration::from_secs(5), "it took too long to notice");
    manager.check().unwrap();
    assert_eq!(table(4, &f), before);
    // The request stays in force until it is withdrawn.
    assert_eq!(far_pairs(&manager, 5), Err(Error::Cancelled));
    manager.attention().reset();
    assert_eq!(far_pairs(&manager, 5).unwrap().node_count().unwrap(), 2 * ((1 << 5) - 1));
}

#[test]
fn an_operation_that_makes_no_nodes_can_be_stopped() {
    let manager = common::manager();
    let (pairs, last) = (17, 100);
    let f = far_pairs(&manager, pairs).unwrap();
    let elsewhere = manager.var(last).unwrap().minus(&f).unwrap();
    manager.attention().cancel();
    // The two are disjoint, so every step of their conjunction comes to false.
    assert_eq!(f.and(&elsewhere), Err(Error::Cancelled));
    manager.attention().reset();
    assert!(f.and(&elsewhere).unwrap().is_false());
}

/// A disjunction of pairs of variables that lie far apart: the diagram doubles with every pair, so with many of them the
/// last operations would go on for as long as there is memory.
fn far_pairs(manager: &Manager, bits: u32) -> Result<Bdd, Error> {
    let mut f = manager.constant(false);
    for bit in 0..bits {
        f = f.or(&manager.var(bit)?.and(&manager.var(bits + bit)?)?)?;
    }
    Ok(f)
}
