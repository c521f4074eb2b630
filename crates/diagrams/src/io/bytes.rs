//! Bytes under a checksum: variable-length numbers and strings, out and in.
//!
//! Numbers are written seven bits at a time, least significant first; the top bit of a byte says that more follow.

use super::error::FileError;
use crc32fast::Hasher;
use std::io::{ErrorKind, Read, Write};

const BUFFER_BYTES: usize = 64 << 10;
/// Longest string that is read back. Long ones are fine; this only stops absurd ones early.
const MAX_STRING_BYTES: u64 = 1 << 30;

/// Where bytes go.
pub struct Sink<W> {
    out: W,
    buffer: Vec<u8>,
    hasher: Hasher,
}

impl<W: Write> Sink<W> {
    /// An empty file on `out`.
    pub fn new(out: W) -> Sink<W> {
        Sink { out, buffer: Vec::with_capacity(BUFFER_BYTES), hasher: Hasher::new() }
    }

    pub fn raw(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER_BYTES { self.spill() } else { Ok(()) }
    }

    pub fn number(&mut self, value: u64) -> Result<(), FileError> {
        append_number(&mut self.buffer, value);
        if self.buffer.len() >= BUFFER_BYTES { self.spill() } else { Ok(()) }
    }

    pub fn string(&mut self, text: &str) -> Result<(), FileError> {
        self.number(text.len() as u64)?;
        self.raw(text.as_bytes())
    }

    fn spill(&mut self) -> Result<(), FileError> {
        self.hasher.update(&self.buffer);
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Write the checksum of all that came before, and flush.
    pub fn finish(mut self) -> Result<(), FileError> {
        self.spill()?;
        self.out.write_all(&self.hasher.finalize().to_le_bytes())?;
        Ok(self.out.flush()?)
    }
}

/// Add a number to `bytes`.
#[inline]
pub fn append_number(bytes: &mut Vec<u8>, mut value: u64) {
    while value > 0x7F {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Where bytes come from. Errors carry the offset at which the expected thing starts.
pub struct Source<R> {
    input: R,
    buffer: Box<[u8]>,
    /// The part of the buffer that is read and not yet used.
    next: usize,
    end: usize,
    /// Offset of the buffer's first byte in the input.
    base: u64,
    hasher: Hasher,
}

impl<R: Read> Source<R> {
    /// The start of a file on `input`.
    pub fn new(input: R) -> Source<R> {
        let buffer = vec![0; BUFFER_BYTES].into_boxed_slice();
        Source { input, buffer, next: 0, end: 0, base: 0, hasher: Hasher::new() }
    }

    /// Offset of the next byte.
    pub fn offset(&self) -> u64 {
        self.base + self.next as u64
    }

    fn byte(&mut self) -> Result<Option<u8>, FileError> {
        if self.next == self.end && !self.refill()? {
            return Ok(None);
        }
        self.next += 1;
        Ok(Some(self.buffer[self.next - 1]))
    }

    #[cold]
    fn refill(&mut self) -> Result<bool, FileError> {
        self.hasher.update(&self.buffer[..self.end]);
        self.base += self.end as u64;
        (self.next, self.end) = (0, 0);
        loop {
            match self.input.read(&mut self.buffer) {
                Ok(bytes) => self.end = bytes,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => return Err(e.into()),
            }
            return Ok(self.end > 0);
        }
    }

    /// Exactly these bytes.
    pub fn literal(&mut self, bytes: &[u8], expected: &'static str) -> Result<(), FileError> {
        let offset = self.offset();
        for &byte in bytes {
            if self.byte()? != Some(byte) {
                return Err(malformed(offset, expected));
            }
        }
        Ok(())
    }

    /// A number that is no larger than `most`.
    pub fn number(&mut self, most: u64, expected: &'static str) -> Result<u64, FileError> {
        let offset = self.offset();
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let Some(byte) = self.byte()? else { break };
            let bits = u64::from(byte & 0x7F);
            if bits << shift >> shift != bits {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return if value <= most { Ok(value) } else { Err(malformed(offset, expected)) };
            }
        }
        Err(malformed(offset, expected))
    }

    /// A string; memory grows with the bytes that are really there.
    pub fn string(&mut self, expected: &'static str) -> Result<String, FileError> {
        let offset = self.offset();
        let length = self.number(MAX_STRING_BYTES, expected)?;
        let mut bytes = Vec::new();
        for _ in 0..length {
            bytes.push(self.byte()?.ok_or_else(|| malformed(offset, expected))?);
        }
        String::from_utf8(bytes).map_err(|_| malformed(offset, expected))
    }

    /// The checksum of all that came before, and nothing after it.
    pub fn finish(mut self) -> Result<(), FileError> {
        self.hasher.update(&self.buffer[..self.next]);
        let checksum = std::mem::take(&mut self.hasher).finalize().to_le_bytes();
        self.literal(&checksum, "a checksum that fits the bytes before it")?;
        let offset = self.offset();
        match self.byte()? {
            None => Ok(()),
            Some(_) => Err(malformed(offset, "the end of the file")),
        }
    }
}

/// The error for a malformed place.
pub fn malformed(offset: u64, expected: &'static str) -> FileError {
    FileError::Bytes { offset, expected: expected.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Sink<&mut Vec<u8>>)) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut sink = Sink::new(&mut bytes);
        write(&mut sink);
        sink.finish().unwrap();
        bytes
    }

    #[test]
    fn numbers_and_strings_round_trip_across_buffers() {
        let numbers: Vec<u64> = (0..64).flat_map(|bit| [1 << bit, (1 << bit) - 1]).chain([u64::MAX]).collect();
        let long = "ä".repeat(BUFFER_BYTES);
        let bytes = written(|sink| {
            numbers.iter().for_each(|&n| sink.number(n).unwrap());
            sink.string(&long).unwrap();
        });
        let mut source = Source::new(bytes.as_slice());
        numbers.iter().for_each(|&n| assert_eq!(source.number(u64::MAX, "a number").unwrap(), n));
        assert_eq!(source.string("a string").unwrap(), long);
        source.finish().unwrap();
    }

    #[test]
    fn oversized_numbers_are_refused_where_they_start() {
        for bytes in [&[0xFF; 11][..], &[0x80, 0x80], &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02]] {
            let error = Source::new(bytes).number(u64::MAX, "a number").unwrap_err();
            assert_eq!(error.to_string(), "byte 0: expected a number");
        }
        assert!(Source::new(&[9][..]).number(8, "a number").is_err());
    }
}
