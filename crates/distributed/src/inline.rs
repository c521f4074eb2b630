//! The one-sided table in one array: a slot holds the node itself, and a position is a slot.
//!
//! Where [`OneSided`](crate::OneSided) reads a slot and then the node for which it stands, this one reads both at once; but slots are
//! three times as long, free ones too, and a node lies on the rank that its hash picks, so that whoever puts it writes there. A slot is
//! [three words](crate::slot): the first is claimed by compare-and-swap, the others are written behind it.
//!
//! - I1: the first word of a slot changes once, from zero to 63 bits of a node and a flag.
//! - I2: the other words change once, from zero to the other bits and a flag each, by whoever has claimed the slot. So a reader
//!   sees of each word by itself whether it has come, and they may come in any order.
//! - I3: a search that meets its own first word, with another word missing, reads again and does not pass. So the second of two
//!   puts of a node meets the first one's slot, as in D3 of the other form.
//! - I4: after a claim the other words are written at once, and all of them are changed by atomic operations of the fabric, which
//!   have happened when they return (F2): nobody waits for a flush, and those who read again wait for no search to end.
//! - I5: a search returns the slot only when all words have come.
//!
//! ```
//! use tremula_distributed::{Inline, NodeTable};
//! use tremula_fabric::{Fabric, threads};
//! let found = threads::run(2, |fabric| {
//!     let mut table = Inline::allocate(fabric, 64).unwrap();
//!     let found = table.find_or_put(&[[5, 7]]).unwrap()[0].position;
//!     let node = table.node(found).unwrap();
//!     fabric.barrier();
//!     (found, node)
//! });
//! let found = found.unwrap();
//! assert!(found[0] == found[1] && found[0].1 == [5, 7]);
//! ```

use crate::Node;
use crate::chunks::{Chunks, Way};
use crate::contract::{Find, Found, Full, NodeTable, SharedTable};
use crate::inline_near::NearSlots;
use crate::one_sided::Stop;
use crate::shape::{Position, Shape, Sizes};
use crate::slot::{SLOT_WORDS, decode};
use crate::traffic::{Reach, Traffic};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tremula_fabric::{Fabric, FabricError, Place, Segment, Update, WHOLE_WORDS};

/// Slots that a table in one array reads at a time, at most: only so many are read in whole words.
pub const MOST_INLINE_SLOTS: usize = WHOLE_WORDS / SLOT_WORDS;

/// A table over all ranks, in one array.
#[derive(Clone, Debug)]
pub struct Inline<S> {
    pub(crate) shape: Shape,
    pub(crate) slots: S,
    chunks: Chunks,
    /// By rank.
    pub(crate) reaches: Arc<[Reach]>,
    /// Nodes that this rank has put.
    put: Arc<AtomicUsize>,
    /// What finders that have gone have asked for.
    asked: Arc<Mutex<Traffic>>,
}

/// What a rank had of a table in one array at some time.
#[derive(Clone, Debug)]
pub struct InlineCheckpoint {
    words: Vec<u64>,
    put: usize,
}

impl<S: Segment> Inline<S> {
    /// *Collective.* An empty table, with so many slots on each rank.
    ///
    /// Returns [`FabricError::NoMemory`] if one of them has not got it, or positions cannot number all slots.
    pub fn allocate<F: Fabric<Segment = S>>(fabric: &F, slots: usize) -> Result<Inline<S>, FabricError> {
        Ok(Inline {
            shape: Shape::on(fabric, Sizes { slots, nodes: slots })?,
            slots: fabric.allocate(slots * SLOT_WORDS)?,
            chunks: Chunks::ByLoad,
            reaches: Reach::of_all(fabric)?.into(),
            put: Arc::default(),
            asked: Arc::default(),
        })
    }

    /// The same table, read in other chunks by this rank, of at most [`MOST_INLINE_SLOTS`].
    pub fn with_chunks(self, chunks: Chunks) -> Inline<S> {
        Inline { chunks, ..self }
    }

