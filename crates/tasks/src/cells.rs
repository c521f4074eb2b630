//! The cells through which workers hand each other tasks and results.
//!
//! A *transfer cell* belongs to a thief, which waits there for the answer to its one outstanding request. A *result cell*
//! belongs to a victim, one for each task that it has given away. A cell's words are written by one side only, before its
//! state is stored with Release, and read by the other after it has seen that state with Acquire.

use crate::plain::WORDS;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// Tasks that one answer can carry.
pub const MOST_TASKS: usize = if cfg!(loom) { 2 } else { 16 };

/// A task on its way: its words, and where its result belongs.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Parcel {
    /// The task.
    pub words: [u64; WORDS],
    /// The worker that spawned it.
    pub victim: u32,
    /// Number of the result cell there.
    pub position: u32,
}

#[derive(Default)]
#[repr(C)]
struct Slot {
    words: [AtomicU64; WORDS],
    origin: AtomicU64,
}

/// Where a worker receives tasks.
#[repr(C)]
pub struct Transfer {
    state: AtomicU32,
    slots: [Slot; MOST_TASKS],
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
        Transfer { state: AtomicU32::new(CLOSED), slots: std::array::from_fn(|_| Slot::default()) }
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

    /// Hand over tasks; none is an answer too. By the worker that was asked, or that has reserved the cell.
    pub fn answer(&self, parcels: &[Parcel]) {
        for (slot, parcel) in self.slots.iter().zip(parcels) {
            // Relaxed: published by the Release below.
            for (cell, word) in slot.words.iter().zip(parcel.words) {
                cell.store(word, Ordering::Relaxed);
            }
            slot.origin.store(u64::from(parcel.victim) << 32 | u64::from(parcel.position), Ordering::Relaxed);
        }
        // Release pairs with the Acquire in `take`.
        self.state.store(ANSWERED + parcels.len() as u32, Ordering::Release);
    }

    /// The answer, if it is there; the cell is closed then. By the owner.
    pub fn take(&self, mut receive: impl FnMut(Parcel)) -> bool {
        // Acquire pairs with the Release in `answer`.
        let state = self.state.load(Ordering::Acquire);
        if state < ANSWERED {
            return false;
        }
        for slot in &self.slots[..(state - ANSWERED) as usize] {
            // Relaxed: ordered by the Acquire above.
            let words = std::array::from_fn(|at| slot.words[at].load(Ordering::Relaxed));
            let origin = slot.origin.load(Ordering::Relaxed);
            receive(Parcel { words, victim: (origin >> 32) as u32, position: origin as u32 });
        }
        // Relaxed: the next `expect_answer` or `invite` is by this thread too.
        self.state.store(CLOSED, Ordering::Relaxed);
        true
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
