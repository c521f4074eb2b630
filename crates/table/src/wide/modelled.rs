//! A model of a 128-bit atomic word, out of a small one: loom and shuttle have none so large.
//!
//! All values that were ever stored stay in a list, and the atomic holds the number of the present one. So a load gives
//! one whole value, as the processor does, and loom explores which one, with the orderings that the real word has.

use crate::sync::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

/// A 128-bit word with atomic access.
pub struct AtomicWide {
    present: AtomicUsize,
    /// Not a lock of the model checker, for it is no part of the model: nothing switches threads while it is held.
    values: Mutex<Vec<u128>>,
}

impl AtomicWide {
    /// A word with this value.
    pub fn new(value: u128) -> AtomicWide {
        AtomicWide { present: AtomicUsize::new(0), values: Mutex::new(vec![value]) }
    }

    fn values(&self) -> MutexGuard<'_, Vec<u128>> {
        self.values.lock().expect("nobody panics with this lock")
    }

    /// Read the whole word; what was written before the store that wrote it is visible afterwards.
    pub fn load(&self) -> u128 {
        // Acquire pairs with the Release in `store`, as in the real word.
        let at = self.present.load(Ordering::Acquire);
        self.values()[at]
    }

    /// Write the whole word, after everything that this thread has written before.
    pub fn store(&self, value: u128) {
        let mut values = self.values();
        values.push(value);
        let at = values.len() - 1;
        drop(values);
        // Release pairs with the Acquire in `load`.
        self.present.store(at, Ordering::Release);
    }

    /// The last value.
    pub fn into_inner(self) -> u128 {
        let AtomicWide { present, values } = self;
        values.into_inner().expect("nobody panics with this lock")[present.into_inner()]
    }
}
