//! Other systems as binary ones: integers become bits, the most significant first.
//!
//! ```
//! use tremula_models::{CounterChange, Counters};
//!
//! // A counter from 0 to 5 that goes up by one.
//! let up = CounterChange { counter: 0, least: 0, most: 4, delta: 1 };
//! let counters = Counters {
//!     greatest: vec![5],
//!     has_brim: vec![false],
//!     initial: vec![0],
//!     transitions: vec![vec![up]],
//! };
//! let system = counters.in_bits(1000)?;
//! assert_eq!((system.state_bits(), system.check()), (3, Ok(())));
//! # Ok::<(), tremula_models::TooManyBits>(())
//! ```

mod counters;
mod lists;

use crate::builder::{Builder, Full};
use crate::system::{BddSystem, Edge, Group, Layout, MAX_STATE_BITS, StateVariable};
use thiserror::Error;

pub use counters::{CounterChange, Counters};

/// A system has more bits than diagrams can tell apart, or needs more nodes or more work than was allowed.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Error)]
#[error("too large for binary diagrams: more than {MAX_STATE_BITS} bits, or too many nodes for the memory")]
pub struct TooManyBits;

impl From<Full> for TooManyBits {
    fn from(_: Full) -> TooManyBits {
        TooManyBits
    }
}

/// A binary system in the making.
struct Bits {
    builder: Builder,
    variables: Vec<StateVariable>,
    first_bits: Vec<u32>,
}

impl Bits {
    /// For integers with these greatest values, with at most so many nodes.
    fn new(greatest: &[u32], most_nodes: usize) -> Result<Bits, TooManyBits> {
        let width = |&value: &u32| StateVariable { bits: (u32::BITS - value.leading_zeros()).max(1) };
        let variables: Vec<StateVariable> = greatest.iter().map(width).collect();
        let total: u64 = variables.iter().map(|variable| u64::from(variable.bits)).sum();
        if total > u64::from(MAX_STATE_BITS) {
            return Err(TooManyBits);
        }
        let first_bits = variables.iter().scan(0, |next, variable| {
            *next += variable.bits;
            Some(*next - variable.bits)
        });
        Ok(Bits { builder: Builder::with_most(most_nodes), first_bits: first_bits.collect(), variables })
    }

    /// The state bits of an integer, as many as it has, of which the last is the least significant.
    fn bit(&self, integer: usize, significance: u32) -> u32 {
        self.first_bits[integer] + self.variables[integer].bits - 1 - significance
    }

    /// The move of a bit: what holds below it, for each value before and each value after.
    fn decide_move(&mut self, bit: u32, below: [[Edge; 2]; 2]) -> Result<Edge, TooManyBits> {
        let mut after = |[low, high]: [Edge; 2]| self.builder.decide(BddSystem::next_variable(bit), low, high);
        let [low, high] = [after(below[0])?, after(below[1])?];
        Ok(self.builder.decide(BddSystem::current_variable(bit), low, high)?)
    }

    fn finish(self, initial: Edge, groups: Vec<Group>) -> BddSystem {
        let mut system = BddSystem {
            variables: self.variables,
            action_bits: 0,
            nodes: self.builder.into_nodes(),
            initial,
            groups,
            reachable: None,
            action_labels: Vec::new(),
            layout: Layout::Sylvan,
        };
        system.compact();
        system
    }
}
