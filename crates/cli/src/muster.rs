//! A rank that waits until all ranks have found each other.
//!
//! MPI waits for ever for a rank that hangs before it has come, or that is another program. Nobody watches anybody yet: so each rank
//! gives up by itself after a while, the lower ranks first, since a launcher ends all when one does. Whoever is asked to end meanwhile has
//! nothing to tell, and ends.

use crate::error::Exit;
use crate::output;
use crate::signals::{self, Signal};
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
use tremula_fabric::{host_name, launched_rank, launched_ranks};

/// How long ranks wait for each other. Launchers take two seconds or three to end the others, and all shall be over after fifteen.
const PATIENCE: Duration = Duration::from_secs(11);
/// And so much longer for each of them.
const FOR_EACH: Duration = Duration::from_millis(100);
/// How much longer than the rank before it a rank waits, so that one of them tells.
const NEXT: Duration = Duration::from_millis(400);
/// From this rank on, no longer.
const MOST_PATIENT: usize = 3;
/// How soon a request to end is noticed.
const LOOK: Duration = Duration::from_millis(50);

/// Ends the wait when it is dropped.
pub struct Muster {
    _all_have_come: Sender<()>,
}

impl Muster {
    /// Wait from now on.
    pub fn begin() -> io::Result<Muster> {
        let (_all_have_come, news) = channel();
        thread::Builder::new().name("muster".to_owned()).spawn(move || wait(&news))?;
        Ok(Muster { _all_have_come })
    }
}

fn wait(news: &Receiver<()>) {
    let (began, patience) = (Instant::now(), patience(launched_rank().unwrap_or(0), launched_ranks().unwrap_or(1)));
    while news.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        if signals::is_asked_to_end() {
            leave(Signal::Interrupt.exit_code());
        }
        if began.elapsed() > patience {
            let (rank, seconds) = (launched_rank().unwrap_or(0), patience.as_secs());
            let text =
                format!("tremula: rank {rank} on {} waits for ranks that have not come in {seconds} s\n", host_name());
            output::to_stderr(&text);
            leave(Exit::Internal.code());
        }
    }
}

/// Handlers of an ordinary end would wait for MPI.
fn leave(code: i32) -> ! {
    signal_hook::low_level::exit(code)
}

fn patience(rank: usize, ranks: usize) -> Duration {
    PATIENCE + FOR_EACH * ranks as u32 + NEXT * rank.min(MOST_PATIENT) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_ranks_tell_first() {
        let of_four = [0, 1, 2, 3].map(|rank| patience(rank, 4));
        assert!(of_four.is_sorted_by(|a, b| *b >= *a + NEXT), "{of_four:?}");
        assert!(of_four[1] <= Duration::from_secs(12), "{of_four:?}");
        assert!(patience(0, 1000) > Duration::from_secs(100));
    }
}
