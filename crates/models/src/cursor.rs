//! Reading numbers while keeping track of where they are.

use std::fmt::Display;

/// A departure from the layout. Becomes a [`Malformed`](crate::Malformed) once it is known which
/// layout to complain about.
#[derive(Debug)]
pub(crate) struct Fault {
    /// Where the offending item starts. How far a layout got is judged by this.
    pub(crate) offset: usize,
    pub(crate) expected: String,
    pub(crate) found: String,
}

impl Fault {
    pub(crate) fn new(offset: usize, expected: impl Display, found: impl Display) -> Self {
        Self { offset, expected: expected.to_string(), found: found.to_string() }
    }
}

/// A position in a file. Each read says what it expects, for the error if it is not there.
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0 }
    }

    /// Where the next item starts.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// The next `length` bytes.
    pub(crate) fn bytes(&mut self, length: usize, what: impl Display) -> Result<&'a [u8], Fault> {
        let rest = &self.bytes[self.offset..];
        let Some(item) = rest.get(..length) else {
            let left = match rest.len() {
                0 => "the end of the file".to_owned(),
                left => format!("the end of the file after {left} of {length} bytes"),
            };
            return Err(Fault::new(self.offset, what, left));
        };
        self.offset += length;
        Ok(item)
    }

    fn array<const LENGTH: usize>(&mut self, what: impl Display) -> Result<[u8; LENGTH], Fault> {
        let mut array = [0; LENGTH];
        array.copy_from_slice(self.bytes(LENGTH, what)?);
        Ok(array)
    }

    pub(crate) fn i32(&mut self, what: impl Display) -> Result<i32, Fault> {
        self.array(what).map(i32::from_le_bytes)
    }

    pub(crate) fn u32(&mut self, what: impl Display) -> Result<u32, Fault> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self, what: impl Display) -> Result<u64, Fault> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// A signed number that must lie between `least` and `most`.
    pub(crate) fn number(&mut self, least: u32, most: u32, what: impl Display) -> Result<u32, Fault> {
        let offset = self.offset;
        let value = self.i32(&what)?;
        match u32::try_from(value) {
            Ok(number) if (least..=most).contains(&number) => Ok(number),
            _ => Err(Fault::new(offset, format_args!("{what} from {least} to {most}"), value)),
        }
    }

    /// A number of things that follow; negative makes no sense.
    pub(crate) fn count(&mut self, what: impl Display) -> Result<u32, Fault> {
        self.number(0, i32::MAX as u32, what)
    }

    /// Nothing may follow.
    pub(crate) fn finish(&self) -> Result<(), Fault> {
        match self.bytes.len() - self.offset {
            0 => Ok(()),
            1 => Err(Fault::new(self.offset, "the end of the file", "1 more byte")),
            more => Err(Fault::new(self.offset, "the end of the file", format_args!("{more} more bytes"))),
        }
    }
}
