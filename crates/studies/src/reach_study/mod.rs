//! Whole explorations by several ranks and workers: `tremula bench reach`.
//!
//! The program explores each model in each [`Shape`], so many ranks with so many workers each, as processes of their own:
//! several ranks are started by a launcher. Runs take turns, so that a change in the machine's speed hits all shapes alike,
//! and all of them have to find the same number of states. Runs that give up at a limit are told, and stop nothing. A
//! [`Variant`] adds arguments, so that switches can be compared with each other.
//!
//! Tables and pictures are those of Oortwijn's thesis (2015, figures 5.9, 5.12 and 5.13) and of "Distributed binary decision
//! diagrams for symbolic reachability" (SPIN 2017, figures 3 and 4).
//!
//! ```no_run
//! use tremula_studies::reach_study::{ReachOptions, run};
//! let options = ReachOptions { models: vec!["phils.1.bdd".into()], ..ReachOptions::default() };
//! println!("{}", run(&options, &mut |line| eprintln!("{line}"))?);
//! # Ok::<(), tremula_studies::StudyError>(())
//! ```

mod answer;
mod launch;
mod measure;
mod options;
mod report;
mod report_pictures;
mod report_text;
mod shape;
mod variant;

pub use launch::Running;
pub use options::{LAUNCHER, ReachOptions};
pub use report::{KindReport, ModelReport, ReachReport};
pub use shape::Shape;
pub use variant::{Variant, words};

use crate::StudyError;
use std::path::Path;
use tremula_fabric::topology::cpu_limit;

/// Make the study; `progress` gets a line for each run.
pub fn run(options: &ReachOptions, progress: &mut dyn FnMut(&str)) -> Result<ReachReport, StudyError> {
    options.check()?;
    check_launcher(options)?;
    let names = names(options);
    let study = |(name, path): (&String, &_)| measure::study(options, (name.as_str(), path), &mut *progress);
    let models = names.iter().zip(options.models.iter().map(AsRef::as_ref)).map(study).collect::<Result<_, _>>()?;
    Ok(ReachReport {
        processors: cpu_limit(),
        reps: options.reps,
        strategy: options.strategy.clone(),
        mem_bytes: options.mem_bytes,
        timeout_seconds: options.timeout_seconds,
        more: options.more.clone(),
        variants: options.variants.iter().map(|one| (one.name.clone(), one.arguments.clone())).collect(),
        models,
    })
}

/// Nobody wants to hear after an hour that there is no launcher.
fn check_launcher(options: &ReachOptions) -> Result<(), StudyError> {
    if !options.shapes.iter().any(|shape| shape.has_several_ranks()) {
        return Ok(());
    }
    let program = options.launcher.first().ok_or(StudyError::NothingToMeasure("several ranks need a launcher"))?;
    if launch::exists(program) {
        return Ok(());
    }
    Err(StudyError::CannotStart { program: program.clone(), problem: "there is no such program".to_owned() })
}

/// Names of the models: their files', or with folders where files have the same.
fn names(options: &ReachOptions) -> Vec<String> {
    let short = |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let shorts: Vec<String> = options.models.iter().map(|path| short(path)).collect();
    let is_alone = |name: &String| shorts.iter().filter(|other| *other == name).count() == 1;
    let name = |(path, short): (&std::path::PathBuf, &String)| {
        if is_alone(short) { short.clone() } else { path.to_string_lossy().into_owned() }
    };
    options.models.iter().zip(&shorts).map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_where_they_can_be() {
        let models = ["a/one.bdd", "a/two.bdd", "b/two.bdd"].map(Into::into).to_vec();
        let options = ReachOptions { models, ..ReachOptions::default() };
        assert_eq!(names(&options), ["one.bdd", "a/two.bdd", "b/two.bdd"]);
    }

    #[test]
    fn launchers_are_looked_for_before_work_begins() {
        let options = |launcher: &str, shape: &str| ReachOptions {
            models: vec!["m.bdd".into()],
            launcher: words(launcher),
            shapes: vec![shape.parse().unwrap()],
            ..ReachOptions::default()
        };
        assert!(check_launcher(&options("no-such-launcher", "1x2")).is_ok());
        let error = check_launcher(&options("no-such-launcher -v", "2x1")).unwrap_err();
        assert_eq!(error.to_string(), "cannot start no-such-launcher: there is no such program");
        assert!(check_launcher(&options("", "2x1")).is_err());
    }
}
