//! What launchers of MPI tell the processes that they start.

use std::env;
use std::ffi::OsString;

/// Variables that hold the number of ranks: Open MPI's own, then the interface that MPICH's launcher and `srun` share.
const SIZES: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

/// Variables of the same launchers that hold the number of this rank.
const RANKS: [&str; 2] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK"];

/// Variables of those launchers by which ranks of Open MPI find each other.
#[cfg(any(feature = "mpi", test))]
const MEETING_POINTS: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMIX_RANK"];

/// How many ranks the launcher that started this process has started; nothing if it was started alone.
///
/// `srun --mpi=pmix` tells in Slurm's own variables. Without PMIx it does too, but then each process is alone for MPI.
pub fn launched_ranks() -> Option<usize> {
    ranks_by(|name| env::var_os(name))
}

/// Which of the [`launched_ranks`] this process is, according to the launcher; MPI may not know it yet.
pub fn launched_rank() -> Option<usize> {
    rank_by(|name| env::var_os(name))
}

/// Was this process started by Open MPI's own launcher? That ends all others as soon as one has ended with an error.
pub fn is_launched_by_open_mpi() -> bool {
    env::var_os(RANKS[0]).is_some()
}

/// The name of this host, by which its ranks are told from those of others.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// How many processes were started by a launcher that leaves each of them alone; nothing if they can find each other.
///
/// Open MPI may end such a process while it starts, with a message that does not say what to do.
#[cfg(feature = "mpi")]
pub fn strangers() -> Option<usize> {
    strangers_by(|name| env::var_os(name))
}

fn ranks_by(variable: impl Fn(&str) -> Option<OsString>) -> Option<usize> {
    let by_slurm = || variable("SLURM_PROCID").and_then(|_| number(&variable, "SLURM_STEP_NUM_TASKS"));
    SIZES.iter().find_map(|name| number(&variable, name)).or_else(by_slurm)
}

fn rank_by(variable: impl Fn(&str) -> Option<OsString>) -> Option<usize> {
    let launcher = SIZES.iter().position(|name| number(&variable, name).is_some());
    number(&variable, launcher.map_or("SLURM_PROCID", |launcher| RANKS[launcher]))
}

fn number(variable: impl Fn(&str) -> Option<OsString>, name: &str) -> Option<usize> {
    variable(name)?.to_str()?.trim().parse().ok()
}

#[cfg(any(feature = "mpi", test))]
fn strangers_by(variable: impl Fn(&str) -> Option<OsString>) -> Option<usize> {
    let can_meet = MEETING_POINTS.iter().any(|name| variable(name).is_some());
    ranks_by(variable).filter(|&ranks| ranks > 1 && !can_meet)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told of a process with these variables: ranks, and strangers.
    fn told(variables: &[(&str, &str)]) -> (Option<usize>, Option<usize>) {
        let variable = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        (ranks_by(variable), strangers_by(variable))
    }

    #[test]
    fn launchers_are_known_by_their_variables() {
        let slurm = [("SLURM_PROCID", "1"), ("SLURM_STEP_NUM_TASKS", "2")];
        assert_eq!(told(&[]), (None, None));
        assert_eq!(told(&[("OMPI_COMM_WORLD_SIZE", "4")]), (Some(4), None));
        assert_eq!(told(&[slurm[0], slurm[1], ("PMIX_RANK", "1")]), (Some(2), None));
        // srun without PMIx, and the launcher of MPICH, which are no trouble for one process alone.
        assert_eq!(told(&slurm), (Some(2), Some(2)));
        assert_eq!(told(&[("PMI_SIZE", "3"), ("PMI_RANK", "0")]), (Some(3), Some(3)));
        assert_eq!(told(&[("PMI_SIZE", "1")]), (Some(1), None));
        // The shell of a batch job is no step.
        assert_eq!(told(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "2")]), (None, None));
        assert_eq!(told(&[("PMI_SIZE", "many")]), (None, None));
    }

    #[test]
    fn ranks_are_numbered_by_who_has_started_them() {
        let rank = |variables: &[(&str, &str)]| {
            rank_by(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
        };
        let slurm = [("SLURM_PROCID", "3"), ("SLURM_STEP_NUM_TASKS", "4")];
        assert_eq!(rank(&[]), None);
        assert_eq!(rank(&slurm), Some(3));
        assert_eq!(rank(&[("PMI_SIZE", "3"), ("PMI_RANK", "2"), slurm[0]]), Some(2));
        assert_eq!(rank(&[("OMPI_COMM_WORLD_SIZE", "3"), ("OMPI_COMM_WORLD_RANK", "1"), slurm[0]]), Some(1));
    }
}
