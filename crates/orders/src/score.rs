//! One score from several metrics.

use std::cmp::Ordering;

use crate::incidence::{Incidence, levels};
use crate::metrics::{Coupling, unique_productive_spans};
use tremula_models::PetriNet;

/// How good an order is expected to be: the smaller, the better.
///
/// The coupling decides. An order and its reverse have the same, as have many orders of regular nets; then the unique
/// spans and the token height together decide. Orders whose coupling was too much work come last: work grows with the
/// coupling itself.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Score {
    /// The sum of the couplings at all cuts, unless it was too much work.
    pub coupling: Option<u64>,
    /// The sum of unique and productive spans.
    pub spans: u64,
    /// How far from the leaves the tokens are at the start: for each token, the levels below its place.
    pub height: u64,
}

impl Score {
    fn key(&self) -> (u64, u64, u64) {
        (self.coupling.unwrap_or(u64::MAX), self.spans.saturating_add(self.height), self.spans)
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Score) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Score) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Gives scores to orders of one net.
pub(crate) struct Judge<'a> {
    net: &'a Incidence,
    coupling: Coupling,
    initial: Vec<u64>,
    steps: u64,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(net: &PetriNet, incidence: &'a Incidence, steps: u64) -> Judge<'a> {
        let coupling = Coupling::new(incidence, steps);
        Judge { net: incidence, coupling, initial: net.initial_marking(), steps }
    }

    pub(crate) fn coupling(&self, order: &[u32]) -> Option<u64> {
        self.coupling.sum(order, self.steps)
    }

    /// The score of an order whose coupling is known.
    pub(crate) fn score(&self, order: &[u32], coupling: Option<u64>) -> Score {
        Score { coupling, spans: unique_productive_spans(self.net, order), height: token_height(&self.initial, order) }
    }
}

/// For each token the levels below its place, all together.
fn token_height(initial: &[u64], order: &[u32]) -> u64 {
    let below = |level: &u32| u64::from(order.len() as u32 - 1 - level);
    let heights = levels(order);
    let tokens = initial.iter().zip(&heights).map(|(&tokens, level)| tokens.saturating_mul(below(level)));
    tokens.fold(0, u64::saturating_add)
}
