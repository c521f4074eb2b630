//! Petri nets on the command line: what is told about them, and what is refused.

mod common;

use common::{assert_refused, at, at_most, code, exit, json, model, permutations, run, stderr, stdout, write_net};
use serde_json::Value;

const KANBAN: &str = "pnml/Kanban-PT-00005.pnml";
/// A net that can get stuck.
const STUCK: &str = "pnml/ResAllocation-PT-R002C002.pnml";

/// The answer for a net that is explored to the end.
fn complete(args: &[&str]) -> Value {
    let output = run(args);
    assert_eq!(code(&output), exit::COMPLETE, "{args:?}: {output:?}");
    let value = json(&output);
    assert_eq!((&value["verdict"], &value["reason"]), (&"complete".into(), &Value::Null), "{args:?}");
    value
}

fn assert_kanban(value: &Value) {
    assert_eq!(value["states"], "2546432", "{value}");
    assert_eq!(value["transitions"], "24460016", "{value}");
    assert_eq!((&value["max_token_in_place"], &value["max_token_per_marking"]), (&"5".into(), &"20".into()), "{value}");
}

#[test]
fn a_net_has_four_values_in_the_json() {
    let path = model(KANBAN);
    let value = complete(&["reach", &path, "--json", "--workers", "2"]);
    assert_kanban(&value);
    assert_eq!((&value["model"], &value["format"]), (&path.as_str().into(), &"pnml".into()));
    assert_eq!((&value["strategy"], &value["engine"]), (&"saturation".into(), &"mdd".into()));
    assert!(value["nodes"].as_u64().is_some_and(|nodes| nodes > 16));
    assert_eq!((&value["levels"], &value["workers"]), (&Value::Null, &2.into()));
    let order = value["order"].as_str().unwrap();
    assert!(!order.is_empty() && order != "auto", "{order}");
    assert!(value.get("deadlock").is_none() && value.get("deadlock_marking").is_none(), "{value}");
}

#[test]
fn every_net_is_right() {
    let text = std::fs::read_to_string(common::testdata().join("expected.toml")).unwrap();
    let mut checked = 0;
    for entry in text.split("[[net]]").skip(1) {
        let field = |name: &str| {
            let value = entry.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
            value.unwrap().trim_matches('"').to_owned()
        };
        if field("states").len() > 10 {
            continue;
        }
        let value = complete(&["reach", &model(&field("path")), "--json"]);
        for name in ["states", "transitions", "max_token_in_place", "max_token_per_marking"] {
            assert_eq!(value[name], field(name), "{name} of {}", field("path"));
        }
        checked += 1;
    }
    assert!(checked >= 8);
}

#[test]
fn text_is_for_people() {
    let text = common::complete(&["reach", &model(KANBAN)]);
    for words in ["Verdict   complete\n", "States    2,546,432\n", "24,460,016\n", "at most 5 in a place, 20 in all\n"]
    {
        assert!(text.contains(words), "{words:?} in\n{text}");
    }
}

#[test]
fn orders_engines_and_strategies_agree() {
    let path = model(KANBAN);
    for order in ["given", "sloan+reversed", "cuthill-mckee+force", "noack", "p-chaining+force+reversed"] {
        for strategy in ["auto", "saturation", "bfs", "par", "chaining", "chaining-full"] {
            let args = ["reach", &path, "--order", order, "--strategy", strategy, "--engine", "mdd", "--json"];
            let value = complete(&args);
            assert_kanban(&value);
            assert_eq!(value["order"], order, "{strategy}");
            let did = if strategy == "auto" { "saturation" } else { strategy };
            assert_eq!(value["strategy"], did, "{order}");
            let by_level = matches!(strategy, "bfs" | "par");
            assert_eq!(value["levels"].is_u64(), by_level, "{order} {strategy}");
        }
    }
}

#[test]
fn forced_collections_change_nothing() {
    for strategy in ["saturation", "chaining"] {
        let args = ["reach", &model(KANBAN), "--stress", "40", "--strategy", strategy, "--json"];
        assert_kanban(&complete(&args));
    }
}

#[test]
fn a_deadlock_has_a_witness_and_an_exit_code() {
    let output = run(&["reach", &model(STUCK), "--deadlock", "--json"]);
    assert_eq!(code(&output), exit::VIOLATED, "{output:?}");
    let value = json(&output);
    assert_eq!((&value["verdict"], &value["deadlock"]), (&"complete".into(), &true.into()));
    assert_eq!(value["states"], "8");
    // Both hold one thing and want that of the other.
    let marking = value["deadlock_marking"].as_object().expect("a marking");
    let held: Vec<(&str, &str)> =
        marking.iter().map(|(name, tokens)| (name.as_str(), tokens.as_str().unwrap())).collect();
    assert_eq!(held, [("p_0_0", "1"), ("p_1_1", "1"), ("r_1_0", "1")]);
    let output = run(&["reach", &model(STUCK), "--deadlock"]);
    assert_eq!(code(&output), exit::VIOLATED);
    assert!(stdout(&output).contains("Deadlock  yes"), "{output:?}");
    assert!(stdout(&output).contains("p_0_0 p_1_1 r_1_0"), "{output:?}");
}

