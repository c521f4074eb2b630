//! Any model: what kind a file holds, and reading it as that.

use std::io::{Cursor, Read};
use std::path::Path;

use crate::error::FormatError;
use crate::input::Stream;
use crate::ldd::{LddSystem, read_ldd};
use crate::limits::Limits;
use crate::petri::{PetriNet, read_pnml};
use crate::{BddSystem, read_bdd};

/// Kinds of model files.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// Binary decision diagrams, in either layout.
    Bdd,
    /// List decision diagrams.
    Ldd,
    /// A Petri net in XML.
    Pnml,
}

impl Format {
    /// What the name of a file says, if it says something.
    #[must_use]
    pub fn of_name(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        match name.rsplit_once('.')?.1 {
            "bdd" => Some(Format::Bdd),
            "ldd" => Some(Format::Ldd),
            "pnml" | "xml" => Some(Format::Pnml),
            _ => None,
        }
    }

    /// What the first bytes of a model say: XML begins with a bracket, maybe after a mark of its encoding and blanks.
    fn of_start(start: &[u8]) -> Format {
        let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
        let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
        if first == Some(&b'<') { Format::Pnml } else { Format::Bdd }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Format::Bdd => "bdd",
            Format::Ldd => "ldd",
            Format::Pnml => "pnml",
        })
    }
}

/// A system of states and transitions, as its file describes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TransitionSystem {
    /// Relations as binary decision diagrams.
    Bdd(BddSystem),
    /// Relations as list decision diagrams.
    Ldd(LddSystem),
    /// A Petri net: each transition tells what it needs of places and what it does to them.
    Net(PetriNet),
}

/// Bytes that are looked at to tell formats apart.
const START: u64 = 64;

/// Reads a model of a known format, or of the one that its first bytes tell: PNML or `.bdd`. Lists must be known to be such.
///
/// # Errors
///
/// If reading fails, a limit is exceeded, or the bytes are no model of that format.
pub fn read_model(
    mut reader: impl Read,
    format: Option<Format>,
    limits: &Limits,
) -> Result<TransitionSystem, FormatError> {
    let Some(format) = format else {
        let mut stream = Stream::open(&mut reader)?;
        let mut start = Vec::new();
        let outcome = stream.by_ref().take(START).read_to_end(&mut start);
        outcome.map_err(|source| stream.failure(start.len() as u64, source))?;
        let format = Format::of_start(&start);
        return read_model(Cursor::new(start).chain(stream), Some(format), limits);
    };
    match format {
        Format::Bdd => read_bdd(reader, limits).map(TransitionSystem::Bdd),
        Format::Ldd => read_ldd(reader, limits).map(TransitionSystem::Ldd),
        Format::Pnml => read_pnml(reader, limits).map(TransitionSystem::Net),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NET: &str = "<pnml xmlns='http://www.pnml.org/version-2009/grammar/pnml'>\
        <net id='n' type='http://www.pnml.org/version-2009/grammar/ptnet'><page id='g'><place id='p'/></page></net></pnml>";

    #[test]
    fn names_tell_formats() {
        let named = |name: &str| Format::of_name(Path::new(name));
        assert_eq!(named("a/b.pnml"), Some(Format::Pnml));
        assert_eq!(named("a.PNML.gz"), Some(Format::Pnml));
        assert_eq!(named("x.bdd.gz"), Some(Format::Bdd));
        assert_eq!(named("x.ldd"), Some(Format::Ldd));
        assert_eq!(named("x.gz"), None);
        assert_eq!(named("model"), None);
    }

    #[test]
    fn where_the_name_tells_nothing_the_first_bytes_do() {
        let read = |text: &str| read_model(text.as_bytes(), None, &Limits::default());
        assert!(matches!(read(NET), Ok(TransitionSystem::Net(net)) if net.places.len() == 1));
        assert!(matches!(read(&format!("\u{feff} \n{NET}")), Ok(TransitionSystem::Net(_)) | Err(FormatError::Text(_))));
        assert!(matches!(read("\x01\0\0\0"), Err(FormatError::Malformed(_))));
    }
}
