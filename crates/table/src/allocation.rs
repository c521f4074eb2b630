//! Where new nodes go: free granules, found by walking over the mark bits of the last collection.

/// A stretch of mark words in which one worker allocates.
#[derive(Copy, Clone, Default, Debug)]
pub struct Allocation {
    /// Free granules of the word that allocation is at, one bit each.
    free: u64,
    /// That word.
    word: usize,
    /// Where the stretch ends.
    end: usize,
}

impl Allocation {
    /// Is a granule at hand?
    #[inline]
    pub fn has_room(&self) -> bool {
        self.free != 0
    }

    /// The granule that comes next; there must be room.
    #[inline]
    pub fn next(&self) -> u32 {
        self.word as u32 * u64::BITS + self.free.trailing_zeros()
    }

    /// Take the granule that comes next.
    #[inline]
    pub fn advance(&mut self) {
        self.free &= self.free - 1;
    }

    /// Walk to a word with a free granule: through the stretch, then through those that `claim` gives.
    ///
    /// `marks` tells the mark bits of a word, `claim` the next stretch. False when there are no more.
    pub fn find_room(
        &mut self,
        marks: impl Fn(usize) -> u64,
        mut claim: impl FnMut() -> Option<std::ops::Range<usize>>,
    ) -> bool {
        while self.free == 0 {
            if self.word + 1 < self.end {
                self.word += 1;
            } else {
                let Some(stretch) = claim() else { return false };
                (self.word, self.end) = (stretch.start, stretch.end);
            }
            self.free = !marks(self.word);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_free_granule_is_found_once() {
        let marks = [u64::MAX, !0b101, u64::MAX, 0, !(1 << 63)];
        let mut claims = [0..2, 2..5].into_iter();
        let mut allocation = Allocation::default();
        let mut found = Vec::new();
        while allocation.has_room() || allocation.find_room(|word| marks[word], || claims.next()) {
            found.push(allocation.next());
            allocation.advance();
        }
        let expected: Vec<u32> = (0..5 * 64).filter(|&at| marks[at as usize / 64] >> (at % 64) & 1 == 0).collect();
        assert_eq!(found, expected);
    }
}
