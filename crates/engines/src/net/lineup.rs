//! Who takes part in a contest.

use super::contest::Contestant;
use tremula_diagrams::mdd::Saturation;
use tremula_models::PetriNet;
use tremula_orders::{Candidate, FlowLimits, OrderLimits, Semiflows, candidates};

/// Orders that take part.
const MOST_ORDERS: usize = 16;

/// Where places hold many tokens, so many of the first orders try it both ways.
const TRIED_BOTH_WAYS: usize = 3;

/// Contestants for a net, the most promising first.
///
/// Closing images late is good everywhere; where places hold many tokens, closing them early is often better.
#[must_use]
pub fn lineup(net: &PetriNet) -> Vec<Contestant> {
    let semiflows = Semiflows::of(net, &FlowLimits::default());
    let candidates = candidates(net, &semiflows, &OrderLimits::default());
    let both_ways = if has_many_tokens(net) { TRIED_BOTH_WAYS } else { 0 };
    let in_its_ways = |(rank, candidate): (usize, &Candidate)| {
        let early = (rank < both_ways).then(|| contestant(candidate, true));
        early.into_iter().chain([contestant(candidate, false)]).collect::<Vec<_>>()
    };
    candidates.iter().take(MOST_ORDERS).enumerate().flat_map(in_its_ways).collect()
}

fn contestant(candidate: &Candidate, early: bool) -> Contestant {
    Contestant { name: candidate.recipe.to_string(), order: candidate.order.clone(), saturation: Saturation { early } }
}

/// Does a place start with several tokens, or get several at once?
fn has_many_tokens(net: &PetriNet) -> bool {
    let heavy = |transition: &tremula_models::Transition| transition.outputs.iter().any(|arc| arc.weight > 1);
    net.places.iter().any(|place| place.initial > 1) || net.transitions.iter().any(heavy)
}
