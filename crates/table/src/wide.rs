//! Sixteen bytes that are read and written as a whole: an entry of the shared operation cache is never torn.
//!
//! Processors with AVX do aligned 16-byte loads and stores atomically, and ordered as x86 orders all of them: a load is
//! an acquire, a store a release. (Intel's manual, volume 3, "Guaranteed Atomic Operations"; AMD's, volume 2, "Access
//! Atomicity".) Elsewhere `portable-atomic` knows the best way.
//!
//! Under loom and shuttle the word is modelled (`wide/modelled.rs`), and what follows from its being atomic is checked.
//! That it is atomic rests on the manuals, and on `halves_never_mix` below.

#[cfg(any(loom, shuttle))]
mod modelled;
#[cfg(any(loom, shuttle))]
pub use modelled::AtomicWide;
#[cfg(not(any(loom, shuttle)))]
use std::cell::UnsafeCell;

/// A 128-bit word with atomic access.
#[cfg(not(any(loom, shuttle)))]
#[repr(C, align(16))]
pub struct AtomicWide(UnsafeCell<u128>);

// SAFETY: all access is atomic, by the two methods below.
#[cfg(not(any(loom, shuttle)))]
unsafe impl Sync for AtomicWide {}

#[cfg(all(target_arch = "x86_64", not(any(loom, shuttle))))]
#[inline]
fn loads_are_atomic() -> bool {
    // Miri cannot run assembly, and ThreadSanitizer does not see it.
    cfg!(not(any(miri, instrumented))) && std::is_x86_feature_detected!("avx")
}

#[cfg(not(any(loom, shuttle)))]
impl AtomicWide {
    fn portable(&self) -> &portable_atomic::AtomicU128 {
        // SAFETY: same size and alignment; the memory is never accessed but atomically.
        unsafe { &*self.0.get().cast::<portable_atomic::AtomicU128>() }
    }

    /// Read the whole word; what was written before the store that wrote it is visible afterwards.
    #[inline]
    pub fn load(&self) -> u128 {
        #[cfg(target_arch = "x86_64")]
        if loads_are_atomic() {
            let value: std::arch::x86_64::__m128i;
            // SAFETY: an aligned load of memory that is ours; atomic on this processor. Not declared `nomem`, so the
            // compiler moves no access across it.
            unsafe {
                std::arch::asm!(
                    "movdqa {value}, [{at}]",
                    value = out(xmm_reg) value,
                    at = in(reg) self.0.get(),
                    options(nostack, preserves_flags),
                );
            }
            // SAFETY: both are sixteen plain bytes.
            return unsafe { std::mem::transmute::<std::arch::x86_64::__m128i, u128>(value) };
        }
        // Acquire pairs with the Release in `store`.
        self.portable().load(portable_atomic::Ordering::Acquire)
    }

    /// Write the whole word, after everything that this thread has written before.
    #[inline]
    pub fn store(&self, value: u128) {
        #[cfg(target_arch = "x86_64")]
        if loads_are_atomic() {
            // SAFETY: both are sixteen plain bytes.
            let value = unsafe { std::mem::transmute::<u128, std::arch::x86_64::__m128i>(value) };
            // SAFETY: an aligned store to memory behind an UnsafeCell; atomic on this processor. Not declared `nomem`, so
            // the compiler moves no access across it.
            unsafe {
                std::arch::asm!(
                    "movdqa [{at}], {value}",
                    value = in(xmm_reg) value,
                    at = in(reg) self.0.get(),
                    options(nostack, preserves_flags),
                );
            }
            return;
        }
        // Release pairs with the Acquire in `load`.
        self.portable().store(value, portable_atomic::Ordering::Release);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    #[test]
    fn halves_never_mix() {
        let word = AtomicWide(UnsafeCell::new(0));
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for writer in 1..=2_u128 {
                let (word, stop) = (&word, &stop);
                scope.spawn(move || {
                    let mut n = writer;
                    while !stop.load(Ordering::Relaxed) {
                        word.store(n | n << 64);
                        n += 2;
                    }
                });
            }
            // Until the writers have really come in between, which on a busy machine takes a while.
            let (mut changes, mut last, mut mixed) = (0, 0, None);
            let limit = Instant::now() + Duration::from_secs(5);
            while changes < 200_000 && mixed.is_none() && Instant::now() < limit {
                for _ in 0..1000 {
                    let value = word.load();
                    if value as u64 != (value >> 64) as u64 {
                        mixed = Some(value);
                    }
                    changes += u32::from(value != last);
                    last = value;
                }
            }
            stop.store(true, Ordering::Relaxed);
            assert_eq!(mixed, None);
            assert!(changes > 0, "the writers never came in between");
        });
    }

    #[test]
    fn both_ways_see_the_same_word() {
        let word = AtomicWide(UnsafeCell::new(7));
        assert_eq!(word.portable().load(portable_atomic::Ordering::Acquire), 7);
        word.store(1 << 100);
        assert_eq!(word.portable().load(portable_atomic::Ordering::Acquire), word.load());
    }
}
