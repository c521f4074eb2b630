//! FORCE: what belongs together draws itself together.
//!
//! F. Aloul, I. Markov, K. Sakallah, "FORCE: a fast and easy-to-implement variable-ordering heuristic", 2003. Each edge
//! has its centre of gravity, each vertex moves to the mean of the centres of its edges, and the vertices are numbered
//! anew. The best round, the one with the least sum of spans, counts.
//!
//! Only additions, divisions and comparisons of floating point numbers are used: they are the same on every machine.

use crate::effort::Effort;
use crate::incidence::levels;
use crate::lists::Lists;

/// At most so many rounds, and so many without a better one.
const ROUNDS: usize = 100;
const PATIENCE: usize = 10;

/// An order of the vertices of a hypergraph, starting from another one. Edges list vertices.
///
/// If effort runs out the best order so far is the result: any round is as valid as the last one.
pub(crate) fn force(edges: &Lists, start: Vec<u32>, effort: &mut Effort) -> Vec<u32> {
    let edges_of = edges.inverted(start.len());
    let mut best = (total_span(edges, &levels(&start)), start.clone());
    let mut order = start;
    let mut patience = PATIENCE;
    for _ in 0..ROUNDS {
        // Moving looks at each incidence three times, and sorting at each vertex a few times.
        if effort.spend(3 * edges.total() + 4 * order.len()).is_none() || patience == 0 {
            break;
        }
        let moved = drawn(edges, &edges_of, &order);
        if moved == order {
            break;
        }
        order = moved;
        let span = total_span(edges, &levels(&order));
        patience -= 1;
        if span < best.0 {
            best = (span, order.clone());
            patience = PATIENCE;
        }
    }
    best.1
}

/// One round.
fn drawn(edges: &Lists, edges_of: &Lists, order: &[u32]) -> Vec<u32> {
    let level = levels(order);
    let centres: Vec<f64> = edges.iter().map(|edge| mean(edge.iter().map(|&v| f64::from(level[v as usize])))).collect();
    let position = |vertex: u32| match edges_of.of(vertex as usize) {
        [] => f64::from(level[vertex as usize]),
        near => mean(near.iter().map(|&edge| centres[edge as usize])),
    };
    let mut placed: Vec<(f64, u32, u32)> =
        order.iter().map(|&vertex| (position(vertex), level[vertex as usize], vertex)).collect();
    placed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    placed.into_iter().map(|(_, _, vertex)| vertex).collect()
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let number = values.len() as f64;
    values.sum::<f64>() / number
}

fn total_span(edges: &Lists, level: &[u32]) -> u64 {
    edges.iter().map(|edge| span(edge, level)).sum()
}

/// How many levels lie between the first and the last of some vertices.
fn span(edge: &[u32], level: &[u32]) -> u64 {
    let levels = || edge.iter().map(|&vertex| level[vertex as usize]);
    match (levels().min(), levels().max()) {
        (Some(first), Some(last)) => u64::from(last - first),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incidence::Incidence;
    use crate::samples::{Random, Seed, chain, philosophers};

    #[test]
    fn the_sum_of_spans_is_never_worse_than_at_the_start() {
        let seed = Seed(0xF0_8CE);
        let mut random = Random(seed.0);
        let net = Incidence::new(&philosophers(12));
        for _ in 0..20 {
            let start = random.permutation(48);
            let before = total_span(&net.touched, &levels(&start));
            let order = force(&net.touched, start, &mut Effort::new(1_000_000));
            assert!(total_span(&net.touched, &levels(&order)) < before);
        }
    }

    #[test]
    fn the_best_order_stays() {
        let start: Vec<u32> = (0..9).collect();
        assert_eq!(force(&Incidence::new(&chain(9)).touched, start.clone(), &mut Effort::new(10_000)), start);
    }

    #[test]
    fn no_effort_leaves_all_as_it_was() {
        let start = vec![2, 0, 1];
        assert_eq!(force(&Incidence::new(&chain(3)).touched, start.clone(), &mut Effort::new(0)), start);
    }
}
