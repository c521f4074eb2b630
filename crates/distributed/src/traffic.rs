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
    /// Words of nodes that were written one by one, where any rank may have to.
    pub writes: [u64; 3],
}

impl Traffic {
    /// All requests, by reach.
    pub fn total(&self) -> [u64; 3] {
        std::array::from_fn(|reach| self.chunks[reach] + self.nodes[reach] + self.swaps[reach] + self.writes[reach])
    }

    /// Requests that left this rank.
    pub fn remote(&self) -> u64 {
        others(&self.total())
    }

    pub(crate) fn add(&mut self, more: &Traffic) {
        let Traffic { chunks, nodes, swaps, writes } = more;
        add(&mut self.chunks, chunks);
        add(&mut self.nodes, nodes);
        add(&mut self.swaps, swaps);
        add(&mut self.writes, writes);
    }
}

fn add(sums: &mut [u64; 3], more: &[u64; 3]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

/// Numbers of what owners were asked for, each an array by [`Reach`].
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Errands {
    /// Nodes that were to be found or put.
    pub nodes: [u64; 3],
    /// Results that were to be remembered, or were asked for.
    pub results: [u64; 3],
    /// Messages in which others were asked.
    pub messages: [u64; 3],
}
