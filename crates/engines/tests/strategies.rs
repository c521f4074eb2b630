//! Every strategy against the reachable set that a model file carries, with collections forced.

use std::path::PathBuf;
use tremula_diagrams::{Attention, Budget, Error, Manager, Options};
use tremula_engines::{Observer, Order, Round, Strategy, SymbolicSystem, reach};
use tremula_models::{BddSystem, Limits, read_file};

const MODELS: [&str; 3] = ["beem/bakery.1.bdd", "beem/elevator_planning.1.bdd.gz", "beem/collision.1.bdd"];
/// Some strategies make less than a thousand nodes for these.
const TINY_MODELS: [&str; 3] = ["beem/phils.2.bdd", "promela/fair.bdd", "promela/first.bdd"];

fn model(name: &str) -> BddSystem {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name);
    read_file(&path, &Limits::default()).unwrap()
}

fn strategies() -> impl Iterator<Item = Strategy> {
    std::iter::once(Strategy::AUTO).chain(Strategy::ALL)
}

#[test]
fn all_strategies_end_with_the_stored_set() {
    let options = Options { stress: Some(100), lane_threshold: 100, lanes_always: true, ..Options::default() };
    end_with_the_stored_set(&TINY_MODELS, options);
    // Up to some hundred collections are enough.
    end_with_the_stored_set(&MODELS, Options { stress: Some(500), ..options });
}

#[test]
fn all_strategies_end_with_the_stored_set_on_several_workers() {
    for workers in [2, 4] {
        let options = Options { stress: Some(100), workers, worker_threshold: 10, ..Options::default() };
        end_with_the_stored_set(&TINY_MODELS, options);
        // Workers that wait for processors take long to meet.
        end_with_the_stored_set(&MODELS, Options { stress: Some(1000), ..options });
    }
}

fn end_with_the_stored_set(models: &[&str], options: Options) {
    for &name in models {
        let model = model(name);
        for strategy in strategies() {
            let manager = Manager::with_options(&Budget::new(64 << 20), options, Attention::default()).unwrap();
            let system = SymbolicSystem::build(&manager, &model).unwrap();
            let stored = system.stored_reachable(&model).unwrap().expect("legacy files carry the answer");
            let reached = reach(&system, strategy, &mut ()).map_err(|stopped| stopped.error).unwrap();
            assert!(reached.states == stored, "{name} with {strategy}");
            assert!(manager.counters().collections > 0, "{name} with {strategy} never collected");
            manager.check().unwrap();
        }
    }
}

#[test]
fn levels_are_those_of_breadth_first_search() {
    let model = model("beem/phils.2.bdd");
    for strategy in strategies() {
        let manager = Manager::new(&Budget::new(64 << 20)).unwrap();
        let system = SymbolicSystem::build(&manager, &model).unwrap();
        let reached = reach(&system, strategy, &mut ()).map_err(|stopped| stopped.error).unwrap();
        assert!(reached.levels.is_none_or(|levels| levels == 13), "{strategy}: {:?}", reached.levels);
    }
}

fn chosen_by_auto(name: &str) -> Order {
    let manager = Manager::new(&Budget::new(64 << 20)).unwrap();
    let system = SymbolicSystem::build(&manager, &model(name)).unwrap();
    reach(&system, Strategy::AUTO, &mut ()).map_err(|stopped| stopped.error).unwrap().strategy.order
}

#[test]
fn auto_saturates_where_relations_are_local() {
    assert_eq!(chosen_by_auto("beem/phils.2.bdd"), Order::Saturation);
    // Few relations that reach over most of the variables.
    assert_ne!(chosen_by_auto("beem/adding.1.bdd.gz"), Order::Saturation);
}

/// Cancels after a number of rounds.
struct Impatient {
    attention: Attention,
    rounds: u64,
}

impl Observer for Impatient {
    fn round(&mut self, round: &Round<'_>) {
        if round.number >= self.rounds {
            self.attention.cancel();
        }
    }
}

#[test]
fn a_stopped_run_keeps_a_lower_bound() {
    // In the second, auto is stopped while it races.
    for name in ["beem/bakery.1.bdd", "beem/adding.1.bdd.gz"] {
        let model = model(name);
        for workers in [1, 3] {
            strategies().for_each(|strategy| stop_after_three_rounds(&model, strategy, workers));
        }
    }
}

fn stop_after_three_rounds(model: &BddSystem, strategy: Strategy, workers: usize) {
    let attention = Attention::default();
    let options = Options { workers, worker_threshold: 1, ..Options::default() };
    let manager = Manager::with_options(&Budget::new(64 << 20), options, attention.clone()).unwrap();
    let system = SymbolicSystem::build(&manager, model).unwrap();
    let stored = system.stored_reachable(model).unwrap().expect("legacy files carry the answer");
    let mut observer = Impatient { attention: attention.clone(), rounds: 3 };
    let Err(stopped) = reach(&system, strategy, &mut observer) else { panic!("{strategy} did not stop") };
    attention.reset();
    assert_eq!(stopped.error, Error::Cancelled);
    assert!(stopped.states.minus(&stored).unwrap().is_false(), "{strategy} found an unreachable state");
    assert!(system.initial.minus(&stopped.states).unwrap().is_false(), "{strategy} lost the initial state");
    let by_level = matches!(stopped.strategy.order, Order::Bfs | Order::Par);
    assert_eq!(stopped.levels, by_level.then_some(stopped.rounds), "{strategy}");
}
