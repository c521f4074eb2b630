//! A barrier that releases everybody when one of them will never come.

use crate::sync::{AtomicBool, AtomicUsize, Ordering, unless_modelled, yield_now};
use tremula_fabric::wake::WakeWord;

/// Where all workers meet, in whatever process they are. Zeros are a place where nobody is expected.
#[derive(Default)]
#[repr(C)]
pub struct Rendezvous {
    workers: AtomicUsize,
    arrived: AtomicUsize,
    /// Meetings so far; whoever waits long sleeps on it.
    meetings: WakeWord,
    broken: AtomicBool,
}

/// Somebody has said that it will not come any more.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Broken;

const SPINS: usize = unless_modelled(200, 0);
const YIELDS: usize = unless_modelled(20, 1);

impl Rendezvous {
    /// A meeting place for so many.
    #[cfg(test)]
    pub fn new(workers: usize) -> Rendezvous {
        let place = Rendezvous::default();
        place.open(workers);
        place
    }

    /// So many will come from now on. Before any of them does.
    pub fn open(&self, workers: usize) {
        // Relaxed, all: whoever starts the workers publishes it to them.
        self.workers.store(workers, Ordering::Relaxed);
        self.arrived.store(0, Ordering::Relaxed);
        self.broken.store(false, Ordering::Relaxed);
    }

    /// Wait until all have come. What each did before is visible to all afterwards.
    pub fn meet(&self) -> Result<(), Broken> {
        // Relaxed: it changes only when all have arrived, this worker included. Their number does not change.
        let (meeting, workers) = (self.meetings.cell().load(Ordering::Relaxed), self.workers.load(Ordering::Relaxed));
        // AcqRel: the last one sees what all others did before, and passes it on below.
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == workers {
            // Relaxed: the others arrive again only after they have seen the next number.
            self.arrived.store(0, Ordering::Relaxed);
            // Release pairs with the Acquire in `is_over`.
            self.meetings.cell().store(meeting.wrapping_add(1), Ordering::Release);
            self.meetings.wake_all();
        } else {
            self.wait_for_others(meeting);
        }
        // Acquire pairs with the Release in `break_up`.
        if self.broken.load(Ordering::Acquire) { Err(Broken) } else { Ok(()) }
    }

    /// Say that somebody will not come any more: all meetings fail from now on.
    pub fn break_up(&self) {
        // Release pairs with the Acquire in `is_over` and `meet`.
        self.broken.store(true, Ordering::Release);
        // The number changes, so that nobody who has seen the old one goes to sleep on it. Release: for who sees it first.
        self.meetings.cell().fetch_add(1, Ordering::Release);
        self.meetings.wake_all();
    }

    fn is_over(&self, meeting: u32) -> bool {
        // Acquire pairs with the Release in `meet` and in `break_up`.
        self.meetings.cell().load(Ordering::Acquire) != meeting || self.broken.load(Ordering::Acquire)
    }

    fn wait_for_others(&self, meeting: u32) {
        for left in (1..=SPINS + YIELDS).rev() {
            if self.is_over(meeting) {
                return;
            }
            if left > YIELDS { std::hint::spin_loop() } else { yield_now() }
        }
        while !self.is_over(meeting) {
            self.meetings.sleep_while(meeting);
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn nobody_leaves_before_all_have_come() {
        let (place, counts) = (Rendezvous::new(4), [const { AtomicUsize::new(0) }; 100]);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for count in &counts {
                        count.fetch_add(1, Ordering::Relaxed);
                        place.meet().unwrap();
                        assert_eq!(count.load(Ordering::Relaxed), 4);
                    }
                });
            }
        });
    }

    #[test]
    fn a_broken_meeting_releases_those_who_wait() {
        let place = Rendezvous::new(3);
        std::thread::scope(|scope| {
            let waiting = [0, 1].map(|_| scope.spawn(|| place.meet()));
            std::thread::sleep(std::time::Duration::from_millis(20));
            place.break_up();
            assert!(waiting.into_iter().all(|thread| thread.join().unwrap() == Err(Broken)));
        });
        assert_eq!(place.meet(), Err(Broken));
    }
}
