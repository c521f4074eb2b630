//! Zeroed arrays in reserved address space: growing one never moves or copies it.
//!
//! A [`Region`] reserves room for its largest length at once and hands out a prefix. The kernel gives memory to pages
//! when they are first touched, so an unused tail costs address space only. Huge pages are advised.

use crate::tuning;
use bytemuck::Pod;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

const HUGE_PAGE: usize = 2 << 20;

/// A growable array of plain data at a fixed address.
///
/// Invariants:
/// - R1: `base` is the start of a private anonymous mapping of `reserved` bytes, owned by this value alone;
/// - R2: `len * size_of::<T>() <= reserved`;
/// - R3: every byte of the mapping is zero or was written as part of a `T`; all bit patterns are valid for `T: Pod`.
pub struct Region<T> {
    base: NonNull<T>,
    len: usize,
    reserved: usize,
    _owns: PhantomData<T>,
}

impl<T: Pod> Region<T> {
    /// Reserve room for `capacity` elements; the length starts at zero.
    pub fn reserve(capacity: usize) -> Result<Region<T>, MapError> {
        let bytes = capacity.checked_mul(size_of::<T>()).ok_or(MapError)?.max(1).next_multiple_of(HUGE_PAGE);
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: an anonymous mapping at an address of the kernel's choice aliases nothing (establishes R1).
        let address = unsafe { mmap_anonymous(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, flags) }
            .map_err(|_| MapError)?;
        if tuning::HUGE_PAGES {
            // SAFETY: the range is the mapping just made; the advice does not change its contents.
            // A kernel without huge pages refuses; that costs speed only.
            let _ = unsafe { madvise(address, bytes, Advice::LinuxHugepage) };
        }
        let base = NonNull::new(address.cast::<T>()).ok_or(MapError)?;
        Ok(Region { base, len: 0, reserved: bytes, _owns: PhantomData })
    }

    /// Largest possible length.
    pub fn capacity(&self) -> usize {
        self.reserved / size_of::<T>()
    }

    /// Set the length. New elements are zero; dropped ones give their memory back and are zero if they return.
    ///
    /// # Panics
    /// If `len` is above [`Region::capacity`].
    pub fn resize(&mut self, len: usize) {
        assert!(len <= self.capacity(), "region of {} elements cannot hold {len}", self.capacity());
        let shrunk_from = std::mem::replace(&mut self.len, len);
        if len < shrunk_from {
            self.zero_tail(len, shrunk_from);
        }
    }

    /// Set every element to zero and give the memory back.
    pub fn clear(&mut self) {
        let len = self.len;
        self.zero_tail(0, len);
    }

    fn zero_tail(&mut self, from: usize, to: usize) {
        let start = from * size_of::<T>();
        let end = to * size_of::<T>();
        let first_page = start.next_multiple_of(HUGE_PAGE).min(end);
        // SAFETY: `start..first_page` lies inside the mapping (R2: `to` was a length) and `&mut self` excludes other users.
        unsafe { self.base.cast::<u8>().add(start).write_bytes(0, first_page - start) };
        if first_page < end {
            // SAFETY: a page-aligned range inside our private mapping (R1, R2): after DONTNEED it reads as zero (R3).
            let dropped = unsafe {
                let tail = self.base.cast::<u8>().add(first_page);
                madvise(tail.as_ptr().cast(), (end - first_page).next_multiple_of(HUGE_PAGE), Advice::LinuxDontNeed)
            };
            if dropped.is_err() {
                // SAFETY: as for the first part.
                unsafe { self.base.cast::<u8>().add(first_page).write_bytes(0, end - first_page) };
            }
        }
    }

    /// Ask the processor to fetch the line of element `at`; out of range is harmless.
    #[inline]
    pub fn prefetch(&self, at: usize) {
        if tuning::PREFETCH {
            #[cfg(target_arch = "x86_64")]
            {
                use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
                // SAFETY: prefetching is a hint that never faults; the address is computed without being dereferenced.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(self.base.as_ptr().wrapping_add(at).cast()) };
            }
            #[cfg(not(target_arch = "x86_64"))]
            let _ = at;
        }
    }
}

impl<T> Deref for Region<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: R2 and R3; shared borrow of self.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for Region<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: R2 and R3; unique borrow of self.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr(), self.len) }
    }
}

impl<T> Drop for Region<T> {
    fn drop(&mut self) {
        // SAFETY: R1: the mapping is ours and nothing borrows it any more.
        // Unmapping a range that was mapped cannot fail; there is nobody to tell if it did.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.reserved) };
    }
}

// SAFETY: a region owns its memory like a Vec does (R1), so it may move to another thread with its elements.
unsafe impl<T: Send> Send for Region<T> {}

/// The kernel would not reserve the address space.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the system refused to reserve address space for the tables")]
pub struct MapError;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_without_moving_and_shrinks_to_zero() {
        let mut region = Region::<u64>::reserve(1 << 20).unwrap();
        region.resize(10);
        region[9] = 7;
        let before = region.as_ptr();
        region.resize(1 << 20);
        assert_eq!(region.as_ptr(), before);
        assert_eq!((region[9], region[10]), (7, 0));
        region[(1 << 20) - 1] = 5;
        region.resize(5);
        region.resize(1 << 20);
        assert!(region.iter().all(|&x| x == 0));
    }

    #[test]
    fn clear_zeroes_everything() {
        let mut region = Region::<u32>::reserve(3_000_000).unwrap();
        region.resize(3_000_000);
        region.fill(9);
        region.clear();
        assert!(region.iter().all(|&x| x == 0));
    }

    #[test]
    fn absurd_sizes_are_refused() {
        assert!(Region::<u64>::reserve(usize::MAX / 4).is_err());
    }
}
