//! What the threads of one rank share.

use super::letter::{Letter, Matter};
use super::placement::Placement;
use super::{Import, RankFigures};
use crate::env::Env;
use crate::task::Answer;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tremula_fabric::mail::Post;
use tremula_table::{Copies, Counters, Division, Interrupt, Ref};
use tremula_tasks::Word;

pub struct Rank<'r> {
    pub post: &'r dyn Post,
    pub env: &'r Env,
    pub copies: Copies<'r>,
    pub division: Division,
    pub placement: Placement,
    pub threads: usize,
    inboxes: Vec<Inbox>,
    /// Requests that have to wait for the end of a collection, and who sent them.
    deferred: Mutex<Vec<(usize, Letter)>>,
    /// Collections so far.
    collections: AtomicU32,
    /// The collection that somebody has demanded last, by number.
    demanded: AtomicU32,
    /// The number of the operation that is to end early, above why ([`Answer`]).
    cancelled: AtomicU64,
    /// Nothing more will come.
    ended: AtomicBool,
    /// Markers that have come, by rank.
    markers: Vec<AtomicU64>,
    /// By rank.
    bulks: Vec<Mutex<VecDeque<Bulk>>>,
    /// What the program holds between operations; on rank 0.
    pub roots: Mutex<Vec<Ref>>,
    /// What the program wants to bring in; on rank 0.
    pub import: Mutex<Import>,
    pub traffic: Traffic,
}

/// Many words, and what they are about.
type Bulk = (Matter, Vec<u64>);

/// Letters for one thread.
#[derive(Default)]
struct Inbox {
    letters: Mutex<Vec<(usize, Letter)>>,
    filled: AtomicBool,
}

/// What went between ranks. Plain sums; orderings are all Relaxed.
#[derive(Default)]
pub struct Traffic {
    pub expansions: AtomicU64,
    pub reads: AtomicU64,
    pub makes: AtomicU64,
    pub tasks_stolen: AtomicU64,
    pub calls: AtomicU64,
    pub batches: AtomicU64,
}

impl Traffic {
    pub fn figures(&self) -> RankFigures {
        // Relaxed, here and below: counters say nothing about other memory.
        let sum = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        RankFigures {
            counters: Counters::default(),
            expansions: sum(&self.expansions),
            reads: sum(&self.reads),
            makes: sum(&self.makes),
            tasks_stolen: sum(&self.tasks_stolen),
            calls: sum(&self.calls),
            batches: sum(&self.batches),
        }
    }

    pub fn add(counter: &AtomicU64, amount: u64) {
        counter.fetch_add(amount, Ordering::Relaxed);
    }
}

