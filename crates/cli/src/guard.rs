//! A process between a launcher and a rank.
//!
//! Launchers end with a code of their own if a process that they have started is killed by a signal, and kill all others at
//! once, so that nobody can say which rank was lost. So what they start is a guard: it starts the rank, passes signals on to it,
//! and ends as it does. If the rank is killed, for want of memory perhaps, the guard stays until the other ranks have noticed and
//! told, and ends with the code of a lost rank; before ranks have found each other, the guard tells itself. If the guard is killed, the
//! system kills the rank.

use crate::error::{Exit, end};
use crate::output;
use rustix::process::{Pid, Signal, getppid, kill_process, set_parent_process_death_signal};
use rustix::thread::set_name;
use signal_hook::consts::{SIGINT, SIGTERM, SIGURG, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;
use std::env;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tremula_fabric::{host_name, launched_rank};

/// Tells a rank the number of its guard.
const VARIABLE: &str = "TREMULA_GUARD";
/// By this name a guard is told apart from its rank in lists of processes.
const NAME: &std::ffi::CStr = c"tremula-guard";
/// For the other ranks to notice that one has died, and to tell: longer than the silence after which they do so in any case.
const NOTICED: Duration = Duration::from_secs(11);

/// The guard of this process, which is a rank; or else become the guard of one that does all that this one was to do.
///
/// Nothing if there can be no guard: a rank can do without.
pub fn of_this_rank() -> Option<u32> {
    if let Some(guard) = known_guard() {
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
        // A guard that died before that line is not the parent any more.
        return if known_guard().is_some() { Some(guard) } else { end(Exit::Internal.code()) };
    }
    // Signals that come before there is a rank wait for it.
    let signals = Signals::new([SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGURG]).ok()?;
    let rank = start_rank().ok()?;
    let _ = set_name(NAME);
    let is_watched = Arc::new(AtomicBool::new(false));
    forward(signals, &rank, Arc::clone(&is_watched));
    end(code_of(rank, &is_watched))
}

/// Tell the guard that all ranks have found each other, and watch each other from now on. The signal means nothing to anybody else.
pub fn all_have_come(guard: u32) {
    let guard = i32::try_from(guard).ok().and_then(Pid::from_raw);
    let _ = guard.map(|guard| kill_process(guard, Signal::URG));
}

/// The guard that has started this process.
fn known_guard() -> Option<u32> {
    let guard = env::var(VARIABLE).ok()?.parse().ok()?;
    // The variable may have come by way of another process, which was the rank.
    let is_parent = getppid().is_some_and(|parent| parent.as_raw_nonzero().get() as u32 == guard);
    is_parent.then_some(guard)
}

fn start_rank() -> std::io::Result<Child> {
    // Signals for the group of this process come by way of it only, not twice.
    let mut command = Command::new(env::current_exe()?);
    command.args(env::args_os().skip(1)).env(VARIABLE, std::process::id().to_string()).process_group(0).spawn()
}

/// Pass signals on for as long as the rank lives, and note that it is watched.
fn forward(mut signals: Signals, rank: &Child, is_watched: Arc<AtomicBool>) {
    let rank = Pid::from_child(rank);
    let pass = move || {
        for number in signals.forever() {
            let signal = match number {
                SIGURG => {
                    // Relaxed, here and below: a word that goes with no data.
                    is_watched.store(true, Ordering::Relaxed);
                    continue;
                }
                SIGINT => Signal::INT,
                SIGTERM => Signal::TERM,
                SIGUSR2 => Signal::USR2,
                _ => Signal::USR1,
            };
            let _ = kill_process(rank, signal);
        }
    };
    // Without it, signals are for the rank itself.
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(pass);
}

/// What to end with, once the rank has ended.
fn code_of(mut rank: Child, is_watched: &AtomicBool) -> i32 {
    let status = rank.wait().ok();
    let signal = status.and_then(|status| status.signal());
    match (status.and_then(|status| status.code()), signal) {
        (Some(code), _) => code,
        // It was to end before it could catch that, and is not missed.
        (None, Some(signal @ (SIGINT | SIGTERM | SIGUSR2))) => 128 + signal,
        (None, _) if is_watched.load(Ordering::Relaxed) => {
            std::thread::sleep(NOTICED);
            Exit::Internal.code()
        }
        (None, signal) => {
            let (rank, signal) = (launched_rank().unwrap_or(0), signal.unwrap_or(0));
            let text =
                format!("tremula: rank {rank} on {} was killed by signal {signal} before all had come\n", host_name());
            output::to_stderr(&text);
            Exit::Internal.code()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn nobody_else_tells_of_a_rank_that_dies_early() {
        let began = Instant::now();
        let ends = |script: &str| {
            let rank = Command::new("sh").args(["-c", script]).spawn().unwrap();
            code_of(rank, &AtomicBool::new(false))
        };
        assert_eq!(["exit 3", "kill -9 $$", "kill -TERM $$"].map(ends), [3, Exit::Internal.code(), 143]);
        assert!(began.elapsed() < NOTICED, "it waits for others");
    }
}
