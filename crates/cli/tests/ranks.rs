//! The program as several processes, under `mpirun`.

mod common;

use common::{
    at, at_most, code, exit, expected_nets, json, model, permutations, run, stderr, stdout, tremula, wait_until,
    write_net,
};
use rustix::process::{Pid, Signal, kill_process};
use std::io::Read;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tremula");

/// On so many ranks, run the program with these arguments.
fn mpirun(ranks: usize, args: &[&str]) -> Output {
    launch(&[&["-n", &ranks.to_string(), PROGRAM], args].concat())
}

/// Run mpirun; `args` say how often to start what.
fn launch(args: &[&str]) -> Output {
    launcher(args).output().expect("mpirun can be run")
}

fn launcher(args: &[&str]) -> Command {
    let mut command = Command::new("mpirun");
    command
        .args(["--oversubscribe", "--bind-to", "none", "--mca", "pml", "ob1", "--quiet"])
        .args(["--mca", "btl", "self,vader", "--mca", "mpi_yield_when_idle", "1"])
        .args(args)
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .stdin(Stdio::null());
    command
}

#[test]
fn one_rank_reports_for_all() {
    let output = mpirun(3, &["bench", "fabric", "--quick", "--reps", "1", "--json", "-q"]);
    assert_eq!(code(&output), exit::COMPLETE, "{output:?}");
    assert_eq!(json(&output)["ranks"], 3);
}

#[test]
fn a_table_over_ranks_is_reported_where_only_owners_have_one_worker() {
    let how = ["--chunks", "8,64", "--load", "0.5", "--mixes", "50/50", "--workers", "2", "-q"];
    let output = mpirun(2, &[&["bench", "table", "--quick"], &how[..]].concat());
    assert_eq!(code(&output), exit::COMPLETE, "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let tables: Vec<&str> = text.lines().filter(|line| line.contains("C=8") && line.contains("C=64")).collect();
    assert!(tables.len() == 2 && tables[1].contains("owners") && !tables[0].contains("owners"), "{text}");
}

#[test]
fn a_table_over_ranks_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let out = at(&folder, "out");
    let how = ["--chunks", "8,64", "--workers", "1,2", "--json", "-q", "--out", &out];
    let output = mpirun(2, &[&["bench", "table", "--quick"], &how[..]].concat());
    assert_eq!(code(&output), exit::COMPLETE, "{output:?}");
    let report = json(&output);
    let length = |name: &str| report[name].as_array().map(Vec::len);
    let chunks = report["chunks"].as_array().expect("a list");
    // Chunks, loads, mixes and numbers of workers.
    assert_eq!((chunks.len(), length("speeds")), (2 * 3, Some(2 * 3 * 3 * 2)));
    assert_eq!(length("owned"), Some(3 * 3));
    // One array is read in chunks of 8 only, and owners read none.
    assert_eq!((length("ways"), length("latencies")), (Some((5 + 4) * 3), Some((2 + 1 + 1) * 3)));
    let cache = |form: usize, name: &str| report["caches"][form][name].as_f64().expect("a number");
    // Half of all slots, entries and requests are on the other rank.
    assert!(
        (0.4..0.6).contains(&cache(0, "remote_per_put")) && (0.4..0.6).contains(&cache(0, "remote_per_miss")),
        "{report}"
    );
    assert!(cache(0, "remembered") > 0.5 && cache(0, "remote_per_hit") < 1.2, "{report}");
    assert!(cache(1, "remembered") > 0.5 && cache(1, "remote_per_hit") < 0.1, "{report}");
    for one in report["latencies"].as_array().expect("a list") {
        let number = |name: &str| one[name].as_f64().expect("a number");
        assert!((0.4..0.9).contains(&number("remote_operations")), "{one}");
        assert!(one["latency_ns"]["p50"].as_u64() <= one["latency_ns"]["p99"].as_u64(), "{one}");
    }
    for file in ["table-ranks.json", "table-ranks-throughput.svg", "table-ranks-chunks.svg", "table-ranks-latency.svg"]
    {
        assert!(folder.path().join("out").join(file).exists(), "{file}");
    }
    for one in chunks {
        let number = |name: &str| one[name].as_f64().expect("a number");
        let ratio = number("measured") / number("simulated");
        assert!((0.8..1.25).contains(&ratio), "few operations, but no more than that: {one}");
    }
}

/// That there is a report means that all answers were right; those that are known are looked at once more.
#[test]
fn tasks_are_stolen_between_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let out = at(&folder, "out");
    let tactics = ["steal-one", "steal-many", "steal-half", "one-slot", "no-sharing"];
    let how = ["--reps", "1", "--workers", "1,2", "--tactics", &tactics.join(","), "--json", "-q", "--out", &out];
    let output = mpirun(2, &[&["bench", "tasks", "--quick"], &how[..]].concat());
    assert_eq!(code(&output), exit::COMPLETE, "{output:?}");
    let report = json(&output);
    assert_eq!((&report["ranks"], &report["left_out"]), (&2.into(), &serde_json::json!(["matmul(64)"])));
    assert_eq!(report["latency"].as_array().map(Vec::len), Some(2 * tactics.len()));
    let programs = report["programs"].as_array().expect("a list");
    let answer = |name: &str| programs.iter().find(|program| program["name"] == name).map(|program| &program["answer"]);
    let known = [("fib(30)", 832_040), ("queens(10)", 724), ("langford(8)", 300)];
    assert!(known.iter().all(|(name, expected)| answer(name) == Some(&(*expected).into())), "{report}");
    for program in programs {
        let shapes = program["shapes"].as_array().expect("a list");
        assert_eq!(shapes.len(), 2 * 2 * tactics.len());
        for shape in shapes {
            assert_eq!(shape["steals"].as_array().map(Vec::len), shape["ranks"].as_u64().map(|ranks| ranks as usize));
        }
    }
    for file in
        ["tasks-ranks.json", "tasks-ranks-speed-up.svg", "tasks-ranks-times.svg", "tasks-ranks-steal-latency.svg"]
    {
        assert!(folder.path().join("out").join(file).exists(), "{file}");
    }
}

