//! Undirected graphs of nets, and distances in them.
//!
//! In the *graph of places* two places are neighbours if a transition touches both. A transition that touches `k` places
//! would add `k²` edges, so one that touches more than [`CLIQUE`] is a vertex of its own there. In the *bipartite graph*
//! all transitions are. Places come first: a vertex is a place exactly if its number is less than the number of places.

use crate::incidence::Incidence;
use crate::lists::Lists;

/// Transitions that touch more places than this become vertices.
const CLIQUE: usize = 24;

/// Pairs of ends are improved at most so often.
const TRIES: usize = 8;

/// An undirected graph without loops or double edges.
pub(crate) struct Graph {
    neighbours: Lists,
    places: usize,
}

/// A vertex, and the vertices of its component with their distances from it, nearest first.
pub(crate) struct Distances {
    pub(crate) source: u32,
    pub(crate) reached: Vec<(u32, u32)>,
}

impl Graph {
    /// The graph of places.
    pub(crate) fn of_places(net: &Incidence) -> Graph {
        let hubs: Vec<usize> = (0..net.touched.len()).filter(|&event| net.touched.of(event).len() > CLIQUE).collect();
        let mut neighbours = vec![Vec::new(); net.places() + hubs.len()];
        for event in net.touched.iter().filter(|event| event.len() <= CLIQUE) {
            for &place in event {
                neighbours[place as usize].extend(event.iter().filter(|&&other| other != place));
            }
        }
        for (hub, &event) in hubs.iter().enumerate() {
            join(&mut neighbours, net.places() + hub, net.touched.of(event));
        }
        Graph::new(neighbours, net.places())
    }

    /// The bipartite graph of places and transitions.
    pub(crate) fn bipartite(net: &Incidence) -> Graph {
        let mut neighbours = vec![Vec::new(); net.places() + net.touched.len()];
        for (event, touched) in net.touched.iter().enumerate() {
            join(&mut neighbours, net.places() + event, touched);
        }
        Graph::new(neighbours, net.places())
    }

    fn new(mut neighbours: Vec<Vec<u32>>, places: usize) -> Graph {
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        Graph { neighbours: Lists::new(neighbours), places }
    }

    pub(crate) fn len(&self) -> usize {
        self.neighbours.len()
    }

    pub(crate) fn edges(&self) -> usize {
        self.neighbours.total()
    }

    pub(crate) fn neighbours(&self, vertex: u32) -> &[u32] {
        self.neighbours.of(vertex as usize)
    }

    pub(crate) fn degree(&self, vertex: u32) -> usize {
        self.neighbours(vertex).len()
    }

    /// What remains of a sequence of vertices if only places are kept.
    pub(crate) fn only_places(&self, vertices: Vec<u32>) -> Vec<u32> {
        let mut order = vertices;
        order.retain(|&vertex| (vertex as usize) < self.places);
        order
    }

    /// Breadth-first distances from a vertex. `seen` has an entry for each vertex, false before and after.
    fn distances(&self, source: u32, seen: &mut [bool]) -> Distances {
        let mut reached = vec![(source, 0)];
        seen[source as usize] = true;
        let mut next = 0;
        while let Some(&(vertex, distance)) = reached.get(next) {
            next += 1;
            for &neighbour in self.neighbours(vertex) {
                if !std::mem::replace(&mut seen[neighbour as usize], true) {
                    reached.push((neighbour, distance + 1));
                }
            }
        }
        for &(vertex, _) in &reached {
            seen[vertex as usize] = false;
        }
        Distances { source, reached }
    }

    /// Two vertices that are about as far from each other as any two of the component of `seed`.
    fn ends(&self, seed: u32, seen: &mut [bool]) -> (Distances, Distances) {
        let mut start = self.distances(seed, seen);
        let mut end = self.distances(self.farthest(&start), seen);
        for _ in 0..TRIES {
            let next = self.distances(self.farthest(&end), seen);
            let grows = next.depth() > end.depth();
            (start, end) = (end, next);
            if !grows {
                break;
            }
        }
        (start, end)
    }

    /// A vertex of least degree among the farthest ones.
    fn farthest(&self, distances: &Distances) -> u32 {
        let depth = distances.depth();
        let last = distances.reached.iter().rev().take_while(|&&(_, distance)| distance == depth);
        last.map(|&(vertex, _)| (self.degree(vertex), vertex)).min().map_or(distances.source, |(_, vertex)| vertex)
    }

    /// The connected components, each as seen from both of its ends; those with the smallest vertex come first.
    pub(crate) fn components(&self) -> Vec<(Distances, Distances)> {
        let mut known = vec![false; self.len()];
        let mut seen = vec![false; self.len()];
        let mut components = Vec::new();
        for seed in 0..self.len() as u32 {
            if known[seed as usize] {
                continue;
            }
            let ends = self.ends(seed, &mut seen);
            for &(vertex, _) in &ends.0.reached {
                known[vertex as usize] = true;
            }
            components.push(ends);
        }
        components
    }
}

impl Distances {
    pub(crate) fn depth(&self) -> u32 {
        self.reached.last().map_or(0, |&(_, distance)| distance)
    }
}

fn join(neighbours: &mut [Vec<u32>], hub: usize, places: &[u32]) {
    for &place in places {
        neighbours[place as usize].push(hub as u32);
    }
    neighbours[hub].extend(places);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{chain, star};

    #[test]
    fn ends_of_a_chain_are_its_ends() {
        let graph = Graph::of_places(&Incidence::new(&chain(7)));
        let (start, end) = &graph.components()[0];
        let mut ends = [start.source, end.source];
        ends.sort_unstable();
        assert_eq!(ends, [0, 6]);
        assert_eq!(start.depth(), 6);
    }

    #[test]
    fn the_bipartite_graph_has_twice_the_distances() {
        let graph = Graph::bipartite(&Incidence::new(&chain(4)));
        assert_eq!(graph.components()[0].0.depth(), 6);
        assert_eq!(graph.only_places(vec![4, 0, 6, 3]), [0, 3]);
    }

    #[test]
    fn a_wide_transition_is_a_vertex() {
        let graph = Graph::of_places(&Incidence::new(&star(1000)));
        assert_eq!((graph.len(), graph.edges()), (1001, 2000));
        let graph = Graph::of_places(&Incidence::new(&star(5)));
        assert_eq!((graph.len(), graph.edges()), (5, 20));
    }

    #[test]
    fn components_are_found() {
        let mut net = chain(6);
        net.transitions.remove(2);
        let graph = Graph::of_places(&Incidence::new(&net));
        let sizes: Vec<usize> = graph.components().iter().map(|(start, _)| start.reached.len()).collect();
        assert_eq!(sizes, [3, 3]);
    }
}
