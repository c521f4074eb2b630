//! The command line contract: the JSON object, its keys and their order; what is told when there is no answer.

mod common;

use common::{LARGE, SMALL, code, exit, json, model, run, stderr, stdout};
use serde_json::Value;

const KEYS: [&str; 14] = [
    "model",
    "format",
    "states",
    "nodes",
    "levels",
    "strategy",
    "engine",
    "order",
    "workers",
    "ranks",
    "seconds",
    "peak_bytes",
    "verdict",
    "reason",
];

/// The keys in the order in which they are written.
fn written_keys(text: &str, keys: &[&str]) -> Vec<String> {
    let mut places: Vec<(usize, String)> =
        keys.iter().filter_map(|key| Some((text.find(&format!("\"{key}\":"))?, (*key).to_owned()))).collect();
    places.sort();
    places.into_iter().map(|(_, key)| key).collect()
}

fn assert_contract(output: &std::process::Output) -> Value {
    let value = json(output);
    let object = value.as_object().expect("an object");
    assert_eq!(object.len(), KEYS.len(), "{object:?}");
    assert_eq!(written_keys(&stdout(output), &KEYS), KEYS);
    let seconds = value["seconds"].as_object().expect("an object");
    assert_eq!(seconds.len(), 4);
    assert_eq!(
        written_keys(&stdout(output), &["load", "reach", "count", "total"]),
        ["load", "reach", "count", "total"]
    );
    assert!(seconds.values().all(|time| time.as_f64().is_some_and(|time| time >= 0.0)));
    assert!(value["peak_bytes"].as_u64().is_some_and(|bytes| bytes > 0));
    value
}

#[test]
fn a_complete_answer_has_exactly_the_agreed_keys() {
    let path = model(SMALL);
    let output = run(&["reach", &path, "--strategy", "bfs", "--workers", "3", "--json"]);
    assert_eq!(code(&output), exit::COMPLETE);
    let value = assert_contract(&output);
    assert_eq!(value["model"], path);
    assert_eq!(value["format"], "bdd");
    assert_eq!(value["states"], "1506");
    assert_eq!(value["nodes"], 1559);
    assert_eq!(value["levels"], 101);
    assert_eq!(value["strategy"], "bfs");
    assert_eq!((&value["engine"], &value["order"]), (&"bdd".into(), &"given".into()));
    assert_eq!((&value["workers"], &value["ranks"]), (&3.into(), &1.into()));
    assert_eq!((&value["verdict"], &value["reason"]), (&"complete".into(), &Value::Null));
    assert_eq!(stderr(&output), "");
}

#[test]
fn strategies_without_levels_have_none() {
    let output = run(&["reach", &model(SMALL), "--strategy", "chaining-full", "--json"]);
    let value = assert_contract(&output);
    assert_eq!((&value["levels"], &value["strategy"]), (&Value::Null, &"chaining-full".into()));
}

#[test]
fn auto_names_what_did_the_work() {
    let value = json(&run(&["reach", &model(SMALL), "--json"]));
    assert_ne!(value["strategy"], "auto");
}

#[test]
fn a_time_limit_gives_a_lower_bound() {
    let output = run(&["reach", &model(LARGE), "--timeout", "1", "--strategy", "bfs", "--json"]);
    assert_eq!(code(&output), exit::LIMIT);
    let value = assert_contract(&output);
    assert_eq!((&value["verdict"], &value["reason"]), (&"unknown".into(), &"time limit of 1 s reached".into()));
    let states = value["states"].as_str().expect("what was found is quickly counted");
    assert!(common::at_most(states, "41465543"), "{states}");
}

#[test]
fn no_time_at_all_is_a_limit_too() {
    let output = run(&["reach", &model(SMALL), "--timeout", "0", "--json"]);
    assert_eq!(code(&output), exit::LIMIT);
    let value = assert_contract(&output);
    assert_eq!((&value["states"], &value["nodes"], &value["levels"]), (&Value::Null, &Value::Null, &Value::Null));
}

#[test]
fn budgets_that_are_too_small_are_told() {
    for mem in ["1K", "300K", "4M"] {
        let output = run(&["reach", &model(LARGE), "--mem", mem, "--json"]);
        assert_eq!(code(&output), exit::LIMIT, "{mem}: {output:?}");
        let value = assert_contract(&output);
        assert_eq!(value["verdict"], "unknown");
        assert!(value["reason"].as_str().expect("a reason").contains("budget"), "{mem}: {value}");
    }
}

#[test]
fn a_model_larger_than_the_budget_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let path = common::at(&folder, "large.bdd");
    // One integer of one bit, then the promise of many nodes: only the size counts here.
    std::fs::write(&path, vec![1; 8 << 20]).unwrap();
    let output = run(&["reach", &path, "--mem", "1M", "--json"]);
    assert_eq!(code(&output), exit::LIMIT, "{output:?}");
    let reason = json(&output)["reason"].as_str().expect("a reason").to_owned();
    assert!(reason.contains("does not fit the memory budget"), "{reason}");
}

#[test]
fn memory_stays_inside_the_budget() {
    let output = run(&["reach", &model(LARGE), "--mem", "64M", "--timeout", "6", "--json"]);
    let peak = json(&output)["peak_bytes"].as_u64().unwrap();
    let allowed = (64 << 20) * 102 / 100 + (30 << 20);
    assert!(peak <= allowed, "{peak} bytes resident, {allowed} allowed");
}

#[test]
fn all_allowed_processors_work_unless_told_otherwise() {
    let workers = json(&run(&["reach", &model(SMALL), "--json"]))["workers"].as_u64().unwrap();
    let processors = std::thread::available_parallelism().unwrap().get() as u64;
    assert!((1..=processors).contains(&workers), "{workers} of {processors}");
    let output = run(&["reach", &model(LARGE), "--strategy", "par", "--workers", "2", "--timeout", "3", "--stats"]);
    assert!(stdout(&output).contains("Workers   "), "{output:?}");
}

#[test]
fn text_is_for_people() {
    let text = common::complete(&["reach", &model("petri-bdd/Kanban-10.bdd.gz"), "--stats"]);
    for words in ["Verdict   complete\n", "States    1,005,927,208\n", "Strategy  ", "Memory    ", "Created   "] {
        assert!(text.contains(words), "{words:?} in\n{text}");
    }
    let output = run(&["reach", &model(LARGE), "--timeout", "0.3"]);
    assert!(stdout(&output).contains("UNKNOWN: time limit of 0.3 s reached"), "{output:?}");
}

#[test]
fn statistics_stay_out_of_the_json() {
    let output = run(&["reach", &model(SMALL), "--json", "--stats"]);
    assert_contract(&output);
    assert!(stderr(&output).contains("collections"));
}

#[test]
fn the_set_in_the_file_is_found_again() {
    let output = run(&["reach", &model(SMALL), "--check-stored", "--json"]);
    assert_eq!(code(&output), exit::COMPLETE);
    assert_contract(&output);
    assert!(stderr(&output).contains("equal to the reachable set"), "{output:?}");
    let output = run(&["reach", &model("sylvan/schedule_world.2.bdd"), "--check-stored"]);
    assert!(stderr(&output).contains("no reachable set"), "{output:?}");
}

#[test]
fn a_reader_that_goes_away_is_no_problem() {
    for (timeout, expected) in [("60", exit::COMPLETE), ("0", exit::LIMIT)] {
        let mut child = common::start(&["reach", &model(SMALL), "--timeout", timeout]);
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((code(&output), stderr(&output)), (expected, String::new()));
    }
}