#[test]
fn bad_studies_are_told_once() {
    let cases: [(&[&str], &str); 6] = [
        (&["tasks", "--programs", "sort"], "no program is called \"sort\""),
        (&["tasks", "--versions", "rayon"], "--versions: tactics and several"),
        (&["tasks", "--out", "/dev/null/x"], "/dev/null/x: "),
        (&["table", "--load", "0.9,0.5"], "give loads in order"),
        (&["table", "--out", "/dev/null/x"], "/dev/null/x: "),
        (&["fabric", "--out", "/dev/null/x"], "/dev/null/x: "),
    ];
    for (args, words) in cases {
        let output = mpirun(3, &[&["bench"], args].concat());
        assert_eq!(code(&output), exit::INPUT, "{output:?}");
        assert_eq!(stderr(&output).matches(words).count(), 1, "{words:?} in {output:?}");
    }
}

/// The study starts ranks by itself.
#[test]
fn explorations_by_ranks_are_measured() {
    let (phils, bakery) = (model("beem/phils.1.bdd"), model("beem/bakery.1.bdd"));
    let how = ["--shapes", "1x1,2x1,2x2", "--reps", "1", "--mem", "64M", "-q"];
    let output = run(&[&["bench", "reach", &phils, &bakery, "--json"], &how[..]].concat());
    assert_eq!(code(&output), exit::COMPLETE, "{output:?}");
    let report = json(&output);
    for (at, states) in ["80", "1506"].iter().enumerate() {
        assert_eq!(report["models"][at]["states"], *states);
        let kinds = report["models"][at]["kinds"].as_array().expect("a list");
        let shapes: Vec<_> = kinds.iter().map(|kind| (kind["ranks"].as_u64(), kind["workers"].as_u64())).collect();
        assert_eq!(shapes, [(1, 1), (2, 1), (2, 2)].map(|(ranks, workers)| (Some(ranks), Some(workers))));
        assert!(kinds.iter().all(|kind| kind["speed_up"]["median"].as_f64() > Some(0.0)), "{report}");
    }
    let text = stdout(&run(&[&["bench", "reach", &phils], &how[..]].concat()));
    assert!(text.contains("One process and several") && text.contains("Several ranks"), "{text}");
}

#[test]
fn the_study_of_explorations_starts_ranks_itself() {
    let phils = model("beem/phils.1.bdd");
    let output = run(&["bench", "reach", &phils, "--shapes", "1x1,2x1", "--launcher", "no-such-launcher -v"]);
    assert_eq!((code(&output), stdout(&output)), (exit::INPUT, String::new()), "{output:?}");
    assert!(stderr(&output).contains("cannot start no-such-launcher"), "{output:?}");
    let output = run(&["bench", "reach", "/dev/null", "--shapes", "2x1", "-q"]);
    assert_eq!(code(&output), exit::INPUT, "{output:?}");
    assert!(stderr(&output).contains("null, 2x1: "), "{output:?}");
    let output = mpirun(2, &["bench", "reach", &phils]);
    assert_eq!(code(&output), exit::INPUT, "{output:?}");
    assert!(stderr(&output).contains("runs in one process"), "{output:?}");
}

#[test]
fn what_is_wrong_on_the_command_line_is_told_once() {
    let bakery = model("beem/bakery.1.bdd");
    let wrong = [
        (&["reach", &bakery, "--wrokers", "2"][..], "unexpected argument"),
        (&["info", &bakery], "runs in one process"),
    ];
    for (arguments, told) in wrong {
        let output = mpirun(3, arguments);
        assert_eq!(code(&output), exit::INPUT, "{output:?}");
        assert_eq!(stderr(&output).matches(told).count(), 1, "{output:?}");
    }
    let output = mpirun(3, &["--version"]);
    assert_eq!((code(&output), stdout(&output).lines().count()), (exit::COMPLETE, 1), "{output:?}");
}

#[test]
fn ranks_explore_together() {
    let bakery = model("beem/bakery.1.bdd");
    for (ranks, strategy, block) in [(2, "par", "0"), (3, "chaining", "7"), (4, "bfs", "20")] {
        // In one word: Open MPI takes `--tune` for its own.
        let block = format!("--tune=level-block={block}");
        let how = ["--strategy", strategy, "--workers", "2", "--mem", "64M", &block, "--stress", "2000"];
        let output = mpirun(ranks, &[&["reach", &bakery, "--json"], &how[..]].concat());
        assert_eq!(code(&output), exit::COMPLETE, "{output:?}");
        let report = json(&output);
        assert_eq!((&report["states"], &report["ranks"]), (&"1506".into(), &ranks.into()));
        assert_eq!(report["nodes"], 1559);
    }
}

