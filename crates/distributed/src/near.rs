//! Searches where this process can address the memory of all ranks.
//!
//! Nothing has to be asked for, but memory is slow as well. So a window of searches goes through three stages together:
//! reading the first slots, reading the nodes that may be equal, and the rest one by one. The reads of a stage do not depend
//! on each other, so that the processor waits for many at a time.

use crate::Node;
use crate::contract::Found;
use crate::one_sided::{Finder, Stop};
use crate::shape::{Entry, NODE_WORDS, Position, hash};
use crate::walk::{Walk, Walker};
use std::sync::atomic::{AtomicU64, Ordering};
use tremula_fabric::{Place, Segment};

/// Searches that go through the stages together.
const WINDOW: usize = 64;

/// The table as plain memory, by rank.
#[derive(Debug)]
pub(crate) struct Near<'t> {
    index: Vec<&'t [AtomicU64]>,
    nodes: Vec<&'t [AtomicU64]>,
}

impl<'t> Near<'t> {
    /// The table, if all of it can be addressed.
    pub(crate) fn of<S: Segment>(index: &'t S, nodes: &'t S) -> Option<Near<'t>> {
        let parts = |segment: &'t S| (0..segment.ranks()).map(|rank| segment.mapped(rank)).collect::<Option<_>>();
        Some(Near { index: parts(index)?, nodes: parts(nodes)? })
    }

    fn slot(&self, place: Place) -> u64 {
        // Acquire: with an entry comes the node that it stands for (D2).
        self.index[place.rank][place.offset].load(Ordering::Acquire)
    }

    /// Read a node without looking at it, so that it is close when it is needed.
    fn fetch(&self, place: Place) {
        // Relaxed, here and below: the entry was read with Acquire, and nodes never change.
        std::hint::black_box(self.nodes[place.rank][place.offset].load(Ordering::Relaxed));
    }

    fn holds(&self, place: Place, node: &Node) -> bool {
        let words = &self.nodes[place.rank][place.offset..][..NODE_WORDS];
        words.iter().zip(node).all(|(stored, &word)| stored.load(Ordering::Relaxed) == word)
    }
}

/// What a search has come to.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Sight {
    /// A slot that nobody has taken.
    Free,
    /// A node that may be the one, and where its words are.
    Candidate(Position, Place),
    /// The slot at which it began: there is no free one.
    Nothing,
}

/// A search, and where it is.
struct Cursor {
    node: Node,
    hash: u64,
    walk: Walk,
    /// What is in the slot.
    word: u64,
}

/// How the searches of a thread read the table.
struct Reading<'r, 't> {
    near: &'r Near<'t>,
    walker: Walker<'r>,
}

impl Reading<'_, '_> {
    /// A search that has read its first slot.
    fn begin(&mut self, node: Node) -> Cursor {
        let hash = hash(node);
        let walk = self.walker.begin(hash);
        Cursor { node, hash, word: self.near.slot(walk.place), walk }
    }

    /// Go on to the next slot that matters, and fetch the node that it may stand for.
    fn look(&mut self, cursor: &mut Cursor) -> Sight {
        loop {
            match Entry(cursor.word).position() {
                None => return Sight::Free,
                Some(position) if Entry(cursor.word).may_be(cursor.hash) => {
                    let place = self.walker.shape.node_place(position);
                    self.near.fetch(place);
                    return Sight::Candidate(position, place);
                }
                Some(_) if !self.step(cursor) => return Sight::Nothing,
                Some(_) => {}
            }
        }
    }

    /// Pass a slot; false if that was the last one.
    fn step(&mut self, cursor: &mut Cursor) -> bool {
        let goes_on = self.walker.step(&mut cursor.walk);
        if goes_on {
            cursor.word = self.near.slot(cursor.walk.place);
        }
        goes_on
    }
}

impl<S: Segment> Finder<'_, S> {
    /// Search in memory, window by window.
    pub(crate) fn search_near(&mut self, near: &Near, nodes: &[Node]) -> Result<Vec<Found>, Stop> {
        let table = self.table;
        let (shape, chunk, reaches) = (table.shape, table.chunks.slots(table.load()), &table.reaches[..]);
        let mut reading = Reading { near, walker: Walker { shape, way: table.way(), chunk, reaches, count: [0; 3] } };
        let (mut found, mut cursors) = (Vec::with_capacity(nodes.len()), Vec::with_capacity(WINDOW));
        let outcome = nodes.chunks(WINDOW).try_for_each(|window| {
            cursors.clear();
            cursors.extend(window.iter().map(|&node| reading.begin(node)));
            self.search_window(&mut reading, &mut cursors, &mut found)
        });
        self.traffic.chunks.iter_mut().zip(reading.walker.count).for_each(|(sum, count)| *sum += count);
        outcome.map(|()| found)
    }

    /// The second and the third stage.
    fn search_window(
        &mut self,
        reading: &mut Reading,
        cursors: &mut [Cursor],
        found: &mut Vec<Found>,
    ) -> Result<(), Stop> {
        let mut sights = [Sight::Nothing; WINDOW];
        for (cursor, sight) in cursors.iter_mut().zip(&mut sights) {
            *sight = reading.look(cursor);
        }
        for (cursor, sight) in cursors.iter_mut().zip(sights) {
            found.push(self.search_on(reading, cursor, sight)?);
        }
        Ok(())
    }

    /// Was a slot taken since it was seen free? The search then has its word: an own node need not be offered in vain.
    fn is_taken_by_now(&self, reading: &Reading, cursor: &mut Cursor) -> bool {
        cursor.word = reading.near.slot(cursor.walk.place);
        Entry(cursor.word).position().is_some()
    }

    /// What comes of a search that has got to this.
    fn search_on(&mut self, reading: &mut Reading, cursor: &mut Cursor, mut sight: Sight) -> Result<Found, Stop> {
        loop {
            match sight {
                Sight::Nothing => return Err(Stop::Full),
                Sight::Candidate(position, place) => {
                    self.count(place, |traffic| &mut traffic.nodes);
                    if reading.near.holds(place, &cursor.node) {
                        return Ok(Found { position, new: false });
                    }
                    if !reading.step(cursor) {
                        return Err(Stop::Full);
                    }
                }
                Sight::Free if self.is_taken_by_now(reading, cursor) => {}
                Sight::Free => {
                    let number = self.own_number()?;
                    let position = self.write(number, cursor.node);
                    let entry = Entry::new(cursor.hash, position);
                    self.count(cursor.walk.place, |traffic| &mut traffic.swaps);
                    let old = self.table.index.compare_and_swap(cursor.walk.place, 0, entry.0)?;
                    if old == 0 {
                        return Ok(Found { position, new: true });
                    }
                    self.spare.push(number);
                    cursor.word = old;
                }
            }
            sight = reading.look(cursor);
        }
    }
}
