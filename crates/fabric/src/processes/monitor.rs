//! The watch that ranks keep over each other.
//!
//! Each rank has a thread that raises a counter in the memory of rank 0, whose own thread looks whether the counters
//! move; rank 0 raises one in the memory of every other rank, which look at that. Who sees one stand still for too long,
//! or finds a verdict in its own memory, ends its process; so does who finds that a process is not there any more. The verdict of
//! a rank goes to all that can still hear it, with a note on whether the user is being told. Several may have something to tell, a
//! fault that all share for example; so a word in the memory of rank 0 goes to the first that asks for it.

use super::peers::Peers;
use super::segment::ProcessSegment;
use super::{Options, StartError};
use crate::sync::Ordering;
use crate::{Distance, LossCause, Place, RankLost, Segment};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Words that each rank has for each other one in its memory.
const WORDS: usize = 2;
/// Offset of the counter.
const BEAT: usize = 0;
/// Offset of the verdict: one more than the rank that was lost, and [`TOLD`].
const VERDICT: usize = 1;
/// In a verdict: the user is being told.
const TOLD: u64 = 1 << 63;
/// A verdict that no rank is lost: one ends the job for all.
const FAREWELL: u64 = u64::MAX;
/// Between two beats.
const INTERVAL: Duration = Duration::from_millis(250);
/// For news to get to all ranks, by way of rank 0.
const GRACE: Duration = INTERVAL.saturating_mul(5);
/// Between two looks whether something has come.
pub(super) const LOOKS: Duration = Duration::from_millis(1);
/// For rank 0 to say who tells. Its processors may be busy, but others stay for no longer than [`GRACE`].
const ANSWER: Duration = Duration::from_secs(1);
/// For threads to come out of UCX when the network is closed, before handlers of the end take away what they use.
const CLOSING: Duration = Duration::from_millis(100);
/// Between the death of a process and its loss. A process that ends by itself has told why, and launchers end all others within a
/// second; who hears the same again from another rank is none the wiser.
const LAST_WORDS: Duration = Duration::from_millis(1500);
/// The beat that makes connections. Those after it tell that its sender has made them.
const FIRST_BEAT: u64 = 1;
/// For the first connections to be made, beside [`CONNECTING_EACH`]: short enough for a rank that is lost meanwhile to be found out
/// in the time that docs/cluster.md promises.
const CONNECTING: Duration = Duration::from_secs(5);
/// The same, for each rank.
const CONNECTING_EACH: Duration = Duration::from_millis(100);
/// For a launcher to notice a lost host, with settings as in docs/cluster.md.
const LAUNCHER_NOTICES: Duration = Duration::from_millis(11_500);

/// Has this rank seen that a process is not there any more, or may not be? Then a launcher may be about to end all others.
static SEES_DEATH: AtomicBool = AtomicBool::new(false);
/// To the thread, for those who have no [`Monitor`] at hand.
static DESK: Mutex<Option<(usize, Sender<News>)>> = Mutex::new(None);

/// The thread, and what it needs.
pub(super) struct Monitor {
    thread: Mutex<Option<(Sender<News>, JoinHandle<()>)>>,
}

/// What other threads of this process have seen, or want.
enum News {
    /// All ranks have made their connections.
    Connected,
    /// A loss.
    Loss(RankLost),
    /// To end the job. Who asked hears when the others have been told.
    Farewell(Sender<()>),
}

/// Who tells the user.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Teller {
    /// This rank, unless another one is faster.
    This,
    Another,
    /// The rank that [`Watch::tells_of`] it, once it knows.
    Appointed,
}

struct Watch {
    peers: Arc<Peers>,
    beats: ProcessSegment,
    patience: Duration,
    tell: fn(&RankLost),
    end: fn() -> !,
    leave: fn() -> !,
    guard: Option<u32>,
    /// Since when this rank has been making connections, until all are there.
    connecting_since: Option<Instant>,
}

/// Words that each rank has in all.
pub(super) fn words(ranks: usize) -> usize {
    teller_word(ranks) + 1
}

