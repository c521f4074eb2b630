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
    /// Words of one message.
    longest: usize,
    /// Ends MPI when it is dropped, so it comes last.
    _universe: Universe,
}

/// What became of an attempt to call the same collective.
pub(super) struct Agreed {
    /// What each rank has to say of its words, where the calls fit together.
    pub(super) outcome: Result<Vec<u64>, FabricError>,
    names: Vec<&'static str>,
}

impl Agreed {
    /// The lowest rank that has come to its end, where others have not.
    pub(super) fn ended_early(&self) -> Option<usize> {
        let all_have = self.names.iter().all(|&name| name == "end");
        self.names.iter().position(|&name| name == "end").filter(|_| !all_have)
    }
}

impl Collectives {
    /// No message will have more than `longest` words.
    pub(super) fn start(longest: usize) -> Result<Collectives, StartError> {
        // One thread at a time calls MPI, but which one is not said.
        let (universe, granted) = mpi::initialize_with_threading(Threading::Serialized).ok_or(StartError::Mpi)?;
        if granted < Threading::Serialized {
            return Err(StartError::Threads);
        }
        Ok(Collectives { world: universe.world(), longest, _universe: universe })
    }

    pub(super) fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    pub(super) fn ranks(&self) -> usize {
        self.world.size() as usize
    }

    /// Tell all ranks of `call`; whether theirs fit. `words` are how many it is about; ranks may differ in that.
    pub(super) fn agree(&self, call: &Call, words: usize) -> Agreed {
        let [name, root, reduction, length] = header(call);
        let mut headers = vec![0; self.ranks() * ROW];
        self.world.all_gather_into(&[name, root, reduction, length, words as u64], &mut headers[..]);
        let calls: Vec<Call> = headers.chunks_exact(ROW).map(call_of).collect();
        let words = || headers.chunks_exact(ROW).map(|row| row[HEADER]).collect();
        Agreed { outcome: agree(calls.iter()).map(|()| words()), names: calls.iter().map(|call| call.name).collect() }
    }

    pub(super) fn barrier(&self) {
        self.world.barrier();
    }

    /// `length` is how many words the root gives.
    pub(super) fn broadcast(&self, root: usize, words: &mut Vec<u64>, length: u64) {
        let process = self.world.process_at_rank(root as i32);
        words.resize(length as usize, 0);
        for part in words.chunks_mut(self.longest) {
            process.broadcast_into(part);
        }
    }

    pub(super) fn reduce(&self, root: usize, reduction: Reduction, words: &mut [u64]) {
        let process = self.world.process_at_rank(root as i32);
        for part in words.chunks_mut(self.longest) {
            if root == self.rank() {
                let given = part.to_vec();
                process.reduce_into_root(&given[..], part, operation(reduction));
            } else {
                process.reduce_into(&*part, operation(reduction));
            }
        }
    }

    pub(super) fn all_reduce(&self, reduction: Reduction, words: &mut [u64]) {
        for part in words.chunks_mut(self.longest) {
            let given = part.to_vec();
            self.world.all_reduce_into(&given[..], part, operation(reduction));
        }
    }

    pub(super) fn scan(&self, reduction: Reduction, words: &mut [u64]) {
        for part in words.chunks_mut(self.longest) {
            let given = part.to_vec();
            self.world.exclusive_scan_into(&given[..], part, operation(reduction));
        }
        if self.rank() == 0 {
            // MPI leaves it undefined there.
            words.fill(reduction.identity());
        }
    }

    /// `lengths` are how many words each rank gives.
    pub(super) fn gather(&self, root: usize, words: &[u64], lengths: &[u64]) -> Option<Vec<Vec<u64>>> {
        let process = self.world.process_at_rank(root as i32);
        if root != self.rank() {
            for part in self.parts(lengths) {
                process.gather_varcount_into(part.of(words));
            }
            return None;
        }
        let mut all = vec![Vec::new(); lengths.len()];
        for part in self.parts(lengths) {
            let mut into = Joined::room(&part, lengths);
            process.gather_varcount_into_root(part.of(words), &mut into.partition());
            into.append_to(&mut all);
        }
        Some(all)
    }

    /// Where nobody knows yet how many words each rank gives.
    pub(super) fn all_gather(&self, words: &[u64]) -> Vec<Vec<u64>> {
        let mut lengths = vec![0; self.ranks()];
        self.world.all_gather_into(&(words.len() as u64), &mut lengths[..]);
        self.all_gather_of(words, &lengths)
    }

    /// `lengths` are how many words each rank gives.
    pub(super) fn all_gather_of(&self, words: &[u64], lengths: &[u64]) -> Vec<Vec<u64>> {
        let mut all = vec![Vec::new(); lengths.len()];
        for part in self.parts(lengths) {
            let mut into = Joined::room(&part, lengths);
            self.world.all_gather_varcount_into(part.of(words), &mut into.partition());
            into.append_to(&mut all);
        }
        all
    }

