//! What the study of explorations tells, and what it does with a program that is not Tremula.

use std::path::PathBuf;
use tremula_studies::reach_study::{KindReport, ModelReport, ReachOptions, ReachReport, run};
use tremula_studies::{Spread, StudyError};

fn spread(value: f64) -> Option<Spread> {
    Spread::of(vec![value, 0.9 * value, 1.1 * value])
}

/// Seconds of a shape, or none where it gave up.
fn kind(shape: &str, variant: Option<&str>, base: f64, seconds: Option<f64>) -> KindReport {
    let unknown = if seconds.is_some() { Vec::new() } else { vec!["the time limit of 60 s".to_owned(); 3] };
    KindReport {
        shape: shape.parse().unwrap(),
        variant: variant.map(str::to_owned),
        seconds: seconds.and_then(spread),
        whole_seconds: seconds.and_then(|seconds| spread(seconds + 1.0)),
        speed_up: seconds.and_then(|seconds| spread(base / seconds)),
        gain: variant.and(seconds).and_then(|_| spread(1.25)),
        unknown,
    }
}

fn model(name: &str, variants: &[Option<&str>], seconds: [Option<f64>; 5]) -> ModelReport {
    let shapes = ["1x1", "1x4", "2x1", "2x4", "4x4"];
    let base = seconds[0].unwrap_or(1.0);
    let kinds = shapes
        .iter()
        .zip(seconds)
        .flat_map(|(shape, seconds)| variants.iter().map(move |variant| kind(shape, *variant, base, seconds)));
    let states = Some("12345678".to_owned());
    ModelReport { name: name.to_owned(), states, nodes: Some(156_785), levels: Some(51), kinds: kinds.collect() }
}

fn report(variants: &[Option<&str>]) -> ReachReport {
    ReachReport {
        processors: 16,
        reps: 3,
        strategy: "par".to_owned(),
        mem_bytes: 8 << 30,
        timeout_seconds: 60.0,
        more: Vec::new(),
        variants: variants.iter().flatten().map(|name| ((*name).to_owned(), Vec::new())).collect(),
        models: vec![
            model("at.5.bdd", variants, [Some(40.0), Some(10.0), Some(50.0), Some(8.0), Some(4.0)]),
            model("anderson.6.bdd", variants, [Some(4.0), Some(2.0), Some(8.0), Some(4.0), None]),
        ],
    }
}

/// Is there a row of these cells?
fn has_row(text: &str, cells: &str) -> bool {
    text.lines().any(|line| line.split_whitespace().eq(cells.split_whitespace()))
}

