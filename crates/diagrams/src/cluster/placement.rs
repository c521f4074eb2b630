//! To which rank a node belongs.
//!
//! By hash, nodes are spread evenly, whatever the diagrams look like, but a step of an operation finds its nodes anywhere.
//! By level, blocks of successive levels are dealt out to the ranks in turn. A step has all its nodes at one rank then, and
//! what it calls belongs there too, except at the border of a block: there the call travels, not the nodes. So there is one
//! home for every step, where its result is cached (who called it remembers it too), and few messages are needed. Calls lead downwards only, which
//! gives them classes that never wait for lower ones ([`tremula_tasks::Fibers`]).

use tremula_table::layout::TERMINAL_LEVEL;
use tremula_table::{Division, Node};

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Placement {
    ByHash,
    /// Blocks of so many levels.
    ByLevel(u32),
}

/// Blocks for each rank, unless another size is asked for: with fewer, some ranks have little to do, with more, calls travel
/// more often (docs/decisions/0016).
const BLOCKS_PER_RANK: u32 = 2;
/// More blocks than this would need too many fibers.
const MOST_BLOCKS: u32 = 512;

impl Placement {
    /// By level, in blocks of the size that suits so many ranks or of `block` levels, more if there are very many; by hash
    /// if `block` is zero.
    pub fn new(block: Option<u32>, levels: u32, ranks: usize) -> Placement {
        let block = block.unwrap_or_else(|| levels.div_ceil(BLOCKS_PER_RANK * ranks as u32).max(1));
        if block == 0 { Placement::ByHash } else { Placement::ByLevel(block.max(levels.div_ceil(MOST_BLOCKS))) }
    }

    /// The rank of a node.
    #[inline]
    pub fn home(self, division: Division, node: &Node, hash: u64) -> usize {
        match self {
            Placement::ByHash => division.home(hash),
            Placement::ByLevel(block) => (node.level / block) as usize % division.parts(),
        }
    }

    /// The rank of a step at a level, and its class; none if steps have no home, or this one has no level.
    #[inline]
    pub fn home_of_step(self, division: Division, level: u32) -> Option<(usize, usize)> {
        match self {
            Placement::ByHash => None,
            Placement::ByLevel(_) if level == TERMINAL_LEVEL => None,
            Placement::ByLevel(block) => {
                let number = (level / block) as usize;
                Some((number % division.parts(), number + 1))
            }
        }
    }

    /// Classes of steps on so many levels; the first is for those without a home.
    pub fn classes(self, levels: u32) -> usize {
        match self {
            Placement::ByHash => 1,
            Placement::ByLevel(block) => levels.div_ceil(block) as usize + 1,
        }
    }
}

/// Levels of a node's children in its spare word, where these belong to other ranks: reading a node tells where to go on.
pub mod children {
    /// Nothing is said about the child.
    pub const UNKNOWN: u32 = u16::MAX as u32;
    const BITS: u32 = 16;

    /// Levels of both children; none for those of the node's own rank.
    pub fn pack(low: Option<u32>, high: Option<u32>) -> u32 {
        let half = |level: Option<u32>| level.map_or(UNKNOWN, |level| level.min(UNKNOWN));
        half(low) | half(high) << BITS
    }

    pub fn unpack(spare: u32) -> [Option<u32>; 2] {
        [spare & UNKNOWN, spare >> BITS].map(|level| (level != UNKNOWN).then_some(level))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_lead_to_higher_classes() {
        let division = Division::new(1, 3).unwrap();
        let placement = Placement::new(Some(4), 100, 3);
        let homes: Vec<_> = (0..100).map(|level| placement.home_of_step(division, level).unwrap()).collect();
        assert_eq!((homes[0], homes[3], homes[4], homes[99]), ((0, 1), (0, 1), (1, 2), (0, 25)));
        assert_eq!(placement.home_of_step(division, TERMINAL_LEVEL), None);
        assert!(homes.is_sorted_by_key(|&(_, class)| class));
        assert_eq!(placement.classes(100), 26);
        assert!(Placement::new(Some(1), 100_000, 3).classes(100_000) <= 512 + 1);
        assert_eq!(Placement::new(None, 100, 3), Placement::ByLevel(17));
        assert_eq!(Placement::new(Some(0), 100, 3), Placement::ByHash);
    }

    #[test]
    fn levels_of_children_fit_into_the_spare_word() {
        for levels in [(None, Some(7)), (Some(0), None), (Some(65_534), Some(1)), (None, None)] {
            assert_eq!(children::unpack(children::pack(levels.0, levels.1)), [levels.0, levels.1]);
        }
        assert_eq!(children::unpack(children::pack(Some(70_000), Some(65_535))), [None, None]);
    }
}