/// Offset of the word that tells, on rank 0, which rank tells the user: its number and one.
fn teller_word(ranks: usize) -> usize {
    WORDS * ranks
}

/// Has a process of this job died, or been silent for long, so that a request to end may be no more than a launcher's way to clean up?
pub fn sees_death() -> bool {
    // Relaxed: a hint, that goes with no data.
    SEES_DEATH.load(Ordering::Relaxed)
}

/// End all ranks, because this one has panicked; returns if there are no ranks, or not any more.
///
/// For hooks that would end the process, so that others would see it go and not know why.
pub fn lose_by_panic(message: String) {
    let desk = DESK.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let Some((rank, monitor)) = desk else { return };
    let lost = RankLost::new(rank, LossCause::Panicked(message));
    if monitor.send(News::Loss(lost)).is_ok() {
        loop {
            thread::park();
        }
    }
}

/// Have all other ranks [leave](Options::leave), because this one is going to end its process whatever they are doing, with nothing wrong.
/// Returns when they should have heard of it, at once if there are none. The network is closed then, and nobody is watched any more.
pub fn farewell() {
    let desk = DESK.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let Some((_, monitor)) = desk else { return };
    let (told, hears) = mpsc::channel();
    if monitor.send(News::Farewell(told)).is_ok() && hears.recv_timeout(GRACE).is_ok() {
        thread::sleep(2 * INTERVAL);
    }
}

impl Monitor {
    pub(super) fn start(peers: Arc<Peers>, beats: ProcessSegment, options: &Options) -> Result<Monitor, StartError> {
        let Options { patience, tell, end, leave, guard, .. } = *options;
        let (rank, ranks) = (peers.rank(), peers.ranks());
        let connecting_since = Some(Instant::now());
        let mut watching = Watch { peers, beats, patience, tell, end, leave, guard, connecting_since };
        let (tell_it, news) = mpsc::channel();
        let (connect, connected) = mpsc::channel::<()>();
        let thread = thread::Builder::new().name("monitor".to_owned()).spawn(move || {
            let mut round = Round::new(&watching);
            round.beat(&watching);
            // UCX may abort if a process dies while a connection is being made. One that is lost already is told below.
            let _ = watching.beats.try_flush();
            drop(connect);
            let mut last = Instant::now();
            loop {
                match news.recv_timeout(INTERVAL) {
                    Err(RecvTimeoutError::Disconnected) => break,
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(News::Connected) => {
                        watching.connecting_since = None;
                        round.expect_beats_from_now();
                    }
                    Ok(News::Loss(lost)) => watching.lose(lost, Teller::This),
                    Ok(News::Farewell(told)) => {
                        watching.bid_farewell();
                        watching.close_network();
                        // Whoever asked may have lost patience.
                        let _ = told.send(());
                        break;
                    }
                }
                if last.elapsed() > watching.patience && !round.seen.is_empty() {
                    // This process was stopped for so long that the others have given it up and say so, or were stopped too.
                    let cause = LossCause::Stopped { seconds: last.elapsed().as_secs() };
                    // What others have written meanwhile may have to come through the network.
                    thread::sleep(INTERVAL);
                    watching.hear_verdicts();
                    watching.lose(RankLost::new(rank, cause), Teller::This);
                }
                last = Instant::now();
                round.look(&watching);
                round.beat(&watching);
            }
        });
        let failed = |error: &str| StartError::Network { rank, error: error.to_owned(), noticed_by: rank };
        let thread = thread.map_err(|error| failed(&error.to_string()))?;
        // Ends when the thread lets go of its side.
        if connected.recv_timeout(connecting(ranks)) == Err(RecvTimeoutError::Timeout) {
            return Err(failed("other ranks cannot be reached through UCX"));
        }
        *DESK.lock().unwrap_or_else(PoisonError::into_inner) = Some((rank, tell_it.clone()));
        Ok(Monitor { thread: Mutex::new(Some((tell_it, thread))) })
    }

