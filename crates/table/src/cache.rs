//! The lossy operation cache: direct-mapped, one cache line touched per look-up or store.
//!
//! An entry is the key and the result together; a store overwrites whatever was there. Entries never hold errors.

use crate::layout::{Key, LEAST_CACHE_ENTRIES, Ref, cache_slot};
use crate::memory::{MapError, Region};
use bytemuck::{Pod, Zeroable};
use tremula_fabric::Ground;

/// Key and result of an operation.
#[derive(Copy, Clone, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Entry {
    first: u32,
    second: u32,
    third: u32,
    result: Ref,
}

/// The memory of an entry.
#[derive(Copy, Clone, Pod, Zeroable)]
#[cfg_attr(not(feature = "wide-cache"), repr(transparent))]
#[cfg_attr(feature = "wide-cache", repr(C, align(32)))]
pub struct Slot {
    entry: Entry,
    #[cfg(feature = "wide-cache")]
    padding: [u32; 4],
}

impl Slot {
    #[inline]
    fn new(entry: Entry) -> Slot {
        Slot {
            entry,
            #[cfg(feature = "wide-cache")]
            padding: [0; 4],
        }
    }
}

impl Entry {
    /// What the result is stored under.
    #[inline]
    pub fn key(&self) -> Key {
        Key { first: self.first, second: self.second, third: self.third }
    }

    /// An entry.
    #[inline]
    pub fn new(key: Key, result: Ref) -> Entry {
        Entry { first: key.first, second: key.second, third: key.third, result }
    }

    /// What was stored.
    #[inline]
    pub fn result(&self) -> Ref {
        self.result
    }

    /// The result, if this is the entry for `key`.
    #[inline]
    pub fn result_for(&self, key: Key) -> Option<Ref> {
        (self.key() == key).then_some(self.result)
    }

    /// Do all nodes of the entry, operands and result, satisfy `alive`?
    #[inline]
    pub fn lives(&self, mut alive: impl FnMut(Ref) -> bool) -> bool {
        alive(self.result) && self.key().nodes().all(alive)
    }

    /// Operations on a terminal are never cached, so a zero first operand marks an unused entry.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first == 0
    }
}

/// The operation cache of one worker or process.
pub struct OpCache {
    entries: Region<Slot>,
    /// A status word per entry in an array of its own, as packages with two-array caches have it (ablation only).
    #[cfg(feature = "split-cache")]
    status: Region<u32>,
}

impl OpCache {
    /// Bytes that `entries` entries take.
    pub fn bytes(entries: usize) -> usize {
        entries * size_of::<Slot>() + if cfg!(feature = "split-cache") { entries * size_of::<u32>() } else { 0 }
    }

    /// Entries that fit into `bytes`.
    pub fn entries_in(bytes: usize) -> usize {
        bytes / Self::bytes(1)
    }

    /// Address space for up to `entries` entries.
    pub fn reserve(entries: usize) -> Result<OpCache, MapError> {
        Ok(OpCache {
            entries: Region::reserve(entries)?,
            #[cfg(feature = "split-cache")]
            status: Region::reserve(entries)?,
        })
    }

    /// A cache on a ground.
    pub fn on(ground: Ground) -> Result<OpCache, MapError> {
        #[cfg(feature = "split-cache")]
        let status = Region::reserve(OpCache::entries_in(ground.bytes()))?;
        Ok(OpCache {
            entries: Region::on(ground),
            #[cfg(feature = "split-cache")]
            status,
        })
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Fetch the line of the entry for `hash`.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        let slot = cache_slot(hash, self.entries.len());
        #[cfg(feature = "split-cache")]
        self.status.prefetch(slot);
        self.entries.prefetch(slot);
    }

    /// The result stored for `key`, if it is still there. `hash` is the key's.
    #[inline]
    pub fn get(&self, hash: u64, key: Key) -> Option<Ref> {
        let slot = cache_slot(hash, self.entries.len());
        #[cfg(feature = "split-cache")]
        if self.status[slot] != hash as u32 | 1 {
            return None;
        }
        self.entries[slot].entry.result_for(key)
    }

