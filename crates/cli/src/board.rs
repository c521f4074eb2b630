//! What racing ranks tell each other while they run: a few words on rank 0 that all look at now and then.
//!
//! The words change by atomic operations only. They hand nothing over but themselves: what the winner has found travels
//! by a collective, when all have arrived.

use crate::run::{Run, Stop};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;
use tremula_fabric::{Fabric, FabricError, Place, Segment};

/// Who was done first: its rank and one; zero while nobody is.
const DONE: Place = Place { rank: 0, offset: 0 };
/// Why all are to stop, as a number; zero while they are not. Beside the first, so that one look sees both.
const STOPPED: Place = Place { rank: 0, offset: 1 };
/// How many ranks have come to the end of their part.
const ARRIVED: Place = Place { rank: 0, offset: 2 };
const WORDS: usize = 3;

/// The words of one race.
pub struct Board<S> {
    words: S,
}

impl<S: Segment> Board<S> {
    /// *Collective.* A board on which nothing is written yet.
    pub fn new<F: Fabric<Segment = S>>(fabric: &F) -> Result<Board<S>, FabricError> {
        Ok(Board { words: fabric.allocate(WORDS)? })
    }

    /// The rank that looks.
    pub fn rank(&self) -> usize {
        self.words.rank()
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> usize {
        self.words.ranks()
    }

    /// This rank is done; is it the first?
    pub fn claim(&self) -> Result<bool, FabricError> {
        Ok(self.words.compare_and_swap(DONE, 0, own_mark(self.rank()))? == 0)
    }

    /// Look at the board until the other end of `over` is dropped, and let what it says happen to `run`. If `run` is to
    /// stop for a reason of its own, write that down for the others.
    pub fn watch(&self, run: &Run, over: &Receiver<()>) {
        for pause in pauses() {
            // The board is out of reach only if this rank or the first is lost, which is dealt with elsewhere.
            if over.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) || self.look(run).is_err() {
                return;
            }
        }
    }

    fn look(&self, run: &Run) -> Result<(), FabricError> {
        let mut words = [0; 2];
        self.words.get(DONE, &mut words)?;
        let [done, stopped] = words;
        if done != 0 && done != own_mark(self.rank()) && !run.is_beaten() {
            run.give_way();
        }
        match reason(stopped) {
            Some(reason) => run.stop(reason),
            None if run.is_stopped() => {
                let reason = run.known().stop.map_or(Stop::Interrupted, |(reason, _)| reason);
                self.words.compare_and_swap(STOPPED, 0, number(reason))?;
            }
            None => {}
        }
        Ok(())
    }

    /// *Collective.* Wait until all ranks have come to the end of their part. Waiting takes no processor time to speak of:
    /// the others may still need it for long.
    pub fn arrive(&self) -> Result<(), FabricError> {
        self.words.fetch_add(ARRIVED, 1)?;
        for pause in pauses() {
            if self.words.get_word(ARRIVED)? == self.ranks() as u64 {
                break;
            }
            std::thread::sleep(pause);
        }
        Ok(())
    }
}

fn own_mark(rank: usize) -> u64 {
    rank as u64 + 1
}

fn number(reason: Stop) -> u64 {
    match reason {
        Stop::Interrupted => 1,
        Stop::TimeLimit => 2,
    }
}

fn reason(number: u64) -> Option<Stop> {
    [Stop::Interrupted, Stop::TimeLimit].into_iter().find(|&reason| self::number(reason) == number)
}

/// Pauses between looks: short at first, because many nets take only milliseconds.
fn pauses() -> impl Iterator<Item = Duration> {
    const SHORTEST: Duration = Duration::from_millis(1);
    const LONGEST: Duration = Duration::from_millis(16);
    std::iter::successors(Some(SHORTEST), |&pause| Some(LONGEST.min(pause * 2)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::ReachArgs;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::channel;
    use std::time::Instant;
    use tremula_fabric::threads;

    fn run() -> Run {
        Run::new(&ReachArgs::of("m".into()), Instant::now()).unwrap()
    }

    /// Let each of three ranks look at a board while `part` runs, until all have arrived; what became of their runs.
    fn three(part: impl Fn(&Board<threads::ThreadSegment>, &Run) + Sync) -> Vec<Run> {
        let runs = threads::run(3, |fabric| {
            let (board, run) = (Board::new(fabric).unwrap(), run());
            std::thread::scope(|scope| {
                let (until_here, over) = channel();
                let (board, run) = (&board, &run);
                scope.spawn(move || board.watch(run, &over));
                part(board, run);
                board.arrive().unwrap();
                drop(until_here);
            });
            run
        });
        runs.unwrap()
    }

    fn wait_for(what: impl Fn() -> bool) {
        let began = Instant::now();
        while !what() {
            assert!(began.elapsed() < Duration::from_secs(60), "waited in vain");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn only_the_first_goes_on() {
        let runs = three(|board, run| {
            if !board.claim().unwrap() {
                wait_for(|| run.attention.is_cancelled());
            }
        });
        let beaten: Vec<bool> = runs.iter().map(Run::is_beaten).collect();
        assert_eq!(beaten.iter().filter(|&&beaten| !beaten).count(), 1, "{beaten:?}");
        assert!(runs.iter().all(|run| run.attention.is_cancelled() == run.is_beaten() && !run.is_stopped()));
    }

    #[test]
    fn who_is_stopped_stops_all_for_the_same_reason() {
        for reason in [Stop::Interrupted, Stop::TimeLimit] {
            let runs = three(|board, run| {
                if board.rank() == 1 {
                    run.stop(reason);
                }
                wait_for(|| run.is_stopped());
                // The others hear of it from the board, which must have been written on by then.
                wait_for(|| board.words.get_word(STOPPED) == Ok(number(reason)));
            });
            for run in runs {
                assert!(run.attention.is_cancelled() && !run.is_beaten());
                assert_eq!(run.known().stop.map(|(reason, _)| reason), Some(reason));
            }
        }
    }

    #[test]
    fn who_has_arrived_waits_for_the_others() {
        let came = AtomicBool::new(false);
        let all_came = threads::run(3, |fabric| {
            let board = Board::new(fabric).unwrap();
            if board.rank() == 2 {
                std::thread::sleep(Duration::from_millis(50));
                // Release and Acquire: the load below must see this if the board has ordered the two, and may not if not.
                came.store(true, Ordering::Release);
            }
            board.arrive().unwrap();
            came.load(Ordering::Acquire)
        });
        assert_eq!(all_came.unwrap(), [true; 3]);
    }
}
