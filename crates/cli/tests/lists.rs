//! Models of list decision diagrams: counts, options, refusals.

mod common;

use common::{assert_refused, at, complete, json, model, run};

const LISTS: &str = "sylvan/anderson.4.ldd";

#[test]
fn every_strategy_counts_the_states() {
    let path = model(LISTS);
    for strategy in ["auto", "saturation", "bfs", "par", "chaining"] {
        for workers in ["1", "2"] {
            let value = json(&run(&["reach", &path, "--json", "--strategy", strategy, "--workers", workers]));
            assert_eq!(value["states"], "29641", "{strategy}");
            assert_eq!([&value["format"], &value["engine"], &value["order"]], ["ldd", "ldd", "given"]);
            assert_eq!(value["verdict"], "complete");
        }
    }
    assert_eq!(json(&run(&["reach", &path, "--json", "--strategy", "bfs"]))["levels"], 81);
}

#[test]
fn a_model_is_described() {
    let text = complete(&["info", &model(LISTS), "--matrix"]);
    assert!(text.contains("list decision diagrams") && text.contains("Groups      24"), "{text}");
}

#[test]
fn what_lists_cannot_is_refused() {
    let path = model(LISTS);
    let folder = tempfile::tempdir().unwrap();
    for (args, words) in [
        (&["reach", &path, "--engine", "mdd"][..], "--engine mdd is for Petri nets"),
        (&["reach", &path, "--order", "force"], "--order auto or given"),
        (&["reach", &path, "--deadlock"], "--deadlock is only for Petri nets"),
        (&["reach", &path, "--save-states", &at(&folder, "states")], "cannot be saved"),
        (&["convert", &path, &at(&folder, "out.bdd")], "takes .bdd files only"),
    ] {
        assert_refused(args, words);
    }
}
