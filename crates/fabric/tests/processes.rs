//! The conformance suite on ranks that are processes: this program starts itself again under `mpirun`, on 1 to 4 ranks,
//! with their memory mapped and through the network.

mod cases;

use std::process::{Command, ExitCode, Output};
use std::time::{Duration, Instant};
use tremula_fabric::processes::{self, Options, ProcessFabric};
use tremula_fabric::{Fabric, launched_ranks};

/// Tells the ranks what to run: all cases, or a way to be lost.
const ROLE: &str = "TREMULA_TEST_ROLE";
/// Set where ranks shall not map each other's memory.
const NO_MAPPING: &str = "TREMULA_TEST_NO_MAPPING";
/// What a rank ends with when another was lost.
const LOST: i32 = 70;

type Case = (&'static str, fn(&ProcessFabric));

macro_rules! list {
    (; $($case:ident),*) => {
        const CASES: &[Case] = &[$((stringify!($case), cases::$case as fn(&ProcessFabric))),*];
    };
}
cases::with_all_cases! { list! }

fn main() -> ExitCode {
    match (launched_ranks(), std::env::var(ROLE)) {
        (Some(_), Ok(role)) => rank(&role),
        _ => direct(),
    }
}

// ---- ranks --------------------------------------------------------------------------------------------------------

fn rank(role: &str) -> ExitCode {
    let mut options = Options::new(|lost| eprintln!("LOST: {lost}"), || std::process::exit(LOST));
    options.patience = Duration::from_secs(3);
    options.no_mapping = std::env::var_os(NO_MAPPING).is_some();
    let ended = processes::run(options, |fabric| match role {
        "cases" => run_cases(fabric),
        "barrier" => cases::a_panic_releases_those_in_a_barrier(fabric),
        "collective" => cases::a_panic_releases_those_in_a_collective(fabric),
        "sleep" => cases::a_panic_releases_those_that_sleep(fabric),
        "unwind" => cases::destructors_may_wait_while_a_rank_unwinds(fabric),
        "poll" => cases::a_panic_releases_those_that_poll(fabric),
        "early" => cases::an_early_end_releases_those_that_wait(fabric),
        "hook" => lose_by_hook(fabric),
        "stop" => signal_rank(fabric, fabric.ranks() - 1, "-STOP"),
        "stop-first" => signal_rank(fabric, 0, "-STOP"),
        "kill" => signal_rank(fabric, fabric.ranks() - 1, "-KILL"),
        // For losses that come from outside.
        "idle" => std::thread::sleep(Duration::from_secs(60)),
        _ => panic!("no role {role}"),
    });
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run_cases(fabric: &ProcessFabric) {
    for (name, case) in CASES {
        let started = Instant::now();
        case(fabric);
        fabric.barrier();
        if fabric.rank() == 0 {
            println!("{name}: {:.0} ms", started.elapsed().as_secs_f64() * 1e3);
        }
    }
}

/// The last rank reports a panic from a thread that has nothing to do with the fabric.
fn lose_by_hook(fabric: &ProcessFabric) {
    if fabric.rank() == fabric.ranks() - 1 {
        std::thread::spawn(|| processes::lose_by_panic("a word from the hook".to_owned()));
    }
    fabric.barrier();
    std::thread::sleep(Duration::from_secs(60));
}

/// A rank stops, like one whose machine hangs, or is killed; the others wait for it.
fn signal_rank(fabric: &ProcessFabric, rank: usize, signal: &str) {
    if fabric.rank() == rank {
        let me = std::process::id().to_string();
        Command::new("kill").args([signal, &me]).status().expect("kill can be run");
    }
    fabric.barrier();
}

// ---- the program that starts them ---------------------------------------------------------------------------------

fn direct() -> ExitCode {
    let filter: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let mut failed = 0;
    for (name, test) in TESTS {
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

type Test = (&'static str, fn() -> Result<(), String>);

const TESTS: &[Test] = &[
    ("all_cases_with_mapped_memory", || (1..=4).try_for_each(|ranks| all_cases(ranks, false))),
    ("all_cases_through_the_network", || (1..=4).try_for_each(|ranks| all_cases(ranks, true))),
    ("a_panic_ends_ranks_in_a_barrier", || lose("barrier", "rank 2", "panicked: ")),
    ("a_panic_ends_ranks_in_a_collective", || lose("collective", "rank 2", "panicked: ")),
    ("a_panic_ends_ranks_that_poll", || lose("poll", "rank 2", "panicked: ")),
    ("a_panic_after_a_while_ends_all_ranks", || lose("sleep", "rank 2", "panicked: ")),
    ("destructors_do_not_wait", || lose("unwind", "rank 2", "panicked: still unwinding")),
    ("hooks_may_report_a_panic", || lose("hook", "rank 2", "panicked: a word from the hook")),
    ("an_early_end_ends_all_ranks", || lose("early", "rank 2", "ended while other ranks wait for it")),
    ("a_killed_rank_ends_all_ranks", kill),
    ("a_stopped_rank_is_found_silent", || lose("stop", "rank 2", "has not been heard of for 3 s")),
    ("a_stopped_first_rank_is_found_by_the_others", || lose("stop-first", "rank 0", "")),
];

fn mpirun(ranks: usize, role: &str, no_mapping: bool) -> Output {
    let mut command = Command::new("mpirun");
    command.args(["-n", &ranks.to_string(), "--oversubscribe", "--bind-to", "none", "--mca", "pml", "ob1"]);
    command.args(["--mca", "btl", "self,vader", "--mca", "mpi_yield_when_idle", "1", "--quiet"]);
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1").env(ROLE, role);
    if no_mapping {
        command.env(NO_MAPPING, "1");
    }
    command.arg(std::env::current_exe().expect("a program knows itself")).output().expect("mpirun can be run")
}

fn all_cases(ranks: usize, no_mapping: bool) -> Result<(), String> {
    let output = mpirun(ranks, "cases", no_mapping);
    if output.status.success() { Ok(()) } else { Err(format!("{ranks} ranks: {}", told(&output))) }
}

/// Three ranks, one of which is lost: the job ends soon, with the code of a loss and one message that names the rank and the host.
fn lose(role: &str, rank: &str, cause: &str) -> Result<(), String> {
    let started = Instant::now();
    let output = mpirun(3, role, false);
    let text = told(&output);
    let messages = text.matches("LOST: ").count();
    let soon = started.elapsed() < Duration::from_secs(15);
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("a host has a name");
    let is_named = text.contains(&format!("LOST: {rank} on {} {cause}", host.trim()));
    if output.status.code() == Some(LOST) && messages == 1 && is_named && soon {
        return Ok(());
    }
    Err(format!("{messages} messages, {:?} after {:?}: {text}", output.status, started.elapsed()))
}

/// On three ranks, the last is killed: the launcher notices first, and ends the job in its own way.
fn kill() -> Result<(), String> {
    let started = Instant::now();
    let output = mpirun(3, "kill", false);
    let soon = started.elapsed() < Duration::from_secs(15);
    if !output.status.success() && soon { Ok(()) } else { Err(format!("{:?}: {}", output.status, told(&output))) }
}

fn told(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
