//! This program as one of several processes that a launcher of MPI has started.

use crate::error::Failure;
use tremula_fabric::launched_ranks;

/// Has a launcher started more than this process?
pub fn are_several() -> bool {
    launched_ranks().is_some_and(|ranks| ranks > 1)
}

/// Commands that know nothing of ranks would do the same work, and print the same result, once for each.
pub fn refuse_several() -> Result<(), Failure> {
    if are_several() {
        let message = "this command runs in one process, but a launcher of MPI has started several";
        return Err(Failure::Input(message.to_owned()));
    }
    Ok(())
}

#[cfg(feature = "mpi")]
pub use with_mpi::run;
#[cfg(not(feature = "mpi"))]
pub use without_mpi::run;

#[cfg(feature = "mpi")]
mod with_mpi {
    use crate::error::{Exit, Failure};
    use crate::output;
    use std::os::unix::ffi::OsStrExt;
    use tremula_fabric::processes::{self, Options, ProcessFabric, StartError};

    /// Run `body` as one of the ranks.
    pub fn run<R>(body: impl FnOnce(&ProcessFabric) -> R) -> Result<R, Failure> {
        let tell = |lost: &tremula_fabric::RankLost| output::to_stderr(&format!("tremula: {lost}\n"));
        let end = || std::process::exit(Exit::Internal.code());
        let options = Options { identity: identity(), ..Options::new(tell, end) };
        processes::run(options, body).map_err(|error| match error {
            StartError::Memory(_) => Failure::Limit(error.to_string()),
            _ => Failure::Input(error.to_string()),
        })
    }

    /// The version and all arguments but the name of the program, which may lie elsewhere on another host.
    fn identity() -> Vec<u8> {
        let arguments = std::env::args_os().skip(1).flat_map(|argument| [b"\0", argument.as_bytes()].concat());
        env!("CARGO_PKG_VERSION").bytes().chain(arguments).collect()
    }
}

#[cfg(not(feature = "mpi"))]
mod without_mpi {
    use crate::error::Failure;
    use tremula_fabric::threads::ThreadFabric;

    /// Refuse to: each process would believe that it is alone.
    pub fn run<R>(_: impl FnOnce(&ThreadFabric) -> R) -> Result<R, Failure> {
        let message = "a launcher has started several processes, but this program was built without the feature `mpi`";
        Err(Failure::Input(message.to_owned()))
    }
}
