//! Sets from vectors that are packed into words, a vector in each.

use super::core::Core;
use super::handle::{Mdd, MddManager};
use crate::error::Error;
use tremula_table::{Branch, Forest, Word};

impl MddManager {
    /// The set of the vectors in `words`, which ascend and are all different; they are overwritten.
    ///
    /// The numbers of a vector stand side by side, that of the last level in the lowest bits; `widths` has the bits of
    /// each level's number, which are fewer than those of a word together.
    ///
    /// # Panics
    ///
    /// If there is not one width for each level, or a number has more than 32 bits.
    ///
    /// ```
    /// # use tremula_diagrams::{Attention, Budget, mdd::MddManager};
    /// let manager = MddManager::new(2, &Budget::new(1 << 24), Default::default(), Attention::default())?;
    /// let set = manager.packed(&mut [0b01_011_u64, 0b10_000], &[2, 3])?;
    /// assert_eq!(set.vectors().collect::<Vec<_>>(), [[1, 3], [2, 0]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn packed<W: Word>(&self, words: &mut [W], widths: &[u32]) -> Result<Mdd, Error> {
        assert_eq!(widths.len(), self.levels(), "a width for each level");
        assert!(widths.iter().all(|&width| width <= 32), "numbers have 32 bits at most");
        self.apply(|core| pack_levels(core, words, widths))
    }
}

/// Make the nodes of each level, the last one first. Meanwhile words lose the numbers of levels that are done, and those
/// that become equal have one node: the one kept at the same place as the word.
fn pack_levels<W: Word>(core: &mut Core, words: &mut [W], widths: &[u32]) -> Result<u32, Error> {
    let first_kept = core.kept().len();
    let mut left = words.len();
    for (level, &width) in widths.iter().enumerate().rev() {
        let is_last = level + 1 == widths.len();
        let (mut done, mut at) = (0, 0);
        while at < left {
            let prefix = words[at] >> width;
            while at < left && words[at] >> width == prefix {
                let value = words[at].less(prefix << width).low();
                let child = if is_last { Forest::TERMINAL } else { core.kept()[first_kept + at] };
                core.frames[level].branches.push(Branch { value, child });
                at += 1;
            }
            let node = core.pack(level)?;
            words[done] = prefix;
            match core.kept().get_mut(first_kept + done) {
                Some(kept) => *kept = node,
                None => core.kept().push(node),
            }
            done += 1;
        }
        left = done;
        core.kept().truncate(first_kept + left);
    }
    let whole =
        if left == 0 { Forest::EMPTY } else { core.kept().get(first_kept).copied().unwrap_or(Forest::TERMINAL) };
    core.kept().truncate(first_kept);
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mdd::MddOptions;
    use std::collections::BTreeSet;
    use tremula_table::{Attention, Budget};

    #[test]
    fn packed_vectors_are_those_of_the_set_even_under_collections() {
        let widths = [3, 0, 9, 1, 5];
        let mut seed = 7_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            seed >> 46
        };
        let words: BTreeSet<u64> = (0..3000).map(|_| random()).collect();
        let vector = |word: u64| [word >> 15, 0, word >> 6 & 511, word >> 5 & 1, word & 31].map(|part| part as u32);
        for stress in [None, Some(50)] {
            let options = MddOptions { stress, ..MddOptions::default() };
            let manager = MddManager::new(5, &Budget::new(1 << 24), options, Attention::default()).unwrap();
            let mut list: Vec<u64> = words.iter().copied().collect();
            let set = manager.packed(&mut list, &widths).unwrap();
            assert!(set.vectors().eq(words.iter().map(|&word| vector(word).to_vec())));
            let one_by_one =
                words.iter().try_fold(manager.empty(), |set, &word| set.union(&manager.vector(&vector(word))?));
            assert!(one_by_one.unwrap() == set);
            assert!(manager.packed::<u128>(&mut [], &widths).unwrap().is_empty());
        }
    }
}
