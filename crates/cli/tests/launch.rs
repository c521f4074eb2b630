//! `tremula launch` with shells as launchers: how it ends, and what it passes on.

mod common;

use common::{assert_refused, at, code, exit, run, start, stderr, stdout, tremula, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use std::process::{Child, Output};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Run this script as a launcher.
fn launch(script: &str, more: &[&str]) -> Output {
    run(&[&["launch", "sh", "-c", script], more].concat())
}

#[test]
fn codes_of_a_job_are_passed_on() {
    for known in [exit::COMPLETE, exit::INPUT, exit::LIMIT] {
        let output = launch(&format!("echo out; echo err >&2; exit {known}"), &[]);
        assert_eq!((code(&output), stdout(&output).as_str(), stderr(&output).as_str()), (known, "out\n", "err\n"));
    }
}

#[test]
fn other_ends_are_lost_jobs() {
    let cases = [
        ("exit 70", "sh ended with code 70"),
        ("exit 205", "sh ended with code 205 of its own"),
        ("exit 1", "sh ended with code 1 of its own"),
        ("exit 130", "sh ended with code 130 of its own"),
        ("kill -9 $$", "sh was killed by signal 9"),
        ("kill -USR2 $$", "sh was killed by signal 12"),
    ];
    for (script, words) in cases {
        let output = launch(script, &[]);
        let told = format!("tremula: {words}: the job is lost\n");
        assert_eq!((code(&output), stderr(&output)), (exit::INTERNAL, told), "{script}");
    }
    let output = run(&["launch", "/bin/sh", "-c", "exit 205"]);
    assert!(stderr(&output).starts_with("tremula: sh ended"), "{output:?}");
}

#[test]
fn a_violation_needs_its_argument() {
    for (more, ended) in [(&["--deadlock"][..], exit::VIOLATED), (&["--deadlocks"], exit::INTERNAL)] {
        assert_eq!(code(&launch("exit 1", more)), ended, "{more:?}");
    }
}

#[test]
fn what_cannot_be_started_is_bad_usage() {
    assert_refused(&["launch"], "<COMMAND>");
    assert_refused(&["launch", "no-such-launcher", "-n", "2"], "cannot start no-such-launcher: No such file");
    assert_refused(&["launch", "/"], "cannot start /: Permission denied");
    let output =
        tremula(&["launch", "true"]).env("OMPI_COMM_WORLD_SIZE", "2").env("OMPI_COMM_WORLD_RANK", "0").output();
    let output = output.unwrap();
    assert_eq!(code(&output), exit::INPUT, "{output:?}");
    assert!(stderr(&output).contains("a launcher of MPI has started several"), "{output:?}");
}

/// The variables by which Open MPI is told.
const SETTINGS: [(&str, &str); 5] = [
    ("OMPI_MCA_oob_tcp_keepalive_time", "5"),
    ("OMPI_MCA_oob_tcp_keepalive_intvl", "2"),
    ("OMPI_MCA_oob_tcp_keepalive_probes", "3"),
    ("OMPI_MCA_hwloc_base_binding_policy", "none"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
];

#[test]
fn settings_are_those_of_the_user_first() {
    let environment = |own: Option<usize>| {
        let mut command = tremula(&["launch", "env"]);
        for (at, (name, _)) in SETTINGS.into_iter().enumerate() {
            if own == Some(at) {
                command.env(name, "own")
            } else {
                command.env_remove(name)
            };
        }
        stdout(&command.output().unwrap())
    };
    let has = |text: &str, name: &str, value: &str| text.lines().any(|line| line == format!("{name}={value}"));
    for own in [None, Some(0), Some(1), Some(2), Some(3), Some(4)] {
        let told = environment(own);
        for (at, (name, value)) in SETTINGS.into_iter().enumerate() {
            assert!(has(&told, name, if own == Some(at) { "own" } else { value }), "{name} in {told}");
        }
        assert!(!told.contains("TREMULA_LAUNCH="), "{told}");
    }
}

#[test]
fn arguments_are_for_the_launcher() {
    let output = launch("echo \"$@\"", &["sh", "--help", "-n", "2", "--", "--mem=2G"]);
    assert_eq!(stdout(&output), "--help -n 2 -- --mem=2G\n");
    let output = run(&["launch", "--", "sh", "-c", "exit 3"]);
    assert_eq!(code(&output), exit::LIMIT);
}

#[test]
fn a_launcher_reads_nothing_and_has_a_group_of_its_own() {
    let mut command = tremula(&["launch", "sh", "-c", "cat; cut -d' ' -f1,5 /proc/self/stat; echo $$"]);
    let output = command.stdin(std::fs::File::open("/dev/zero").unwrap()).output().unwrap();
    let text = stdout(&output);
    let (group, shell) = text.trim().split_once('\n').expect("two lines");
    assert_eq!(group.split_once(' ').unwrap().1, shell, "{output:?}");
}

/// A launcher that notes the signals that it hears in a file, and ends when told to: a word for each is what to do then.
struct Listener {
    launch: Child,
    notes: String,
    _folder: TempDir,
}

impl Listener {
    fn start(on_usr2: &str, on_term: &str) -> Listener {
        let folder = tempfile::tempdir().unwrap();
        let notes = at(&folder, "notes");
        let script = format!(
            "note() {{ echo $1 >>'{notes}'; }}
            trap 'note INT' INT; trap 'note USR1' USR1
            trap 'note USR2; {on_usr2}' USR2; trap 'note TERM; {on_term}' TERM
            note begun; while :; do sleep 0.02; done"
        );
        let launch = start(&["launch", "sh", "-c", &script]);
        let listener = Listener { launch, notes, _folder: folder };
        listener.wait_for("begun\n");
        listener
    }

    fn wait_for(&self, notes: &str) {
        wait_until(notes, || std::fs::read_to_string(&self.notes).is_ok_and(|text| text == notes));
    }

    fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.launch), signal).unwrap();
    }

    /// The exit code; nothing is told.
    fn ends(self) -> i32 {
        let output = self.launch.wait_with_output().unwrap();
        assert_eq!((stdout(&output).as_str(), stderr(&output).as_str()), ("", ""));
        code(&output)
    }
}

