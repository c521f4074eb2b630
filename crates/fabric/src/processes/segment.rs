//! Segments between processes: mapped where the owner is on this host, else behind the network.

use super::collectives::Collectives;
use super::monitor::LOOKS;
use super::peers::{Peers, gather_bytes};
use crate::sync::{AtomicU64, Ordering};
use crate::{FabricError, Pending, Place, Reduction, Segment, Update, WHOLE_WORDS};
use std::sync::Arc;
use std::thread;
use tremula_interconnect::{Atomic, Lane, NetworkError, Region, SharedMemory, Transfer};

/// Words that UCX reads whole without one-sided hardware: the owner copies them with `memcpy`, by 16 bytes or more at once.
/// If there are more, `memcpy` aligns its target and reads words in two parts, and UCX cuts messages of 8 KiB within words.
const READ_PIECE: usize = 16;

/// A segment between processes. All threads of a rank may use clones of it at the same time.
#[derive(Clone, Debug)]
pub struct ProcessSegment {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    words: usize,
    parts: Vec<Part>,
    /// The same on all ranks.
    number: u64,
    peers: Arc<Peers>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        let far = |(rank, part): (usize, &Part)| match part {
            Part::Far(region) => Some((rank, region.number)),
            Part::Mapped(_) => None,
        };
        self.peers.kept().dropped(self.number, self.parts.iter().enumerate().filter_map(far));
    }
}

/// The words of one rank.
#[derive(Debug)]
enum Part {
    Mapped(Arc<SharedMemory>),
    Far(Region),
}

/// *Collective.* Memory on all ranks; the ranks agree on `words` already.
pub(super) fn allocate(
    collectives: &Collectives,
    peers: &Arc<Peers>,
    words: usize,
) -> Result<ProcessSegment, FabricError> {
    // Not locked while others are waited for. What was begun on a dropped segment is complete before others hear of it.
    let dropped = peers.kept().take_dropped();
    peers.flush();
    peers.forget(&dropped.regions);
    let number = peers.kept().next_number(collectives.all_gather(&dropped.segments));
    let mine = SharedMemory::create(words).ok().map(Arc::new);
    let registration = match (&mine, peers.network()) {
        (Some(memory), Some(network)) => network.register(memory).ok(),
        _ => None,
    };
    let complete = mine.is_some() && (registration.is_some() || peers.network().is_none());
    all_have_memory(collectives, complete, words)?;
    let descriptors = collectives.all_gather(&[mine.as_ref().map_or(0, |memory| memory.descriptor() as u64)]);
    let regions = registration.as_ref().map(|mine| exchange_regions(collectives, &mine.region()));
    let part = |rank: usize| -> Option<Part> {
        let peer = peers.of(rank);
        if rank == peers.rank() {
            return mine.clone().map(Part::Mapped);
        }
        if peer.mapped {
            let memory = SharedMemory::open(peer.process, descriptors[rank][0] as i32, words).ok()?;
            return Some(Part::Mapped(Arc::new(memory)));
        }
        regions.as_ref().map(|regions| Part::Far(regions[rank].clone()))
    };
    let parts: Option<Vec<Part>> = (0..peers.ranks()).map(part).collect();
    // Nobody lets go of its part before all have opened it.
    all_have_memory(collectives, parts.is_some(), words)?;
    let parts = parts.ok_or(FabricError::NoMemory { rank: peers.rank(), words })?;
    peers.kept().keep(number, registration);
    let inner = Inner { words, parts, number, peers: Arc::clone(peers) };
    Ok(ProcessSegment { inner: Arc::new(inner) })
}

/// *Collective.* An error on all ranks, if one of them has not succeeded.
fn all_have_memory(collectives: &Collectives, succeeded: bool, words: usize) -> Result<(), FabricError> {
    let mut failed = [if succeeded { u64::MAX } else { collectives.rank() as u64 }];
    collectives.all_reduce(Reduction::Min, &mut failed);
    if failed[0] == u64::MAX { Ok(()) } else { Err(FabricError::NoMemory { rank: failed[0] as usize, words }) }
}

fn exchange_regions(collectives: &Collectives, mine: &Region) -> Vec<Region> {
    let numbers = collectives.all_gather(&[mine.address, mine.words as u64, mine.number]);
    let keys = gather_bytes(collectives, &mine.key);
    let region = |(numbers, key): (Vec<u64>, Vec<u8>)| Region {
        address: numbers[0],
        words: numbers[1] as usize,
        number: numbers[2],
        key: key.into(),
    };
    numbers.into_iter().zip(keys).map(region).collect()
}

