//! Tremula's own file format: several functions with names and metadata, a few bytes per node.
//!
//! A file is, in this order and without padding (numbers as in [`super::bytes`], strings as length and UTF-8):
//!
//! 1. the magic bytes and the version;
//! 2. the number of levels (all are smaller), the number of nodes;
//! 3. the number of metadata pairs, each a key and a value;
//! 4. the number of roots, each a name and an edge: node number times two, plus one for a complement;
//! 5. the nodes, numbered from one, children first (zero is the constant false). A node is three numbers: how far its
//!    level lies above the next possible one, that is one above its nearer child; the distance back to `low`; and twice
//!    the distance back to `high`, plus one for a complement. Distance zero is the terminal, which counts as lying on
//!    the first level that the file does not have;
//! 6. the CRC-32 of everything before, least significant byte first.
//!
//! Nodes that are redundant, repeated or otherwise not canonical are no error: [`Manager::import`] normalises them.

use super::bytes::{Sink, Source, append_number, malformed};
use super::error::FileError;
use super::export::Export;
use crate::Bdd;
use crate::manager::{ImportEdge, ImportNode, Manager};
use std::io::{Read, Write};
use std::ops::Range;
use tremula_table::layout::MAX_LEVELS;

/// Not text, not UTF-8, and mangled by anything that translates line ends.
const MAGIC: [u8; 8] = *b"\x89TBDD\r\n\x1A";
const VERSION: u64 = 1;

/// What a compact file held.
#[derive(Debug)]
pub struct Contents {
    /// Functions with their names.
    pub roots: Vec<(String, Bdd)>,
    /// Keys and values, as they were saved.
    pub metadata: Vec<(String, String)>,
}

impl Contents {
    /// The function of this name.
    pub fn root(&self, name: &str) -> Option<&Bdd> {
        self.roots.iter().find(|root| root.0 == name).map(|root| &root.1)
    }

    /// The value of this key.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.metadata.iter().find(|pair| pair.0 == key).map(|pair| pair.1.as_str())
    }
}

impl Manager {
    /// Save named functions and metadata in Tremula's compact format.
    pub fn save_compact(
        &self,
        roots: &[(&str, &Bdd)],
        metadata: &[(&str, &str)],
        out: impl Write,
    ) -> Result<(), FileError> {
        let functions: Vec<&Bdd> = roots.iter().map(|root| root.1).collect();
        let export = self.export(&functions)?;
        let levels = export.nodes.iter().map(|node| node.level + 1).max().unwrap_or(0);
        let mut sink = Sink::new(out);
        sink.raw(&MAGIC)?;
        for number in [VERSION, u64::from(levels), export.nodes.len() as u64, metadata.len() as u64] {
            sink.number(number)?;
        }
        for (key, value) in metadata {
            sink.string(key)?;
            sink.string(value)?;
        }
        sink.number(roots.len() as u64)?;
        for ((name, _), edge) in roots.iter().zip(&export.roots) {
            sink.string(name)?;
            sink.number(u64::from(edge.node) << 1 | u64::from(edge.complement))?;
        }
        write_nodes(&mut sink, &export, levels, self.workers())?;
        sink.finish()
    }

    /// Load what [`Manager::save_compact`] saved, unless it has more than `node_limit` nodes.
    ///
    /// The input must end with the file. It must not use this manager while it is read from.
    pub fn load_compact(&self, input: impl Read, node_limit: usize) -> Result<Contents, FileError> {
        let mut source = Source::new(input);
        let header = Header::read(&mut source, node_limit)?;
        let (names, edges): (Vec<String>, Vec<ImportEdge>) = header.roots.into_iter().unzip();
        let mut records = Records {
            source: &mut source,
            file_levels: header.levels,
            levels: vec![header.levels],
            left: header.nodes,
            failure: None,
        };
        let functions = self.import(&mut records, &edges);
        if let Some(failure) = records.failure {
            return Err(failure);
        }
        let functions = functions?;
        source.finish()?;
        Ok(Contents { roots: names.into_iter().zip(functions).collect(), metadata: header.metadata })
    }
}

/// Nodes that one worker encodes at a time.
const BATCH: usize = 1 << 14;

/// Encode the nodes, in batches on all workers, and write them in order.
fn write_nodes<W: Write>(sink: &mut Sink<W>, export: &Export, levels: u32, workers: usize) -> Result<(), FileError> {
    let batches: Vec<Range<usize>> =
        (0..export.nodes.len()).step_by(BATCH).map(|start| start..(start + BATCH).min(export.nodes.len())).collect();
    for round in batches.chunks(workers) {
        let encoded: Vec<Vec<u8>> = match round {
            [batch] => vec![encode(export, levels, batch.clone())],
            _ => std::thread::scope(|scope| {
                let start = |batch: &Range<usize>| {
                    let (builder, part) = (std::thread::Builder::new(), batch.clone());
                    let thread = builder.spawn_scoped(scope, move || encode(export, levels, part));
                    (thread, batch.clone())
                };
                let threads: Vec<_> = round.iter().map(start).collect();
                let encoded = threads.into_iter().map(|(thread, batch)| match thread {
                    Ok(thread) => thread.join().expect("encoding does not panic"),
                    // The system has no more threads.
                    Err(_) => encode(export, levels, batch),
                });
                encoded.collect()
            }),
        };
        encoded.iter().try_for_each(|bytes| sink.raw(bytes))?;
    }
    Ok(())
}

