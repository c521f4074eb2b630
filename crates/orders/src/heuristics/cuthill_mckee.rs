//! Cuthill and McKee's order: breadth first from one end, neighbours of small degree first.

use crate::effort::Effort;
use crate::graph::Graph;

/// The vertices of a graph in the order of Cuthill and McKee.
pub(crate) fn cuthill_mckee(graph: &Graph, effort: &mut Effort) -> Option<Vec<u32>> {
    effort.spend(2 * (graph.len() + graph.edges()))?;
    let mut seen = vec![false; graph.len()];
    let mut sequence = Vec::with_capacity(graph.len());
    for (start, _) in graph.components() {
        let mut next = sequence.len();
        seen[start.source as usize] = true;
        sequence.push(start.source);
        while let Some(&vertex) = sequence.get(next) {
            next += 1;
            let fresh = sequence.len();
            for &neighbour in graph.neighbours(vertex) {
                if !std::mem::replace(&mut seen[neighbour as usize], true) {
                    sequence.push(neighbour);
                }
            }
            sequence[fresh..].sort_by_key(|&vertex| (graph.degree(vertex), vertex));
        }
    }
    Some(sequence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incidence::Incidence;
    use crate::samples::{chain, net};

    #[test]
    fn a_chain_keeps_its_sequence() {
        let order = cuthill_mckee(&Graph::of_places(&Incidence::new(&chain(6))), &mut Effort::new(1000));
        assert_eq!(order.expect("enough effort"), [5, 4, 3, 2, 1, 0]);
    }

    #[test]
    fn neighbours_of_small_degree_come_first() {
        // A start, two neighbours of it, of which the first leads on.
        let steps = [(0, 1), (0, 2), (1, 3), (3, 4), (4, 5)].map(|(from, to)| [vec![(from, 1)], vec![(to, 1)]]);
        let graph = Graph::of_places(&Incidence::new(&net(&[1, 0, 0, 0, 0, 0], steps.to_vec())));
        let order = cuthill_mckee(&graph, &mut Effort::new(1000)).expect("enough effort");
        assert!(order == [2, 0, 1, 3, 4, 5] || order == [5, 4, 3, 1, 0, 2], "{order:?}");
    }
}
