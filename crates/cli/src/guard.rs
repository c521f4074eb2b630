//! A process between a launcher and a rank.
//!
//! Launchers end with a code of their own if a process that they have started is killed by a signal, and kill all others at
//! once, so that nobody can say which rank was lost. So what they start is a guard: it starts the rank, passes signals on to it,
//! and ends as it does. If the rank is killed, for want of memory perhaps, the guard stays until the other ranks have noticed and
//! told, and ends with the code of a lost rank. If the guard is killed, the system kills the rank.

use crate::error::{Exit, end};
use rustix::process::{Pid, Signal, getppid, kill_process, set_parent_process_death_signal};
use rustix::thread::set_name;
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;
use std::env;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command};
use std::time::Duration;

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
    let signals = Signals::new([SIGINT, SIGTERM, SIGUSR1, SIGUSR2]).ok()?;
    let rank = start_rank().ok()?;
    let _ = set_name(NAME);
    forward(signals, &rank);
    end(code_of(rank))
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

/// Pass signals on for as long as the rank lives.
fn forward(mut signals: Signals, rank: &Child) {
    let rank = Pid::from_child(rank);
    let pass = move || {
        for number in signals.forever() {
            let signal = match number {
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
fn code_of(mut rank: Child) -> i32 {
    let status = rank.wait().ok();
    match status.and_then(|status| status.code()) {
        Some(code) => code,
        // It was to end before it could catch that, and is not missed.
        None if status.and_then(|status| status.signal()) == Some(SIGUSR2) => 128 + SIGUSR2,
        None => {
            std::thread::sleep(NOTICED);
            Exit::Internal.code()
        }
    }
}
