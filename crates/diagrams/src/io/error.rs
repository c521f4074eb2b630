//! What can go wrong with a file or picture.

use crate::error::Error;
use std::borrow::Cow;

/// Why a file was not written or read. The manager and its handles are as before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The underlying reader or writer failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The diagrams could not be built or listed.
    #[error(transparent)]
    Diagram(#[from] Error),
    /// A binary file is malformed.
    #[error("byte {offset}: expected {expected}")]
    Bytes {
        /// Where, from the start of the input.
        offset: u64,
        /// What should have been there.
        expected: Cow<'static, str>,
    },
    /// A text file is malformed.
    #[error("line {line}: expected {expected}, found {found:?}")]
    Text {
        /// Line number, from one.
        line: u64,
        /// What should have been there.
        expected: Cow<'static, str>,
        /// What was there, shortened.
        found: String,
    },
    /// More nodes than the caller allows.
    #[error("there are {nodes} nodes, but no more than {limit} are allowed")]
    TooManyNodes {
        /// Nodes in the file or the functions.
        nodes: u64,
        /// The caller's limit.
        limit: u64,
    },
    /// A name that the format cannot hold.
    #[error("the format has no way to write the name {name:?}: {problem}")]
    BadName {
        /// The name.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
}
