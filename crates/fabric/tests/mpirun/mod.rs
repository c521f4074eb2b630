//! Tests whose ranks are processes: a program without harness that starts itself again under `mpirun`. Other crates have such
//! tests too, and take this file along.

use std::process::{Command, ExitCode, Output};
use std::time::{Duration, Instant};
use tremula_fabric::processes::{self, Options, ProcessFabric};
use tremula_fabric::{Fabric, launched_ranks};

/// Tells the ranks what to run: all cases, or something else that the program knows.
const ROLE: &str = "TREMULA_TEST_ROLE";
/// Set where ranks shall not map each other's memory.
const NO_MAPPING: &str = "TREMULA_TEST_NO_MAPPING";
/// What a rank ends with when another was lost.
pub const LOST: i32 = 70;
/// What ranks end with when one of them has ended the job.
pub const LEFT: i32 = 71;

/// What all ranks run together.
pub type Case = (&'static str, fn(&ProcessFabric));
/// What the program itself runs; otherwise the error says what went wrong.
pub type Test = (&'static str, fn() -> Result<(), String>);

/// Take part in a role where this process is a rank, else run the tests that the arguments name.
pub fn main(tests: &[Test], cases: &[Case], other_role: fn(&ProcessFabric, &str)) -> ExitCode {
    match (launched_ranks(), std::env::var(ROLE)) {
        (Some(_), Ok(role)) if role == "cases" => rank(|fabric| run_cases(fabric, cases)),
        (Some(_), Ok(role)) => rank(|fabric| other_role(fabric, &role)),
        _ => direct(tests),
    }
}

/// Shall ranks use the network even where they could map memory?
pub fn no_mapping() -> bool {
    std::env::var_os(NO_MAPPING).is_some()
}

fn rank(body: impl FnOnce(&ProcessFabric)) -> ExitCode {
    let mut options = Options::new(|lost| eprintln!("LOST: {lost}"), || std::process::exit(LOST));
    options.leave = || {
        eprintln!("LEFT");
        std::process::exit(LEFT)
    };
    options.patience = Duration::from_secs(3);
    options.no_mapping = no_mapping();
    if options.no_mapping {
        // Through the network, and cut in pieces.
        options.longest_message = 5;
    }
    match processes::run(options, body) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run_cases(fabric: &ProcessFabric, cases: &[Case]) {
    for (name, case) in cases {
        let started = Instant::now();
        case(fabric);
        fabric.barrier();
        if fabric.rank() == 0 {
            println!("{name}: {:.0} ms", started.elapsed().as_secs_f64() * 1e3);
        }
    }
}

fn direct(tests: &[Test]) -> ExitCode {
    let filter: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let mut failed = 0;
    for (name, test) in tests {
        if !filter.is_empty() && !filter.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        let started = Instant::now();
        let outcome = test();
        let verdict = if outcome.is_ok() { "ok" } else { "FAILED" };
        println!("test {name} ... {verdict} ({:.1} s)", started.elapsed().as_secs_f64());
        if let Err(message) = outcome {
            println!("{message}");
            failed += 1;
        }
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// This program on so many ranks, in a role.
pub fn mpirun(ranks: usize, role: &str, no_mapping: bool) -> Output {
    let mut command = Command::new("mpirun");
    command.args(["-n", &ranks.to_string(), "--oversubscribe", "--bind-to", "none", "--mca", "pml", "ob1"]);
    command.args(["--mca", "btl", "self,vader", "--mca", "mpi_yield_when_idle", "1", "--quiet"]);
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1").env(ROLE, role);
    if no_mapping {
        command.env(NO_MAPPING, "1");
    }
    command.arg(std::env::current_exe().expect("a program knows itself")).output().expect("mpirun can be run")
}

/// All cases, on 1 to 4 ranks.
pub fn all_cases(no_mapping: bool) -> Result<(), String> {
    (1..=4).try_for_each(|ranks| {
        let output = mpirun(ranks, "cases", no_mapping);
        if output.status.success() { Ok(()) } else { Err(format!("{ranks} ranks: {}", told(&output))) }
    })
}

/// What the ranks have printed.
pub fn told(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
