//! Who takes part in a contest.

use super::contest::Contestant;
use super::encoding::EncodedNet;
use super::explicit::Packing;
use super::groups::{Group, groups};
use super::rehearsal::is_thorough;
use super::way::Way;
use tremula_diagrams::mdd::Saturation;
use tremula_models::PetriNet;
use tremula_orders::{
    Candidate, FlowLimits, OrderLimits, Recipe, Semiflows, candidates, order, place_bounds, quick_candidate,
};

/// Orders that take part without a rehearsal.
const MOST_ORDERS: usize = 16;

/// So many of the first orders are tried in all ways, the others in the robust one.
const TRIED_ALL_WAYS: usize = 3;

/// Where ways other than saturation stand in the lineup.
const CHAINING_PLACE: usize = 8;
const BFS_PLACE: usize = 12;

/// What is needed for a contest of a net.
#[derive(Clone, Debug)]
pub struct Lineup {
    /// Places that share a token.
    pub groups: Vec<Group>,
    /// The most tokens of each place, where that is known.
    pub bounds: Vec<Option<u64>>,
    /// Who takes part, the most promising first.
    pub contestants: Vec<Contestant>,
}

impl Lineup {
    /// Contestants in the orders that look best.
    ///
    /// Closing images late is good everywhere; where places hold many tokens, closing them early is often better. Where
    /// places share tokens, sharing variables is mostly better. Some nets want no saturation at all.
    ///
    /// So many threads work on it; the result does not depend on them.
    #[must_use]
    pub fn new(net: &PetriNet, threads: usize) -> Lineup {
        let semiflows = Semiflows::of(net, &FlowLimits::default());
        let candidates = candidates(net, &semiflows, &limits(net, threads));
        let orders: Vec<(Recipe, &[u32])> =
            candidates.iter().map(|candidate| (candidate.recipe, &candidate.order[..])).collect();
        Lineup::in_orders(net, &semiflows, &orders)
    }

    /// One contestant, whose order is found soon, where that may be all that is needed: rehearsals tell better, where there
    /// are many tokens.
    #[must_use]
    pub fn quick(net: &PetriNet, threads: usize) -> Option<Lineup> {
        if is_thorough(net) {
            return None;
        }
        let semiflows = Semiflows::of(net, &FlowLimits::default());
        let Candidate { recipe, order, .. } = quick_candidate(net, &semiflows, &limits(net, threads))?;
        let mut lineup = Lineup::in_orders(net, &semiflows, &[(recipe, &order)]);
        lineup.contestants.truncate(1);
        Some(lineup)
    }

    /// Contestants in one order; none if the net is not made for it, or too large.
    #[must_use]
    pub fn in_order(net: &PetriNet, recipe: Recipe) -> Option<Lineup> {
        let semiflows = Semiflows::of(net, &FlowLimits::default());
        let order = order(net, recipe, &semiflows, &OrderLimits::default())?;
        Some(Lineup::in_orders(net, &semiflows, &[(recipe, &order)]))
    }

    fn in_orders(net: &PetriNet, semiflows: &Semiflows, orders: &[(Recipe, &[u32])]) -> Lineup {
        let groups = groups(net, semiflows);
        let bounds = place_bounds(net, semiflows);
        let saturations = saturations(net, &groups);
        let mut placed: Vec<(usize, Contestant)> = Vec::new();
        for (rank, &(recipe, order)) in orders.iter().enumerate() {
            let mut ways: Vec<&Approach> = saturations.iter().collect();
            if rank >= TRIED_ALL_WAYS {
                ways.sort_by_key(|way| !way.is_robust);
            }
            for (nth, way) in ways.into_iter().enumerate() {
                // A second way with a good order is as promising as a first way with the next one.
                let is_late = rank >= MOST_ORDERS || nth > 0 && rank >= TRIED_ALL_WAYS;
                placed.push((rank + nth + if is_late { orders.len() } else { 0 }, way.in_order(recipe, order)));
            }
        }
        placed.extend(others(net, &groups, &bounds, orders[0]));
        placed.sort_by_key(|&(place, _)| place);
        Lineup { groups, bounds, contestants: placed.into_iter().map(|(_, contestant)| contestant).collect() }
    }
}

/// Nets with fewer transitions are ordered before a second thread has started.
const FEW_TRANSITIONS: usize = 100;

fn limits(net: &PetriNet, threads: usize) -> OrderLimits {
    let threads = if net.transitions.len() < FEW_TRANSITIONS { 1 } else { threads };
    OrderLimits { threads, ..OrderLimits::default() }
}

/// A way to explore in some order.
struct Approach {
    way: Way,
    grouped: bool,
    /// Does it never do badly?
    is_robust: bool,
}

impl Approach {
    fn in_order(&self, recipe: Recipe, order: &[u32]) -> Contestant {
        Contestant { name: recipe.to_string(), order: order.to_vec(), way: self.way, grouped: self.grouped }
    }
}

/// From so many tokens in a place at the start on, closing early is more promising than closing late.
const MANY_TOKENS: u64 = 8;

/// Ways to saturate a net, the most promising first.
fn saturations(net: &PetriNet, groups: &[Group]) -> Vec<Approach> {
    let grouped = !groups.is_empty();
    let tokens = net.places.iter().map(|place| place.initial).max().unwrap_or(0);
    let approach = |early: bool, grouped: bool, is_robust: bool| Approach {
        way: Way::Saturation(Saturation { early }),
        grouped,
        is_robust,
    };
    let early = (tokens > 1 || gives_several(net)).then_some(approach(true, grouped, false));
    let apart = grouped.then_some(approach(false, false, false));
    let late = approach(false, grouped, true);
    if tokens >= MANY_TOKENS {
        early.into_iter().chain([late]).chain(apart).collect()
    } else {
        [late].into_iter().chain(apart).chain(early).collect()
    }
}

/// Does a place get several tokens at once?
fn gives_several(net: &PetriNet) -> bool {
    net.transitions.iter().any(|transition| transition.outputs.iter().any(|arc| arc.weight > 1))
}

/// Ways other than saturation, in the best order, and their places.
fn others(
    net: &PetriNet,
    groups: &[Group],
    bounds: &[Option<u64>],
    (recipe, order): (Recipe, &[u32]),
) -> Vec<(usize, Contestant)> {
    let approach = |way| Approach { way, grouped: !groups.is_empty(), is_robust: false }.in_order(recipe, order);
    let packs =
        EncodedNet::new(net, order, groups, bounds).is_ok_and(|net| Packing::of(&net.encoding, bounds).is_some());
    // A list is good or ends soon: it comes right after the favourite.
    let explicit = packs.then(|| (0, approach(Way::Explicit)));
    let rounds = [(CHAINING_PLACE, approach(Way::Chaining)), (BFS_PLACE, approach(Way::Bfs))];
    explicit.into_iter().chain(rounds).collect()
}