/// A launcher that binds ranks has divided the processors already.
#[test]
fn ranks_share_the_processors_that_several_of_them_have() {
    let processors = std::thread::available_parallelism().unwrap().get();
    let phils = model("beem/phils.1.bdd");
    let explore = [PROGRAM, "reach", &phils, "--json"];
    // What launches it has said to bind to nothing, which is no more known here.
    let unbound = ["-n", "2", "env", "-u", "OMPI_MCA_hwloc_base_binding_policy"];
    let output = launch(&[&unbound[..], &explore].concat());
    assert_eq!(
        (json(&output)["workers"].as_u64(), stderr(&output)),
        (Some((processors / 2).max(1) as u64), String::new())
    );
    let output = launch(&[&unbound[..], &["taskset", "-c", "0"], &explore].concat());
    assert_eq!(json(&output)["workers"], 1);
    // Of how many is left open: a container's quota may allow fewer than there are.
    let told = stderr(&output).starts_with("tremula: mpirun has bound the ranks of this host to 1 of ");
    assert_eq!(told, processors > 1, "{output:?}");
}

/// As ranks of several hosts do: each has its own part of the states, in tables of its own.
#[test]
fn ranks_explore_in_windows() {
    let bakery = model("beem/bakery.1.bdd");
    for (ranks, strategy) in [(1, "par"), (2, "par"), (3, "chaining"), (4, "bfs"), (2, "par-full")] {
        let how = [
            "--strategy",
            strategy,
            "--workers",
            "2",
            "--mem",
            "64M",
            "--tune=window-patience=100",
            "--stress",
            "2000",
        ];
        let output = mpirun(ranks, &[&["reach", &bakery, "--json", "--stats"], &how[..]].concat());
        assert_eq!(code(&output), exit::COMPLETE, "{output:?}");
        let report = json(&output);
        assert_eq!((&report["states"], &report["ranks"]), (&"1506".into(), &ranks.into()));
        assert!(ranks == 1 || stderr(&output).contains("Windows changed"), "{output:?}");
    }
}

#[test]
fn limits_of_windows_end_in_unknown() {
    let large = model("beem/collision.4.bdd.gz");
    let explore = |limit: [&str; 2]| {
        let how = ["--strategy", "par", "--workers", "1", "--json", "--stats", "--tune=window-patience=1000"];
        let began = Instant::now();
        let output = mpirun(3, &[&["reach", &large], &how[..], &limit].concat());
        assert_eq!(code(&output), exit::LIMIT, "{output:?}");
        assert!(began.elapsed().as_secs() < 300, "it hangs");
        assert!(!stderr(&output).contains("tremula:"), "the result tells it: {output:?}");
        assert!(stderr(&output).contains("Windows changed"), "what there was to tell: {output:?}");
        json(&output)
    };
    let slow = explore(["--timeout", "2"]);
    assert!(slow["reason"].as_str().is_some_and(|reason| reason.starts_with("time limit")), "{slow}");
    let small = explore(["--mem", "4M"]);
    assert!(small["reason"].as_str().is_some_and(|reason| reason.contains("memory budget")), "{small}");
}

/// Without knobs for steps that travel, ranks of one host work on one table in memory that all of them can address.
#[test]
fn ranks_of_one_host_have_one_table() {
    let models = [("beem/bakery.1.bdd", "1506"), ("beem/adding.1.bdd.gz", "7372"), ("sylvan/anderson.4.ldd", "29641")];
    for (ranks, workers, strategy) in [(2, "1", "par"), (3, "2", "chaining"), (4, "1", "saturation"), (2, "3", "auto")]
    {
        for (path, states) in models {
            let how =
                ["--strategy", strategy, "--workers", workers, "--mem", "64M", "--json", "--stats", "--stress", "5000"];
            let output = mpirun(ranks, &[&["reach", &model(path)], &how[..]].concat());
            assert_eq!(code(&output), exit::COMPLETE, "{output:?}");
            assert_eq!((&json(&output)["states"], &json(&output)["ranks"]), (&states.into(), &ranks.into()));
            assert!(stderr(&output).contains(&format!("Together  {ranks} ranks of {workers} workers")), "{output:?}");
        }
    }
}

/// A model that needs more than twice the memory of one rank.
#[test]
fn four_ranks_have_the_memory_of_four() {
    let lamport = model("beem/lamport.5.bdd.gz");
    let explore = |ranks, memory, more: &[&str]| {
        let how = ["--strategy", "par", "--workers", "1", "--mem", memory, "--json"];
        json(&mpirun(ranks, &[&["reach", &lamport], &how[..], more].concat()))
    };
    for memory in ["3500K", "7M"] {
        let alone = explore(1, memory, &[]);
        assert!(alone["reason"].as_str().is_some_and(|reason| reason.contains("memory budget")), "{alone}");
    }
    // In one table, and as several hosts do it.
    for more in [&[][..], &["--tune=window-patience=400000"]] {
        assert_eq!(explore(4, "3500K", more)["states"], "1066800", "{more:?}");
    }
}

/// MPI itself would wait for ever.
#[test]
fn nobody_waits_for_ever_for_ranks_that_do_not_come() {
    let began = std::time::Instant::now();
    let reach = ["reach", &model("beem/bakery.1.bdd"), "--workers", "1", "--mem", "64M"];
    let output = launch(&[&["-n", "1", PROGRAM], &reach[..], &[":", "-n", "1", "true"]].concat());
    assert_eq!(code(&output), exit::INTERNAL, "{output:?}");
    assert!(stderr(&output).contains("tremula: rank 0 on "), "{output:?}");
    assert!(stderr(&output).contains("waits for ranks that have not come"), "{output:?}");
    assert!(began.elapsed().as_secs() < 30, "it hangs");
}

