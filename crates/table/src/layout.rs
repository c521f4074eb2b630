//! The only place that knows bits: references, nodes, index words and operation tags.
//!
//! Other modules and prose name these types and constants and never repeat their numbers.
//!
//! ```
//! use tremula_table::layout::Ref;
//! let f = Ref::new(7, false);
//! assert_eq!(!f, Ref::new(7, true));
//! assert_eq!((!f).index(), f.index());
//! assert_eq!(!Ref::FALSE, Ref::TRUE);
//! ```

use crate::tuning;
use bytemuck::{Pod, Zeroable};

/// Bytes of one granule of the node store. A BDD node takes exactly one.
pub const GRANULE_BYTES: usize = size_of::<Node>();

/// Level of the terminal: below every variable.
pub const TERMINAL_LEVEL: u32 = u32::MAX;

/// Levels are smaller than this, so that one fits into an operation tag.
pub const MAX_LEVELS: u32 = OpTag::MAX_PARAMETER;

/// First word that can never be a reference: operation tags live from here upwards.
const FIRST_TAG: u32 = 0xF000_0000;

/// Largest number of granules that 32-bit references can address beside the tags.
pub const MAX_NODES: usize = (FIRST_TAG >> COMPLEMENT_BITS) as usize;

const COMPLEMENT_BITS: u32 = 1;

/// Positions that differ only in so many lower bits are near each other: such nodes were made one after the other.
const NEAR_BITS: u32 = 8;

/// The lower bits of a reference in which near ones differ; the complement mark below them is not among them.
const NEAR: u32 = ((1 << NEAR_BITS) - 1) << COMPLEMENT_BITS;

/// Entries of the operation cache come in blocks of this power of two: a page of 4 KiB.
const CACHE_BLOCK_BITS: u32 = if tuning::NEAR_CACHE { NEAR_BITS } else { 0 };

/// Slots of the unique index come in blocks of this power of two: half a page, or a line.
const INDEX_BLOCK_BITS: u32 = if tuning::NEAR_INDEX { NEAR_BITS } else { 3 };

/// The unique index has whole blocks of so many slots.
pub const INDEX_BLOCK: usize = 1 << INDEX_BLOCK_BITS;

/// The operation cache has at least one block.
pub const LEAST_CACHE_ENTRIES: usize = 1 << CACHE_BLOCK_BITS;

/// A reference to a function: granule index and complement mark in 32 bits.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub struct Ref(u32);

impl Ref {
    /// The constant false: the terminal, unmarked.
    pub const FALSE: Ref = Ref(0);
    /// The constant true: the terminal, marked.
    pub const TRUE: Ref = Ref(1);

    /// The function at granule `index`, negated when `complement` is set.
    #[inline]
    pub const fn new(index: u32, complement: bool) -> Ref {
        Ref(index << COMPLEMENT_BITS | complement as u32)
    }

    /// The reference that [`Ref::bits`] gave this word for.
    #[inline]
    pub const fn from_bits(bits: u32) -> Ref {
        Ref(bits)
    }

    /// The raw word, for cache keys.
    #[inline]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Granule index.
    #[inline]
    pub const fn index(self) -> u32 {
        self.0 >> COMPLEMENT_BITS
    }

    /// Is the function negated?
    #[inline]
    pub const fn is_complement(self) -> bool {
        self.0 & 1 != 0
    }

    /// True for the two constants.
    #[inline]
    pub const fn is_terminal(self) -> bool {
        self.index() == 0
    }

    /// The same node without the complement mark.
    #[inline]
    pub const fn regular(self) -> Ref {
        Ref(self.0 & !1)
    }

    /// Negate when `condition` holds.
    #[inline]
    #[must_use]
    pub const fn negate_if(self, condition: bool) -> Ref {
        Ref(self.0 ^ condition as u32)
    }

    /// Take over the complement mark of `parent`: a cofactor of a negated function is a negated cofactor.
    #[inline]
    #[must_use]
    pub const fn under(self, parent: Ref) -> Ref {
        Ref(self.0 ^ (parent.0 & 1))
    }
}

impl std::ops::Not for Ref {
    type Output = Ref;
    #[inline]
    fn not(self) -> Ref {
        Ref(self.0 ^ 1)
    }
}

