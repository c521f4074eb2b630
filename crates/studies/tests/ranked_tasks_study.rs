//! The quick study of tasks over ranks, which are threads here.

use tremula_fabric::threads;
use tremula_studies::StudyError;
use tremula_studies::tasks_study::ranked::{RankedTasksOptions, RankedTasksReport, ShapeReport, Tactic, Way, run};

fn quick() -> RankedTasksOptions {
    RankedTasksOptions { quick: true, reps: 2, workers: vec![1, 2], ..RankedTasksOptions::default() }
}

fn on_ranks(ranks: usize, options: &RankedTasksOptions) -> Vec<Result<Option<RankedTasksReport>, StudyError>> {
    threads::run(ranks, |fabric| run(fabric, options, &mut |_| ())).unwrap()
}

/// That the report exists means that all answers were right.
#[test]
fn a_quick_study_measures_everything() {
    let tactics = Tactic::ALL.to_vec();
    let mut results = on_ranks(3, &RankedTasksOptions { tactics, ..quick() });
    assert!(results[1..].iter().all(|result| matches!(result, Ok(None))));
    let report = results.remove(0).unwrap().unwrap();
    assert_eq!((report.ranks, report.left_out.as_slice()), (3, ["matmul(64)".to_owned()].as_slice()));
    assert_eq!(report.latency.len(), 2 * Tactic::ALL.len());
    for program in &report.programs {
        // One, two and three ranks.
        assert_eq!(program.shapes.len(), 3 * 2 * Tactic::ALL.len());
        assert!(program.tasks > 0 && program.shapes.iter().all(|shape| shape.speed_up > 0.0));
        assert!(program.shapes.iter().all(|shape| shape.steals.len() == shape.ranks));
    }
    let between = |report: &RankedTasksReport, way| {
        report.latency.iter().filter(|latency| latency.way == way).map(|latency| latency.count()).sum::<u64>()
    };
    assert!(Way::ALL.into_iter().all(|way| between(&report, way) > 0), "nobody has stolen anything");
    check_forms(&report);
}

#[test]
fn ranks_with_gates_give_right_answers_too() {
    let mut results = on_ranks(3, &RankedTasksOptions { gates: true, ..quick() });
    assert!(results[1..].iter().all(|result| matches!(result, Ok(None))));
    let report = results.remove(0).unwrap().unwrap();
    let steals =
        |shape: &ShapeReport| shape.steals.iter().map(|steals| steals.between_ns.values().sum::<u64>()).sum::<u64>();
    let between: u64 = report.programs.iter().flat_map(|program| &program.shapes).map(steals).sum();
    assert!(report.gates && between > 0, "nothing was stolen through a gate");
    let text = report.to_string();
    assert!(text.contains("gates between them") && text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

fn check_forms(report: &RankedTasksReport) {
    let text = report.to_string();
    let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 100, "{widest} columns:\n{text}");
    assert!(Tactic::ALL.iter().all(|tactic| text.contains(tactic.name())) && text.contains("matmul(64)"), "{text}");
    let again: RankedTasksReport = serde_json::from_str(&serde_json::to_string(report).unwrap()).unwrap();
    assert_eq!(again.to_string(), text);
    let names: Vec<String> = report.pictures().into_iter().map(|picture| picture.file_name).collect();
    assert_eq!(names, ["tasks-ranks-speed-up.svg", "tasks-ranks-times.svg", "tasks-ranks-steal-latency.svg"]);
}

#[test]
fn one_rank_tells_what_is_wrong() {
    for options in [
        RankedTasksOptions { reps: 0, ..quick() },
        RankedTasksOptions { workers: vec![0], ..quick() },
        RankedTasksOptions { programs: vec!["sort".to_owned()], ..quick() },
    ] {
        let results = on_ranks(2, &options);
        assert!(matches!(results[0], Err(StudyError::NothingToMeasure(_) | StudyError::UnknownProgram { .. })));
        assert!(matches!(results[1], Err(StudyError::Elsewhere(0))));
    }
}
