//! Shared regions under loom and shuttle, whose atomics are larger than the words they stand for.
//!
//! The elements are copied into atomics when a region is shared and copied back afterwards. In between the two have the
//! same meaning, so everything above this file is what an ordinary build compiles.

use super::{Region, Twin};
use std::mem::ManuallyDrop;

/// A region borrowed as an array of atomics, outside its memory.
pub struct SharedRegion<'a, A: Twin> {
    region: &'a mut Region<A::Of>,
    items: ManuallyDrop<Vec<A>>,
}

// SAFETY: as for the real one: `region` is only asked for its capacity, unless by `&mut self`.
unsafe impl<A: Twin> Sync for SharedRegion<'_, A> {}

impl<'a, A: Twin> SharedRegion<'a, A> {
    pub(super) fn new(region: &'a mut Region<A::Of>) -> SharedRegion<'a, A> {
        let length = region.len();
        region.len = region.capacity();
        let items = ManuallyDrop::new(region.iter().copied().map(A::stand_in).collect());
        region.len = length;
        SharedRegion { region, items }
    }

    /// All elements up to the capacity.
    pub fn items(&self) -> &[A] {
        &self.items
    }

    /// Ask the processor to fetch the line of element `at`: there is none.
    pub fn prefetch(&self, at: usize) {
        let _ = at;
    }

    /// Set the region's length; elements beyond it must be zero.
    pub fn set_len(&mut self, len: usize) {
        assert!(len <= self.region.capacity());
        self.region.len = len;
    }

    /// Set elements `from..to` to zero.
    ///
    /// # Safety
    /// Nobody else may use these elements meanwhile.
    pub unsafe fn give_back(&self, from: usize, to: usize) {
        self.items[from..to].iter().for_each(A::zero);
    }
}

impl<A: Twin> Drop for SharedRegion<'_, A> {
    fn drop(&mut self) {
        // SAFETY: taken once, here; nothing reads it afterwards.
        let items = unsafe { ManuallyDrop::take(&mut self.items) };
        if std::thread::panicking() {
            // The model has failed, and its atomics cannot be asked any more.
            std::mem::forget(items);
            return;
        }
        let length = self.region.len();
        self.region.len = self.region.capacity();
        self.region.iter_mut().zip(items).for_each(|(place, item)| *place = item.into_plain());
        self.region.len = length;
    }
}