#[test]
fn without_a_deadlock_the_exit_code_is_that_of_success() {
    let path = model(KANBAN);
    for strategy in ["auto", "chaining"] {
        let value = complete(&["reach", &path, "--deadlock", "--json", "--strategy", strategy]);
        assert_kanban(&value);
        assert_eq!(value["deadlock"], false);
        assert!(value["deadlock_marking"].is_null());
    }
    assert!(common::complete(&["reach", &path, "--deadlock"]).contains("Deadlock  no"));
}

#[test]
fn a_trace_leads_to_the_deadlock() {
    let path = model("pnml/PhilosophersDyn-PT-03.pnml.gz");
    let output = run(&["reach", &path, "--deadlock", "--trace", "--json"]);
    assert_eq!(code(&output), exit::VIOLATED, "{output:?}");
    let value = json(&output);
    assert!(!value["deadlock_trace"].as_array().unwrap().is_empty(), "{value}");
    let text = stdout(&run(&["reach", &path, "--deadlock", "--trace"]));
    assert!(text.contains("firings lead there:"), "{text}");
    let some = json(&run(&["reach", &path, "--deadlock", "--trace=any", "--json"]));
    let [some, shortest] = [&some, &value].map(|value| value["deadlock_trace"].as_array().map(Vec::len));
    assert!(some >= shortest && shortest > Some(0), "{some:?} {shortest:?}");
    assert_refused(&["reach", &path, "--deadlock", "--trace=long"], "expected shortest or any");
    assert_refused(&["reach", &path, "--trace"], "--deadlock");
}

/// A binary counter: it gets stuck when all bits are set, and every marking is on the way there.
fn write_counter(path: &str, bits: usize) {
    let place = |bit: usize, value: usize| {
        format!("<place id=\"b{bit}{value}\"><initialMarking><text>{}</text></initialMarking></place>", 1 - value)
    };
    let arc = |from: String, to: String| format!("<arc id=\"{from}-{to}\" source=\"{from}\" target=\"{to}\"/>");
    let flip = |at: usize, bit: usize, from: usize| {
        let step = format!("t{at}");
        [arc(format!("b{bit}{from}"), step.clone()), arc(step, format!("b{bit}{}", 1 - from))].concat()
    };
    let mut body = "<page id=\"g\">".to_owned();
    for at in 0..bits {
        body += &[place(at, 0), place(at, 1), format!("<transition id=\"t{at}\"/>"), flip(at, at, 0)].concat();
        body.extend((0..at).map(|lower| flip(at, lower, 1)));
    }
    write_net(path, &(body + "</page>"));
}

#[test]
fn a_deadlock_without_time_for_a_trace_is_one_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder, "counter.pnml");
    write_counter(&path, 6);
    let value = json(&run(&["reach", &path, "--deadlock", "--trace", "--json"]));
    assert_eq!(value["deadlock_trace"].as_array().map(Vec::len), Some(63));
    write_counter(&path, 40);
    let output = run(&["reach", &path, "--deadlock", "--trace", "--json", "--timeout", "2"]);
    assert_eq!(code(&output), exit::VIOLATED, "{output:?}");
    let value = json(&output);
    assert_eq!((&value["verdict"], &value["deadlock"]), (&"complete".into(), &true.into()));
    assert_eq!(value["deadlock_marking"].as_object().map(serde_json::Map::len), Some(40));
    assert!(value["deadlock_trace"].is_null(), "{value}");
    assert!(stderr(&output).contains("no sequence of firings: time limit of 2 s reached"), "{output:?}");
}

#[test]
fn what_nets_cannot_is_refused() {
    let path = model(KANBAN);
    let folder = tempfile::tempdir().unwrap();
    assert_refused(&["reach", &path, "--engine", "zdd"], "expected auto, bdd, ldd, mdd or gpu");
    assert_refused(&["reach", &path, "--engine", "ldd"], "--engine mdd, bdd or gpu");
    assert_refused(&["reach", &path, "--engine", "bdd", "--deadlock"], "--deadlock wants --engine mdd");
    assert_refused(&["reach", &path, "--engine", "bdd", "--strategy", "explicit"], "wants --engine mdd");
    assert_refused(&["reach", &path, "--order", "units"], "there is no order `units` of this net");
    assert_refused(&["reach", &path, "--order", "random"], "unknown order `random`");
    assert_refused(&["reach", &path, "--order", "sloan+fast"], "unknown order `sloan+fast`");
    assert_refused(&["reach", &path, "--strategy", "dfs"], "unknown strategy `dfs`");
    assert_refused(&["reach", &path, "--save-states", &at(&folder, "states")], "cannot be saved yet");
    assert_refused(&["reach", &path, "--check-stored"], "no reachable set to compare with");
    assert_refused(&["convert", &path, &at(&folder, "out.bdd")], "Petri net");
    let diagram = model(common::SMALL);
    assert_refused(&["reach", &diagram, "--engine", "mdd"], "--engine mdd is for Petri nets");
    assert_refused(&["reach", &diagram, "--order", "sloan"], "--order auto or given");
    assert_refused(&["reach", &diagram, "--deadlock"], "Petri nets");
}

