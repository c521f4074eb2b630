//! What the workers of a parallel operation have in common beside the tables, in whatever process they are.

use super::marking::Marking;
use super::rendezvous::Rendezvous;
use crate::books::Books;
use crate::index::UniqueIndex;
use crate::sizing::Sizes;
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use crossbeam_utils::CachePadded;
use std::ops::Deref;
use tremula_fabric::Ground;

/// Everything is an atomic, and zeros are valid.
#[derive(Default)]
#[repr(C)]
pub struct Control {
    pub lengths: Lengths,
    /// Next mark word that no allocation has claimed.
    pub next_word: CachePadded<AtomicUsize>,
    /// Why a safepoint is due, in bits; none otherwise.
    pub due: CachePadded<AtomicU32>,
    pub rendezvous: Rendezvous,
    pub marking: Marking,
    pub marked: AtomicUsize,
    /// Nothing more fits, for the rest of this operation.
    pub full: AtomicBool,
    /// The operation is to end.
    pub cancelled: AtomicBool,
    pub totals: CachePadded<Totals>,
    /// Look-ups of this operation after which the size of the cache is to be considered.
    pub next_cache_check: AtomicU64,
    /// Times that granules were given out anew, before this operation.
    pub collections: AtomicU64,
}

/// Lengths of the tables. They change in safepoints only, so workers keep copies.
#[derive(Default)]
#[repr(C)]
pub struct Lengths {
    pub index_slots: AtomicUsize,
    pub cache_entries: AtomicUsize,
    pub mark_words: AtomicUsize,
}

/// What the workers have done since the operation began.
#[derive(Default)]
#[repr(C)]
pub struct Totals {
    pub created: AtomicU64,
    pub lookups: AtomicU64,
    pub hits: AtomicU64,
}

impl Control {
    /// An operation of so many workers begins.
    pub fn begin(&self, books: &Books, workers: usize) {
        self.lengths.set(books.sizes);
        self.rendezvous.open(workers);
        self.marking.open(workers);
        let next_check = books.next_cache_check - books.counters.lookups.min(books.next_cache_check);
        // Relaxed, all: whoever starts the workers publishes it to them.
        self.next_word.store(books.next_word, Ordering::Relaxed);
        self.due.store(0, Ordering::Relaxed);
        self.full.store(false, Ordering::Relaxed);
        self.cancelled.store(false, Ordering::Relaxed);
        self.next_cache_check.store(next_check, Ordering::Relaxed);
        self.collections.store(books.counters.collections + books.counters.compactions, Ordering::Relaxed);
        for total in [&self.totals.created, &self.totals.lookups, &self.totals.hits] {
            total.store(0, Ordering::Relaxed);
        }
    }
}

impl Lengths {
    /// Before an operation, or in a safepoint before a meeting of all workers.
    pub fn set(&self, sizes: Sizes) {
        // Relaxed: the meeting orders it.
        self.index_slots.store(UniqueIndex::words_for(sizes.nodes), Ordering::Relaxed);
        self.cache_entries.store(sizes.cache_entries, Ordering::Relaxed);
        self.mark_words.store(sizes.nodes / u64::BITS as usize, Ordering::Relaxed);
    }
}

/// Where it is.
pub enum ControlPlace<'a> {
    Own(Box<Control>),
    Shared(&'a Control),
}

impl<'a> ControlPlace<'a> {
    /// On a ground, if there is one.
    pub fn on(ground: Option<&'a Ground>) -> ControlPlace<'a> {
        match ground {
            None => ControlPlace::Own(Box::default()),
            Some(ground) => {
                let control = ground.words().as_ptr().cast::<Control>();
                assert!(ground.bytes() >= size_of::<Control>() && control.is_aligned());
                // SAFETY: there is room for it, as just checked, and nothing else is there; zeros, or what another process has
                // left, are valid for its atomics. (Those of models are not, but models have no grounds.)
                ControlPlace::Shared(unsafe { &*control })
            }
        }
    }
}

impl Deref for ControlPlace<'_> {
    type Target = Control;
    #[inline]
    fn deref(&self) -> &Control {
        match self {
            ControlPlace::Own(control) => control,
            ControlPlace::Shared(control) => control,
        }
    }
}
