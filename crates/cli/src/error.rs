//! Failures, exit codes, and what happens on a panic.

use crate::{gpu, presence, ranks};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use tremula_studies::StudyError;

/// How the program ends. The numbers are part of the command line contract.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Exit {
    /// The answer is complete (or the state is contained).
    Complete = 0,
    /// A property is violated (or a state is not contained).
    Violated = 1,
    /// Bad usage or bad input.
    Input = 2,
    /// Gave up at a limit.
    Limit = 3,
    /// The program itself is wrong.
    Internal = 70,
}

impl Exit {
    /// The number.
    pub fn code(self) -> i32 {
        self as i32
    }

    /// What a number means, if it is one of ours.
    pub fn of(code: i32) -> Option<Exit> {
        let all = [Exit::Complete, Exit::Violated, Exit::Input, Exit::Limit, Exit::Internal];
        all.into_iter().find(|exit| exit.code() == code)
    }
}

/// Why a command did not get to its end. Displays as one line, without the program's name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Failure {
    /// Bad usage, bad input, or a file that cannot be read or written.
    Input(String),
    /// A limit was hit.
    Limit(String),
    /// The program itself is wrong.
    Internal(String),
}

impl Failure {
    /// The exit code that goes with the failure.
    pub fn exit(&self) -> Exit {
        match self {
            Failure::Input(_) => Exit::Input,
            Failure::Limit(_) => Exit::Limit,
            Failure::Internal(_) => Exit::Internal,
        }
    }

    /// The same, as it is told by a rank that is not the first.
    pub fn of_rank(self, rank: usize) -> Failure {
        let named = |message: String| format!("rank {rank}: {message}");
        match self {
            Failure::Input(message) => Failure::Input(named(message)),
            Failure::Limit(message) => Failure::Limit(named(message)),
            Failure::Internal(message) => Failure::Internal(named(message)),
        }
    }

    /// The system has no threads left.
    pub fn threads(error: &std::io::Error) -> Failure {
        Failure::Limit(format!("cannot start threads: {}", plain(error)))
    }

    /// A program that the system would not start.
    pub fn cannot_start(program: &Path, error: &std::io::Error) -> Failure {
        Failure::Input(format!("cannot start {}: {}", program.display(), plain(error)))
    }

    /// A file that the system would not read or write.
    pub fn file(path: &Path, error: &std::io::Error) -> Failure {
        Failure::Input(format!("{}: {}", path.display(), plain(error)))
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Input(message) | Failure::Limit(message) => f.write_str(message),
            Failure::Internal(message) => write!(f, "internal error, please report it: {message}"),
        }
    }
}

impl From<tremula_diagrams::Error> for Failure {
    fn from(error: tremula_diagrams::Error) -> Failure {
        use tremula_diagrams::Error;
        match error {
            Error::TableFull | Error::Cancelled | Error::Device { .. } | Error::LevelTooLarge { .. } => {
                Failure::Limit(error.to_string())
            }
            _ => Failure::Internal(error.to_string()),
        }
    }
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Failure {
        let text = error.to_string();
        match error {
            StudyError::NoDevice(problem) => gpu::no_device(&problem),
            StudyError::NothingToMeasure(_)
            | StudyError::UnknownProgram { .. }
            | StudyError::CannotStart { .. }
            | StudyError::Refused { .. } => Failure::Input(text),
            StudyError::Setup(_)
            | StudyError::Threads(_)
            | StudyError::Fabric(_)
            | StudyError::Sweep(_)
            | StudyError::Elsewhere(_) => Failure::Limit(text),
            StudyError::WrongAnswer { .. }
            | StudyError::WrongTable { .. }
            | StudyError::Disagreement { .. }
            | StudyError::NoAnswer { .. }
            | StudyError::Panicked { .. }
            | StudyError::Model(_) => Failure::Internal(text),
        }
    }
}

/// The system's message without its number.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.rfind(" (os error ") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}

/// End the program; what it printed was flushed when it was written.
pub fn end(code: i32) -> ! {
    if presence::is_about() {
        // Handlers of an ordinary end would take the libraries of a device away from a thread that is in them.
        signal_hook::low_level::exit(code);
    }
    std::process::exit(code)
}

thread_local! {
    /// Does this thread know what to do about a panic?
    static CATCHES: Cell<bool> = const { Cell::new(false) };
}

/// Call libraries of a device, which panic where they lack something; what they say is the error then.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let before = CATCHES.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    CATCHES.set(before);
    outcome.map_err(|panic| panic.downcast_ref::<String>().map_or("it panics".to_owned(), String::clone))
}

/// Make every panic that nobody [`catch`]es end the program with a short message and its own exit code. (That of a compiler of
/// kernels goes on in the thread that waits for it.)
pub fn exit_on_panic() {
    std::panic::set_hook(Box::new(|panic| {
        if CATCHES.get() || std::thread::current().name() == Some(tremula_gpu::COMPILER) {
            return;
        }
        // Where there are ranks, all of them end, and the message names this one.
        ranks::lose_by_panic(panic.to_string());
        let backtrace = std::backtrace::Backtrace::capture();
        let mut text = format!("\ntremula: internal error, please report it: {panic}\n");
        if backtrace.status() == std::backtrace::BacktraceStatus::Captured {
            text += &format!("{backtrace}\n");
        }
        crate::output::to_stderr(&text);
        end(Exit::Internal.code());
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_of_libraries_are_errors() {
        let symbol = "cuCtxCreate";
        assert_eq!(catch(|| 1), Ok(1));
        assert_eq!(catch(|| panic!("no {symbol}")), Err::<(), String>("no cuCtxCreate".to_owned()));
        assert!(!CATCHES.get());
    }

    #[test]
    fn system_messages_lose_their_number() {
        let error = std::fs::File::open("/nonexistent/file").unwrap_err();
        let failure = Failure::file(Path::new("model.bdd"), &error);
        assert_eq!(failure.to_string(), "model.bdd: No such file or directory");
    }
}
