//! Zeroed arrays in reserved address space: growing one never moves or copies it.
//!
//! A [`Region`] reserves room for its largest length at once and hands out a prefix. The kernel gives memory to pages
//! when they are first touched, so an unused tail costs address space only. Huge pages are advised, at once or later.

use crate::sync::unless_modelled;
use crate::tuning;
use bytemuck::Pod;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use tremula_fabric::Ground;

/// Bytes of an ordinary page.
const SMALL_PAGE: usize = 4 << 10;
/// More than this is not fetched before it is used.
const MOST_EAGER: usize = 4 << 20;
/// Models of loom and shuttle have an object for each word of a shared region, so theirs end where they must.
const HUGE_PAGE: usize = unless_modelled(2 << 20, 64);

/// A growable array of plain data at a fixed address.
///
/// Invariants:
/// - R1: `base` is the start of `reserved` bytes that belong to this value alone: a private anonymous mapping, or a ground
///   that several processes address, each of which keeps to the rules by which they take turns ([`Shared`](crate::Shared));
/// - R2: `len * size_of::<T>() <= reserved`;
/// - R3: every byte of the mapping is zero or was written as part of a `T`; all bit patterns are valid for `T: Pod`.
pub struct Region<T> {
    base: NonNull<T>,
    len: usize,
    reserved: usize,
    /// Where the memory is from, if it is not a mapping of this value.
    ground: Option<Ground>,
    _owns: PhantomData<T>,
}

impl<T: Pod> Region<T> {
    /// An array of zeros on a ground; the length starts at zero.
    pub fn on(ground: Ground) -> Region<T> {
        let base = NonNull::from(ground.words()).cast::<T>();
        assert!(base.is_aligned() && size_of::<T>() != 0);
        let reserved = ground.bytes();
        let region = Region { base, len: 0, reserved, ground: Some(ground), _owns: PhantomData };
        region.use_huge_pages();
        region
    }

    /// Reserve room for `capacity` elements in huge pages; the length starts at zero.
    pub fn reserve(capacity: usize) -> Result<Region<T>, MapError> {
        let region = Region::reserve_small_pages(capacity)?;
        region.use_huge_pages();
        Ok(region)
    }

    /// Advise huge pages for what is touched from now on.
    pub fn use_huge_pages(&self) {
        // SAFETY: the range is the memory (R1).
        unsafe { advise_huge_pages(self.base.as_ptr().cast(), self.reserved) };
    }

    /// The same in pages of the usual size, for those who may stay small.
    pub fn reserve_small_pages(capacity: usize) -> Result<Region<T>, MapError> {
        let bytes = capacity.checked_mul(size_of::<T>()).ok_or(MapError)?.max(1).next_multiple_of(HUGE_PAGE);
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: an anonymous mapping at an address of the kernel's choice aliases nothing (establishes R1).
        let address = unsafe { mmap_anonymous(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, flags) }
            .map_err(|_| MapError)?;
        let base = NonNull::new(address.cast::<T>()).ok_or(MapError)?;
        Ok(Region { base, len: 0, reserved: bytes, ground: None, _owns: PhantomData })
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

    /// The same for those who will soon have used all elements: what is new is fetched at once, if that is little, which
    /// takes less time than page by page.
    pub fn resize_eagerly(&mut self, len: usize) {
        let (start, end) = (self.len * size_of::<T>() / SMALL_PAGE * SMALL_PAGE, len * size_of::<T>());
        self.resize(len);
        if (SMALL_PAGE..=MOST_EAGER).contains(&end.saturating_sub(start)) {
            // SAFETY: pages of the mapping (R1), since `len` is within its capacity; their contents stay as they are. A kernel that
            // cannot do it refuses; that costs speed only.
            let _ = unsafe {
                let first = self.base.cast::<u8>().add(start);
                madvise(first.as_ptr().cast(), end - start, Advice::LinuxPopulateWrite)
            };
        }
    }

    /// Set every element to zero and give the memory back.
    pub fn clear(&mut self) {
        let len = self.len;
        self.zero_tail(0, len);
    }

    fn zero_tail(&mut self, from: usize, to: usize) {
        // SAFETY: `to` was a length, so the range lies inside the memory (R1, R2), and `&mut self` excludes other users.
        unsafe { zero(self.base, from, to, self.ground.is_some()) };
    }

    /// The same memory as atomics that several threads may use, over the whole capacity; the length stays as it is.
    pub fn share<A: Twin<Of = T>>(&mut self) -> SharedRegion<'_, A> {
        SharedRegion::new(self)
    }

    /// Ask the processor to fetch the line of element `at`; out of range is harmless.
    #[inline]
    pub fn prefetch(&self, at: usize) {
        prefetch(self.base.as_ptr().wrapping_add(at));
    }
}

/// An atomic type for memory that holds values of another one.
///
/// # Safety
/// Size and alignment of both types are the same, and every bit pattern is valid for either.
pub unsafe trait Twin: Sync {
    /// The type whose memory it is.
    type Of: Pod;

    /// An atomic of a model checker, outside the memory that it stands for.
    #[cfg(any(loom, shuttle))]
    fn stand_in(value: Self::Of) -> Self;
    /// Its last value.
    #[cfg(any(loom, shuttle))]
    fn into_plain(self) -> Self::Of;
    /// Set it to zero.
    #[cfg(any(loom, shuttle))]
    fn zero(&self);
}

/// A [`Region`] borrowed as an array of atomics. Reading beyond the region's length gives zeros.
#[cfg(not(any(loom, shuttle)))]
pub struct SharedRegion<'a, A: Twin> {
    items: *const A,
    capacity: usize,
    /// That of the region, if this process keeps it.
    len: Option<&'a mut usize>,
    on_ground: bool,
    _borrows: PhantomData<&'a A>,
}