#[test]
fn limits_of_ranks_end_in_unknown() {
    let large = model("beem/collision.4.bdd.gz");
    let began = std::time::Instant::now();
    let explore = |how: &[&str]| {
        let usual = ["reach", &large, "--strategy", "par", "--workers", "1", "--json", "--stats"];
        let output = mpirun(2, &[&usual[..], how].concat());
        assert_eq!(code(&output), exit::LIMIT, "{output:?}");
        output
    };
    let output = explore(&["--timeout", "2"]);
    assert_eq!(json(&output)["verdict"], "unknown");
    assert!(stderr(&output).contains("Together  2 ranks of 1 workers"), "{output:?}");
    assert!(began.elapsed().as_secs() < 30, "it hangs");
    let output = explore(&["--mem", "8M"]);
    assert!(json(&output)["reason"].as_str().is_some_and(|reason| reason.contains("memory")), "{output:?}");
    let output = explore(&["--timeout", "2", "--tune=level-block=16"]);
    assert!(stderr(&output).contains("Per step: "), "{output:?}");
}

#[test]
fn ranks_race_on_nets() {
    let few = ["Kanban-PT-00005", "AutoFlight-PT-01a", "PhaseVariation-PT-D02CS010", "PGCD-PT-D02N005"];
    let nets = expected_nets().into_iter().filter(|net| few.iter().any(|name| net.path.contains(name)));
    for net in nets.inspect(|net| println!("{}", net.path)) {
        for ranks in 1..=4 {
            let output = mpirun(ranks, &["reach", &model(&net.path), "--json", "--workers", "1", "--mem", "200M"]);
            assert_eq!(code(&output), exit::COMPLETE, "{output:?}");
            let value = json(&output);
            assert_eq!((&value["ranks"], &value["verdict"]), (&ranks.into(), &"complete".into()));
            let found =
                ["states", "transitions", "max_token_in_place", "max_token_per_marking"].map(|name| &value[name]);
            assert_eq!(found, [&net.states, &net.transitions, &net.max_token_in_place, &net.max_token_per_marking]);
            assert!(value["order"].as_str().is_some_and(|order| order != "auto"), "{value}");
        }
    }
}

#[test]
fn every_rank_has_a_part_in_the_race() {
    let path = model("pnml/Kanban-PT-00005.pnml");
    let race = |ranks, args: &[&str]| {
        let output = mpirun(ranks, &[&["reach", &path, "--json", "--stats", "--workers", "1"], args].concat());
        assert_eq!(code(&output), exit::COMPLETE, "{output:?}");
        let lines: Vec<String> =
            stderr(&output).lines().filter(|line| line.starts_with("Rank ")).map(str::to_owned).collect();
        assert_eq!(lines.iter().filter(|line| line.contains("first, with")).count(), 1, "{lines:?}");
        (json(&output), lines)
    };
    let (value, lines) = race(3, &[]);
    let won = format!("first, with saturation in the order {}", value["order"].as_str().unwrap());
    assert!(lines.iter().any(|line| line.ends_with(&won)), "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.ends_with("beaten")).count(), 2, "{lines:?}");
    // In one order there are two ways to saturate, and a user who wants saturation gets nothing else.
    let (value, lines) = race(4, &["--order", "sloan+reversed", "--strategy", "saturation"]);
    assert_eq!((&value["order"], &value["states"]), (&"sloan+reversed".into(), &"2546432".into()));
    assert_eq!(lines.iter().filter(|line| line.ends_with("nothing to do")).count(), 2, "{lines:?}");
    // Round by round, each rank in an order of its own.
    let (value, lines) = race(2, &["--strategy", "chaining"]);
    assert_eq!((&value["strategy"], &value["states"]), (&"chaining".into(), &"2546432".into()));
    assert!(lines.iter().all(|line| line.contains("first, with chaining") || line.ends_with("beaten")), "{lines:?}");
}

/// A binary counter that ends when all digits are ones: its markings are far from each other, and their diagram is small.
fn counter(bits: usize) -> String {
    let place = |bit: usize| {
        let zero = "<initialMarking><text>1</text></initialMarking>";
        format!("<place id=\"one{bit}\"/>\n<place id=\"zero{bit}\">{zero}</place>\n")
    };
    let arc = |source: &str, target: &str| {
        format!("<arc id=\"{source}-{target}\" source=\"{source}\" target=\"{target}\"/>\n")
    };
    let change = |name: &str, bit: usize, from: &str, to: &str| {
        arc(&format!("{from}{bit}"), name) + &arc(name, &format!("{to}{bit}"))
    };
    let count = |bit: usize| {
        let name = format!("t{bit}");
        let carried: String = (0..bit).map(|lower| change(&name, lower, "one", "zero")).collect();
        format!("<transition id=\"{name}\"/>\n{}{carried}", change(&name, bit, "zero", "one"))
    };
    let (places, changes): (String, String) = ((0..bits).rev().map(place).collect(), (0..bits).map(count).collect());
    format!("<page id=\"g\">\n{places}{changes}</page>")
}

#[test]
fn all_stop_when_one_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder, "counter.pnml");
    write_net(&path, &counter(40));
    // Saturation takes milliseconds; others would go through a million million rounds or markings.
    let how = ["--order", "given", "--workers", "1", "--mem", "64M", "--timeout", "60", "--json", "--stats"];
    let output = mpirun(6, &[&["reach", &path], &how[..]].concat());
    assert_eq!(code(&output), exit::COMPLETE, "{output:?}");
    let value = json(&output);
    assert_eq!((&value["states"], &value["transitions"]), (&"1099511627776".into(), &"1099511627775".into()));
    assert_eq!((value["strategy"].as_str(), stderr(&output).matches("  beaten\n").count()), (Some("saturation"), 5));
}