/// Where words are.
enum Found<'s> {
    Here(&'s [AtomicU64]),
    There(&'s Region, Lane),
}

impl ProcessSegment {
    fn find(&self, at: Place, length: usize) -> Result<Found<'_>, FabricError> {
        let Place { rank, offset } = at;
        let Inner { words, parts, .. } = &*self.inner;
        let range = offset.checked_add(length).filter(|end| end <= words).map(|end| offset..end);
        let (Some(part), Some(range)) = (parts.get(rank), range) else {
            return Err(FabricError::OutOfSegment { rank, offset, length, words: *words, ranks: parts.len() });
        };
        Ok(match part {
            Part::Mapped(memory) => Found::Here(&memory.words()[range]),
            Part::Far(region) => Found::There(region, self.lane()),
        })
    }

    /// Write a word that exists, if it can be done now: for the monitor, which must not wait for anybody.
    pub(super) fn try_put_word(&self, to: Place, word: u64) -> Result<(), NetworkError> {
        match self.find(to, 1) {
            Ok(Found::There(region, lane)) => {
                // A look, so that it is on its way though nobody waits for it.
                lane.start_put(to.rank, region, to.offset, Box::new([word]))?.test().map(drop)
            }
            // Release: pairs with the Acquire of whoever reads it.
            Ok(Found::Here(words)) => {
                words[0].store(word, Ordering::Release);
                Ok(())
            }
            Err(error) => unreachable!("{error}"),
        }
    }

    /// Make a word that exists `mine` if it is 0. What it was, if that is known before it is `late`: for the monitor, as above.
    pub(super) fn try_claim_word(&self, at: Place, mine: u64, late: impl Fn() -> bool) -> Option<u64> {
        let (region, lane) = match self.find(at, 1) {
            Ok(Found::There(region, lane)) => (region, lane),
            // Acquire and Release as in `compare_and_swap`, though only the number matters.
            Ok(Found::Here(words)) => match words[0].compare_exchange(0, mine, Ordering::AcqRel, Ordering::Acquire) {
                Ok(old) | Err(old) => return Some(old),
            },
            Err(error) => unreachable!("{error}"),
        };
        let atomic = Atomic::CompareAndSwap { expected: 0, new: mine };
        let mut transfer = lane.start_atomic(at.rank, region, at.offset, atomic).ok()?;
        while !transfer.test().ok()? {
            if late() {
                return None;
            }
            thread::sleep(LOOKS);
        }
        Some(transfer.wait().ok()?[0])
    }

    /// Wait until what was begun is complete, unless the network refuses: for the monitor, which has to go on then.
    pub(super) fn try_flush(&self) -> Result<(), NetworkError> {
        self.inner.peers.network().map_or(Ok(()), |network| network.flush_all_lanes())
    }

    fn lane(&self) -> Lane {
        let network = self.inner.peers.network().expect("far parts have a network");
        self.or_stay(network.lane())
    }

    /// Read in pieces that are read whole, unless there are too many words for F1.
    fn start_gets(&self, from: Place, length: usize, region: &Region, lane: &Lane) -> Vec<Transfer> {
        let piece = if length <= WHOLE_WORDS { READ_PIECE } else { length };
        let start = |at: usize| {
            let words = piece.min(length - at);
            self.or_stay(lane.start_get(from.rank, region, from.offset + at, words))
        };
        (0..length).step_by(piece).map(start).collect()
    }

    fn flying<T>(&self, transfers: Vec<Transfer>) -> State<T> {
        State::Flying(transfers, Arc::clone(&self.inner.peers))
    }

    fn or_stay<T>(&self, outcome: Result<T, NetworkError>) -> T {
        self.inner.peers.or_stay(outcome)
    }
}

// Orderings of mapped words are those of segments between threads: all writes Release, all reads Acquire (F3). UCX
// completes a request only after its effect, and the owner's server carries requests out with its processor.
impl Segment for ProcessSegment {
    type Words = ProcessWords;
    type Word = ProcessWord;

    fn rank(&self) -> usize {
        self.inner.peers.rank()
    }

    fn ranks(&self) -> usize {
        self.inner.parts.len()
    }

    fn words(&self) -> usize {
        self.inner.words
    }

    fn local(&self) -> &[AtomicU64] {
        self.mapped(self.rank()).expect("a rank's own part is always mapped")
    }

    fn mapped(&self, rank: usize) -> Option<&[AtomicU64]> {
        match self.inner.parts.get(rank)? {
            Part::Mapped(memory) => Some(memory.words()),
            Part::Far(_) => None,
        }
    }

    fn get(&self, from: Place, into: &mut [u64]) -> Result<(), FabricError> {
        match self.find(from, into.len())? {
            // Acquire: pairs with every Release below.
            Found::Here(words) => {
                into.iter_mut().zip(words).for_each(|(copy, word)| *copy = word.load(Ordering::Acquire))
            }
            Found::There(region, lane) => {
                let transfers = self.start_gets(from, into.len(), region, &lane);
                into.copy_from_slice(&self.flying(transfers).wait(<[u64]>::into_vec));
            }
        }
        Ok(())
    }

