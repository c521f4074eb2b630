//! What the study measures.

use super::launch::Running;
use super::shape::Shape;
use super::variant::{Variant, words};
use crate::StudyError;
use crate::unique::unique;
use std::path::PathBuf;

/// Open MPI, for more ranks than processors too.
pub const LAUNCHER: &str = "mpirun --quiet --oversubscribe --bind-to none";

/// What the study measures.
#[derive(Clone, Debug)]
pub struct ReachOptions {
    /// The program, `tremula`.
    pub program: PathBuf,
    /// What starts several ranks; `-n` and their number are added.
    pub launcher: Vec<String>,
    /// The models.
    pub models: Vec<PathBuf>,
    /// The first one is what the others are compared with.
    pub shapes: Vec<Shape>,
    /// Each shape is measured with each of them; none: with nothing added.
    pub variants: Vec<Variant>,
    /// More arguments of all runs.
    pub more: Vec<String>,
    /// Runs of each kind.
    pub reps: usize,
    /// How to explore.
    pub strategy: String,
    /// Memory in bytes, for all ranks together.
    pub mem_bytes: usize,
    /// Seconds after which a run gives up.
    pub timeout_seconds: f64,
    /// Tells whoever has a copy what to end with the study.
    pub running: Running,
}

impl Default for ReachOptions {
    fn default() -> ReachOptions {
        ReachOptions {
            program: PathBuf::from("tremula"),
            launcher: words(LAUNCHER),
            models: Vec::new(),
            shapes: [(1, 1), (1, 2)].map(|(ranks, workers)| Shape { ranks, workers }).to_vec(),
            variants: Vec::new(),
            more: Vec::new(),
            reps: 3,
            strategy: "par".to_owned(),
            mem_bytes: 2 << 30,
            timeout_seconds: 3600.0,
            running: Running::default(),
        }
    }
}

impl ReachOptions {
    /// Is there something to measure, and are all names different?
    pub(super) fn check(&self) -> Result<(), StudyError> {
        if self.reps == 0 || self.models.is_empty() || self.shapes.is_empty() {
            return Err(StudyError::NothingToMeasure("give at least one model, one shape and one run"));
        }
        let names = || self.variants.iter().map(|variant| &variant.name);
        if unique(names()).len() < self.variants.len() || unique(self.shapes.iter()).len() < self.shapes.len() {
            return Err(StudyError::NothingToMeasure("each shape and each name of a variant may be given once"));
        }
        Ok(())
    }

    /// Everything that is measured for a model, in the order of runs.
    pub(super) fn kinds(&self) -> Vec<Kind> {
        let variants: Vec<Option<Variant>> =
            if self.variants.is_empty() { vec![None] } else { self.variants.iter().cloned().map(Some).collect() };
        let with = |shape: Shape| variants.iter().map(move |variant| Kind { shape, variant: variant.clone() });
        self.shapes.iter().flat_map(|&shape| with(shape)).collect()
    }
}

/// One way to run a model.
#[derive(Clone, Debug)]
pub(super) struct Kind {
    pub(super) shape: Shape,
    pub(super) variant: Option<Variant>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_of_a_shape_are_neighbours() {
        let variants = ["plain=", "wide=--tune=lanes=16"].map(|text| text.parse().unwrap()).to_vec();
        let options = ReachOptions { models: vec!["m.bdd".into()], variants, ..ReachOptions::default() };
        let name = |kind: &Kind| format!("{} {}", kind.shape, kind.variant.as_ref().unwrap().name);
        let kinds: Vec<String> = options.kinds().iter().map(name).collect();
        assert_eq!(kinds, ["1x1 plain", "1x1 wide", "1x2 plain", "1x2 wide"]);
        assert!(options.check().is_ok());
    }

    #[test]
    fn nothing_and_repetitions_are_refused() {
        let usual = || ReachOptions { models: vec!["m.bdd".into()], ..ReachOptions::default() };
        let twice = |text: &str| vec![text.parse().unwrap(), text.parse().unwrap()];
        for options in [
            ReachOptions::default(),
            ReachOptions { reps: 0, ..usual() },
            ReachOptions { shapes: Vec::new(), ..usual() },
            ReachOptions { shapes: vec!["1x1".parse().unwrap(); 2], ..usual() },
            ReachOptions { variants: twice("plain="), ..usual() },
        ] {
            assert!(matches!(options.check(), Err(StudyError::NothingToMeasure(_))), "{options:?}");
        }
    }
}
