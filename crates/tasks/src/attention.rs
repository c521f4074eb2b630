//! The attention word of a worker: everything that it should look at soon, one bit each, and whether it sleeps.
//!
//! Others raise bits; the worker reads the word at every spawn and while it waits. All changes are read-modify-write
//! operations on this one word, so they have one order: either the bit comes first, and a worker about to sleep sees it
//! and stays awake, or the sleep comes first, and whoever raises the bit sees that and wakes the worker. No wake-up is
//! lost, and nothing stronger than acquire and release is needed.

use crate::patience::Patience;
use crate::sync::Ordering;
use crossbeam_utils::CachePadded;
use tremula_fabric::wake::WakeWord;

/// A thief has put its number into a request slot.
pub const REQUEST: u32 = 1;
/// A stolen task has its result.
pub const RESULT: u32 = 1 << 1;
/// The transfer cell holds an answer, or a task that was not asked for.
pub const GIFT: u32 = 1 << 2;
/// Somebody sleeps for want of work.
pub const HUNGRY: u32 = 1 << 3;
/// The root task is done.
pub const FINISHED: u32 = 1 << 4;
/// A task has panicked; the run is to end.
pub const POISON: u32 = 1 << 5;
/// A run begins.
pub const START: u32 = 1 << 6;
/// The pool is being dropped.
pub const QUIT: u32 = 1 << 7;
/// All other workers have left the run.
pub const ALONE: u32 = 1 << 8;
/// The worker sleeps or is about to.
const SLEEPING: u32 = 1 << 9;
/// Bits from here up belong to the work.
pub const USER_SHIFT: u32 = 16;
/// All bits of the work.
pub const USER: u32 = !0 << USER_SHIFT;

/// One worker's attention word, and the way to wake it. Nothing in it belongs to one process.
#[repr(C)]
pub struct Attention {
    word: CachePadded<WakeWord>,
    patience: Patience,
}

impl Attention {
    /// A word without bits.
    pub fn new(patience: Patience) -> Attention {
        Attention { word: CachePadded::new(WakeWord::new(0)), patience }
    }

    /// Is there anything to look at?
    #[inline]
    pub fn is_set(&self) -> bool {
        // Relaxed: only a hint; whoever acts on it reads the word again, with Acquire.
        self.word.cell().load(Ordering::Relaxed) != 0
    }

    /// The bits as they are. What was written before a bit was raised is visible to who reads the bit here.
    #[inline]
    pub fn bits(&self) -> u32 {
        // Acquire pairs with the Release in `raise` and `mark`.
        self.word.cell().load(Ordering::Acquire)
    }

    /// Set `bits` and wake the worker if it sleeps.
    pub fn raise(&self, bits: u32) {
        // AcqRel: Release publishes what the bits speak of, Acquire orders the change after those that came before.
        let before = self.word.cell().fetch_or(bits, Ordering::AcqRel);
        if before & SLEEPING != 0 {
            self.word.wake_all();
        }
    }

    /// Set bits that are no reason to wake anybody.
    pub fn mark(&self, bits: u32) {
        // AcqRel: as in `raise`. Always an exchange: a mere look at the bit could come before what it is to announce.
        self.word.cell().fetch_or(bits, Ordering::AcqRel);
    }

    /// Clear `bits`; returns the word as it was. To be done before acting on them, so that none is lost.
    pub fn lower(&self, bits: u32) -> u32 {
        // Acquire pairs with the Release in `raise` and `mark`, as in `bits`. Release pairs with the Acquire in the next `raise`
        // or `mark`: who raises the bit again comes after what was done before it was lowered.
        self.word.cell().fetch_and(!bits, Ordering::AcqRel)
    }

    /// Clear everything that belongs to a run. Between runs.
    pub fn reset(&self) {
        self.lower(!(SLEEPING | QUIT));
    }

    /// Wait until one of the bits `reasons` is raised: awake for a while, then asleep. Others are left as they are.
    pub fn rest(&self, reasons: u32) {
        if !self.patience.wait_for(|| self.bits() & reasons != 0) {
            self.sleep(reasons);
        }
    }

    /// Sleep for so long at most, unless one of the bits `reasons` is raised, or is soon.
    #[cfg(not(any(loom, shuttle)))]
    pub fn doze(&self, reasons: u32, most: std::time::Duration) {
        // AcqRel: as in `sleep`.
        let seen = self.word.cell().fetch_or(SLEEPING, Ordering::AcqRel) | SLEEPING;
        if seen & reasons == 0 {
            self.word.sleep_while_for(seen, most);
        }
        self.lower(SLEEPING);
    }

    /// Pause after a vain attempt, unless one of the bits `reasons` is raised; false when it is time to stop trying.
    pub fn pause_after(&self, attempt: u32, reasons: u32) -> bool {
        self.patience.pause_after(attempt, || self.bits() & reasons != 0)
    }

    /// Sleep until one of the bits `reasons` is raised; returns at once if one is.
    fn sleep(&self, reasons: u32) {
        // AcqRel: see the module's text; this and `raise` are the two sides.
        let mut seen = self.word.cell().fetch_or(SLEEPING, Ordering::AcqRel) | SLEEPING;
        while seen & reasons == 0 {
            self.word.sleep_while(seen);
            seen = self.bits();
        }
        self.lower(SLEEPING);
    }
}
