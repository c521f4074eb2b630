//! The quick studies: what they print, what they write, and what they refuse.

mod common;

use common::{at, code, complete, exit, json, model, run, stderr, stdout};
use serde_json::Value;

/// The names in an object, sorted.
fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().unwrap_or_else(|| panic!("{name} in {value}"))
}

fn assert_positive(value: &Value) {
    assert!(value.as_f64().is_some_and(|number| number > 0.0), "{value}");
}

fn files(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder was made");
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn tasks_are_measured() {
    let folder = tempfile::tempdir().unwrap();
    let out = at(&folder, "new/results");
    let args = ["bench", "tasks", "--quick", "--reps", "2", "--workers", "1,2", "--json", "--out", &out];
    let output = run(&args);
    assert_eq!(code(&output), exit::COMPLETE, "{output:?}");
    assert!(stderr(&output).contains("fib(30), tremula, workers 2: "), "{output:?}");
    let report = json(&output);
    assert_eq!(keys(&report), ["processors", "programs", "reps"]);
    assert_eq!(report["reps"], 2);
    for program in list(&report, "programs") {
        assert_eq!(keys(program), ["answer", "name", "parallel", "sequential_seconds", "tasks"]);
        for version in list(program, "parallel") {
            assert_positive(&version["speed_up"]);
            assert_positive(&version["seconds"]["median"]);
        }
    }
    let written: Value =
        serde_json::from_slice(&std::fs::read(at(&folder, "new/results/tasks.json")).unwrap()).unwrap();
    assert_eq!(written, report);
    assert!(files(&out).contains(&"tasks-speed-up.svg".to_owned()), "{:?}", files(&out));
}

/// The study that ranks make, by one process.
#[test]
fn tactics_are_compared() {
    let how = ["--workers", "1,2", "--programs", "queens,fib", "--tactics", "steal-one,steal-half", "--json", "-q"];
    let output = run(&[&["bench", "tasks", "--quick", "--reps", "1"], &how[..]].concat());
    assert_eq!(code(&output), exit::COMPLETE, "{output:?}");
    let report = json(&output);
    assert_eq!((&report["ranks"], list(&report, "latency").len(), list(&report, "programs").len()), (&1.into(), 2, 2));
    for program in list(&report, "programs") {
        assert_eq!(list(program, "shapes").len(), 2 * 2);
    }
}

#[test]
fn the_fabric_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let out = at(&folder, "results");
    let output = run(&["bench", "fabric", "--quick", "--reps", "1", "--json", "--out", &out]);
    assert_eq!(code(&output), exit::COMPLETE, "{output:?}");
    assert_eq!(stderr(&output).lines().count(), 3, "{output:?}");
    let report = json(&output);
    assert_eq!(keys(&report), ["ranks", "reps", "targets"]);
    assert_eq!((&report["ranks"], &report["reps"]), (&Value::from(2), &Value::from(1)));
    for target in list(&report, "targets") {
        assert_positive(&target["compare_and_swap"]["median"]);
        assert_eq!(list(target, "get").len(), 4);
    }
    assert_eq!(files(&out), ["fabric-latency.svg", "fabric-throughput.svg", "fabric.json"]);
    assert!(complete(&["bench", "fabric", "--quick", "--reps", "1", "-q"]).contains("same host, busy"));
}

#[test]
fn tables_are_measured() {
    let folder = tempfile::tempdir().unwrap();
    let out = at(&folder, "results");
    let options = ["--workers", "1,2", "--operations", "20000", "--load", "0.5,0.9", "--chunks", "8,64"];
    let args = ["bench", "table", "--quick", "--mixes", "80/20,20/80", "--json", "--out", &out, "-q"];
    let output = run(&[&args[..], &options].concat());
    assert_eq!((code(&output), stderr(&output)), (exit::COMPLETE, String::new()), "{output:?}");
    let report = json(&output);
    let expected = ["clock_ns", "operations", "processors", "runs", "sampled", "slots", "theory", "window"];
    assert_eq!(keys(&report), expected);
    assert_eq!((report["operations"].as_u64(), list(&report, "theory").len()), (Some(20_000), 4));
    // Five tables of the study at two loads, the table itself at one.
    assert_eq!(list(&report, "runs").len(), (5 * 2 + 1) * 2 * 2);
    for run in list(&report, "runs") {
        let expected =
            ["chunks", "latency_ns", "load", "million_per_second", "mix", "operations", "subject", "workers"];
        assert_eq!(keys(run), expected);
        assert_eq!(keys(&run["latency_ns"]), ["p50", "p90", "p99", "p999"]);
        assert_positive(&run["million_per_second"]["median"]);
    }
    for theory in list(&report, "theory") {
        assert!(theory["measured"].as_f64() >= Some(1.0) && theory["simulated"].as_f64() >= Some(1.0), "{theory}");
        assert!(theory["thesis_measured"].is_f64(), "{theory}");
    }
    let latencies = ["20-80-workers-1", "20-80-workers-2", "80-20-workers-1", "80-20-workers-2"];
    let latencies = latencies.map(|part| format!("table-latency-{part}.svg"));
    let others = ["table-probes.svg", "table-probing.svg", "table.json"];
    let expected: Vec<&str> =
        ["table-chunks.svg"].into_iter().chain(latencies.iter().map(String::as_str)).chain(others).collect();
    assert_eq!(files(&out), expected);
}

