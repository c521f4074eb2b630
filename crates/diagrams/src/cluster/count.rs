//! Exact counting where nodes are far away: from the root downwards, a level at a time.
//!
//! Every node gets the number of ways that lead to it, over the variables above it: once for ways along which the function
//! is negated an even number of times, once for the others. Nodes of one level are asked for together, and forgotten when
//! their children have their numbers, so memory is for the nodes of a few levels only.

use crate::error::Error;
use dashu_int::UBig;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use tremula_table::{Node, Ref};

/// Ways to a node, by parity of the negations along them.
type Ways = [UBig; 2];

/// Nodes of one level, by index.
type Level = FxHashMap<u32, (Node, Ways)>;

/// Ways to nodes that have not been fetched. Their levels are not known yet, so variables below are counted in: each way
/// stands for as many as there are assignments to the variables from here on.
type Reached = FxHashMap<u32, Ways>;

/// Count the assignments of `levels` (ascending) that satisfy `f`, and the nodes below `f`. `fetch` gets nodes.
pub fn count(fetch: impl Fn(Vec<Ref>) -> Vec<Node>, f: Ref, levels: &[u32]) -> Result<(UBig, usize), Error> {
    let mut counting = Counting { levels, ..Counting::default() };
    counting.reach(f, 0, &[UBig::ONE, UBig::ZERO]);
    let mut nodes = 0;
    loop {
        counting.place(&fetch)?;
        let Some((at, level)) = counting.waiting.pop_first() else { break };
        nodes += level.len();
        for (index, (node, ways)) in level {
            counting.places.remove(&index);
            counting.reach(node.low, at + 1, &ways);
            counting.reach(node.high, at + 1, &ways);
        }
    }
    Ok((counting.total, nodes))
}

#[derive(Default)]
struct Counting<'a> {
    levels: &'a [u32],
    reached: Reached,
    /// By place among the levels: nodes that have been fetched and still wait for ways from above.
    waiting: BTreeMap<usize, Level>,
    /// The places of these nodes.
    places: FxHashMap<u32, usize>,
    /// Assignments that are known to satisfy the function.
    total: UBig,
}

impl Counting<'_> {
    /// These ways, over the variables before place `at`, lead to `f`.
    fn reach(&mut self, f: Ref, at: usize, ways: &Ways) {
        let (negated, below) = (usize::from(f.is_complement()), self.levels.len() - at);
        // Odd ways to the constant false satisfy the function.
        if f.is_terminal() {
            self.total += &ways[1 - negated] << below;
            return;
        }
        let (known, skipped) = match self.places.get(&f.index()) {
            Some(&place) => {
                let node = self.waiting.get_mut(&place).and_then(|level| level.get_mut(&f.index()));
                (&mut node.expect("it waits there").1, place - at)
            }
            None => (self.reached.entry(f.index()).or_default(), below),
        };
        for parity in [0, 1] {
            known[parity] += &ways[parity ^ negated] << skipped;
        }
    }

    /// Fetch the nodes that were reached, and put each where its level is.
    fn place(&mut self, fetch: impl Fn(Vec<Ref>) -> Vec<Node>) -> Result<(), Error> {
        if self.reached.is_empty() {
            return Ok(());
        }
        let (indices, ways): (Vec<u32>, Vec<Ways>) = self.reached.drain().unzip();
        let nodes = fetch(indices.iter().map(|&index| Ref::new(index, false)).collect());
        for ((index, ways), node) in indices.into_iter().zip(ways).zip(nodes) {
            let found = self.levels.binary_search(&node.level);
            let place = found.map_err(|_| Error::NotCounted { level: node.level })?;
            let ways = ways.map(|ways| ways >> (self.levels.len() - place));
            self.waiting.entry(place).or_default().insert(index, (node, ways));
            self.places.insert(index, place);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Budget, Manager};

    #[test]
    fn agrees_with_counting_from_below() {
        let manager = Manager::new(&Budget::new(8 << 20)).unwrap();
        let var = |level: u32| manager.var(level).unwrap();
        let levels: Vec<u32> = (0..20).map(|n| 3 * n).collect();
        let mut functions = vec![manager.constant(false), manager.constant(true), var(3), !var(27)];
        for step in 0..60u32 {
            let next = functions[functions.len() - 2].xor(&var(3 * (step * 7 % 20))).unwrap();
            let next =
                if step % 3 == 0 { next.and(&functions[functions.len() - 1]) } else { next.or(&var(3 * (step % 20))) };
            functions.push(next.unwrap());
        }
        for f in &functions {
            let fetch = |wanted: Vec<Ref>| {
                let core = manager.core.borrow();
                wanted.iter().map(|&f| core.table.node(f)).collect()
            };
            let counted = count(fetch, f.target(), &levels).unwrap();
            assert_eq!(counted, (f.count(&levels).unwrap(), f.node_count().unwrap()));
        }
        let fetch = |wanted: Vec<Ref>| wanted.iter().map(|&f| manager.core.borrow().table.node(f)).collect();
        assert_eq!(count(fetch, var(4).target(), &levels), Err(Error::NotCounted { level: 4 }));
    }
}