    /// All ranks have made their connections: from now on, none may be silent for long.
    pub(super) fn all_are_connected(&self) {
        if let Some((thread, _)) = &*self.thread.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = thread.send(News::Connected);
        }
    }

    /// End this process, and all others, because a rank was lost in a way that this one has seen itself.
    pub(super) fn lose(&self, lost: RankLost) -> ! {
        // The thread is connected to the others; this one may not be.
        if let Some((thread, _)) = &*self.thread.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = thread.send(News::Loss(lost));
        }
        loop {
            thread::park();
        }
    }

    /// No more watching: all ranks have come to their end.
    pub(super) fn stop(&self) {
        if let Some((news, thread)) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // The thread ends when nobody is left who could send.
            DESK.lock().unwrap_or_else(PoisonError::into_inner).take();
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
    seen: Vec<Seen>,
    /// Since when the guard of this process has been stopped.
    unguarded: Option<Instant>,
}

/// A rank that is watched.
struct Seen {
    rank: usize,
    beat: u64,
    /// When the counter was seen to move; at first, when it is going to at the latest.
    moved: Instant,
    /// When and how it was seen to be gone.
    gone: Option<(Instant, LossCause)>,
}

impl Seen {
    fn is_gone_by(&mut self, cause: LossCause) {
        self.gone.get_or_insert((Instant::now(), cause));
    }
}

impl Round {
    fn new(watch: &Watch) -> Round {
        let watched = if watch.peers.rank() == 0 { 1..watch.peers.ranks() } else { 0..1 };
        // It may still be making connections.
        let moves = Instant::now() + connecting(watch.peers.ranks());
        let seen = |rank| Seen { rank, beat: FIRST_BEAT, moved: moves, gone: None };
        Round { count: 0, seen: watched.map(seen).collect(), unguarded: None }
    }

    fn expect_beats_from_now(&mut self) {
        for seen in &mut self.seen {
            seen.moved = Instant::now();
        }
    }

    fn beat(&mut self, watch: &Watch) {
        self.count += 1;
        for seen in self.seen.iter_mut().filter(|seen| seen.gone.is_none()) {
            // Only the newest matters, so nothing is flushed and nothing waited for.
            if watch.beats.try_put_word(watch.word(seen.rank, BEAT), self.count).is_err() {
                seen.is_gone_by(LossCause::Disconnected);
            }
        }
    }

    fn look(&mut self, watch: &Watch) {
        watch.hear_verdicts();
        if let Some(error) = watch.peers.unexplained(watch.patience) {
            let cause = LossCause::Network(error.to_string());
            watch.lose(RankLost::new(watch.peers.rank(), cause), Teller::This);
        }
        self.look_at_guard(watch);
        for seen in &mut self.seen {
            watch.look_at(seen);
        }
        let may_be_dead = |seen: &Seen| seen.gone.is_some() || seen.moved.elapsed() > watch.patience / 2;
        // Relaxed: a hint, that goes with no data.
        SEES_DEATH.store(self.seen.iter().any(may_be_dead), Ordering::Relaxed);
    }

    /// A guard that is stopped would let the launcher wait for ever.
    fn look_at_guard(&mut self, watch: &Watch) {
        if !watch.guard.is_some_and(is_stopped) {
            self.unguarded = None;
            return;
        }
        let since = *self.unguarded.get_or_insert_with(Instant::now);
        if since.elapsed() > watch.patience {
            let cause = LossCause::Stopped { seconds: watch.patience.as_secs() };
            watch.lose(RankLost::new(watch.peers.rank(), cause), Teller::This);
        }
    }
}

/// How long so many ranks may take to make their first connections.
fn connecting(ranks: usize) -> Duration {
    CONNECTING + CONNECTING_EACH * ranks as u32
}

/// How long to stay after the loss of a host that was noticed after so long.
fn for_launchers(waited: Duration) -> Duration {
    GRACE.max(LAUNCHER_NOTICES.saturating_sub(waited))
}

/// Has a signal stopped this process of the same host? A debugger that looks at it will let it go on.
fn is_stopped(process: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|status| says_stopped(&status))
}

/// Is that what the system says of a stopped process?
fn says_stopped(status: &str) -> bool {
    // The state comes after the name, which is in parentheses and may contain anything.
    status.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
}

