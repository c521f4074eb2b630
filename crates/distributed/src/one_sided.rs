//! The table that ranks use without each other's help.
//!
//! The index is an array of words over all ranks, taken slot by slot with compare-and-swap. Nodes lie on the rank that
//! has put them: it writes them before it publishes their position, and they never change, so that reading one needs no
//! care. A search goes from the slot that the hash picks to an empty one, in chunks. Many searches are under way at a time,
//! each waiting for one answer; where all memory can be addressed, they [read it](crate::near) instead.
//!
//! - D1: a slot changes once, from zero to an entry.
//! - D2: the node of an entry was complete before the entry was published (F3 of the fabric).
//! - D3: equal nodes are found by all ranks in the same slots in the same order, so that the second of two puts meets the
//!   first one's entry: by reading it, or by losing the swap for that slot.

use crate::Node;
use crate::chunks::{Chunks, Way};
use crate::contract::{Find, Found, Full, NodeTable, SharedTable};
use crate::near::Near;
use crate::search::{Flight, Need, Search, Step};
use crate::shape::{Entry, NODE_WORDS, Position, Shape, Sizes};
use crate::traffic::{Reach, Traffic};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tremula_fabric::{Fabric, FabricError, Pending, Place, Segment};

/// Searches of one worker that are under way at a time.
const WINDOW: usize = 64;

/// A table over all ranks.
#[derive(Clone, Debug)]
pub struct OneSided<S> {
    pub(crate) shape: Shape,
    pub(crate) index: S,
    nodes: S,
    pub(crate) chunks: Chunks,
    /// Does a search ask for the next chunk before it needs it?
    reads_ahead: bool,
    /// Does it ask the fabric even for memory that it could address?
    asks: bool,
    /// By rank.
    pub(crate) reaches: Arc<[Reach]>,
    /// Nodes of this rank that were given out.
    given: Arc<AtomicUsize>,
    left: Arc<Mutex<Left>>,
}

/// What finders of a rank leave when they go.
#[derive(Debug, Default)]
struct Left {
    /// Nodes that were given out, but not needed.
    numbers: Vec<usize>,
    /// What they have asked for.
    traffic: Traffic,
}

/// What a rank had of a table at some time.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    index: Vec<u64>,
    given: usize,
    returned: Vec<usize>,
}

impl<S: Segment> OneSided<S> {
    /// *Collective.* An empty table, with so much on each rank.
    ///
    /// Returns [`FabricError::NoMemory`] if one of them has not got it, or positions cannot number all nodes.
    pub fn allocate<F: Fabric<Segment = S>>(fabric: &F, sizes: Sizes) -> Result<OneSided<S>, FabricError> {
        let shape = Shape::on(fabric, sizes)?;
        Ok(OneSided {
            shape,
            index: fabric.allocate(sizes.slots)?,
            nodes: fabric.allocate(sizes.nodes * NODE_WORDS)?,
            chunks: Chunks::ByLoad,
            reads_ahead: false,
            asks: false,
            reaches: Reach::of_all(fabric)?.into(),
            given: Arc::new(AtomicUsize::new(0)),
            left: Arc::default(),
        })
    }

    /// The same table, read in other chunks by this rank.
    pub fn with_chunks(self, chunks: Chunks) -> OneSided<S> {
        OneSided { chunks, ..self }
    }

    /// The same table, for searches of this rank that ask for two chunks at a time, and for the next one whenever they begin with
    /// another. Where memory can be addressed, processors do that themselves.
    pub fn reading_ahead(self) -> OneSided<S> {
        OneSided { reads_ahead: true, ..self }
    }

    /// The same table, for finders of this rank that ask the fabric even for memory that they could address, as they have to
    /// between hosts: to see what that costs.
    pub fn asking(self) -> OneSided<S> {
        OneSided { asks: true, ..self }
    }

    pub(crate) fn way(&self) -> Way {
        Way { chunks: self.chunks, slots: self.shape.slots() }
    }

    /// A finder like those of an [`asking`](OneSided::asking) table, beside others of this one.
    pub fn asking_finder(&self) -> Finder<'_, S> {
        self.new_finder(None)
    }

    fn new_finder<'t>(&'t self, near: Option<Arc<Near<'t>>>) -> Finder<'t, S> {
        Finder { table: self, near, spare: Vec::new(), traffic: Traffic::default() }
    }

    fn left(&self) -> MutexGuard<'_, Left> {
        // Nothing panics half way through a change.
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The share of slots that are taken, as far as this rank can tell: ranks put about as many nodes as each other.
    pub(crate) fn load(&self) -> f64 {
        // Relaxed: an estimate.
        self.given.load(Ordering::Relaxed) as f64 / self.shape.sizes.slots as f64
    }
}

impl<S: Segment> NodeTable for OneSided<S> {
    type Kept = Checkpoint;

    /// By a finder of its own; a search that has to wait may also end as if the table were full although another one puts its
    /// node at that moment.
    fn find_or_put(&mut self, nodes: &[Node]) -> Result<Vec<Found>, Full> {
        self.finder().find_or_put(nodes)
    }