/// One granule holding a BDD node, `if level then high else low`, or a list node ([`Node::list`]).
///
/// Canonical: `low` is never complemented, `low != high`, both children have larger levels. A list node is canonical when
/// nothing is complemented but a `down` to the terminal, `down` is not empty, and values ascend along `right`.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Node {
    /// The variable's level; smaller is nearer the root.
    pub level: u32,
    /// Child where the variable is false; never complemented.
    pub low: Ref,
    /// Child where the variable is true.
    pub high: Ref,
    /// Spare word of the granule, zero in BDD nodes; tells list nodes from them, so that the two are never the same.
    pub spare: u32,
}

/// Marks a node of a list decision diagram.
const LIST: u32 = 1;

impl Node {
    /// The terminal's granule.
    pub const TERMINAL: Node = Node { level: TERMINAL_LEVEL, low: Ref::FALSE, high: Ref::FALSE, spare: 0 };
    /// What a freed granule holds in stress mode: a use of it cannot go unnoticed.
    pub const POISON: Node =
        Node { level: TERMINAL_LEVEL - 1, low: Ref(FIRST_TAG - 2), high: Ref(FIRST_TAG - 1), spare: u32::MAX };

    /// A node of a list decision diagram: the vectors that begin with `value` and go on as in `down`, and those in `right`,
    /// which begin with larger values.
    ///
    /// The constant false is the empty set, the constant true the set of the empty vector.
    #[inline]
    pub const fn list(value: u32, down: Ref, right: Ref) -> Node {
        Node { level: value, low: right, high: down, spare: LIST }
    }

    /// Is it a list node?
    #[inline]
    pub const fn is_list(self) -> bool {
        self.spare == LIST
    }

    /// The value of a list node.
    #[inline]
    pub const fn value(self) -> u32 {
        self.level
    }

    /// What follows the value of a list node.
    #[inline]
    pub const fn down(self) -> Ref {
        self.high
    }

    /// The rest of the list that begins with this node.
    #[inline]
    pub const fn right(self) -> Ref {
        self.low
    }

    /// Hash of the triple that identifies a node: the upper half chooses a block of the index, the lowest bits a slot in it,
    /// and the lower half is what an index word keeps.
    ///
    /// Nodes that are made one after the other have children near each other. They share a block, so that a search often
    /// ends in a line that was used just before. That matters where several threads make nodes: an exchange waits for its
    /// line and lets nothing overtake it.
    #[inline]
    pub fn hash(level: u32, low: Ref, high: Ref) -> u64 {
        const UPPER_HALF: u64 = !0 << 32;
        const IN_BLOCK: u64 = INDEX_BLOCK as u64 - 1;
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        if !tuning::NEAR_INDEX {
            return fold(pair(low.0, high.0), u64::from(level));
        }
        let block = fold(pair(low.0 & !NEAR, high.0 & !NEAR), u64::from(level)) & UPPER_HALF;
        let tag = pair(low.0, high.0).wrapping_mul(FACTOR) >> 32 & !IN_BLOCK;
        block | tag | near_entry(low.0, high.0) & IN_BLOCK
    }
}

/// Another hash of the same node, in which all bits choose the place.
#[inline]
pub fn scattered(hash: u64) -> u64 {
    fold(hash, FACTOR)
}

/// A number for two references in a block, from the bits in which near ones differ.
#[inline]
fn near_entry(first: u32, second: u32) -> u64 {
    // An odd factor other than one, so that two operands that advance together meet different entries.
    u64::from(((first & NEAR) + 5 * (second & NEAR)) >> COMPLEMENT_BITS)
}

/// A word of the unique index: hash tag above, granule position below; zero is an empty slot.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub struct IndexWord(u64);

impl IndexWord {
    /// An unused slot. Position 0 is the terminal's, which is never in the index.
    pub const EMPTY: IndexWord = IndexWord(0);
    const POSITION_BITS: u32 = 32;

    /// The word for a node of this hash at this position.
    #[inline]
    pub const fn new(hash: u64, position: u32) -> IndexWord {
        IndexWord(hash << Self::POSITION_BITS | position as u64)
    }

    /// Granule position.
    #[inline]
    pub const fn position(self) -> u32 {
        self.0 as u32
    }

    /// Can this word belong to a node with `hash`?
    #[inline]
    pub const fn tag_matches(self, hash: u64) -> bool {
        self.0 >> Self::POSITION_BITS == hash & (u64::MAX >> Self::POSITION_BITS)
    }
}

