//! `tremula launch`: a launcher of MPI, which ends as its job did.
//!
//! Launchers have exit codes of their own for a lost host and for Ctrl-C. This process is between the user and a launcher: it sets
//! what the launcher needs to notice a lost host, makes Ctrl-C a request to the first rank, which then tells what it knows, and
//! turns codes of the launcher into those of this program.
//!
//! A process can only ask for itself to be told when its parent dies. So what becomes the launcher is this program once more, which
//! asks for that first.

use crate::args::LaunchArgs;
use crate::error::{Exit, Failure, end};
use crate::output;
use crate::signals::{self, Signal};
use rustix::process::{self, Pid, getppid, kill_process, set_parent_process_death_signal};
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR2};
use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Tells what becomes the launcher which process has started it.
const VARIABLE: &str = "TREMULA_LAUNCH";
/// What Open MPI is told, unless the user has told it something else: to notice within some 10 seconds that a host is gone, to
/// leave all processors to the workers of each rank, and to start more ranks than there are processors.
const SETTINGS: [(&str, &str); 5] = [
    ("OMPI_MCA_oob_tcp_keepalive_time", "5"),
    ("OMPI_MCA_oob_tcp_keepalive_intvl", "2"),
    ("OMPI_MCA_oob_tcp_keepalive_probes", "3"),
    ("OMPI_MCA_hwloc_base_binding_policy", "none"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
];
/// For a launcher to end its job when somebody insists.
const ENDS_WITHIN: Duration = Duration::from_secs(3);
/// Only with this argument a rank may end as if a property were violated.
const MAY_BE_VIOLATED: &str = "--deadlock";

/// Start a launcher, and end as its job does.
pub fn launch(args: &LaunchArgs) -> Result<Exit, Failure> {
    if is_started_by_launch() {
        return Err(become_launcher(&args.words));
    }
    let (inbox, events) = channel();
    let from_signals = inbox.clone();
    // Those that come before there is a launcher wait for it.
    let heard = signals::catch(move |signal| drop(from_signals.send(Event::Signal(signal))));
    heard.map_err(|error| Failure::threads(&error))?;
    let mut launcher = start().map_err(|error| Failure::Limit(format!("cannot start processes: {error}")))?;
    let process = Pid::from_child(&launcher);
    let wait = move || drop(inbox.send(Event::Ended(launcher.wait())));
    thread::Builder::new().name("launcher".to_owned()).spawn(wait).map_err(|error| Failure::threads(&error))?;
    Job { words: &args.words, process, asked: None, insisted: None }.follow(&events)
}

/// Has this program started itself, to become the launcher?
fn is_started_by_launch() -> bool {
    let starter = env::var(VARIABLE).ok().and_then(|text| text.parse().ok());
    // The variable may have come by way of other processes.
    starter.is_some() && starter == getppid().map(Pid::as_raw_pid)
}

/// Start what becomes the launcher, in a group of its own: Ctrl-C on a terminal is for this process alone.
fn start() -> io::Result<Child> {
    let mut command = Command::new(env::current_exe()?);
    command.args(env::args_os().skip(1)).env(VARIABLE, std::process::id().to_string());
    command.process_group(0).stdin(Stdio::null()).spawn()
}

/// Be replaced by the launcher; returns if that cannot be.
fn become_launcher(words: &[OsString]) -> Failure {
    let _ = set_parent_process_death_signal(Some(process::Signal::TERM));
    // A parent that died before that line is not the parent any more.
    if !is_started_by_launch() {
        end(Exit::Internal.code());
    }
    let settings = SETTINGS.into_iter().filter(|(name, _)| env::var_os(name).is_none());
    let error = Command::new(&words[0]).args(&words[1..]).envs(settings).env_remove(VARIABLE).exec();
    Failure::cannot_start(Path::new(&words[0]), &error)
}

/// What happens while a launcher runs.
enum Event {
    /// A signal came.
    Signal(Signal),
    /// The launcher has ended.
    Ended(io::Result<ExitStatus>),
}

/// A launcher that runs.
struct Job<'a> {
    /// Its command line.
    words: &'a [OsString],
    process: Pid,
    /// The first request to end.
    asked: Option<Signal>,
    /// The second one, and how long the launcher has for it.
    insisted: Option<(Signal, Instant)>,
}

impl Job<'_> {
    /// Wait for the end, and pass on what users want until then.
    fn follow(mut self, events: &Receiver<Event>) -> Result<Exit, Failure> {
        loop {
            let left = self.insisted.map(|(_, due)| due.saturating_duration_since(Instant::now()));
            // The thread of signals keeps its side for as long as this process lives.
            match events.recv_timeout(left.unwrap_or(Duration::MAX)) {
                Ok(Event::Signal(signal)) => self.pass_on(signal),
                Ok(Event::Ended(status)) => return Ok(self.exit(status.ok())),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return Ok(self.exit(None)),
            }
        }
    }

    fn pass_on(&mut self, signal: Signal) {
        let passed = match (signal, self.asked) {
            (Signal::Status, _) => process::Signal::USR1,
            (Signal::Interrupt | Signal::Terminate, None) => {
                self.asked = Some(signal);
                process::Signal::USR2
            }
            (Signal::Interrupt | Signal::Terminate, Some(_)) => {
                self.insisted.get_or_insert((signal, Instant::now() + ENDS_WITHIN));
                process::Signal::TERM
            }
        };
        // It may have ended meanwhile.
        let _ = kill_process(self.process, passed);
    }

    /// How to end, if the launcher has ended like this; nothing is known of one that was waited for in vain.
    fn exit(&self, status: Option<ExitStatus>) -> Exit {
        if let Some((signal, _)) = self.insisted {
            end(signal.exit_code());
        }
        let exit = status.and_then(|status| status.code()).and_then(Exit::of);
        match (exit, self.asked) {
            (Some(Exit::Complete | Exit::Input | Exit::Limit), _) => exit,
            (Some(Exit::Violated), _) if self.words.iter().any(|word| word == MAY_BE_VIOLATED) => exit,
            (None, Some(signal)) if status.is_some_and(is_of_request) => end(signal.exit_code()),
            _ => None,
        }
        .unwrap_or_else(|| {
            output::to_stderr(&format!("tremula: {}: the job is lost\n", self.told(status)));
            Exit::Internal
        })
    }

    /// What the launcher did, for people.
    fn told(&self, status: Option<ExitStatus>) -> String {
        let name = Path::new(&self.words[0]).file_name().unwrap_or(&self.words[0]).to_string_lossy();
        match status.map(|status| (status.code(), status.signal())) {
            Some((Some(code), _)) if code == Exit::Internal.code() => format!("{name} ended with code {code}"),
            Some((Some(code), _)) => format!("{name} ended with code {code} of its own"),
            Some((_, Some(signal))) => format!("{name} was killed by signal {signal}"),
            _ => format!("{name} ended nobody knows how"),
        }
    }
}

/// Is this the end of a launcher, or of a rank, that was asked to end and had nothing to tell? It may not have come that far.
fn is_of_request(status: ExitStatus) -> bool {
    let signal = status.signal().or(status.code().map(|code| code - 128));
    signal.is_some_and(|signal| [SIGINT, SIGTERM, SIGUSR2].contains(&signal))
}