#[test]
fn a_race_finds_deadlocks() {
    let path = model("pnml/PhilosophersDyn-PT-03.pnml.gz");
    let asked = ["reach", &path, "--deadlock", "--trace", "--json"];
    let alone = json(&common::run(&asked));
    let output = mpirun(3, &asked);
    assert_eq!(code(&output), exit::VIOLATED, "{output:?}");
    let value = json(&output);
    assert_eq!((&value["deadlock"], &value["ranks"], &value["states"]), (&true.into(), &3.into(), &alone["states"]));
    assert!(value["deadlock_marking"].as_object().is_some_and(|marking| !marking.is_empty()), "{value}");
    // There may be several shortest ones; all have the same length.
    let length = |value: &serde_json::Value| value["deadlock_trace"].as_array().map(Vec::len);
    assert!(length(&value).is_some_and(|length| length > 0), "{value}");
    assert_eq!(length(&value), length(&alone));
    let output = mpirun(2, &["reach", &model("pnml/Kanban-PT-00005.pnml"), "--deadlock", "--json"]);
    assert_eq!((code(&output), &json(&output)["deadlock"]), (exit::COMPLETE, &false.into()), "{output:?}");
}

#[test]
fn limits_of_a_race_end_in_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder, "permutations.pnml");
    write_net(&path, &permutations(18));
    let began = Instant::now();
    let output = mpirun(2, &["reach", &path, "--workers", "1", "--mem", "1G", "--timeout", "2", "--json"]);
    assert_eq!(code(&output), exit::LIMIT, "{output:?}");
    let value = json(&output);
    assert_eq!((&value["verdict"], &value["reason"]), (&"unknown".into(), &"time limit of 2 s reached".into()));
    let states = value["states"].as_str().unwrap_or_else(|| panic!("no lower bound: {value}"));
    assert!(at_most("1", states) && at_most(states, "6402373705728000"), "{states}");
    assert!(began.elapsed().as_secs() < 30, "it hangs");
    let tokens = model("pnml/ERK-PT-100000.pnml");
    let output = mpirun(2, &["reach", &tokens, "--workers", "1", "--mem", "2M", "--timeout", "60", "--json"]);
    assert_eq!(code(&output), exit::LIMIT, "{output:?}");
    assert!(json(&output)["reason"].as_str().is_some_and(|reason| reason.contains("budget")), "{output:?}");
}

#[test]
fn a_question_stops_no_rank_and_an_interrupt_all() {
    let folder = tempfile::tempdir().unwrap();
    let (path, events) = (at(&folder, "permutations.pnml"), at(&folder, "events"));
    write_net(&path, &permutations(18));
    let args = ["reach", &path, "--workers", "1", "--mem", "1G", "--timeout", "100", "--json", "--events", &events];
    let mut command = launcher(&[&["-n", "3", PROGRAM], &args[..]].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("mpirun can be run");
    // Rank 0 tells in its first event which process it is, and in later ones what it is doing.
    let written = || std::fs::read_to_string(&events).unwrap_or_default();
    wait_until("rank 0 explores", || written().contains("exploring"));
    let start: serde_json::Value = serde_json::from_str(written().lines().next().unwrap()).unwrap();
    let process = Pid::from_raw(start["pid"].as_i64().unwrap() as i32).unwrap();
    // The launcher passes it on to all ranks.
    kill_process(Pid::from_child(&child), Signal::USR1).unwrap();
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(child.try_wait().unwrap(), None, "a rank has ended");
    let began = Instant::now();
    kill_process(process, Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), exit::LIMIT, "{output:?}");
    let value = json(&output);
    assert_eq!((&value["verdict"], &value["reason"]), (&"unknown".into(), &"interrupted".into()));
    assert!(began.elapsed().as_secs() < 20, "it hangs");
}

/// Start `tremula launch` with so many ranks; the program's arguments are these.
fn start_by_launch(ranks: &str, args: &[&str]) -> std::process::Child {
    let launcher = launcher(&[&["-n", ranks, PROGRAM], args].concat());
    let mut command = tremula(&["launch"]);
    command.arg(launcher.get_program()).args(launcher.get_args());
    command.envs(launcher.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("mpirun can be run")
}

#[test]
fn an_interrupt_of_a_launched_job_ends_it_with_one_result() {
    let folder = tempfile::tempdir().unwrap();
    let (path, events) = (at(&folder, "permutations.pnml"), at(&folder, "events"));
    write_net(&path, &permutations(18));
    let large = model("beem/collision.4.bdd.gz");
    // A race, a table of all, windows, and one rank alone, which does not know of the others that there might be.
    let windows = "--tune=window-patience=1000";
    let cases = [("3", &path, "--quiet"), ("3", &large, "--quiet"), ("2", &large, windows), ("1", &large, "--quiet")];
    for (ranks, model, more) in cases {
        let how = ["--strategy", "par", "--workers", "1", "--mem", "1G", "--timeout", "100", "--events", &events];
        let child = start_by_launch(ranks, &[&["reach", model, "--json"], &how[..], &[more]].concat());
        wait_until("rank 0 explores", || std::fs::read_to_string(&events).unwrap_or_default().contains("exploring"));
        let began = Instant::now();
        send(child.id() as i32, Signal::USR1);
        std::thread::sleep(Duration::from_secs(1));
        send(child.id() as i32, Signal::INT);
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), exit::LIMIT, "{output:?}");
        let value = json(&output);
        assert_eq!((&value["verdict"], &value["reason"]), (&"unknown".into(), &"interrupted".into()));
        assert_eq!(stderr(&output).matches("tremula: exploring").count(), 1, "the answer to the question: {output:?}");
        assert!(began.elapsed().as_secs() < 20, "it hangs");
        std::fs::remove_file(&events).unwrap();
    }
}

