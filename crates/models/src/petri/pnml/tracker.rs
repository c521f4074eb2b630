//! Bytes on their way to the XML parser: where they are, and how many there may be.

use std::io::{self, BufRead, BufReader, Read};

use crate::error::{FormatError, Position};
use crate::input::Stream;

/// The most bytes that one tag, text or comment may have: the parser holds each as a whole. Lists of all places of a
/// large unit fit.
pub(super) const MAX_ITEM_BYTES: usize = 4 << 20;

const BUFFER_BYTES: usize = 64 << 10;

/// What some editors put in front of a text; it is no character of the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Why no more bytes are handed out.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Refusal {
    FileTooLarge,
    ItemTooLarge,
}

/// A stream that knows the position of its next byte.
pub(super) struct Tracker<'a> {
    stream: BufReader<Stream<'a>>,
    position: Position,
    offset: u64,
    max_bytes: u64,
    /// Bytes that the current item may still take.
    item_left: usize,
    refusal: Option<Refusal>,
}

impl<'a> Tracker<'a> {
    pub(super) fn new(stream: Stream<'a>, max_bytes: u64) -> Self {
        Self {
            stream: BufReader::with_capacity(BUFFER_BYTES, stream),
            position: Position { line: 1, column: 1 },
            offset: 0,
            max_bytes,
            item_left: MAX_ITEM_BYTES,
            refusal: None,
        }
    }

    /// The position of the next byte.
    pub(super) fn position(&self) -> Position {
        self.position
    }

    /// A new item starts with the next byte.
    pub(super) fn start_item(&mut self) {
        self.item_left = MAX_ITEM_BYTES;
    }

    /// What a failed read means; `None` if the current item is too large.
    pub(super) fn failure(&self, source: io::Error) -> Option<FormatError> {
        let stream = self.stream.get_ref();
        match self.refusal {
            Some(Refusal::ItemTooLarge) => None,
            Some(Refusal::FileTooLarge) => {
                Some(FormatError::TooLarge { limit: self.max_bytes, compressed: stream.is_compressed() })
            }
            None => Some(stream.failure(self.offset, source)),
        }
    }
}

impl BufRead for Tracker<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let file_left = usize::try_from(self.max_bytes - self.offset).unwrap_or(usize::MAX);
        let available = self.stream.fill_buf()?;
        let refusal = if file_left == 0 { Refusal::FileTooLarge } else { Refusal::ItemTooLarge };
        let allowed = file_left.min(self.item_left);
        if allowed == 0 && !available.is_empty() {
            self.refusal = Some(refusal);
            return Err(io::Error::other("a limit of the reader"));
        }
        Ok(&available[..allowed.min(available.len())])
    }

    fn consume(&mut self, amount: usize) {
        let bytes = &self.stream.buffer()[..amount];
        if self.offset > 0 || bytes != BYTE_ORDER_MARK {
            self.position = advance(self.position, bytes);
        }
        self.offset += amount as u64;
        self.item_left -= amount;
        self.stream.consume(amount);
    }
}

impl Read for Tracker<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

/// The position behind `bytes`, which start at `position`.
pub(super) fn advance(position: Position, bytes: &[u8]) -> Position {
    // All bytes of a character in UTF-8 but its first are of the form 10xxxxxx.
    let characters = |bytes: &[u8]| bytes.iter().filter(|&byte| byte & 0xc0 != 0x80).count() as u64;
    match bytes.iter().rposition(|&byte| byte == b'\n') {
        None => Position { column: position.column + characters(bytes), ..position },
        Some(last) => Position {
            line: position.line + bytes.iter().filter(|&&byte| byte == b'\n').count() as u64,
            column: 1 + characters(&bytes[last + 1..]),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_not_bytes() {
        let start = Position { line: 3, column: 5 };
        assert_eq!(advance(start, "äb".as_bytes()), Position { line: 3, column: 7 });
        assert_eq!(advance(start, "ä\r\n\nöx".as_bytes()), Position { line: 5, column: 3 });
        assert_eq!(advance(start, b"\n"), Position { line: 4, column: 1 });
    }
}
