//! Collectives by MPI.

use super::StartError;
use crate::call::{Call, agree};
use crate::{FabricError, Reduction};
use mpi::Threading;
use mpi::collective::SystemOperation;
use mpi::datatype::{Partition, PartitionMut};
use mpi::environment::Universe;
use mpi::topology::{Communicator, SimpleCommunicator};
use mpi::traits::{CommunicatorCollectives, Root};

/// Collectives in the order in which they are numbered between ranks.
const NAMES: [&str; 10] =
    ["allocate", "barrier", "broadcast", "reduce", "all_reduce", "scan", "gather", "all_gather", "all_to_all", "end"];

/// All ranks, as MPI knows them.
pub(super) struct Collectives {
    world: SimpleCommunicator,
    /// Ends MPI when it is dropped, so it comes last.
    _universe: Universe,
}

/// What became of an attempt to call the same collective.
pub(super) struct Agreed {
    pub(super) outcome: Result<(), FabricError>,
    names: Vec<&'static str>,
}

impl Agreed {
    /// The lowest rank that has come to its end, and the lowest of those that have not, where there are both.
    pub(super) fn ended_early(&self) -> Option<(usize, usize)> {
        let first = |ended: bool| self.names.iter().position(|&name| (name == "end") == ended);
        first(true).zip(first(false))
    }
}

impl Collectives {
    pub(super) fn start() -> Result<Collectives, StartError> {
        // One thread at a time calls MPI, but which one is not said.
        let (universe, _) = mpi::initialize_with_threading(Threading::Serialized).ok_or(StartError::Mpi)?;
        Ok(Collectives { world: universe.world(), _universe: universe })
    }

    pub(super) fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    pub(super) fn ranks(&self) -> usize {
        self.world.size() as usize
    }

    /// Tell all ranks of `call`; whether theirs fit.
    pub(super) fn agree(&self, call: &Call) -> Agreed {
        let mut headers = vec![0; self.ranks() * HEADER];
        self.world.all_gather_into(&header(call)[..], &mut headers[..]);
        let calls: Vec<Call> = headers.chunks_exact(HEADER).map(call_of).collect();
        Agreed { outcome: agree(calls.iter()), names: calls.iter().map(|call| call.name).collect() }
    }

    pub(super) fn barrier(&self) {
        self.world.barrier();
    }

    pub(super) fn broadcast(&self, root: usize, words: &mut Vec<u64>) {
        let process = self.world.process_at_rank(root as i32);
        let mut length = words.len() as u64;
        process.broadcast_into(&mut length);
        words.resize(length as usize, 0);
        process.broadcast_into(&mut words[..]);
    }

    pub(super) fn all_reduce(&self, reduction: Reduction, words: &mut [u64]) {
        let given = words.to_vec();
        self.world.all_reduce_into(&given[..], words, operation(reduction));
    }

    pub(super) fn scan(&self, reduction: Reduction, words: &mut [u64]) {
        let given = words.to_vec();
        self.world.exclusive_scan_into(&given[..], words, operation(reduction));
        if self.rank() == 0 {
            // MPI leaves it undefined there.
            words.fill(reduction.identity());
        }
    }

    pub(super) fn gather(&self, root: usize, words: &[u64]) -> Option<Vec<Vec<u64>>> {
        let lengths = self.lengths(words);
        let process = self.world.process_at_rank(root as i32);
        if root != self.rank() {
            process.gather_varcount_into(words);
            return None;
        }
        let (mut all, starts) = room(&lengths);
        process.gather_varcount_into_root(words, &mut PartitionMut::new(&mut all[..], &lengths[..], &starts[..]));
        Some(split(&all, &lengths))
    }

    pub(super) fn all_gather(&self, words: &[u64]) -> Vec<Vec<u64>> {
        let lengths = self.lengths(words);
        let (mut all, starts) = room(&lengths);
        self.world.all_gather_varcount_into(words, &mut PartitionMut::new(&mut all[..], &lengths[..], &starts[..]));
        split(&all, &lengths)
    }

    pub(super) fn all_to_all(&self, messages: &[Vec<u64>]) -> Vec<Vec<u64>> {
        let sent: Vec<i32> = messages.iter().map(|message| count(message.len())).collect();
        let mut received = vec![0; self.ranks()];
        self.world.all_to_all_into(&sent[..], &mut received[..]);
        let (out, out_starts) = (messages.concat(), room(&sent).1);
        let (mut into, into_starts) = room(&received);
        self.world.all_to_all_varcount_into(
            &Partition::new(&out[..], &sent[..], &out_starts[..]),
            &mut PartitionMut::new(&mut into[..], &received[..], &into_starts[..]),
        );
        split(&into, &received)
    }

    /// How many words each rank gives.
    fn lengths(&self, words: &[u64]) -> Vec<i32> {
        let mut lengths = vec![0; self.ranks()];
        self.world.all_gather_into(&count(words.len()), &mut lengths[..]);
        lengths
    }
}

/// MPI counts with 31 bits.
fn count(length: usize) -> i32 {
    i32::try_from(length).expect("fewer than 2^31 words in one message")
}

/// Room for messages of these lengths, and where each begins.
fn room(lengths: &[i32]) -> (Vec<u64>, Vec<i32>) {
    let mut total = 0usize;
    let starts = lengths
        .iter()
        .map(|&length| {
            total += length as usize;
            count(total - length as usize)
        })
        .collect();
    (vec![0; total], starts)
}

fn split(all: &[u64], lengths: &[i32]) -> Vec<Vec<u64>> {
    let mut rest = all;
    let part = |&length: &i32| {
        let (part, after) = rest.split_at(length as usize);
        rest = after;
        part.to_vec()
    };
    lengths.iter().map(part).collect()
}

fn operation(reduction: Reduction) -> SystemOperation {
    match reduction {
        Reduction::Sum => SystemOperation::sum(),
        Reduction::Min => SystemOperation::min(),
        Reduction::Max => SystemOperation::max(),
        Reduction::And => SystemOperation::bitwise_and(),
        Reduction::Or => SystemOperation::bitwise_or(),
        Reduction::Xor => SystemOperation::bitwise_xor(),
    }
}

/// Words that describe a call.
const HEADER: usize = 4;

fn header(call: &Call) -> [u64; HEADER] {
    let name = NAMES.iter().position(|&name| name == call.name).expect("a collective of this module");
    let option = |value: Option<usize>| value.map_or(0, |value| (value as u64).wrapping_add(1));
    let reduction = call.reduction.and_then(|wanted| Reduction::ALL.iter().position(|&one| one == wanted));
    [name as u64, option(call.root), option(reduction), option(call.length)]
}

fn call_of(header: &[u64]) -> Call {
    let option = |word: u64| (word != 0).then(|| word as usize - 1);
    Call {
        name: NAMES[header[0] as usize],
        root: option(header[1]),
        reduction: option(header[2]).map(|at| Reduction::ALL[at]),
        length: option(header[3]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_survive_the_journey() {
        for call in [
            Call::new("barrier"),
            Call::new("reduce").root(3).reduction(Reduction::Xor).length(0),
            Call::new("all_to_all").length(7),
        ] {
            assert_eq!(call_of(&header(&call)), call);
        }
    }

    #[test]
    fn messages_are_cut_where_they_were_joined() {
        let (all, starts) = room(&[2, 0, 3]);
        assert_eq!((all.len(), starts), (5, vec![0, 2, 2]));
        assert_eq!(split(&[1, 2, 3, 4, 5], &[2, 0, 3]), [vec![1, 2], vec![], vec![3, 4, 5]]);
    }
}