    fn node(&self, position: Position) -> Result<Node, FabricError> {
        let mut node = [0; NODE_WORDS];
        self.nodes.get(self.shape.node_place(position), &mut node)?;
        Ok(node)
    }

    /// Nothing to do: ranks help themselves.
    fn settle(&mut self) {}

    /// Of finders that have gone.
    fn requests(&self) -> [u64; 3] {
        self.left().traffic.total()
    }

    fn checkpoint(&self) -> Checkpoint {
        // Relaxed, here and below: nobody else is at work, and barriers say so.
        let index = self.index.local().iter().map(|word| word.load(Ordering::Relaxed)).collect();
        Checkpoint { index, given: self.given.load(Ordering::Relaxed), returned: self.left().numbers.clone() }
    }

    /// Finders are void, too.
    fn restore(&mut self, checkpoint: &Checkpoint) {
        for (word, &old) in self.index.local().iter().zip(&checkpoint.index) {
            word.store(old, Ordering::Relaxed);
        }
        self.given.store(checkpoint.given, Ordering::Relaxed);
        self.left().numbers.clone_from(&checkpoint.returned);
    }
}

impl<S: Segment> SharedTable for OneSided<S> {
    type Finder<'t>
        = Finder<'t, S>
    where
        S: 't;

    fn finder(&self) -> Finder<'_, S> {
        if self.asks {
            return self.asking_finder();
        }
        self.new_finder(Near::of(&self.index, &self.nodes).map(Arc::new))
    }
}

/// One thread's access to a table.
#[derive(Debug)]
pub struct Finder<'t, S> {
    pub(crate) table: &'t OneSided<S>,
    /// The table as memory, where that can be.
    near: Option<Arc<Near<'t>>>,
    /// Numbers of own nodes that were given out but not needed.
    pub(crate) spare: Vec<usize>,
    pub(crate) traffic: Traffic,
}

impl<S> Drop for Finder<'_, S> {
    fn drop(&mut self) {
        let mut left = self.table.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.numbers.append(&mut self.spare);
        left.traffic.add(&self.traffic);
    }
}

/// Why searches end early.
pub(crate) enum Stop {
    Full,
    Fabric(FabricError),
}

impl Stop {
    /// A full table; anything else is a fault of this crate.
    pub(crate) fn into_full(self) -> Full {
        match self {
            Stop::Full => Full,
            Stop::Fabric(error) => panic!("{error}"),
        }
    }
}

impl From<FabricError> for Stop {
    fn from(error: FabricError) -> Stop {
        Stop::Fabric(error)
    }
}

/// A search with what it waits for, and its place among the results.
struct Active<S: Segment> {
    result: usize,
    search: Search,
    flight: Flight<S>,
    ahead: Option<Ahead<S>>,
    /// The number of the own node that it offers in a swap.
    offered: Option<usize>,
}

/// A chunk that a search may need next.
struct Ahead<S: Segment> {
    slot: usize,
    /// How many slots it has.
    words: usize,
    pending: S::Words,
}

impl<S: Segment> Find for Finder<'_, S> {
    /// # Panics
    /// If the fabric refuses a place in the table, which would be a fault of this crate.
    fn find_or_put(&mut self, nodes: &[Node]) -> Result<Vec<Found>, Full> {
        let found = match self.near.clone() {
            Some(near) => self.search_near(&near, nodes),
            None => self.search_far(nodes),
        };
        found.map_err(Stop::into_full)
    }

    fn traffic(&self) -> &Traffic {
        &self.traffic
    }
}

