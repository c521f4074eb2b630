//! Processes of one host on one table find the same states as one process alone. Ranks that are threads stand for processes:
//! each has its own view of the table, and its own copy of the relations.

use std::path::PathBuf;
use tremula_diagrams::joint::{Follower, Leader, Setup};
use tremula_diagrams::{Attention, Counters, Error, Manager, Options};
use tremula_engines::{ListSystem, Strategy, SymbolicSystem, reach};
use tremula_fabric::{Fabric, threads};
use tremula_models::{BddSystem, Limits, read_file, read_ldd_file};

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

fn model(name: &str) -> BddSystem {
    read_file(&path(name), &Limits::default()).unwrap()
}

/// Collections after every so many nodes, and all workers for all but the smallest operations.
fn stressed(nodes: u64) -> Options {
    Options { stress: Some(nodes), worker_threshold: 10, ..Options::default() }
}

/// Run a program on rank 0 of so many.
fn lead<R: Send>(setup: Setup, attention: &Attention, program: impl Fn(&Manager) -> R + Sync) -> R {
    lead_and_watch(setup, attention, program).0
}

/// The same, and how many tasks the workers of other ranks have taken.
fn lead_and_watch<R: Send>(setup: Setup, attention: &Attention, program: impl Fn(&Manager) -> R + Sync) -> (R, u64) {
    let results = threads::run(setup.ranks, |fabric| {
        let segment = fabric.allocate(setup.words()).unwrap();
        let distance = |to| fabric.distance(to).unwrap();
        if fabric.rank() > 0 {
            fabric.barrier();
            let done = Follower::new(&setup, segment, fabric.rank(), distance).unwrap().wait();
            return (None, done.steals);
        }
        let leader = Leader::new(&setup, segment, distance).unwrap();
        fabric.barrier();
        let result = leader.run(attention.clone(), |manager| {
            let result = program(manager);
            (result, manager.stealing().expect("there are workers").gifts)
        });
        let (result, gifts) = result.unwrap();
        (Some(result), gifts)
    });
    let (results, taken): (Vec<_>, Vec<u64>) = results.expect("no rank is lost").into_iter().unzip();
    (results.into_iter().flatten().next().expect("rank 0 has a result"), taken.into_iter().sum())
}

/// States of a model, and the counters in the end.
fn states(model: &BddSystem, strategy: Strategy, setup: Setup) -> Result<(String, Counters), Error> {
    lead(setup, &Attention::default(), |manager| {
        let system = SymbolicSystem::build(manager, model)?;
        let reached = reach(&system, strategy, &mut ()).map_err(|stopped| stopped.error)?;
        if let Some(stored) = system.stored_reachable(model)? {
            assert!(reached.states == stored, "{strategy}");
        }
        manager.check().unwrap();
        Ok((reached.states.count(&system.state_levels)?.to_string(), manager.counters()))
    })
}

#[test]
fn all_strategies_end_with_the_stored_set() {
    for name in ["beem/phils.2.bdd", "beem/bakery.1.bdd"] {
        let model = model(name);
        for strategy in std::iter::once(Strategy::AUTO).chain(Strategy::ALL) {
            for (ranks, workers) in [(2, 1), (2, 2)] {
                let setup = Setup { ranks, workers, crowd: true, bytes: 64 << 20, options: stressed(100) };
                let (_, counters) = states(&model, strategy, setup).unwrap();
                assert!(counters.collections > 0, "{name} with {strategy} never collected");
            }
        }
    }
}

#[test]
fn copies_of_relations_are_charged() {
    let model = model("beem/bakery.1.bdd");
    let charged = |ranks| {
        let setup = Setup { ranks, workers: 1, crowd: true, bytes: 64 << 20, options: Options::default() };
        lead(setup, &Attention::default(), |manager| {
            let before = manager.budget().used();
            let system = SymbolicSystem::build(manager, &model).unwrap();
            let charged = manager.budget().used() - before;
            drop(system);
            charged
        })
    };
    let [two, three, four] = [2, 3, 4].map(charged);
    assert!(two < three && three - two == four - three, "as much for every process: {two}, {three}, {four}");
}

#[test]
fn tables_grow_for_all() {
    let model = model("beem/anderson.4.bdd.gz");
    let options = Options { worker_threshold: 10, ..Options::default() };
    let setup = Setup { ranks: 3, workers: 2, crowd: true, bytes: 64 << 20, options };
    let (count, counters) = states(&model, "par".parse().unwrap(), setup).unwrap();
    assert_eq!(count, "29641");
    assert!(counters.created > 1 << 16, "{counters:?}");
}

#[test]
fn lists_are_explored_too() {
    let model = read_ldd_file(&path("sylvan/anderson.4.ldd"), &Limits::default()).unwrap();
    for strategy in ["saturation", "par", "chaining"] {
        let setup = Setup { ranks: 2, workers: 2, crowd: true, bytes: 64 << 20, options: stressed(2000) };
        let count = lead(setup, &Attention::default(), |manager| {
            let system = ListSystem::build(manager, &model).unwrap();
            let reached = system.reach(strategy.parse().unwrap(), &mut ()).map_err(|stopped| stopped.error).unwrap();
            reached.states.count().unwrap().to_string()
        });
        assert_eq!(count, "29641", "{strategy}");
    }
}

/// With two workers in all, whatever the second one gets has come from another process.
#[test]
fn small_tasks_stay_in_their_process() {
    let model = model("beem/anderson.4.bdd.gz");
    for strategy in ["chaining", "par", "saturation"] {
        let taken = |least_far_levels| {
            let options = Options { worker_threshold: 10, least_far_levels, ..Options::default() };
            let setup = Setup { ranks: 2, workers: 1, crowd: true, bytes: 64 << 20, options };
            let (count, taken) = lead_and_watch(setup, &Attention::default(), |manager| {
                let system = SymbolicSystem::build(manager, &model).unwrap();
                let reached =
                    reach(&system, strategy.parse().unwrap(), &mut ()).map_err(|stopped| stopped.error).unwrap();
                reached.states.count(&system.state_levels).unwrap().to_string()
            });
            assert_eq!(count, "29641", "{strategy}, {least_far_levels}");
            taken
        };
        assert!(taken(0) > 0, "{strategy}");
        taken(20);
        // Trees of relations are large, whatever their levels.
        assert!(taken(u32::MAX) == 0 || strategy == "par", "{strategy}");
    }
}

#[test]
fn too_little_memory_is_an_error() {
    let model = model("beem/anderson.4.bdd.gz");
    let setup = Setup { ranks: 2, workers: 2, crowd: true, bytes: 300 << 10, options: Options::default() };
    assert_eq!(states(&model, "par".parse().unwrap(), setup).map(|found| found.0), Err(Error::TableFull));
}

#[test]
fn a_stop_reaches_all() {
    let model = model("beem/collision.4.bdd.gz");
    let setup = Setup { ranks: 2, workers: 2, crowd: true, bytes: 256 << 20, options: Options::default() };
    let attention = Attention::default();
    let stopper = {
        let attention = attention.clone();
        std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(300));
            attention.cancel();
        })
    };
    let outcome = lead(setup, &attention, |manager| {
        let system = SymbolicSystem::build(manager, &model)?;
        reach(&system, "bfs".parse().unwrap(), &mut ()).map(drop).map_err(|stopped| stopped.error)
    });
    assert_eq!(outcome, Err(Error::Cancelled));
    stopper.join().unwrap();
}