#[test]
fn an_interrupt_of_a_launched_study_ends_it_at_once() {
    for (signal, ended) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut child = start_by_launch("2", &["bench", "tasks", "--workers", "1"]);
        // It tells what it is doing.
        let mut first = [0];
        child.stderr.as_mut().unwrap().read_exact(&mut first).unwrap();
        let began = Instant::now();
        send(child.id() as i32, signal);
        let output = child.wait_with_output().unwrap();
        assert_eq!((code(&output), stdout(&output).as_str()), (ended, ""), "{output:?}");
        assert!(!stderr(&output).contains("tremula:"), "no rank was lost: {output:?}");
        assert!(began.elapsed().as_secs() < 5, "it hangs");
    }
}

/// A job that is asked to end at any time of its beginning ends soon, as one that could tell or as one that could not.
#[test]
fn an_early_interrupt_of_a_launched_job_ends_it() {
    let large = model("beem/collision.4.bdd.gz");
    for wait in (0..1500).step_by(150) {
        let child = start_by_launch("3", &["reach", &large, "--workers", "1", "--mem", "1G", "--timeout", "100"]);
        std::thread::sleep(Duration::from_millis(wait));
        let began = Instant::now();
        send(child.id() as i32, Signal::INT);
        let output = child.wait_with_output().unwrap();
        // `launch` itself may not have come so far as to catch signals.
        let code = output.status.code().unwrap_or(130);
        assert!([exit::LIMIT, 130].contains(&code), "after {wait} ms: {output:?}");
        let told = stdout(&output).matches("UNKNOWN").count();
        assert_eq!(told, usize::from(code == exit::LIMIT), "after {wait} ms: {output:?}");
        assert!(began.elapsed().as_secs() < 10, "it hangs");
    }
}

#[test]
fn a_launched_job_without_ranks_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let events = at(&folder, "events");
    let large = model("beem/collision.4.bdd.gz");
    let args = [
        "reach",
        &large,
        "--strategy",
        "par",
        "--workers",
        "1",
        "--mem",
        "1G",
        "--timeout",
        "100",
        "--events",
        &events,
    ];
    let child = start_by_launch("3", &args);
    wait_until("rank 0 explores", || std::fs::read_to_string(&events).unwrap_or_default().contains("exploring"));
    let launcher = children(child.id() as i32)[0];
    let guards = children(launcher);
    let ranks: Vec<i32> = guards.iter().flat_map(|guard| children(*guard)).collect();
    assert_eq!((guards.len(), ranks.len()), (3, 3));
    for process in [ranks, guards].concat() {
        // A guard takes its rank with it, and the launcher ends what is left.
        let _ = kill_process(Pid::from_raw(process).unwrap(), Signal::KILL);
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), stdout(&output).as_str()), (exit::INTERNAL, ""), "{output:?}");
    assert!(stderr(&output).contains("tremula: mpirun ended with code 137 of its own: the job is lost"), "{output:?}");
}

/// A job of three ranks that would take long.
struct Job {
    launcher: std::process::Child,
    /// The processes of the ranks, in order of their numbers.
    ranks: Vec<i32>,
    _folder: tempfile::TempDir,
}

impl Job {
    fn start() -> Job {
        let folder = tempfile::tempdir().unwrap();
        let (path, events) = (at(&folder, "permutations.pnml"), at(&folder, "events"));
        write_net(&path, &permutations(18));
        let args = ["reach", &path, "--workers", "1", "--mem", "1G", "--timeout", "100", "--json", "--events", &events];
        let mut command = launcher(&[&["-n", "3", PROGRAM], &args[..]].concat());
        let launcher = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("mpirun can be run");
        wait_until("rank 0 explores", || std::fs::read_to_string(&events).unwrap_or_default().contains("exploring"));
        // The launcher starts guards, and those the ranks.
        let mut guards = children(launcher.id() as i32);
        guards.sort_by_key(|guard| variable(*guard, "OMPI_COMM_WORLD_RANK"));
        let ranks: Vec<i32> = guards.iter().flat_map(|guard| children(*guard)).collect();
        assert_eq!((guards.len(), ranks.len()), (3, 3));
        Job { launcher, ranks, _folder: folder }
    }

    /// The job has lost a rank, and ends soon: with the code of a loss, one message that names it, no result and no process.
    fn loses(self, rank: usize, cause: &str) {
        let began = Instant::now();
        let output = self.launcher.wait_with_output().unwrap();
        assert_eq!(code(&output), exit::INTERNAL, "{output:?}");
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let message = format!("tremula: rank {rank} on {} {cause}", host.trim());
        let told: Vec<String> = stderr(&output).lines().map(str::to_owned).collect();
        assert!(told.len() == 1 && told[0].starts_with(&message), "{message:?} in {output:?}");
        assert_eq!(stdout(&output), "");
        assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
        wait_until("all ranks end", || self.ranks.iter().all(|rank| !exists(*rank)));
    }
}

