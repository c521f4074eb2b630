//! Models of lists: every strategy finds as many states as it should.
//!
//! The models of the collection beside the repository (or in `TREMULA_COLLECTION`) are explored if it is there; those that
//! take minutes with `TREMULA_ALL_MODELS` only.

use std::path::{Path, PathBuf};
use tremula_diagrams::{Attention, Budget, Error, Ldd, Manager, Options, Sizing};
use tremula_engines::{ListSystem, Observer, Round, Strategy, SymbolicSystem, reach};
use tremula_models::{LddSystem, Limits, read_file, read_ldd_file};

const SMALL: [(&str, &str); 3] = [("anderson.4", "29641"), ("blocks.2", "7057"), ("collision.4", "41465543")];

/// Models of the collection, their states, and whether they take long.
const COLLECTION: [(&str, &str, bool); 17] = [
    ("anderson.4", "29641", false),
    ("anderson.6", "18206917", true),
    ("anderson.8", "538699029", true),
    ("bakery.4", "157003", false),
    ("bakery.5", "7866401", true),
    ("bakery.6", "11845035", true),
    ("bakery.7", "29047471", true),
    ("blocks.2", "7057", false),
    ("blocks.3", "695418", true),
    ("blocks.4", "104906622", true),
    ("collision.4", "41465543", false),
    ("collision.5", "431965993", false),
    ("collision.6", "4680042040", true),
    ("lifts.6", "333649", false),
    ("lifts.7", "5126781", true),
    ("schedule_world.2", "1570340", false),
    ("schedule_world.3", "166649331", true),
];

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sylvan")
}

fn collection() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/models");
    std::env::var_os("TREMULA_COLLECTION").map_or_else(beside, PathBuf::from).join("sylvan")
}

fn load(folder: &Path, name: &str) -> LddSystem {
    let plain = folder.join(format!("{name}.ldd"));
    let path = if plain.exists() { plain } else { folder.join(format!("{name}.ldd.gz")) };
    read_ldd_file(&path, &Limits::default()).unwrap()
}

fn manager(options: Options, attention: &Attention) -> Manager {
    Manager::with_options(&Budget::new(1 << 30), options, attention.clone()).unwrap()
}

fn explore(model: &LddSystem, strategy: Strategy, options: Options) -> (Manager, String) {
    let manager = manager(options, &Attention::default());
    let system = ListSystem::build(&manager, model).unwrap();
    let reached = system.reach(strategy, &mut ()).map_err(|stopped| stopped.error).unwrap();
    (manager, reached.states.count().unwrap().to_string())
}

#[test]
fn all_strategies_count_alike() {
    for (name, states) in SMALL {
        let model = load(&testdata(), name);
        // Breadth first, larger models take long.
        for strategy in Strategy::ALL.into_iter().filter(|s| name != "collision.4" || s.to_string() == "saturation") {
            for workers in [1, 2] {
                let options = Options { workers, worker_threshold: 50, ..Options::default() };
                assert_eq!(explore(&model, strategy, options).1, states, "{name} {strategy} {workers}");
            }
        }
    }
}

#[test]
fn collections_lose_nothing() {
    let model = load(&testdata(), "blocks.2");
    for strategy in Strategy::ALL {
        for workers in [1, 2] {
            let options = Options { workers, worker_threshold: 10, stress: Some(500), ..Options::default() };
            let (manager, states) = explore(&model, strategy, options);
            assert_eq!(states, "7057", "{strategy} {workers}");
            assert!(manager.counters().collections > 0);
            manager.check().unwrap();
        }
    }
}

#[test]
fn whole_collection() {
    if !collection().exists() {
        eprintln!("no collection of models: skipped");
        return;
    }
    let all = std::env::var_os("TREMULA_ALL_MODELS").is_some();
    for (name, states, _) in COLLECTION.into_iter().filter(|&(.., long)| all || !long) {
        let model = load(&collection(), name);
        for workers in [1, 2] {
            let options = Options { workers, ..Options::default() };
            assert_eq!(explore(&model, "saturation".parse().unwrap(), options).1, states, "{name} {workers}");
        }
    }
}

/// The same model as binary diagrams and as lists.
#[test]
fn lists_and_binary_diagrams_agree() {
    for (name, file) in [("anderson.4", "anderson.4.bdd"), ("collision.4", "collision.4.bdd")] {
        let manager = manager(Options::default(), &Attention::default());
        let bits =
            SymbolicSystem::build(&manager, &read_file(&testdata().join(file), &Limits::default()).unwrap()).unwrap();
        let lists = ListSystem::build(&manager, &load(&testdata(), name)).unwrap();
        let binary = reach(&bits, "saturation".parse().unwrap(), &mut ()).map_err(|stopped| stopped.error).unwrap();
        let listed = lists.reach("saturation".parse().unwrap(), &mut ()).map_err(|stopped| stopped.error).unwrap();
        assert_eq!(binary.states.count(&bits.state_levels).unwrap(), listed.states.count().unwrap(), "{name}");
        manager.check().unwrap();
    }
}

/// Cancels after a number of rounds.
struct Impatient {
    attention: Attention,
    rounds: u64,
}

impl Observer<Ldd> for Impatient {
    fn round(&mut self, round: &Round<'_, Ldd>) {
        if round.number >= self.rounds {
            self.attention.cancel();
        }
    }
}

#[test]
fn a_stopped_run_keeps_a_lower_bound() {
    let model = load(&testdata(), "blocks.2");
    for strategy in Strategy::ALL {
        let attention = Attention::default();
        let manager = manager(Options::default(), &attention);
        let system = ListSystem::build(&manager, &model).unwrap();
        let all = system.reach(strategy, &mut ()).map_err(|stopped| stopped.error).unwrap().states;
        // What is known from the first run would let the second one end before it looks.
        manager.compact();
        let mut observer = Impatient { attention: attention.clone(), rounds: 2 };
        let Err(stopped) = system.reach(strategy, &mut observer) else { panic!("{strategy} did not stop") };
        attention.reset();
        assert_eq!(stopped.error, Error::Cancelled);
        assert!(stopped.states.minus(&all).unwrap().is_empty(), "{strategy} found an unreachable state");
        assert!(system.initial.minus(&stopped.states).unwrap().is_empty(), "{strategy} lost the initial state");
    }
}

#[test]
fn a_full_table_is_an_error() {
    let model = load(&testdata(), "collision.4");
    for workers in [1, 2] {
        let sizing = Sizing { node_limit: 1 << 12, ..Sizing::default() };
        let manager = manager(Options { workers, sizing, ..Options::default() }, &Attention::default());
        let system = ListSystem::build(&manager, &model).unwrap();
        let Err(stopped) = system.reach(Strategy::AUTO, &mut ()) else { panic!("it cannot fit") };
        assert_eq!(stopped.error, Error::TableFull);
        assert!(system.initial.minus(&stopped.states).unwrap().is_empty());
    }
}
