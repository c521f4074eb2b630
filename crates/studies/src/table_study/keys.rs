//! Nodes by number: different numbers, different nodes, in no order that a table could profit from.

use tremula_table::{Node, Ref};

/// Bits of a number for each of level, low and high child.
const FIELD_BITS: u32 = 12;
const FIELD: u64 = (1 << FIELD_BITS) - 1;
const KEY_BITS: u32 = 3 * FIELD_BITS;
const KEY: u64 = (1 << KEY_BITS) - 1;

/// Nodes that all others have as children: one set for low ones, one for high ones.
pub(crate) const CHILDREN: u32 = 2 << FIELD_BITS;

/// The node with a number below two to the power of [`KEY_BITS`].
///
/// Its children are the [`CHILDREN`], where a table has put these in order.
#[inline]
pub(crate) fn node(key: u64) -> Node {
    let bits = scrambled(key);
    let (level, low, high) = (bits & FIELD, bits >> FIELD_BITS & FIELD, bits >> (2 * FIELD_BITS));
    Node { level: level as u32, low: child(low as u32), high: child((FIELD + 1 + high) as u32), spare: 0 }
}

/// The place of a child: the first follows the terminal.
pub(crate) fn child(number: u32) -> Ref {
    Ref::new(1 + number, false)
}

/// Level, low and high of a child: a variable of its own, below all other nodes.
pub(crate) fn child_node(number: u32) -> (u32, Ref, Ref) {
    ((1 << FIELD_BITS) + number, Ref::FALSE, Ref::TRUE)
}

/// One to one on numbers of [`KEY_BITS`] bits.
#[inline]
fn scrambled(key: u64) -> u64 {
    debug_assert!(key <= KEY);
    let multiplied = |bits: u64| bits.wrapping_mul(0x9E37_79B9_7F4A_7C15) & KEY;
    let folded = |bits: u64| bits ^ bits >> (KEY_BITS / 2);
    folded(multiplied(folded(multiplied(key))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn different_numbers_give_different_nodes() {
        let keys = (0..100_000).chain(KEY - 1000..=KEY).chain((0..1000).map(|at| at << 25));
        let numbers: HashSet<u64> = keys.collect();
        let nodes: HashSet<(u32, Ref, Ref)> =
            numbers.iter().map(|&key| node(key)).map(|n| (n.level, n.low, n.high)).collect();
        assert_eq!(nodes.len(), numbers.len());
    }

    #[test]
    fn nodes_are_canonical_above_their_children() {
        for key in (0..KEY).step_by(1 << 20) {
            let node = node(key);
            let children = [node.low, node.high].map(|child| child.index() - 1);
            assert!(node.low != node.high && children.iter().all(|&number| number < CHILDREN));
            assert!(children.iter().all(|&number| child_node(number).0 > node.level));
        }
    }
}