/// What a cached operation is, beside its operands: the third word of a [`Key`].
///
/// Ternary operations keep a reference in that word instead; tags are above every reference, so the two cannot meet.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct OpTag(u32);

impl OpTag {
    const SECOND_IS_NODE: u32 = 1 << 27;
    const CODE_SHIFT: u32 = 22;
    /// Parameters (ids of variable sets and the like) are smaller than this.
    pub const MAX_PARAMETER: u32 = 1 << Self::CODE_SHIFT;

    /// Tag of an operation on one node and a plain number.
    #[inline]
    pub const fn unary(code: u8, parameter: u32) -> OpTag {
        assert!(code < 32 && parameter < Self::MAX_PARAMETER);
        OpTag(FIRST_TAG | (code as u32) << Self::CODE_SHIFT | parameter)
    }

    /// Tag of an operation on two nodes.
    #[inline]
    pub const fn binary(code: u8, parameter: u32) -> OpTag {
        OpTag(Self::unary(code, parameter).0 | Self::SECOND_IS_NODE)
    }
}

/// Identifies a cached result: up to three operands, or two and an [`OpTag`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Key {
    /// First operand, always a node.
    pub first: u32,
    /// Second operand: a node, or a number when the tag says so.
    pub second: u32,
    /// Third operand or tag.
    pub third: u32,
}

impl Key {
    /// Key of an operation on one node and a number.
    #[inline]
    pub const fn unary(f: Ref, number: u32, tag: OpTag) -> Key {
        Key { first: f.0, second: number, third: tag.0 }
    }

    /// Key of an operation on two nodes.
    #[inline]
    pub const fn binary(f: Ref, g: Ref, tag: OpTag) -> Key {
        Key { first: f.0, second: g.0, third: tag.0 }
    }

    /// Key of the one operation on three nodes.
    #[inline]
    pub const fn ternary(f: Ref, g: Ref, h: Ref) -> Key {
        Key { first: f.0, second: g.0, third: h.0 }
    }

    /// Hash for the operation cache: the upper bits choose a block of entries, the lowest an entry in it.
    ///
    /// Operations walk through nodes that were made one after the other and have positions next to each other. Keys that
    /// differ only in the lower bits of positions share a block, so that such a walk stays on a few pages and lines.
    #[inline]
    pub fn hash(self) -> u64 {
        const IN_BLOCK: u64 = (1 << CACHE_BLOCK_BITS) - 1;
        const FAR: u32 = if tuning::NEAR_CACHE { !NEAR } else { !0 };
        let (second_near, second_far) =
            if self.second_is_node() { (self.second, self.second & FAR) } else { (0, self.second) };
        let block = fold(u64::from(self.first & FAR) | u64::from(second_far) << 32, u64::from(self.third));
        block & !IN_BLOCK | near_entry(self.first, second_near) & IN_BLOCK
    }

    #[inline]
    fn second_is_node(self) -> bool {
        self.third < FIRST_TAG || self.third & OpTag::SECOND_IS_NODE != 0
    }

    /// The operands that are nodes, and so must be alive for the entry to mean anything.
    #[inline]
    pub fn nodes(self) -> impl Iterator<Item = Ref> {
        let tagged = self.third >= FIRST_TAG;
        std::iter::once(Ref(self.first))
            .chain(self.second_is_node().then_some(Ref(self.second)))
            .chain((!tagged).then_some(Ref(self.third)))
    }
}

/// An odd number without pattern: the golden ratio's bits.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// Multiply and fold: both halves of the product depend on all input bits that matter.
#[inline]
pub fn fold(a: u64, b: u64) -> u64 {
    const B: u64 = 0xD6E8_FEB8_6659_FD93;
    const C: u64 = 0xA076_1D64_78BD_642F;
    let wide = u128::from(a ^ FACTOR).wrapping_mul(u128::from(b.wrapping_mul(B) ^ C));
    let mixed = wide as u64 ^ (wide >> 64) as u64;
    mixed.wrapping_mul(FACTOR)
}

/// Map a hash to `0..len` by its upper bits, without a division and for any length.
#[inline]
pub fn scale(hash: u64, len: usize) -> usize {
    ((u128::from(hash) * len as u128) >> 64) as usize
}

