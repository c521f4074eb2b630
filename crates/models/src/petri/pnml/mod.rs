//! Place/transition nets as PNML (ISO/IEC 15909-2).
//!
//! The file is read once, from start to end, and never held: memory grows with the net that it describes. Pages may be
//! nested and nodes may be references to nodes of other pages; both are gone from the net. Elements are known by their
//! names, whatever their order and namespace. A missing marking is zero, a missing weight one.
//!
//! Nothing is passed over that might mean something: what is neither known nor known to be harmless (graphics, data of
//! other tools) is refused, as are coloured nets and arcs other than plain ones. Nested units (NUPN) are read.
//!
//! Invariants: a net that is returned satisfies N1 and N2 of [`PetriNet`]; its places and transitions are in the order
//! of the file, with identifiers that no two of them share.

mod draft;
mod grammar;
mod ids;
mod nupn;
mod tracker;
mod xml;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::{FormatError, ReadError};
use crate::input::Stream;
use crate::limits::Limits;
use crate::petri::PetriNet;
use draft::Draft;
use grammar::Parser;
use tracker::Tracker;
use xml::Xml;

/// Reads the place/transition net in the PNML file at `path`; see [`read_pnml`].
///
/// # Errors
///
/// If the file cannot be read or has no such net; the error names the file.
pub fn read_pnml_file(path: &Path, limits: &Limits) -> Result<PetriNet, ReadError> {
    File::open(path)
        .map_err(FormatError::Io)
        .and_then(|file| read_pnml(file, limits))
        .map_err(|source| ReadError { path: path.to_owned(), source })
}

/// Reads a place/transition net as PNML, plain or compressed with gzip (told by its first bytes).
///
/// ```
/// use tremula_models::{Limits, read_pnml};
///
/// let file = r#"<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
///   <net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="page">
///     <place id="p"><initialMarking><text>3</text></initialMarking></place>
///     <transition id="t"/>
///     <arc id="a" source="p" target="t"><inscription><text>2</text></inscription></arc>
///   </page></net>
/// </pnml>"#;
/// let net = read_pnml(file.as_bytes(), &Limits::default())?;
/// assert_eq!((net.places[0].initial, net.transitions[0].inputs[0].weight), (3, 2));
///
/// let error = read_pnml(file.replace("3", "three").as_bytes(), &Limits::default()).unwrap_err();
/// assert!(error.to_string().starts_with("line 3, column 41: expected a number of tokens"));
/// # Ok::<(), tremula_models::FormatError>(())
/// ```
///
/// # Errors
///
/// If reading fails, a limit is exceeded, or the text is not a net that is supported; the error names line and column.
pub fn read_pnml(mut reader: impl Read, limits: &Limits) -> Result<PetriNet, FormatError> {
    let tracker = Tracker::new(Stream::open(&mut reader)?, limits.max_bytes);
    let net = Parser::new(Xml::new(tracker), Draft::new(limits.max_net_items)).read()?;
    debug_assert_eq!(net.check(), Ok(()));
    Ok(net)
}
