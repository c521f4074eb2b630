//! The cells through which workers hand each other tasks and results.
//!
//! A *transfer cell* belongs to a thief, which waits there for the answer to its one outstanding request. A *result cell*
//! belongs to a victim, one for each task that it has given away. A cell's words are written by one side only, before its
//! state is stored with Release, and read by the other after it has seen that state with Acquire.
//!
//! Tasks lie in a transfer cell one after the other, each with a word that says where its result belongs. They have as many
//! words as their type says, so the short ones lie close together: one of six words or fewer is in the cache line of the
//! cell's state. An answer carries fewer of the long ones.

use crate::plain::{MOST_WORDS, Plain, Words};
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// Tasks that one answer can carry, if they are short.
const MOST_TASKS: usize = if cfg!(loom) { 2 } else { 16 };
/// Words of a task of which that many fit in.
const SHORT: usize = 4;
/// Words of a transfer cell; loom keeps a history of each.
const ROOM: usize = if cfg!(loom) { 1 + MOST_WORDS } else { MOST_TASKS * (1 + SHORT) };
const _: () = assert!(MOST_WORDS < ROOM, "a single task of any length fits in");

/// Tasks of this type that one answer can carry, at least one.
pub const fn most_tasks<T: Plain>() -> usize {
    let fitting = ROOM / (1 + T::Words::LENGTH);
    if fitting < MOST_TASKS { fitting } else { MOST_TASKS }
}

/// A task on its way, and where its result belongs.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Parcel<T> {
    /// The task.
    pub task: T,
    /// The worker that spawned it.
    pub victim: u32,
    /// Number of the result cell there.
    pub position: u32,
}

/// Where a worker receives tasks.
#[repr(C)]
pub struct Transfer {
    state: AtomicU32,
    /// For each task where its result belongs, then its words.
    words: [AtomicU64; ROOM],
}

/// Nothing is expected.
const CLOSED: u32 = 0;
/// A request is out.
const AWAITED: u32 = 1;
/// The worker sleeps, and would take a gift.
const WANTED: u32 = 2;
/// Somebody is about to fill the cell.
const RESERVED: u32 = 3;
/// This much and the number of tasks: an answer is there.
const ANSWERED: u32 = 4;

impl Transfer {
    /// A cell that expects nothing.
    pub fn new() -> Transfer {
        Transfer { state: AtomicU32::new(CLOSED), words: std::array::from_fn(|_| AtomicU64::new(0)) }
    }

    /// Expect an answer. By the owner, before the request.
    pub fn expect_answer(&self) {
        // Relaxed: the request itself publishes it.
        self.state.store(AWAITED, Ordering::Relaxed);
    }

    /// Invite a gift. By the owner.
    pub fn invite(&self) {
        // Release pairs with the Acquire in `reserve`: an earlier content of the cell has been read.
        self.state.store(WANTED, Ordering::Release);
    }

    /// Is a gift wanted here?
    pub fn is_wanted(&self) -> bool {
        // Relaxed: a hint; `reserve` decides.
        self.state.load(Ordering::Relaxed) == WANTED
    }

