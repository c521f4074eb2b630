//! From a stream to bytes in memory: decompression and the bound on size.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

use crate::error::FormatError;
use crate::limits::Limits;

/// What gzip data starts with: the magic number and the only compression method there is. A
/// model that starts so would have more integers than state bits are allowed.
const GZIP: [u8; 3] = [0x1f, 0x8b, 8];

/// A whole file, uncompressed.
pub(crate) struct Input {
    pub(crate) bytes: Vec<u8>,
    /// Whether it was compressed.
    pub(crate) compressed: bool,
}

pub(crate) fn read_all(reader: impl Read, limits: &Limits) -> Result<Input, FormatError> {
    let mut reader = BufReader::new(reader);
    let mut start = Vec::new();
    reader.by_ref().take(GZIP.len() as u64).read_to_end(&mut start).map_err(FormatError::Io)?;
    let compressed = start == GZIP;
    let whole = start.as_slice().chain(reader);
    let bytes = if compressed { inflate(whole, limits)? } else { copy(whole, limits)? };
    if bytes.len() as u64 > limits.max_bytes {
        return Err(FormatError::TooLarge { limit: limits.max_bytes, compressed });
    }
    Ok(Input { bytes, compressed })
}

/// Reads one byte more than allowed, at most: enough to see that there is too much.
fn copy(reader: impl Read, limits: &Limits) -> Result<Vec<u8>, FormatError> {
    let mut bytes = Vec::new();
    let mut bounded = reader.take(limits.max_bytes.saturating_add(1));
    bounded.read_to_end(&mut bytes).map_err(FormatError::Io)?;
    Ok(bytes)
}

/// As [`copy`], bounding what comes out of the decompressor.
fn inflate(reader: impl BufRead, limits: &Limits) -> Result<Vec<u8>, FormatError> {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    let mut bytes = Vec::new();
    let mut bounded = MultiGzDecoder::new(reader).take(limits.max_bytes.saturating_add(1));
    match bounded.read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(source) if matches!(source.kind(), InvalidData | InvalidInput | UnexpectedEof) => {
            Err(FormatError::Gzip { offset: bytes.len() as u64, source })
        }
        Err(source) => Err(FormatError::Io(source)),
    }
}