#[test]
fn malformed_nets_are_told_with_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let page = |body: &str| format!("<page id=\"g\">\n{body}\n</page>");
    let cases = [
        ("cut.pnml", "<page id=\"g\">\n<place id=\"p\">", "line "),
        ("twice.pnml", &page("<place id=\"p\"/>\n<place id=\"p\"/>"), "line 6, column 1: "),
        ("nowhere.pnml", &page("<place id=\"p\"/>\n<arc id=\"a\" source=\"p\" target=\"q\"/>"), "line 6, column 1: "),
        (
            "text.pnml",
            &page("<place id=\"p\"><initialMarking><text>many</text></initialMarking></place>"),
            "line 5, column ",
        ),
    ];
    for (name, body, words) in cases {
        let path = at(&folder, name);
        write_net(&path, body);
        assert_refused(&["reach", &path], &format!("tremula: {path}: "));
        assert_refused(&["reach", &path], words);
        assert_refused(&["reach", &path], "column ");
    }
    assert_refused(&["reach", "missing.pnml"], "tremula: missing.pnml: No such file");
}

#[test]
fn coloured_nets_are_not_supported_yet() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder, "coloured.pnml");
    let kind = "http://www.pnml.org/version-2009/grammar";
    let text =
        format!("<pnml xmlns=\"{kind}/pnml\">\n <net id=\"n\" type=\"{kind}/symmetricnet\">\n </net>\n</pnml>\n");
    std::fs::write(&path, text).unwrap();
    assert_refused(&["reach", &path], "symmetricnet`, which is not supported yet");
    assert_refused(&["reach", &path], &format!("{path}: line 2, column 2: "));
    write_net(
        &path,
        "<page id=\"g\">\n<place id=\"p\"/>\n<transition id=\"t\"/>\n\
         <arc id=\"a\" source=\"p\" target=\"t\"><type value=\"inhibitor\"/></arc>\n</page>",
    );
    assert_refused(&["reach", &path], "not supported yet");
    assert_refused(&["reach", &path], "line 7, column ");
}

#[test]
fn too_little_memory_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder, "permutations.pnml");
    write_net(&path, &permutations(13));
    let tokens = model("pnml/ERK-PT-100000.pnml");
    // 13 factorial, and what is in expected.toml.
    let (few, many) = ("6227020800", "13890805661114069488750335001");
    let cases = [(&path, "bfs", few), (&path, "chaining", few), (&tokens, "saturation", many), (&tokens, "auto", many)];
    for (path, strategy, all) in cases {
        // The time limit is far beyond what is needed, and keeps a failure from taking forever.
        let output = run(&["reach", path, "--mem", "2M", "--strategy", strategy, "--timeout", "60", "--json"]);
        assert_eq!(code(&output), exit::LIMIT, "{strategy}: {output:?}");
        let value = json(&output);
        assert_eq!(value["verdict"], "unknown", "{strategy}");
        assert!(value["reason"].as_str().unwrap().contains("budget"), "{strategy}: {value}");
        assert!(value["states"].as_str().is_none_or(|states| at_most(states, all)), "{strategy}: {value}");
        assert!(value.get("transitions").is_none_or(Value::is_null), "{strategy}: {value}");
    }
}

#[test]
fn a_time_limit_gives_a_lower_bound() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder, "permutations.pnml");
    write_net(&path, &permutations(18));
    for strategy in ["saturation", "bfs", "chaining"] {
        let args = ["reach", &path, "--timeout", "0.8", "--order", "given", "--strategy", strategy, "--json"];
        let output = run(&args);
        assert_eq!(code(&output), exit::LIMIT, "{strategy}: {output:?}");
        let value = json(&output);
        assert_eq!((&value["verdict"], &value["reason"]), (&"unknown".into(), &"time limit of 0.8 s reached".into()));
        let states = value["states"].as_str().unwrap_or_else(|| panic!("no lower bound: {value}"));
        assert!(at_most("1", states) && at_most(states, "6402373705728000"), "{strategy}: {states}");
    }
    let output = run(&["reach", &model(KANBAN), "--timeout", "0", "--json"]);
    assert_eq!(code(&output), exit::LIMIT);
    assert_eq!(json(&output)["states"], Value::Null);
}

#[test]
fn compressed_nets_are_read() {
    let value = complete(&["reach", &model("pnml/PhaseVariation-PT-D02CS010.pnml.gz"), "--json"]);
    assert_eq!((&value["states"], &value["transitions"]), (&"7716".into(), &"137156".into()));
}

#[test]
fn where_the_name_tells_nothing_the_content_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder, "model.net");
    std::fs::copy(model(KANBAN), &path).unwrap();
    let value = complete(&["reach", &path, "--json"]);
    assert_kanban(&value);
    assert_eq!(value["format"], "pnml");
    std::fs::write(&path, "neither a net nor a diagram").unwrap();
    assert_refused(&["reach", &path], "not a model");
}
