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
mod control;
mod marking;
#[cfg(not(any(loom, shuttle)))]
mod outpost;
mod rendezvous;
mod safepoint;
mod worker;

use crate::allocation::Allocation;
use crate::attention::Attention;
use crate::bitmap::Bitmap;
use crate::books::Books;
use crate::division::Division;
use crate::layout::{Node, Ref};
use crate::memory::{SharedRegion, prefetch};
use crate::solo::{Parts, Solo};
use crate::stats::Counters;
use crate::sync::{Mutex, MutexGuard, Ordering};
pub use attendance::Attendance;
pub(crate) use cells::EntryCell;
use cells::{IndexCell, MarkCell, NodeCell};
pub(crate) use control::Control;
use control::{ControlPlace, Totals};
#[cfg(not(all(test, loom)))]
use marking::Marking;
#[cfg(all(test, loom))]
pub use marking::Marking;
#[cfg(not(any(loom, shuttle)))]
pub use outpost::Outpost;
#[cfg(all(test, loom))]
pub use rendezvous::Rendezvous;
use std::ops::Range;
pub use worker::{Blocked, TableWorker};

/// Tables that several workers use at the same time; see [`Solo::share`].
pub struct Shared<'a> {
    nodes: SharedRegion<'a, NodeCell>,
    index: SharedRegion<'a, IndexCell>,
    cache: SharedRegion<'a, EntryCell>,
    live: SharedRegion<'a, MarkCell>,
    division: Division,
    /// Marks of nodes in other parts; none for guests, whose tables are whole.
    foreign: Option<SharedRegion<'a, MarkCell>>,
    /// Nodes of other parts that were found to be alive, and have not been told to these.
    found: Mutex<Vec<Ref>>,
    /// Nodes of this part that others have found to be alive; none when nobody finds more.
    told: Mutex<Option<Vec<Ref>>>,
    control: ControlPlace<'a>,
    /// Functions that are protected whatever the workers do: handles, and what outer operations keep.
    roots: Vec<Ref>,
    /// In all processes.
    workers: usize,
    /// Those who share this view, by number.
    here: Range<usize>,
    attention: Attention,
    stress: Option<u64>,
    office: Mutex<Office<'a>>,
}

/// What one worker at a time looks after.
struct Office<'a> {
    keeper: Keeper<'a>,
    /// Where the workers of this process allocate, while they do not.
    allocations: Vec<Allocation>,
    /// By number: is there such a worker? Safepoints wait for each of them once.
    given_out: Vec<bool>,
}

/// Where a guest allocates: what it has not used up, and how many collections there were then.
#[derive(Default)]
pub struct Stretch {
    allocation: Allocation,
    collections: u64,
}

/// Whose the tables are when the operation is over.
enum Keeper<'a> {
    /// This process keeps the books.
    Owner {
        books: &'a mut Books,
        /// The counters when the operation began.
        before: Counters,
    },
    /// Another one does; this is what a worker here has not used up.
    Guest(&'a mut Stretch),
}

impl Solo {
    /// Share the tables between `workers`, until the result is dropped.
    ///
    /// Each worker asks for its [`Shared::worker`]; these must take part in every safepoint, all of them.
    pub fn share(&mut self, workers: usize) -> Shared<'_> {
        Shared::new(self.parts(), workers, workers)
    }

    /// The same where all workers but the first come from outposts.
    pub fn share_with_outposts(&mut self, workers: usize) -> Shared<'_> {
        Shared::new(self.parts(), workers, 1)
    }
}

