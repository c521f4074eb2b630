//! Which processors the ranks of a host have, and how many workers that is for each.
//!
//! Launchers differ. `srun` gives each rank processors of its own; Open MPI's `mpirun` binds one or two ranks to one processor
//! each and more of them to a socket, unless it is told otherwise; and with `--bind-to none` all ranks of a host may run on
//! all of its processors. So each rank asks which ones it has, and shares them with those ranks that have the same ones.

use rustix::process::{Pid, getppid};
use rustix::thread::{CpuSet, sched_getaffinity};
use std::collections::BTreeSet;
use std::env;
use std::fmt::{Display, Formatter, Result as Written};
use tremula_fabric::topology::{Topology, cpu_quota};
use tremula_fabric::{Distance, Fabric, FabricError};

type Set = BTreeSet<usize>;

/// The processors of this rank, among those of all ranks of its host.
pub struct Processors {
    /// How many ranks of this host there are, with this one.
    pub neighbours: usize,
    own: Set,
    /// Of all ranks of this host.
    all: Set,
    /// How many of those ranks may run on some of the same processors, with this one.
    sharers: usize,
}

impl Processors {
    /// *Collective.* Tell the other ranks, and hear from them.
    pub fn agree<F: Fabric>(fabric: &F) -> Result<Processors, FabricError> {
        let own: Vec<u64> = Topology::detect().available_cpus().iter().map(|&cpu| cpu as u64).collect();
        let mut of_ranks: Vec<Set> = fabric.all_gather(&own)?.into_iter().map(set_of).collect();
        let near = |to: usize| fabric.distance(to).is_ok_and(|distance| distance != Distance::Remote);
        let own = std::mem::take(&mut of_ranks[fabric.rank()]);
        let others = of_ranks.into_iter().enumerate().filter(|(rank, _)| *rank != fabric.rank() && near(*rank));
        Ok(Processors::among(own, others.map(|(_, set)| set)))
    }

    /// `others` are those of the other ranks of this host.
    pub fn among(own: Set, others: impl IntoIterator<Item = Set>) -> Processors {
        let alone = Processors { neighbours: 1, all: own.clone(), own, sharers: 1 };
        others.into_iter().fold(alone, |known, other| Processors {
            neighbours: known.neighbours + 1,
            sharers: known.sharers + usize::from(!known.own.is_disjoint(&other)),
            all: &known.all | &other,
            ..known
        })
    }

    /// How many workers this rank has processors for, at least one. A control group is taken to hold all ranks of a host.
    pub fn workers(&self) -> u32 {
        self.workers_within(cpu_quota())
    }

    fn workers_within(&self, quota: Option<usize>) -> u32 {
        let own = self.own.len() / self.sharers;
        let granted = quota.map_or(own, |quota| own.min(quota / self.neighbours));
        granted.max(1) as u32
    }

    /// What to tell the user if `mpirun`, without having been told to, leaves processors of this host to nobody.
    pub fn unused(&self) -> Option<Unused> {
        let by_itself = env::var_os("OMPI_COMM_WORLD_SIZE").is_some() && env::var_os(BINDING).is_none();
        let there = if by_itself { of_launcher()?.len() } else { return None };
        let used = self.all.len();
        (used < there).then_some(Unused { used, there })
    }
}

/// Holds what the user has said to `mpirun` of binding.
const BINDING: &str = "OMPI_MCA_hwloc_base_binding_policy";

/// Where the launcher of this rank may run. It has started the guard of this rank, its parent.
fn of_launcher() -> Option<Set> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", getppid()?.as_raw_nonzero())).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()?;
    let set = sched_getaffinity(Pid::from_raw(parent)).ok()?;
    Some((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}

fn set_of(numbers: Vec<u64>) -> Set {
    numbers.into_iter().map(|cpu| cpu as usize).collect()
}

/// Processors that are there and that no rank may run on.
pub struct Unused {
    used: usize,
    there: usize,
}

impl Display for Unused {
    fn fmt(&self, f: &mut Formatter<'_>) -> Written {
        let Unused { used, there } = self;
        write!(
            f,
            "mpirun has bound the ranks of this host to {used} of {there} processors (to have all: --bind-to none)"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Workers of the first of ranks that may run on these processors.
    fn workers(ranks: &[&[usize]], quota: Option<usize>) -> u32 {
        let mut sets = ranks.iter().map(|cpus| cpus.iter().copied().collect());
        Processors::among(sets.next().unwrap(), sets).workers_within(quota)
    }

    #[test]
    fn ranks_share_processors_that_several_of_them_have() {
        let all: &[usize] = &[0, 1, 2, 3, 4, 5, 6, 7];
        assert_eq!(workers(&[all], None), 8);
        assert_eq!(workers(&[all, all], None), 4);
        assert_eq!(workers(&[all, all, all], None), 2);
        assert_eq!(workers(&[all; 9], None), 1);
    }

    #[test]
    fn what_a_launcher_has_divided_is_not_divided_again() {
        assert_eq!(workers(&[&[0, 1, 2, 3], &[4, 5, 6, 7]], None), 4);
        assert_eq!(workers(&[&[0], &[1]], None), 1);
        // Two to each socket.
        assert_eq!(workers(&[&[0, 1, 2, 3], &[4, 5, 6, 7], &[0, 1, 2, 3], &[4, 5, 6, 7]], None), 2);
        assert_eq!(workers(&[&[0, 1, 2, 1023], &[1023]], None), 2);
    }

    #[test]
    fn a_quota_is_for_all_ranks() {
        assert_eq!(workers(&[&[0, 1, 2, 3], &[4, 5, 6, 7]], Some(4)), 2);
        assert_eq!(workers(&[&[0, 1], &[2, 3]], Some(100)), 2);
        assert_eq!(workers(&[&[0, 1], &[2, 3]], Some(1)), 1);
    }

    #[test]
    fn the_user_is_told_how_many_are_left_over() {
        let told = Unused { used: 2, there: 16 }.to_string();
        assert_eq!(told, "mpirun has bound the ranks of this host to 2 of 16 processors (to have all: --bind-to none)");
    }
}
