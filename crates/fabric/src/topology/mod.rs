//! The processors of this machine: which of them may be used, how many are worth using, how far apart they are.
//!
//! Linux tells in files; where one is missing or makes no sense, the answer is the cautious one. Nothing here fails.
//!
//! ```
//! use tremula_fabric::topology::{Distance, Topology, cpu_limit};
//! let topology = Topology::detect();
//! let first = topology.available_cpus()[0];
//! assert_eq!(topology.distance(first, first), Distance::Same);
//! assert!((1..=topology.available_cpus().len()).contains(&cpu_limit()));
//! ```

mod binding;
mod cpu_list;
mod system;

pub use binding::bind_this_thread;

use std::collections::BTreeMap;
use system::System;

/// How far away something is; nearer is smaller.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Distance {
    /// The same rank, or the same processor.
    Same,
    /// Processors that share their last-level cache.
    CoreGroup,
    /// Processors in the same socket.
    Socket,
    /// Somewhere in the same machine.
    Machine,
    /// Another machine.
    Remote,
}

/// How many processors this process can really use, at least one: those that it may run on, or fewer if a control group
/// grants less time than that. A fraction of a processor counts as one.
pub fn cpu_limit() -> usize {
    System::this().cpu_limit()
}

/// How many processors, rounded up, the control groups of this process grant it; nothing if they set no limit.
pub fn cpu_quota() -> Option<usize> {
    System::this().quota()
}

/// The processors that this process may run on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Topology {
    /// Ascending, at least one.
    available: Vec<usize>,
    places: BTreeMap<usize, CpuPlace>,
}

/// Where a processor sits, as far as is known.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct CpuPlace {
    socket: Option<usize>,
    /// The lowest of the processors that share the last-level cache.
    core_group: Option<usize>,
}

impl Topology {
    /// Ask the system.
    pub fn detect() -> Topology {
        Topology::read(&System::this())
    }

    fn read(system: &System) -> Topology {
        let available = system.allowed_cpus();
        let place = |cpu| CpuPlace { socket: system.socket(cpu), core_group: system.core_group(cpu) };
        let places = available.iter().map(|&cpu| (cpu, place(cpu))).collect();
        Topology { available, places }
    }

    /// The processors that this process may run on, by ascending number; at least one.
    pub fn available_cpus(&self) -> &[usize] {
        &self.available
    }

    /// How far apart two processors are; [`Distance::Machine`] if that is not known.
    pub fn distance(&self, a: usize, b: usize) -> Distance {
        if a == b {
            return Distance::Same;
        }
        let (Some(a), Some(b)) = (self.places.get(&a), self.places.get(&b)) else { return Distance::Machine };
        let same = |a: Option<usize>, b: Option<usize>| a.is_some() && a == b;
        if same(a.core_group, b.core_group) {
            Distance::CoreGroup
        } else if same(a.socket, b.socket) {
            Distance::Socket
        } else {
            Distance::Machine
        }
    }

    /// A processor for each of `workers` threads, where threads should stay in their places: where some processors are
    /// nearer to each other than others, and there are as many threads as processors. With fewer, two programs would
    /// choose the same processors; nothing is gained where all share one cache.
    pub fn places(&self, workers: usize) -> Option<&[usize]> {
        (workers == self.available.len() && self.widest() > Distance::CoreGroup).then_some(&self.available)
    }

    /// The largest distance between any two available processors.
    pub fn widest(&self) -> Distance {
        // Groups nest, so no two are farther apart than the farther of them is from the first.
        let from_first = self.available.iter().map(|&cpu| self.distance(self.available[0], cpu));
        from_first.max().unwrap_or(Distance::Same)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use system::tests::fake;

    /// Four processors in two sockets; those in socket 0 share a cache, those in socket 1 do not. Processor 4 may not
    /// be used.
    fn two_sockets() -> tempfile::TempDir {
        let cpu = |cpu: usize, socket: &str, shared: &str| {
            let folder = format!("sys/devices/system/cpu/cpu{cpu}");
            [
                (format!("{folder}/topology/physical_package_id"), socket.to_owned()),
                (format!("{folder}/cache/index0/level"), "1\n".to_owned()),
                (format!("{folder}/cache/index0/shared_cpu_list"), format!("{cpu}\n")),
                (format!("{folder}/cache/index3/level"), "3\n".to_owned()),
                (format!("{folder}/cache/index3/shared_cpu_list"), shared.to_owned()),
            ]
        };
        let mut files = vec![("proc/self/status".to_owned(), "Name:\tx\nCpus_allowed_list:\t0-3\n".to_owned())];
        for (number, socket, shared) in
            [(0, "0\n", "0-1\n"), (1, "0\n", "0-1\n"), (2, "1\n", "2\n"), (3, "1\n", "3-4\n"), (4, "1\n", "3-4\n")]
        {
            files.extend(cpu(number, socket, shared));
        }
        fake(&files)
    }

    #[test]
    fn caches_and_sockets_make_distances() {
        let root = two_sockets();
        let topology = Topology::read(&System::below(root.path()));
        assert_eq!(topology.available_cpus(), [0, 1, 2, 3]);
        assert_eq!(topology.distance(1, 1), Distance::Same);
        assert_eq!(topology.distance(0, 1), Distance::CoreGroup);
        assert_eq!(topology.distance(2, 3), Distance::Socket);
        assert_eq!(topology.distance(3, 0), Distance::Machine);
        assert_eq!(topology.distance(3, 4), Distance::Machine, "not available, so not known");
        assert_eq!(topology.widest(), Distance::Machine);
    }

    #[test]
    fn threads_get_places_where_these_differ_and_all_are_taken() {
        let root = two_sockets();
        let topology = Topology::read(&System::below(root.path()));
        assert_eq!(topology.places(4), Some(&[0, 1, 2, 3][..]));
        assert_eq!(topology.places(3), None);
        assert_eq!(topology.places(5), None);
        let one_group = Topology { available: vec![0, 1], ..topology };
        assert_eq!(one_group.places(2), None);
    }

    #[test]
    fn without_files_everything_is_far() {
        let topology = Topology::read(&System::below(Path::new("/nonexistent")));
        assert!(!topology.available_cpus().is_empty());
        assert_eq!(topology.distance(0, 0), Distance::Same);
        assert_eq!(topology.distance(0, 1), Distance::Machine);
    }

    #[test]
    fn sockets_without_numbers_are_not_the_same() {
        let root = fake(&[
            ("proc/self/status", "Cpus_allowed_list:\t0-1\n"),
            ("sys/devices/system/cpu/cpu0/topology/physical_package_id", "-1\n"),
            ("sys/devices/system/cpu/cpu1/topology/physical_package_id", "-1\n"),
        ]);
        assert_eq!(Topology::read(&System::below(root.path())).distance(0, 1), Distance::Machine);
    }

    #[test]
    fn nearer_is_smaller() {
        let order = [Distance::Same, Distance::CoreGroup, Distance::Socket, Distance::Machine, Distance::Remote];
        assert!(order.is_sorted());
    }
}
