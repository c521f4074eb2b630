//! What the study found out.

use super::shape::Shape;
use crate::Spread;
use crate::unique::unique;
use serde::{Deserialize, Serialize};

/// What the study found out. Displays as tables of text that fit 100 columns.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReachReport {
    /// Processors that can be used here; results with more workers say little.
    pub processors: usize,
    /// Runs of each kind.
    pub reps: usize,
    /// How the models were explored.
    pub strategy: String,
    /// Memory in bytes, of all ranks together.
    pub mem_bytes: usize,
    /// Seconds after which a run gave up.
    pub timeout_seconds: f64,
    /// More arguments of all runs.
    pub more: Vec<String>,
    /// More arguments of some runs, by name.
    pub variants: Vec<(String, Vec<String>)>,
    /// One report for each model.
    pub models: Vec<ModelReport>,
}

/// What the study found out about one model.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ModelReport {
    /// The file's name.
    pub name: String,
    /// The number of states that all runs gave, in digits; none if all gave up.
    pub states: Option<String>,
    /// Nodes of the diagram of these states.
    pub nodes: Option<u64>,
    /// Breadth-first levels, where the strategy knows them.
    pub levels: Option<u64>,
    /// One entry for each shape and variant.
    pub kinds: Vec<KindReport>,
}

/// What the study found out about one model in one shape.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KindReport {
    /// Ranks and workers.
    #[serde(flatten)]
    pub shape: Shape,
    /// Which variant, where there are any.
    pub variant: Option<String>,
    /// Seconds of exploring, of the runs that came to an end; none if all gave up.
    pub seconds: Option<Spread>,
    /// Seconds from start to end, with starting ranks, reading the model and counting.
    pub whole_seconds: Option<Spread>,
    /// Time of the first shape, in the same variant, divided by the time of this one, round by round.
    pub speed_up: Option<Spread>,
    /// Time of the first variant, in the same shape, divided by the time of this one, round by round.
    pub gain: Option<Spread>,
    /// Why runs gave up, one entry for each that did.
    pub unknown: Vec<String>,
}

impl ReachReport {
    /// All variants, or the one that has no name.
    pub(super) fn variant_names(&self) -> Vec<Option<&str>> {
        unique(self.models.iter().flat_map(|model| &model.kinds).map(|kind| kind.variant.as_deref()))
    }

    /// The shape with which others are compared.
    pub(super) fn base(&self) -> Option<Shape> {
        Some(self.models.first()?.kinds.first()?.shape)
    }

    /// Shapes with their variants, in the order in which they ran.
    pub(super) fn ways(&self) -> Vec<(Shape, Option<&str>)> {
        let kinds = self.models.iter().flat_map(|model| &model.kinds);
        unique(kinds.map(|kind| (kind.shape, kind.variant.as_deref())))
    }
}

impl ModelReport {
    /// All shapes of one variant.
    pub(super) fn of<'r>(&'r self, variant: Option<&'r str>) -> impl Iterator<Item = &'r KindReport> {
        self.kinds.iter().filter(move |kind| kind.variant.as_deref() == variant)
    }

    /// One shape of one variant.
    pub(super) fn find(&self, (shape, variant): (Shape, Option<&str>)) -> Option<&KindReport> {
        self.kinds.iter().find(|kind| kind.shape == shape && kind.variant.as_deref() == variant)
    }

    /// The fastest of some.
    pub(super) fn best<'r>(kinds: impl Iterator<Item = &'r KindReport>) -> Option<&'r KindReport> {
        let timed = kinds.filter_map(|kind| Some((kind, kind.median()?)));
        timed.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(kind, _)| kind)
    }
}

impl KindReport {
    /// Median seconds.
    pub(super) fn median(&self) -> Option<f64> {
        Some(self.seconds.as_ref()?.median)
    }
}

/// A shape and its variant, in words.
pub(super) fn way_name((shape, variant): (Shape, Option<&str>)) -> String {
    variant.map_or(shape.to_string(), |variant| format!("{shape} {variant}"))
}
