//! One bit per granule: marks of a collection, and dense numbering of marked granules by rank.

use crate::memory::{MapError, Region};
use tremula_fabric::Ground;

/// A bitmap over granule positions.
pub struct Bitmap {
    words: Region<u64>,
}

const WORD_BITS: usize = u64::BITS as usize;
/// With so many bytes, huge pages pay: most bitmaps stay smaller than one of them.
const HUGE_PAGES_FROM: usize = 8 << 20;

impl Bitmap {
    /// Bytes needed for `bits` bits.
    pub fn bytes(bits: usize) -> usize {
        bits.div_ceil(WORD_BITS) * size_of::<u64>()
    }

    /// Room for `capacity` bits; none in use yet.
    pub fn reserve(capacity: usize) -> Result<Bitmap, MapError> {
        Ok(Bitmap { words: Region::reserve_small_pages(capacity.div_ceil(WORD_BITS))? })
    }

    /// On a ground; none in use yet.
    pub(crate) fn on(ground: Ground) -> Bitmap {
        Bitmap { words: Region::on(ground) }
    }

    /// Cover positions `0..bits`; new ones are unset.
    pub fn resize(&mut self, bits: usize) {
        if Bitmap::bytes(bits) >= HUGE_PAGES_FROM {
            self.words.use_huge_pages();
        }
        self.words.resize(bits.div_ceil(WORD_BITS));
    }

    /// Unset everything.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Is `position` set?
    #[inline]
    pub fn get(&self, position: u32) -> bool {
        self.words[position as usize / WORD_BITS] >> (position as usize % WORD_BITS) & 1 != 0
    }

    /// Set `position`; true when it was unset before.
    #[inline]
    pub fn insert(&mut self, position: u32) -> bool {
        let word = &mut self.words[position as usize / WORD_BITS];
        let bit = 1 << (position as usize % WORD_BITS);
        let fresh = *word & bit == 0;
        *word |= bit;
        fresh
    }

    /// The 64 bits from position `64 * word`.
    #[inline]
    pub fn word(&self, word: usize) -> u64 {
        self.words[word]
    }

    /// The words, to be shared by several threads.
    pub(crate) fn words_mut(&mut self) -> &mut Region<u64> {
        &mut self.words
    }

    /// Number of 64-bit words in use.
    pub fn word_count(&self) -> usize {
        self.words.len()
    }

    /// Set positions in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| BitsOf { word, base: (at * WORD_BITS) as u32 })
    }
}

struct BitsOf {
    word: u64,
    base: u32,
}

impl Iterator for BitsOf {
    type Item = u32;
    fn next(&mut self) -> Option<u32> {
        (self.word != 0).then(|| {
            let bit = self.word.trailing_zeros();
            self.word &= self.word - 1;
            self.base + bit
        })
    }
}

/// Dense numbers for the set bits of a [`Bitmap`], in ascending order of position.
pub struct Ranks {
    /// Set bits before each word.
    before: Vec<u32>,
}

impl Ranks {
    /// Count once, ask often.
    pub fn new(bitmap: &Bitmap) -> Ranks {
        let mut sum = 0;
        let ones_before = |word: &u64| {
            sum += word.count_ones();
            sum - word.count_ones()
        };
        let before = bitmap.words.iter().map(ones_before).collect();
        Ranks { before }
    }

    /// How many bits are set below `position`.
    #[inline]
    pub fn rank(&self, bitmap: &Bitmap, position: u32) -> u32 {
        let (word, bit) = (position as usize / WORD_BITS, position as usize % WORD_BITS);
        self.before[word] + (bitmap.words[word] & ((1 << bit) - 1)).count_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iteration_and_ranks_agree() {
        let mut bitmap = Bitmap::reserve(1000).unwrap();
        bitmap.resize(300);
        let positions = [0, 1, 63, 64, 65, 128, 299];
        for &p in &positions {
            assert!(bitmap.insert(p));
            assert!(!bitmap.insert(p));
        }
        assert_eq!(bitmap.iter().collect::<Vec<_>>(), positions);
        let ranks = Ranks::new(&bitmap);
        for (number, &p) in positions.iter().enumerate() {
            assert!(bitmap.get(p));
            assert_eq!(ranks.rank(&bitmap, p), number as u32);
        }
        assert!(!bitmap.get(2));
    }
}
