//! One score from several metrics.

use std::cmp::Ordering;

use tremula_models::PetriNet;

use crate::incidence::{Incidence, levels};
use crate::metrics::{crossing_ranks, unique_productive_spans};

/// How much more a rank below a cut counts than one above it.
///
/// Chosen among five weights on 36 nets where the order matters, by the nodes that saturation made with each candidate.
/// For 27 nets the first candidate made at most twice those of the best; with ranks below alone it is 26, with both alike
/// 20, with unique spans alone 27, with the coupling by invariants in the place of ranks 20. On 19 other nets, which had no
/// say in the choice, it is 15; with unique spans alone 16.
const BELOW: u64 = 8;

/// How good an order is expected to be: the smaller, the better.
///
/// The rank decides. Many orders of regular nets have the same; then the unique spans and the token height together
/// decide. Orders whose rank was too much work come last: the work grows with the rank.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Score {
    /// The sums of the ranks of what crossing transitions do below and above all cuts, those below weighted more; none
    /// if it was too much work.
    pub rank: Option<u64>,
    /// The sum of unique and productive spans.
    pub spans: u64,
    /// How far from the leaves the tokens are at the start: for each token, the levels below its place.
    pub height: u64,
}

impl Score {
    fn key(&self) -> (u64, u64, u64) {
        (self.rank.unwrap_or(u64::MAX), self.spans.saturating_add(self.height), self.spans)
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
    initial: Vec<u64>,
    steps: u64,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(net: &PetriNet, incidence: &'a Incidence, steps: u64) -> Judge<'a> {
        Judge { net: incidence, initial: net.initial_marking(), steps }
    }

    /// The scores of an order and of its reverse, which have the same ranks with above and below exchanged.
    pub(crate) fn scores(&self, order: &[u32], reverse: &[u32]) -> [Score; 2] {
        let sums = crossing_ranks(self.net, order, self.steps).map(|crossing| crossing.sums());
        let score = |order: &[u32], rank| Score {
            rank,
            spans: unique_productive_spans(self.net, order),
            height: token_height(&self.initial, order),
        };
        [
            score(order, sums.map(|(below, above)| BELOW * below + above)),
            score(reverse, sums.map(|(below, above)| BELOW * above + below)),
        ]
    }
}

/// For each token the levels below its place, all together.
fn token_height(initial: &[u64], order: &[u32]) -> u64 {
    let below = |level: u32| (order.len() as u64 - 1) - u64::from(level);
    let levels = levels(order);
    let tokens = initial.iter().zip(levels).map(|(&tokens, level)| tokens.saturating_mul(below(level)));
    tokens.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::net;

    #[test]
    fn heights_by_hand() {
        assert_eq!(token_height(&[5, 0, 2], &[0, 1, 2]), 10);
        assert_eq!(token_height(&[5, 0, 2], &[1, 2, 0]), 2);
        assert_eq!(token_height(&[u64::MAX, 1, 0], &[0, 1, 2]), u64::MAX);
        assert_eq!(token_height(&[], &[]), 0);
    }

    #[test]
    fn scores_by_hand() {
        // Three transitions from places of their own to a common one: ranks 1, 1, 1 below and 1, 2, 3 above.
        let net = net(&[1, 0, 0, 0], (0..3).map(|from| [vec![(from, 1)], vec![(3, 1)]]).collect());
        let incidence = Incidence::new(&net);
        let [score, reversed] = Judge::new(&net, &incidence, 1000).scores(&[0, 1, 2, 3], &[3, 2, 1, 0]);
        assert_eq!(score, Score { rank: Some(8 * 3 + 6), spans: 3 + 3, height: 3 });
        assert_eq!(reversed, Score { rank: Some(8 * 6 + 3), spans: 2 + 3 + 4, height: 0 });
        assert!(score < reversed);
    }

    #[test]
    fn ranks_decide_then_spans_and_heights() {
        let score = |rank, spans, height| Score { rank, spans, height };
        assert!(score(Some(1), 9, 9) < score(Some(2), 0, 0));
        assert!(score(Some(1), 4, 4) < score(Some(1), 3, 6));
        assert!(score(Some(9), 9, 9) < score(None, 0, 0));
        assert!(score(None, 1, 1) < score(None, 2, 1));
    }
}
