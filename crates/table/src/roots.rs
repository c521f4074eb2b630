//! What a collection starts from: slots of user handles and the shadow stack of running operations.

use crate::layout::Ref;

/// Counted slots that user handles point to. Compaction may change the reference in a slot, never the slot's number.
#[derive(Default)]
pub struct HandleSlots {
    slots: Vec<Slot>,
    vacant: Vec<u32>,
}

struct Slot {
    target: Ref,
    handles: u32,
}

impl HandleSlots {
    /// A new slot with one handle on `target`.
    pub fn open(&mut self, target: Ref) -> u32 {
        let slot = Slot { target, handles: 1 };
        match self.vacant.pop() {
            Some(number) => {
                self.slots[number as usize] = slot;
                number
            }
            None => {
                self.slots.push(slot);
                self.slots.len() as u32 - 1
            }
        }
    }

    /// The function in a slot.
    #[inline]
    pub fn get(&self, number: u32) -> Ref {
        self.slots[number as usize].target
    }

    /// One more handle on the same slot.
    pub fn share(&mut self, number: u32) {
        self.slots[number as usize].handles += 1;
    }

    /// One handle less; the last one frees the slot.
    pub fn close(&mut self, number: u32) {
        let slot = &mut self.slots[number as usize];
        slot.handles -= 1;
        if slot.handles == 0 {
            slot.target = Ref::FALSE;
            self.vacant.push(number);
        }
    }

    /// All protected functions (vacant slots show the terminal).
    pub fn iter(&self) -> impl Iterator<Item = Ref> + '_ {
        self.slots.iter().map(|slot| slot.target)
    }

    /// Rewrite every reference after compaction.
    pub fn remap(&mut self, mut f: impl FnMut(Ref) -> Ref) {
        for slot in &mut self.slots {
            slot.target = f(slot.target);
        }
    }

    /// Handles are open on this many slots.
    pub fn open_count(&self) -> usize {
        self.slots.len() - self.vacant.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_counted_and_reused() {
        let mut slots = HandleSlots::default();
        let a = slots.open(Ref::new(5, false));
        slots.share(a);
        slots.close(a);
        assert_eq!(slots.get(a), Ref::new(5, false));
        slots.close(a);
        assert_eq!(slots.open_count(), 0);
        assert_eq!(slots.open(Ref::TRUE), a);
    }
}
