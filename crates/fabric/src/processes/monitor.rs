//! The watch that ranks keep over each other.
//!
//! Each rank has a thread that raises a counter in the memory of rank 0, whose own thread looks whether the counters
//! move; rank 0 raises one in the memory of every other rank, which look at that. Who sees one stand still for too long,
//! or finds a verdict in its own memory, ends its process. The verdict of a rank goes to all that can still
//! hear it, with a note on who tells the user.

use super::peers::Peers;
use super::segment::ProcessSegment;
use super::{Options, StartError};
use crate::sync::Ordering;
use crate::{Distance, LossCause, Place, RankLost, Segment};
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
/// For news to get to all ranks, by way of rank 0.
const GRACE: Duration = INTERVAL.saturating_mul(5);
/// For the first connections to be made.
const CONNECTING: Duration = Duration::from_secs(30);
/// For a launcher to notice a lost host, with settings as in docs/cluster.md.
const LAUNCHER_NOTICES: Duration = Duration::from_secs(13);

/// The thread, and what it needs.
pub(super) struct Monitor {
    thread: Mutex<Option<(Sender<News>, JoinHandle<()>)>>,
}

/// A loss that another thread of this process has seen, and whether this process tells the user.
struct News {
    lost: RankLost,
    tell: bool,
}

struct Watch {
    peers: Arc<Peers>,
    beats: ProcessSegment,
    patience: Duration,
    tell: fn(&RankLost),
    end: fn() -> !,
}

impl Monitor {
    pub(super) fn start(peers: Arc<Peers>, beats: ProcessSegment, options: &Options) -> Result<Monitor, StartError> {
        let Options { patience, tell, end, .. } = *options;
        let rank = peers.rank();
        let watching = Watch { peers, beats, patience, tell, end };
        let (tell_it, news) = mpsc::channel();
        let (connect, connected) = mpsc::channel::<()>();
        let thread = thread::Builder::new().name("monitor".to_owned()).spawn(move || {
            let mut round = Round::new(&watching);
            round.beat(&watching);
            // UCX may abort if a process dies while a connection is being made.
            let _ = watching.beats.flush_all();
            drop(connect);
            let mut last = Instant::now();
            loop {
                match news.recv_timeout(INTERVAL) {
                    Err(RecvTimeoutError::Disconnected) => break,
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(News { lost, tell }) => watching.lose(lost, tell),
                }
                if last.elapsed() > watching.patience && !round.seen.is_empty() {
                    // This process was stopped for so long that the others have given it up, or were stopped too.
                    let cause = LossCause::Stopped { seconds: last.elapsed().as_secs() };
                    watching.lose(RankLost { rank, cause }, rank == 0);
                }
                last = Instant::now();
                round.look(&watching);
                round.beat(&watching);
            }
        });
        let failed = |error: &str| StartError::Network { rank, error: error.to_owned() };
        let thread = thread.map_err(|error| failed(&error.to_string()))?;
        // Ends when the thread lets go of its side.
        if connected.recv_timeout(CONNECTING) == Err(RecvTimeoutError::Timeout) {
            return Err(failed("other ranks cannot be reached through UCX"));
        }
        Ok(Monitor { thread: Mutex::new(Some((tell_it, thread))) })
    }

    /// End this process, and all others, because a rank was lost in a way that this one has seen itself; does it `tell`
    /// the user?
    pub(super) fn lose(&self, lost: RankLost, tell: bool) -> ! {
        // The thread is connected to the others; this one may not be.
        if let Some((thread, _)) = &*self.thread.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = thread.send(News { lost, tell });
        }
        loop {
            thread::park();
        }
    }

    /// No more watching: all ranks have come to their end.
    pub(super) fn stop(&self) {
        if let Some((news, thread)) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            drop(news);
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
            if watch.beats.try_put_word(watch.word(*rank, BEAT), self.count).is_err() {
                watch.hear_verdicts();
                let host = watch.peers.of(*rank).host.clone();
                watch.lose(RankLost { rank: *rank, cause: LossCause::Disconnected { host } }, watch.tells_of(*rank));
            }
        }
    }

    fn look(&mut self, watch: &Watch) {
        watch.hear_verdicts();
        if let Some(error) = watch.peers.unexplained(watch.patience) {
            let cause = LossCause::Network(error.to_string());
            watch.lose(RankLost { rank: watch.peers.rank(), cause }, true);
        }
        let mine = watch.beats.local();
        for (rank, beat, moved) in &mut self.seen {
            // Acquire: as above, though only the number matters.
            let now = mine[*rank * WORDS + BEAT].load(Ordering::Acquire);
            if now != *beat {
                (*beat, *moved) = (now, Instant::now());
            } else if moved.elapsed() > watch.patience {
                let host = watch.peers.of(*rank).host.clone();
                let cause = LossCause::Silent { host, seconds: watch.patience.as_secs() };
                watch.lose(RankLost { rank: *rank, cause }, watch.tells_of(*rank));
            }
        }
    }
}

impl Watch {
    /// Where this rank writes in the memory of `rank`.
    fn word(&self, rank: usize, which: usize) -> Place {
        Place { rank, offset: self.peers.rank() * WORDS + which }
    }

    /// End if another rank has reported a loss.
    fn hear_verdicts(&self) {
        let mine = self.beats.local();
        for from in 0..self.peers.ranks() {
            // Acquire: pairs with the write of whoever has lost a rank.
            let verdict = mine[from * WORDS + VERDICT].load(Ordering::Acquire);
            if verdict != 0 {
                let lost = RankLost { rank: verdict as usize - 1, cause: LossCause::Reported { by: from } };
                self.lose(lost, false);
            }
        }
    }

    /// Does this rank tell the user of a loss that it has noticed? Rank 0 watches all others. If it is lost itself, its host
    /// may be, and the first rank on another one tells; on a single host, rank 1.
    fn tells_of(&self, lost: usize) -> bool {
        if lost != 0 {
            return true;
        }
        let host = |rank: usize| &self.peers.of(rank).host;
        let elsewhere = (1..self.peers.ranks()).find(|&rank| host(rank) != host(0));
        self.peers.rank() == elsewhere.unwrap_or(1)
    }

    /// Tell the others, perhaps the user, and end.
    fn lose(&self, lost: RankLost, tell: bool) -> ! {
        let others = (0..self.peers.ranks()).filter(|&rank| rank != self.peers.rank() && rank != lost.rank);
        for rank in others.filter(|&rank| self.hears(rank)) {
            let _ = self.beats.try_put_word(self.word(rank, VERDICT), lost.rank as u64 + 1);
        }
        if tell {
            (self.tell)(&lost);
        }
        if let Some(network) = self.peers.network() {
            // UCX aborts the process on some of the errors that it is about to see.
            network.close();
        }
        thread::sleep(self.grace(&lost));
        (self.end)()
    }

    /// How long to stay after a loss. All shall hear of it before anybody sees a process go, which would look like another
    /// loss. And where a host may have lost its link, launchers hang if a process ends before they have noticed that.
    fn grace(&self, lost: &RankLost) -> Duration {
        let seen_here = matches!(lost.cause, LossCause::Panicked(_) | LossCause::EndedEarly);
        let far = self.peers.distance(lost.rank) == Distance::Remote;
        if far && !seen_here { GRACE.max(LAUNCHER_NOTICES.saturating_sub(self.patience)) } else { GRACE }
    }

    /// Rank 0 is connected with all and passes on what it hears; others write to it, and to where they can directly.
    fn hears(&self, rank: usize) -> bool {
        self.peers.rank() == 0 || rank == 0 || self.peers.of(rank).mapped
    }
}
