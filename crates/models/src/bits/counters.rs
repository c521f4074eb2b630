//! Counters that transitions add to, as bits.

use super::{Bits, TooManyBits};
use crate::system::{BddSystem, Edge, Group};
use std::collections::HashMap;

/// What a transition asks of one counter, and adds to it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct CounterChange {
    /// The counter.
    pub counter: u32,
    /// The least value with which the transition is possible.
    pub least: u32,
    /// The greatest value with which the transition is possible.
    pub most: u32,
    /// What is added.
    pub delta: i64,
}

/// A system of counters. What would carry one of them below zero or beyond its greatest value is impossible, unless that
/// value is its brim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counters {
    /// The greatest value of each.
    pub greatest: Vec<u32>,
    /// Of each, is that a brim? It then stands for itself and all beyond: what would carry the counter further leaves it
    /// there, where it stays, and no transition that asks for it is possible any more.
    pub has_brim: Vec<bool>,
    /// The value of each at the start, at most the greatest.
    pub initial: Vec<u32>,
    /// What each transition does, with ascending counters.
    pub transitions: Vec<Vec<CounterChange>>,
}

impl Counters {
    /// The same system in bits, with a group for each transition, if it takes at most so many nodes.
    pub fn in_bits(&self, most_nodes: usize) -> Result<BddSystem, TooManyBits> {
        let mut bits = Bits::new(&self.greatest, most_nodes)?;
        let mut initial = Edge::TRUE;
        for (counter, &value) in self.initial.iter().enumerate().rev() {
            for significance in 0..bits.variables[counter].bits {
                let variable = BddSystem::current_variable(bits.bit(counter, significance));
                let is_set = value >> significance & 1 == 1;
                let [low, high] = if is_set { [Edge::FALSE, initial] } else { [initial, Edge::FALSE] };
                initial = bits.builder.decide(variable, low, high)?;
            }
        }
        let mut groups = Vec::new();
        for changes in &self.transitions {
            let mut relation = Edge::TRUE;
            for change in changes.iter().rev() {
                let counter = change.counter as usize;
                let greatest = i64::from(self.greatest[counter]);
                relation = if self.has_brim[counter] {
                    bits.add_below_brim(change, greatest, relation)?
                } else {
                    bits.add(change, greatest, relation)?
                };
            }
            let touched: Vec<u32> = changes.iter().map(|change| change.counter).collect();
            groups.push(Group { reads: touched.clone(), writes: touched, relation });
        }
        Ok(bits.finish(initial, groups))
    }
}

/// Sums of a counter's lowest bits: how many, the least and the greatest value before, and what is added.
type Sums = (u32, i64, i64, i64);

/// Values of a counter's lowest bits: how many bits, the least and the greatest value.
type Range = (u32, i64, i64);

impl Bits {
    /// A counter's change within its bounds, and what holds for the bits behind it.
    fn add(&mut self, change: &CounterChange, greatest: i64, behind: Edge) -> Result<Edge, TooManyBits> {
        let counter = change.counter as usize;
        let most = i64::from(change.most).min(greatest).min(greatest.saturating_sub(change.delta));
        let sums = (self.variables[counter].bits, i64::from(change.least), most, change.delta);
        self.add_lowest(counter, sums, behind, &mut HashMap::new())
    }

    /// A counter's change from values below its brim, at which it ends if it would go further.
    fn add_below_brim(&mut self, change: &CounterChange, brim: i64, behind: Edge) -> Result<Edge, TooManyBits> {
        let counter = change.counter as usize;
        let below = self.add(change, brim - 1, behind)?;
        let least = i64::from(change.least).max(brim.saturating_sub(change.delta));
        let most = i64::from(change.most).min(brim - 1);
        let width = self.variables[counter].bits;
        let filled = self.fill_lowest(counter, (width, least, most), brim, behind, &mut HashMap::new())?;
        Ok(self.builder.or(below, filled)?)
    }

    /// From all values of these lowest bits in a range to those of one value.
    fn fill_lowest(
        &mut self,
        counter: usize,
        (width, least, most): Range,
        target: i64,
        behind: Edge,
        known: &mut HashMap<Range, Edge>,
    ) -> Result<Edge, TooManyBits> {
        let range = (width, least.max(0), most.min((1 << width) - 1));
        if range.1 > range.2 {
            return Ok(Edge::FALSE);
        }
        let Some(significance) = width.checked_sub(1) else { return Ok(behind) };
        if let Some(&edge) = known.get(&range) {
            return Ok(edge);
        }
        let mut below = [[Edge::FALSE; 2]; 2];
        let after = (target >> significance & 1) as usize;
        for (before, row) in (0..).zip(&mut below) {
            let half = before << significance;
            row[after] = self.fill_lowest(counter, (significance, least - half, most - half), target, behind, known)?;
        }
        let edge = self.decide_move(self.bit(counter, significance), below)?;
        known.insert(range, edge);
        Ok(edge)
    }

