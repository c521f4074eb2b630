//! Atomics and locks of the shared table, from the standard library or from the model checkers that explore them.

#[cfg(loom)]
pub use loom::{
    sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    sync::{Mutex, MutexGuard},
    thread::yield_now,
};

#[cfg(shuttle)]
pub use shuttle::{
    sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    sync::{Mutex, MutexGuard},
    thread::yield_now,
};

#[cfg(not(any(loom, shuttle)))]
pub use std::{
    sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    sync::{Mutex, MutexGuard},
    thread::yield_now,
};

/// A number for ordinary builds, and one that keeps the models of loom and shuttle small.
pub const fn unless_modelled(number: usize, in_models: usize) -> usize {
    if cfg!(any(loom, shuttle)) { in_models } else { number }
}
