//! What every cache of results over ranks does, whoever does the work.
//!
//! - R1: what a get returns was put with that key, all of it by one put.
//! - R2: anything may be forgotten at any time.
//!
//! ```
//! use tremula_distributed::{Cache, Owned, ResultCache, Sizes};
//! use tremula_fabric::{Fabric, threads};
//! /// Rank 0 puts a result, and all ask for it.
//! fn share<F: Fabric>(fabric: &F, cache: &mut impl ResultCache) -> Option<u64> {
//!     if fabric.rank() == 0 {
//!         cache.put(&[([3, 4], 7)]).unwrap();
//!     }
//!     cache.settle();
//!     fabric.barrier();
//!     let found = cache.get(&[[3, 4]]).unwrap()[0];
//!     cache.settle();
//!     found
//! }
//! let found = threads::run(2, |fabric| {
//!     let sizes = Sizes { slots: 64, nodes: 64 };
//!     let one_sided = Cache::allocate(fabric, sizes).unwrap();
//!     let mut owned = Owned::allocate_with_results(fabric, sizes, 64).unwrap();
//!     [share(fabric, &mut one_sided.user()), share(fabric, &mut owned.results())]
//! });
//! assert_eq!(found.unwrap(), [[Some(7); 2]; 2]);
//! ```

use tremula_fabric::FabricError;

/// An operation and its operands.
pub type Key = [u64; 2];

/// A cache of results over all ranks, as one thread of a rank uses it.
pub trait ResultCache {
    /// Remember results. Not collective; but where owners are told, it may return only when these come to the cache too, if only
    /// to settle: nobody waits for others by other means before that. `results` may be reused on return; ranks find them when all
    /// have [settled](ResultCache::settle) and met at a barrier, or sooner.
    fn put(&mut self, results: &[(Key, u64)]) -> Result<(), FabricError>;

    /// The results that were put for these keys, where they are remembered, in the same order. Not collective; but where
    /// owners are asked, it returns only if these come to the cache too, if only to settle. `keys` may be reused on return.
    fn get(&mut self, keys: &[Key]) -> Result<Vec<Option<u64>>, FabricError>;

    /// *Collective.* Return when no rank needs this one any more for what it has put or asked for before.
    fn settle(&mut self);

    /// Requests that this rank has made, ever, by [`Reach`](crate::Reach): reads and writes, or whole messages. Not collective.
    fn requests(&self) -> [u64; 3];
}
