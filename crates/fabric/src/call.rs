//! What the ranks that meet in a collective must agree about.

use crate::{FabricError, Reduction};

/// A call of a collective, without its words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Call {
    pub(crate) name: &'static str,
    pub(crate) root: Option<usize>,
    pub(crate) reduction: Option<Reduction>,
    pub(crate) length: Option<usize>,
}

impl Call {
    pub(crate) fn new(name: &'static str) -> Call {
        Call { name, root: None, reduction: None, length: None }
    }

    pub(crate) fn root(self, root: usize) -> Call {
        Call { root: Some(root), ..self }
    }

    pub(crate) fn reduction(self, reduction: Reduction) -> Call {
        Call { reduction: Some(reduction), ..self }
    }

    pub(crate) fn length(self, length: usize) -> Call {
        Call { length: Some(length), ..self }
    }
}

/// Do `calls`, by rank, fit together? All ranks come to the same conclusion, because all look at the same calls.
pub(crate) fn agree<'c>(calls: impl ExactSizeIterator<Item = &'c Call>) -> Result<(), FabricError> {
    let ranks = calls.len();
    let mut calls = calls.enumerate();
    let Some((_, first)) = calls.next() else { return Ok(()) };
    if let Some((rank, _)) = calls.find(|(_, call)| *call != first) {
        return Err(FabricError::Disagreement { call: first.name, rank });
    }
    match first.root {
        Some(rank) if rank >= ranks => Err(FabricError::NoSuchRank { rank, ranks }),
        _ => Ok(()),
    }
}