fn encode(export: &Export, levels: u32, batch: Range<usize>) -> Vec<u8> {
    let level_of = |edge: ImportEdge| match edge.node {
        0 => levels,
        number => export.nodes[number as usize - 1].level,
    };
    let mut bytes = Vec::with_capacity(8 * batch.len());
    for at in batch {
        let (node, number) = (&export.nodes[at], at as u64 + 1);
        let distance = |edge: ImportEdge| if edge.node == 0 { 0 } else { number - u64::from(edge.node) };
        let nearest = level_of(node.low).min(level_of(node.high));
        debug_assert!(!node.low.complement, "exports are canonical");
        append_number(&mut bytes, u64::from(nearest - 1 - node.level));
        append_number(&mut bytes, distance(node.low));
        append_number(&mut bytes, distance(node.high) << 1 | u64::from(node.high.complement));
    }
    bytes
}

struct Header {
    levels: u32,
    nodes: u32,
    metadata: Vec<(String, String)>,
    roots: Vec<(String, ImportEdge)>,
}

impl Header {
    fn read<R: Read>(source: &mut Source<R>, node_limit: usize) -> Result<Header, FileError> {
        source.literal(&MAGIC, "the magic bytes of a Tremula diagram file")?;
        let offset = source.offset();
        if source.number(u64::MAX, "a format version")? != VERSION {
            return Err(malformed(offset, "format version 1, the only one so far"));
        }
        let levels = source.number(u64::from(MAX_LEVELS), "a number of levels within what tables can hold")? as u32;
        let nodes = source.number(u64::from(u32::MAX) - 1, "a number of nodes below 2^32")?;
        if nodes > node_limit as u64 {
            return Err(FileError::TooManyNodes { nodes, limit: node_limit as u64 });
        }
        let mut metadata = Vec::new();
        for _ in 0..source.number(u64::MAX, "a number of metadata pairs")? {
            metadata.push((source.string("a metadata key in UTF-8")?, source.string("a metadata value in UTF-8")?));
        }
        let mut roots = Vec::new();
        for _ in 0..source.number(u64::MAX, "a number of roots")? {
            let name = source.string("a root's name in UTF-8")?;
            let edge = source.number(nodes << 1 | 1, "a root's node that the file has")?;
            roots.push((name, ImportEdge { node: (edge >> 1) as u32, complement: edge & 1 != 0 }));
        }
        Ok(Header { levels, nodes: nodes as u32, metadata, roots })
    }
}

/// The nodes of a file, one at a time; stops at the first malformed one and keeps the error.
struct Records<'a, R> {
    source: &'a mut Source<R>,
    file_levels: u32,
    /// Level of each node so far, by number.
    levels: Vec<u32>,
    left: u32,
    failure: Option<FileError>,
}

impl<R: Read> Records<'_, R> {
    fn record(&mut self) -> Result<ImportNode, FileError> {
        let offset = self.source.offset();
        let above = self.source.number(u64::from(self.file_levels), "a level difference that the file has room for")?;
        let last = self.levels.len() as u64 - 1;
        let low = self.source.number(last, "a distance to a low child that comes before")?;
        let high = self.source.number(last << 1 | 1, "a distance to a high child that comes before")?;
        let (low, high) = (self.edge(low << 1), self.edge(high));
        let nearest = self.levels[low.node as usize].min(self.levels[high.node as usize]);
        match nearest.checked_sub(above as u32 + 1) {
            Some(level) => {
                self.levels.push(level);
                Ok(ImportNode { level, low, high })
            }
            None => Err(malformed(offset, "a level difference that leaves a level above the children")),
        }
    }

    /// The edge for a distance (already checked) and a complement in the lowest bit.
    fn edge(&self, bits: u64) -> ImportEdge {
        let (distance, complement) = ((bits >> 1) as u32, bits & 1 != 0);
        let node = if distance == 0 { 0 } else { self.levels.len() as u32 - distance };
        ImportEdge { node, complement }
    }
}

impl<R: Read> Iterator for Records<'_, R> {
    type Item = ImportNode;

    fn next(&mut self) -> Option<ImportNode> {
        self.left = self.left.checked_sub(1)?;
        match self.record() {
            Ok(node) => Some(node),
            Err(failure) => {
                (self.failure, self.left) = (Some(failure), 0);
                None
            }
        }
    }
}
