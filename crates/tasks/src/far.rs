//! The words through which the gates of several hosts talk, and what they do to each other's.
//!
//! Each rank has the same words. *Request*: who asks for tasks, put there by compare-and-swap where nobody else asks, and taken out by
//! the owner, through the fabric. *Answer*: a state, and tasks. It is written by the rank that was asked, and belongs to the
//! request that its state names. *Results*: a state and a value for each task that the rank has given away, written by the rank that
//! has run it. *Over* and *poisoned*: the number of the last run that has ended, written by rank 0, and of the last in which a task has
//! panicked, written by the rank where it did.
//!
//! Whatever a state speaks of is written and flushed before the state is written, so whoever sees the state sees that too. A request
//! that is there is changed by its owner only, since an exchange for a vacant one fails; so it does not matter in which way.

use crate::plain::{MOST_WORDS, Plain, Words};
use std::sync::atomic::{AtomicU64, Ordering};
use tremula_fabric::{Fabric, FabricError, Place, Segment, Update};

/// Tasks of an answer, at most.
pub const MOST_TASKS: usize = 16;
/// Tasks of one rank that others can have at a time.
pub const SLOTS: usize = 256;

const REQUEST: usize = 0;
const OVER: usize = 1;
const POISONED: usize = 2;
const ANSWER: usize = 3;
const TASKS: usize = ANSWER + 1;
const RESULTS: usize = TASKS + MOST_TASKS * (1 + MOST_WORDS);
/// State and value.
const RESULT: usize = 2;
/// Words of each rank.
const WORDS: usize = RESULTS + SLOTS * RESULT;

/// Nobody asks.
const VACANT: u64 = 0;
/// Bits of a request for the rank; the others are its number.
const RANK_BITS: u32 = 24;
/// Bits of the state of an answer for the number of tasks, plus one; the others name the request.
const COUNT_BITS: u32 = 8;

const PENDING: u64 = 0;
const DONE: u64 = 1;
const FAILED: u64 = 2;

/// Words of a task in an answer: where its result belongs, and its own.
const fn length<T: Plain>() -> usize {
    1 + T::Words::LENGTH
}

/// What ranks can do to each other's words, whatever their fabric is.
trait Reach {
    fn rank(&self) -> usize;
    fn own(&self) -> &[AtomicU64];
    fn put(&self, rank: usize, offset: usize, words: &[u64]) -> Result<(), FabricError>;
    fn compare_and_swap(&self, rank: usize, offset: usize, expected: u64, new: u64) -> Result<u64, FabricError>;
    fn replace(&self, offset: usize, new: u64) -> Result<u64, FabricError>;
    fn barrier(&self);
}

/// A fabric and memory of it.
struct Reached<'f, F: Fabric> {
    fabric: &'f F,
    segment: F::Segment,
}

impl<F: Fabric> Reach for Reached<'_, F> {
    fn rank(&self) -> usize {
        self.fabric.rank()
    }

    fn own(&self) -> &[AtomicU64] {
        self.segment.local()
    }

    fn put(&self, rank: usize, offset: usize, words: &[u64]) -> Result<(), FabricError> {
        self.segment.put(Place { rank, offset }, words)?;
        self.segment.flush(rank)
    }

    fn compare_and_swap(&self, rank: usize, offset: usize, expected: u64, new: u64) -> Result<u64, FabricError> {
        self.segment.compare_and_swap(Place { rank, offset }, expected, new)
    }

    fn replace(&self, offset: usize, new: u64) -> Result<u64, FabricError> {
        self.segment.fetch_with(Place { rank: self.fabric.rank(), offset }, Update::Replace, new)
    }

    fn barrier(&self) {
        self.fabric.barrier();
    }
}

/// One who asks for tasks.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// The rank.
    pub rank: usize,
    /// Which of its requests this is.
    pub number: u64,
}

/// The words of all ranks, as one of them sees them. A network that fails ends the program: so do all users of a fabric.
pub struct Far<'f> {
    reach: Box<dyn Reach + 'f>,
    ranks: usize,
}

/// What a fabric refuses here is a fault of this program, or a lost rank, of which the fabric's monitor tells.
fn there<T>(outcome: Result<T, FabricError>) -> T {
    outcome.unwrap_or_else(|problem| panic!("between hosts: {problem}"))
}

