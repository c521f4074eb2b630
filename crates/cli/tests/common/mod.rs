//! Running the real program, and what the models it is run on must give.
#![allow(dead_code, reason = "every test uses only some of it")]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Exit codes of the command line contract.
pub mod exit {
    pub const COMPLETE: i32 = 0;
    pub const VIOLATED: i32 = 1;
    pub const INPUT: i32 = 2;
    pub const LIMIT: i32 = 3;
}

/// A model that takes minutes.
pub const LARGE: &str = "beem/collision.4.bdd.gz";
/// A model that takes a fraction of a second, in the legacy layout.
pub const SMALL: &str = "beem/bakery.1.bdd";

/// The program with these arguments.
pub fn tremula(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tremula"));
    command.args(args).stdin(Stdio::null());
    command
}

/// Run the program to its end.
pub fn run(args: &[&str]) -> Output {
    tremula(args).output().expect("the program starts")
}

/// Start the program in the background, its outputs kept.
pub fn start(args: &[&str]) -> Child {
    tremula(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

/// The exit code, which a program killed by a signal does not have.
pub fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("killed: {output:?}"))
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

/// Run and return what is printed on standard output; the run must be complete.
pub fn complete(args: &[&str]) -> String {
    let output = run(args);
    assert_eq!(code(&output), exit::COMPLETE, "{args:?}: {output:?}");
    stdout(&output)
}

/// The one JSON object on standard output.
pub fn json(output: &Output) -> Value {
    let text = stdout(output);
    assert_eq!(text.matches('\n').count(), 1, "one line: {output:?}");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The path of a model of the repository.
pub fn model(name: &str) -> String {
    testdata().join(name).to_str().expect("a plain path").to_owned()
}

pub fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

/// A path in a temporary folder, as text.
pub fn at(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("a plain path").to_owned()
}

/// What a complete exploration of a model must find.
pub struct Expected {
    pub path: String,
    pub states: String,
    pub levels: Option<u64>,
    pub nodes: Option<u64>,
}

/// All models in `expected.toml`.
pub fn expected() -> Vec<Expected> {
    let text = std::fs::read_to_string(testdata().join("expected.toml")).expect("expected.toml");
    let models: Vec<Expected> = text.split("[[model]]").skip(1).map(parse).collect();
    assert!(models.len() >= 10);
    models
}

fn parse(entry: &str) -> Expected {
    let field = |name: &str| {
        let value = entry.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "))?;
        Some(value.trim_matches('"').to_owned())
    };
    Expected {
        path: field("path").expect("a path"),
        states: field("states").expect("states"),
        levels: field("levels").map(|levels| levels.parse().expect("a number")),
        nodes: field("nodes").map(|nodes| nodes.parse().expect("a number")),
    }
}

/// Is the number with digits `a` smaller than or equal to that with digits `b`?
pub fn at_most(a: &str, b: &str) -> bool {
    (a.len(), a) <= (b.len(), b)
}

/// Wait until something is the case; it must be within a generous time.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(60), "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
