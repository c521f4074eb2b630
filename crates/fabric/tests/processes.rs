//! The conformance suite on ranks that are processes: this program starts itself again under `mpirun`, on 1 to 4 ranks,
//! with their memory mapped and through the network.

mod cases;
mod mpirun;

use mpirun::{Case, LEFT, LOST, Test, all_cases, mpirun, told};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use tremula_fabric::Fabric;
use tremula_fabric::processes::{self, ProcessFabric};

macro_rules! list {
    (; $($case:ident),*) => {
        const CASES: &[Case] = &[$((stringify!($case), cases::$case as fn(&ProcessFabric))),*];
    };
}
cases::with_all_cases! { list! }

fn main() -> ExitCode {
    mpirun::main(TESTS, CASES, end_early)
}

// ---- ranks --------------------------------------------------------------------------------------------------------

/// A way to end before time.
fn end_early(fabric: &ProcessFabric, way: &str) {
    match way {
        "barrier" => cases::a_panic_releases_those_in_a_barrier(fabric),
        "collective" => cases::a_panic_releases_those_in_a_collective(fabric),
        "sleep" => cases::a_panic_releases_those_that_sleep(fabric),
        "unwind" => cases::destructors_may_wait_while_a_rank_unwinds(fabric),
        "poll" => cases::a_panic_releases_those_that_poll(fabric),
        "early" => cases::an_early_end_releases_those_that_wait(fabric),
        "early-first" if fabric.rank() > 0 => fabric.barrier(),
        "early-first" => {}
        "hook" => lose_by_hook(fabric),
        "all" => panic_together(fabric),
        "suspend" => suspend_all(fabric),
        "farewell" => bid_farewell(fabric),
        "stop" => signal_rank(fabric, fabric.ranks() - 1, "-STOP"),
        "stop-first" => signal_rank(fabric, 0, "-STOP"),
        "kill" => signal_rank(fabric, fabric.ranks() - 1, "-KILL"),
        // For losses that come from outside.
        "idle" => std::thread::sleep(Duration::from_secs(60)),
        _ => panic!("no role {way}"),
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

/// All ranks have the same fault.
fn panic_together(fabric: &ProcessFabric) {
    fabric.barrier();
    panic!("all of us");
}

/// All ranks are stopped for longer than they are patient, and go on, the last one first.
fn suspend_all(fabric: &ProcessFabric) {
    let (me, is_last) = (std::process::id(), fabric.rank() == fabric.ranks() - 1);
    let script = format!("kill -STOP {me}; sleep {}; kill -CONT {me}", if is_last { 4.0 } else { 4.5 });
    fabric.barrier();
    Command::new("sh").args(["-c", &script]).status().expect("a shell can be run");
    std::thread::sleep(Duration::from_secs(60));
}

/// Rank 0 ends the job while others wait for it.
fn bid_farewell(fabric: &ProcessFabric) {
    if fabric.rank() == 0 {
        processes::farewell();
        std::process::exit(LEFT);
    }
    fabric.barrier();
}

/// What a rank says when all have met.
const MET: &str = "all ranks have met";

/// A rank stops, like one whose machine hangs, or is killed; the others wait for it.
fn signal_rank(fabric: &ProcessFabric, rank: usize, signal: &str) {
    fabric.barrier();
    if fabric.rank() == rank {
        println!("{MET}");
        let me = std::process::id().to_string();
        Command::new("kill").args([signal, &me]).status().expect("kill can be run");
    }
    fabric.barrier();
}

// ---- the program that starts them ---------------------------------------------------------------------------------

const TESTS: &[Test] = &[
    ("all_cases_with_mapped_memory", || all_cases(false)),
    ("all_cases_through_the_network", || all_cases(true)),
    ("a_panic_ends_ranks_in_a_barrier", || lose("barrier", "rank 2", "panicked: ")),
    ("a_panic_ends_ranks_in_a_collective", || lose("collective", "rank 2", "panicked: ")),
    ("a_panic_ends_ranks_that_poll", || lose("poll", "rank 2", "panicked: ")),
    ("a_panic_after_a_while_ends_all_ranks", || lose("sleep", "rank 2", "panicked: ")),
    ("destructors_do_not_wait", || lose("unwind", "rank 2", "panicked: still unwinding")),
    ("hooks_may_report_a_panic", || lose("hook", "rank 2", "panicked: a word from the hook")),
    ("a_panic_of_all_is_told_once", || told_once("all", false, "panicked: all of us")),
    ("a_panic_of_all_is_told_once_through_the_network", || told_once("all", true, "panicked: all of us")),
    ("an_early_end_ends_all_ranks", || lose("early", "rank 2", "ended while other ranks wait for it")),
    ("an_early_end_of_the_first_rank_ends_all", || told_once("early-first", false, "rank 0 on ")),
    ("an_early_end_of_the_first_rank_of_the_network_ends_all", || told_once("early-first", true, "rank 0 on ")),
    ("an_early_end_ends_all_ranks_of_the_network", || told_once("early", true, "ended while other ranks wait for it")),
    ("a_killed_rank_ends_all_ranks", kill),
    ("a_stopped_rank_is_found_silent", || lose("stop", "rank 2", "has not been heard of for 3 s")),
    ("a_stopped_first_rank_is_found_by_the_others", || lose("stop-first", "rank 0", "")),
    ("a_job_that_was_suspended_says_so", || lose("suspend", "rank 2", "was stopped for ")),
    ("a_farewell_is_no_loss", || farewell(false)),
    ("a_farewell_through_the_network_is_no_loss", || farewell(true)),
];

/// Three ranks, one of which is lost: the message names the rank and the host.
fn lose(role: &str, rank: &str, cause: &str) -> Result<(), String> {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("a host has a name");
    told_once(role, false, &format!("LOST: {rank} on {} {cause}", host.trim()))
}

/// Three ranks, some of which are lost: the job ends soon, with the code of a loss and one message, which has these words.
fn told_once(role: &str, no_mapping: bool, words: &str) -> Result<(), String> {
    let started = Instant::now();
    let output = mpirun(3, role, no_mapping);
    let text = told(&output);
    let messages: Vec<&str> = text.lines().filter(|line| line.contains("LOST: ")).collect();
    let soon = started.elapsed() < Duration::from_secs(15);
    if output.status.code() == Some(LOST) && messages.len() == 1 && messages[0].contains(words) && soon {
        return Ok(());
    }
    Err(format!("{} messages, {:?} after {:?}: {text}", messages.len(), output.status, started.elapsed()))
}

/// On three ranks, the last is killed: the launcher notices first, and ends the job in its own way.
fn kill() -> Result<(), String> {
    let started = Instant::now();
    let output = mpirun(3, "kill", false);
    let (text, soon) = (told(&output), started.elapsed() < Duration::from_secs(15));
    // 128 and the number of the signal.
    let is_right = output.status.code() == Some(137) && text.contains(MET);
    if is_right && soon { Ok(()) } else { Err(format!("{:?}: {text}", output.status)) }
}

/// On three ranks, the first ends the job: all end with its code, those that the launcher lets live long enough by themselves.
fn farewell(no_mapping: bool) -> Result<(), String> {
    let started = Instant::now();
    let output = mpirun(3, "farewell", no_mapping);
    let (text, soon) = (told(&output), started.elapsed() < Duration::from_secs(15));
    let is_right = output.status.code() == Some(LEFT) && text.contains("LEFT") && !text.contains("LOST");
    if is_right && soon { Ok(()) } else { Err(format!("{:?}: {text}", output.status)) }
}
