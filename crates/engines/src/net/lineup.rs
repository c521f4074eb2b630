//! Who takes part in a contest.

use super::contest::Contestant;
use super::groups::{Group, groups};
use tremula_diagrams::mdd::Saturation;
use tremula_models::PetriNet;
use tremula_orders::{Candidate, FlowLimits, OrderLimits, Recipe, Semiflows, candidates, order};

/// Orders that take part.
const MOST_ORDERS: usize = 16;

/// So many of the first orders are tried in all ways, the others in the robust one.
const TRIED_ALL_WAYS: usize = 3;

/// What is needed for a contest of a net.
#[derive(Clone, Debug)]
pub struct Lineup {
    /// Places that share a token.
    pub groups: Vec<Group>,
    /// Who takes part, the most promising first.
    pub contestants: Vec<Contestant>,
}

impl Lineup {
    /// Contestants in the orders that look best.
    ///
    /// Closing images late is good everywhere; where places hold many tokens, closing them early is often better. Where
    /// places share tokens, sharing variables is mostly better.
    #[must_use]
    pub fn new(net: &PetriNet) -> Lineup {
        let semiflows = Semiflows::of(net, &FlowLimits::default());
        let candidates = candidates(net, &semiflows, &OrderLimits::default());
        let groups = groups(net, &semiflows);
        let ways = ways(net, &groups);
        let in_its_ways = |(rank, candidate): (usize, &Candidate)| {
            let (name, order) = (candidate.recipe.to_string(), &candidate.order);
            let tried = ways.iter().filter(|way| rank < TRIED_ALL_WAYS || way.is_robust);
            tried.map(|way| way.contestant(&name, order)).collect::<Vec<_>>()
        };
        let contestants = candidates.iter().take(MOST_ORDERS).enumerate().flat_map(in_its_ways).collect();
        Lineup { groups, contestants }
    }

    /// Contestants in one order; none if the net is not made for it, or too large.
    #[must_use]
    pub fn in_order(net: &PetriNet, recipe: Recipe) -> Option<Lineup> {
        let semiflows = Semiflows::of(net, &FlowLimits::default());
        let order = order(net, recipe, &semiflows, &OrderLimits::default())?;
        let groups = groups(net, &semiflows);
        let name = recipe.to_string();
        let contestants = ways(net, &groups).iter().map(|way| way.contestant(&name, &order)).collect();
        Some(Lineup { groups, contestants })
    }
}

/// A way to explore in some order.
struct Way {
    early: bool,
    grouped: bool,
    /// Does it never do badly?
    is_robust: bool,
}

impl Way {
    fn contestant(&self, name: &str, order: &[u32]) -> Contestant {
        Contestant {
            name: name.to_owned(),
            order: order.to_vec(),
            saturation: Saturation { early: self.early },
            grouped: self.grouped,
        }
    }
}

/// Ways for a net, the most promising first.
fn ways(net: &PetriNet, groups: &[Group]) -> Vec<Way> {
    let grouped = !groups.is_empty();
    let early = has_many_tokens(net).then_some(Way { early: true, grouped, is_robust: false });
    let apart = grouped.then_some(Way { early: false, grouped: false, is_robust: false });
    early.into_iter().chain([Way { early: false, grouped, is_robust: true }]).chain(apart).collect()
}

/// Does a place start with several tokens, or get several at once?
fn has_many_tokens(net: &PetriNet) -> bool {
    let heavy = |transition: &tremula_models::Transition| transition.outputs.iter().any(|arc| arc.weight > 1);
    net.places.iter().any(|place| place.initial > 1) || net.transitions.iter().any(heavy)
}
