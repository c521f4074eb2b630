//! Exact figures of a set, from one pass over its nodes.
//!
//! Every figure is a sum or a maximum over branches. The pass goes from the last level up, and keeps how many vectors are
//! below each node, for those who count possible events. Numbers have 128 bits, or any size if that is not enough.

use super::core::Core;
use super::event::Event;
use super::levels::Levels;
use super::possible::count_possible;
use crate::error::Error;
use dashu_int::UBig;
use std::ops::AddAssign;
use tremula_table::{Branch, Forest, Lease};

/// Numbers that can be added.
pub(super) trait Number: Clone + Default + for<'a> AddAssign<&'a Self> + Into<UBig> {
    const ONE: Self;
    /// Add to the number; false if there is no room for the sum.
    fn grow(&mut self, by: &Self) -> bool;
    /// Bytes beside the number itself.
    fn bytes_beside(&self) -> usize;
}

impl Number for u128 {
    const ONE: u128 = 1;
    fn grow(&mut self, by: &u128) -> bool {
        let (sum, overflows) = self.overflowing_add(*by);
        *self = sum;
        !overflows
    }
    fn bytes_beside(&self) -> usize {
        0
    }
}

impl Number for UBig {
    const ONE: UBig = UBig::ONE;
    fn grow(&mut self, by: &UBig) -> bool {
        *self += by;
        true
    }
    fn bytes_beside(&self) -> usize {
        // Two words are kept in place.
        let words = self.as_words();
        if words.len() <= 2 { 0 } else { size_of_val(words) }
    }
}

/// The number of a diagram's first node.
const ROOT: usize = 0;

/// How many vectors are below each node, and the memory for it.
pub(super) struct Below<N> {
    numbers: Vec<N>,
    lease: Lease,
}

impl<N: Number> Below<N> {
    /// Below the node with this number.
    pub fn at(&self, number: usize) -> &N {
        &self.numbers[number]
    }

    /// Vectors of the whole set.
    pub fn all(&self) -> &N {
        &self.numbers[ROOT]
    }
}

/// One pass from the last level up.
struct Pass<'a, N, W> {
    levels: &'a Levels<'a>,
    weight: &'a W,
    below: Below<N>,
    greatest_values: Vec<u32>,
    /// The greatest sums of the vectors below each node of the level that was done last.
    sums: Vec<u128>,
}

impl<'a, N: Number, W: Fn(u32, u32) -> u128> Pass<'a, N, W> {
    /// What is below all nodes, and what is greatest; nothing if there is no room in the numbers.
    fn over(levels: &'a Levels<'a>, weight: &'a W) -> Result<Option<(Below<N>, Greatest)>, Error> {
        let below = Below { numbers: vec![N::default(); levels.node_count()], lease: levels.lease(size_of::<N>())? };
        let greatest_values = vec![0; levels.level_count()];
        let mut pass = Pass { levels, weight, below, greatest_values, sums: Vec::new() };
        let is_done = pass.run()?;
        let Pass { below, greatest_values, sums, .. } = pass;
        Ok(is_done.then(|| (below, Greatest { values: greatest_values, sum: Some(sums[ROOT]) })))
    }

    /// Go over all nodes; false if there is no room in the numbers.
    fn run(&mut self) -> Result<bool, Error> {
        for level in (0..self.levels.level_count()).rev() {
            self.levels.look_up()?;
            let own = self.levels.numbers_at(level);
            let mut sums = Vec::with_capacity(own.len());
            let mut bytes_beside = 0;
            for number in own.clone() {
                let Some((vectors, sum)) = self.node(level, number, own.end) else { return Ok(false) };
                bytes_beside += vectors.bytes_beside();
                self.below.numbers[number] = vectors;
                sums.push(sum);
            }
            let lease = &mut self.below.lease;
            lease.resize(lease.bytes() + bytes_beside)?;
            self.sums = sums;
        }
        Ok(true)
    }

