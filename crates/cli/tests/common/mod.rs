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
    pub const INTERNAL: i32 = 70;
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

/// What a complete exploration of a Petri net must find.
pub struct ExpectedNet {
    pub path: String,
    pub states: String,
    pub transitions: String,
    pub max_token_in_place: String,
    pub max_token_per_marking: String,
}

/// All Petri nets in `expected.toml`.
pub fn expected_nets() -> Vec<ExpectedNet> {
    let text = std::fs::read_to_string(testdata().join("expected.toml")).expect("expected.toml");
    let nets: Vec<ExpectedNet> = text.split("[[net]]").skip(1).map(parse_net).collect();
    assert!(nets.len() >= 5);
    nets
}

fn parse_net(entry: &str) -> ExpectedNet {
    let field = |name: &str| field(entry, name).unwrap_or_else(|| panic!("{name} in {entry}"));
    ExpectedNet {
        path: field("path"),
        states: field("states"),
        transitions: field("transitions"),
        max_token_in_place: field("max_token_in_place"),
        max_token_per_marking: field("max_token_per_marking"),
    }
}

/// A net in a file.
pub fn write_net(path: &str, body: &str) {
    let kind = "http://www.pnml.org/version-2009/grammar";
    let text = format!(
        "<?xml version=\"1.0\"?>\n<pnml xmlns=\"{kind}/pnml\">\n<net id=\"n\" type=\"{kind}/ptnet\">\n{body}\n</net>\n</pnml>\n"
    );
    std::fs::write(path, text).unwrap();
}

/// All permutations of `size` things, by swaps of neighbours: no order has a small diagram.
pub fn permutations(size: usize) -> String {
    let place = |thing: usize, position: usize| {
        let tokens = u32::from(thing == position);
        let marking = format!("<initialMarking><text>{tokens}</text></initialMarking>");
        format!("<place id=\"p{thing}-{position}\">{marking}</place>\n")
    };
    let swap = |one: usize, other: usize, position: usize| {
        let name = format!("t{one}-{other}-{position}");
        let before = position - 1;
        let inputs = [format!("p{one}-{before}"), format!("p{other}-{position}")];
        let outputs = [format!("p{one}-{position}"), format!("p{other}-{before}")];
        let arc = |source: &str, target: &str| {
            format!("<arc id=\"{source}-{target}\" source=\"{source}\" target=\"{target}\"/>\n")
        };
        let arcs = inputs.iter().map(|input| arc(input, &name)).chain(outputs.iter().map(|output| arc(&name, output)));
        format!("<transition id=\"{name}\"/>\n{}", arcs.collect::<String>())
    };
    let pairs = || (0..size).flat_map(|one| (0..size).map(move |other| (one, other)));
    let places: String = pairs().map(|(thing, position)| place(thing, position)).collect();
    let different = pairs().filter(|(one, other)| one != other);
    let swaps: String = different.flat_map(|(one, other)| (1..size).map(move |at| swap(one, other, at))).collect();
    format!("<page id=\"g\">\n{places}{swaps}</page>")
}

/// A field of an entry, without its quotes.
fn field(entry: &str, name: &str) -> Option<String> {
    let value = entry.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "))?;
    Some(value.trim_matches('"').to_owned())
}

fn parse(entry: &str) -> Expected {
    let field = |name: &str| field(entry, name);
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

/// Asserts that a picture is well-formed XML: tags are nested, attributes quoted, special characters escaped.
pub fn assert_well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg;
    while let Some(start) = rest.find('<') {
        let (text, tag) = rest.split_at(start);
        assert!(text.trim().is_empty() || !open.is_empty(), "text outside of the picture: {text}");
        for entity in text.split('&').skip(1) {
            assert!(["amp;", "lt;", "gt;"].iter().any(|name| entity.starts_with(name)), "&{entity}");
        }
        let end = tag.find('>').unwrap_or_else(|| panic!("a tag without an end: {tag}"));
        let inside = &tag[1..end];
        assert!(!inside.contains('<') && inside.matches('"').count().is_multiple_of(2), "<{inside}>");
        match (inside.strip_prefix('/'), inside.ends_with('/')) {
            (Some(name), _) => assert_eq!(open.pop(), Some(name)),
            (None, true) => {}
            (None, false) => open.push(inside.split(' ').next().unwrap_or_default()),
        }
        rest = &tag[end + 1..];
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
}

/// Wait until something is the case; it must be within a generous time.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(60), "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Asserts that these arguments are refused with these words.
pub fn assert_refused(args: &[&str], words: &str) {
    let output = run(args);
    assert_eq!(code(&output), exit::INPUT, "{args:?}: {output:?}");
    assert!(stderr(&output).contains(words), "{words:?} in {output:?}");
    assert_eq!(stdout(&output), "", "{args:?}");
}
