//! XML as the grammar of PNML wants it: elements with their attributes, and text.
//!
//! The parser below pairs tags and finds repeated attributes. What it leaves open is bounded here, so that a file costs
//! no more than its bytes: the size of one item, how deep elements nest, and how many attributes one has. Entities
//! cannot be declared; the five that XML has and numbered characters are resolved.

use std::borrow::Cow;
use std::fmt::Display;
use std::io;
use std::sync::Arc;

use quick_xml::XmlVersion;
use quick_xml::errors::{Error, IllFormedError, SyntaxError};
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::attributes::Attributes;
use quick_xml::events::{BytesRef, Event};
use quick_xml::reader::Reader;

use super::tracker::{MAX_ITEM_BYTES, Tracker, advance};
use crate::error::{FormatError, Position, TextFault};

/// The most elements that may be open at the same time. A net with one page needs eight, nested pages one more each.
const MAX_DEPTH: usize = 256;

/// The most attributes of an element. PNML needs four.
const MAX_ATTRIBUTES: usize = 64;

/// Longer pieces of a file are cut in messages.
const MAX_QUOTED: usize = 60;

/// What XML takes for white space.
const SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

/// What the file goes on with.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Item {
    /// A start tag.
    Open,
    /// The end tag of the innermost element.
    Close,
    /// Text, or a part of it.
    Text,
    /// The end of the file, with all elements closed.
    End,
}

/// The text in an element.
pub(super) struct Text {
    /// Where it starts, white space not counted.
    pub(super) position: Position,
    /// The text without white space around it.
    pub(super) value: String,
}

/// A file that is read element by element.
pub(super) struct Xml<'a> {
    reader: Reader<Tracker<'a>>,
    buffer: Vec<u8>,
    /// Where the current item starts.
    position: Position,
    /// What is between the angle brackets of the current start tag, or the current text.
    content: String,
    /// How much of it is the name of the element, prefix included.
    name_length: usize,
    /// Where the open elements start, innermost last.
    open: Vec<Position>,
}

impl<'a> Xml<'a> {
    pub(super) fn new(tracker: Tracker<'a>) -> Self {
        let mut reader = Reader::from_reader(tracker);
        reader.config_mut().expand_empty_elements = true;
        Self {
            reader,
            buffer: Vec::new(),
            position: Position { line: 1, column: 1 },
            content: String::new(),
            name_length: 0,
            open: Vec::new(),
        }
    }

    /// Where the current item starts: after [`child`](Self::child) the start or end tag that it found.
    pub(super) fn position(&self) -> Position {
        self.position
    }

    /// The name of the element that was opened last, without the prefix of a namespace.
    pub(super) fn name(&self) -> &str {
        let name = &self.content[..self.name_length];
        name.split_once(':').map_or(name, |(_, local)| local)
    }

    /// Names, with their prefixes, and values of the attributes of the element that was opened last.
    pub(super) fn attributes(&self) -> Result<Vec<(&str, Cow<'_, str>)>, FormatError> {
        let mut known = Vec::new();
        for attribute in Attributes::new(&self.content, self.name_length) {
            let attribute = attribute.map_err(|error| self.fault("attributes like name=\"value\"", error))?;
            if known.len() == MAX_ATTRIBUTES {
                let expected = format_args!("at most {MAX_ATTRIBUTES} attributes (a limit of the reader)");
                return Err(self.fault(expected, "more"));
            }
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            let value = value.map_err(|error| self.fault("the value of an attribute", error))?;
            // A reference may have stood for what the tag itself must not have.
            check_characters(self.position, &value)?;
            known.push((attribute.key.into_inner(), value));
        }
        Ok(known)
    }

    /// Opens the element around all others, which must have this name.
    pub(super) fn root(&mut self, name: &str) -> Result<(), FormatError> {
        let expected = format!("`<{name}>`");
        match self.skip_space()? {
            Item::Open if self.name() == name => Ok(()),
            item => Err(self.fault(expected, self.describe(item))),
        }
    }

    /// Opens the next element inside the innermost one. If there is no more, closes that one and is false.
    pub(super) fn child(&mut self) -> Result<bool, FormatError> {
        match self.skip_space()? {
            Item::Open => Ok(true),
            Item::Close => Ok(false),
            item => Err(self.fault("an element", self.describe(item))),
        }
    }