fn exists(process: i32) -> bool {
    std::fs::exists(format!("/proc/{process}")).unwrap()
}

fn children(process: i32) -> Vec<i32> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let text = tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("children")).unwrap());
    text.collect::<String>().split_whitespace().map(|child| child.parse().unwrap()).collect()
}

/// A variable in the environment of a process.
fn variable(process: i32, name: &str) -> Option<String> {
    let all = std::fs::read_to_string(format!("/proc/{process}/environ")).unwrap();
    all.split('\0').find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).map(str::to_owned)
}

fn send(process: i32, signal: Signal) {
    kill_process(Pid::from_raw(process).unwrap(), signal).unwrap();
}

#[test]
fn a_killed_rank_is_named() {
    for rank in [0, 2] {
        let job = Job::start();
        send(job.ranks[rank], Signal::KILL);
        job.loses(rank, "is gone: its process has died");
    }
}

#[test]
fn a_stopped_rank_is_named() {
    let job = Job::start();
    send(job.ranks[0], Signal::STOP);
    job.loses(0, "");
}

/// The process that the launcher knows instead of the rank.
#[test]
fn a_stopped_guard_is_a_stopped_rank() {
    let job = Job::start();
    let guard = variable(job.ranks[1], "TREMULA_GUARD").unwrap().parse().unwrap();
    send(guard, Signal::STOP);
    job.loses(1, "was stopped for");
}

#[test]
fn a_killed_guard_takes_its_rank_with_it() {
    let job = Job::start();
    let guard = variable(job.ranks[1], "TREMULA_GUARD").unwrap().parse().unwrap();
    send(guard, Signal::KILL);
    let output = job.launcher.wait_with_output().unwrap();
    // The launcher has its own way to end, and we have no result to add.
    assert_eq!((code(&output), stdout(&output).as_str()), (137, ""), "{output:?}");
    wait_until("all ranks end", || job.ranks.iter().all(|rank| !exists(*rank)));
}

#[test]
fn other_builds_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let other = at(&folder, "tremula");
    // What follows the last section of a program changes nothing but what it is.
    std::fs::copy(PROGRAM, &other).unwrap();
    let args = ["reach", &model("beem/phils.1.bdd"), "--workers", "1", "--mem", "100M"];
    let both = [&["-n", "1", PROGRAM][..], &args, &[":", "-n", "2", &other], &args].concat();
    let output = launch(&both);
    assert_eq!(code(&output), exit::COMPLETE, "{output:?}");
    let copied = std::fs::OpenOptions::new().append(true).open(&other).unwrap();
    std::io::Write::write_all(&mut &copied, b"another").unwrap();
    drop(copied);
    let output = launch(&both);
    assert_eq!(code(&output), exit::INPUT, "{output:?}");
    let (host, told) = (rustix::system::uname(), stderr(&output));
    let host = host.nodename().to_string_lossy();
    assert_eq!(
        told,
        format!("tremula: rank 1 on {host} was started with another program, version or arguments than rank 0\n")
    );
}

#[test]
fn what_is_wrong_on_the_command_line_of_others_is_told_by_one_of_them() {
    let bakery = model("beem/bakery.1.bdd");
    let output = launch(&["-n", "1", PROGRAM, "reach", &bakery, ":", "-n", "2", PROGRAM, "reach", &bakery, "--wrong"]);
    assert_eq!(code(&output), exit::INPUT, "{output:?}");
    let told = stderr(&output);
    assert_eq!(told.matches("unexpected argument '--wrong'").count(), 1, "{told}");
    let host = rustix::system::uname();
    let rank = format!("tremula: rank 1 on {} was started like this:", host.nodename().to_string_lossy());
    assert!(told.contains(&rank), "{told}");
}

#[test]
fn bad_nets_are_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder, "twice.pnml");
    write_net(&path, "<page id=\"g\">\n<place id=\"p\"/>\n<place id=\"p\"/>\n</page>");
    let kanban = model("pnml/Kanban-PT-00005.pnml");
    let lists = model("sylvan/blocks.2.ldd");
    let cases: [(&[&str], &str); 7] = [
        (&["no-such-net.pnml"], "no-such-net.pnml: No such file"),
        (&[&path], "line 6, column 1: "),
        (&[&kanban, "--order", "units"], "there is no order `units` of this net"),
        (&[&kanban, "--engine", "bdd"], "several processes explore Petri nets with --engine mdd"),
        (&[&kanban, "--save-states", "states"], "the states of Petri nets cannot be saved yet"),
        (&[&lists, "--save-states", "states"], "several processes cannot save or compare the states yet"),
        // A knob of steps that travel between hosts.
        (&[&lists, "--tune=fibers=8"], ".bdd models and Petri nets only"),
    ];
    for (args, words) in cases {
        let output = mpirun(2, &[&["reach"], args].concat());
        assert_eq!(code(&output), exit::INPUT, "{args:?}: {output:?}");
        assert_eq!(stderr(&output).matches(words).count(), 1, "{words:?} in {output:?}");
        assert_eq!(stdout(&output), "", "{args:?}");
    }
}

