//! Who is inside the libraries of a device: a program that ends meanwhile must not take them away.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Threads that may be in there.
static ABOUT: AtomicUsize = AtomicUsize::new(0);

/// May a thread be inside the libraries of a device?
pub fn is_about() -> bool {
    // Acquires from those that have ended what they did in the libraries.
    ABOUT.load(Ordering::Acquire) > 0
}

/// Counts a thread, and those that it starts in the libraries, for as long as it lives.
pub struct Presence(());

impl Presence {
    pub fn new() -> Presence {
        // Relaxed: before the thread goes there.
        ABOUT.fetch_add(1, Ordering::Relaxed);
        Presence(())
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        // Released to `is_about`.
        ABOUT.fetch_sub(1, Ordering::Release);
    }
}
