//! Bad usage and bad input: exit code 2 and a message that helps; nothing panics.

mod common;

use common::{SMALL, assert_refused, at, code, exit, model, run, stderr, stdout};

#[test]
fn help_and_version_are_complete() {
    for args in [&["--help"][..], &["reach", "--help"], &["help", "info"], &["--version"]] {
        let output = run(args);
        assert_eq!(code(&output), exit::COMPLETE, "{args:?}");
        assert!(!stdout(&output).is_empty());
    }
    assert!(stdout(&run(&["--version"])).starts_with("tremula "));
    assert!(stdout(&run(&["reach", "-h"])).contains("Example:"));
}

#[test]
fn wrong_arguments_are_refused() {
    let path = model(SMALL);
    assert_refused(&[], "Usage");
    assert_refused(&["explore"], "unrecognized subcommand");
    assert_refused(&["reach"], "<MODEL>");
    assert_refused(&["reach", &path, "--fast"], "--fast");
    assert_refused(&["reach", &path, "--strategy", "dfs"], "unknown strategy `dfs`");
    assert_refused(&["reach", &path, "--order", "force"], "--order auto or given");
    assert_refused(&["reach", &path, "--order", "random"], "unknown order `random`");
    assert_refused(&["reach", &path, "--engine", "zdd"], "expected auto, bdd, ldd, mdd or gpu");
    assert_refused(&["reach", &path, "--workers", "0"], "--workers");
    assert_refused(&["reach", &path, "--mem", "lots"], "50%");
    assert_refused(&["reach", &path, "--gpu-mem", "lots"], "50%");
    assert_refused(&["reach", &path, "--engine", "bdd", "--strategy", "explicit"], "is for Petri nets");
    assert_refused(&["reach", &path, "--timeout", "-1"], "number of seconds");
    assert_refused(&["reach", &path, "--timeout", "soon"], "number of seconds");
    assert_refused(&["convert", &path, "out.bdd", "--layout", "other"], "sylvan");
}

#[test]
fn what_does_not_exist_yet_says_so() {
    let path = model(SMALL);
    assert_refused(&["reach", &path, "--engine", "explicit"], "not available yet");
}

#[test]
fn missing_files_are_named() {
    for args in [
        &["reach", "missing.bdd"][..],
        &["info", "missing.bdd"],
        &["order", "missing.bdd"],
        &["convert", "missing.bdd", "out.bdd"],
        &["count", "missing.bdd"],
        &["pick", "missing.bdd"],
        &["contains", "missing.bdd", "1"],
    ] {
        assert_refused(args, "tremula: missing.bdd: No such file");
    }
    assert_refused(&["reach", &common::testdata().to_string_lossy()], "directory");
}

#[test]
fn malformed_models_are_told_with_their_offset() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(model(SMALL)).unwrap();
    let mut flipped = whole.clone();
    flipped[40] ^= 0x55;
    let cases: [(&str, &[u8], &str); 4] = [
        ("empty.bdd", b"", "byte 0: expected"),
        ("text.bdd", b"hello, this is not a model", "byte 0: expected"),
        ("cut.bdd", &whole[..whole.len() / 2], "found"),
        ("flipped.bdd", &flipped, "expected"),
    ];
    for (name, bytes, words) in cases {
        let path = at(&folder, name);
        std::fs::write(&path, bytes).unwrap();
        for command in ["reach", "info"] {
            assert_refused(&[command, &path], words);
            assert_refused(&[command, &path], &format!("tremula: {path}: not a model"));
            assert_refused(&[command, &path], "byte ");
        }
    }
}

#[test]
fn damaged_compression_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = at(&folder, "cut.bdd.gz");
    let whole = std::fs::read(model("beem/at.1.bdd.gz")).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert_refused(&["reach", &path], "cannot decompress");
}

#[test]
fn places_that_cannot_be_written_are_refused_before_the_work() {
    let path = model(common::LARGE);
    assert_refused(&["reach", &path, "--save-states", "/nonexistent/states"], "/nonexistent/states: No such file");
    assert_refused(&["reach", &path, "--save-states", "/"], "directory");
    assert_refused(&["reach", &path, "--events", "/nonexistent/events"], "/nonexistent/events: No such file");
    let small = model(SMALL);
    assert_refused(&["convert", &small, "/nonexistent/out.bdd"], "/nonexistent/out.bdd: No such file");
    assert_refused(&["info", &small, "--svg", "/nonexistent/out.svg"], "/nonexistent/out.svg: No such file");
}

#[test]
fn a_full_disk_is_told() {
    if !std::path::Path::new("/dev/full").exists() {
        eprintln!("skipped: no /dev/full");
        return;
    }
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = common::tremula(&["reach", &model(SMALL)]).stdout(full).output().unwrap();
    assert_eq!(code(&output), exit::INPUT);
    assert!(stderr(&output).contains("No space left"), "{output:?}");
    assert_refused(&["convert", &model(SMALL), "/dev/full"], "No space left");
}