#[test]
fn ranks_must_read_the_same_model() {
    let kanban = std::fs::read_to_string(model("pnml/Kanban-PT-00005.pnml")).unwrap();
    let erk = std::fs::read_to_string(model("pnml/ERK-PT-000001.pnml")).unwrap();
    // The same net with one token more.
    let other_marking = kanban.replacen("<text>5</text>", "<text>6</text>", 1);
    assert_ne!(kanban, other_marking);
    for other in [erk, other_marking] {
        let [here, there] = [0; 2].map(|_| tempfile::tempdir().unwrap());
        std::fs::write(at(&here, "model.pnml"), &kanban).unwrap();
        std::fs::write(at(&there, "model.pnml"), &other).unwrap();
        let rank = |folder| ["-n", "1", "--wdir", folder, PROGRAM, "reach", "model.pnml"];
        let (here, there) = (here.path().to_str().unwrap(), there.path().to_str().unwrap());
        let output = launch(&[&rank(here)[..], &[":"], &rank(there)[..]].concat());
        assert_eq!(code(&output), exit::INPUT, "{output:?}");
        assert_eq!(stderr(&output).matches("rank 1 finds another model").count(), 1, "{output:?}");
    }
}

#[test]
fn the_model_is_not_overwritten_by_ranks_either() {
    let folder = tempfile::tempdir().unwrap();
    let copy = at(&folder, "copy.bdd");
    let original = std::fs::read(model("beem/phils.1.bdd")).unwrap();
    std::fs::write(&copy, &original).unwrap();
    for option in ["--events", "--save-states"] {
        let output = mpirun(2, &["reach", &copy, option, &copy]);
        assert_eq!(code(&output), exit::INPUT, "{output:?}");
        assert_eq!(stderr(&output).matches("would be overwritten").count(), 1, "{output:?}");
    }
    assert_eq!(std::fs::read(&copy).unwrap(), original);
}

#[test]
fn bad_input_is_told_once() {
    let output = mpirun(3, &["reach", "no-such-model.bdd"]);
    assert_eq!(code(&output), exit::INPUT, "{output:?}");
    assert_eq!(stderr(&output).matches("no-such-model.bdd: No such file").count(), 1, "{output:?}");
    let output = mpirun(2, &["reach", &model("beem/phils.1.bdd"), "--strategy", "saturation", "--tune=fibers=8"]);
    assert_eq!(code(&output), exit::INPUT, "{output:?}");
    assert_eq!(stderr(&output).matches("saturation takes processes of one host").count(), 1, "{output:?}");
}

#[test]
fn a_model_that_is_missing_on_one_host_is_bad_input() {
    let [here, there] = [0; 2].map(|_| tempfile::tempdir().unwrap());
    std::fs::copy(model("beem/phils.1.bdd"), at(&here, "model.bdd")).unwrap();
    for folders in [[&here, &there], [&there, &here]] {
        let [first, second] = folders.map(|folder| folder.path().to_str().unwrap());
        let rank = |folder| ["-n", "1", "--wdir", folder, PROGRAM, "reach", "model.bdd"];
        let output = launch(&[&rank(first)[..], &[":"], &rank(second)[..]].concat());
        assert_eq!(code(&output), exit::INPUT, "{output:?}");
        assert_eq!(stderr(&output).matches("model.bdd: No such file").count(), 1, "{output:?}");
        assert_eq!(stdout(&output), "", "{output:?}");
    }
}

#[test]
fn what_knows_no_ranks_is_refused() {
    let output = mpirun(2, &["info", "model.bdd"]);
    assert_eq!(code(&output), exit::INPUT, "{output:?}");
    assert_eq!(stdout(&output), "");
    assert!(stderr(&output).contains("a launcher of MPI has started several"), "{output:?}");
}

#[test]
fn a_single_rank_is_no_cluster() {
    let output = mpirun(1, &["info", "no-such-model.bdd"]);
    assert!(stderr(&output).contains("no-such-model.bdd: No such file"), "{output:?}");
}

#[test]
fn ranks_must_be_started_alike() {
    let study = |reps| ["-n", "1", PROGRAM, "bench", "fabric", "--quick", "--reps", reps];
    let output = launch(&[&study("1")[..], &[":"], &study("2")[..]].concat());
    assert_eq!(code(&output), exit::INPUT, "{output:?}");
    assert!(stderr(&output).contains("rank 1 on "), "{output:?}");
    assert!(stderr(&output).contains("another program, version or arguments"), "{output:?}");
}

/// As `srun` without PMIx and MPICH's launcher start processes: each would believe that it is alone.
#[test]
fn processes_that_cannot_find_each_other_are_refused() {
    let path = model("beem/phils.1.bdd");
    for (size, number) in [("PMI_SIZE", "PMI_RANK"), ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID")] {
        for rank in ["0", "1"] {
            let output = tremula(&["reach", &path, "--json"]).env(size, "2").env(number, rank).output().unwrap();
            assert_eq!((code(&output), output.stdout.len()), (exit::INPUT, 0), "{output:?}");
            let told = stderr(&output).contains("use Open MPI's mpirun, or srun --mpi=pmix");
            assert_eq!((told, output.stderr.is_empty()), (rank == "0", rank != "0"), "{output:?}");
        }
    }
}

#[test]
fn a_launcher_that_knows_other_ranks_is_told_once() {
    let path = model("beem/phils.1.bdd");
    let output = launch(&["-n", "3", "env", "OMPI_COMM_WORLD_SIZE=4", PROGRAM, "reach", &path]);
    assert_eq!((code(&output), stdout(&output).as_str()), (exit::INPUT, ""), "{output:?}");
    let told = "tremula: the launcher started 4 ranks, but this program's MPI knows 3: they are not the same MPI\n";
    assert_eq!(stderr(&output), told);
}
