//! Signals and limits while the program is busy, or stuck.

mod common;

use common::{LARGE, at, code, exit, json, model, start, stderr, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use std::process::{Child, Command};
use std::time::Duration;
use tempfile::TempDir;

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).expect("the program runs");
}

/// Start on a large model and return when it has explored a few rounds.
fn start_and_wait(folder: &TempDir, more: &[&str]) -> Child {
    let (path, events) = (model(LARGE), at(folder, "events"));
    let child = start(&[&["reach", &path, "--strategy", "bfs", "--events", &events, "--timeout", "60"], more].concat());
    wait_until("rounds are written", || {
        std::fs::read_to_string(&events).is_ok_and(|text| text.matches("\"event\":\"round\"").count() >= 2)
    });
    child
}

/// A pipe that nobody writes to: reading a model from it takes forever.
fn endless_model(folder: &TempDir) -> String {
    let path = at(folder, "pipe.bdd");
    assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
    path
}

#[test]
fn an_interrupt_ends_with_what_is_known() {
    let cases = [(Signal::INT, "1"), (Signal::TERM, "1"), (Signal::USR2, "1"), (Signal::INT, "4"), (Signal::TERM, "2")];
    for (signal, workers) in cases {
        let folder = tempfile::tempdir().unwrap();
        let child = start_and_wait(&folder, &["--json", "--workers", workers]);
        send(&child, signal);
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), exit::LIMIT, "{output:?}");
        let value = json(&output);
        // The workers have reacted: otherwise they would have been cut off after a second, and that would stand here.
        assert_eq!((&value["verdict"], &value["reason"]), (&"unknown".into(), &"interrupted".into()));
        assert!(value["states"].is_string() && value["levels"].is_u64(), "{value}");
        let events = std::fs::read_to_string(at(&folder, "events")).unwrap();
        assert!(events.lines().last().unwrap().starts_with("{\"event\":\"end\""));
    }
}

#[test]
fn a_study_that_is_ended_leaves_no_exploration_behind() {
    let mut study = start(&["bench", "reach", &model(LARGE), "--shapes", "1x1", "--mem", "500M", "--quiet"]);
    let explorer = || std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", study.id())).unwrap_or_default();
    wait_until("an exploration has begun", || !explorer().is_empty());
    let explorer = format!("/proc/{}/exe", explorer().trim());
    // A question is not for it.
    send(&study, Signal::USR1);
    send(&study, Signal::TERM);
    assert_eq!(study.wait().unwrap().code(), Some(143));
    // A process that has ended has no program any more.
    wait_until("the exploration has ended", || std::fs::read_link(&explorer).is_err());
}

#[test]
fn two_requests_to_terminate_close_together_are_one() {
    let folder = tempfile::tempdir().unwrap();
    let child = start_and_wait(&folder, &["--json"]);
    send(&child, Signal::TERM);
    std::thread::sleep(Duration::from_millis(1));
    // It may have ended already.
    let _ = kill_process(Pid::from_child(&child), Signal::TERM);
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), exit::LIMIT, "{output:?}");
    assert_eq!(json(&output)["verdict"], "unknown");
}

#[test]
fn a_question_is_answered_on_standard_error() {
    let folder = tempfile::tempdir().unwrap();
    let child = start_and_wait(&folder, &[]);
    send(&child, Signal::USR1);
    std::thread::sleep(Duration::from_secs(1));
    send(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), exit::LIMIT);
    for words in ["tremula: exploring", "strategy  bfs", "levels completed", "nodes in use", "look-ups", "memory"] {
        assert!(stderr(&output).contains(words), "{words:?} in {}", stderr(&output));
    }
}

#[test]
fn an_interrupt_is_answered_even_when_stuck() {
    let folder = tempfile::tempdir().unwrap();
    let events = at(&folder, "events");
    let child = start(&["reach", &endless_model(&folder), "--json", "--events", &events]);
    wait_until("it has started", || std::fs::metadata(&events).is_ok_and(|file| file.len() > 0));
    send(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), exit::LIMIT);
    assert_eq!(json(&output)["reason"], "interrupted, cut off while loading");
}

#[test]
fn a_second_interrupt_ends_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let events = at(&folder, "events");
    let mut child = start(&["reach", &endless_model(&folder), "--events", &events]);
    wait_until("it has started", || std::fs::metadata(&events).is_ok_and(|file| file.len() > 0));
    send(&child, Signal::INT);
    std::thread::sleep(Duration::from_millis(200));
    assert!(child.try_wait().unwrap().is_none(), "it is given some time");
    send(&child, Signal::INT);
    assert_eq!(code(&child.wait_with_output().unwrap()), 130);
}

#[test]
fn the_time_limit_holds_even_when_stuck() {
    let folder = tempfile::tempdir().unwrap();
    let output = start(&["reach", &endless_model(&folder), "--timeout", "0.5", "--json"]).wait_with_output().unwrap();
    assert_eq!(code(&output), exit::LIMIT);
    let value = json(&output);
    assert_eq!(value["reason"], "time limit of 0.5 s reached, cut off while loading");
    assert!(value["seconds"]["total"].as_f64().is_some_and(|total| total < 60.0), "{value}");
}