/// The slot at which a search for a node with `hash` begins, in an index of `slots` (whole blocks).
#[inline]
pub fn index_slot(hash: u64, slots: usize) -> usize {
    scale(hash, slots >> INDEX_BLOCK_BITS) << INDEX_BLOCK_BITS | hash as usize & (INDEX_BLOCK - 1)
}

/// The entry for a key with `hash` in an operation cache of `len` entries; for a longer cache it is never an earlier one.
#[inline]
pub fn cache_slot(hash: u64, len: usize) -> usize {
    let in_block = hash as usize & (LEAST_CACHE_ENTRIES - 1);
    scale(hash, len >> CACHE_BLOCK_BITS) << CACHE_BLOCK_BITS | in_block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_round_trip() {
        for index in [0, 1, 12345, MAX_NODES as u32 - 1] {
            for complement in [false, true] {
                let f = Ref::new(index, complement);
                assert_eq!((f.index(), f.is_complement()), (index, complement));
                assert_eq!(Ref::from_bits(f.bits()), f);
                assert!(f.bits() < FIRST_TAG);
            }
        }
    }

    #[test]
    fn index_words_round_trip() {
        let word = IndexWord::new(0xDEAD_BEEF_1234_5678, 42);
        assert_eq!(word.position(), 42);
        assert!(word.tag_matches(0xFFFF_FFFF_1234_5678));
        assert!(!word.tag_matches(0x1234_5679));
        assert_ne!(IndexWord::new(0, 1), IndexWord::EMPTY);
    }

    #[test]
    fn keys_know_their_nodes() {
        let (f, g, h) = (Ref::new(3, false), Ref::new(4, true), Ref::new(5, false));
        let nodes = |k: Key| k.nodes().collect::<Vec<_>>();
        assert_eq!(nodes(Key::unary(f, 9, OpTag::unary(1, 2))), [f]);
        assert_eq!(nodes(Key::binary(f, g, OpTag::binary(1, 2))), [f, g]);
        assert_eq!(nodes(Key::ternary(f, g, h)), [f, g, h]);
    }

    #[test]
    fn keys_of_neighbours_share_a_block() {
        let slot = |f: u32, g: u32| {
            let key = Key::binary(Ref::new(f, false), Ref::new(g, true), OpTag::binary(1, 0));
            cache_slot(key.hash(), 1 << 20) / LEAST_CACHE_ENTRIES
        };
        assert_eq!(slot(0x500, 0x900), slot(0x5FF, 0x9AB));
        assert_ne!(slot(0x500, 0x900), slot(0x600, 0x900));
        assert_ne!(slot(0x500, 0x900), slot(0x500, 0xA00));
    }

    #[test]
    fn nodes_with_near_children_share_a_block() {
        let slot = |low: u32, high: u32| {
            index_slot(Node::hash(3, Ref::new(low, false), Ref::new(high, true)), 1 << 20) / INDEX_BLOCK
        };
        assert_eq!(slot(0x500, 0x900), slot(0x5FF, 0x9AB));
        assert_ne!(slot(0x500, 0x900), slot(0x600, 0x900));
        assert_ne!(slot(0x500, 0x900), slot(0x500, 0xA00));
    }

    #[test]
    fn tags_tell_nodes_of_a_block_apart() {
        let tag = |low: u32, high: u32| Node::hash(3, Ref::new(low, false), Ref::new(high, false)) as u32;
        let mut tags: Vec<u32> = (0..64).flat_map(|low| (0..64).map(move |high| tag(low, high))).collect();
        tags.sort_unstable();
        tags.dedup();
        assert!(tags.len() > 4090, "{}", tags.len());
    }

    #[test]
    fn slots_only_move_up_when_a_cache_grows() {
        for n in 0..10_000 {
            let hash = fold(n, n);
            let lengths = [300, 1024, 1500, 5000, 1 << 20];
            let slots = lengths.map(|len| cache_slot(hash, len));
            assert!(slots.is_sorted() && slots.iter().zip(lengths).all(|(&slot, len)| slot < len));
        }
    }

    #[test]
    fn granules_are_sixteen_bytes() {
        assert_eq!(GRANULE_BYTES, 16);
        assert_eq!(align_of::<Node>(), 16);
    }

    #[test]
    fn scale_covers_any_length() {
        assert_eq!(scale(0, 7), 0);
        assert_eq!(scale(u64::MAX, 7), 6);
    }
}
