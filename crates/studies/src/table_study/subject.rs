//! What is measured: tables that differ in how they probe, and the one that the program uses.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What is measured.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Subject {
    /// Linear probing that reads so many slots at a time; one of [`Subject::CHUNKS`].
    Chunks(usize),
    /// Slot by slot: the line that the hash picks, around, then the next line.
    CacheLine,
    /// Slot by slot, one after the other.
    Linear,
    /// Slot by slot, in steps that grow by one.
    Quadratic,
    /// The shared table of `tremula-table` itself.
    Itself,
}

impl Subject {
    /// The sizes of chunks that there are.
    pub const CHUNKS: [usize; 6] = [8, 16, 32, 64, 128, 256];
    /// Those that go slot by slot, and the table itself.
    pub const UNCHUNKED: [Subject; 4] = [Subject::CacheLine, Subject::Linear, Subject::Quadratic, Subject::Itself];

    /// The slots read at a time, if that is how it works.
    pub fn chunk(self) -> Option<usize> {
        if let Subject::Chunks(slots) = self { Some(slots) } else { None }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Chunks(slots) => write!(out, "C={slots}"),
            Subject::CacheLine => out.write_str("line"),
            Subject::Linear => out.write_str("linear"),
            Subject::Quadratic => out.write_str("quadratic"),
            Subject::Itself => out.write_str("itself"),
        }
    }
}

impl From<Subject> for String {
    fn from(subject: Subject) -> String {
        subject.to_string()
    }
}

impl TryFrom<String> for Subject {
    type Error = String;

    fn try_from(text: String) -> Result<Subject, String> {
        let all = Subject::CHUNKS.map(Subject::Chunks).into_iter().chain(Subject::UNCHUNKED);
        all.into_iter()
            .find(|subject| subject.to_string() == text)
            .ok_or_else(|| format!("no table is called {text:?}"))
    }
}
