//! Bits of nodes, elements and hashes, for the twin and, as constants that its host passes on, for the kernels. How kernels pack
//! entries of their index is told where they do (`requests.cuh`, `short.cuh`).

/// A set of states: one of two terminals, or the place of a node in its table.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Ref(pub u32);

impl Ref {
    /// The empty set.
    pub const FALSE: Ref = Ref(0);
    /// The set of all states.
    pub const TRUE: Ref = Ref(1);
    /// Places of a table that no node takes, because their numbers name the terminals.
    pub const TERMINALS: u32 = 2;

    /// Is there no node behind it?
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        self.0 < Ref::TERMINALS
    }
}

/// References and numbers of requests share a word: this bit tells a request.
pub const REQUEST_BIT: u32 = 1 << 31;
/// Places of the largest table, and requests of the largest sweep.
pub const MOST: usize = REQUEST_BIT as usize;
/// The level of terminals and of the relation that changes nothing, below all others.
pub const BOTTOM: u32 = u32::MAX;

/// A node: sixteen bytes, of which none of the two words is zero. An empty place of a table is all zeros.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
#[repr(C)]
pub struct Node {
    children: u64,
    /// One more than the level.
    tag: u64,
}

impl Node {
    /// The node at `level`; its children differ, so that one of them is not zero.
    #[must_use]
    pub const fn new(level: u32, low: Ref, high: Ref) -> Node {
        Node { children: low.0 as u64 | (high.0 as u64) << 32, tag: level as u64 + 1 }
    }

    /// Is this an empty place?
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.tag == 0
    }

    /// The level.
    #[must_use]
    pub const fn level(self) -> u32 {
        (self.tag - 1) as u32
    }

    /// Where the bit is not set.
    #[must_use]
    pub const fn low(self) -> Ref {
        Ref(self.children as u32)
    }

    /// Where the bit is set.
    #[must_use]
    pub const fn high(self) -> Ref {
        Ref((self.children >> 32) as u32)
    }

    /// Where the search for the node begins in a table of `capacity` places.
    #[must_use]
    pub fn home(self, capacity: usize) -> usize {
        let places = capacity - Ref::TERMINALS as usize;
        in_range(self.hash(), places) + Ref::TERMINALS as usize
    }

    /// What that depends on; all bits are of use.
    #[must_use]
    pub fn hash(self) -> u64 {
        mix(self.children ^ self.tag.wrapping_mul(SPREAD))
    }
}

/// A set under a relation: its image is part of what a request asks for.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Element(u64);

impl Element {
    /// The image of `set` under the relation `relation` of the graph.
    #[must_use]
    pub const fn new(set: Ref, relation: u32) -> Element {
        Element((set.0 as u64) << 32 | relation as u64)
    }

    /// The set.
    #[must_use]
    pub const fn set(self) -> Ref {
        Ref((self.0 >> 32) as u32)
    }

    /// The relation.
    #[must_use]
    pub const fn relation(self) -> u32 {
        self.0 as u32
    }

    /// As the kernels see it.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }
}

/// What stretches small numbers over a word.
pub const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
/// The factors of [`mix`].
pub const FACTORS: [u64; 2] = [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53];

/// A permutation of words that leaves no trace of regularity (the end of MurmurHash3).
#[must_use]
pub const fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 33)).wrapping_mul(FACTORS[0]);
    word = (word ^ (word >> 33)).wrapping_mul(FACTORS[1]);
    word ^ (word >> 33)
}

/// A hash as one of `places`.
pub(crate) fn in_range(hash: u64, places: usize) -> usize {
    ((u128::from(hash) * places as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_round_trip() {
        let node = Node::new(7, Ref::FALSE, Ref(REQUEST_BIT - 1));
        assert_eq!((node.level(), node.low(), node.high()), (7, Ref(0), Ref(REQUEST_BIT - 1)));
        assert!(!node.is_empty() && Node::default().is_empty());
        assert_eq!(Node::new(0, Ref::TRUE, Ref::FALSE).level(), 0);
    }

    #[test]
    fn elements_round_trip() {
        let element = Element::new(Ref(5), 9);
        assert_eq!((element.set(), element.relation()), (Ref(5), 9));
    }

    #[test]
    fn homes_are_places_of_nodes() {
        for level in 0..1000 {
            let home = Node::new(level, Ref::FALSE, Ref::TRUE).home(7);
            assert!((2..7).contains(&home));
        }
    }
}