#[test]
fn explorations_are_measured() {
    let folder = tempfile::tempdir().unwrap();
    let (out, phils) = (at(&folder, "results"), model("beem/phils.1.bdd"));
    let how = ["--shapes", "1x1,1x2", "--reps", "2", "--mem", "64M", "--variants", "plain=", "--variants"];
    let output =
        run(&[&["bench", "reach", &phils, "--json", "--out", &out], &how[..], &["one=--tune=lanes=1"]].concat());
    assert_eq!(code(&output), exit::COMPLETE, "{output:?}");
    assert_eq!(stderr(&output).matches("phils.1.bdd, 1x2 one: ").count(), 2, "{output:?}");
    let report = json(&output);
    let expected = ["mem_bytes", "models", "more", "processors", "reps", "strategy", "timeout_seconds", "variants"];
    assert_eq!(keys(&report), expected);
    let found = &report["models"][0];
    assert_eq!((&found["name"], &found["states"]), (&"phils.1.bdd".into(), &"80".into()));
    assert_eq!((&found["nodes"], &found["levels"]), (&66.into(), &10.into()));
    assert_eq!(list(found, "kinds").len(), 4);
    for kind in list(found, "kinds") {
        for name in ["seconds", "whole_seconds", "speed_up", "gain"] {
            assert_positive(&kind[name]["median"]);
        }
    }
    let pictures = ["reach-ranks.svg", "reach-sizes.svg", "reach-times.svg", "reach-workers.svg"];
    assert_eq!(files(&out), [&pictures[..], &["reach.json"]].concat());
}

#[test]
fn explorations_that_give_up_stop_nothing() {
    let (phils, large) = (model("beem/phils.1.bdd"), model(common::LARGE));
    let text = complete(&["bench", "reach", &large, &phils, "--reps", "1", "--shapes", "1x1", "--timeout", "1", "-q"]);
    assert!(text.contains("1x1 UNKNOWN: ") && text.contains("phils.1.bdd: 80 states, 66 nodes"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn text_is_for_people() {
    let tasks = complete(&["bench", "tasks", "--quick", "--reps", "1", "--workers", "1", "--programs", "queens", "-q"]);
    assert!(tasks.contains("queens(10) = 724") && tasks.contains("speed-up"), "{tasks}");
    let options = ["--workers", "1", "--operations", "5000", "--load", "0.5", "--chunks", "8", "--mixes", "50/50"];
    let table = complete(&[&["bench", "table", "--quick", "-q"][..], &options].concat());
    assert!(table.contains("Million operations per second") && table.contains("thesis"), "{table}");
    for text in [tasks, table] {
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
}

#[test]
fn bad_usage_is_refused() {
    for (args, words) in [
        (&["bench"][..], "Usage"),
        (&["bench", "nodes"], "unrecognized subcommand"),
        (&["bench", "tasks", "--workers", "0"], "workers from 1"),
        (&["bench", "tasks", "--workers", "1,,2"], "workers from 1"),
        (&["bench", "tasks", "--reps", "0"], "--reps"),
        (&["bench", "tasks", "--tactics", "steal-all"], "'steal-all'"),
        (&["bench", "tasks", "--tactics", "steal-one", "--versions", "rayon"], "--versions: tactics"),
        (&["bench", "tasks", "--programs", "sort"], "no program is called \"sort\"; there are fib(42)"),
        (&["bench", "tasks", "--versions", "cilk"], "tremula-split"),
        (&["bench", "table", "--load", "1"], "load factor from 0.02 to 0.98"),
        (&["bench", "table", "--load", "half"], "load factor from 0.02 to 0.98"),
        (&["bench", "table", "--chunks", "12"], "8, 16, 32"),
        (&["bench", "table", "--mixes", "90/20"], "such as 80/20"),
        (&["bench", "table", "--operations", "0"], "--operations"),
        (&["bench", "table", "--forms", "both"], "one-sided, owners, ways, latency or cache"),
        (&["bench", "table", "--forms", "owners"], "several ranks"),
        (&["bench", "reach"], "MODEL"),
        (&["bench", "reach", "no-such-model.bdd"], "no-such-model.bdd: No such file"),
        (&["bench", "reach", "m.bdd", "--shapes", "2"], "such as 2x4"),
        (&["bench", "reach", "m.bdd", "--shapes", "1x0"], "such as 2x4"),
        (&["bench", "reach", "m.bdd", "--variants", "wide"], "NAME=ARGUMENTS"),
        (&["bench", "reach", "m.bdd", "--reps", "0"], "--reps"),
        (&["bench", "reach", "m.bdd", "--strategy", "dfs"], "--strategy"),
        (&["bench", "reach", "/dev/null", "--shapes", "1x1,1x1"], "each shape"),
        (&["bench", "reach", "/dev/null", "--shapes", "1x1", "-q"], "/dev/null: "),
        (&["bench", "reach", "/dev/null", "--shapes", "1x1", "-q", "--more", "--tune=speed=2"], "no knob `speed`"),
        (&["bench", "table", "--quick", "--out", "/dev/null/results"], "/dev/null/results: "),
    ] {
        let output = run(args);
        assert_eq!((code(&output), stdout(&output)), (exit::INPUT, String::new()), "{args:?}: {output:?}");
        assert!(stderr(&output).contains(words), "{words:?} in {output:?}");
    }
}

#[cfg(not(feature = "mpi"))]
#[test]
fn ranks_need_a_program_that_knows_them() {
    let output = run(&["bench", "reach", &model("beem/phils.1.bdd"), "--shapes", "1x1,2x1"]);
    assert_eq!((code(&output), stdout(&output)), (exit::INPUT, String::new()), "{output:?}");
    assert!(stderr(&output).contains("without the feature `mpi`"), "{output:?}");
}
