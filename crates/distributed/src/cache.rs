//! Results of operations that all ranks remember, as long as nothing else takes their place.
//!
//! There are two arrays. A slot of the index, on the rank that the hash of the key picks, says where an entry is; the entry, key and
//! result, is on the rank that has put it, in a ring. So a put writes to its own memory and then one word elsewhere, and a
//! get reads one word, and an entry if a part of the hash agrees (Oortwijn 2015, chapter 4).
//!
//! - C1: an entry is complete before the index says where it is (F3 of the fabric).
//! - C2: what a get returns was put with that key. An entry may be overwritten while it is read; but each round of the ring has a
//!   generation, which is in the index and in each word of an entry (words are read whole, F1), and entries whose words differ
//!   in it are not used. For generations to repeat within one read, the ring would have to go round 65,536 times.

use crate::results::{Key, ResultCache};
use crate::shape::{Position, Shape, Sizes, hash};
use crate::traffic::{Reach, others};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tremula_fabric::{Fabric, FabricError, Pending, Place, Segment};

/// Words of an entry: three, each without its upper bits, and these bits.
const ENTRY_WORDS: usize = 4;
/// Bits of a word that are not its generation.
const PAYLOAD_BITS: u32 = 48;
const PAYLOAD: u64 = (1 << PAYLOAD_BITS) - 1;
/// Gets of one thread that are under way at a time.
const WINDOW: usize = 64;

/// A cache over all ranks.
///
/// ```
/// use tremula_distributed::{Cache, ResultCache, Sizes};
/// use tremula_fabric::{Fabric, threads};
/// let results = threads::run(2, |fabric| {
///     let cache = Cache::allocate(fabric, Sizes { slots: 64, nodes: 64 }).unwrap();
///     if fabric.rank() == 0 {
///         cache.user().put(&[([3, 4], 7)]).unwrap();
///     }
///     fabric.barrier();
///     let found = cache.user().get(&[[3, 4], [3, 5]]).unwrap();
///     fabric.barrier();
///     found
/// });
/// assert_eq!(results.unwrap()[1], [Some(7), None]);
/// ```
#[derive(Clone, Debug)]
pub struct Cache<S> {
    shape: Shape,
    index: S,
    entries: S,
    /// By rank.
    reaches: Arc<[Reach]>,
    /// Entries that this rank has put.
    put: Arc<AtomicU64>,
}

impl<S: Segment> Cache<S> {
    /// *Collective.* An empty cache, with so many slots on each rank, and entries (`nodes`), at least one.
    ///
    /// Returns [`FabricError::NoMemory`] if one of them has not got it, or entries cannot be numbered.
    pub fn allocate<F: Fabric<Segment = S>>(fabric: &F, sizes: Sizes) -> Result<Cache<S>, FabricError> {
        let sizes = Sizes { nodes: sizes.nodes.max(1), ..sizes };
        Ok(Cache {
            shape: Shape::on(fabric, sizes)?,
            index: fabric.allocate(sizes.slots)?,
            entries: fabric.allocate(sizes.nodes * ENTRY_WORDS)?,
            reaches: Reach::of_all(fabric)?.into(),
            put: Arc::default(),
        })
    }

    /// What a thread needs to use the cache.
    pub fn user(&self) -> CacheUser<'_, S> {
        CacheUser { cache: self, traffic: CacheTraffic::default() }
    }

    /// Write an entry of this rank; what the index is to say.
    fn write(&self, key: Key, hash: u64, result: u64) -> Pointer {
        // Relaxed: each number is given once, and that is all.
        let ticket = self.put.fetch_add(1, Ordering::Relaxed);
        let entries = self.shape.sizes.nodes as u64;
        let (number, generation) = ((ticket % entries) as usize, (ticket / entries) as u16);
        let words = &self.entries.local()[number * ENTRY_WORDS..][..ENTRY_WORDS];
        for (word, new) in words.iter().zip(encode(key, result, generation)) {
            // Release: with the word in the index that says where it is, whoever reads that sees this (C1).
            word.store(new, Ordering::Release);
        }
        Pointer::new(hash, generation, self.shape.position(self.entries.rank(), number))
    }

    fn entry_place(&self, position: Position) -> Place {
        let Place { rank, offset } = self.shape.node_place(position);
        Place { rank, offset: offset / crate::shape::NODE_WORDS * ENTRY_WORDS }
    }
}

/// Numbers of requests, each an array by [`Reach`].
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct CacheTraffic {
    /// Words of the index that were read.
    pub slots: [u64; 3],
    /// Entries that were read.
    pub entries: [u64; 3],
    /// Words of the index that were written.
    pub puts: [u64; 3],
}

impl CacheTraffic {
    /// All requests, by reach.
    pub fn total(&self) -> [u64; 3] {
        std::array::from_fn(|reach| self.slots[reach] + self.entries[reach] + self.puts[reach])
    }

    /// Requests that left this rank.
    pub fn remote(&self) -> u64 {
        others(&self.total())
    }
}

/// One thread's access to a cache.
#[derive(Debug)]
pub struct CacheUser<'c, S> {
    cache: &'c Cache<S>,
    traffic: CacheTraffic,
}

impl<S: Segment> ResultCache for CacheUser<'_, S> {
    /// Others find the results after a flush or a barrier, or sooner.
    fn put(&mut self, results: &[(Key, u64)]) -> Result<(), FabricError> {
        for &(key, result) in results {
            let hash = hash(key);
            let place = self.cache.shape.place_of(hash);
            self.traffic.puts[self.cache.reaches[place.rank] as usize] += 1;
            self.cache.index.put_word(place, self.cache.write(key, hash, result).0)?;
        }
        Ok(())
    }

    fn get(&mut self, keys: &[Key]) -> Result<Vec<Option<u64>>, FabricError> {
        let mut results = Vec::with_capacity(keys.len());
        for window in keys.chunks(WINDOW) {
            self.get_window(window, &mut results)?;
        }
        Ok(results)
    }

    /// Nothing to do: ranks help themselves.
    fn settle(&mut self) {}

    fn requests(&self) -> [u64; 3] {
        self.traffic.total()
    }
}

