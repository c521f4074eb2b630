//! Where the workers of all ranks meet: memory of rank 0 that all of them address, used by one crew after the other.
//!
//! Invariants: every method that says *collective* is called by all ranks in the same order. Rank 0 prepares a piece of the
//! ground between two barriers, before which nobody uses the crew that was there, and after which all may join. If something
//! fails on any rank, all of them return an error, and the lowest one that failed tells the reason.

use crate::StudyError;
use crate::agreement::agree;
use tremula_fabric::{Distance, Fabric, Ground};
use tremula_tasks::{Alliance, Allies, Tactics};

/// The ground, and this rank's place on it.
pub(super) struct Site<'f, F: Fabric> {
    fabric: &'f F,
    segment: F::Segment,
    /// The largest crew that there is room for.
    largest: Alliance,
}

/// The crews of one measurement, as one process sees them.
pub(super) struct Crews {
    /// Runs small programs, until all workers are awake.
    pub(super) warm_up: Allies,
    /// Runs what is measured.
    pub(super) measured: Allies,
}

impl Crews {
    /// There will be no more runs.
    pub(super) fn dismiss(&self) {
        self.warm_up.dismiss();
        self.measured.dismiss();
    }
}

/// Pieces of the ground: for those who wait, and for two crews.
const PIECES: usize = 3;

impl<'f, F: Fabric> Site<'f, F>
where
    F::Segment: Send + Sync + 'static,
{
    /// *Collective.* With room for crews of all ranks, of so many workers each. All can address each other's memory.
    pub(super) fn new(fabric: &'f F, workers: usize) -> Result<Site<'f, F>, StudyError> {
        // Two workers of rank 0 are measured in any case.
        let largest =
            Alliance { processes: fabric.ranks(), each: workers.max(2), tactics: Tactics::default(), crowd: false };
        let segment = fabric.allocate(Ground::words_for([largest.bytes(); PIECES]))?;
        Ok(Site { fabric, segment, largest })
    }

    pub(super) fn fabric(&self) -> &'f F {
        self.fabric
    }

    /// *Collective.* Crews of such an alliance, with the first ranks as its processes.
    pub(super) fn crews(&self, alliance: &Alliance) -> Crews {
        let [_, warm_up, measured] = self.pieces();
        let [warm_up, measured] = self.prepare([(warm_up, alliance), (measured, alliance)]);
        Crews { warm_up, measured }
    }

    /// *Collective.* Let rank 0 do something, while the main threads of all other ranks sleep. What it gives, on rank 0.
    pub(super) fn on_first<R>(&self, body: impl FnOnce() -> Result<R, StudyError>) -> Result<Option<R>, StudyError> {
        // A crew without work: its workers sleep until they are dismissed.
        let waiting = Alliance { processes: self.fabric.ranks(), each: 1, tactics: Tactics::default(), crowd: true };
        let [ground, ..] = self.pieces();
        let [crew] = self.prepare([(ground, &waiting)]);
        let result = if self.fabric.rank() == 0 {
            let _end = Dismissal(|| crew.dismiss());
            body().map(Some)
        } else {
            while crew.next_run(self.fabric.rank()).is_some() {}
            Ok(None)
        };
        agree(self.fabric, result)
    }

    /// The same pieces every time, on all ranks.
    fn pieces(&self) -> [Ground; PIECES] {
        let mut ground = Ground::new(self.segment.clone(), 0).expect("all ranks address the memory of rank 0");
        std::array::from_fn(|_| ground.cut(self.largest.bytes()).expect("there is room for all pieces"))
    }

    /// *Collective.* Crews on pieces of the ground that nobody uses any more.
    fn prepare<const N: usize>(&self, places: [(Ground, &Alliance); N]) -> [Allies; N] {
        let rank = self.fabric.rank();
        self.fabric.barrier();
        let crews = if rank == 0 {
            let crews = places.map(|(ground, alliance)| Allies::lead(ground, alliance));
            self.fabric.barrier();
            crews
        } else {
            self.fabric.barrier();
            places.map(|(ground, alliance)| Allies::join(ground, alliance, rank))
        };
        let distance = |rank| self.fabric.distance(rank).unwrap_or(Distance::Machine);
        crews.map(|crew| crew.expect("no crew is larger than the largest").with_distances(distance))
    }
}

/// Does something at the end, whatever happens: others would wait for ever.
pub(super) struct Dismissal<F: Fn()>(pub(super) F);

impl<F: Fn()> Drop for Dismissal<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
