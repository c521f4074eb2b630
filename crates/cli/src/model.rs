//! Reading a model, inside a memory budget and until somebody says stop.

use crate::error::Failure;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use tremula_diagrams::Attention;
use tremula_models::{
    BddSystem, Format, FormatError, Group, Limits, Node, PetriNet, ReadError, TransitionSystem, read_model,
};

/// What the program itself and small models take: not worth charging to the budget.
pub const UNCHARGED: usize = 8 << 20;
/// Bytes held at once while reading, per byte of the (uncompressed) file: the file, its nodes, and the tables that find
/// equal ones.
const BYTES_PER_FILE_BYTE: usize = 4;
/// Bytes per entry in a read or write list, which is kept sorted in two places.
const BYTES_PER_PROJECTION: usize = 16;
/// How the reader ends a complaint about its limits (and not about the file).
const READER_LIMIT: &str = "(a limit of the reader)";

/// Why there is no model.
pub enum NoModel {
    /// The file is to blame.
    Bad(Failure),
    /// The file may be all right, but has something that no reader knows yet.
    Unsupported(Failure),
    /// The file may be all right, but the memory is too small for it.
    TooLarge(String),
    /// Somebody said stop.
    Stopped,
}

impl From<NoModel> for Failure {
    fn from(reason: NoModel) -> Failure {
        match reason {
            NoModel::Bad(failure) | NoModel::Unsupported(failure) => failure,
            NoModel::TooLarge(reason) => Failure::Limit(reason),
            NoModel::Stopped => Failure::Limit("interrupted".to_owned()),
        }
    }
}

/// Read the model at `path`, taking at most `memory` bytes (and a little for small models).
pub fn read_any(path: &Path, memory: usize, attention: &Attention) -> Result<TransitionSystem, NoModel> {
    let file = File::open(path).map_err(|error| NoModel::Bad(Failure::file(path, &error)))?;
    let reader = Stoppable { file, attention };
    read_model(reader, Format::of_name(path), &limits(memory)).map_err(|error| explain(path, error, attention))
}

/// The same for commands that know diagrams only.
pub fn read(path: &Path, memory: usize, attention: &Attention) -> Result<BddSystem, NoModel> {
    match read_any(path, memory, attention)? {
        TransitionSystem::Bdd(system) => Ok(system),
        TransitionSystem::Ldd(_) => Err(unfit(path, "consists of list decision diagrams")),
        TransitionSystem::Net(_) => Err(unfit(path, "is a Petri net")),
    }
}

fn unfit(path: &Path, kind: &str) -> NoModel {
    NoModel::Bad(Failure::Input(format!("{} {kind}: this command takes .bdd files only", path.display())))
}

/// The same for commands that know Petri nets only.
pub fn read_net(path: &Path, memory: usize, attention: &Attention) -> Result<PetriNet, NoModel> {
    match read_any(path, memory, attention)? {
        TransitionSystem::Net(net) => Ok(net),
        TransitionSystem::Bdd(_) | TransitionSystem::Ldd(_) => {
            let problem = "is not a Petri net, and this command is for Petri nets only";
            Err(NoModel::Bad(Failure::Input(format!("{} {problem}", path.display()))))
        }
    }
}

/// What a reader may take of so much memory.
pub fn limits(memory: usize) -> Limits {
    let room = memory.saturating_add(UNCHARGED);
    let defaults = Limits::default();
    Limits {
        max_bytes: (room / BYTES_PER_FILE_BYTE) as u64,
        // The bytes of the file bound its nodes already.
        max_nodes: u64::MAX,
        max_projections: defaults.max_projections.min((room / BYTES_PER_PROJECTION) as u64),
        ..defaults
    }
}

fn explain(path: &Path, error: FormatError, attention: &Attention) -> NoModel {
    match error {
        FormatError::Io(_) if attention.is_cancelled() => NoModel::Stopped,
        FormatError::Io(error) => NoModel::Bad(Failure::file(path, &error)),
        FormatError::TooLarge { .. } => NoModel::TooLarge(format!("the model does not fit the memory budget: {error}")),
        FormatError::Malformed(fault) if fault.expected.ends_with(READER_LIMIT) => too_large(&fault),
        FormatError::MalformedLists(fault) if fault.expected.ends_with(READER_LIMIT) => too_large(&fault),
        FormatError::Text(fault) if fault.expected.ends_with(READER_LIMIT) => too_large(&fault),
        source => {
            let unsupported = matches!(source, FormatError::Unsupported(_));
            let failure = Failure::Input(ReadError { path: path.to_owned(), source }.to_string());
            if unsupported { NoModel::Unsupported(failure) } else { NoModel::Bad(failure) }
        }
    }
}

/// A file that is more than the reader takes, whatever the memory.
fn too_large(fault: &impl std::fmt::Display) -> NoModel {
    NoModel::TooLarge(format!("the model is too large: {fault}"))
}

/// A file that cannot be read any more once somebody said stop.
struct Stoppable<'a> {
    file: File,
    attention: &'a Attention,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.attention.is_cancelled() { Err(io::Error::other("stopped")) } else { self.file.read(buffer) }
    }
}

/// Bytes that a model takes in memory, roughly.
pub fn bytes(model: &BddSystem) -> usize {
    let lists = model.groups.iter().map(|group| (group.reads.len() + group.writes.len()) * size_of::<u32>());
    model.nodes.len() * size_of::<Node>() + model.groups.len() * size_of::<Group>() + lists.sum::<usize>()
}