    /// Closes the element that was opened last, whatever it holds.
    pub(super) fn skip(&mut self) -> Result<(), FormatError> {
        let depth = self.open.len();
        while self.open.len() >= depth {
            self.next()?;
        }
        Ok(())
    }

    /// Nothing may follow.
    pub(super) fn finish(&mut self) -> Result<(), FormatError> {
        match self.skip_space()? {
            Item::End => Ok(()),
            item => Err(self.fault("the end of the file", self.describe(item))),
        }
    }

    /// Closes the element that was opened last, which must hold text and nothing else.
    pub(super) fn text(&mut self) -> Result<Text, FormatError> {
        self.collect_text(false)
    }

    /// Closes the element that was opened last. Its text and that of the elements in it are put together.
    pub(super) fn text_of_all(&mut self) -> Result<Text, FormatError> {
        self.collect_text(true)
    }

    fn collect_text(&mut self, nested: bool) -> Result<Text, FormatError> {
        let depth = self.open.len();
        let mut text = Text { position: self.position, value: String::new() };
        // One item, into however many pieces comments cut it.
        self.reader.get_mut().start_item();
        while self.open.len() >= depth {
            match self.event()? {
                Some(Item::Text) => self.append_to(&mut text),
                Some(Item::Open) if !nested => return Err(self.fault("text", self.describe(Item::Open))),
                _ => {}
            }
        }
        if text.value.is_empty() {
            text.position = self.position;
        }
        text.value.truncate(text.value.trim_end_matches(SPACE).len());
        Ok(text)
    }

    fn append_to(&self, text: &mut Text) {
        let mut more = self.content.as_str();
        if text.value.is_empty() {
            more = more.trim_start_matches(SPACE);
            let skipped = self.content.len() - more.len();
            text.position = advance(self.position, &self.content.as_bytes()[..skipped]);
        }
        text.value.push_str(more);
    }

    /// The next item that is not white space.
    fn skip_space(&mut self) -> Result<Item, FormatError> {
        loop {
            let item = self.next()?;
            if item != Item::Text || !self.content.trim_matches(SPACE).is_empty() {
                return Ok(item);
            }
        }
    }

    /// The next item.
    fn next(&mut self) -> Result<Item, FormatError> {
        loop {
            self.reader.get_mut().start_item();
            if let Some(item) = self.event()? {
                return Ok(item);
            }
        }
    }

    /// The next item, or nothing for a comment and the like.
    fn event(&mut self) -> Result<Option<Item>, FormatError> {
        self.position = self.reader.get_ref().position();
        self.buffer.clear();
        self.content.clear();
        self.name_length = 0;
        let event = match self.reader.read_event_into(&mut self.buffer) {
            Ok(event) => event,
            Err(error) => return Err(self.failure(error)),
        };
        let item = match event {
            Event::Start(tag) => {
                self.content.push_str(&tag);
                self.name_length = tag.name().into_inner().len();
                Item::Open
            }
            Event::End(_) => Item::Close,
            Event::Text(text) => {
                self.content.push_str(&text);
                Item::Text
            }
            Event::CData(text) => {
                self.content.push_str(&text);
                Item::Text
            }
            Event::GeneralRef(reference) => {
                resolve(self.position, &reference, &mut self.content)?;
                Item::Text
            }
            Event::Eof => Item::End,
            Event::DocType(text) if text.contains('[') => {
                let found = "declarations inside `<!DOCTYPE>`";
                return Err(fault(self.position, "a file without declarations of entities", found));
            }
            Event::DocType(_) if !self.open.is_empty() => {
                return Err(fault(self.position, "an element", "`<!DOCTYPE>`"));
            }
            Event::DocType(_) | Event::Comment(_) | Event::PI(_) | Event::Decl(_) | Event::Empty(_) => return Ok(None),
        };
        check_characters(self.position, &self.content)?;
        self.nest(item)?;
        Ok(Some(item))
    }

