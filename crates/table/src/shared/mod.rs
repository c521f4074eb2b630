//! The table of several threads: the same memory as [`Solo`]'s, for the duration of one parallel operation.
//!
//! [`Solo::share`] borrows the tables and hands out [`Shared`], in which every word that two threads may touch is an
//! atomic. Nothing is converted: when the borrow ends, the single thread goes on with plain memory accesses. So one
//! worker never pays for many, and the change happens only where nothing else runs.
//!
//! Invariants T1 to T5 hold as for [`Solo`], and beyond them:
//! - S1: a node is written before its position is published, by a Release on the index slot; whoever finds the position
//!   there, in a cache entry or in a task does so by an Acquire that comes after. So nodes are always seen complete;
//! - S2: an index slot changes from empty to occupied once between collections, and a probe stops at the first empty
//!   slot; two workers that make the same node meet in the same slot, and one of them finds the other's (T2);
//! - S3: a granule belongs to the one worker that claimed its mark word;
//! - S4: lengths, marks and the index are rebuilt only in a safepoint, in which all workers take part ([`safepoint`]).

mod attendance;
mod cells;
mod marking;
mod rendezvous;
mod safepoint;
mod worker;

use crate::allocation::Allocation;
use crate::attention::Attention;
use crate::bitmap::Bitmap;
use crate::books::Books;
use crate::division::Division;
use crate::layout::{Node, Ref};
use crate::memory::SharedRegion;
use crate::sizing::Sizes;
use crate::solo::{Parts, Solo};
use crate::stats::Counters;
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Mutex, MutexGuard, Ordering};
pub use attendance::Attendance;
pub(crate) use cells::EntryCell;
use cells::{IndexCell, MarkCell, NodeCell};
use crossbeam_utils::CachePadded;
use marking::Marking;
pub use rendezvous::Rendezvous;
pub use worker::{Blocked, TableWorker};

/// Tables that several workers use at the same time; see [`Solo::share`].
pub struct Shared<'a> {
    nodes: SharedRegion<'a, NodeCell>,
    index: SharedRegion<'a, IndexCell>,
    cache: SharedRegion<'a, EntryCell>,
    live: SharedRegion<'a, MarkCell>,
    division: Division,
    /// Marks of nodes in other parts.
    foreign: SharedRegion<'a, MarkCell>,
    /// Nodes of other parts that were found to be alive, and have not been told to these.
    found: Mutex<Vec<Ref>>,
    /// Nodes of this part that others have found to be alive; none when nobody finds more.
    told: Mutex<Option<Vec<Ref>>>,
    lengths: Lengths,
    /// Next mark word that no allocation has claimed.
    next_word: CachePadded<AtomicUsize>,
    /// Functions that are protected whatever the workers do: handles, and what outer operations keep.
    roots: Vec<Ref>,
    workers: usize,
    /// Why a safepoint is due, in bits; none otherwise.
    due: CachePadded<AtomicU32>,
    rendezvous: Rendezvous,
    marking: Marking,
    marked: AtomicUsize,
    /// Nothing more fits, for the rest of this operation.
    full: AtomicBool,
    totals: CachePadded<Totals>,
    /// Look-ups of this operation after which the size of the cache is to be considered.
    next_cache_check: AtomicU64,
    attention: Attention,
    stress: Option<u64>,
    office: Mutex<Office<'a>>,
}

/// Lengths of the tables. They change in safepoints only, so workers keep copies.
struct Lengths {
    index_slots: AtomicUsize,
    cache_entries: AtomicUsize,
    mark_words: AtomicUsize,
}

/// What the workers have done since the operation began.
#[derive(Default)]
struct Totals {
    created: AtomicU64,
    lookups: AtomicU64,
    hits: AtomicU64,
}

/// What one worker at a time looks after.
struct Office<'a> {
    books: &'a mut Books,
    /// The counters when the operation began.
    before: Counters,
    /// By number: is there such a worker? Safepoints wait for each of them once.
    given_out: Vec<bool>,
}

impl Solo {
    /// Share the tables between `workers`, until the result is dropped.
    ///
    /// Each worker asks for its [`Shared::worker`]; these must take part in every safepoint, all of them.
    pub fn share(&mut self, workers: usize) -> Shared<'_> {
        Shared::new(self.parts(), workers)
    }
}

