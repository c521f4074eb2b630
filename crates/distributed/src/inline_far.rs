//! Searches in one array through the fabric: many are under way at a time, each waiting for one answer.

use crate::Node;
use crate::chunks::Way;
use crate::contract::Found;
use crate::inline::{Inline, InlineFinder};
use crate::one_sided::Stop;
use crate::shape::hash;
use crate::slot::{SLOT_WORDS, Sight, SlotWords, compare, encode};
use std::thread;
use tremula_fabric::{Pending, Segment};

/// Searches of one worker that are under way at a time.
const WINDOW: usize = 64;

/// What a search needs next.
enum Need {
    /// The chunk that begins where it is.
    Chunk,
    /// The same chunk once more: a slot in it is unfinished.
    Again,
    /// To claim the slot where it is.
    Swap,
    /// Nothing: the node is in the slot where it is.
    Nothing,
}

/// What a search waits for.
enum Flight<S: Segment> {
    Chunk(S::Words),
    Swap(S::Word),
    /// The words behind the first one, in a slot that it has claimed.
    Rest([S::Word; 2]),
}

impl<S: Segment> Flight<S> {
    fn test(&mut self) -> bool {
        match self {
            Flight::Chunk(pending) => pending.test(),
            Flight::Swap(pending) => pending.test(),
            // Both, so that both get along.
            Flight::Rest(pending) => pending.iter_mut().map(Pending::test).fold(true, |all, one| all & one),
        }
    }
}

/// A search.
struct Search {
    wanted: SlotWords,
    /// Where it began.
    home: usize,
    /// The first slot of the chunk, and how many it has.
    begin: usize,
    slots: usize,
    /// The number of the chunk.
    number: usize,
    chunk: Vec<u64>,
    /// The slot of the chunk that is looked at.
    at: usize,
    /// Slots that were looked at in chunks before.
    looked: usize,
}

impl Search {
    fn new(node: Node, home: usize) -> Search {
        let wanted = encode(node);
        Search { wanted, home, begin: home, slots: 0, number: 0, chunk: Vec::new(), at: 0, looked: 0 }
    }

    /// The slot where it is.
    fn slot(&self) -> usize {
        self.begin + self.at
    }

    /// Look at slots, from the present one on.
    fn look(&mut self, way: Way) -> Need {
        while let Some(words) = self.chunk.get(self.at * SLOT_WORDS..(self.at + 1) * SLOT_WORDS) {
            match compare([words[0], words[1], words[2]], self.wanted) {
                Sight::Free => return Need::Swap,
                Sight::Equal => return Need::Nothing,
                Sight::Unfinished => return Need::Again,
                Sight::Other => self.at += 1,
            }
        }
        self.number += 1;
        self.looked += self.slots;
        self.begin = way.next(self.home, self.number, self.begin + self.slots);
        (self.chunk, self.at) = (Vec::new(), 0);
        Need::Chunk
    }

    /// Somebody else has claimed the slot, with this first word.
    fn lose_slot(&mut self, first: u64) {
        self.chunk[self.at * SLOT_WORDS] = first;
    }
}

/// A search with what it waits for, and its place among the results.
struct Active<S: Segment> {
    result: usize,
    search: Search,
    flight: Flight<S>,
}

impl<S: Segment> InlineFinder<'_, S> {
    pub(crate) fn search_far(&mut self, nodes: &[Node]) -> Result<Vec<Found>, Stop> {
        let mut results = vec![None; nodes.len()];
        let mut waiting = nodes.iter().enumerate();
        let mut active: Vec<Active<S>> = Vec::with_capacity(WINDOW.min(nodes.len()));
        for (result, &node) in waiting.by_ref().take(WINDOW) {
            active.push(self.begin(result, node)?);
        }
        let (mut at, mut is_full) = (0, false);
        while !active.is_empty() {
            at %= active.len();
            if active[at].flight.test() {
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
                    // Others may have claimed slots, and would leave them unfinished (I4): all come to their end.
                    Err(Stop::Full) => is_full = true,
                    Err(stop) => return Err(stop),
                }
            }
            at += 1;
        }
        if is_full {
            return Err(Stop::Full);
        }
        Ok(results.into_iter().map(|found| found.expect("every search ends")).collect())
    }

    fn begin(&mut self, result: usize, node: Node) -> Result<Active<S>, Stop> {
        let mut search = Search::new(node, self.table.shape.slot_of(hash(node)));
        let flight = self.request_chunk(&mut search)?;
        Ok(Active { result, search, flight })
    }

    /// Take the answer that has arrived; the result, or the search with its next request.
    fn advance(&mut self, one: Active<S>) -> Result<Result<Found, Active<S>>, Stop> {
        let Active { result, mut search, flight } = one;
        let place = self.table.shape.slot_place(search.slot());
        match flight {
            Flight::Chunk(pending) => search.chunk = pending.wait(),
            Flight::Swap(pending) => match pending.wait() {
                0 => {
                    let flight = Flight::Rest(self.start_rest(place, &search.wanted)?);
                    return Ok(Err(Active { result, search, flight }));
                }
                first => search.lose_slot(first),
            },
            Flight::Rest(pending) => {
                for word in pending {
                    word.wait();
                }
                return Ok(Ok(Found { position: self.table.position(place), new: true }));
            }
        }
        let need = search.look(self.table.way());
        let place = self.table.shape.slot_place(search.slot());
        let flight = match need {
            Need::Nothing => return Ok(Ok(Found { position: self.table.position(place), new: false })),
            Need::Chunk if search.looked >= self.table.shape.slots() => return Err(Stop::Full),
            Need::Chunk => self.request_chunk(&mut search)?,
            Need::Again => {
                // Whoever has claimed the slot may need this processor.
                thread::yield_now();
                self.request_slots(&search)?
            }
            Need::Swap => {
                self.count(place, |traffic| &mut traffic.swaps, 1);
                let first = Inline::<S>::word_place(place, 0);
                Flight::Swap(self.table.slots.start_compare_and_swap(first, 0, search.wanted[0])?)
            }
        };
        Ok(Err(Active { result, search, flight }))
    }

    /// Ask for the chunk at which a search has come.
    fn request_chunk(&mut self, search: &mut Search) -> Result<Flight<S>, Stop> {
        let place = self.table.shape.slot_place(search.begin);
        // A chunk ends where the part of its rank does.
        search.slots = self.table.chunk().min(self.table.shape.sizes.slots - place.offset);
        self.request_slots(search)
    }

    fn request_slots(&mut self, search: &Search) -> Result<Flight<S>, Stop> {
        let place = self.table.shape.slot_place(search.begin);
        self.count(place, |traffic| &mut traffic.chunks, 1);
        let first = Inline::<S>::word_place(place, 0);
        Ok(Flight::Chunk(self.table.slots.start_get(first, search.slots * SLOT_WORDS)?))
    }
}