#[test]
fn the_first_request_is_for_the_ranks() {
    for signal in [Signal::INT, Signal::TERM] {
        let listener = Listener::start("exit 3", "exit 9");
        listener.send(Signal::USR1);
        listener.wait_for("begun\nUSR1\n");
        listener.send(signal);
        listener.wait_for("begun\nUSR1\nUSR2\n");
        assert_eq!(listener.ends(), exit::LIMIT);
    }
}

#[test]
fn a_job_that_has_nothing_to_tell_ends_by_the_request() {
    for (signal, ended) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        // A rank without a result, one that did not come so far as to hear of it, and a launcher that did not.
        for end in ["exit 130", "exit 140", "trap - USR2; kill -USR2 $$"] {
            let listener = Listener::start(end, "exit 9");
            listener.send(signal);
            assert_eq!(listener.ends(), ended, "{end}");
        }
    }
}

#[test]
fn a_job_that_is_lost_is_lost_after_a_request_too() {
    let listener = Listener::start("exit 205", "exit 9");
    listener.send(Signal::INT);
    let output = listener.launch.wait_with_output().unwrap();
    assert_eq!(code(&output), exit::INTERNAL, "{output:?}");
    assert!(stderr(&output).contains("code 205 of its own"), "{output:?}");
}

#[test]
fn the_second_request_is_for_the_launcher() {
    for (first, second, ended) in [(Signal::TERM, Signal::INT, 130), (Signal::INT, Signal::TERM, 143)] {
        let listener = Listener::start("true", "exit 0");
        listener.send(first);
        listener.wait_for("begun\nUSR2\n");
        listener.send(second);
        listener.wait_for("begun\nUSR2\nTERM\n");
        assert_eq!(listener.ends(), ended);
    }
}

#[test]
fn a_launcher_that_does_not_end_is_left() {
    let mut listener = Listener::start("true", "true");
    let shell = children(&listener.launch).trim().parse().unwrap();
    listener.send(Signal::INT);
    listener.wait_for("begun\nUSR2\n");
    let began = Instant::now();
    listener.send(Signal::INT);
    let ended = listener.launch.wait().unwrap();
    assert!(began.elapsed() < Duration::from_secs(10), "it hangs");
    kill_process(Pid::from_raw(shell).unwrap(), Signal::KILL).unwrap();
    assert_eq!(ended.code(), Some(130));
}

/// As text, with blanks between them.
fn children(process: &Child) -> String {
    std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", process.id())).unwrap()
}

/// `timeout` sends one to the program and one to its group.
#[test]
fn two_requests_to_terminate_close_together_are_one() {
    let listener = Listener::start("true", "exit 9");
    listener.send(Signal::TERM);
    listener.send(Signal::TERM);
    listener.wait_for("begun\nUSR2\n");
    std::thread::sleep(Duration::from_millis(300));
    listener.wait_for("begun\nUSR2\n");
    listener.send(Signal::INT);
    assert_eq!(listener.ends(), 130);
}

#[test]
fn a_launcher_hears_when_launch_is_killed() {
    let mut listener = Listener::start("true", "exit 0");
    listener.send(Signal::KILL);
    listener.launch.wait().unwrap();
    listener.wait_for("begun\nTERM\n");
}
