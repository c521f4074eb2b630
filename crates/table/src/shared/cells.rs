//! Nodes, index words and cache entries as atomics: twins of the plain types, in the same memory.

use crate::cache::{Entry, Slot};
use crate::layout::{IndexWord, Node};
use crate::memory::Twin;
use crate::sync::{AtomicU64, Ordering};
use crate::wide::AtomicWide;
#[cfg(any(loom, shuttle))]
use bytemuck::Zeroable;

/// A node in two words. It is written before its position is published, and does not change until a collection.
#[repr(C, align(16))]
pub struct NodeCell([AtomicU64; 2]);

// SAFETY: sixteen bytes aligned to sixteen, any bit pattern.
unsafe impl Twin for NodeCell {
    type Of = Node;
    #[cfg(any(loom, shuttle))]
    fn stand_in(value: Node) -> NodeCell {
        NodeCell(bytemuck::cast::<Node, [u64; 2]>(value).map(AtomicU64::new))
    }
    #[cfg(any(loom, shuttle))]
    fn into_plain(self) -> Node {
        bytemuck::cast(self.0.map(AtomicU64::into_inner))
    }
    #[cfg(any(loom, shuttle))]
    fn zero(&self) {
        self.set(Node::zeroed());
    }
}

impl NodeCell {
    /// The node.
    #[inline]
    pub fn get(&self) -> Node {
        // Relaxed: whoever knows the position has it from an Acquire that pairs with the Release that published it.
        bytemuck::cast([self.0[0].load(Ordering::Relaxed), self.0[1].load(Ordering::Relaxed)])
    }

    /// The node's level, which is in the first word.
    #[inline]
    pub fn level(&self) -> u32 {
        // Relaxed: as in `get`.
        let [level, _low]: [u32; 2] = bytemuck::cast(self.0[0].load(Ordering::Relaxed));
        level
    }

    /// Write the node, before its position is published.
    #[inline]
    pub fn set(&self, node: Node) {
        let words: [u64; 2] = bytemuck::cast(node);
        // Relaxed: as in `get`.
        self.0[0].store(words[0], Ordering::Relaxed);
        self.0[1].store(words[1], Ordering::Relaxed);
    }
}

/// A slot of the unique index.
#[repr(transparent)]
pub struct IndexCell(AtomicU64);

// SAFETY: eight bytes aligned to eight, any bit pattern.
unsafe impl Twin for IndexCell {
    type Of = IndexWord;
    #[cfg(any(loom, shuttle))]
    fn stand_in(value: IndexWord) -> IndexCell {
        IndexCell(AtomicU64::new(bytemuck::cast(value)))
    }
    #[cfg(any(loom, shuttle))]
    fn into_plain(self) -> IndexWord {
        bytemuck::cast(self.0.into_inner())
    }
    #[cfg(any(loom, shuttle))]
    fn zero(&self) {
        self.clear();
    }
}

impl IndexCell {
    /// The word; the node at its position is visible afterwards.
    #[inline]
    pub fn get(&self) -> IndexWord {
        // Acquire pairs with the Release in `occupy`.
        bytemuck::cast(self.0.load(Ordering::Acquire))
    }

    /// Put `word` into an empty slot; on error, the word that was put there first.
    #[inline]
    pub fn occupy(&self, word: IndexWord) -> Result<(), IndexWord> {
        // Release publishes the node at this position; Acquire on failure is for the node of the one who was first.
        let (empty, word): (u64, u64) = (bytemuck::cast(IndexWord::EMPTY), bytemuck::cast(word));
        self.0.compare_exchange(empty, word, Ordering::Release, Ordering::Acquire).map(drop).map_err(bytemuck::cast)
    }

    /// Empty the slot, in a collection.
    #[inline]
    pub fn clear(&self) {
        // Relaxed: the meeting of all workers that follows orders it.
        self.0.store(bytemuck::cast(IndexWord::EMPTY), Ordering::Relaxed);
    }
}

/// An entry of the operation cache, never torn.
#[cfg_attr(not(feature = "wide-cache"), repr(transparent))]
#[cfg_attr(feature = "wide-cache", repr(C, align(32)))]
pub struct EntryCell {
    word: AtomicWide,
    #[cfg(feature = "wide-cache")]
    _padding: AtomicWide,
}

// SAFETY: one or two times sixteen bytes, aligned to the same; any bit pattern.
unsafe impl Twin for EntryCell {
    type Of = Slot;
    #[cfg(any(loom, shuttle))]
    fn stand_in(value: Slot) -> EntryCell {
        EntryCell { word: AtomicWide::new(bytemuck::cast(value)) }
    }
    #[cfg(any(loom, shuttle))]
    fn into_plain(self) -> Slot {
        bytemuck::cast(self.word.into_inner())
    }
    #[cfg(any(loom, shuttle))]
    fn zero(&self) {
        self.set(Entry::zeroed());
    }
}

impl EntryCell {
    /// The entry; the nodes in it are visible afterwards.
    #[inline]
    pub fn get(&self) -> Entry {
        bytemuck::cast(self.word.load())
    }

    /// Write an entry over whatever was there.
    #[inline]
    pub fn set(&self, entry: Entry) {
        self.word.store(bytemuck::cast(entry));
    }
}

/// Sixty-four mark bits.
#[repr(transparent)]
pub struct MarkCell(AtomicU64);

// SAFETY: eight bytes aligned to eight, any bit pattern.
unsafe impl Twin for MarkCell {
    type Of = u64;
    #[cfg(any(loom, shuttle))]
    fn stand_in(value: u64) -> MarkCell {
        MarkCell(AtomicU64::new(value))
    }
    #[cfg(any(loom, shuttle))]
    fn into_plain(self) -> u64 {
        self.0.into_inner()
    }
    #[cfg(any(loom, shuttle))]
    fn zero(&self) {
        self.set(0);
    }
}

impl MarkCell {
    /// All bits.
    #[inline]
    pub fn get(&self) -> u64 {
        // Relaxed: marks of a collection are read after a meeting of all workers.
        self.0.load(Ordering::Relaxed)
    }

    /// Set all bits at once.
    #[inline]
    pub fn set(&self, bits: u64) {
        // Relaxed: as in `get`.
        self.0.store(bits, Ordering::Relaxed);
    }

    /// Set one bit; true for the one who does it first.
    #[inline]
    pub fn insert(&self, bit: u64) -> bool {
        // Relaxed: only one can be first, and the mark says nothing about other memory.
        self.get() & bit == 0 && self.0.fetch_or(bit, Ordering::Relaxed) & bit == 0
    }
}

/// The mark bit of a granule: number of the word, and the bit in it.
#[inline]
pub fn mark_of(position: u32) -> (usize, u64) {
    (position as usize / 64, 1 << (position % 64))
}
