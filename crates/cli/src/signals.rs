//! Signals, turned into messages for the watching thread.
//!
//! Launchers of MPI pass SIGUSR1 and SIGUSR2 on to all ranks, and keep SIGINT for themselves. So SIGUSR2 is the same request as Ctrl-C.

use crate::error::end;
use crate::watch::Message;
use rustix::process::{Pid, kill_process};
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A second SIGTERM within this time is the same request: `timeout` sends one to the program and one to its group.
const ECHO: Duration = Duration::from_secs(1);

/// What has caught signals before there was anybody to act on them.
static KEPT: Mutex<Option<Signals>> = Mutex::new(None);

/// A signal that this program reacts to.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Signal {
    /// Ctrl-C, or the same by way of a launcher.
    Interrupt,
    /// A polite request to end.
    Terminate,
    /// A question where the exploration is.
    Status,
}

impl Signal {
    /// The exit code by which shells recognise a death by this signal.
    pub fn exit_code(self) -> i32 {
        128 + match self {
            Signal::Interrupt => SIGINT,
            Signal::Terminate => SIGTERM,
            Signal::Status => SIGUSR1,
        }
    }
}

/// Catch what a launcher passes on to its ranks, and keep it for the first call of [`catch`].
#[cfg(feature = "mpi")]
pub fn keep() -> std::io::Result<()> {
    let signals = Signals::new([SIGUSR1, SIGUSR2])?;
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).replace(signals);
    Ok(())
}

/// Has somebody asked a rank to end, whose signals are kept?
#[cfg(feature = "mpi")]
pub fn is_asked_to_end() -> bool {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.as_mut().is_some_and(|signals| signals.pending().any(|number| number == SIGUSR2))
}

/// Catch signals from now on, and act on them. The thread that does so sleeps until one comes, and ends with the program.
pub fn catch(mut act: impl FnMut(Signal) + Send + 'static) -> std::io::Result<()> {
    let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner).take();
    let mut signals = kept.map_or_else(|| Signals::new([SIGUSR1, SIGUSR2]), Ok)?;
    [SIGINT, SIGTERM].into_iter().try_for_each(|signal| signals.add_signal(signal))?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut terminated: Option<Instant> = None;
        for number in signals.forever() {
            let signal = match number {
                SIGINT | SIGUSR2 => Signal::Interrupt,
                SIGTERM => Signal::Terminate,
                _ => Signal::Status,
            };
            if signal == Signal::Terminate && terminated.replace(Instant::now()).is_some_and(|at| at.elapsed() < ECHO) {
                continue;
            }
            act(signal);
        }
    })?;
    Ok(())
}

/// Catch signals from now on, for the watching thread.
pub fn forward(to: Sender<Message>) -> std::io::Result<()> {
    catch(move |signal| {
        if to.send(Message::Signal(signal)).is_err() {
            // The result is being printed: nothing is left to interrupt but the printing.
            if signal != Signal::Status {
                end(signal.exit_code());
            }
        }
    })
}

/// Catch the signals that end the program, which is a rank with nothing to tell; its launcher ends the others.
pub fn end_rank() -> std::io::Result<()> {
    catch(|signal| {
        if signal != Signal::Status {
            // Handlers of an ordinary end would take away what other threads use to reach other ranks.
            signal_hook::low_level::exit(signal.exit_code());
        }
    })
}

/// Catch the signals that end the program: it ends, and so does the process that it waits for, if there is one then.
pub fn end_with(waited_for: impl Fn() -> Option<u32> + Send + 'static) -> std::io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        if let Some(number) = signals.forever().next() {
            if let Some(process) = waited_for().and_then(|process| Pid::from_raw(process as i32)) {
                // A launcher passes it on to its ranks.
                let _ = kill_process(process, rustix::process::Signal::TERM);
            }
            end(128 + number);
        }
    })?;
    Ok(())
}

/// Catch the signals that would end the program, and do nothing: another process will say when it is over, and answers
/// questions. (A launcher sends them to all of its processes.)
pub fn leave_to_others() -> std::io::Result<()> {
    let ignored = Arc::new(AtomicBool::new(false));
    let signals = [SIGINT, SIGTERM, SIGUSR1, SIGUSR2];
    signals.into_iter().try_for_each(|signal| flag::register(signal, Arc::clone(&ignored)).map(drop))
}

/// Catch the signal by which users ask where an exploration is, and do nothing: it is meant for another process, or there is none.
pub fn ignore_questions() -> std::io::Result<()> {
    flag::register(SIGUSR1, Arc::new(AtomicBool::new(false))).map(drop)
}
