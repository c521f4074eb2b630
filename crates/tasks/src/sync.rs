//! Atomics, threads and locks, from the standard library or from the model checkers that explore their interleavings.

#[cfg(loom)]
pub use loom::{
    sync::Mutex,
    sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    thread,
};

#[cfg(shuttle)]
pub use shuttle::{
    sync::Mutex,
    sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    thread,
};

#[cfg(not(any(loom, shuttle)))]
pub use std::{
    sync::Mutex,
    sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    thread,
};

/// Let time pass in a loop that waits for another thread; model checkers need to be told.
#[inline]
pub fn spin() {
    #[cfg(not(any(loom, shuttle)))]
    std::hint::spin_loop();
    #[cfg(any(loom, shuttle))]
    thread::yield_now();
}
