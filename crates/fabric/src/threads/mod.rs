//! Ranks as threads of one process.
//!
//! [`run`] starts a thread for each rank and waits for all. Operations are complete when they return, so handles are
//! [`Ready`](crate::Ready) and flushes free of charge; a program that leaves flushes out works here and fails
//! elsewhere. Each rank touches its own part of a segment first, so that the kernel places it near the rank.
//!
//! A rank that panics, or that ends while others wait for it, breaks the computation: every call of another rank to the
//! fabric, one-sided ones included, then unwinds that rank, and [`run`] returns the first loss. A rank that never calls
//! the fabric is not interrupted.
//!
//! ```
//! use tremula_fabric::{Fabric, threads};
//! let lost = threads::run(3, |fabric| {
//!     assert_ne!(fabric.rank(), 1, "no luck");
//!     fabric.barrier();
//! });
//! assert_eq!(lost.unwrap_err().rank, 1);
//! ```

mod collectives;
mod segment;
mod world;

pub use segment::ThreadSegment;

use crate::call::Call;
use crate::{Distance, Fabric, FabricError, LossCause, RankLost, Reduction};
use std::any::Any;
use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use world::World;

/// Run `body` on `ranks` threads, which the system may move between processors; its results by rank, or the first loss.
pub fn run<R, B>(ranks: usize, body: B) -> Result<Vec<R>, RankLost>
where
    R: Send,
    B: Fn(&ThreadFabric) -> R + Sync,
{
    run_in(Arc::new(World::new(ranks, None)), body)
}

/// Like [`run`], with one rank on each of `cpus`, in this order. A processor that this process may not use is ignored:
/// its rank is not bound to any.
pub fn run_on<R, B>(cpus: &[usize], body: B) -> Result<Vec<R>, RankLost>
where
    R: Send,
    B: Fn(&ThreadFabric) -> R + Sync,
{
    run_in(Arc::new(World::new(cpus.len(), Some(cpus.to_vec()))), body)
}

fn run_in<R, B>(world: Arc<World>, body: B) -> Result<Vec<R>, RankLost>
where
    R: Send,
    B: Fn(&ThreadFabric) -> R + Sync,
{
    let body = &body;
    let results: Option<Vec<R>> = thread::scope(|scope| {
        let mut threads = Vec::with_capacity(world.ranks());
        for rank in 0..world.ranks() {
            let fabric = ThreadFabric { rank, world: Arc::clone(&world), one_caller: PhantomData };
            let start = thread::Builder::new().name(format!("rank {rank}"));
            match start.spawn_scoped(scope, move || fabric.live(body)) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    let cause = LossCause::NotStarted(error.to_string());
                    world.barrier.break_with(RankLost::new(rank, cause));
                    break;
                }
            }
        }
        threads.into_iter().map(|thread| thread.join().ok().flatten()).collect()
    });
    match (world.barrier.lost(), results) {
        (None, Some(results)) => Ok(results),
        (Some(lost), _) => Err(lost),
        (None, None) => unreachable!("a rank without a result is lost"),
    }
}

/// The endpoint of a rank that is a thread. It may move to another thread but serves one at a time, because collectives
/// count callers; its segments serve any number.
#[derive(Debug)]
pub struct ThreadFabric {
    rank: usize,
    world: Arc<World>,
    one_caller: PhantomData<Cell<()>>,
}

impl ThreadFabric {
    /// The life of a rank: its result, unless it is lost.
    fn live<R>(self, body: impl Fn(&ThreadFabric) -> R) -> Option<R> {
        self.world.settle(self.rank);
        match catch_unwind(AssertUnwindSafe(|| body(&self))) {
            Ok(result) => {
                self.world.barrier.end(self.rank);
                Some(result)
            }
            Err(payload) => {
                let cause = LossCause::Panicked(message(payload.as_ref()));
                self.world.barrier.break_with(RankLost::new(self.rank, cause));
                None
            }
        }
    }
}

/// What a panic had to say.
pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else if let Some(lost) = payload.downcast_ref::<RankLost>() {
        // A rank unwound by another computation that it takes part in.
        lost.to_string()
    } else {
        "no message".to_owned()
    }
}

