//! Every model of the repository with every strategy: the expected numbers, exactly.
//!
//! A run that does not finish in time still has to end properly, with a lower bound that is one. The time allowed for
//! one run is `TREMULA_TEST_SECONDS`, by default short enough for the largest models not to finish.

mod common;

use common::{Expected, at_most, code, exit, expected, json, model, run};

/// States of the models that are small enough for slow modes.
const SMALL_MODEL: &str = "30000";

/// Models that take longer than a test has time for, unless they are saturated.
const LONG_MODELS: [&str; 10] = [
    "beem/collision.4",
    "beem/lamport.5",
    "beem/schedule_world.2",
    "petri-bdd/Kanban-10",
    "petri-bdd/RAS-C-50",
    "petri-bdd/cs_repetitions-3",
    "sylvan/collision.4",
    "sylvan/lifts.6",
    "sylvan/schedule_world.2",
    "sylvan/schedule_world.3",
];

/// The time for one run: no more than it takes to see that it ends properly, where there will be no answer.
fn seconds(path: &str, strategy: &str) -> String {
    let saturates = ["auto", "saturation"].contains(&strategy);
    let is_long = LONG_MODELS.iter().any(|model| path.starts_with(model)) && !saturates;
    let usual = if is_long { "0.3" } else { "2" };
    std::env::var("TREMULA_TEST_SECONDS").unwrap_or_else(|_| usual.to_owned())
}

/// Explore and check; was there an answer?
fn explore(expected: &Expected, strategy: &str, more: &[&str]) -> bool {
    let (path, seconds) = (model(&expected.path), seconds(&expected.path, strategy));
    let args = [&["reach", &path, "--json", "--strategy", strategy, "--timeout", &seconds], more].concat();
    let output = run(&args);
    let value = json(&output);
    if code(&output) == exit::LIMIT {
        let bound = value["states"].as_str().unwrap_or("0");
        assert!(at_most(bound, &expected.states), "{args:?}: {value}");
        assert_eq!(value["verdict"], "unknown", "{args:?}");
        let reason = value["reason"].as_str().expect("a reason");
        assert!(!reason.contains("cut off while exploring"), "{args:?}: workers do not react: {reason}");
        return false;
    }
    assert_eq!(code(&output), exit::COMPLETE, "{args:?}: {output:?}");
    assert_eq!(value["states"], expected.states.as_str(), "{args:?}");
    if let Some(nodes) = expected.nodes {
        assert_eq!(value["nodes"], nodes, "{args:?}");
    }
    if let (Some(found), Some(levels)) = (value["levels"].as_u64(), expected.levels) {
        assert_eq!(found, levels, "{args:?}");
    }
    true
}

fn all_models(strategy: &str) {
    let models = expected();
    let unfinished: Vec<&str> =
        models.iter().filter(|model| !explore(model, strategy, &[])).map(|model| model.path.as_str()).collect();
    println!("{strategy}: {} of {} complete, not {unfinished:?}", models.len() - unfinished.len(), models.len());
    assert!(unfinished.len() * 2 < models.len(), "{unfinished:?}");
}

#[test]
fn auto() {
    all_models("auto");
}

#[test]
fn saturation() {
    all_models("saturation");
}

#[test]
fn bfs() {
    all_models("bfs");
}

#[test]
fn par() {
    all_models("par");
}

#[test]
fn chaining() {
    all_models("chaining");
}

#[test]
fn bfs_full() {
    all_models("bfs-full");
}

#[test]
fn par_full() {
    all_models("par-full");
}

#[test]
fn chaining_full() {
    all_models("chaining-full");
}

/// The small models, with `more` arguments, for strategies that work in four different ways.
fn small_models(more: &[&str]) {
    let (mut complete, mut runs) = (0, 0);
    for model in expected().iter().filter(|model| at_most(&model.states, SMALL_MODEL)) {
        for strategy in ["bfs", "par", "chaining", "saturation"] {
            runs += 1;
            complete += usize::from(explore(model, strategy, more));
        }
    }
    println!("{more:?}: {complete} of {runs} runs complete");
    assert!(complete >= 15, "only {complete} complete");
}

#[test]
fn with_a_collection_at_every_thousandth_node() {
    small_models(&["--stress", "1000"]);
}

#[test]
fn with_little_memory() {
    small_models(&["--mem", "3M"]);
}

#[test]
fn on_several_workers_with_collections() {
    small_models(&["--workers", "4", "--tune", "worker-threshold=20", "--stress", "1000"]);
}

#[test]
fn on_several_workers_with_little_memory() {
    small_models(&["--workers", "3", "--tune", "worker-threshold=1", "--mem", "3M"]);
}
