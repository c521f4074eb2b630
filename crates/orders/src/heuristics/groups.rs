//! Orders that keep groups of places together: the supports of P-semiflows, or units.
//!
//! Tokens move within a group, so the levels of one group know much about each other and little about the rest. Both
//! orders append one group after the other, places that are there already left out; they differ in which comes next.

use crate::effort::Effort;
use crate::graph::Graph;
use crate::incidence::Incidence;
use crate::lists::Lists;

/// The groups, and how far the order has come.
struct Chain<'a> {
    groups: &'a Lists,
    groups_of: Lists,
    /// How many places of each group have no level yet.
    missing: Vec<usize>,
    placed: Vec<bool>,
    order: Vec<u32>,
}

impl<'a> Chain<'a> {
    fn new(groups: &'a Lists, places: usize) -> Chain<'a> {
        Chain {
            groups,
            groups_of: groups.inverted(places),
            missing: groups.iter().map(<[u32]>::len).collect(),
            placed: vec![false; places],
            order: Vec::with_capacity(places),
        }
    }

    /// The groups that have a place without a level.
    fn open(&self) -> impl Iterator<Item = usize> {
        (0..self.groups.len()).filter(|&group| self.missing[group] > 0)
    }

    /// The places of a group that have no level yet.
    fn fresh(&self, group: usize) -> Vec<u32> {
        self.groups.of(group).iter().copied().filter(|&place| !self.placed[place as usize]).collect()
    }

    fn append(&mut self, place: u32) {
        self.placed[place as usize] = true;
        self.order.push(place);
        for &group in self.groups_of.of(place as usize) {
            self.missing[group as usize] -= 1;
        }
    }

    /// Places of no group go to the mean level of the places that they share transitions with, or to the end.
    fn finish(self, net: &Incidence) -> Vec<u32> {
        let mut level = vec![None; self.placed.len()];
        for (at, &place) in self.order.iter().enumerate() {
            level[place as usize] = Some(at as f64);
        }
        let around = |place: usize| {
            let events = net.touching.of(place).iter().flat_map(|&event| net.touched.of(event as usize));
            let (sum, number) = events
                .filter_map(|&other| level[other as usize])
                .fold((0.0, 0.0), |(sum, number), at| (sum + at, number + 1.0));
            if number > 0.0 { sum / number } else { f64::INFINITY }
        };
        let mut keys: Vec<(f64, u32)> =
            (0..self.placed.len()).map(|place| (level[place].unwrap_or_else(|| around(place)), place as u32)).collect();
        keys.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        keys.into_iter().map(|(_, place)| place).collect()
    }
}

/// Chaining: the next group is the one with the largest part of its places in the order already.
///
/// The first one is the group that shares the fewest places with others, an end of the chain. Without groups there is no
/// such order.
pub(crate) fn chaining(net: &Incidence, groups: &Lists, effort: &mut Effort) -> Option<Vec<u32>> {
    effort.spend(net.touched.total() + groups.total())?;
    let mut chain = Chain::new(groups, net.places());
    let shared = |group: usize| {
        let others = groups.of(group).iter().map(|&place| chain.groups_of.of(place as usize).len() - 1);
        others.sum::<usize>()
    };
    let mut next = chain.open().min_by_key(|&group| (shared(group), group));
    next?;
    while let Some(group) = next {
        effort.spend(groups.len())?;
        for place in chain.fresh(group) {
            chain.append(place);
        }
        // Parts are compared as fractions: missing / size, small ones first.
        let fraction = |group: usize| (chain.missing[group] as u64, groups.of(group).len() as u64);
        next = chain.open().min_by(|&a, &b| {
            let ((missing_a, size_a), (missing_b, size_b)) = (fraction(a), fraction(b));
            (missing_a * size_b).cmp(&(missing_b * size_a)).then(missing_a.cmp(&missing_b))
        });
    }
    Some(chain.finish(net))
}

/// Gradient: groups near one end of the net come first, and their places in the order of their distance from it.
///
/// After E. Amparore, M. Beccuti, S. Donatelli, "Gradient-based variable ordering of decision diagrams for systems with
/// structural units", 2017. The next group is the one for which the gradients of its places in the order, less those of
/// its other places, have the largest sum.
pub(crate) fn gradient(net: &Incidence, groups: &Lists, effort: &mut Effort) -> Option<Vec<u32>> {
    let graph = Graph::bipartite(net);
    effort.spend(4 * (graph.len() + graph.edges()) + groups.total())?;
    let gradient = gradients(&graph);
    let mut chain = Chain::new(groups, net.places());
    let sum = |group: &[u32]| group.iter().map(|&place| gradient[place as usize]).sum::<f64>();
    let mut score: Vec<f64> = groups.iter().map(|group| -sum(group)).collect();
    chain.open().next()?;
    while let Some(group) = best(&chain, &score) {
        effort.spend(groups.len())?;
        let mut fresh = chain.fresh(group);
        fresh.sort_by(|&a, &b| gradient[a as usize].total_cmp(&gradient[b as usize]).then(a.cmp(&b)));
        for place in fresh {
            chain.append(place);
            effort.spend(chain.groups_of.of(place as usize).len())?;
            for &near in chain.groups_of.of(place as usize) {
                score[near as usize] += 2.0 * gradient[place as usize];
            }
        }
    }
    Some(chain.finish(net))
}

/// The first group of the highest score among those that have a place without a level.
fn best(chain: &Chain, score: &[f64]) -> Option<usize> {
    let mut best: Option<usize> = None;
    for group in chain.open() {
        if best.is_none_or(|best| score[group] > score[best]) {
            best = Some(group);
        }
    }
    best
}

/// How far each place is from one end of its component; among equals, those nearer to the other end are farther.
fn gradients(graph: &Graph) -> Vec<f64> {
    let mut gradient = vec![0.0; graph.len()];
    let mut base = 0.0;
    for (start, end) in graph.components() {
        let depth = f64::from(end.depth()) + 1.0;
        for &(vertex, distance) in &start.reached {
            gradient[vertex as usize] = base + 1.0 + f64::from(distance);
        }
        for &(vertex, distance) in &end.reached {
            gradient[vertex as usize] += 1.0 - f64::from(distance) / depth;
        }
        base += f64::from(start.depth()) + 2.0;
    }
    gradient
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{chain, kanban};

    #[test]
    fn groups_stay_together() {
        let net = Incidence::new(&kanban(3));
        let groups = Lists::new((0..4).map(|cell| (0..4).map(move |place| 4 * cell + place)));
        for order in [chaining, gradient] {
            let order = order(&net, &groups, &mut Effort::new(100_000)).expect("enough effort");
            for cell in order.chunks(4) {
                assert!(cell.iter().all(|place| place / 4 == cell[0] / 4), "{order:?}");
            }
        }
    }

    #[test]
    fn overlapping_groups_are_chained() {
        let net = Incidence::new(&chain(7));
        let groups = Lists::new([vec![0, 1, 2], vec![4, 5, 6], vec![2, 3, 4]]);
        let order = chaining(&net, &groups, &mut Effort::new(1000)).expect("enough effort");
        assert_eq!(order, [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn places_of_no_group_go_beside_their_neighbours() {
        let net = Incidence::new(&chain(7));
        let groups = Lists::new([vec![0, 1, 2], vec![4, 5, 6]]);
        let order = chaining(&net, &groups, &mut Effort::new(1000)).expect("enough effort");
        assert_eq!(order, [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn without_groups_there_is_no_order() {
        let net = Incidence::new(&chain(3));
        let none = Lists::new(Vec::<Vec<u32>>::new());
        assert_eq!(chaining(&net, &none, &mut Effort::new(1000)), None);
        assert_eq!(gradient(&net, &none, &mut Effort::new(1000)), None);
    }

    #[test]
    fn gradients_grow_along_a_chain() {
        let graph = Graph::bipartite(&Incidence::new(&chain(5)));
        let gradient = gradients(&graph);
        assert!(gradient[..5].is_sorted() || gradient[..5].iter().rev().is_sorted(), "{gradient:?}");
    }
}
