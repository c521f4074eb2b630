//! Where slots and nodes are.

use crate::Node;
use tremula_fabric::{Fabric, FabricError, Place};

/// Words of a node.
pub(crate) const NODE_WORDS: usize = size_of::<Node>() / size_of::<u64>();

/// How much each rank has.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// Slots of the index.
    pub slots: usize,
    /// Nodes.
    pub nodes: usize,
}

/// Where a node is: its rank and its number there, as one number above zero.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Position(u32);

impl Position {
    /// The number.
    pub fn number(self) -> u32 {
        self.0
    }

    /// The position with a number, if there is one.
    pub(crate) fn from_number(number: u32) -> Option<Position> {
        (number != 0).then_some(Position(number))
    }
}

/// The table as all ranks see it.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) ranks: usize,
    pub(crate) sizes: Sizes,
}

impl Shape {
    /// The shape, if positions can number all nodes and slots all hashes.
    pub(crate) fn new(ranks: usize, sizes: Sizes) -> Option<Shape> {
        let nodes = ranks.checked_mul(sizes.nodes)?;
        let slots = ranks.checked_mul(sizes.slots)?;
        let possible = u32::try_from(nodes).is_ok_and(|nodes| nodes < u32::MAX) && slots > 0;
        possible.then_some(Shape { ranks, sizes })
    }

    /// The shape of a table on these ranks.
    pub(crate) fn on<F: Fabric>(fabric: &F, sizes: Sizes) -> Result<Shape, FabricError> {
        let too_large = FabricError::NoMemory { rank: 0, words: sizes.nodes.saturating_mul(NODE_WORDS) };
        Shape::new(fabric.ranks(), sizes).ok_or(too_large)
    }

    pub(crate) fn slots(&self) -> usize {
        self.ranks * self.sizes.slots
    }

    pub(crate) fn slot_of(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.slots() as u128) >> u64::BITS) as usize
    }

    /// Where the slot of a hash is: as [`Shape::slot_of`] and [`Shape::slot_place`] say, without a division.
    pub(crate) fn place_of(&self, hash: u64) -> Place {
        let rank = u128::from(hash) * self.ranks as u128;
        let offset = u128::from(rank as u64) * self.sizes.slots as u128;
        Place { rank: (rank >> u64::BITS) as usize, offset: (offset >> u64::BITS) as usize }
    }

    pub(crate) fn slot_place(&self, slot: usize) -> Place {
        Place { rank: slot / self.sizes.slots, offset: slot % self.sizes.slots }
    }

    pub(crate) fn position(&self, rank: usize, number: usize) -> Position {
        Position((rank * self.sizes.nodes + number) as u32 + 1)
    }

    /// Where the words of a node are.
    pub(crate) fn node_place(&self, position: Position) -> Place {
        // Divisions of 32 bits are the faster ones, and positions have no more.
        let (number, nodes) = (position.0 - 1, self.sizes.nodes as u32);
        Place { rank: (number / nodes) as usize, offset: (number % nodes) as usize * NODE_WORDS }
    }
}

/// A slot that is taken: a part of the hash, which saves most looks at nodes, and the position.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry(pub(crate) u64);

impl Entry {
    pub(crate) fn new(hash: u64, position: Position) -> Entry {
        Entry(hash << u32::BITS | u64::from(position.0))
    }

    /// The position, if the slot is taken.
    pub(crate) fn position(self) -> Option<Position> {
        Position::from_number(self.0 as u32)
    }

    /// Can it stand for a node with this hash?
    pub(crate) fn may_be(self, hash: u64) -> bool {
        self.0 >> u32::BITS == u64::from(hash as u32)
    }
}

/// All bits of a node in each bit of the result.
pub(crate) fn hash(node: Node) -> u64 {
    let mix = |word: u64| {
        let word = (word ^ word >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        (word ^ word >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93)
    };
    let first = mix(node[0]);
    let both = mix(first.rotate_left(25) ^ node[1]);
    both ^ both >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_places_belong_together() {
        let shape = Shape::new(3, Sizes { slots: 10, nodes: 7 }).unwrap();
        let mut seen = std::collections::BTreeSet::new();
        for rank in 0..3 {
            for number in 0..7 {
                let position = shape.position(rank, number);
                assert!(position.number() > 0 && seen.insert(position));
                assert_eq!(shape.node_place(position), Place { rank, offset: 2 * number });
            }
        }
        assert_eq!(shape.slot_place(29), Place { rank: 2, offset: 9 });
        assert_eq!((shape.slot_of(0), shape.slot_of(u64::MAX)), (0, 29));
        for hash in (0..1000).map(|number| hash([number, 0])).chain([0, u64::MAX]) {
            assert_eq!(shape.place_of(hash), shape.slot_place(shape.slot_of(hash)));
        }
        assert!(Shape::new(2, Sizes { slots: 1, nodes: 1 << 31 }).is_none());
        assert!(Shape::new(2, Sizes { slots: 0, nodes: 1 }).is_none());
    }

    #[test]
    fn entries_hold_what_was_put_in() {
        let position = Position(77);
        let entry = Entry::new(0xABCD_0123_4567, position);
        assert_eq!(entry.position(), Some(position));
        assert!(entry.may_be(0xFFFF_0123_4567) && !entry.may_be(0xABCD_0123_4568));
        assert_eq!(Entry(0).position(), None);
    }

    #[test]
    fn hashes_spread_over_slots() {
        let shape = Shape::new(4, Sizes { slots: 256, nodes: 1 }).unwrap();
        let mut used = vec![0; shape.slots()];
        (0..8192u64).for_each(|number| used[shape.slot_of(hash([number, number / 3]))] += 1);
        assert!(used.iter().all(|&count| count < 32), "eight are expected");
    }
}