    /// A finder that asks the fabric even for memory that it could address: for tests, and to see what that costs.
    pub fn asking_finder(&self) -> InlineFinder<'_, S> {
        self.new_finder(None)
    }

    fn new_finder<'t>(&'t self, near: Option<NearSlots<'t>>) -> InlineFinder<'t, S> {
        InlineFinder { table: self, near, traffic: Traffic::default() }
    }

    pub(crate) fn way(&self) -> Way {
        Way { chunks: self.chunks, slots: self.shape.slots() }
    }

    /// Slots of a chunk. The load is taken for that of this rank: ranks put about as many nodes as each other.
    pub(crate) fn chunk(&self) -> usize {
        // Relaxed: an estimate.
        let load = self.put.load(Ordering::Relaxed) as f64 / self.shape.sizes.slots as f64;
        self.chunks.slots(load).min(MOST_INLINE_SLOTS)
    }

    pub(crate) fn position(&self, Place { rank, offset }: Place) -> Position {
        self.shape.position(rank, offset)
    }

    /// Where the words of a slot are.
    pub(crate) fn word_place(Place { rank, offset }: Place, word: usize) -> Place {
        Place { rank, offset: offset * SLOT_WORDS + word }
    }

    fn asked(&self) -> MutexGuard<'_, Traffic> {
        // Nothing panics half way through a change.
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Segment> NodeTable for Inline<S> {
    type Kept = InlineCheckpoint;

    /// By a finder of its own.
    fn find_or_put(&mut self, nodes: &[Node]) -> Result<Vec<Found>, Full> {
        self.finder().find_or_put(nodes)
    }

    fn node(&self, position: Position) -> Result<Node, FabricError> {
        let place = self.shape.slot_place(position.number() as usize - 1);
        let mut words = [0; SLOT_WORDS];
        self.slots.get(Self::word_place(place, 0), &mut words)?;
        Ok(decode(words).expect("positions are known when all words have come"))
    }

    /// Nothing to do: ranks help themselves.
    fn settle(&mut self) {}

    /// Of finders that have gone.
    fn requests(&self) -> [u64; 3] {
        self.asked().total()
    }

    fn checkpoint(&self) -> InlineCheckpoint {
        // Relaxed, here and below: nobody else is at work, and barriers say so.
        let words = self.slots.local().iter().map(|word| word.load(Ordering::Relaxed)).collect();
        InlineCheckpoint { words, put: self.put.load(Ordering::Relaxed) }
    }

    fn restore(&mut self, checkpoint: &InlineCheckpoint) {
        for (word, &old) in self.slots.local().iter().zip(&checkpoint.words) {
            word.store(old, Ordering::Relaxed);
        }
        self.put.store(checkpoint.put, Ordering::Relaxed);
    }
}

impl<S: Segment> SharedTable for Inline<S> {
    type Finder<'t>
        = InlineFinder<'t, S>
    where
        S: 't;

    fn finder(&self) -> InlineFinder<'_, S> {
        self.new_finder(NearSlots::of(&self.slots))
    }
}

/// One thread's access to a table in one array.
#[derive(Debug)]
pub struct InlineFinder<'t, S> {
    pub(crate) table: &'t Inline<S>,
    /// The table as memory, where that can be.
    near: Option<NearSlots<'t>>,
    pub(crate) traffic: Traffic,
}

impl<S> Drop for InlineFinder<'_, S> {
    fn drop(&mut self) {
        self.table.asked.lock().unwrap_or_else(PoisonError::into_inner).add(&self.traffic);
    }
}

impl<S: Segment> Find for InlineFinder<'_, S> {
    /// # Panics
    /// If the fabric refuses a place in the table, which would be a fault of this crate.
    fn find_or_put(&mut self, nodes: &[Node]) -> Result<Vec<Found>, Full> {
        let found = match self.near.take() {
            Some(near) => {
                let found = self.search_near(&near, nodes);
                self.near = Some(near);
                found
            }
            None => self.search_far(nodes),
        };
        found.map_err(Stop::into_full)
    }

    fn traffic(&self) -> &Traffic {
        &self.traffic
    }
}

impl<S: Segment> InlineFinder<'_, S> {
    pub(crate) fn count(&mut self, place: Place, kind: impl FnOnce(&mut Traffic) -> &mut [u64; 3], times: u64) {
        let reach = self.table.reaches[place.rank];
        kind(&mut self.traffic)[reach as usize] += times;
    }

    /// Start to write the words behind the first one of a slot that this search has claimed (I4).
    pub(crate) fn start_rest(&mut self, slot: Place, words: &[u64; SLOT_WORDS]) -> Result<[S::Word; 2], Stop> {
        // Relaxed: an estimate of the load.
        self.table.put.fetch_add(1, Ordering::Relaxed);
        self.count(slot, |traffic| &mut traffic.writes, 2);
        let start = |word: usize| {
            let place = Inline::<S>::word_place(slot, word);
            self.table.slots.start_fetch_with(place, Update::Replace, words[word])
        };
        Ok([start(1)?, start(2)?])
    }
}
