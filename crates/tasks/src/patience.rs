//! How long a worker waits awake: first at full speed, with a chance for others now and then, then letting them have the
//! processor at every step, then no more.

use crate::sync::{spin, thread};
use tremula_fabric::topology::cpu_limit;

/// Steps at full speed where each worker can have a processor of its own: a few times as long as it takes to wake somebody.
const SPINS: u32 = 4000;
/// Steps at full speed where workers wait for processors: whoever is waited for may need this one.
const SPINS_IN_A_CROWD: u32 = 10;
const YIELDS: u32 = 20;
/// Attempts with a pause after each that is twice as long as the one before.
const ATTEMPTS: u32 = 12;
/// Steps at full speed after which others may have the processor for once: on a busy machine, whoever is waited for may
/// stand in line for this one.
const SPINS_IN_A_ROW: u32 = 128;

/// How patient workers are, which depends on how many they are.
#[derive(Copy, Clone, Debug)]
pub struct Patience {
    spins: u32,
    yields: u32,
}

impl Patience {
    /// For so many workers, all of this process.
    pub fn of(workers: usize) -> Patience {
        Patience::in_crowd(workers > cpu_limit())
    }

    /// For workers who are a crowd, or not: more than there are processors for.
    pub fn in_crowd(crowd: bool) -> Patience {
        if cfg!(any(loom, shuttle)) {
            return Patience { spins: 0, yields: 1 };
        }
        Patience { spins: if crowd { SPINS_IN_A_CROWD } else { SPINS }, yields: YIELDS }
    }

    /// Wait a little between two attempts, longer after each, unless something is `ready`; false when it is time to stop
    /// trying.
    pub fn pause_after(self, attempt: u32, ready: impl Fn() -> bool) -> bool {
        if attempt >= ATTEMPTS {
            return false;
        }
        if self.spins < SPINS {
            thread::yield_now();
            return true;
        }
        for step in 1..=1_u32 << attempt {
            if ready() {
                break;
            }
            spin_or_yield(step);
        }
        true
    }

    /// Wait until `ready`, as long as patience lasts; tells whether it came true.
    pub fn wait_for(self, ready: impl Fn() -> bool) -> bool {
        for step in 0..self.spins + self.yields {
            if ready() {
                return true;
            }
            if step < self.spins {
                spin_or_yield(step);
            } else {
                thread::yield_now();
            }
        }
        false
    }
}

/// A step at full speed, mostly.
fn spin_or_yield(step: u32) {
    if step % SPINS_IN_A_ROW == SPINS_IN_A_ROW - 1 { thread::yield_now() } else { spin() }
}
