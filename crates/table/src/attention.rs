//! The attention word: how other threads ask a busy worker to stop or to report.
//!
//! A worker reads the word once per node it makes; everybody else sets bits in it. A worker that finds a bit set stops
//! with [`Interrupt::Cancelled`] or publishes its counters for whoever asked.

use crate::stats::{Counters, Snapshot};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Why an operation ended without a result. Nothing is lost: all handles stay valid.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Interrupt {
    /// Collection and growth inside the budget have failed to make room for another node.
    #[error("the node table is full and the memory budget allows no more")]
    TableFull,
    /// Somebody asked for the computation to stop.
    #[error("the computation was cancelled")]
    Cancelled,
    /// The operation is larger than the fuel it was given; run it another way.
    #[error("the operation has used up its fuel")]
    OutOfFuel,
}

const CANCEL: u32 = 1;
const REPORT: u32 = 2;

#[derive(Debug, Default)]
struct Shared {
    word: AtomicU32,
    reports: AtomicU64,
    counters: [AtomicU64; Counters::FIELDS],
    /// Whose requests count as well.
    parent: Option<Attention>,
}

/// A handle on the attention word of a worker; clones share it and may live in other threads.
#[derive(Clone, Debug, Default)]
pub struct Attention(Arc<Shared>);

impl Attention {
    /// The attention word of one of several workers: what is asked of this one is asked of all of them, and any of them
    /// may answer.
    #[must_use]
    pub fn of_one(&self) -> Attention {
        Attention(Arc::new(Shared { parent: Some(self.clone()), ..Shared::default() }))
    }

    /// Ask the worker to stop. Stays in force until [`Attention::reset`].
    pub fn cancel(&self) {
        // Relaxed: the bit itself is the whole message.
        self.0.word.fetch_or(CANCEL, Ordering::Relaxed);
    }

    /// Has somebody asked to stop?
    pub fn is_cancelled(&self) -> bool {
        // Relaxed: as in `cancel`.
        self.0.word.load(Ordering::Relaxed) & CANCEL != 0 || self.0.parent.as_ref().is_some_and(Attention::is_cancelled)
    }

    /// Withdraw all requests.
    pub fn reset(&self) {
        // Relaxed: as in `cancel`.
        self.0.word.store(0, Ordering::Relaxed);
    }

    /// Ask the worker to publish its counters soon.
    pub fn request_report(&self) {
        // Relaxed: the bit itself is the whole message.
        self.0.word.fetch_or(REPORT, Ordering::Relaxed);
    }

    /// The counters as last published.
    pub fn last_report(&self) -> Snapshot {
        // Acquire pairs with the Release in `publish`: the counters read below are at least as new as this number.
        let number = self.0.reports.load(Ordering::Acquire);
        // Relaxed: each counter is a number of its own; a mixture of two reports is still a fair picture.
        let values = std::array::from_fn(|at| self.0.counters[at].load(Ordering::Relaxed));
        Snapshot { number, counters: Counters::from_array(values) }
    }

    /// Does anything wait for the worker?
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        // Relaxed: a request may be seen a few nodes late.
        self.0.word.load(Ordering::Relaxed) != 0 || self.0.parent.as_ref().is_some_and(Attention::is_set)
    }

    /// Publish `counters`, and stop when asked to.
    #[cold]
    pub(crate) fn attend(&self, counters: &Counters) -> Result<(), Interrupt> {
        for asked in std::iter::successors(Some(self), |attention| attention.0.parent.as_ref()) {
            asked.publish(counters);
            // Relaxed: the bit publishes nothing; a request set meanwhile is seen at the next look.
            asked.0.word.fetch_and(!REPORT, Ordering::Relaxed);
        }
        if self.is_cancelled() { Err(Interrupt::Cancelled) } else { Ok(()) }
    }

    pub(crate) fn publish(&self, counters: &Counters) {
        for (cell, value) in self.0.counters.iter().zip(counters.to_array()) {
            // Relaxed: ordered by the Release below.
            cell.store(value, Ordering::Relaxed);
        }
        // Release pairs with the Acquire in `last_report`.
        self.0.reports.fetch_add(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_of_all_is_asked_of_each() {
        let all = Attention::default();
        let (a, b) = (all.of_one(), all.of_one());
        a.cancel();
        assert!(a.is_cancelled() && !b.is_cancelled() && !all.is_cancelled());
        all.request_report();
        assert!(b.is_set());
        b.attend(&Counters { created: 7, ..Counters::default() }).unwrap();
        assert_eq!(all.last_report().counters.created, 7);
        assert!(!b.is_set());
        all.cancel();
        assert!(b.is_cancelled());
    }
}
