//! The quick study: every table, and what the report makes of it.

use tremula_studies::StudyError;
use tremula_studies::table_study::{Latency, Mix, Subject, TableOptions, TableReport, run};

fn quick() -> TableOptions {
    TableOptions {
        operations: 20_000,
        workers: vec![1, 3],
        loads: vec![0.9, 0.3, 0.5],
        chunks: vec![8, 64],
        mixes: vec![Mix::EVEN, Mix::WRITE_HEAVY],
        slots: 1 << 17,
    }
}

/// That the report exists means that all tables held what was put into them.
#[test]
fn a_quick_study_measures_everything() {
    let mut lines = Vec::new();
    let report = run(&quick(), &mut |line| lines.push(line.to_owned())).unwrap();
    assert_eq!(lines.len(), report.runs.len());
    // Two mixes and two numbers of workers; the table itself does not get as full as 0.9.
    assert_eq!(report.runs.len(), (5 * 3 + 2) * 4);
    for run in &report.runs {
        assert!(run.million_per_second.median > 0.0 && run.operations >= 5000, "{run:?}");
        let Latency { p50, p90, p99, p999 } = run.latency_ns;
        assert!(0 < p50 && p50 <= p90 && p90 <= p99 && p99 <= p999, "{run:?}");
        assert_eq!(run.chunks.is_none(), run.setting.subject == Subject::Itself);
    }
    check_theory(&report);
    check_text(&report);
    check_json(&report);
    check_pictures(&report);
}

/// Hashing is nearly as good as perfect, so inserts read as many chunks as simulated ones.
fn check_theory(report: &TableReport) {
    assert_eq!(report.theory.len(), 2 * 3);
    for theory in &report.theory {
        let measured = theory.measured.unwrap();
        assert!((measured / theory.simulated - 1.0).abs() < 0.1, "{theory:?}");
        assert_eq!(theory.thesis_measured.is_some(), theory.load > 0.4);
        assert!(theory.thesis_measured.is_none_or(|thesis| (measured / thesis - 1.0).abs() < 0.25), "{theory:?}");
    }
}

fn check_text(report: &TableReport) {
    let text = report.to_string();
    let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 100, "{widest} columns:\n{text}");
    for subject in Subject::UNCHUNKED {
        assert!(text.contains(&subject.to_string()), "{subject}");
    }
}

fn check_json(report: &TableReport) {
    let again: TableReport = serde_json::from_str(&report.to_json()).unwrap();
    assert_eq!(again.to_string(), report.to_string());
}

fn check_pictures(report: &TableReport) {
    let names: Vec<String> = report.pictures().into_iter().map(|picture| picture.file_name).collect();
    let expected = [
        "table-chunks.svg",
        "table-probing.svg",
        "table-latency-50-50-workers-1.svg",
        "table-latency-20-80-workers-1.svg",
        "table-latency-50-50-workers-3.svg",
        "table-latency-20-80-workers-3.svg",
        "table-probes.svg",
    ];
    assert_eq!(names, expected);
}

#[test]
fn no_chunks_at_all_are_fine() {
    let options = TableOptions { chunks: vec![], loads: vec![0.02], workers: vec![1], operations: 1, ..quick() };
    let report = run(&options, &mut |_| ()).unwrap();
    assert!(report.theory.is_empty() && !report.to_string().contains("C=8"));
    let names: Vec<String> = report.pictures().into_iter().map(|picture| picture.file_name).collect();
    assert_eq!(names, ["table-probing.svg", "table-latency-50-50-workers-1.svg", "table-latency-20-80-workers-1.svg"]);
}

#[test]
fn nothing_to_measure_is_an_error() {
    let options = TableOptions { workers: vec![0], ..quick() };
    assert!(matches!(run(&options, &mut |_| ()), Err(StudyError::NothingToMeasure(_))));
}
