//! The quick study of tables over ranks, which are threads here, and what the report makes of it.

use tremula_fabric::threads;
use tremula_studies::StudyError;
use tremula_studies::ranked_study::{CacheForm, LatencyTable, RankedOptions, RankedReport, TableForm, Way, run};
use tremula_studies::table_study::{Latency, Mix};

fn quick() -> RankedOptions {
    RankedOptions {
        loads: vec![0.5, 0.9],
        chunks: vec![8, 64],
        mixes: vec![Mix::EVEN, Mix::READ_HEAVY],
        workers: vec![1, 3],
        ..RankedOptions::quick()
    }
}

fn report(ranks: usize, options: &RankedOptions) -> RankedReport {
    let mut reports = threads::run(ranks, |fabric| run(fabric, options, &mut |_| ()).unwrap()).unwrap();
    assert!(reports[1..].iter().all(Option::is_none), "rank 0 has the report");
    reports.swap_remove(0).unwrap()
}

#[test]
fn a_quick_study_measures_everything() {
    let report = report(2, &quick());
    let settings: Vec<_> = report.speeds.iter().map(|one| (one.chunk, one.load, one.mix, one.workers)).collect();
    assert_eq!(settings.len(), 2 * 2 * 2 * 2);
    for workers in [1, 3] {
        assert!(settings.contains(&(64, 0.9, Mix::READ_HEAVY, workers)));
    }
    assert_eq!((report.owned.len(), report.chunks.len()), (2 * 2, 2 * 2));
    // Chunks of 64 slots are too long for one array.
    assert_eq!(report.ways.len(), (5 + 4) * 2);
    assert!(report.ways.iter().all(|one| (one.way, one.chunk) != (Way::Inline, 64)));
    let chunks = |way| report.ways.iter().find(|one| (one.way, one.chunk, one.load) == (way, 8, 0.9)).unwrap().chunks;
    let ratio = chunks(Way::Inline) / chunks(Way::Linear);
    assert!((0.9..1.1).contains(&ratio), "both go the same way, a little load apart: {ratio}");
    // One chunk more than it takes, for each of them.
    assert!((chunks(Way::Ahead) - chunks(Way::Asking) - 1.0).abs() < 0.1, "{:?}", report.ways);
    assert_eq!(report.caches.iter().map(|one| one.form).collect::<Vec<_>>(), [CacheForm::OneSided, CacheForm::Owners]);
    // Owners are asked for many results at a time.
    assert!(report.caches[0].remote_per_miss > 0.4 && report.caches[1].remote_per_miss < 0.1);
    assert!(report.caches.iter().all(|one| one.remembered > 0.5));
    check_latencies(&report);
    check_text(&report);
    check_json(&report);
    check_pictures(&report);
}

fn check_latencies(report: &RankedReport) {
    let tables: Vec<LatencyTable> = report.latencies.iter().map(|one| one.table).collect();
    use LatencyTable::{OneArray, OneSided, Owners};
    assert_eq!(tables, [OneSided(8), OneSided(64), OneArray(8), Owners].repeat(2));
    for one in &report.latencies {
        let Latency { p50, p90, p99, p999 } = one.latency_ns;
        assert!(0 < p50 && p50 <= p90 && p90 <= p99 && p99 <= p999, "{one:?}");
        // Each rank has done its share, and half of the nodes belong to the other.
        assert!(one.operations >= 2 * 20_000 && (0.4..0.9).contains(&one.remote_operations), "{one:?}");
        assert!(one.remote_requests >= one.remote_operations, "{one:?}");
    }
    let requests = |table| report.latencies.iter().find(|one| one.table == table).unwrap().remote_requests;
    // One message for each node of the other rank.
    assert!((0.4..0.6).contains(&requests(Owners)) && requests(OneSided(8)) > requests(Owners));
}

fn check_text(report: &RankedReport) {
    let text = report.to_string();
    for words in ["workers of each 3", "one array", "Latency of single operations", "p99.9", "by owners", "owners"] {
        assert!(text.contains(words), "{words:?} in {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

fn check_json(report: &RankedReport) {
    let json = serde_json::to_string(report).unwrap();
    let again: RankedReport = serde_json::from_str(&json).unwrap();
    assert_eq!(again.to_string(), report.to_string());
    assert!(json.contains(r#""table":"one-array","chunk":8"#) && json.contains(r#""table":"owners""#), "{json}");
}

fn check_pictures(report: &RankedReport) {
    let pictures = report.pictures();
    let names: Vec<&str> = pictures.iter().map(|picture| picture.file_name.as_str()).collect();
    assert_eq!(names, ["table-ranks-throughput.svg", "table-ranks-chunks.svg", "table-ranks-latency.svg"]);
    assert!(pictures[0].svg.contains("workers 3") && pictures[2].svg.contains("one array, C=8"));
}

#[test]
fn parts_can_be_measured_alone() {
    let options = RankedOptions { forms: vec![TableForm::Latency], ..quick() };
    let report = report(1, &options);
    assert!(report.speeds.is_empty() && report.caches.is_empty());
    assert!(report.latencies.iter().all(|one| one.remote_requests == 0.0), "a rank alone asks nobody");
    assert_eq!(report.pictures().len(), 1);
}

#[test]
fn options_that_make_no_sense_are_refused() {
    for options in [
        RankedOptions { workers: vec![1, 0], ..quick() },
        RankedOptions { operations: 0, ..quick() },
        RankedOptions { loads: vec![0.9, 0.5], ..quick() },
    ] {
        let outcome = threads::run(1, |fabric| run(fabric, &options, &mut |_| ())).unwrap();
        assert!(matches!(outcome[0], Err(StudyError::NothingToMeasure(_))), "{options:?}");
    }
}
