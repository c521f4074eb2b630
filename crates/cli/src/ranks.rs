//! This program as one of several processes that a launcher of MPI has started.

use crate::error::{Exit, Failure, end};
use crate::output;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read};
use std::path::Path;
use std::thread;
use std::time::Duration;
use tremula_fabric::{host_name, is_launched_by_open_mpi, launched_rank, launched_ranks};

/// How long other processes let the first one tell what all of them have found wrong.
const FIRST: Duration = Duration::from_millis(500);

/// And how much longer each of them: launchers take a second to end the others.
const NEXT: Duration = Duration::from_millis(1500);
/// From this rank on, no longer.
const MOST_PATIENT: usize = 6;

/// Has a launcher started more than this process?
pub fn are_several() -> bool {
    launched_ranks().is_some_and(|ranks| ranks > 1)
}

/// Commands that know nothing of ranks would do the same work, and print the same result, once for each.
pub fn refuse_several() -> Result<(), Failure> {
    if are_several() {
        leave_to_first(Exit::Input.code());
        let message = "this command runs in one process, but a launcher of MPI has started several";
        return Err(Failure::Input(message.to_owned()));
    }
    Ok(())
}

/// What all processes of a launcher find wrong in the same words on the command line, the first of them tells. Launchers end all when one
/// does. Who is still there a little later has been given other words than the first, and tells by itself, after a line that names the rank.
pub fn leave_to_first(code: i32) {
    let Some(rank) = launched_rank().filter(|&rank| rank > 0) else { return };
    // One after the other, for they may have the same words among themselves.
    thread::sleep(FIRST + NEXT * rank.min(MOST_PATIENT) as u32);
    if code == Exit::Complete.code() || !is_launched_by_open_mpi() {
        end(code);
    }
    output::to_stderr(&format!("tremula: rank {rank} on {} was started like this:\n", host_name()));
}

/// A number by which files that differ are told apart.
pub fn checksum(path: &Path) -> io::Result<u64> {
    let (mut file, mut hasher, mut piece) = (File::open(path)?, DefaultHasher::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hasher.finish()),
            length => hasher.write(&piece[..length]),
        }
    }
}

#[cfg(feature = "mpi")]
pub use tremula_fabric::processes::{farewell, lose_by_panic, sees_death};
#[cfg(feature = "mpi")]
pub use with_mpi::run;
#[cfg(not(feature = "mpi"))]
pub use without_mpi::{farewell, lose_by_panic, run, sees_death};

#[cfg(feature = "mpi")]
mod with_mpi {
    use super::checksum;
    use crate::error::{Exit, Failure};
    use crate::muster::Muster;
    use crate::{guard, output, signals};
    use std::io;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::thread;
    use std::time::Duration;
    use tremula_fabric::launched_rank;
    use tremula_fabric::processes::{self, Options, ProcessFabric, StartError};

    /// For a launcher to end this rank when the first one has ended, which shall have told why. It asks for that first, and makes
    /// sure of it a second later.
    const ENDED: Duration = Duration::from_secs(3);

    /// Run `body` as one of the ranks.
    pub fn run<R>(body: impl FnOnce(&ProcessFabric) -> R) -> Result<R, Failure> {
        let tell = |lost: &tremula_fabric::RankLost| output::to_stderr(&format!("tremula: {lost}\n"));
        let end = || std::process::exit(Exit::Internal.code());
        let leave = || std::process::exit(Exit::Limit.code());
        let guard = guard::of_this_rank();
        signals::keep().map_err(|error| Failure::threads(&error))?;
        let muster = Muster::begin().map_err(|error| Failure::threads(&error))?;
        let identity =
            identity().map_err(|error| Failure::Internal(format!("this program cannot read itself: {error}")))?;
        let options = Options { identity, guard, leave, ..Options::new(tell, end) };
        let all_have_come = |fabric: &ProcessFabric| {
            drop(muster);
            guard.into_iter().for_each(guard::all_have_come);
            body(fabric)
        };
        processes::run(options, all_have_come).map_err(|error| {
            let text = error.to_string();
            let failure = if let StartError::Memory(_) = error { Failure::Limit(text) } else { Failure::Input(text) };
            if launched_rank().is_some_and(|rank| rank != 0) || is_told_by_another(&error) {
                thread::sleep(ENDED);
            }
            if is_told_by_another(&error) { std::process::exit(failure.exit().code()) } else { failure }
        })
    }

    /// Does another rank know of this error for certain, and tell?
    fn is_told_by_another(error: &StartError) -> bool {
        match error {
            StartError::Mismatch { noticed_by, .. } => *noticed_by != 0,
            StartError::Network { rank, noticed_by, .. } => rank != noticed_by,
            // These come to all ranks, or to all that the launcher has numbered.
            StartError::Memory(_) | StartError::Strangers { .. } => launched_rank().is_some_and(|rank| rank != 0),
            _ => false,
        }
    }

    /// What the program is, and all arguments but its name: it may lie elsewhere on another host.
    fn identity() -> io::Result<Vec<u8>> {
        let program = checksum(Path::new("/proc/self/exe"))?;
        let arguments = std::env::args_os().skip(1).flat_map(|argument| [b"\0", argument.as_bytes()].concat());
        Ok(program.to_le_bytes().into_iter().chain(arguments).collect())
    }
}

#[cfg(not(feature = "mpi"))]
mod without_mpi {
    use crate::error::Failure;
    use tremula_fabric::threads::ThreadFabric;

    /// There are no ranks whose processes could die.
    pub fn sees_death() -> bool {
        false
    }

    /// There are no ranks to tell.
    pub fn farewell() {}

    /// There are no ranks to lose.
    pub fn lose_by_panic(_: String) {}

    /// Refuse to: each process would believe that it is alone.
    pub fn run<R>(_: impl FnOnce(&ThreadFabric) -> R) -> Result<R, Failure> {
        let message = "a launcher has started several processes, but this program was built without the feature `mpi`";
        Err(Failure::Input(message.to_owned()))
    }
}
