//! From a file to the bytes that it means: decompression, and the bound on size.

use std::io::{self, BufReader, Chain, Cursor, Read};

use flate2::bufread::MultiGzDecoder;

use crate::error::FormatError;
use crate::limits::Limits;

/// What gzip data starts with: the magic number and the only compression method there is. No model starts so: as
/// `.bdd` it would have more integers than state bits are allowed, and XML starts otherwise.
const GZIP: [u8; 3] = [0x1f, 0x8b, 8];

/// The bytes that were read to tell gzip data, followed by the others.
type Whole<'a> = BufReader<Chain<Cursor<Vec<u8>>, &'a mut dyn Read>>;

/// Uncompressed bytes, as they arrive.
pub(crate) enum Stream<'a> {
    Plain(Whole<'a>),
    Gzip(Box<MultiGzDecoder<Whole<'a>>>),
}

impl<'a> Stream<'a> {
    /// Tells by the first bytes whether the rest must be decompressed.
    pub(crate) fn open(reader: &'a mut dyn Read) -> Result<Self, FormatError> {
        let mut start = Vec::new();
        (&mut *reader).take(GZIP.len() as u64).read_to_end(&mut start).map_err(FormatError::Io)?;
        let compressed = start == GZIP;
        let whole = BufReader::new(Cursor::new(start).chain(reader));
        Ok(if compressed { Self::Gzip(Box::new(MultiGzDecoder::new(whole))) } else { Self::Plain(whole) })
    }

    pub(crate) fn is_compressed(&self) -> bool {
        matches!(self, Self::Gzip(_))
    }

    /// What it means that reading failed after so many uncompressed bytes.
    pub(crate) fn failure(&self, offset: u64, source: io::Error) -> FormatError {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        match source.kind() {
            InvalidData | InvalidInput | UnexpectedEof if self.is_compressed() => FormatError::Gzip { offset, source },
            _ => FormatError::Io(source),
        }
    }
}

impl Read for Stream<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(reader) => reader.read(buffer),
            Self::Gzip(decoder) => decoder.read(buffer),
        }
    }
}

/// A whole file, uncompressed.
pub(crate) struct Input {
    pub(crate) bytes: Vec<u8>,
    /// Whether it was compressed.
    pub(crate) compressed: bool,
}

/// Reads one byte more than allowed, at most: enough to see that there is too much.
pub(crate) fn read_all(mut reader: impl Read, limits: &Limits) -> Result<Input, FormatError> {
    let mut stream = Stream::open(&mut reader)?;
    let compressed = stream.is_compressed();
    let mut bytes = Vec::new();
    let outcome = stream.by_ref().take(limits.max_bytes.saturating_add(1)).read_to_end(&mut bytes);
    outcome.map_err(|source| stream.failure(bytes.len() as u64, source))?;
    if bytes.len() as u64 > limits.max_bytes {
        return Err(FormatError::TooLarge { limit: limits.max_bytes, compressed });
    }
    Ok(Input { bytes, compressed })
}
