//! `.bdd` files in their two layouts.
//!
//! Both layouts are little-endian and neither has a magic number. A file is therefore decoded in
//! both, and it belongs to the layout in which it ends exactly where its bytes do. The wrong
//! layout fails within the first few items of a real file, so the second attempt is cheap.
//!
//! A node is two 64-bit words in either layout. In the first, bit 63 marks the high edge as
//! complemented and bits 0 to 39 are its node; in the second, bits 40 to 63 are the variable and
//! bits 0 to 39 the node of the low edge.

mod diagrams;
mod legacy;
mod pad;
mod sylvan;
mod write;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::cursor::Fault;
use crate::error::{FormatError, Malformed, ReadError};
use crate::input::{self, Input};
use crate::limits::Limits;
use crate::system::{BddSystem, Layout};

pub use write::write_bdd;

/// Bits of a node id in a file.
const ID_BITS: u32 = 40;

/// The mark on a complemented edge in a file.
const COMPLEMENT: u64 = 1 << 63;

/// Reads the model in the file at `path`; see [`read_bdd`].
///
/// # Errors
///
/// If the file cannot be read or is not a model; the error names the file.
pub fn read_file(path: &Path, limits: &Limits) -> Result<BddSystem, ReadError> {
    File::open(path)
        .map_err(FormatError::Io)
        .and_then(|file| read_bdd(file, limits))
        .map_err(|source| ReadError { path: path.to_owned(), source })
}

/// Reads a model in either layout, plain or compressed with gzip (told by its first bytes).
///
/// Nodes that occur twice become one, and nodes that no set or relation uses are dropped.
///
/// # Errors
///
/// If reading fails, a limit is exceeded, or the bytes are not a model in either layout.
pub fn read_bdd(reader: impl Read, limits: &Limits) -> Result<BddSystem, FormatError> {
    let Input { bytes, compressed } = input::read_all(reader, limits)?;
    let malformed = |layout, fault: Fault| {
        FormatError::Malformed(Malformed {
            layout,
            offset: fault.offset as u64,
            compressed,
            expected: fault.expected,
            found: fault.found,
        })
    };
    match (legacy::read(&bytes, limits), sylvan::read(&bytes, limits)) {
        (Ok(_), Ok(_)) => Err(FormatError::Ambiguous),
        (Ok(system), Err(_)) | (Err(_), Ok(system)) => Ok(system),
        (Err(legacy), Err(sylvan)) if sylvan.offset > legacy.offset => Err(malformed(Layout::Sylvan, sylvan)),
        (Err(legacy), Err(_)) => Err(malformed(Layout::Legacy, legacy)),
    }
}
