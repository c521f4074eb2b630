//! A set of words, each of which is a whole state: for state spaces that no diagram makes small.
//!
//! ```
//! use tremula_table::{Attention, Budget, WordSet};
//! let mut set = WordSet::<u64>::new(&Budget::new(1 << 20), &Attention::default())?;
//! assert_eq!(set.insert(7), Ok(true));
//! assert_eq!(set.insert(7), Ok(false));
//! set.insert(3)?;
//! assert_eq!(set.into_sorted()[..], [3, 7]);
//! # Ok::<(), tremula_table::Interrupt>(())
//! ```
//!
//! Invariants: a slot holds zero or a word plus one; a word is in the first run of taken slots from its home on; at least
//! a quarter of the slots is free, so that every search ends.

use crate::attention::{Attention, Interrupt};
use crate::budget::{Budget, Lease};
use crate::layout::{fold, scale};
use crate::memory::Region;
use bytemuck::Pod;
use std::ops::{BitAnd, BitOr, Deref, DerefMut, Shl, Shr};

/// What states are packed into. The greatest word is not used for a state.
pub trait Word:
    Pod + Ord + From<u32> + BitAnd<Output = Self> + BitOr<Output = Self> + Shl<u32, Output = Self> + Shr<u32, Output = Self>
{
    /// The sum, without what does not fit.
    #[must_use]
    fn plus(self, other: Self) -> Self;

    /// The difference, around zero.
    #[must_use]
    fn less(self, other: Self) -> Self;

    /// The lowest 32 bits.
    fn low(self) -> u32;

    /// A number that differs in its upper bits where words differ.
    fn hash(self) -> u64;
}

macro_rules! word {
    ($width:ty, $hash:expr) => {
        impl Word for $width {
            #[inline]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline]
            fn less(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline]
            fn low(self) -> u32 {
                self as u32
            }
            #[inline]
            fn hash(self) -> u64 {
                $hash(self)
            }
        }
    };
}

word!(u64, |word| fold(word, 0));
word!(u128, |word| fold(word as u64, (word >> 64) as u64));

const INITIAL_SLOTS: usize = 1 << 10;
/// Slots that are moved before somebody who wants to stop is noticed.
const SLOTS_PER_LOOK: usize = 1 << 18;
/// With so many bytes of slots, huge pages pay.
const HUGE_PAGES_FROM: usize = 8 << 20;

/// A set of words that grows inside a budget.
pub struct WordSet<W: Word> {
    slots: Region<W>,
    len: usize,
    lease: Lease,
    budget: Budget,
    attention: Attention,
}

impl<W: Word> WordSet<W> {
    /// The empty set; `attention` can end the growth of a large one.
    pub fn new(budget: &Budget, attention: &Attention) -> Result<WordSet<W>, Interrupt> {
        let (slots, lease) = slots(budget, INITIAL_SLOTS)?;
        Ok(WordSet { slots, len: 0, lease, budget: budget.clone(), attention: attention.clone() })
    }

    /// How many words are in the set.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Is there no word in the set?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Have the memory at hand that a word will be looked for in.
    #[inline]
    pub fn prefetch(&self, word: W) {
        self.slots.prefetch(scale(word.hash(), self.slots.len()));
    }

    /// Add a word; false if it was there already. On error the set is as it was.
    #[inline]
    pub fn insert(&mut self, word: W) -> Result<bool, Interrupt> {
        if 4 * self.len >= 3 * self.slots.len() {
            self.grow()?;
        }
        let is_new = put(&mut self.slots, word.plus(W::from(1)));
        self.len += usize::from(is_new);
        Ok(is_new)
    }

    /// Move into twice as many slots.
    #[cold]
    fn grow(&mut self) -> Result<(), Interrupt> {
        let (mut grown, lease) = slots(&self.budget, 2 * self.slots.len())?;
        for some in self.slots.chunks(SLOTS_PER_LOOK) {
            if self.attention.is_cancelled() {
                return Err(Interrupt::Cancelled);
            }
            for &taken in some.iter().filter(|&&slot| slot != W::zeroed()) {
                put(&mut grown, taken);
            }
        }
        (self.slots, self.lease) = (grown, lease);
        Ok(())
    }