impl<'a> Shared<'a> {
    fn new(parts: Parts<'a>, workers: usize) -> Shared<'a> {
        let Parts { nodes, index, cache, live, foreign, books, roots, attention } = parts;
        books.other_allocations.resize(workers.max(1) - 1, Allocation::default());
        Shared {
            nodes: nodes.share(),
            index: index.share(),
            cache: cache.share(),
            live: live.share(),
            division: books.options.division,
            foreign: foreign.share(),
            found: Mutex::default(),
            told: Mutex::default(),
            lengths: Lengths::of(books.sizes),
            next_word: CachePadded::new(AtomicUsize::new(books.next_word)),
            roots,
            workers,
            due: CachePadded::new(AtomicU32::new(0)),
            rendezvous: Rendezvous::new(workers),
            marking: Marking::new(workers),
            marked: AtomicUsize::new(0),
            full: AtomicBool::new(false),
            totals: CachePadded::default(),
            next_cache_check: AtomicU64::new(
                books.next_cache_check - books.counters.lookups.min(books.next_cache_check),
            ),
            attention,
            stress: books.options.stress,
            office: Mutex::new(Office { before: books.counters, books, given_out: vec![false; workers] }),
        }
    }

    /// What worker `number` needs to use the tables. Each number is given out once: safepoints wait for exactly so many.
    pub fn worker(&self, number: usize) -> TableWorker<'_, 'a> {
        let before = std::mem::replace(&mut self.office().given_out[number], true);
        assert!(!before, "worker {number} is there already");
        TableWorker::new(self, number)
    }

    /// A worker will not come to safepoints any more, because of a panic: nobody is to wait for it.
    pub fn abandon(&self) {
        self.rendezvous.break_up();
        self.marking.break_up();
    }

    fn office(&self) -> MutexGuard<'_, Office<'a>> {
        self.office.lock().expect("nobody panics with this lock")
    }

    fn found(&self) -> MutexGuard<'_, Vec<Ref>> {
        self.found.lock().expect("nobody panics with this lock")
    }

    fn told(&self) -> MutexGuard<'_, Option<Vec<Ref>>> {
        self.told.lock().expect("nobody panics with this lock")
    }

    /// The counters, as far as workers have reported.
    fn counters(&self) -> Counters {
        let mut office = self.office();
        office.add(&self.totals);
        office.books.present()
    }
}

/// Mark what is below the nodes on the stack, by several threads. Returns how many nodes were taken from stacks.
pub(crate) fn mark_together(nodes: &[Node], bitmap: &mut Bitmap, stack: Vec<u32>, workers: usize) -> usize {
    let (marks, marking) = (bitmap.words_mut().share::<MarkCell>(), Marking::new(workers));
    let first = |f: Ref| {
        let (word, bit) = cells::mark_of(f.index());
        marks.items()[word].insert(bit)
    };
    let work = |mut stack: Vec<u32>| {
        let mut count = 0;
        marking.run(&mut stack, |position, stack| {
            count += 1;
            let node = nodes[position as usize];
            stack.extend([node.low, node.high].into_iter().filter(|&child| first(child)).map(Ref::index));
        });
        count
    };
    let work = &work;
    std::thread::scope(|scope| {
        let start = |_| std::thread::Builder::new().spawn_scoped(scope, move || work(Vec::new())).ok();
        let others: Vec<_> = (1..workers).filter_map(start).collect();
        // Where the system has no more threads, the others do it without them.
        (others.len() + 1..workers).for_each(|_| marking.excuse());
        let own = work(stack);
        others.into_iter().map(|thread| thread.join().expect("marking does not panic")).sum::<usize>() + own
    })
}

impl Drop for Shared<'_> {
    fn drop(&mut self) {
        let mut office = self.office.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        office.add(&self.totals);
        // Relaxed, here and below: the workers are gone, and whoever waited for them has seen what they did.
        let words = self.lengths.mark_words.load(Ordering::Relaxed);
        office.books.next_word = self.next_word.load(Ordering::Relaxed).min(words);
        let nodes = office.books.sizes.nodes;
        drop(office);
        self.nodes.set_len(nodes);
        self.index.set_len(self.lengths.index_slots.load(Ordering::Relaxed));
        self.cache.set_len(self.lengths.cache_entries.load(Ordering::Relaxed));
        self.live.set_len(words);
    }
}

impl Lengths {
    fn of(sizes: Sizes) -> Lengths {
        let lengths = Lengths {
            index_slots: AtomicUsize::new(0),
            cache_entries: AtomicUsize::new(0),
            mark_words: AtomicUsize::new(0),
        };
        lengths.set(sizes);
        lengths
    }

    /// In a safepoint, before a meeting of all workers.
    fn set(&self, sizes: Sizes) {
        // Relaxed: the meeting orders it.
        self.index_slots.store(crate::index::UniqueIndex::words_for(sizes.nodes), Ordering::Relaxed);
        self.cache_entries.store(sizes.cache_entries, Ordering::Relaxed);
        self.mark_words.store(sizes.nodes / u64::BITS as usize, Ordering::Relaxed);
    }
}

impl Office<'_> {
    /// Bring the counters up to date.
    fn add(&mut self, totals: &Totals) {
        let counters = &mut self.books.counters;
        // Relaxed: plain sums, published by nothing and publishing nothing.
        counters.created = self.before.created + totals.created.load(Ordering::Relaxed);
        counters.lookups = self.before.lookups + totals.lookups.load(Ordering::Relaxed);
        counters.hits = self.before.hits + totals.hits.load(Ordering::Relaxed);
    }
}
