//! How long a worker waits awake: first at full speed, then letting others have the processor, then no more.

use crate::sync::{spin, thread};

/// Steps taken so far.
#[derive(Default)]
pub struct Patience(u32);

const SPINS: u32 = if cfg!(any(loom, shuttle)) { 0 } else { 64 };
const YIELDS: u32 = if cfg!(any(loom, shuttle)) { 1 } else { 64 };

impl Patience {
    /// Let some time pass; false when it is time to sleep.
    pub fn wait(&mut self) -> bool {
        self.0 += 1;
        if self.0 <= SPINS {
            spin();
        } else {
            thread::yield_now();
        }
        self.0 <= SPINS + YIELDS
    }
}