impl<'a> Shared<'a> {
    fn new(parts: Parts<'a>, workers: usize, here: usize) -> Shared<'a> {
        let Parts { nodes, index, cache, live, foreign, books, roots, attention, ground } = parts;
        let control = ControlPlace::on(ground);
        control.begin(books, workers);
        let mut allocations = std::mem::take(&mut books.other_allocations);
        allocations.insert(0, std::mem::take(&mut books.allocation));
        allocations.resize(here.max(1), Allocation::default());
        Shared {
            nodes: nodes.share(),
            index: index.share(),
            cache: cache.share(),
            live: live.share(),
            division: books.options.division,
            foreign: Some(foreign.share()),
            found: Mutex::default(),
            told: Mutex::default(),
            control,
            roots,
            workers,
            here: 0..here,
            attention,
            stress: books.options.stress,
            office: Mutex::new(Office {
                keeper: Keeper::Owner { before: books.counters, books },
                allocations,
                given_out: vec![false; here],
            }),
        }
    }

    /// What worker `number`, one of this process, needs to use the tables. Each number is given out once: safepoints wait for
    /// exactly so many.
    pub fn worker(&self, number: usize) -> TableWorker<'_, 'a> {
        let mut office = self.office();
        let before = std::mem::replace(&mut office.given_out[number - self.here.start], true);
        assert!(!before, "worker {number} is there already");
        drop(office);
        TableWorker::new(self, number)
    }

    /// A worker will not come to safepoints any more, because of a panic: nobody is to wait for it.
    pub fn abandon(&self) {
        self.control.rendezvous.break_up();
        self.control.marking.break_up();
    }

    fn office(&self) -> MutexGuard<'_, Office<'a>> {
        self.office.lock().expect("nobody panics with this lock")
    }

    /// Marks of nodes in other parts.
    fn foreign(&self) -> &[MarkCell] {
        self.foreign.as_ref().map_or(&[], SharedRegion::items)
    }

    fn found(&self) -> MutexGuard<'_, Vec<Ref>> {
        self.found.lock().expect("nobody panics with this lock")
    }

    fn told(&self) -> MutexGuard<'_, Option<Vec<Ref>>> {
        self.told.lock().expect("nobody panics with this lock")
    }

    /// The counters, as far as workers have reported; none where others keep the books.
    fn counters(&self) -> Counters {
        let mut office = self.office();
        office.books(&self.control.totals).map_or_else(Counters::default, |books| books.present())
    }

    /// Look into the books, up to date. By a worker of the process that keeps them.
    fn with_books<R>(&self, look: impl FnOnce(&mut Books) -> R) -> R {
        let mut office = self.office();
        look(office.books(&self.control.totals).expect("the first worker is where the books are"))
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
        let fetch = |position: u32| prefetch(&raw const nodes[position as usize]);
        marking.run(&mut stack, fetch, |position, stack| {
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
        let mut allocations = std::mem::take(&mut office.allocations);
        let control = &self.control;
        let Some(books) = office.books(&control.totals) else {
            if let Keeper::Guest(stretch) = &mut office.keeper {
                stretch.allocation = allocations[0];
            }
            return;
        };
        books.allocation = allocations.remove(0);
        books.other_allocations = allocations;
        // Relaxed, here and below: the workers are gone, and whoever waited for them has seen what they did.
        let words = control.lengths.mark_words.load(Ordering::Relaxed);
        books.next_word = control.next_word.load(Ordering::Relaxed).min(words);
        let nodes = books.sizes.nodes;
        drop(office);
        self.nodes.set_len(nodes);
        self.index.set_len(self.control.lengths.index_slots.load(Ordering::Relaxed));
        self.cache.set_len(self.control.lengths.cache_entries.load(Ordering::Relaxed));
        self.live.set_len(words);
    }
}

impl Office<'_> {
    /// The books, with the counters up to date, if this process keeps them.
    fn books(&mut self, totals: &Totals) -> Option<&mut Books> {
        let Keeper::Owner { books, before } = &mut self.keeper else { return None };
        // Relaxed: plain sums, published by nothing and publishing nothing.
        books.counters.created = before.created + totals.created.load(Ordering::Relaxed);
        books.counters.lookups = before.lookups + totals.lookups.load(Ordering::Relaxed);
        books.counters.hits = before.hits + totals.hits.load(Ordering::Relaxed);
        Some(books)
    }
}