    /// Withdraw the invitation; false if somebody has accepted it, and the owner must wait for the gift. By the owner.
    pub fn withdraw(&self) -> bool {
        // Relaxed: both outcomes say nothing about other memory; a gift is read after `take`.
        self.state.compare_exchange(WANTED, CLOSED, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Become the one who gives. Must be followed by [`Transfer::answer`].
    pub fn reserve(&self) -> bool {
        // Acquire pairs with the Release in `invite`; on failure nothing is read.
        self.state.compare_exchange(WANTED, RESERVED, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Hand over tasks, at most [`most_tasks`]; none is an answer too. By the worker that was asked, or that has reserved the
    /// cell.
    pub fn answer<T: Plain>(&self, parcels: impl IntoIterator<Item = Parcel<T>>) {
        let mut count = 0;
        // Places first: what has left `parcels` must not find that there is none.
        for (cells, parcel) in self.places::<T>().zip(parcels) {
            let origin = u64::from(parcel.victim) << 32 | u64::from(parcel.position);
            // Relaxed, both: published by the Release below.
            cells[0].store(origin, Ordering::Relaxed);
            for (cell, &word) in cells[1..].iter().zip(parcel.task.to_words().as_ref()) {
                cell.store(word, Ordering::Relaxed);
            }
            count += 1;
        }
        // Release pairs with the Acquire in `take`.
        self.state.store(ANSWERED + count, Ordering::Release);
    }

    /// The answer, if it is there; the cell is closed then. By the owner.
    pub fn take<T: Plain>(&self, mut receive: impl FnMut(Parcel<T>)) -> bool {
        // Acquire pairs with the Release in `answer`.
        let state = self.state.load(Ordering::Acquire);
        if state < ANSWERED {
            return false;
        }
        for cells in self.places::<T>().take((state - ANSWERED) as usize) {
            // Relaxed, both: ordered by the Acquire above.
            let origin = cells[0].load(Ordering::Relaxed);
            let task = T::from_words(T::Words::from_fn(|at| cells[1 + at].load(Ordering::Relaxed)));
            receive(Parcel { task, victim: (origin >> 32) as u32, position: origin as u32 });
        }
        // Relaxed: the next `expect_answer` or `invite` is by this thread too.
        self.state.store(CLOSED, Ordering::Relaxed);
        true
    }

    /// Where tasks of this type lie.
    fn places<T: Plain>(&self) -> impl Iterator<Item = &[AtomicU64]> {
        self.words.chunks_exact(1 + T::Words::LENGTH).take(most_tasks::<T>())
    }
}

/// What became of a task that was given away.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Not finished.
    Pending,
    /// Its result.
    Done(u64),
    /// It panicked.
    Failed,
}

/// Where the result of a task that was given away arrives.
#[derive(Default)]
#[repr(C)]
pub struct ResultCell {
    state: AtomicU32,
    value: AtomicU64,
}

const PENDING: u32 = 0;
const DONE: u32 = 1;
const FAILED: u32 = 2;

impl ResultCell {
    /// Expect a result. By the victim, before it gives the task away.
    pub fn expect(&self) {
        // Relaxed: the transfer cell publishes it with the task.
        self.state.store(PENDING, Ordering::Relaxed);
    }

    /// Deliver the result; none if the task has panicked. By the thief.
    pub fn deliver(&self, result: Option<u64>) {
        if let Some(value) = result {
            // Relaxed: published by the Release below.
            self.value.store(value, Ordering::Relaxed);
        }
        // Release pairs with the Acquire in `outcome`.
        self.state.store(if result.is_some() { DONE } else { FAILED }, Ordering::Release);
    }

    /// What became of it. By the victim.
    pub fn outcome(&self) -> Outcome {
        // Acquire pairs with the Release in `deliver`.
        match self.state.load(Ordering::Acquire) {
            PENDING => Outcome::Pending,
            // Relaxed: ordered by the Acquire above.
            DONE => Outcome::Done(self.value.load(Ordering::Relaxed)),
            _ => Outcome::Failed,
        }
    }
}

/// The result cells of a victim, by position.
#[repr(C)]
pub struct ResultCells {
    cells: [ResultCell; ResultCells::MOST],
}

impl ResultCells {
    /// How many there are. Tasks that lie deeper are not given away.
    pub const MOST: usize = if cfg!(any(loom, shuttle)) { 8 } else { 1 << 14 };

    /// The cell at a position below [`ResultCells::MOST`].
    pub fn cell(&self, position: usize) -> &ResultCell {
        &self.cells[position]
    }
}

impl Default for ResultCells {
    fn default() -> ResultCells {
        ResultCells { cells: std::array::from_fn(|_| ResultCell::default()) }
    }
}
