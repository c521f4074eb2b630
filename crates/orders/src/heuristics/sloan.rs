//! Sloan's order: keeps the set of vertices that are begun and not finished small.
//!
//! S. W. Sloan, "An algorithm for profile and wavefront reduction of sparse matrices", 1986. A vertex is *active* while
//! it or a neighbour has a number and another neighbour has none. The next vertex is the one that adds few active ones
//! (weight 2) and lies far from the end (weight 1).

use std::collections::BinaryHeap;

use crate::effort::Effort;
use crate::graph::{Distances, Graph};

/// How much it counts to be far from the end, and to add few active vertices.
const FAR: i64 = 1;
const FEW: i64 = 2;

#[derive(Copy, Clone, PartialEq, Eq)]
enum State {
    /// Neither it nor a neighbour has a number.
    Inactive,
    /// It can be next, but would become active only by that.
    Preactive,
    /// A neighbour has a number.
    Active,
    /// It has a number.
    Numbered,
}

struct Sloan<'a> {
    graph: &'a Graph,
    state: Vec<State>,
    priority: Vec<i64>,
    /// Priorities, of which old ones are still there; equal ones in favour of smaller vertices.
    queue: BinaryHeap<(i64, std::cmp::Reverse<u32>)>,
    sequence: Vec<u32>,
    effort: &'a mut Effort,
}

/// The vertices of a graph in Sloan's order.
pub(crate) fn sloan(graph: &Graph, effort: &mut Effort) -> Option<Vec<u32>> {
    effort.spend(graph.len() + graph.edges())?;
    let mut sloan = Sloan {
        graph,
        state: vec![State::Inactive; graph.len()],
        priority: vec![0; graph.len()],
        queue: BinaryHeap::new(),
        sequence: Vec::with_capacity(graph.len()),
        effort,
    };
    for (start, end) in graph.components() {
        sloan.component(start.source, &end)?;
    }
    Some(sloan.sequence)
}

impl Sloan<'_> {
    fn component(&mut self, start: u32, to_end: &Distances) -> Option<()> {
        for &(vertex, distance) in &to_end.reached {
            self.priority[vertex as usize] = FAR * i64::from(distance) - FEW * (self.graph.degree(vertex) as i64 + 1);
        }
        self.state[start as usize] = State::Preactive;
        self.push(start);
        while let Some((priority, std::cmp::Reverse(vertex))) = self.queue.pop() {
            let state = self.state[vertex as usize];
            if state != State::Numbered && priority == self.priority[vertex as usize] {
                self.number(vertex, state)?;
            }
        }
        Some(())
    }

    fn push(&mut self, vertex: u32) {
        self.queue.push((self.priority[vertex as usize], std::cmp::Reverse(vertex)));
    }

    /// Gives the next number to a vertex, whose neighbours become active by that.
    fn number(&mut self, vertex: u32, state: State) -> Option<()> {
        let graph = self.graph;
        self.effort.spend(graph.degree(vertex) + 1)?;
        self.state[vertex as usize] = State::Numbered;
        self.sequence.push(vertex);
        for &neighbour in graph.neighbours(vertex) {
            if state == State::Preactive {
                self.raise(neighbour);
            }
            if matches!(self.state[neighbour as usize], State::Inactive | State::Preactive) {
                self.activate(neighbour)?;
            }
        }
        Some(())
    }

    /// A vertex that is active adds itself and its neighbours to what can be next, with one reason less to wait.
    fn activate(&mut self, vertex: u32) -> Option<()> {
        let graph = self.graph;
        self.effort.spend(graph.degree(vertex) + 1)?;
        self.state[vertex as usize] = State::Active;
        self.raise(vertex);
        for &neighbour in graph.neighbours(vertex) {
            self.raise(neighbour);
        }
        Some(())
    }

    fn raise(&mut self, vertex: u32) {
        if self.state[vertex as usize] == State::Numbered {
            return;
        }
        if self.state[vertex as usize] == State::Inactive {
            self.state[vertex as usize] = State::Preactive;
        }
        self.priority[vertex as usize] += FEW;
        self.push(vertex);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incidence::Incidence;
    use crate::samples::chain;

    #[test]
    fn a_chain_keeps_its_sequence() {
        let mut effort = Effort::new(10_000);
        let order = sloan(&Graph::of_places(&Incidence::new(&chain(8))), &mut effort).expect("enough effort");
        let ascending: Vec<u32> = (0..8).collect();
        let descending: Vec<u32> = (0..8).rev().collect();
        assert!(order == ascending || order == descending, "{order:?}");
    }

    #[test]
    fn too_little_effort_is_no_order() {
        assert_eq!(sloan(&Graph::of_places(&Incidence::new(&chain(8))), &mut Effort::new(20)), None);
    }
}