#[test]
fn text_has_the_tables_of_the_thesis() {
    let text = report(&[None]).to_string();
    for row in [
        // All shapes of a model.
        "at.5.bdd: 12,345,678 states, 156,785 nodes, 51 levels",
        "2x4 3 8.000 7.200 8.800 5.00 4.50 5.50",
        "4x4 0/3 UNKNOWN - - - - -",
        "4x4 UNKNOWN: the time limit of 60 s",
        // The first and the best, also of several ranks.
        "at.5.bdd 40.00 1x1 4.000 4x4 10.00",
        "anderson.6.bdd 4.000 1x1 2.000 1x4 2.00",
        "at.5.bdd 50.00 2x1 4.000 4x4 12.50",
        "anderson.6.bdd 8.000 2x1 4.000 2x4 2.00",
        // One process and several.
        "model 1x1 1x4 seconds ranks over 1x1 over 1x4",
        "at.5.bdd 40.00 10.00 4.000 4x4 10.00 2.50",
        "anderson.6.bdd 4.000 2.000 4.000 2x4 1.00 0.50",
        // All models.
        "1x4 2 2.83 2.00 4.00",
        "4x4 1 10.00 10.00 10.00",
    ] {
        assert!(has_row(&text, row), "{row:?} in {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn variants_have_rows_of_their_own() {
    let text = report(&[Some("plain"), Some("wide")]).to_string();
    for row in [
        "2x4 wide 3 8.000 7.200 8.800 5.00 4.50 5.50 1.25 1.12 1.38",
        "at.5.bdd wide 40.00 1x1 4.000 4x4 10.00",
        "1x4 plain 2 2.83 2.00 4.00 1.25",
    ] {
        assert!(has_row(&text, row), "{row:?} in {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn tables_that_would_say_nothing_are_left_out() {
    let mut report = report(&[None]);
    report.models.truncate(1);
    report.models[0].kinds.truncate(1);
    let text = report.to_string();
    assert_eq!(text.matches("speed-up").count(), 1, "{text}");
    report.models[0].kinds[0].seconds = None;
    report.models[0].states = None;
    assert!(report.to_string().contains("at.5.bdd: UNKNOWN"));
    assert!(report.pictures().is_empty());
}

#[test]
fn json_names_ranks_and_workers() {
    let json = serde_json::to_value(report(&[None])).unwrap();
    let kind = &json["models"][0]["kinds"][3];
    assert_eq!((&kind["ranks"], &kind["workers"], &kind["variant"]), (&2.into(), &4.into(), &().into()));
    assert_eq!(kind["seconds"]["median"], 8.0);
    let again: ReachReport = serde_json::from_value(json).unwrap();
    assert_eq!(again.to_string(), report(&[None]).to_string());
}

#[test]
fn pictures_show_all_shapes() {
    let pictures = report(&[None]).pictures();
    let names: Vec<&str> = pictures.iter().map(|picture| picture.file_name.as_str()).collect();
    assert_eq!(names, ["reach-workers.svg", "reach-ranks.svg", "reach-sizes.svg", "reach-times.svg"]);
    let expected = [
        "<title>2 ranks, workers of all ranks 8.000: 5.000</title>",
        "<title>4 workers a rank, ranks 2.000: 5.000</title>",
        "<title>at.5.bdd, time of 1x1 40 s: 5.000</title>",
        "<title>at.5.bdd, time of 1x1 40 s: 8 s</title>",
    ];
    for (picture, title) in pictures.iter().zip(expected) {
        assert!(picture.svg.contains(title), "{title} in {}", picture.svg);
        assert!(!picture.svg.contains("NaN") && !picture.svg.contains("inf"), "{}", picture.svg);
    }
    assert!(report(&[Some("plain"), Some("wide")]).pictures()[0].svg.contains("4 ranks, wide"));
}

/// A script in the place of launcher and program.
fn pretend(script: &str) -> ReachOptions {
    ReachOptions {
        launcher: ["sh", "-c", script].map(str::to_owned).to_vec(),
        models: vec![PathBuf::from("m.bdd")],
        shapes: ["2x1", "2x2"].map(|text| text.parse().unwrap()).to_vec(),
        reps: 2,
        ..ReachOptions::default()
    }
}

/// An answer with this number of states, which the shell may compute.
fn answer(states: &str) -> String {
    let rest = r#""nodes":1,"levels":1,"seconds":{"reach":0.5},"verdict":"complete","reason":null"#;
    format!("printf '{{\"states\":\"%s\",%s}}' \"{states}\" '{rest}'")
}

#[test]
fn runs_take_turns() {
    let options = pretend(&answer("80"));
    let mut lines = Vec::new();
    let report = run(&options, &mut |line| lines.push(line.to_owned())).unwrap();
    assert_eq!(lines, ["m.bdd, 2x1: 0.5000 s", "m.bdd, 2x2: 0.5000 s"].repeat(2));
    assert_eq!(report.models[0].states.as_deref(), Some("80"));
}

#[test]
fn answers_that_differ_are_an_error() {
    // The number of workers is the twelfth argument.
    let options = pretend(&answer("8${12}"));
    let error = run(&options, &mut |_| ()).unwrap_err();
    assert_eq!(error.to_string(), "m.bdd, 2x2: the answer is 82 states, but there are 81");
}

#[test]
fn programs_that_do_not_answer_are_told_apart() {
    let error = |script: &str| run(&pretend(script), &mut |_| ()).unwrap_err();
    assert!(matches!(error("echo 'tremula: bad' >&2; exit 2"), StudyError::Refused { .. }));
    assert!(matches!(error("kill -9 $$"), StudyError::NoAnswer { .. }));
    let alone = vec!["1x1".parse().unwrap()];
    let options = ReachOptions { program: "/no/program".into(), shapes: alone, ..pretend("") };
    assert!(matches!(run(&options, &mut |_| ()), Err(StudyError::CannotStart { .. })));
}

#[test]
fn limits_stop_nothing() {
    let options = pretend("echo 'tremula: no threads' >&2; exit 3");
    let report = run(&options, &mut |_| ()).unwrap();
    assert_eq!(report.models[0].kinds[1].unknown, ["no threads"; 2]);
    assert!(report.to_string().contains("m.bdd: UNKNOWN"));
}
