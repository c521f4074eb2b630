//! What can go wrong with a model file.

use std::fmt;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::system::Layout;

/// A model file could not be read.
#[derive(Debug, Error)]
#[error("{}: {source}", path.display())]
pub struct ReadError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub source: FormatError,
}

/// A stream of bytes is not a model.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The bytes could not be had at all.
    #[error("cannot read: {0}")]
    Io(#[source] io::Error),
    /// The stream starts as gzip data but cannot be decompressed.
    #[error("cannot decompress, after {offset} uncompressed bytes: {source}")]
    Gzip {
        /// Uncompressed bytes before the fault.
        offset: u64,
        /// What the decompressor says.
        source: io::Error,
    },
    /// There are more bytes than [`Limits::max_bytes`](crate::Limits::max_bytes).
    #[error("larger than the limit of {limit} bytes{}", if *.compressed { " when uncompressed" } else { "" })]
    TooLarge {
        /// The limit.
        limit: u64,
        /// Whether the stream is gzip data.
        compressed: bool,
    },
    /// The bytes follow neither layout; this is the fault in the layout that fitted further.
    #[error("not a model: {0}")]
    Malformed(Malformed),
    /// The text of a PNML file departs from the format.
    #[error("{0}")]
    Text(TextFault),
    /// The text of a PNML file asks for something that this reader cannot do.
    #[error("{0}, which is not supported yet")]
    Unsupported(TextFault),
    /// The bytes are not a model of list decision diagrams.
    #[error("not a model: {0}")]
    MalformedLists(MalformedLists),
    /// The bytes follow both layouts, to the end.
    #[error("readable in both the legacy and the Sylvan layout: cannot tell which is meant")]
    Ambiguous,
}

/// A place where a file departs from its layout.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{layout} layout, byte {offset}{}: expected {expected}, found {found}", if *.compressed { " of the uncompressed data" } else { "" })]
pub struct Malformed {
    /// The layout that was tried.
    pub layout: Layout,
    /// Where the offending item starts, counted in uncompressed bytes.
    pub offset: u64,
    /// Whether the stream is gzip data.
    pub compressed: bool,
    /// What the layout asks for there.
    pub expected: String,
    /// What is there instead.
    pub found: String,
}

/// A place where a file of list decision diagrams is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("byte {offset}{}: expected {expected}, found {found}", if *.compressed { " of the uncompressed data" } else { "" })]
pub struct MalformedLists {
    /// Where the offending item starts, counted in uncompressed bytes.
    pub offset: u64,
    /// Whether the stream is gzip data.
    pub compressed: bool,
    /// What should be there.
    pub expected: String,
    /// What is there instead.
    pub found: String,
}

/// A place in a text. Lines and their characters count from one.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line.
    pub line: u64,
    /// The character in the line.
    pub column: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}, column {}", self.line, self.column)
    }
}

/// A place where a text is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{position}: expected {expected}, found {found}")]
pub struct TextFault {
    /// Where the offending item starts, in the uncompressed text.
    pub position: Position,
    /// What the format asks for there.
    pub expected: String,
    /// What is there instead.
    pub found: String,
}

/// A system could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The output does not take it.
    #[error("cannot write: {0}")]
    Io(#[from] io::Error),
    /// The system violates an invariant, so no file describes it.
    #[error("not a valid transition system: {0}")]
    Invalid(#[from] SystemError),
    /// The layout has no room for the system.
    #[error("does not fit the {layout} layout: {reason}")]
    DoesNotFit {
        /// The layout asked for.
        layout: Layout,
        /// What there is too much of.
        reason: &'static str,
    },
}

/// A violated invariant of a [`BddSystem`](crate::BddSystem).
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SystemError {
    /// S1 is violated.
    #[error("the number or the widths of the integers or of the action label are out of range")]
    Widths,
    /// There are more nodes than ids.
    #[error("there are more nodes than ids")]
    TooManyNodes,
    /// S2, S3 or S4 is violated.
    #[error("node {id} is not reduced, not ordered, or decides on an unknown variable")]
    Node {
        /// The id of the first such node.
        id: u32,
    },
    /// S5 is violated.
    #[error("the {what} refers to node {id}, which does not exist")]
    MissingNode {
        /// The diagram.
        what: String,
        /// The id it refers to.
        id: u32,
    },
    /// S6 is violated.
    #[error("the {what} uses variable {variable}, which it must not")]
    ForeignVariable {
        /// The diagram.
        what: String,
        /// One of the variables.
        variable: u32,
    },
    /// S7 is violated.
    #[error("a read or write list of group {group} does not ascend or names an unknown integer")]
    Projection {
        /// The index of the group.
        group: usize,
    },
}
