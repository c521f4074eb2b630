//! The quick study: every version of every program, and what the report makes of it.

use tremula_studies::StudyError;
use tremula_studies::tasks_study::{TasksOptions, TasksReport, Version, program_names, run};

fn quick() -> TasksOptions {
    TasksOptions { quick: true, reps: 2, workers: vec![1, 2, 3], ..TasksOptions::default() }
}

/// That the report exists means that all answers were right.
#[test]
fn a_quick_study_measures_everything() {
    let mut lines = Vec::new();
    let report = run(&quick(), &mut |line| lines.push(line.to_owned())).unwrap();
    assert_eq!(report.programs.len(), program_names(true).len());
    let combinations = 3 * Version::PARALLEL.len();
    assert_eq!(lines.len(), report.programs.len() * 2 * (1 + combinations));
    for program in &report.programs {
        assert_eq!(program.parallel.len(), combinations);
        assert!(program.tasks > 0 && program.parallel.iter().all(|version| version.speed_up > 0.0));
    }
    check_text(&report);
    check_json(&report);
    check_pictures(&report);
}

fn check_text(report: &TasksReport) {
    let text = report.to_string();
    let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 100, "{widest} columns:\n{text}");
    for version in Version::PARALLEL {
        assert!(text.contains(version.name()), "{version}");
    }
}

fn check_json(report: &TasksReport) {
    let again: TasksReport = serde_json::from_str(&report.to_json()).unwrap();
    assert_eq!(again.to_string(), report.to_string());
}

fn check_pictures(report: &TasksReport) {
    let names: Vec<String> = report.pictures().into_iter().map(|picture| picture.file_name).collect();
    assert_eq!(names[..2], ["tasks-speed-up.svg", "tasks-times.svg"]);
    assert!(report.pictures()[..2].iter().all(|picture| picture.svg.contains("queens(10)")));
}

#[test]
fn programs_are_chosen_by_name_or_family() {
    let chosen = |names: &[&str]| {
        let programs = names.iter().map(ToString::to_string).collect();
        let report = run(&TasksOptions { programs, reps: 1, workers: vec![1], ..quick() }, &mut |_| ())?;
        Ok::<_, StudyError>(report.programs.into_iter().map(|program| program.name).collect::<Vec<_>>())
    };
    assert_eq!(chosen(&["uts", "langford(8)"]).unwrap(), ["uts(fixed)", "uts(cyclic)", "uts(binomial)", "langford(8)"]);
    assert!(matches!(chosen(&["fib(42)"]), Err(StudyError::UnknownProgram { .. })));
}

#[test]
fn nothing_to_measure_is_an_error() {
    for options in [
        TasksOptions { reps: 0, ..quick() },
        TasksOptions { workers: vec![2, 0], ..quick() },
        TasksOptions { versions: vec![Version::Sequential], ..quick() },
    ] {
        assert!(matches!(run(&options, &mut |_| ()), Err(StudyError::NothingToMeasure(_))));
    }
}
