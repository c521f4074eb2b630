//! Ranks that cannot address each other's memory, though they are threads: all that they do goes through the fabric.

use std::sync::atomic::AtomicU64;
use tremula_fabric::threads::{ThreadFabric, ThreadSegment};
use tremula_fabric::{Distance, Fabric, FabricError, Place, Ready, Reduction, Segment, Update};

/// A rank's endpoint whose segments show no memory but its own.
pub struct Veiled<'f>(pub &'f ThreadFabric);

/// A segment that shows no memory but this rank's.
#[derive(Clone, Debug)]
pub struct VeiledSegment(ThreadSegment);

impl Fabric for Veiled<'_> {
    type Segment = VeiledSegment;

    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn ranks(&self) -> usize {
        self.0.ranks()
    }

    fn distance(&self, to: usize) -> Result<Distance, FabricError> {
        Ok(if to == self.rank() { Distance::Same } else { Distance::Remote })
    }

    fn allocate(&self, words_per_rank: usize) -> Result<VeiledSegment, FabricError> {
        self.0.allocate(words_per_rank).map(VeiledSegment)
    }

    fn barrier(&self) {
        self.0.barrier();
    }

    fn broadcast(&self, root: usize, words: &mut Vec<u64>) -> Result<(), FabricError> {
        self.0.broadcast(root, words)
    }

    fn reduce(&self, root: usize, reduction: Reduction, words: &mut [u64]) -> Result<(), FabricError> {
        self.0.reduce(root, reduction, words)
    }

    fn all_reduce(&self, reduction: Reduction, words: &mut [u64]) -> Result<(), FabricError> {
        self.0.all_reduce(reduction, words)
    }

    fn scan(&self, reduction: Reduction, words: &mut [u64]) -> Result<(), FabricError> {
        self.0.scan(reduction, words)
    }

    fn gather(&self, root: usize, words: &[u64]) -> Result<Option<Vec<Vec<u64>>>, FabricError> {
        self.0.gather(root, words)
    }

    fn all_gather(&self, words: &[u64]) -> Result<Vec<Vec<u64>>, FabricError> {
        self.0.all_gather(words)
    }

    fn all_to_all(&self, messages: &[Vec<u64>]) -> Result<Vec<Vec<u64>>, FabricError> {
        self.0.all_to_all(messages)
    }
}

impl Segment for VeiledSegment {
    type Words = Ready<Vec<u64>>;
    type Word = Ready<u64>;

    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn ranks(&self) -> usize {
        self.0.ranks()
    }

    fn words(&self) -> usize {
        self.0.words()
    }

    fn local(&self) -> &[AtomicU64] {
        self.0.local()
    }

    fn mapped(&self, rank: usize) -> Option<&[AtomicU64]> {
        (rank == self.rank()).then(|| self.0.local())
    }

    fn get(&self, from: Place, into: &mut [u64]) -> Result<(), FabricError> {
        self.0.get(from, into)
    }

    fn put(&self, to: Place, words: &[u64]) -> Result<(), FabricError> {
        self.0.put(to, words)
    }

    fn compare_and_swap(&self, at: Place, expected: u64, new: u64) -> Result<u64, FabricError> {
        self.0.compare_and_swap(at, expected, new)
    }

    fn fetch_with(&self, at: Place, update: Update, operand: u64) -> Result<u64, FabricError> {
        self.0.fetch_with(at, update, operand)
    }

    fn start_get(&self, from: Place, length: usize) -> Result<Ready<Vec<u64>>, FabricError> {
        self.0.start_get(from, length)
    }

    fn start_put(&self, to: Place, words: Vec<u64>) -> Result<Ready<Vec<u64>>, FabricError> {
        self.0.start_put(to, words)
    }

    fn start_compare_and_swap(&self, at: Place, expected: u64, new: u64) -> Result<Ready<u64>, FabricError> {
        self.0.start_compare_and_swap(at, expected, new)
    }

    fn start_fetch_with(&self, at: Place, update: Update, operand: u64) -> Result<Ready<u64>, FabricError> {
        self.0.start_fetch_with(at, update, operand)
    }

    fn flush(&self, rank: usize) -> Result<(), FabricError> {
        self.0.flush(rank)
    }
}
