//! The program as several processes, under `mpirun`.

mod common;

use common::{code, exit, json, stderr, stdout};
use std::process::{Command, Output};

fn mpirun(ranks: usize, args: &[&str]) -> Output {
    Command::new("mpirun")
        .args(["-n", &ranks.to_string(), "--oversubscribe", "--bind-to", "none", "--mca", "pml", "ob1", "--quiet"])
        .args(["--mca", "btl", "self,vader", "--mca", "mpi_yield_when_idle", "1", env!("CARGO_BIN_EXE_tremula")])
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
    let program = env!("CARGO_BIN_EXE_tremula");
    let study = |reps| ["-n", "1", program, "bench", "fabric", "--quick", "--reps", reps];
    let output = Command::new("mpirun")
        .args(["--oversubscribe", "--bind-to", "none", "--mca", "pml", "ob1", "--quiet"])
        .args([&study("1")[..], &[":"], &study("2")[..]].concat())
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .output()
        .expect("mpirun can be run");
    assert_eq!(code(&output), exit::INPUT, "{output:?}");
    assert!(stderr(&output).contains("rank 1 on "), "{output:?}");
    assert!(stderr(&output).contains("another program, version or arguments"), "{output:?}");
}
