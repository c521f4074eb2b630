//! Petri nets and lists with binary diagrams.

mod common;

use common::{at, code, complete, exit, expected_nets, json, model, run, write_net};

#[test]
fn nets_in_bits_have_the_same_markings() {
    /// Nets in which semiflows bound not all places.
    const UNBOUNDED: [&str; 3] = ["Eratosthenes-PT-010", "PhaseVariation-PT-D02CS010", "PhilosophersDyn-PT-03"];
    // With a hundred thousand tokens, bits are not the way.
    for net in expected_nets().into_iter().filter(|net| !net.path.contains("ERK-PT-100000")) {
        for strategy in ["auto", "par"] {
            let args = ["reach", &model(&net.path), "--engine", "bdd", "--strategy", strategy, "--json"];
            let output = run(&args);
            let value = json(&output);
            assert_eq!([&value["format"], &value["engine"]], ["pnml", "bdd"]);
            if UNBOUNDED.iter().any(|name| net.path.contains(name)) {
                assert_eq!(code(&output), exit::LIMIT, "{output:?}");
            } else {
                assert_eq!(
                    (code(&output), &value["states"]),
                    (exit::COMPLETE, &net.states.clone().into()),
                    "{}",
                    net.path
                );
            }
        }
    }
}

#[test]
fn the_order_is_the_users() {
    let value =
        json(&run(&["reach", &model("pnml/Kanban-PT-00005.pnml"), "--engine", "bdd", "--order", "sloan", "--json"]));
    assert_eq!([&value["order"], &value["states"]], ["sloan", "2546432"]);
}

#[test]
fn what_has_no_bound_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder, "source.pnml");
    write_net(
        &path,
        "<page id=\"g\"><place id=\"p\"/><transition id=\"t\"/><arc id=\"a\" source=\"t\" target=\"p\"/></page>",
    );
    let output = run(&["reach", &path, "--engine", "bdd", "--json"]);
    assert_eq!(code(&output), exit::LIMIT, "{output:?}");
    assert!(json(&output)["reason"].as_str().is_some_and(|reason| reason.contains("place `p` has no bound")));
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