    /// `longest` are the words of the longest message that each rank gives: all have to agree on the number of parts.
    pub(super) fn all_to_all(&self, messages: &[Vec<u64>], longest: &[u64]) -> Vec<Vec<u64>> {
        let sent: Vec<u64> = messages.iter().map(|message| message.len() as u64).collect();
        let mut received = vec![0; self.ranks()];
        self.world.all_to_all_into(&sent[..], &mut received[..]);
        let mut all = vec![Vec::new(); received.len()];
        for part in self.parts(longest) {
            let out = Joined::of(messages.iter().map(|message| part.of(message)));
            let mut into = Joined::room(&part, &received);
            self.world.all_to_all_varcount_into(&out.whole(), &mut into.partition());
            into.append_to(&mut all);
        }
        all
    }

    /// What goes at once if each rank gives all others messages of these lengths: one rank gets no more than `longest` words.
    fn parts(&self, lengths: &[u64]) -> impl Iterator<Item = Part> + use<> {
        let most = (self.longest / self.ranks()).max(1);
        let longest = lengths.iter().max().map_or(0, |&length| length as usize);
        (0..longest).step_by(most).map(move |first| Part { first, most })
    }
}

/// A part of each message.
#[derive(Copy, Clone)]
struct Part {
    first: usize,
    most: usize,
}

impl Part {
    fn of<'a>(&self, message: &'a [u64]) -> &'a [u64] {
        let rest = message.get(self.first..).unwrap_or_default();
        &rest[..rest.len().min(self.most)]
    }

    fn length(&self, of: u64) -> usize {
        (of as usize).saturating_sub(self.first).min(self.most)
    }
}

/// Messages one after the other.
struct Joined {
    words: Vec<u64>,
    lengths: Vec<i32>,
    starts: Vec<i32>,
}

impl Joined {
    fn of<'a>(messages: impl Iterator<Item = &'a [u64]> + Clone) -> Joined {
        let lengths = messages.clone().map(<[u64]>::len);
        Joined { words: messages.clone().flatten().copied().collect(), ..Joined::with_lengths(lengths) }
    }

    /// Room for a part of messages of these lengths.
    fn room(part: &Part, lengths: &[u64]) -> Joined {
        let mut joined = Joined::with_lengths(lengths.iter().map(|&length| part.length(length)));
        joined.words = vec![0; joined.lengths.iter().map(|&length| length as usize).sum()];
        joined
    }

    fn with_lengths(lengths: impl Iterator<Item = usize>) -> Joined {
        let lengths: Vec<i32> = lengths.map(count).collect();
        let starts = lengths.iter().scan(0, |end, length| {
            *end += length;
            Some(*end - length)
        });
        Joined { words: Vec::new(), starts: starts.collect(), lengths }
    }

    fn whole(&self) -> Partition<'_, [u64], &[i32], &[i32]> {
        Partition::new(&self.words[..], &self.lengths[..], &self.starts[..])
    }

    fn partition(&mut self) -> PartitionMut<'_, [u64], &[i32], &[i32]> {
        PartitionMut::new(&mut self.words[..], &self.lengths[..], &self.starts[..])
    }

    fn append_to(&self, all: &mut [Vec<u64>]) {
        let mut rest = &self.words[..];
        for (message, &length) in all.iter_mut().zip(&self.lengths) {
            let (part, after) = rest.split_at(length as usize);
            message.extend_from_slice(part);
            rest = after;
        }
    }
}

/// MPI counts with 31 bits.
fn count(length: usize) -> i32 {
    i32::try_from(length).expect("messages are cut")
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
/// With how many words it is about.
const ROW: usize = HEADER + 1;

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
        let messages = [vec![1, 2], vec![], vec![3, 4, 5]];
        let joined = Joined::of(messages.iter().map(|message| &message[..]));
        assert_eq!((&joined.words[..], &joined.starts[..]), (&[1, 2, 3, 4, 5][..], &[0, 2, 2][..]));
        let mut all = vec![Vec::new(); 3];
        joined.append_to(&mut all);
        assert_eq!(all, messages);
    }

    #[test]
    fn parts_make_up_a_message() {
        let message = [1, 2, 3, 4, 5];
        let parts = [0, 2, 4, 6].map(|first| Part { first, most: 2 });
        assert_eq!(parts.map(|part| part.of(&message)), [&[1, 2][..], &[3, 4], &[5], &[]]);
        assert_eq!(parts.map(|part| part.length(5)), [2, 2, 1, 0]);
    }
}
