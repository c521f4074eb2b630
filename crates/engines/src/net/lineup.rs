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
        let mut places: Vec<(usize, Contestant)> = Vec::new();
        for (rank, candidate) in candidates.iter().take(MOST_ORDERS).enumerate() {
            let tried = ways.iter().filter(|way| rank < TRIED_ALL_WAYS || way.is_robust);
            // A second way with a good order is as promising as a first way with the next one.
            let placed = tried.enumerate().map(|(nth, way)| (rank + nth, way.contestant(candidate)));
            places.extend(placed);
        }
        places.sort_by_key(|&(place, _)| place);
        Lineup { groups, contestants: places.into_iter().map(|(_, contestant)| contestant).collect() }
    }

    /// Contestants in one order; none if the net is not made for it, or too large.
    #[must_use]
    pub fn in_order(net: &PetriNet, recipe: Recipe) -> Option<Lineup> {
        let semiflows = Semiflows::of(net, &FlowLimits::default());
        let order = order(net, recipe, &semiflows, &OrderLimits::default())?;
        let groups = groups(net, &semiflows);
        let contestants = ways(net, &groups).iter().map(|way| way.in_order(recipe, &order)).collect();
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
    fn contestant(&self, candidate: &Candidate) -> Contestant {
        self.in_order(candidate.recipe, &candidate.order)
    }

    fn in_order(&self, recipe: Recipe, order: &[u32]) -> Contestant {
        Contestant {
            name: recipe.to_string(),
            order: order.to_vec(),
            saturation: Saturation { early: self.early },
            grouped: self.grouped,
        }
    }
}

/// From so many tokens in a place at the start on, closing early is more promising than closing late.
const MANY_TOKENS: u64 = 8;

/// Ways for a net, the most promising first.
fn ways(net: &PetriNet, groups: &[Group]) -> Vec<Way> {
    let grouped = !groups.is_empty();
    let tokens = net.places.iter().map(|place| place.initial).max().unwrap_or(0);
    let early = (tokens > 1 || gives_several(net)).then_some(Way { early: true, grouped, is_robust: false });
    let late = Way { early: false, grouped, is_robust: true };
    let apart = grouped.then_some(Way { early: false, grouped: false, is_robust: false });
    let mut ways: Vec<Way> = [late].into_iter().chain(early).collect();
    if tokens >= MANY_TOKENS {
        ways.reverse();
    }
    ways.into_iter().chain(apart).collect()
}

/// Does a place get several tokens at once?
fn gives_several(net: &PetriNet) -> bool {
    net.transitions.iter().any(|transition| transition.outputs.iter().any(|arc| arc.weight > 1))
}
