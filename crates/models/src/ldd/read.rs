//! Reading `.ldd` files.
//!
//! ```text
//! file  := i32 integers
//!          SET initial
//!          i32 groups   PROJECTION of each   RELATION of each
//!          i32 flag     SET reachable, unless the flag is 0
//!          [ i32 labels   (u32 length, bytes) of each ]
//! SET        := i32 -1   NODES   u64 root
//! PROJECTION := i32 reads   i32 writes   i32 each read   i32 each written
//! RELATION   := NODES   u64 root
//! NODES      := u64 number   16 bytes of each
//! ```
//!
//! All numbers are little-endian. Ids count through the whole file and leave out 0, the empty set,
//! and 1, the set of the empty vector. A node is `right` in 48 bits (the lowest unused), the value
//! in 32, and `down` in 48, of which the lowest marks a copy node.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::shape::{Mismatch, Shapes};
use super::system::{LddSystem, ListGroup, ListNode, MAX_INTEGERS};
use crate::cursor::{Cursor, Fault};
use crate::error::{FormatError, MalformedLists, ReadError};
use crate::input::{self, Input};
use crate::limits::Limits;

/// A set over all integers has this number of them.
const ALL_INTEGERS: i32 = -1;

/// Reads the model in the file at `path`; see [`read_ldd`].
///
/// # Errors
///
/// If the file cannot be read or is not a model; the error names the file.
pub fn read_ldd_file(path: &Path, limits: &Limits) -> Result<LddSystem, ReadError> {
    File::open(path)
        .map_err(FormatError::Io)
        .and_then(|file| read_ldd(file, limits))
        .map_err(|source| ReadError { path: path.to_owned(), source })
}

/// Reads a model of list decision diagrams, plain or compressed with gzip (told by its first bytes).
///
/// # Errors
///
/// If reading fails, a limit is exceeded, or the bytes are not such a model.
pub fn read_ldd(reader: impl Read, limits: &Limits) -> Result<LddSystem, FormatError> {
    let Input { bytes, compressed } = input::read_all(reader, limits)?;
    let reader = Reader {
        cursor: Cursor::new(&bytes),
        limits,
        shapes: Shapes::new(limits.max_relation_nodes),
        nodes_read: 0,
        projections: 0,
    };
    reader.read().map_err(|fault| {
        FormatError::MalformedLists(MalformedLists {
            offset: fault.offset as u64,
            compressed,
            expected: fault.expected,
            found: fault.found,
        })
    })
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    limits: &'a Limits,
    shapes: Shapes,
    nodes_read: u64,
    projections: u64,
}

