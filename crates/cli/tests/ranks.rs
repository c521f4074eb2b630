//! The program as several processes, under `mpirun`.

mod common;

use common::{code, exit, json, stderr, stdout};
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tremula");

/// On so many ranks, run the program with these arguments.
fn mpirun(ranks: usize, args: &[&str]) -> Output {
    launch(&[&["-n", &ranks.to_string(), PROGRAM], args].concat())
}

/// Run mpirun; `args` say how often to start what.
fn launch(args: &[&str]) -> Output {
    Command::new("mpirun")
        .args(["--oversubscribe", "--bind-to", "none", "--mca", "pml", "ob1", "--quiet"])
        .args(["--mca", "btl", "self,vader", "--mca", "mpi_yield_when_idle", "1"])
        .args(args)
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .output()
        .expect("mpirun can be run")
}

#[test]
fn one_rank_reports_for_all() {
    let output = mpirun(3, &["bench", "fabric", "--quick", "--reps", "1", "--json", "-q"]);
    assert_eq!(code(&output), exit::COMPLETE, "{output:?}");
    assert_eq!(json(&output)["ranks"], 3);
}

#[test]
fn a_table_over_ranks_is_measured() {
    let output = mpirun(2, &["bench", "table", "--quick", "--chunks", "8,32", "--json", "-q"]);
    assert_eq!(code(&output), exit::COMPLETE, "{output:?}");
    let report = json(&output);
    let chunks = report["chunks"].as_array().expect("a list");
    assert_eq!((chunks.len(), report["speeds"].as_array().map(Vec::len)), (2 * 3, Some(2 * 3 * 3)));
    for one in chunks {
        let number = |name: &str| one[name].as_f64().expect("a number");
        let ratio = number("measured") / number("simulated");
        assert!((0.8..1.25).contains(&ratio), "few operations, but no more than that: {one}");
    }
}

/// A model of the repository.
fn model(name: &str) -> String {
    format!("{}/../../testdata/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn ranks_explore_together() {
    let bakery = model("beem/bakery.1.bdd");
    for (ranks, strategy, block) in [(2, "par", "0"), (3, "chaining", "7"), (4, "bfs", "20")] {
        let block = format!("level-block={block}");
        let how = ["--strategy", strategy, "--workers", "2", "--mem", "64M", "--tune", &block, "--stress", "2000"];
        let output = mpirun(ranks, &[&["reach", &bakery, "--json"], &how[..]].concat());
        assert_eq!(code(&output), exit::COMPLETE, "{output:?}");
        let report = json(&output);
        assert_eq!((&report["states"], &report["ranks"]), (&"1506".into(), &ranks.into()));
        assert_eq!(report["nodes"], 1559);
    }
}

#[test]
fn limits_of_ranks_end_in_unknown() {
    let large = model("beem/collision.4.bdd.gz");
    let began = std::time::Instant::now();
    let output = mpirun(2, &["reach", &large, "--strategy", "par", "--workers", "1", "--timeout", "2", "--json"]);
    assert_eq!(code(&output), exit::LIMIT, "{output:?}");
    assert_eq!(json(&output)["verdict"], "unknown");
    assert!(began.elapsed().as_secs() < 30, "it hangs");
    let output = mpirun(2, &["reach", &large, "--strategy", "par", "--workers", "1", "--mem", "8M", "--json"]);
    assert_eq!(code(&output), exit::LIMIT, "{output:?}");
    assert!(json(&output)["reason"].as_str().is_some_and(|reason| reason.contains("memory")), "{output:?}");
}

#[test]
fn bad_input_is_told_once() {
    let output = mpirun(3, &["reach", "no-such-model.bdd"]);
    assert_eq!(code(&output), exit::INPUT, "{output:?}");
    assert_eq!(stderr(&output).matches("no-such-model.bdd: No such file").count(), 1, "{output:?}");
    let output = mpirun(2, &["reach", &model("beem/phils.1.bdd"), "--strategy", "saturation"]);
    assert_eq!(code(&output), exit::INPUT, "{output:?}");
    assert_eq!(stderr(&output).matches("saturation runs in one process").count(), 1, "{output:?}");
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
