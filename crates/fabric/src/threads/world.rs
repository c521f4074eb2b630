//! What the ranks of a computation share.

use super::collectives::Offer;
use crate::barrier::Barrier;
use crate::topology::{self, Topology};
use crate::{Distance, FabricError, LossCause, RankLost};
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

/// How often a rank looks before it sleeps: some microseconds.
const SPINS: u32 = 64;

#[derive(Debug)]
pub(super) struct World {
    pub(super) barrier: Barrier,
    /// By rank: what it gives to the collective under way. A rank writes its own before the first wait of an exchange
    /// and empties it after the second; others look in between.
    pub(super) offers: Box<[Mutex<Option<Arc<Offer>>>]>,
    /// By rank: the processor it was asked to stay on, if ranks were.
    cpus: Option<Vec<usize>>,
    topology: OnceLock<Topology>,
}

impl World {
    pub(super) fn new(ranks: usize, cpus: Option<Vec<usize>>) -> World {
        let spins = if ranks <= topology::cpu_limit() { SPINS } else { 0 };
        World {
            barrier: Barrier::new(ranks, spins),
            offers: (0..ranks).map(|_| Mutex::new(None)).collect(),
            cpus,
            topology: OnceLock::new(),
        }
    }

    pub(super) fn ranks(&self) -> usize {
        self.offers.len()
    }

    pub(super) fn check_rank(&self, rank: usize) -> Result<(), FabricError> {
        let ranks = self.ranks();
        if rank < ranks { Ok(()) } else { Err(FabricError::NoSuchRank { rank, ranks }) }
    }

    /// Bind the calling thread to the processor of `rank`, if it has one.
    pub(super) fn settle(&self, rank: usize) {
        if let Some(cpus) = &self.cpus {
            topology::bind_this_thread(cpus[rank]);
        }
    }

    /// Between ranks that the system moves about, the distance is the largest that can be.
    pub(super) fn distance(&self, from: usize, to: usize) -> Distance {
        if from == to {
            return Distance::Same;
        }
        let topology = self.topology.get_or_init(Topology::detect);
        match &self.cpus {
            Some(cpus) => topology.distance(cpus[from], cpus[to]),
            None => topology.widest(),
        }
    }

    /// Wait for all ranks.
    pub(super) fn wait(&self, rank: usize) -> Result<(), FabricError> {
        if thread::panicking() {
            // A destructor of a rank that panics; the others shall not wait for what it was going to do.
            self.barrier.break_with(RankLost::new(rank, LossCause::Panicked("still unwinding".to_owned())));
        }
        self.barrier.wait().map_err(end_this_rank)
    }

    /// End the calling rank if another was lost.
    pub(super) fn check_lost(&self) -> Result<(), FabricError> {
        self.barrier.lost().map_or(Ok(()), |lost| Err(end_this_rank(lost)))
    }
}

/// The one way in which a rank ends for a fault that is not its own: it unwinds, silently, up to `run`.
///
/// Returns only to a rank that is unwinding already, for which a second panic would abort the process.
fn end_this_rank(lost: RankLost) -> FabricError {
    if thread::panicking() {
        return FabricError::Lost(lost);
    }
    resume_unwind(Box::new(lost))
}