impl Reader<'_> {
    fn read(mut self) -> Result<LddSystem, Fault> {
        let integers = self.cursor.number(1, MAX_INTEGERS, "the number of integers")?;
        let initial = self.read_set(integers, "the initial set")?;
        let count = self.cursor.count("the number of groups")?;
        let mut groups = Vec::new();
        for _ in 0..count {
            groups.push(self.read_projection(integers)?);
        }
        for (index, group) in groups.iter_mut().enumerate() {
            self.read_relation(group, index)?;
        }
        let reachable = match self.cursor.i32("whether the reachable set follows")? {
            0 => None,
            _ => Some(self.read_set(integers, "the reachable set")?),
        };
        let action_labels = self.read_labels()?;
        self.cursor.finish()?;
        let nodes = self.shapes.into_nodes();
        Ok(LddSystem { integers, nodes, initial, groups, reachable, action_labels })
    }

    fn read_set(&mut self, integers: u32, what: &str) -> Result<u32, Fault> {
        let offset = self.cursor.offset();
        let count = self.cursor.i32(format_args!("the integers of {what}"))?;
        if count != ALL_INTEGERS {
            let expected = format!("{what} to be over all integers ({ALL_INTEGERS})");
            return Err(Fault::new(offset, expected, count));
        }
        self.read_nodes(what)?;
        let offset = self.cursor.offset();
        let root = self.read_root(what)?;
        self.shapes.check_set(root, integers).map_err(|problem| fault(offset, &problem))?;
        Ok(root)
    }

    fn read_relation(&mut self, group: &mut ListGroup, index: usize) -> Result<(), Fault> {
        let what = format!("the relation of group {index}");
        self.read_nodes(&what)?;
        let offset = self.cursor.offset();
        group.relation = self.read_root(&what)?;
        self.shapes.check_relation(group).map_err(|problem| fault(offset, &problem))
    }

    fn read_root(&mut self, what: &str) -> Result<u32, Fault> {
        let offset = self.cursor.offset();
        let root = self.cursor.u64(format_args!("the root of {what}"))?;
        u32::try_from(root).map_err(|_| Fault::new(offset, "a node read before", root))
    }

    fn read_nodes(&mut self, what: &str) -> Result<(), Fault> {
        let offset = self.cursor.offset();
        let count = self.cursor.u64(format_args!("the number of nodes of {what}"))?;
        self.nodes_read = self.nodes_read.saturating_add(count);
        // Ids take 32 bits here, whatever the limit.
        let limit = self.limits.max_nodes.min(u64::from(u32::MAX / 2));
        if self.nodes_read > limit {
            let expected = format!("at most {limit} nodes in the file (a limit of the reader)");
            return Err(Fault::new(offset, expected, format_args!("{} so far", self.nodes_read)));
        }
        for index in 1..=count {
            let offset = self.cursor.offset();
            let bytes = self.cursor.bytes(16, format_args!("node {index} of {count} of {what}"))?;
            let node = decode(bytes).ok_or_else(|| Fault::new(offset, "a node with smaller ids", "one beyond all"))?;
            self.shapes.add(node).map_err(|problem| fault(offset, &problem))?;
        }
        Ok(())
    }

    /// Reads what a group reads and writes. Its relation comes later in the file.
    fn read_projection(&mut self, integers: u32) -> Result<ListGroup, Fault> {
        let offset = self.cursor.offset();
        let reads = self.cursor.number(0, integers, "the number of integers read")?;
        let writes = self.cursor.number(0, integers, "the number of integers written")?;
        self.projections = self.projections.saturating_add(u64::from(reads) + u64::from(writes));
        let limit = self.limits.max_projections;
        if self.projections > limit {
            let expected = format!("at most {limit} entries in read and write lists (a limit of the reader)");
            return Err(Fault::new(offset, expected, format_args!("{} so far", self.projections)));
        }
        let reads = self.read_list(reads, integers, "the index of an integer read, ascending,")?;
        let writes = self.read_list(writes, integers, "the index of an integer written, ascending,")?;
        Ok(ListGroup { reads, writes, relation: LddSystem::EMPTY })
    }

    fn read_list(&mut self, count: u32, integers: u32, what: &str) -> Result<Vec<u32>, Fault> {
        let mut list = Vec::new();
        for _ in 0..count {
            let least = list.last().map_or(0, |last| last + 1);
            list.push(self.cursor.number(least, integers - 1, what)?);
        }
        Ok(list)
    }

    /// Files may end before the labels.
    fn read_labels(&mut self) -> Result<Vec<Vec<u8>>, Fault> {
        let mut labels = Vec::new();
        if self.cursor.finish().is_ok() {
            return Ok(labels);
        }
        let count = self.cursor.count("the number of action labels")?;
        for index in 0..count {
            let length = self.cursor.u32(format_args!("the length of action label {index}"))?;
            let label = self.cursor.bytes(length as usize, format_args!("action label {index}"))?;
            labels.push(label.to_vec());
        }
        Ok(labels)
    }
}

fn fault(offset: usize, problem: &Mismatch) -> Fault {
    Fault::new(offset, &problem.expected, &problem.found)
}

/// The node in 16 bytes; none if an id is beyond 32 bits.
fn decode(bytes: &[u8]) -> Option<ListNode> {
    let number = |from: usize, to: usize| {
        bytes[from..to].iter().rev().fold(0_u64, |number, &byte| number << 8 | u64::from(byte))
    };
    let (right, value, down) = (number(0, 6), number(6, 10), number(10, 16));
    let id = |word: u64| u32::try_from(word >> 1).ok();
    Some(ListNode { value: value as u32, copy: down & 1 != 0, down: id(down)?, right: id(right)? })
}