// SAFETY: all access to the elements goes through `A`, which is Sync; the length changes by `&mut self` only.
#[cfg(not(any(loom, shuttle)))]
unsafe impl<A: Twin> Sync for SharedRegion<'_, A> {}

#[cfg(any(loom, shuttle))]
mod modelled;
#[cfg(any(loom, shuttle))]
pub use modelled::SharedRegion;

#[cfg(not(any(loom, shuttle)))]
impl<'a, A: Twin> SharedRegion<'a, A> {
    fn new(region: &'a mut Region<A::Of>) -> SharedRegion<'a, A> {
        const { assert!(size_of::<A>() == size_of::<A::Of>() && align_of::<A>() == align_of::<A::Of>()) };
        SharedRegion {
            items: region.base.as_ptr().cast_const().cast::<A>(),
            capacity: region.capacity(),
            on_ground: region.ground.is_some(),
            len: Some(&mut region.len),
            _borrows: PhantomData,
        }
    }

    /// The array that another process has [on](Region::on) this ground.
    pub fn on(ground: &'a Ground) -> SharedRegion<'a, A> {
        let items = ground.words().as_ptr().cast::<A>();
        assert!(items.is_aligned());
        let capacity = ground.bytes() / size_of::<A>();
        SharedRegion { items, capacity, len: None, on_ground: true, _borrows: PhantomData }
    }

    /// All elements up to the capacity.
    #[inline]
    pub fn items(&self) -> &[A] {
        // SAFETY: R1 to R3: the memory has room for `capacity` elements, all bit patterns are valid for both types
        // (`Twin`), and the exclusive borrow of the region leaves atomics as the only way to this memory.
        unsafe { std::slice::from_raw_parts(self.items, self.capacity) }
    }

    /// Ask the processor to fetch the line of element `at`; out of range is harmless.
    #[inline]
    pub fn prefetch(&self, at: usize) {
        prefetch(self.items.wrapping_add(at));
    }

    /// Set the region's length; elements beyond it must be zero.
    pub fn set_len(&mut self, len: usize) {
        assert!(len <= self.capacity);
        if let Some(own) = &mut self.len {
            **own = len;
        }
    }

    /// Set elements `from..to` to zero and give whole pages among them back.
    ///
    /// # Safety
    /// Nobody else may use these elements meanwhile.
    pub unsafe fn give_back(&self, from: usize, to: usize) {
        assert!(from <= to && to <= self.capacity);
        let base = NonNull::new(self.items.cast_mut()).expect("memory is not at zero");
        // SAFETY: inside the memory, elements are as large as those of the region; the rest is the caller's promise.
        unsafe { zero(base, from, to, self.on_ground) };
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
        if self.ground.is_some() {
            return;
        }
        // SAFETY: R1: the mapping is ours and nothing borrows it any more.
        // Unmapping a range that was mapped cannot fail; there is nobody to tell if it did.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.reserved) };
    }
}

// SAFETY: a region owns its memory like a Vec does (R1), so it may move to another thread with its elements.
unsafe impl<T: Send> Send for Region<T> {}
// SAFETY: a shared region only gives out shared slices of its elements.
unsafe impl<T: Sync> Sync for Region<T> {}

/// Set elements `from..to` to zero, and give the memory of whole pages among them back.
///
/// # Safety
/// The range must lie inside the memory of a [`Region`] at `base`, on a ground or not, and nobody else may use it meanwhile.
unsafe fn zero<T>(base: NonNull<T>, from: usize, to: usize, on_ground: bool) {
    let start = from * size_of::<T>();
    let end = to * size_of::<T>();
    let first_page = start.next_multiple_of(HUGE_PAGE).min(end);
    // SAFETY: inside the mapping, and in use by nobody else, as the caller promises.
    unsafe { base.cast::<u8>().add(start).write_bytes(0, first_page - start) };
    if first_page < end {
        // What is shared goes away for all processes.
        let advice = if on_ground { Advice::LinuxRemove } else { Advice::LinuxDontNeed };
        // SAFETY: a range of whole pages of the region: afterwards it reads as zero (R3), or the system has refused.
        let dropped = unsafe {
            let tail = base.cast::<u8>().add(first_page);
            madvise(tail.as_ptr().cast(), (end - first_page).next_multiple_of(HUGE_PAGE), advice)
        };
        if dropped.is_err() {
            // SAFETY: as for the first part.
            unsafe { base.cast::<u8>().add(first_page).write_bytes(0, end - first_page) };
        }
    }
}

/// Advise huge pages for what this process touches first of a ground.
pub fn use_huge_pages_on(ground: &Ground) {
    // SAFETY: the memory of the ground.
    unsafe { advise_huge_pages(ground.words().as_ptr().cast_mut().cast(), ground.bytes()) };
}

/// Advise huge pages, which does not change what is there.
///
/// # Safety
/// There must be so many bytes of memory.
unsafe fn advise_huge_pages(start: *mut std::ffi::c_void, bytes: usize) {
    if tuning::HUGE_PAGES {
        // A kernel without huge pages refuses; that costs speed only.
        // SAFETY: the caller's promise.
        let _ = unsafe { madvise(start, bytes, Advice::LinuxHugepage) };
    }
}

/// Ask the processor to fetch a line; any address is harmless.
#[inline]
pub(crate) fn prefetch<T>(at: *const T) {
    if tuning::PREFETCH {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: prefetching is a hint that never faults; the address is not dereferenced.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = at;
    }
}

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
