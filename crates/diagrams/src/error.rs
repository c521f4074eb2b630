//! What can go wrong in an operation. Handles stay valid after every error.

use tremula_table::memory::MapError;
use tremula_table::{Interrupt, OverBudget};

/// Why there is no result.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No room for another node, after collection and growth.
    #[error("the node table is full and the memory budget allows no more")]
    TableFull,
    /// The computation was asked to stop.
    #[error("the computation was cancelled")]
    Cancelled,
    /// The computation was to end after some amount of work, and has.
    #[error("the computation has used up its share of work")]
    OutOfFuel,
    /// The accelerator does not work as it should.
    #[error("the accelerator failed: {problem}")]
    Device {
        /// What it says.
        problem: String,
    },
    /// Operands belong to different managers.
    #[error("the operands belong to different managers")]
    DifferentManagers,
    /// A level beyond what tables can hold.
    #[error("level {level} is beyond the largest, {}", tremula_table::layout::MAX_LEVELS - 1)]
    LevelTooLarge {
        /// The level.
        level: u32,
    },
    /// Assignments were asked for, or counted, over variables that do not include all of the function's.
    #[error("the function depends on level {level}, which is not among those asked for")]
    NotCounted {
        /// The level.
        level: u32,
    },
    /// A relation's pairs are not ascending, or not (current, next) in this order.
    #[error("the pairs of a relation must ascend, each next-state level right of its current-state level")]
    UnorderedPairs,
    /// A relation depends on a variable above or between its pairs.
    #[error("the relation depends on level {level}, which is not in its pairs")]
    OutsidePairs {
        /// The level.
        level: u32,
    },
    /// Vectors of different lengths are put together.
    #[error("vectors differ in length")]
    DifferentLengths,
    /// The levels that a relation on vectors reads or writes do not ascend, or are beyond the vectors.
    #[error(
        "the levels that a relation reads, and those that it writes, must ascend and be among those of the vectors"
    )]
    UnorderedLevels,
    /// A renaming maps two variables to one.
    #[error("the renaming maps two variables to one")]
    NotAPermutation,
    /// A renaming's target occurs in the function and is not renamed itself.
    #[error("level {level} is a target of the renaming and occurs in the function without being renamed")]
    RenamingCollides {
        /// The level.
        level: u32,
    },
    /// Simplification against an empty care set.
    #[error("the care set is empty")]
    EmptyCareSet,
    /// Nodes handed in do not form an ordered diagram.
    #[error("node {position} is malformed: {problem}")]
    MalformedNode {
        /// Position in the list handed in.
        position: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A value beyond what nodes can hold.
    #[error("a value at level {level} is beyond the largest, {}", u32::MAX)]
    ValueTooLarge {
        /// The level.
        level: u32,
    },
    /// Changes of an event are not in the order of their levels.
    #[error("the changes of an event must ascend by level")]
    UnorderedChanges,
    /// A change allows no value, or leads below zero.
    #[error("a change must allow some value and lead to no value below zero")]
    ImpossibleChange,
    /// Too many different variable sets or renamings for the operation cache's tags.
    #[error("too many different variable sets or renamings")]
    TooManyParameters,
}

impl From<Interrupt> for Error {
    fn from(interrupt: Interrupt) -> Error {
        match interrupt {
            Interrupt::TableFull => Error::TableFull,
            Interrupt::Cancelled => Error::Cancelled,
            Interrupt::OutOfFuel => Error::OutOfFuel,
        }
    }
}

impl From<OverBudget> for Error {
    fn from(_: OverBudget) -> Error {
        Error::TableFull
    }
}

impl From<MapError> for Error {
    fn from(_: MapError) -> Error {
        Error::TableFull
    }
}