    fn put(&self, to: Place, words: &[u64]) -> Result<(), FabricError> {
        match self.find(to, words.len())? {
            // Release: pairs with every Acquire here.
            Found::Here(mine) => mine.iter().zip(words).for_each(|(word, &new)| word.store(new, Ordering::Release)),
            Found::There(region, lane) => {
                drop(self.or_stay(lane.start_put(to.rank, region, to.offset, words.into())));
            }
        }
        Ok(())
    }

    fn compare_and_swap(&self, at: Place, expected: u64, new: u64) -> Result<u64, FabricError> {
        self.start_compare_and_swap(at, expected, new).map(Pending::wait)
    }

    fn fetch_with(&self, at: Place, update: Update, operand: u64) -> Result<u64, FabricError> {
        self.start_fetch_with(at, update, operand).map(Pending::wait)
    }

    fn start_get(&self, from: Place, length: usize) -> Result<ProcessWords, FabricError> {
        Ok(ProcessWords(match self.find(from, length)? {
            // Acquire: as in `get`.
            Found::Here(words) => State::Ready(words.iter().map(|word| word.load(Ordering::Acquire)).collect()),
            Found::There(region, lane) => self.flying(self.start_gets(from, length, region, &lane)),
        }))
    }

    fn start_put(&self, to: Place, words: Vec<u64>) -> Result<ProcessWords, FabricError> {
        Ok(ProcessWords(match self.find(to, words.len())? {
            Found::There(region, lane) => {
                let transfer = self.or_stay(lane.start_put(to.rank, region, to.offset, words.into_boxed_slice()));
                self.flying(vec![transfer])
            }
            Found::Here(_) => {
                self.put(to, &words)?;
                State::Ready(words)
            }
        }))
    }

    fn start_compare_and_swap(&self, at: Place, expected: u64, new: u64) -> Result<ProcessWord, FabricError> {
        Ok(ProcessWord(match self.find(at, 1)? {
            // Acquire and Release as in `get` and `put`; a failure is a read.
            Found::Here(words) => match words[0].compare_exchange(expected, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(old) | Err(old) => State::Ready(old),
            },
            Found::There(region, lane) => {
                let atomic = Atomic::CompareAndSwap { expected, new };
                self.flying(vec![self.or_stay(lane.start_atomic(at.rank, region, at.offset, atomic))])
            }
        }))
    }

    fn start_fetch_with(&self, at: Place, update: Update, operand: u64) -> Result<ProcessWord, FabricError> {
        Ok(ProcessWord(match self.find(at, 1)? {
            Found::Here(words) => State::Ready(update.apply_to(&words[0], operand)),
            Found::There(region, lane) => {
                let transfer = lane.start_atomic(at.rank, region, at.offset, atomic(update, operand));
                self.flying(vec![self.or_stay(transfer)])
            }
        }))
    }

    fn flush(&self, rank: usize) -> Result<(), FabricError> {
        self.inner.peers.check_rank(rank)?;
        if let Part::Far(_) = self.inner.parts[rank] {
            self.or_stay(self.lane().flush(rank));
        }
        Ok(())
    }
}

fn atomic(update: Update, operand: u64) -> Atomic {
    match update {
        Update::Add => Atomic::Add(operand),
        Update::And => Atomic::And(operand),
        Update::Or => Atomic::Or(operand),
        Update::Xor => Atomic::Xor(operand),
        Update::Replace => Atomic::Swap(operand),
    }
}

/// An operation that was complete at once, or is under way, maybe in pieces.
#[derive(Debug)]
enum State<T> {
    Ready(T),
    Flying(Vec<Transfer>, Arc<Peers>),
}

impl<T> State<T> {
    fn test(&mut self) -> bool {
        match self {
            State::Ready(_) => true,
            State::Flying(transfers, peers) => transfers.iter_mut().all(|transfer| peers.or_stay(transfer.test())),
        }
    }

    fn wait(self, arrived: impl FnOnce(Box<[u64]>) -> T) -> T {
        match self {
            State::Ready(value) => value,
            State::Flying(mut transfers, peers) if transfers.len() == 1 => {
                arrived(peers.or_stay(transfers.remove(0).wait()))
            }
            State::Flying(transfers, peers) => {
                let words = transfers.into_iter().flat_map(|transfer| peers.or_stay(transfer.wait()));
                arrived(words.collect())
            }
        }
    }
}

/// A started operation that hands a buffer back.
#[derive(Debug)]
#[must_use = "the value arrives with `wait`"]
pub struct ProcessWords(State<Vec<u64>>);

impl Pending for ProcessWords {
    type Output = Vec<u64>;

    fn test(&mut self) -> bool {
        self.0.test()
    }

    fn wait(self) -> Vec<u64> {
        self.0.wait(<[u64]>::into_vec)
    }
}

/// A started operation that hands a word back.
#[derive(Debug)]
#[must_use = "the value arrives with `wait`"]
pub struct ProcessWord(State<u64>);

impl Pending for ProcessWord {
    type Output = u64;

    fn test(&mut self) -> bool {
        self.0.test()
    }

    fn wait(self) -> u64 {
        self.0.wait(|buffer| buffer[0])
    }
}