impl Watch {
    /// Where this rank writes in the memory of `rank`.
    fn word(&self, rank: usize, which: usize) -> Place {
        Place { rank, offset: self.peers.rank() * WORDS + which }
    }

    fn look_at(&self, seen: &mut Seen) {
        // Acquire: as for verdicts, though only the number matters.
        let now = self.beats.local()[seen.rank * WORDS + BEAT].load(Ordering::Acquire);
        if now > seen.beat {
            (seen.beat, seen.moved) = (now, Instant::now());
        }
        if self.has_died(seen.rank) {
            seen.is_gone_by(LossCause::Died);
        }
        let cause = match &seen.gone {
            Some((at, cause)) if at.elapsed() > LAST_WORDS => cause.clone(),
            None if seen.moved.elapsed() > self.patience => LossCause::Silent { seconds: self.patience.as_secs() },
            _ => return,
        };
        let teller = if self.tells_of(seen.rank) { Teller::This } else { Teller::Appointed };
        self.lose(RankLost::new(seen.rank, cause), teller);
    }

    /// Is its process gone? Known only of those whose memory was opened by the number of the process.
    fn has_died(&self, rank: usize) -> bool {
        let peer = self.peers.of(rank);
        let process = Pid::from_raw(peer.process as i32).filter(|_| peer.mapped);
        process.is_some_and(|process| test_kill_process(process) == Err(Errno::SRCH))
    }

    /// What other ranks have reported, and who did.
    fn verdicts(&self) -> impl Iterator<Item = (usize, u64)> {
        let mine = self.beats.local();
        // Acquire: pairs with the write of whoever has lost a rank.
        let verdict = |from: usize| mine[from * WORDS + VERDICT].load(Ordering::Acquire);
        (0..self.peers.ranks()).map(move |from| (from, verdict(from))).filter(|&(_, verdict)| verdict != 0)
    }

    /// End if another rank has reported a loss.
    fn hear_verdicts(&self) {
        let Some((from, verdict)) = self.verdicts().next() else { return };
        if verdict == FAREWELL {
            self.leave_too();
        }
        let rank = (verdict & !TOLD) as usize - 1;
        let teller = match verdict & TOLD != 0 {
            true => Teller::Another,
            false if self.tells_of(rank) => Teller::This,
            false => Teller::Appointed,
        };
        let cause = if self.has_died(rank) { LossCause::Died } else { LossCause::Reported { by: from } };
        self.lose(RankLost::new(rank, cause), teller);
    }

    /// Is this the first rank that wants to tell the user of a loss? It may be, if rank 0, where that is written, does not answer.
    fn may_tell(&self) -> bool {
        let me = self.peers.rank() as u64 + 1;
        let teller = Place { rank: 0, offset: teller_word(self.peers.ranks()) };
        let is_told = || self.verdicts().any(|(_, verdict)| verdict & TOLD != 0);
        let began = Instant::now();
        let ends = || is_told() || began.elapsed() > ANSWER;
        if let Some(first) = self.beats.try_claim_word(teller, me, ends) {
            return first == 0 || first == me;
        }
        // Rank 0 serves nobody any more when it has told, or heard from the one that has; its verdict may be on its way.
        while !ends() {
            thread::sleep(LOOKS);
        }
        !is_told()
    }

    /// Does this rank tell the user of a loss that it has noticed? Rank 0 watches all others. If it is lost itself, its host
    /// may be, and the first rank on another one tells; on a single host, the first. Of those that have died too, as far as
    /// this rank knows, none does.
    fn tells_of(&self, lost: usize) -> bool {
        if lost != 0 {
            return true;
        }
        let host = |rank: usize| &self.peers.of(rank).host;
        let mut living = (1..self.peers.ranks()).filter(|&rank| !self.has_died(rank));
        let teller = living.clone().find(|&rank| host(rank) != host(0)).or_else(|| living.next());
        teller == Some(self.peers.rank())
    }

