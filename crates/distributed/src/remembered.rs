//! What an owner remembers of results: in each slot the one that was put last.

use crate::results::Key;
use crate::shape::{Shape, Sizes, hash};

/// The results of one rank. Only their owner changes them, so that none is ever seen half written (R1).
pub(crate) struct Remembered {
    shape: Shape,
    slots: Vec<Option<(Key, u64)>>,
}

impl Remembered {
    /// With so many slots on each rank, none of which has anything; nothing if there is no memory for them.
    pub(crate) fn new(ranks: usize, slots: usize) -> Option<Remembered> {
        let mut empty = Vec::new();
        empty.try_reserve_exact(slots).ok()?;
        empty.resize(slots, None);
        Some(Remembered { shape: Shape { ranks, sizes: Sizes { slots, nodes: 0 } }, slots: empty })
    }

    pub(crate) fn put(&mut self, key: Key, result: u64) {
        let at = self.shape.place_of(hash(key)).offset;
        // Without slots everything is forgotten at once.
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = Some((key, result));
        }
    }

    pub(crate) fn get(&self, key: Key) -> Option<u64> {
        let (known, result) = (*self.slots.get(self.shape.place_of(hash(key)).offset)?)?;
        (known == key).then_some(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_result_of_a_slot_stays() {
        let mut one = Remembered::new(1, 1).unwrap();
        assert_eq!(one.get([1, 2]), None);
        one.put([1, 2], 3);
        assert_eq!((one.get([1, 2]), one.get([2, 1])), (Some(3), None));
        one.put([2, 1], 4);
        assert_eq!((one.get([1, 2]), one.get([2, 1])), (None, Some(4)));
    }

    #[test]
    fn no_slots_remember_nothing() {
        let mut none = Remembered::new(3, 0).unwrap();
        none.put([1, 2], 3);
        assert_eq!(none.get([1, 2]), None);
    }
}