    /// Store a result, over whatever was there.
    #[inline]
    pub fn put(&mut self, hash: u64, key: Key, result: Ref) {
        let slot = cache_slot(hash, self.entries.len());
        #[cfg(feature = "split-cache")]
        {
            self.status[slot] = hash as u32 | 1;
        }
        self.entries[slot] = Slot::new(Entry::new(key, result));
    }

    /// The entries, to be shared by several threads.
    pub fn entries_mut(&mut self) -> &mut Region<Slot> {
        &mut self.entries
    }

    /// Forget everything.
    pub fn clear(&mut self) {
        self.entries.fill(Slot::zeroed());
    }

    /// Keep only entries all of whose nodes (operands and result) satisfy `alive`.
    pub fn retain(&mut self, mut alive: impl FnMut(Ref) -> bool) {
        for slot in self.entries.iter_mut().filter(|slot| !slot.entry.is_empty()) {
            if !slot.entry.lives(&mut alive) {
                *slot = Slot::zeroed();
            }
        }
    }

    /// Change the number of entries; entries move to their new slots, in place.
    ///
    /// Growing walks down and shrinking walks up: an entry's slot moves up when the cache grows, so it never lands
    /// among those still to be visited.
    pub fn resize(&mut self, len: usize) {
        debug_assert!(len == 0 || len >= LEAST_CACHE_ENTRIES);
        let old = self.entries.len();
        if len > old {
            self.entries.resize(len);
            #[cfg(feature = "split-cache")]
            self.status.resize(len);
            (0..old).rev().for_each(|slot| self.rehome(slot, len));
        } else {
            (0..old).for_each(|slot| self.rehome(slot, len));
            self.entries.resize(len);
            #[cfg(feature = "split-cache")]
            self.status.resize(len);
        }
    }

    fn rehome(&mut self, slot: usize, len: usize) {
        let Slot { entry, .. } = std::mem::replace(&mut self.entries[slot], Slot::zeroed());
        if !entry.is_empty() && len > 0 {
            let hash = entry.key().hash();
            let target = cache_slot(hash, len);
            self.entries[target] = Slot::new(entry);
            #[cfg(feature = "split-cache")]
            {
                self.status[target] = hash as u32 | 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::OpTag;

    fn key(n: u32) -> Key {
        Key::binary(Ref::new(n, false), Ref::new(n + 1, true), OpTag::binary(1, 0))
    }

    fn filled(len: usize, keys: u32) -> OpCache {
        let mut cache = OpCache::reserve(10_000).unwrap();
        cache.resize(len);
        for n in 1..=keys {
            cache.put(key(n).hash(), key(n), Ref::new(n, true));
        }
        cache
    }

    fn present(cache: &OpCache, keys: u32) -> Vec<u32> {
        let hit = |&n: &u32| cache.get(key(n).hash(), key(n)).inspect(|&r| assert_eq!(r, Ref::new(n, true))).is_some();
        (1..=keys).filter(hit).collect()
    }

    #[test]
    fn returns_what_was_stored_or_nothing() {
        let cache = filled(1000, 50);
        assert!(present(&cache, 50).len() > 40);
        assert!(cache.get(key(99).hash(), key(99)).is_none());
    }

    #[test]
    fn growing_keeps_every_entry() {
        let mut cache = filled(1000, 400);
        let before = present(&cache, 400);
        cache.resize(3000);
        assert_eq!(present(&cache, 400), before);
    }

    #[test]
    fn growing_by_an_odd_factor_loses_little() {
        let mut cache = filled(1000, 400);
        let before = present(&cache, 400);
        cache.resize(3777);
        let after = present(&cache, 400);
        assert!(after.iter().all(|n| before.contains(n)));
        assert!(after.len() * 100 > before.len() * 95);
    }

    #[test]
    fn shrinking_stays_consistent() {
        let mut cache = filled(4000, 400);
        cache.resize(301);
        assert!(present(&cache, 400).len() > 100);
        cache.resize(0);
        assert_eq!(cache.len(), 0);
    }

    #[test]
    fn retain_checks_operands_and_result() {
        let mut cache = filled(4000, 100);
        cache.retain(|r| r.index() != 50);
        let left = present(&cache, 100);
        assert!(!left.contains(&50) && !left.contains(&49));
        assert!(left.len() > 90);
    }
}