    /// Tell the others, perhaps the user, and end.
    fn lose(&self, lost: RankLost, teller: Teller) -> ! {
        let lost = RankLost { host: Some(self.peers.of(lost.rank).host.clone()), ..lost };
        let ended_early = lost.cause == LossCause::EndedEarly;
        // Of rank 0 nothing is asked that is lost with it.
        let can_ask = lost.rank != 0 || self.peers.of(0).mapped || ended_early;
        let is_late = teller == Teller::This && can_ask && !self.may_tell();
        let teller = if is_late { Teller::Another } else { teller };
        let verdict = (lost.rank as u64 + 1) | if teller == Teller::Appointed { 0 } else { TOLD };
        // A silent rank may wake up again, and then need not tell what everybody knows; nor need one that has only ended.
        let may_hear = |rank| rank != lost.rank || ended_early || matches!(lost.cause, LossCause::Silent { .. });
        let others = (0..self.peers.ranks()).filter(|&rank| rank != self.peers.rank() && may_hear(rank));
        for rank in others.filter(|&rank| self.hears(rank)) {
            let _ = self.beats.try_put_word(self.word(rank, VERDICT), verdict);
        }
        if teller == Teller::This {
            (self.tell)(&lost);
        }
        self.close_network();
        thread::sleep(self.grace(&lost));
        (self.end)()
    }

    /// How long to stay after a loss. All shall hear of it before anybody sees a process go, which would look like another
    /// loss. And where a host may have lost its link, launchers hang if a process ends before they have noticed that.
    fn grace(&self, lost: &RankLost) -> Duration {
        let seen_here = matches!(lost.cause, LossCause::Panicked(_) | LossCause::EndedEarly);
        let far = self.peers.distance(lost.rank) == Distance::Remote;
        let waited = self.connecting_since.map_or(self.patience, |since| since.elapsed().max(self.patience));
        if far && !seen_here { for_launchers(waited) } else { GRACE }
    }

    /// Tell the others that this rank ends the job.
    fn bid_farewell(&self) {
        for rank in (0..self.peers.ranks()).filter(|&rank| rank != self.peers.rank() && self.hears(rank)) {
            let _ = self.beats.try_put_word(self.word(rank, VERDICT), FAREWELL);
        }
        let _ = self.beats.try_flush();
    }

    /// End as another rank wants.
    fn leave_too(&self) -> ! {
        if self.peers.rank() == 0 {
            // The others know rank 0, perhaps not each other.
            self.bid_farewell();
        }
        self.close_network();
        thread::sleep(CLOSING);
        (self.leave)()
    }

    /// UCX aborts the process on some of the errors that it sees when others end.
    fn close_network(&self) {
        if let Some(network) = self.peers.network() {
            network.close();
        }
    }

    /// Rank 0 is connected with all and passes on what it hears; others write to it, and to where they can directly.
    fn hears(&self, rank: usize) -> bool {
        self.peers.rank() == 0 || rank == 0 || self.peers.of(rank).mapped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As docs/cluster.md says.
    #[test]
    fn a_silent_rank_ends_all_in_time() {
        let Options { patience, .. } = Options::new(|_| {}, || unreachable!());
        for ranks in [2, 10, 1000] {
            let last = Duration::from_secs(15);
            for (begins, last) in [(Duration::ZERO, last), (connecting(ranks), last + CONNECTING_EACH * ranks as u32)] {
                // Somebody looks, and somebody else looks what that one has found.
                let noticed = begins + patience + INTERVAL;
                assert!(noticed + INTERVAL + for_launchers(noticed) < last, "{ranks} ranks");
            }
        }
        // And a launcher that can only see a host go has the time for it.
        assert!(patience + for_launchers(patience) >= LAUNCHER_NOTICES);
    }

    #[test]
    fn stopped_processes_are_told_from_others() {
        assert!(says_stopped("7 (tremula-guard) T 1 7 7 0"));
        assert!(says_stopped("7 (a) S (b) T 1 7 7 0"));
        // Asleep, looked at by a debugger, and by such a name.
        assert!(!says_stopped("7 (tremula-guard) S 1 7 7 0"));
        assert!(!says_stopped("7 (tremula-guard) t 1 7 7 0"));
        assert!(!says_stopped("7 (a) T ) S 1 7 7 0"));
        assert!(!is_stopped(std::process::id()));
    }
}