impl<S: Segment> Finder<'_, S> {
    fn search_far(&mut self, nodes: &[Node]) -> Result<Vec<Found>, Stop> {
        let mut results = vec![None; nodes.len()];
        self.search_all(nodes, &mut results)?;
        Ok(results.into_iter().map(|found| found.expect("every search ends")).collect())
    }

    fn search_all(&mut self, nodes: &[Node], results: &mut [Option<Found>]) -> Result<(), Stop> {
        let mut waiting = nodes.iter().enumerate();
        let mut active: Vec<Active<S>> = Vec::with_capacity(WINDOW.min(nodes.len()));
        for (result, &node) in waiting.by_ref().take(WINDOW) {
            active.push(self.begin(result, node)?);
        }
        let (mut at, mut is_full) = (0, false);
        while !active.is_empty() {
            at %= active.len();
            if !active[at].flight.test() {
                at += 1;
                continue;
            }
            let one = active.swap_remove(at);
            let result = one.result;
            match self.advance(one) {
                Ok(Ok(found)) => {
                    results[result] = Some(found);
                    if !is_full && let Some((result, &node)) = waiting.next() {
                        active.push(self.begin(result, node)?);
                    }
                }
                Ok(Err(still)) => active.push(still),
                // Others come to their end, or the nodes that they offer in vain would be lost.
                Err(Stop::Full) => is_full = true,
                Err(stop) => return Err(stop),
            }
        }
        if is_full { Err(Stop::Full) } else { Ok(()) }
    }

    fn begin(&mut self, result: usize, node: Node) -> Result<Active<S>, Stop> {
        let search = Search::new(node, |hash| self.table.shape.slot_of(hash));
        let need = Need::Chunk { slot: search.slot() };
        let mut ahead = None;
        let (flight, offered) = self.request(&search, need, &mut ahead)?;
        Ok(Active { result, search, flight, ahead, offered })
    }

    /// Take the answer that has arrived; the result, or the search with its next request.
    fn advance(&mut self, one: Active<S>) -> Result<Result<Found, Active<S>>, Stop> {
        let way = self.table.way();
        let Active { result, mut search, flight, mut ahead, offered } = one;
        let step = match flight {
            Flight::Chunk(pending) => search.take_chunk(pending.wait(), way),
            Flight::Node { pending, position } => search.take_node(&pending.wait(), position, way),
            Flight::Swap { pending, entry } => {
                let old = pending.wait();
                if old == 0 {
                    let position = entry.position().expect("made from a position");
                    return Ok(Ok(Found { position, new: true }));
                }
                self.spare.extend(offered);
                search.take_lost_slot(old, way)
            }
        };
        match step {
            Step::Found(position) => Ok(Ok(Found { position, new: false })),
            Step::Need(need) => {
                let (flight, offered) = self.request(&search, need, &mut ahead)?;
                Ok(Err(Active { result, search, flight, ahead, offered }))
            }
        }
    }

    /// Ask a rank for what a search needs.
    fn request(
        &mut self,
        search: &Search,
        need: Need,
        ahead: &mut Option<Ahead<S>>,
    ) -> Result<(Flight<S>, Option<usize>), Stop> {
        let table = self.table;
        match need {
            Need::Chunk { slot } => {
                if search.looked >= table.shape.slots() {
                    return Err(Stop::Full);
                }
                // A chunk that was asked for in time may be old. What is taken in it stays so, and what is not will be found out
                // by the swap.
                let (pending, words) = match ahead.take() {
                    Some(Ahead { slot: begin, words, pending }) if begin == slot => (pending, words),
                    _ => self.request_chunk(slot)?,
                };
                if table.reads_ahead {
                    let slot = search.next_chunk(words, table.way());
                    let (pending, words) = self.request_chunk(slot)?;
                    *ahead = Some(Ahead { slot, words, pending });
                }
                Ok((Flight::Chunk(pending), None))
            }
            Need::Node { position } => {
                let place = table.shape.node_place(position);
                self.count(place, |traffic| &mut traffic.nodes);
                Ok((Flight::Node { pending: table.nodes.start_get(place, NODE_WORDS)?, position }, None))
            }
            Need::Swap { slot } => {
                let number = self.own_number()?;
                let entry = Entry::new(search.hash, self.write(number, search.node));
                let place = table.shape.slot_place(slot);
                self.count(place, |traffic| &mut traffic.swaps);
                Ok((
                    Flight::Swap { pending: table.index.start_compare_and_swap(place, 0, entry.0)?, entry },
                    Some(number),
                ))
            }
        }
    }

    /// Ask for the chunk that begins here; and how many slots it has.
    fn request_chunk(&mut self, slot: usize) -> Result<(S::Words, usize), Stop> {
        let table = self.table;
        let place = table.shape.slot_place(slot);
        // A chunk ends where the part of its rank does.
        let words = table.chunks.slots(table.load()).min(table.shape.sizes.slots - place.offset);
        self.count(place, |traffic| &mut traffic.chunks);
        Ok((table.index.start_get(place, words)?, words))
    }

    pub(crate) fn count(&mut self, place: Place, kind: impl FnOnce(&mut Traffic) -> &mut [u64; 3]) {
        let reach = self.table.reaches[place.rank];
        kind(&mut self.traffic)[reach as usize] += 1;
    }

    /// The number of an own node that nobody uses.
    pub(crate) fn own_number(&mut self) -> Result<usize, Stop> {
        if let Some(number) = self.spare.pop() {
            return Ok(number);
        }
        // Relaxed: each number is given once, and that is all.
        let number = self.table.given.fetch_add(1, Ordering::Relaxed);
        if number < self.table.shape.sizes.nodes {
            return Ok(number);
        }
        // Relaxed: as above.
        self.table.given.fetch_sub(1, Ordering::Relaxed);
        self.table.left().numbers.pop().ok_or(Stop::Full)
    }

    /// Write an own node, and say where it is. Nobody knows the place yet.
    pub(crate) fn write(&self, number: usize, node: Node) -> Position {
        let table = self.table;
        let words = &table.nodes.local()[number * NODE_WORDS..][..NODE_WORDS];
        for (word, new) in words.iter().zip(node) {
            // Release: with the swap that publishes the position, whoever reads that sees this (D2).
            word.store(new, Ordering::Release);
        }
        table.shape.position(table.nodes.rank(), number)
    }
}