impl<S: Segment> CacheUser<'_, S> {
    /// What this thread has asked for.
    pub fn traffic(&self) -> &CacheTraffic {
        &self.traffic
    }

    /// All slots first, then all entries, so that each waits only once.
    fn get_window(&mut self, keys: &[Key], results: &mut Vec<Option<u64>>) -> Result<(), FabricError> {
        let slots: Vec<S::Words> = keys.iter().map(|&key| self.start_slot(key)).collect::<Result<_, _>>()?;
        let mut entries = Vec::with_capacity(keys.len());
        for (&key, slot) in keys.iter().zip(slots) {
            entries.push(self.start_entry(key, Pointer(slot.wait()[0]))?);
        }
        results.extend(keys.iter().zip(entries).map(|(&key, entry)| {
            let (generation, pending) = entry?;
            decode(&pending.wait(), key, generation)
        }));
        Ok(())
    }

    fn start_slot(&mut self, key: Key) -> Result<S::Words, FabricError> {
        let place = self.cache.shape.place_of(hash(key));
        self.traffic.slots[self.cache.reaches[place.rank] as usize] += 1;
        self.cache.index.start_get(place, 1)
    }

    /// Ask for the entry to which a slot points, with its generation, if it may be the one.
    fn start_entry(&mut self, key: Key, pointer: Pointer) -> Result<Option<(u16, S::Words)>, FabricError> {
        let Some(position) = pointer.position().filter(|_| pointer.may_be(hash(key))) else { return Ok(None) };
        let place = self.cache.entry_place(position);
        self.traffic.entries[self.cache.reaches[place.rank] as usize] += 1;
        Ok(Some((pointer.generation(), self.cache.entries.start_get(place, ENTRY_WORDS)?)))
    }
}

/// What a slot of the index says: a part of the hash, the generation of an entry, and where that is; or nothing.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Pointer(u64);

impl Pointer {
    fn new(hash: u64, generation: u16, position: Position) -> Pointer {
        Pointer(hash << PAYLOAD_BITS | u64::from(generation) << u32::BITS | u64::from(position.number()))
    }

    fn position(self) -> Option<Position> {
        Position::from_number(self.0 as u32)
    }

    fn generation(self) -> u16 {
        (self.0 >> u32::BITS) as u16
    }

    fn may_be(self, hash: u64) -> bool {
        (self.0 >> PAYLOAD_BITS) as u16 == hash as u16
    }
}

/// The words of an entry, each with its generation.
fn encode(key: Key, result: u64, generation: u16) -> [u64; ENTRY_WORDS] {
    let [first, second] = key;
    let upper = [first, second, result].map(|word| word >> PAYLOAD_BITS);
    let upper = upper[0] | upper[1] << 16 | upper[2] << 32;
    [first, second, result, upper].map(|word| u64::from(generation) << PAYLOAD_BITS | word & PAYLOAD)
}

/// The result in an entry, if it is complete and of this generation and key.
fn decode(words: &[u64], key: Key, generation: u16) -> Option<u64> {
    let &[first, second, result, upper] = words else { return None };
    let is_whole = words.iter().all(|word| word >> PAYLOAD_BITS == u64::from(generation));
    let word = |lower: u64, at: u32| lower & PAYLOAD | (upper >> (16 * at)) << PAYLOAD_BITS;
    (is_whole && [word(first, 0), word(second, 1)] == key).then(|| word(result, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = [0xFEDC_BA98_7654_3210, 0x0123_4567_89AB_CDEF];
    const RESULT: u64 = 0x1357_9BDF_0246_8ACE;

    #[test]
    fn entries_are_read_as_they_were_written() {
        for (key, result) in [(KEY, RESULT), ([0, u64::MAX], 0), ([u64::MAX, 0], u64::MAX)] {
            for generation in [0, 1, u16::MAX] {
                let words = encode(key, result, generation);
                assert_eq!(decode(&words, key, generation), Some(result));
                assert_eq!(decode(&words, key, generation ^ 1), None);
                for bit in [0, 47, 48, 63] {
                    assert_eq!(decode(&words, [key[0] ^ 1 << bit, key[1]], generation), None);
                    assert_eq!(decode(&words, [key[0], key[1] ^ 1 << bit], generation), None);
                }
            }
        }
    }

    /// Whatever words of an entry are those of the next one in its place.
    #[test]
    fn torn_entries_are_not_used() {
        let (old, new) = (encode(KEY, RESULT, 5), encode(KEY, !RESULT, 6));
        for torn in 1..(1 << ENTRY_WORDS) - 1 {
            let words: [u64; ENTRY_WORDS] =
                std::array::from_fn(|at| if torn >> at & 1 == 1 { new[at] } else { old[at] });
            assert_eq!((decode(&words, KEY, 5), decode(&words, KEY, 6)), (None, None), "{torn:b}");
        }
    }

    #[test]
    fn pointers_hold_what_was_put_in() {
        let position = Position::from_number(77).unwrap();
        let pointer = Pointer::new(0xABCD_0123_4567, 9, position);
        assert_eq!((pointer.position(), pointer.generation()), (Some(position), 9));
        assert!(pointer.may_be(0xFFFF_0000_4567) && !pointer.may_be(0xABCD_0123_4568));
        assert_eq!(Pointer(0).position(), None);
    }
}