impl<'f> Far<'f> {
    /// *Collective.* Words of all ranks.
    pub fn new<F: Fabric>(fabric: &'f F) -> Result<Far<'f>, FabricError> {
        let segment = fabric.allocate(WORDS)?;
        Ok(Far { reach: Box::new(Reached { fabric, segment }), ranks: fabric.ranks() })
    }

    pub fn rank(&self) -> usize {
        self.reach.rank()
    }

    fn own(&self, offset: usize) -> &AtomicU64 {
        &self.reach.own()[offset]
    }

    /// *Collective.* At the end of a run: nobody asks any more, and what was asked is answered or forgotten.
    pub fn part(&self) {
        self.reach.barrier();
        there(self.reach.replace(REQUEST, VACANT));
        self.reach.barrier();
    }

    // ---- asking -------------------------------------------------------------------------------------------------

    /// Ask `rank`; false if somebody else does already.
    pub fn ask(&self, rank: usize, number: u64) -> bool {
        let request = number << RANK_BITS | self.rank() as u64;
        there(self.reach.compare_and_swap(rank, REQUEST, VACANT, request)) == VACANT
    }

    /// The tasks that have come for request `number`, and where their results belong; none while there is no answer.
    pub fn answer<T: Plain>(&self, number: u64) -> Option<Vec<(T, u64)>> {
        // Acquire: the words of the tasks were there before this one.
        let state = self.own(ANSWER).load(Ordering::Acquire);
        if state >> COUNT_BITS != number {
            return None;
        }
        let count = (state & ((1 << COUNT_BITS) - 1)) as usize - 1;
        // Relaxed: ordered by the Acquire above.
        let word = |offset: usize| self.own(offset).load(Ordering::Relaxed);
        let task = |at: usize| (T::from_words(T::Words::from_fn(|word_at| word(at + 1 + word_at))), word(at));
        Some((0..count).map(|number| task(TASKS + number * length::<T>())).collect())
    }

    /// Deliver the result of a task that `rank` has given; none if it has panicked.
    pub fn deliver(&self, rank: usize, slot: u64, result: Option<u64>) {
        let at = RESULTS + slot as usize * RESULT;
        if let Some(value) = result {
            there(self.reach.put(rank, at + 1, &[value]));
        }
        there(self.reach.put(rank, at, &[if result.is_some() { DONE } else { FAILED }]));
    }

    // ---- being asked --------------------------------------------------------------------------------------------

    /// Who asks for tasks. The next one may do so from now on.
    pub fn next_request(&self) -> Option<Request> {
        // Relaxed: a request publishes nothing but itself.
        if self.own(REQUEST).load(Ordering::Relaxed) == VACANT {
            return None;
        }
        let request = there(self.reach.replace(REQUEST, VACANT));
        Some(Request { rank: (request & ((1 << RANK_BITS) - 1)) as usize, number: request >> RANK_BITS })
    }

    /// Give these tasks, at most [`MOST_TASKS`], whose results belong into these slots; none is an answer, too.
    pub fn give<T: Plain>(&self, to: Request, tasks: &[(T, usize)]) {
        let mut words = Vec::with_capacity(tasks.len() * length::<T>());
        for &(task, slot) in tasks {
            words.push(slot as u64);
            words.extend(task.to_words().as_ref());
        }
        if !words.is_empty() {
            there(self.reach.put(to.rank, TASKS, &words));
        }
        there(self.reach.put(to.rank, ANSWER, &[to.number << COUNT_BITS | (1 + tasks.len() as u64)]));
    }

    /// A result is expected in this slot. Before the task is given.
    pub fn expect(&self, slot: usize) {
        // Relaxed: what is put there comes after the task, which is given after this.
        self.own(RESULTS + slot * RESULT).store(PENDING, Ordering::Relaxed);
    }

    /// What has arrived in this slot: the result, or none where the task has panicked.
    pub fn arrived(&self, slot: usize) -> Option<Option<u64>> {
        let at = RESULTS + slot * RESULT;
        // Acquire: the value was there before the state.
        match self.own(at).load(Ordering::Acquire) {
            PENDING => None,
            // Relaxed: ordered by the Acquire above.
            DONE => Some(Some(self.own(at + 1).load(Ordering::Relaxed))),
            _ => Some(None),
        }
    }

    // ---- the end ------------------------------------------------------------------------------------------------

    /// Tell all others that a run is over.
    pub fn end(&self, run: u64) {
        self.tell_all(OVER, run);
    }

    /// Is it over?
    pub fn is_over(&self, run: u64) -> bool {
        // Acquire: if a task of the run has panicked, that was told before.
        self.own(OVER).load(Ordering::Acquire) == run
    }

    /// Tell all others that a task of a run has panicked.
    pub fn poison(&self, run: u64) {
        self.tell_all(POISONED, run);
    }

    /// Has one?
    pub fn is_poisoned(&self, run: u64) -> bool {
        // Relaxed: nothing else is read because of it.
        self.own(POISONED).load(Ordering::Relaxed) == run
    }

    fn tell_all(&self, offset: usize, run: u64) {
        let others = (0..self.ranks).filter(|&rank| rank != self.rank());
        others.for_each(|rank| there(self.reach.put(rank, offset, &[run])));
    }
}