    /// Vectors below a node, and the greatest sum of one; `below` is the first number of the next level.
    fn node(&mut self, level: usize, number: usize, below: usize) -> Option<(N, u128)> {
        let (mut vectors, mut greatest_sum) = (N::default(), 0);
        for Branch { value, child } in self.levels.branches(number) {
            let (more, sum) = match child {
                Forest::TERMINAL => (&N::ONE, 0),
                child => {
                    let child = self.levels.number(child);
                    (self.below.at(child), self.sums[child - below])
                }
            };
            vectors.grow(more).then_some(())?;
            greatest_sum = greatest_sum.max(sum.saturating_add((self.weight)(level as u32, value)));
            self.greatest_values[level] = self.greatest_values[level].max(value);
        }
        Some((vectors, greatest_sum))
    }
}

/// What is greatest in a set: the values of each variable, and the sum of a vector, if there is one.
struct Greatest {
    values: Vec<u32>,
    sum: Option<u128>,
}

/// The figures of a set. Its manager does nothing else as long as they are looked at.
pub struct Survey<'a> {
    core: &'a Core,
    /// The nodes and what is below them; a set without nodes has one vector at most.
    measured: Option<(Levels<'a>, Numbers)>,
    vectors: UBig,
    greatest: Greatest,
}

enum Numbers {
    Small(Below<u128>),
    Large(Below<UBig>),
}

impl<'a> Survey<'a> {
    /// Measure `set`; `weight` tells what a value of a level counts for in a sum.
    pub(super) fn new(core: &'a Core, set: u32, weight: impl Fn(u32, u32) -> u128) -> Result<Survey<'a>, Error> {
        if set <= Forest::TERMINAL {
            return Ok(Survey::without_nodes(core, set == Forest::TERMINAL));
        }
        let levels = Levels::new(core, set)?;
        let (vectors, numbers, greatest) = match Pass::<u128, _>::over(&levels, &weight)? {
            Some((below, greatest)) => (UBig::from(*below.all()), Numbers::Small(below), greatest),
            None => {
                let (below, greatest) = Pass::<UBig, _>::over(&levels, &weight)?.expect("there is room for any sum");
                (below.all().clone(), Numbers::Large(below), greatest)
            }
        };
        Ok(Survey { core, measured: Some((levels, numbers)), vectors, greatest })
    }

    fn without_nodes(core: &'a Core, is_there: bool) -> Survey<'a> {
        let greatest = Greatest { values: vec![0; core.frames.len()], sum: is_there.then_some(0) };
        Survey { core, measured: None, vectors: UBig::from(u8::from(is_there)), greatest }
    }

    /// How many vectors there are.
    #[must_use]
    pub fn vectors(&self) -> &UBig {
        &self.vectors
    }

    /// How many nodes the diagram has.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.measured.as_ref().map_or(0, |(levels, _)| levels.node_count())
    }

    /// The greatest value of each variable; zeros for the empty set.
    #[must_use]
    pub fn greatest_values(&self) -> &[u32] {
        &self.greatest.values
    }

    /// The greatest sum that a vector has, if there is one.
    #[must_use]
    pub fn greatest_sum(&self) -> Option<u128> {
        self.greatest.sum
    }

    /// How many pairs there are of a vector and one of `events` that is possible in it.
    pub fn possible(&self, events: &[Event]) -> Result<UBig, Error> {
        let Some((levels, below)) = &self.measured else { return Ok(&self.vectors * UBig::from(events.len())) };
        match below {
            Numbers::Large(below) => count_possible(self.core, levels, below, events),
            Numbers::Small(below) if u128::MAX / (events.len() as u128 + 1) > *below.all() => {
                count_possible(self.core, levels, below, events)
            }
            Numbers::Small(below) => {
                let lease = levels.lease(size_of::<UBig>())?;
                let below = Below { numbers: below.numbers.iter().copied().map(UBig::from).collect(), lease };
                count_possible(self.core, levels, &below, events)
            }
        }
    }
}
