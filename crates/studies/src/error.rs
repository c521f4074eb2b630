//! Why a study could not be made.

use std::io;
use thiserror::Error;

/// Why a study could not be made.
#[derive(Debug, Error)]
pub enum StudyError {
    /// Options that leave nothing to measure.
    #[error("nothing to measure: {0}")]
    NothingToMeasure(&'static str),

    /// A program that does not exist.
    #[error("no program is called {name:?}; there are {known}")]
    UnknownProgram {
        /// What was asked for.
        name: String,
        /// What one can ask for.
        known: String,
    },

    /// A run gave an answer that is wrong.
    #[error("{run}: the answer is {answer} instead of {expected}")]
    WrongAnswer {
        /// Program, version and number of workers.
        run: String,
        /// What came out.
        answer: u64,
        /// What should have.
        expected: u64,
    },

    /// Runs that explored the same model found different numbers of states.
    #[error("{run}: the answer is {answer} states, but there are {expected}")]
    Disagreement {
        /// Model and shape.
        run: String,
        /// What this run found, in digits.
        answer: String,
        /// What another one found.
        expected: String,
    },

    /// A program that is needed cannot be started.
    #[error("cannot start {program}: {problem}")]
    CannotStart {
        /// Its name.
        program: String,
        /// What the system says.
        problem: String,
    },

    /// A run does not accept its arguments or the model.
    #[error("{run}: {problem}")]
    Refused {
        /// Model and shape.
        run: String,
        /// What it says.
        problem: String,
    },

    /// A run ended without an answer, or did not end.
    #[error("{run}: no answer: {problem}")]
    NoAnswer {
        /// Model and shape.
        run: String,
        /// What happened.
        problem: String,
    },

    /// A table does not hold what was put into it.
    #[error("{run}: the table is wrong: {problem}")]
    WrongTable {
        /// Table, mix, load and number of workers.
        run: String,
        /// What is wrong.
        problem: &'static str,
    },

    /// The table could not be set up.
    #[error("cannot set up the table: {0}")]
    Setup(#[from] tremula_table::SetupError),

    /// What another rank tells the reason of.
    #[error("rank {0} could not go on")]
    Elsewhere(usize),

    /// Ranks do not have the memory that they should.
    #[error(transparent)]
    Fabric(#[from] tremula_fabric::FabricError),

    /// There is no accelerator, or it has too little memory.
    #[error(transparent)]
    NoDevice(#[from] tremula_gpu::NoDevice),

    /// A model's relation is not what its group says.
    #[error(transparent)]
    Model(#[from] tremula_bulk::OutsideGroup),

    /// A sweep could not be made.
    #[error(transparent)]
    Sweep(#[from] tremula_diagrams::Error),

    /// A task of a run panicked.
    #[error("{run}: {panicked}")]
    Panicked {
        /// Program, version and number of workers.
        run: String,
        /// The panic.
        panicked: tremula_tasks::Panicked,
    },

    /// Threads or their stacks could not be had.
    #[error("cannot start threads: {0}")]
    Threads(#[from] io::Error),
}
