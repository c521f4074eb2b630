//! Where all workers of all ranks meet.

use super::memory::{ARRIVED, BROKEN, FULL, Memory, ROUND};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Looks at the word before a worker lets others have the processor, and before it sleeps.
const YIELDS: u32 = 100;
const NAP: Duration = Duration::from_micros(50);

/// Tells all others if this worker panics.
pub struct Alarm<'m>(pub &'m Memory<'m>);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // Relaxed: a flag.
            self.0.control(BROKEN).store(1, Ordering::Relaxed);
        }
    }
}

/// All workers, who meet again and again. If one of them panics, all do.
#[derive(Copy, Clone, Debug)]
pub struct Meeting {
    /// How many they are.
    pub workers: u64,
    /// Looks at the word before a worker lets others have the processor: a waste where there are fewer processors.
    pub spins: u32,
}

impl Meeting {
    /// Wait for all. What they did before is visible to all afterwards. The answer, the same for all, is what there was no
    /// room for when the last one came.
    pub fn meet(self, memory: &Memory<'_>) -> u64 {
        self.meet_unless(memory, &AtomicBool::new(false)).expect("only the end of a program keeps others from coming")
    }

    /// The same, unless somebody says that there will be no more meetings.
    pub fn meet_unless(self, memory: &Memory<'_>, is_over: &AtomicBool) -> Option<u64> {
        let round = memory.control(ROUND);
        // Acquire here and below: pairs with the Release of the last one, who has acquired what all did by their arrivals.
        let before = round.load(Ordering::Acquire);
        if memory.control(ARRIVED).fetch_add(1, Ordering::AcqRel) + 1 == self.workers {
            // Relaxed: nobody arrives again before the round has changed.
            memory.control(ARRIVED).store(0, Ordering::Relaxed);
            let full = memory.control(FULL).load(Ordering::Relaxed);
            round.store(((before >> 8) + 1) << 8 | full, Ordering::Release);
            return Some(full);
        }
        let mut looks = 0;
        loop {
            let now = round.load(Ordering::Acquire);
            if now != before {
                return Some(now & 0xff);
            }
            looks = u32::saturating_add(looks, 1);
            if looks > self.spins {
                // Acquire: pairs with the Release of who says so.
                if is_over.load(Ordering::Acquire) {
                    return None;
                }
                // Relaxed: a flag.
                assert!(memory.control(BROKEN).load(Ordering::Relaxed) == 0, "a worker of the team has panicked");
            }
            match looks {
                _ if looks < self.spins => std::hint::spin_loop(),
                _ if looks < self.spins + YIELDS => std::thread::yield_now(),
                _ => std::thread::sleep(NAP),
            }
        }
    }
}
