//! The command of the Model Checking Contest, which is told by the environment what to do.

mod common;

use common::{SMALL, at, code, exit, expected_nets, model, stderr, stdout, testdata, tremula};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// A net that takes minutes.
const HARD: &str = "pnml/ERK-PT-100000.pnml";
const EASY: &str = "pnml/ERK-PT-000001.pnml";

/// The command with nothing but this environment, as far as the contest is concerned.
fn mcc(args: &[&str], environment: &[(&str, &str)]) -> Command {
    let mut command = tremula(&[&["mcc"], args].concat());
    for name in ["BK_EXAMINATION", "BK_INPUT", "BK_TIME_CONFINEMENT", "BK_MEMORY_CONFINEMENT"] {
        command.env_remove(name);
    }
    command.envs(environment.iter().copied());
    command
}

fn run(args: &[&str], environment: &[(&str, &str)]) -> Output {
    mcc(args, environment).output().expect("the program starts")
}

/// The number in the line of a value, whose form is checked.
fn value(text: &str, name: &str) -> String {
    let start = format!("STATE_SPACE {name} ");
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(&start));
    let line = lines.next().unwrap_or_else(|| panic!("{name} in {text}"));
    assert_eq!(lines.next(), None, "{text}");
    let (number, techniques) = line.split_once(" TECHNIQUES ").expect("techniques");
    assert!(techniques.starts_with("DECISION_DIAGRAMS SATURATION"), "{line}");
    number.to_owned()
}

#[test]
fn all_four_values_are_right() {
    for net in expected_nets().iter().filter(|net| net.path != HARD) {
        let limits = [("BK_TIME_CONFINEMENT", "60"), ("BK_MEMORY_CONFINEMENT", "1000")];
        let output = run(&[&model(&net.path)], &[&[("BK_EXAMINATION", "StateSpace")], &limits[..]].concat());
        assert_eq!(code(&output), exit::COMPLETE, "{}: {output:?}", net.path);
        let text = stdout(&output);
        assert_eq!(text.lines().count(), 4, "{text}");
        assert_eq!(value(&text, "STATES"), net.states, "{}", net.path);
        assert_eq!(value(&text, "TRANSITIONS"), net.transitions, "{}", net.path);
        assert_eq!(value(&text, "MAX_TOKEN_IN_PLACE"), net.max_token_in_place, "{}", net.path);
        assert_eq!(value(&text, "MAX_TOKEN_PER_MARKING"), net.max_token_per_marking, "{}", net.path);
    }
}

#[test]
fn the_model_is_in_the_folder_of_the_instance() {
    let folder = tempfile::tempdir().unwrap();
    let instance = folder.path().join("ERK-PT-000001");
    std::fs::create_dir(&instance).unwrap();
    std::fs::copy(testdata().join(EASY), instance.join("model.pnml")).unwrap();
    let environment = [("BK_EXAMINATION", "StateSpace"), ("BK_INPUT", "ERK-PT-000001")];
    let inside = mcc(&[], &environment).current_dir(&instance).output().unwrap();
    let beside = mcc(&[], &environment).current_dir(folder.path()).output().unwrap();
    let named = run(&[instance.to_str().unwrap()], &environment);
    for output in [inside, beside, named] {
        assert_eq!(code(&output), exit::COMPLETE, "{output:?}");
        assert_eq!(value(&stdout(&output), "STATES"), "13");
    }
    let nowhere = mcc(&[], &environment[..1]).current_dir(folder.path()).output().unwrap();
    assert_eq!(code(&nowhere), exit::INPUT);
    assert!(stderr(&nowhere).contains("model.pnml: No such file"), "{nowhere:?}");
}

#[test]
fn other_examinations_are_left_to_others() {
    for examination in ["UpperBounds", "LTLFireability", "OneSafe", "statespace"] {
        // Nothing else is looked at.
        let output = run(&[&model(EASY)], &[("BK_EXAMINATION", examination), ("BK_TIME_CONFINEMENT", "soon")]);
        assert_eq!((code(&output), stdout(&output).as_str()), (exit::COMPLETE, "DO_NOT_COMPETE\n"), "{output:?}");
    }
}

#[test]
fn coloured_nets_are_left_to_others() {
    let folder = tempfile::tempdir().unwrap();
    let coloured = at(&folder, "model.pnml");
    let text = r#"<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
        <net id="n" type="http://www.pnml.org/version-2009/grammar/symmetricnet"><page id="p"/></net></pnml>"#;
    std::fs::write(&coloured, text).unwrap();
    let output = run(&[&coloured], &[("BK_EXAMINATION", "StateSpace")]);
    assert_eq!((code(&output), stdout(&output).as_str()), (exit::COMPLETE, "DO_NOT_COMPETE\n"), "{output:?}");
    assert!(stderr(&output).contains("not supported yet"), "{output:?}");
}

#[test]
fn it_ends_by_itself_within_the_time() {
    let started = Instant::now();
    let output = run(&[&model(HARD)], &[("BK_EXAMINATION", "StateSpace"), ("BK_TIME_CONFINEMENT", "1")]);
    // Other tests may run beside this one.
    assert!(started.elapsed() < Duration::from_secs(3));
    assert_eq!((code(&output), stdout(&output).as_str()), (exit::COMPLETE, "CANNOT_COMPUTE\n"), "{output:?}");
    assert!(stderr(&output).contains("time limit"), "{output:?}");
}

#[test]
fn it_ends_by_itself_within_the_memory() {
    let output = run(&[&model(HARD)], &[("BK_EXAMINATION", "StateSpace"), ("BK_MEMORY_CONFINEMENT", "4")]);
    assert_eq!((code(&output), stdout(&output).as_str()), (exit::COMPLETE, "CANNOT_COMPUTE\n"), "{output:?}");
    assert!(stderr(&output).contains("memory budget"), "{output:?}");
}

#[test]
fn what_is_missing_or_wrong_is_told() {
    let (easy, small) = (model(EASY), model(SMALL));
    let state_space = ("BK_EXAMINATION", "StateSpace");
    for (path, environment, words) in [
        (&easy, vec![], "BK_EXAMINATION is not set"),
        (&easy, vec![("BK_EXAMINATION", "")], "BK_EXAMINATION is not set"),
        (&easy, vec![state_space, ("BK_TIME_CONFINEMENT", "soon")], "BK_TIME_CONFINEMENT is not a number of seconds"),
        (&easy, vec![state_space, ("BK_MEMORY_CONFINEMENT", "16G")], "BK_MEMORY_CONFINEMENT is not a number of mega"),
        (&small, vec![state_space], "is not a Petri net"),
    ] {
        let output = run(&[path], &environment);
        assert_eq!(code(&output), exit::INPUT, "{output:?}");
        assert!(stderr(&output).contains(words), "{words:?} in {output:?}");
        assert_eq!(stdout(&output), "");
    }
}
