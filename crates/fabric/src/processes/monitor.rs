//! The watch that ranks keep over each other.
//!
//! Each rank has a thread that raises a counter in the memory of rank 0, whose own thread looks whether the counters
//! move; rank 0 raises one in the memory of every other rank, which look at that. Who sees one stand still for too long,
//! or finds a verdict in its own memory, ends its process by the hook. The verdict of a rank goes to all that can still
//! hear it, with a note on who tells the user.

use super::peers::Peers;
use super::segment::ProcessSegment;
use super::{Loss, Options};
use crate::sync::Ordering;
use crate::{LossCause, Place, RankLost, Segment};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Words that each rank has for each other one in its memory.
pub(super) const WORDS: usize = 2;
/// Offset of the counter.
const BEAT: usize = 0;
/// Offset of the verdict: one more than the rank that was lost.
const VERDICT: usize = 1;
/// Between two beats.
const INTERVAL: Duration = Duration::from_millis(250);

/// The thread, and what it needs.
pub(super) struct Monitor {
    watch: Arc<Watch>,
    thread: Mutex<Option<(Sender<()>, JoinHandle<()>)>>,
}

struct Watch {
    peers: Arc<Peers>,
    beats: ProcessSegment,
    patience: Duration,
    on_loss: fn(&Loss) -> !,
}

impl Monitor {
    pub(super) fn start(peers: Arc<Peers>, beats: ProcessSegment, options: &Options) -> Monitor {
        let watch = Arc::new(Watch { peers, beats, patience: options.patience, on_loss: options.on_loss });
        let (stop, stopped) = mpsc::channel();
        let watching = Arc::clone(&watch);
        let thread = thread::Builder::new().name("monitor".to_owned()).spawn(move || {
            let mut round = Round::new(&watching);
            while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                round.beat(&watching);
                round.look(&watching);
            }
        });
        // Without the thread the ranks do not hear of this one, and end.
        Monitor { watch, thread: Mutex::new(thread.ok().map(|thread| (stop, thread))) }
    }

    /// End this process, and all others, because a rank was lost in a way that this one has seen itself; does it `tell`
    /// the user?
    pub(super) fn lose(&self, lost: RankLost, tell: bool) -> ! {
        self.watch.lose(lost, tell)
    }

    /// No more watching: all ranks have come to their end.
    pub(super) fn stop(&self) {
        if let Some((stop, thread)) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            drop(stop);
            let _ = thread.join();
        }
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What the thread remembers.
struct Round {
    count: u64,
    /// For each rank that is watched: the counter, and when it was seen to move.
    seen: Vec<(usize, u64, Instant)>,
}

impl Round {
    fn new(watch: &Watch) -> Round {
        let watched = if watch.peers.rank() == 0 { 1..watch.peers.ranks() } else { 0..1 };
        Round { count: 0, seen: watched.map(|rank| (rank, 0, Instant::now())).collect() }
    }

    fn beat(&mut self, watch: &Watch) {
        self.count += 1;
        for (rank, ..) in &self.seen {
            // Only the newest matters, so nothing is flushed and nothing waited for.
            let _ = watch.beats.put_word(watch.word(*rank, BEAT), self.count);
        }
    }

    fn look(&mut self, watch: &Watch) {
        // Acquire: pairs with the write of whoever has lost a rank.
        let mine = watch.beats.local();
        for from in 0..watch.peers.ranks() {
            let verdict = mine[from * WORDS + VERDICT].load(Ordering::Acquire);
            if verdict != 0 {
                let lost = RankLost { rank: verdict as usize - 1, cause: LossCause::Reported { by: from } };
                watch.lose(lost, false);
            }
        }
        for (rank, beat, moved) in &mut self.seen {
            // Acquire: as above, though only the number matters.
            let now = mine[*rank * WORDS + BEAT].load(Ordering::Acquire);
            if now != *beat {
                (*beat, *moved) = (now, Instant::now());
            } else if moved.elapsed() > watch.patience {
                let host = watch.peers.of(*rank).host.clone();
                let cause = LossCause::Silent { host, seconds: watch.patience.as_secs() };
                // If rank 0 is lost there is nobody to agree with, but the next rank is as good as any.
                let tell = *rank != 0 || watch.peers.rank() == 1;
                watch.lose(RankLost { rank: *rank, cause }, tell);
            }
        }
    }
}

impl Watch {
    /// Where this rank writes in the memory of `rank`.
    fn word(&self, rank: usize, which: usize) -> Place {
        Place { rank, offset: self.peers.rank() * WORDS + which }
    }

    /// Tell the others, and end.
    fn lose(&self, lost: RankLost, tell: bool) -> ! {
        let others = (0..self.peers.ranks()).filter(|&rank| rank != self.peers.rank() && rank != lost.rank);
        for rank in others.filter(|&rank| self.hears(rank)) {
            let _ = self.beats.put_word(self.word(rank, VERDICT), lost.rank as u64 + 1);
        }
        // What goes through the network may need a moment, and waiting for it could take for ever.
        thread::sleep(INTERVAL);
        (self.on_loss)(&Loss { lost, tell })
    }

    /// Rank 0 is connected with all and passes on what it hears; others write to it, and to where they can directly.
    fn hears(&self, rank: usize) -> bool {
        self.peers.rank() == 0 || rank == 0 || self.peers.of(rank).mapped
    }
}
