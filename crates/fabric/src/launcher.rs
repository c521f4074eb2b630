//! What launchers of MPI tell the processes that they start.

use std::env;

/// Variables that hold the number of ranks: Open MPI's own, then the interface that MPICH's launcher and `srun` share.
const SIZES: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

/// How many ranks the launcher that started this process has started; nothing if it was started alone.
///
/// `srun --mpi=pmix` tells in Slurm's own variables. Without PMIx it does too, but then each process is alone for MPI.
pub fn launched_ranks() -> Option<usize> {
    let number = |name: &str| env::var(name).ok()?.trim().parse().ok();
    let by_slurm = || env::var_os("SLURM_PROCID").and_then(|_| number("SLURM_STEP_NUM_TASKS"));
    SIZES.iter().find_map(|name| number(name)).or_else(by_slurm)
}
