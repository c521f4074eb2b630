//! What a table asks of other ranks.

use tremula_fabric::{Distance, Fabric, FabricError};

/// How far a request goes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Reach {
    /// To this rank's own memory.
    Own,
    /// To another rank on this host.
    Host,
    /// To another host.
    Far,
}

impl Reach {
    /// Of something at this distance.
    pub fn of(distance: Distance) -> Reach {
        match distance {
            Distance::Same => Reach::Own,
            Distance::Remote => Reach::Far,
            Distance::CoreGroup | Distance::Socket | Distance::Machine => Reach::Host,
        }
    }

    /// Of each rank.
    pub(crate) fn of_all<F: Fabric>(fabric: &F) -> Result<Vec<Reach>, FabricError> {
        (0..fabric.ranks()).map(|rank| fabric.distance(rank).map(Reach::of)).collect()
    }
}

/// Requests that left this rank, of those of one kind.
pub(crate) fn others(counts: &[u64; 3]) -> u64 {
    counts[Reach::Host as usize] + counts[Reach::Far as usize]
}

/// Numbers of requests, each an array by [`Reach`].
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    /// Chunks of the index that were read.
    pub chunks: [u64; 3],
    /// Nodes that were read.
    pub nodes: [u64; 3],
    /// Compare-and-swaps in the index.
    pub swaps: [u64; 3],
}

impl Traffic {
    /// Requests that left this rank.
    pub fn remote(&self) -> u64 {
        others(&self.chunks) + others(&self.nodes) + others(&self.swaps)
    }
}

/// Numbers of what owners were asked for, each an array by [`Reach`].
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Errands {
    /// Nodes that were to be found or put.
    pub nodes: [u64; 3],
    /// Messages in which others were asked.
    pub messages: [u64; 3],
}
