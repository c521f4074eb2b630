//! Copies of nodes that other parts of the table own: a lossy cache, by reference and by content.
//!
//! A node never changes while it is alive, so a copy is true until a collection frees the node. Collections must therefore
//! call [`Copies::retain`] before anybody goes on.

use crate::budget::{Budget, Lease};
use crate::cache::{Entry, Slot};
use crate::layout::{Key, Node, Ref, scattered};
use crate::memory::{MapError, Region, SharedRegion};
use crate::shared::EntryCell;
use bytemuck::Zeroable;
use std::ops::Range;

/// In place of a low child, which is never complemented: only the level is known.
const ONLY_LEVEL: u32 = Ref::TRUE.bits();

/// Memory for copies.
pub struct CopyStore {
    by_reference: Region<Slot>,
    by_content: Region<Slot>,
    _lease: Lease,
}

impl CopyStore {
    /// Room for about `entries` copies, less if the budget has no more.
    pub fn new(budget: &Budget, entries: usize) -> Result<CopyStore, MapError> {
        let bytes = |entries: usize| 2 * entries * size_of::<Slot>();
        let mut entries = 1 << entries.max(1).ilog2();
        let lease = loop {
            match budget.take(bytes(entries)) {
                Ok(lease) => break lease,
                Err(_) if entries > 1 => entries /= 2,
                Err(_) => return Err(MapError),
            }
        };
        let table = || {
            Region::reserve(entries).map(|mut region| {
                region.resize(entries);
                region
            })
        };
        Ok(CopyStore { by_reference: table()?, by_content: table()?, _lease: lease })
    }

    /// The copies, for several threads.
    pub fn share(&mut self) -> Copies<'_> {
        let entries = self.by_reference.len();
        Copies { by_reference: self.by_reference.share(), by_content: self.by_content.share(), entries }
    }
}

/// Copies that several threads use at the same time.
pub struct Copies<'a> {
    by_reference: SharedRegion<'a, EntryCell>,
    by_content: SharedRegion<'a, EntryCell>,
    /// A power of two.
    entries: usize,
}

impl Copies<'_> {
    /// The node of `f`, if there is a copy.
    #[inline]
    pub fn node(&self, f: Ref) -> Option<Node> {
        let entry = self.by_reference.items()[self.place_of(f)].get();
        let Key { first, second: level, third: low } = entry.key();
        let node = || Node { level, low: Ref::from_bits(low), high: entry.result(), spare: 0 };
        (first == f.index() && low != ONLY_LEVEL).then(node)
    }

    /// The level of `f`, if there is a copy of its node, or of the level alone.
    #[inline]
    pub fn level(&self, f: Ref) -> Option<u32> {
        let key = self.by_reference.items()[self.place_of(f)].get().key();
        (key.first == f.index()).then_some(key.second)
    }

    /// Remember the level of `f`, if there is no copy.
    #[inline]
    pub fn put_level(&self, f: Ref, level: u32) {
        let cell = &self.by_reference.items()[self.place_of(f)];
        if cell.get().key().first != f.index() {
            cell.set(Entry::new(Key { first: f.index(), second: level, third: ONLY_LEVEL }, Ref::FALSE));
        }
    }

    /// The function of a node, if there is a copy; `hash` is the node's.
    #[inline]
    pub fn reference(&self, hash: u64, node: &Node) -> Option<Ref> {
        self.by_content.items()[self.place_for(hash)].get().result_for(content(node))
    }

    /// Remember a node; `f` is not complemented.
    #[inline]
    pub fn put(&self, f: Ref, node: &Node) {
        let key = Key { first: f.index(), second: node.level, third: node.low.bits() };
        self.by_reference.items()[self.place_of(f)].set(Entry::new(key, node.high));
        let hash = Node::hash(node.level, node.low, node.high);
        self.by_content.items()[self.place_for(hash)].set(Entry::new(content(node), f));
    }

    /// Fetch the copy of `f` into the processor's cache.
    #[inline]
    pub fn prefetch(&self, f: Ref) {
        self.by_reference.prefetch(self.place_of(f));
    }

    /// Forget the nodes that are not alive, in one of `shares` shares of the store.
    pub fn retain(&self, share: usize, shares: usize, alive: impl Fn(Ref) -> bool) {
        let range: Range<usize> = self.entries * share / shares..self.entries * (share + 1) / shares;
        for cell in &self.by_reference.items()[range.clone()] {
            let first = cell.get().key().first;
            if first != 0 && !alive(Ref::new(first, false)) {
                cell.set(Entry::zeroed());
            }
        }
        for cell in &self.by_content.items()[range] {
            let entry = cell.get();
            if !entry.is_empty() && !alive(entry.result()) {
                cell.set(Entry::zeroed());
            }
        }
    }

    #[inline]
    fn place_of(&self, f: Ref) -> usize {
        (scattered(u64::from(f.index())) >> 32) as usize & (self.entries - 1)
    }

    #[inline]
    fn place_for(&self, hash: u64) -> usize {
        (scattered(hash) >> 32) as usize & (self.entries - 1)
    }
}

/// The content of a node as a key. The first word is never zero.
#[inline]
fn content(node: &Node) -> Key {
    Key { first: node.level + 1, second: node.low.bits(), third: node.high.bits() }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn copies_are_found_both_ways_until_their_nodes_die() {
        let mut store = CopyStore::new(&Budget::new(1 << 20), 1000).unwrap();
        let copies = store.share();
        let node = |n: u32| Node { level: n, low: Ref::FALSE, high: Ref::new(n, true), spare: 0 };
        let hash = |node: &Node| Node::hash(node.level, node.low, node.high);
        let f = |n: u32| Ref::new(n << 20 | 5, false);
        (1..100).for_each(|n| copies.put(f(n), &node(n)));
        let found = |n: u32| (copies.node(f(n)), copies.reference(hash(&node(n)), &node(n)));
        let all = (1..100).filter(|&n| found(n) == (Some(node(n)), Some(f(n)))).count();
        assert!(all > 70, "only {all} of 99");
        (0..3).for_each(|share| copies.retain(share, 3, |g| g.index() >> 20 != 7));
        assert_eq!(found(7), (None, None));
        copies.put_level(f(7), 3);
        assert_eq!((copies.level(f(7)), copies.node(f(7))), (Some(3), None));
        let left = (1..100).filter(|&n| found(n) == (Some(node(n)), Some(f(n)))).count();
        assert!(left >= all - 1);
    }

    #[test]
    fn a_small_budget_gives_a_small_store() {
        let budget = Budget::new(10_000);
        let mut store = CopyStore::new(&budget, 1 << 20).unwrap();
        assert!(store.share().entries >= 64);
        assert!(CopyStore::new(&Budget::new(1), 1).is_err());
    }
}