    /// All words, ascending.
    #[must_use]
    pub fn into_sorted(mut self) -> SortedWords<W> {
        let mut next = 0;
        for at in 0..self.slots.len() {
            if self.slots[at] != W::zeroed() {
                self.slots[next] = self.slots[at].less(W::from(1));
                next += 1;
            }
        }
        self.slots.resize(self.len);
        self.slots.sort_unstable();
        SortedWords { words: self.slots, _lease: self.lease }
    }
}

/// Empty slots.
fn slots<W: Word>(budget: &Budget, count: usize) -> Result<(Region<W>, Lease), Interrupt> {
    let bytes = count.saturating_mul(size_of::<W>());
    let lease = budget.take(bytes).map_err(|_| Interrupt::TableFull)?;
    let reserve = if bytes < HUGE_PAGES_FROM { Region::reserve_small_pages } else { Region::reserve };
    // Without address space there is no memory either.
    let mut slots = reserve(count).map_err(|_| Interrupt::TableFull)?;
    slots.resize(count);
    Ok((slots, lease))
}

/// Put what is to be stored into its slot; false if it is there.
#[inline]
fn put<W: Word>(slots: &mut [W], stored: W) -> bool {
    let mut at = scale(stored.less(W::from(1)).hash(), slots.len());
    loop {
        let slot = &mut slots[at];
        if *slot == stored {
            return false;
        }
        if *slot == W::zeroed() {
            *slot = stored;
            return true;
        }
        at = if at + 1 == slots.len() { 0 } else { at + 1 };
    }
}

/// Words in ascending order.
pub struct SortedWords<W: Word> {
    words: Region<W>,
    _lease: Lease,
}

impl<W: Word> Deref for SortedWords<W> {
    type Target = [W];

    fn deref(&self) -> &[W] {
        &self.words
    }
}

impl<W: Word> DerefMut for SortedWords<W> {
    fn deref_mut(&mut self) -> &mut [W] {
        &mut self.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn agrees_with_a_tree<W: Word + std::fmt::Debug>(word: impl Fn(u64) -> W) {
        let mut set = WordSet::new(&Budget::new(1 << 24), &Attention::default()).unwrap();
        let mut tree = BTreeSet::new();
        let mut seed = 1_u64;
        for _ in 0..50_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let word = word(seed >> 48);
            assert_eq!(set.insert(word), Ok(tree.insert(word)));
        }
        assert_eq!(set.len(), tree.len());
        assert_eq!(set.into_sorted()[..], tree.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn both_widths_agree_with_a_tree() {
        agrees_with_a_tree::<u64>(|number| number * 3);
        agrees_with_a_tree::<u64>(|number| number << 46);
        agrees_with_a_tree::<u128>(|number| u128::from(number) << 80 | 5);
    }

    #[test]
    fn the_budget_ends_growth_and_loses_nothing() {
        let budget = Budget::new(100_000);
        let mut set = WordSet::<u64>::new(&budget, &Attention::default()).unwrap();
        let full = (0..).find(|&number| set.insert(number).is_err()).unwrap();
        assert_eq!(set.len() as u64, full);
        assert!(set.insert(full).is_err());
        assert!(budget.peak() <= 100_000);
        assert!(set.into_sorted().iter().copied().eq(0..full));
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn growth_can_be_stopped_and_loses_nothing() {
        let (budget, attention) = (Budget::new(1 << 24), Attention::default());
        let mut set = WordSet::<u64>::new(&budget, &attention).unwrap();
        attention.cancel();
        let stopped = (0..).find(|&number| set.insert(number).is_err()).unwrap();
        assert_eq!(set.insert(stopped), Err(Interrupt::Cancelled));
        assert!(set.into_sorted().iter().copied().eq(0..stopped));
    }
}