    fn add_lowest(
        &mut self,
        counter: usize,
        (width, least, most, delta): Sums,
        behind: Edge,
        known: &mut HashMap<Sums, Edge>,
    ) -> Result<Edge, TooManyBits> {
        // Only values that lead to others of these bits.
        let values = 1_i64 << width;
        let least = least.max(0).max(delta.saturating_neg());
        let most = most.min(values - 1).min((values - 1).saturating_sub(delta));
        if least > most {
            return Ok(Edge::FALSE);
        }
        if width == 0 {
            return Ok(behind);
        }
        let sums = (width, least, most, delta);
        if let Some(&edge) = known.get(&sums) {
            return Ok(edge);
        }
        let half = values / 2;
        let mut below = [[Edge::FALSE; 2]; 2];
        for (before, row) in (0..).zip(&mut below) {
            for (after, edge) in (0..).zip(row) {
                let rest = (width - 1, least - before * half, most - before * half, delta + (before - after) * half);
                *edge = self.add_lowest(counter, rest, behind, known)?;
            }
        }
        let edge = self.decide_move(self.bit(counter, width - 1), below)?;
        known.insert(sums, edge);
        Ok(edge)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All values before and after, of all counters.
    fn pairs(system: &BddSystem, relation: Edge) -> Vec<(u32, u32)> {
        let bits = system.state_bits();
        let value_at = |word: u32, bit: u32| word >> (bits - 1 - bit) & 1 == 1;
        let holds = |from: u32, to: u32| {
            system.evaluate(relation, |variable| value_at(if variable % 2 == 0 { from } else { to }, variable / 2))
        };
        (0..1 << bits).flat_map(|from| (0..1 << bits).map(move |to| (from, to))).filter(|&(a, b)| holds(a, b)).collect()
    }

    /// All moves of a counter that changes, computed with numbers and with bits.
    fn check_sums(greatest: u32, has_brim: bool, after: impl Fn(u32, i64) -> Option<u32>) {
        for delta in -9..=9_i64 {
            for (least, most) in [(0, u32::MAX), (2, 5), (3, 3), (8, 9), (6, 2)] {
                let change = CounterChange { counter: 0, least, most, delta };
                let counters = Counters {
                    greatest: vec![greatest],
                    has_brim: vec![has_brim],
                    initial: vec![1],
                    transitions: vec![vec![change]],
                };
                let system = counters.in_bits(1000).unwrap();
                assert_eq!(system.check(), Ok(()));
                let values = 1 << system.state_bits();
                let expected: Vec<(u32, u32)> = (0..values)
                    .filter(|value| (least..=most.min(greatest)).contains(value))
                    .filter_map(|value| Some((value, after(value, i64::from(value) + delta)?)))
                    .collect();
                assert_eq!(pairs(&system, system.groups[0].relation), expected, "{change:?} up to {greatest}");
            }
        }
    }

    #[test]
    fn sums_are_those_of_numbers() {
        for greatest in [1, 2, 5, 7, 9] {
            check_sums(greatest, false, |_, sum| u32::try_from(sum).ok().filter(|&after| after <= greatest));
        }
    }

    #[test]
    fn sums_end_at_a_brim() {
        for brim in [1, 2, 5, 7, 9] {
            check_sums(brim, true, |value, sum| {
                (value < brim).then_some(())?;
                u32::try_from(sum).ok().map(|after| after.min(brim))
            });
        }
    }

    #[test]
    fn several_counters_change_together() {
        let change = |counter, least, delta| CounterChange { counter, least, most: u32::MAX, delta };
        let counters = Counters {
            greatest: vec![3, 1, 3],
            has_brim: vec![false; 3],
            initial: vec![2, 0, 1],
            transitions: vec![vec![change(0, 1, -1), change(2, 0, 2)]],
        };
        let system = counters.in_bits(1000).unwrap();
        assert_eq!(system.state_bits(), 5);
        let word = |[first, between, last]: [u32; 3]| first << 3 | between << 2 | last;
        assert!((0..32).all(|assignment: u32| {
            let is_initial = system.evaluate(system.initial, |variable| assignment >> (4 - variable / 2) & 1 == 1);
            is_initial == (assignment == word([2, 0, 1]))
        }));
        // The counter between them is no matter of the relation.
        let found = pairs(&system, system.groups[0].relation);
        assert!(found.contains(&(word([2, 0, 1]), word([1, 1, 3]))));
        assert!(!found.contains(&(word([0, 0, 1]), word([3, 0, 3]))));
        assert_eq!(found.len(), 3 * 2 * 4);
        assert_eq!(system.groups[0].touched(), [0, 2]);
    }

    #[test]
    fn there_are_limits() {
        let counters = |count: usize| Counters {
            greatest: vec![u32::MAX; count],
            has_brim: vec![false; count],
            initial: vec![0; count],
            transitions: Vec::new(),
        };
        assert!(counters(10).in_bits(320).is_ok());
        assert_eq!(counters(10).in_bits(319), Err(TooManyBits));
        assert_eq!(counters(20_000).in_bits(usize::MAX), Err(TooManyBits));
    }
}
