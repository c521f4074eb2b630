//! A barrier between threads that can be used again and again, and that lets nobody wait for a thread that is gone.
//!
//! Invariants:
//! - B1: `round` counts the completed rounds; once `lost` is set neither ever changes again;
//! - B2: `arrived < ranks` whenever the lock is free: the last to arrive completes the round;
//! - B3: `signal` is what those see who do not hold the lock: `round`, or `BROKEN` once `lost` is set. It is written
//!   under the lock.
//!
//! Waiting spins for some microseconds on the signal, then sleeps. A waiter decides to sleep under the lock, and rounds
//! end under the lock, so no wake-up is missed.
//!
//! ```
//! use tremula_fabric::barrier::Barrier;
//! let barrier = Barrier::new(2, 0);
//! std::thread::scope(|scope| {
//!     scope.spawn(|| barrier.wait());
//!     assert_eq!(barrier.wait(), Ok(()));
//! });
//! ```

use crate::sync::{AtomicU64, Condvar, Mutex, MutexGuard, Ordering, spin_loop};
use crate::{LossCause, RankLost};
use std::sync::PoisonError;

const BROKEN: u64 = u64::MAX;

/// Where a number of ranks wait for each other.
#[derive(Debug)]
pub struct Barrier {
    ranks: usize,
    spins: u32,
    state: Mutex<State>,
    changed: Condvar,
    signal: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    /// Rounds that are complete.
    round: u64,
    /// Ranks that wait for the end of this round.
    arrived: usize,
    /// A rank that will not come any more.
    ended: Option<usize>,
    /// Why nobody will ever wait again.
    lost: Option<RankLost>,
}

impl Barrier {
    /// A barrier between `ranks` threads, which look `spins` times before they sleep. Spinning is a waste if there are
    /// fewer processors than ranks.
    pub fn new(ranks: usize, spins: u32) -> Barrier {
        let state = Mutex::new(State::default());
        Barrier { ranks, spins, state, changed: Condvar::new(), signal: AtomicU64::new(0) }
    }

    /// Wait until all ranks have called this. What they did before is visible to the caller after.
    ///
    /// Returns the first loss if the barrier is broken, or breaks because a rank has ended.
    pub fn wait(&self) -> Result<(), RankLost> {
        let mut state = self.lock();
        if let Some(rank) = state.ended {
            self.lose(&mut state, RankLost::new(rank, LossCause::EndedEarly));
        }
        if let Some(lost) = &state.lost {
            return Err(lost.clone());
        }
        state.arrived += 1;
        if state.arrived < self.ranks {
            let round = state.round;
            drop(state);
            return self.wait_for_end_of(round);
        }
        state.arrived = 0;
        state.round += 1;
        // Release pairs with the Acquire in `wait_for_end_of`. It publishes what all ranks did before they arrived:
        // their arrivals came to us through the lock.
        self.signal.store(state.round, Ordering::Release);
        self.changed.notify_all();
        Ok(())
    }

    fn wait_for_end_of(&self, round: u64) -> Result<(), RankLost> {
        for _ in 0..self.spins {
            // Acquire pairs with the Release in `wait`.
            match self.signal.load(Ordering::Acquire) {
                BROKEN => break,
                now if now != round => return Ok(()),
                _ => spin_loop(),
            }
        }
        let mut state = self.lock();
        while state.round == round && state.lost.is_none() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.lost.clone().map_or(Ok(()), Err)
    }

    /// Note that `rank` will not come any more, without breaking the barrier unless somebody waits or will wait.
    pub fn end(&self, rank: usize) {
        let mut state = self.lock();
        state.ended.get_or_insert(rank);
        if state.arrived > 0 {
            self.lose(&mut state, RankLost::new(rank, LossCause::EndedEarly));
        }
    }

    /// Break the barrier: all who wait, now or later, get the first loss.
    pub fn break_with(&self, lost: RankLost) {
        self.lose(&mut self.lock(), lost);
    }

    /// The first loss, if there was one.
    pub fn lost(&self) -> Option<RankLost> {
        // Relaxed: the number is the whole message; the reason is read under the lock.
        let broken = self.signal.load(Ordering::Relaxed) == BROKEN;
        if broken { self.lock().lost.clone() } else { None }
    }

    fn lose(&self, state: &mut State, lost: RankLost) {
        state.lost.get_or_insert(lost);
        // Relaxed: who sees the number takes the lock before it uses anything else.
        self.signal.store(BROKEN, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// The state; nothing that runs under the lock panics, so a poisoned lock guards a sound state.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn one_rank_never_waits() {
        let barrier = Barrier::new(1, 0);
        assert!((0..10).all(|_| barrier.wait().is_ok()));
    }

    #[test]
    fn the_first_loss_is_told_to_all() {
        let barrier = Barrier::new(3, 0);
        let lost = |rank| RankLost::new(rank, LossCause::Panicked("oh".into()));
        thread::scope(|scope| {
            let waiters = [(); 2].map(|()| scope.spawn(|| barrier.wait()));
            barrier.break_with(lost(2));
            barrier.break_with(lost(1));
            for waiter in waiters {
                assert_eq!(waiter.join().unwrap(), Err(lost(2)));
            }
        });
        assert_eq!(barrier.wait(), Err(lost(2)));
        assert_eq!(barrier.lost(), Some(lost(2)));
    }

    #[test]
    fn an_end_breaks_the_barrier_only_if_somebody_waits() {
        let barrier = Barrier::new(2, 0);
        barrier.end(1);
        assert_eq!(barrier.lost(), None);
        assert_eq!(barrier.wait(), Err(RankLost::new(1, LossCause::EndedEarly)));
    }
}
