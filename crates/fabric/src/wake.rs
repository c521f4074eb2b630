//! A word on which threads sleep until somebody changes it and wakes them, in whatever process they are.
//!
//! ```
//! use tremula_fabric::wake::WakeWord;
//! let word = WakeWord::new(0);
//! std::thread::scope(|scope| {
//!     scope.spawn(|| {
//!         word.cell().store(1, std::sync::atomic::Ordering::Release);
//!         word.wake_all();
//!     });
//!     while word.cell().load(std::sync::atomic::Ordering::Acquire) == 0 {
//!         word.sleep_while(0);
//!     }
//! });
//! ```

#[cfg(loom)]
use loom::sync::{Condvar, Mutex, atomic::AtomicU32};
#[cfg(shuttle)]
use shuttle::sync::{Condvar, Mutex, atomic::AtomicU32};
#[cfg(not(any(loom, shuttle)))]
use std::sync::atomic::AtomicU32;
#[cfg(not(any(loom, shuttle, target_os = "linux")))]
use std::sync::{Condvar, Mutex};
#[cfg(not(any(loom, shuttle)))]
use std::time::Duration;

/// A word to sleep on. On Linux it is nothing but the word, so that it may lie in memory that processes share; elsewhere, and
/// in models, it has a queue of its own.
#[derive(Debug, Default)]
pub struct WakeWord {
    cell: AtomicU32,
    #[cfg(any(loom, shuttle, not(target_os = "linux")))]
    queue: (Mutex<()>, Condvar),
}

impl WakeWord {
    /// A word.
    pub fn new(value: u32) -> WakeWord {
        WakeWord {
            cell: AtomicU32::new(value),
            #[cfg(any(loom, shuttle, not(target_os = "linux")))]
            queue: (Mutex::new(()), Condvar::new()),
        }
    }

    /// The word itself, to be read and changed.
    #[inline]
    pub fn cell(&self) -> &AtomicU32 {
        &self.cell
    }

    /// Sleep until somebody wakes the sleepers, unless the word is not `value` any more. May return for no reason.
    pub fn sleep_while(&self, value: u32) {
        #[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
        {
            use rustix::thread::futex::{Flags, wait};
            // Not private to this process. Another value, a signal: whoever sleeps looks again.
            let _ = wait(&self.cell, Flags::empty(), value, None);
        }
        #[cfg(any(loom, shuttle, not(target_os = "linux")))]
        {
            let guard = self.queue.0.lock().expect("nobody panics with this lock");
            // Relaxed: the lock orders it before or after a call that wakes.
            if self.cell.load(crate::sync::Ordering::Relaxed) == value {
                drop(self.queue.1.wait(guard).expect("nobody panics with this lock"));
            }
        }
    }

    /// The same, for so long at most.
    #[cfg(not(any(loom, shuttle)))]
    pub fn sleep_while_for(&self, value: u32, most: Duration) {
        #[cfg(target_os = "linux")]
        {
            use rustix::thread::futex::{Flags, Timespec, wait};
            let time = Timespec { tv_sec: most.as_secs() as i64, tv_nsec: i64::from(most.subsec_nanos()) };
            // As above; and whoever has slept long enough looks again, too.
            let _ = wait(&self.cell, Flags::empty(), value, Some(&time));
        }
        #[cfg(not(target_os = "linux"))]
        {
            let guard = self.queue.0.lock().expect("nobody panics with this lock");
            // Relaxed: as above.
            if self.cell.load(crate::sync::Ordering::Relaxed) == value {
                drop(self.queue.1.wait_timeout(guard, most).expect("nobody panics with this lock"));
            }
        }
    }

    /// Wake all who sleep. To be called after the word was changed.
    pub fn wake_all(&self) {
        #[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
        self.wake(i32::MAX as u32);
        #[cfg(any(loom, shuttle, not(target_os = "linux")))]
        {
            drop(self.queue.0.lock().expect("nobody panics with this lock"));
            self.queue.1.notify_all();
        }
    }

    /// Wake one who sleeps, if there is one. To be called after the word was changed.
    pub fn wake_one(&self) {
        #[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
        self.wake(1);
        #[cfg(any(loom, shuttle, not(target_os = "linux")))]
        {
            drop(self.queue.0.lock().expect("nobody panics with this lock"));
            self.queue.1.notify_one();
        }
    }

    #[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
    fn wake(&self, most: u32) {
        use rustix::thread::futex::{Flags, wake};
        // Waking cannot fail: the word is there.
        let _ = wake(&self.cell, Flags::empty(), most);
    }
}