    /// Keeps account of the open elements.
    fn nest(&mut self, item: Item) -> Result<(), FormatError> {
        match item {
            Item::Open if self.open.len() == MAX_DEPTH => {
                let expected = format_args!("at most {MAX_DEPTH} elements within each other (a limit of the reader)");
                return Err(self.fault(expected, self.describe(item)));
            }
            Item::Open => self.open.push(self.position),
            Item::Close => {
                self.open.pop();
            }
            Item::Text => {}
            Item::End => {
                if let Some(start) = self.open.last() {
                    let expected = format_args!("the end tag of the element at {start}");
                    return Err(self.fault(expected, self.describe(item)));
                }
            }
        }
        Ok(())
    }

    /// The current item, for messages.
    fn describe(&self, item: Item) -> String {
        match item {
            Item::Open => format!("`<{}>`", quote(self.name())),
            Item::Close => "an end tag".to_owned(),
            Item::Text => format!("the text `{}`", quote(self.content.trim_matches(SPACE))),
            Item::End => "the end of the file".to_owned(),
        }
    }

    /// The current item is wrong.
    pub(super) fn fault(&self, expected: impl Display, found: impl Display) -> FormatError {
        fault(self.position, expected, found)
    }

    /// What an error of the parser means.
    fn failure(&self, error: Error) -> FormatError {
        match error {
            Error::Io(source) => {
                let source = Arc::try_unwrap(source).unwrap_or_else(|shared| io::Error::new(shared.kind(), shared));
                self.reader.get_ref().failure(source).unwrap_or_else(|| too_large(self.position))
            }
            Error::IllFormed(IllFormedError::MismatchedEndTag { expected, found }) => {
                let tag = |name: &str| format!("`</{}>`", quote(name));
                self.fault(tag(&expected), tag(&found))
            }
            Error::IllFormed(IllFormedError::UnmatchedEndTag(found)) => {
                self.fault("a start tag", format_args!("`</{}>`", quote(&found)))
            }
            Error::IllFormed(IllFormedError::UnclosedReference) => self.fault("`;` after `&` and a name", "none"),
            Error::Syntax(SyntaxError::InvalidBangMarkup) => {
                self.fault("`<!--`, `<![CDATA[` or `<!DOCTYPE`", "something else that starts with `<!`")
            }
            Error::Syntax(_) => self.fault("a complete tag, comment or text", "the end of the file within it"),
            Error::Encoding(_) => self.fault("text in UTF-8", "other bytes"),
            other => self.fault("XML", other),
        }
    }
}

/// The text is wrong at a position.
pub(super) fn fault(position: Position, expected: impl Display, found: impl Display) -> FormatError {
    FormatError::Text(TextFault { position, expected: expected.to_string(), found: found.to_string() })
}

fn too_large(position: Position) -> FormatError {
    let expected = format_args!("a tag, text or comment of at most {MAX_ITEM_BYTES} bytes (a limit of the reader)");
    fault(position, expected, "a longer one")
}

/// A piece of the file, for messages.
pub(super) fn quote(text: &str) -> String {
    let start: String = text.chars().take(MAX_QUOTED).collect();
    let cut = if start.len() < text.len() { "..." } else { "" };
    format!("{}{cut}", start.escape_debug())
}

/// XML has no control characters but white space.
fn check_characters(position: Position, text: &str) -> Result<(), FormatError> {
    let is_wrong = |byte: u8| byte < b' ' && !matches!(byte, b'\t' | b'\r' | b'\n');
    match text.bytes().find(|&byte| is_wrong(byte)) {
        None => Ok(()),
        Some(byte) => {
            let found = format_args!("the control character {byte:#04x}");
            Err(fault(position, "characters that XML allows", found))
        }
    }
}

/// Appends what a reference such as `&lt;` stands for.
fn resolve(position: Position, reference: &BytesRef<'_>, content: &mut String) -> Result<(), FormatError> {
    match (reference.resolve_char_ref(), resolve_xml_entity(reference)) {
        (Ok(Some(character)), _) => content.push(character),
        (Ok(None), Some(text)) => content.push_str(text),
        _ => {
            let found = format_args!("`&{};`", quote(reference));
            return Err(fault(position, "a character, or `lt`, `gt`, `amp`, `apos` or `quot`", found));
        }
    }
    Ok(())
}
