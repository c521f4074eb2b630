//! In which order a probe of the unique index visits slots. The index of one thread and that of many share it.
//!
//! The default stays in the cache line that the hash picks, from a slot there that the hash picks too, around, and then
//! goes to the next line. Where many nodes belong to one place, as they may in a near index, the lines there are full; after
//! a few of them a search goes on in a place of its own, which all bits of the hash choose, so that no set of nodes makes
//! searches long. Linear and quadratic probing are kept as features, for the ablation study.

use crate::layout::{index_slot, scattered};

/// Slots in one cache line.
pub const LINE: usize = 64 / size_of::<u64>();

/// Lines that are searched from the first one on, before the search goes elsewhere.
const NEIGHBOURS: usize = 8;

/// Visit slots until `visit` gives a result. There must be a slot for which it does.
#[inline]
pub fn walk<R>(hash: u64, slots: usize, mut visit: impl FnMut(usize) -> Option<R>) -> R {
    let first = index_slot(hash, slots);
    if cfg!(feature = "linear-probing") {
        return by_steps(first, slots, |_| 1, visit);
    }
    if cfg!(feature = "quadratic-probing") {
        return by_steps(first, slots, |number| number, visit);
    }
    let (mut line, start) = (first - first % LINE, first % LINE);
    for lines in 1.. {
        for step in 0..LINE {
            if let Some(result) = visit(line + (start + step) % LINE) {
                return result;
            }
        }
        line = if lines == NEIGHBOURS { index_slot(scattered(hash), slots) / LINE * LINE } else { line + LINE };
        if line == slots {
            line = 0;
        }
    }
    unreachable!("there is an empty slot")
}

/// Visit slots at distances that `step` tells for each number of a visit. As many visits as there are slots may still
/// miss some of them, so single steps follow.
fn by_steps<R>(
    first: usize,
    slots: usize,
    step: impl Fn(usize) -> usize,
    mut visit: impl FnMut(usize) -> Option<R>,
) -> R {
    let mut slot = first;
    for number in 1.. {
        if let Some(result) = visit(slot) {
            return result;
        }
        slot = (slot + if number < slots { step(number) } else { 1 }) % slots;
    }
    unreachable!("there is an empty slot")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{Node, Ref};

    #[test]
    fn a_walk_reaches_every_slot() {
        for hash in [0, 1, 12345, u64::MAX, u64::MAX / 3] {
            let mut seen = [false; 64 * LINE];
            let mut visits = 0;
            walk(hash, seen.len(), |slot| {
                seen[slot] = true;
                visits += 1;
                seen.iter().all(|&s| s).then_some(())
            });
            assert!(visits <= 2 * 64 * LINE, "{visits}");
        }
    }

    /// Nodes whose children are all near each other: without places of their own, every search would pass all of them.
    #[test]
    fn many_nodes_of_one_place_are_found_soon() {
        const CHILDREN: u32 = 64;
        const SLOTS: usize = 1 << 14;
        let mut taken = vec![false; SLOTS];
        let mut visits = 0;
        for low in 1..=CHILDREN {
            for high in 1..=CHILDREN {
                walk(Node::hash(3, Ref::new(low, false), Ref::new(high, false)), SLOTS, |slot| {
                    visits += 1;
                    (!std::mem::replace(&mut taken[slot], true)).then_some(())
                });
            }
        }
        let nodes = (CHILDREN * CHILDREN) as usize;
        assert!(visits <= (NEIGHBOURS + 2) * LINE * nodes, "{} visits for a node", visits / nodes);
    }

    #[test]
    fn a_walk_starts_at_home() {
        let mut first = None;
        walk(77 << 40 | 5, 128 * LINE, |slot| {
            first = Some(slot);
            Some(())
        });
        assert_eq!(first, Some(index_slot(77 << 40 | 5, 128 * LINE)));
    }
}
