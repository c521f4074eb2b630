//! Threads that begin together or not at all.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{hint, io, panic, thread};

/// Run `body` on so many threads, with the number of each. If one of them cannot start, none does anything.
///
/// A panic of `body` goes on in the caller.
pub(crate) fn on_threads<R: Send>(threads: usize, body: impl Fn(usize) -> R + Sync) -> io::Result<Vec<R>> {
    let all_there = Mutex::new(false);
    thread::scope(|scope| {
        let mut gate = all_there.lock().unwrap_or_else(PoisonError::into_inner);
        let (all_there, body) = (&all_there, &body);
        let behind_gate = move |number| {
            let go = *all_there.lock().unwrap_or_else(PoisonError::into_inner);
            go.then(|| body(number))
        };
        let start = |number| thread::Builder::new().spawn_scoped(scope, move || behind_gate(number));
        let started = (0..threads).map(start).collect::<io::Result<Vec<_>>>();
        *gate = started.is_ok();
        drop(gate);
        let results =
            started?.into_iter().map(|thread| thread.join().unwrap_or_else(|payload| panic::resume_unwind(payload)));
        Ok(results.map(|result| result.expect("the gate was opened")).collect())
    })
}

/// A place where all threads wait for each other, as often as they like.
///
/// They wait awake: rounds are short, and to wake a thread up would take as long as a good part of one.
pub(crate) struct Meeting {
    threads: usize,
    /// Looks at the number of arrivals before others get the processor.
    patience: u32,
    /// How often anybody has come.
    arrivals: AtomicUsize,
}

/// Patience where every thread has a processor. Where not, somebody who is waited for may need that of who waits.
const PATIENCE: u32 = 1 << 12;

impl Meeting {
    pub(crate) fn new(threads: usize) -> Meeting {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let patience = if threads > processors { 1 } else { PATIENCE };
        Meeting { threads, patience, arrivals: AtomicUsize::new(0) }
    }

    /// Wait until all have come; what each did before, all see afterwards.
    pub(crate) fn wait(&self) {
        // Release and Acquire, here and below: the last to come has seen what all others did, and passes it on.
        let arrivals = self.arrivals.fetch_add(1, Ordering::AcqRel) + 1;
        let everybody = arrivals.next_multiple_of(self.threads);
        let mut looks = 0;
        while self.arrivals.load(Ordering::Acquire) < everybody {
            looks += 1;
            if looks % self.patience == 0 { thread::yield_now() } else { hint::spin_loop() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_threads() {
        assert_eq!(on_threads(4, |number| number * 10).unwrap(), [0, 10, 20, 30]);
    }

    #[test]
    fn nobody_leaves_a_meeting_early() {
        const ROUNDS: usize = 1000;
        let (meeting, sum) = (Meeting::new(3), AtomicUsize::new(0));
        on_threads(3, |_| {
            for round in 1..=ROUNDS {
                // Relaxed: the meetings order it.
                sum.fetch_add(1, Ordering::Relaxed);
                meeting.wait();
                assert_eq!(sum.load(Ordering::Relaxed), 3 * round);
                meeting.wait();
            }
        })
        .unwrap();
    }
}
