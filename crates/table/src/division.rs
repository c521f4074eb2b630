//! How the references of a table that several processes hold together are dealt out to its parts.
//!
//! Each part has its own stretch of all granule positions, a power of two. A node belongs to one part, such as the one that
//! its hash names, which alone stores it and finds it. The terminal is everywhere.
//!
//! ```
//! use tremula_table::{Division, Ref};
//! let second = Division::new(1, 3).unwrap();
//! let f = second.global(7);
//! assert_eq!((second.owner(f), second.local(f)), (1, Some(7)));
//! assert_eq!(Division::new(0, 3).unwrap().local(f), None);
//! assert_eq!(second.local(Ref::TRUE), Some(0));
//! ```

use crate::layout::{MAX_NODES, Ref, scattered};

/// One part of a table, and how many there are.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Division {
    part: u32,
    parts: u32,
    /// Positions in each part, as a power of two.
    bits: u32,
}

impl Division {
    /// A table in one part.
    pub const WHOLE: Division = Division { part: 0, parts: 1, bits: 31 };

    /// Part number `part` of `parts`; none if there are too many to number nodes in all of them.
    pub fn new(part: usize, parts: usize) -> Option<Division> {
        assert!(part < parts, "there is no part {part} of {parts}");
        if parts == 1 {
            return Some(Division::WHOLE);
        }
        let bits = (MAX_NODES / parts).checked_ilog2().filter(|&bits| bits >= Self::LEAST_BITS)?;
        Some(Division { part: part as u32, parts: parts as u32, bits })
    }

    /// Smaller parts are not worth having.
    const LEAST_BITS: u32 = 16;

    /// The number of this part.
    pub fn part(self) -> usize {
        self.part as usize
    }

    /// How many parts there are.
    pub fn parts(self) -> usize {
        self.parts as usize
    }

    /// Is there more than one part?
    #[inline]
    pub fn is_divided(self) -> bool {
        self.parts > 1
    }

    /// Most nodes of a part.
    pub fn capacity(self) -> usize {
        MAX_NODES.min(1 << self.bits)
    }

    /// Positions in all parts.
    pub(crate) fn positions(self) -> usize {
        self.parts() << self.bits
    }

    /// The part that stores the node of `f`; for a terminal, any.
    #[inline]
    pub fn owner(self, f: Ref) -> usize {
        (f.index() >> self.bits) as usize
    }

    /// Where in this part the node of `f` is; none if it is in another.
    #[inline]
    pub fn local(self, f: Ref) -> Option<u32> {
        let position = f.index() ^ self.base();
        if position >> self.bits == 0 {
            return Some(position);
        }
        if f.is_terminal() { Some(0) } else { None }
    }

    /// The function at a position of this part.
    #[inline]
    pub fn global(self, position: u32) -> Ref {
        Ref::new(if position == 0 { 0 } else { self.base() | position }, false)
    }

    /// Where among the positions of all parts those of `part` begin.
    pub(crate) fn first_position(self, part: usize) -> usize {
        part << self.bits
    }

    /// The part to which a node of this hash belongs.
    #[inline]
    pub fn home(self, hash: u64) -> usize {
        // The upper half of a hash that has no relation to the place in the index, as a fraction of one.
        (((scattered(!hash) >> 32) * u64::from(self.parts)) >> 32) as usize
    }

    #[inline]
    fn base(self) -> u32 {
        // In two steps, because a whole table has as many bits as a position.
        (self.part << 1) << (self.bits - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Node;

    #[test]
    fn every_position_has_one_owner() {
        for parts in [1, 2, 3, 4, 7, 64] {
            let all: Vec<Division> = (0..parts).map(|part| Division::new(part, parts).unwrap()).collect();
            for (owner, division) in all.iter().enumerate() {
                for position in [1, 2, division.capacity() as u32 - 1] {
                    let f = division.global(position);
                    assert_eq!(division.owner(f), owner);
                    for (part, other) in all.iter().enumerate() {
                        assert_eq!(other.local(f), (part == owner).then_some(position));
                        assert_eq!(other.local(!f), other.local(f));
                    }
                }
                assert_eq!(division.local(Ref::TRUE), Some(0));
            }
        }
        assert_eq!(Division::new(0, MAX_NODES), None);
    }

    #[test]
    fn nodes_spread_evenly() {
        let division = Division::new(0, 3).unwrap();
        let mut counts = [0; 3];
        for low in 0..3000 {
            let hash = Node::hash(low % 50, Ref::new(low, false), Ref::new(low + 1, true));
            counts[division.home(hash)] += 1;
        }
        assert!(counts.iter().all(|&count| (900..1100).contains(&count)), "{counts:?}");
    }
}