impl Fabric for ThreadFabric {
    type Segment = ThreadSegment;

    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.world.ranks()
    }

    fn distance(&self, to: usize) -> Result<Distance, FabricError> {
        self.world.check_rank(to)?;
        Ok(self.world.distance(self.rank, to))
    }

    fn allocate(&self, words_per_rank: usize) -> Result<ThreadSegment, FabricError> {
        let call = Call::new("allocate").length(words_per_rank);
        let parts = self.allocate_parts(call, words_per_rank)?;
        Ok(ThreadSegment::new(self.rank, words_per_rank, parts, Arc::clone(&self.world)))
    }

    fn barrier(&self) {
        // Who calls something else hears of it; this call has no way to say so. And a rank that is unwinding shall go on doing so.
        let _ = self.exchange(Call::new("barrier"), Vec::new());
    }

    fn broadcast(&self, root: usize, words: &mut Vec<u64>) -> Result<(), FabricError> {
        let call = Call::new("broadcast").root(root);
        let given = if root == self.rank { words.clone() } else { Vec::new() };
        let offers = self.exchange(call, vec![given])?;
        if root != self.rank {
            words.clear();
            words.extend_from_slice(offers[root].words());
        }
        Ok(())
    }

    fn reduce(&self, root: usize, reduction: Reduction, words: &mut [u64]) -> Result<(), FabricError> {
        let call = Call::new("reduce").root(root).reduction(reduction).length(words.len());
        let offers = self.exchange(call, vec![words.to_vec()])?;
        if root == self.rank {
            collectives::combine(reduction, &offers, words);
        }
        Ok(())
    }

    fn all_reduce(&self, reduction: Reduction, words: &mut [u64]) -> Result<(), FabricError> {
        let call = Call::new("all_reduce").reduction(reduction).length(words.len());
        let offers = self.exchange(call, vec![words.to_vec()])?;
        collectives::combine(reduction, &offers, words);
        Ok(())
    }

    fn scan(&self, reduction: Reduction, words: &mut [u64]) -> Result<(), FabricError> {
        let call = Call::new("scan").reduction(reduction).length(words.len());
        let offers = self.exchange(call, vec![words.to_vec()])?;
        collectives::combine(reduction, &offers[..self.rank], words);
        Ok(())
    }

    fn gather(&self, root: usize, words: &[u64]) -> Result<Option<Vec<Vec<u64>>>, FabricError> {
        let call = Call::new("gather").root(root);
        let offers = self.exchange(call, vec![words.to_vec()])?;
        Ok((root == self.rank).then(|| offers.iter().map(|offer| offer.words().to_vec()).collect()))
    }

    fn all_gather(&self, words: &[u64]) -> Result<Vec<Vec<u64>>, FabricError> {
        let offers = self.exchange(Call::new("all_gather"), vec![words.to_vec()])?;
        Ok(offers.iter().map(|offer| offer.words().to_vec()).collect())
    }

    fn all_to_all(&self, messages: &[Vec<u64>]) -> Result<Vec<Vec<u64>>, FabricError> {
        let call = Call::new("all_to_all").length(messages.len());
        let offers = self.exchange(call, messages.to_vec())?;
        if messages.len() != self.ranks() {
            return Err(FabricError::MessageCount { messages: messages.len(), ranks: self.ranks() });
        }
        Ok(offers.iter().map(|offer| offer.messages[self.rank].clone()).collect())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::topology::Topology;
    use crate::{Place, Segment};

    #[test]
    fn results_come_by_rank() {
        assert_eq!(run(4, |fabric| fabric.rank() * 10), Ok(vec![0, 10, 20, 30]));
        assert_eq!(run(0, |fabric| fabric.rank()), Ok(Vec::new()));
    }

    #[test]
    fn bound_ranks_know_their_distances() {
        let topology = Topology::detect();
        let cpus: Vec<usize> = topology.available_cpus().iter().copied().take(4).chain([usize::MAX]).collect();
        let distances = run_on(&cpus, |fabric| {
            fabric.barrier();
            (0..fabric.ranks()).map(|to| fabric.distance(to).unwrap()).collect::<Vec<_>>()
        });
        for (from, distances) in distances.unwrap().into_iter().enumerate() {
            assert_eq!(distances, cpus.iter().map(|&to| topology.distance(cpus[from], to)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_computation_inside_a_rank_ends_with_it() {
        let outer = run(2, |outer| {
            let outer_rank = outer.rank();
            let inner = run(2, |inner| {
                assert!((inner.rank(), outer_rank) != (0, 1), "inside");
                inner.barrier();
            });
            assert_eq!(inner.is_ok(), outer_rank == 0);
            inner.unwrap();
        });
        assert_eq!(outer.unwrap_err().rank, 1);
    }

    #[test]
    fn memory_outlives_its_ranks_and_serves_all_threads() {
        let segments = run(2, |fabric| fabric.allocate(1).unwrap()).unwrap();
        thread::scope(|scope| {
            for segment in &segments {
                scope.spawn(|| (0..100).for_each(|_| drop(segment.fetch_add(Place { rank: 1, offset: 0 }, 1))));
            }
        });
        assert_eq!(segments[0].get_word(Place { rank: 1, offset: 0 }), Ok(200));
    }

    #[test]
    fn panics_without_text_are_named_too() {
        let lost = run(1, |_| std::panic::panic_any(5)).map(drop).unwrap_err();
        assert_eq!(lost.to_string(), "rank 0 panicked: no message");
    }
}