impl<'r> Rank<'r> {
    pub fn new(
        post: &'r dyn Post,
        env: &'r Env,
        copies: Copies<'r>,
        division: Division,
        placement: Placement,
        threads: usize,
    ) -> Rank<'r> {
        let ranks = post.ranks();
        Rank {
            post,
            env,
            copies,
            division,
            placement,
            threads,
            inboxes: (0..threads).map(|_| Inbox::default()).collect(),
            deferred: Mutex::default(),
            collections: AtomicU32::new(0),
            demanded: AtomicU32::new(0),
            cancelled: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            markers: (0..ranks).map(|_| AtomicU64::new(0)).collect(),
            bulks: (0..ranks).map(|_| Mutex::default()).collect(),
            roots: Mutex::default(),
            import: Mutex::default(),
            traffic: Traffic::default(),
        }
    }

    pub fn number(&self) -> usize {
        self.division.part()
    }

    pub fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let number = self.number();
        (0..self.division.parts()).filter(move |&rank| rank != number)
    }

    // ---- levels of nodes elsewhere ------------------------------------------------------------------------------

    /// Remember the level of a node, if it belongs to another rank.
    #[inline]
    pub fn learn_level(&self, f: Ref, level: Option<u32>) {
        if let Some(level) = level
            && self.division.local(f).is_none()
        {
            self.copies.put_level(f.regular(), level);
        }
    }

    // ---- letters ------------------------------------------------------------------------------------------------

    /// Put a letter where the thread that it is for finds it.
    pub fn hand_over(&self, thread: u8, from: usize, letter: Letter) {
        let inbox = &self.inboxes[usize::from(thread)];
        lock(&inbox.letters).push((from, letter));
        // Release: pairs with the Acquire in `take_letters`, though the lock would do.
        inbox.filled.store(true, Ordering::Release);
    }

    pub fn take_letters(&self, thread: usize) -> Vec<(usize, Letter)> {
        let inbox = &self.inboxes[thread];
        // Acquire: as above.
        if !inbox.filled.load(Ordering::Acquire) {
            return Vec::new();
        }
        let mut letters = lock(&inbox.letters);
        // Relaxed: under the lock.
        inbox.filled.store(false, Ordering::Relaxed);
        std::mem::take(&mut letters)
    }

    pub fn note_marker(&self, from: usize) {
        // Relaxed, here and below: threads of a rank meet before and after these are used.
        self.markers[from].fetch_add(1, Ordering::Relaxed);
    }

    /// Have all other ranks sent so many markers?
    pub fn has_markers(&self, count: u64) -> bool {
        self.others().all(|rank| self.markers[rank].load(Ordering::Relaxed) >= count)
    }

    pub fn note_bulk(&self, from: usize, matter: Matter, words: Vec<u64>) {
        lock(&self.bulks[from]).push_back((matter, words));
    }

    /// The next bulk of a rank, if it has come.
    pub fn take_bulk(&self, from: usize, expected: Matter) -> Option<Vec<u64>> {
        let (matter, words) = lock(&self.bulks[from]).pop_front()?;
        assert_eq!(matter, expected, "ranks are out of step");
        Some(words)
    }

    pub fn defer(&self, from: usize, letter: Letter) {
        lock(&self.deferred).push((from, letter));
    }

    pub fn take_deferred(&self) -> Vec<(usize, Letter)> {
        std::mem::take(&mut *lock(&self.deferred))
    }

    // ---- collections --------------------------------------------------------------------------------------------

    /// How many collections there have been.
    pub fn collections(&self) -> u32 {
        // Relaxed: it changes in safepoints.
        self.collections.load(Ordering::Relaxed)
    }

    /// A collection is due that has this number, or has been.
    pub fn note_demand(&self, number: u32) -> bool {
        // Relaxed: a hint that makes threads come to the safepoint, which orders everything.
        self.demanded.fetch_max(number, Ordering::Relaxed) < number
    }

    pub fn collection_is_due(&self) -> bool {
        // Relaxed: as above.
        self.demanded.load(Ordering::Relaxed) > self.collections()
    }

    /// By the first thread, in a safepoint.
    pub fn note_collection(&self) {
        // Relaxed: the meeting that follows orders it.
        self.collections.fetch_add(1, Ordering::Relaxed);
    }

    // ---- ends ---------------------------------------------------------------------------------------------------

    /// An operation is to end. True if that is news.
    pub fn note_cancel(&self, operation: u32, reason: Interrupt) -> bool {
        let word = u64::from(operation) << 32 | Answer(Err(reason)).to_word() >> 32;
        let newer = |known: u64| (known >> 32 < u64::from(operation)).then_some(word);
        // Relaxed: a wish to end, nothing else.
        self.cancelled.fetch_update(Ordering::Relaxed, Ordering::Relaxed, newer).is_ok()
    }

    /// Why an operation is to end early, if it is.
    #[inline]
    pub fn cancelled(&self, operation: u32) -> Option<Interrupt> {
        // Relaxed: as above. Operations are numbered from one.
        let word = self.cancelled.load(Ordering::Relaxed);
        if word >> 32 == u64::from(operation) { Answer::from_word(word << 32).0.err() } else { None }
    }

    pub fn end(&self) {
        // Relaxed: a wish to end, nothing else.
        self.ended.store(true, Ordering::Relaxed);
    }

    pub fn is_ended(&self) -> bool {
        // Relaxed: as above.
        self.ended.load(Ordering::Relaxed)
    }
}

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics half way through a change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
