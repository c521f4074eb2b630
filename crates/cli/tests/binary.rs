//! Petri nets and lists with binary diagrams.

mod common;

use common::{at, code, complete, exit, expected_nets, json, model, run, write_net};

#[test]
fn nets_in_bits_have_the_same_markings() {
    // With a hundred thousand tokens, bits are not the way.
    for net in expected_nets().into_iter().filter(|net| !net.path.contains("ERK-PT-100000")) {
        for strategy in ["auto", "par"] {
            let args = ["reach", &model(&net.path), "--engine", "bdd", "--strategy", strategy, "--json"];
            let output = run(&args);
            let value = json(&output);
            assert_eq!([&value["format"], &value["engine"]], ["pnml", "bdd"]);
            let answer = (code(&output), &value["states"]);
            assert_eq!(answer, (exit::COMPLETE, &net.states.clone().into()), "{}", net.path);
        }
    }
}

#[test]
fn the_order_is_the_users() {
    let value =
        json(&run(&["reach", &model("pnml/Kanban-PT-00005.pnml"), "--engine", "bdd", "--order", "sloan", "--json"]));
    assert_eq!([&value["order"], &value["states"]], ["sloan", "2546432"]);
}

/// A net whose only transition gives a token to its only place.
fn source(folder: &tempfile::TempDir, initial: &str) -> String {
    let path = at(folder, "source.pnml");
    let place = format!("<place id=\"p\"><initialMarking><text>{initial}</text></initialMarking></place>");
    let transition = "<transition id=\"t\"/><arc id=\"a\" source=\"t\" target=\"p\"/>";
    write_net(&path, &format!("<page id=\"g\">{place}{transition}</page>"));
    path
}

#[test]
fn what_has_no_bound_ends_at_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = source(&folder, "0");
    let output = run(&["reach", &path, "--engine", "bdd", "--json", "--strategy", "par", "--timeout", "0.5"]);
    assert_eq!(code(&output), exit::LIMIT, "{output:?}");
    assert!(json(&output)["reason"].as_str().is_some_and(|reason| reason.contains("time limit")), "{output:?}");
}

#[test]
fn a_place_that_is_too_full_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&["reach", &source(&folder, "4294967294"), "--engine", "bdd", "--json"]);
    assert_eq!(code(&output), exit::LIMIT, "{output:?}");
    assert!(json(&output)["reason"].as_str().is_some_and(|reason| reason.contains("place `p` may have 2^32 tokens")));
}

#[test]
fn lists_in_bits_have_the_same_states() {
    let folder = tempfile::tempdir().unwrap();
    for (path, states) in [("sylvan/anderson.4.ldd", "29641"), ("sylvan/blocks.2.ldd", "7057")] {
        for strategy in ["auto", "chaining"] {
            let value = json(&run(&["reach", &model(path), "--engine", "bdd", "--strategy", strategy, "--json"]));
            assert_eq!([&value["states"], &value["format"], &value["engine"]], [states, "ldd", "bdd"]);
        }
        // As integers, not as bits.
        let saved = at(&folder, "states");
        complete(&["reach", &model(path), "--engine", "bdd", "--save-states", &saved]);
        assert!(complete(&["count", &saved]).contains(states));
    }
}
