//! How a node of many children lies in words: the only place that knows.
//!
//! ```text
//! run:     head  first  child child child …        values first, first + 1, first + 2 …
//! sparse:  head  value child  value child …        values ascend
//! free:    FREE  size   next                       granules that hold no node
//! ```
//!
//! A head holds the level, the form and the length; a length that does not fit is the word after the head.

/// Words of a granule, the unit of allocation.
pub const GRANULE_WORDS: usize = 4;
/// Levels that a head can hold; the level after them marks free granules.
pub const FOREST_LEVELS: u32 = (1 << LEVEL_BITS) - 1;

const LEVEL_BITS: u32 = 20;
const LEVEL_SHIFT: u32 = u32::BITS - LEVEL_BITS;
const SPARSE: u32 = 1 << (LEVEL_SHIFT - 1);
const LENGTH_MASK: u32 = SPARSE - 1;
/// This length says that the real one is in the next word.
const LONG: u32 = LENGTH_MASK;
const FREE: u32 = u32::MAX;

/// A value of a node's variable and the node below it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Branch {
    /// The value.
    pub value: u32,
    /// What follows.
    pub child: u32,
}

/// Where the parts of a node are.
#[derive(Copy, Clone, Debug)]
pub struct Shape {
    /// The node's level.
    pub level: u32,
    /// How many children it has.
    pub len: usize,
    sparse: bool,
    /// The first word after head and length.
    body: usize,
}

impl Shape {
    /// The form of the node that starts at word `at`.
    #[inline]
    pub fn read(words: &[u32], at: usize) -> Shape {
        let head = words[at];
        let length = head & LENGTH_MASK;
        let (len, body) = if length == LONG { (words[at + 1], at + 2) } else { (length, at + 1) };
        Shape { level: head >> LEVEL_SHIFT, len: len as usize, sparse: head & SPARSE != 0, body }
    }

    /// Child number `n` and its value.
    #[inline]
    pub fn branch(&self, words: &[u32], n: usize) -> Branch {
        debug_assert!(n < self.len);
        if self.sparse {
            Branch { value: words[self.body + 2 * n], child: words[self.body + 2 * n + 1] }
        } else {
            Branch { value: words[self.body] + n as u32, child: words[self.body + 1 + n] }
        }
    }

    /// The number of the first child with at least this value; the number of children if there is none.
    #[inline]
    pub fn first_from(&self, words: &[u32], value: u32) -> usize {
        if self.sparse {
            let pairs = words[self.body..self.body + 2 * self.len].as_chunks::<2>().0;
            pairs.partition_point(|pair| pair[0] < value)
        } else {
            (value.saturating_sub(words[self.body]) as usize).min(self.len)
        }
    }

    /// All children and their values.
    pub fn branches<'a>(self, words: &'a [u32]) -> impl DoubleEndedIterator<Item = Branch> + ExactSizeIterator + 'a {
        (0..self.len).map(move |n| self.branch(words, n))
    }

    /// Words that the node takes, from its head on.
    fn words(&self) -> usize {
        let head = if self.len >= LONG as usize { 2 } else { 1 };
        head + if self.sparse { 2 * self.len } else { 1 + self.len }
    }
}

/// Write a node into `words`, which are cleared. The branches ascend by value and are not empty.
pub fn write(words: &mut Vec<u32>, level: u32, branches: &[Branch]) {
    debug_assert!(level < FOREST_LEVELS && branches.is_sorted_by(|a, b| a.value < b.value));
    words.clear();
    let first = branches[0].value;
    let sparse = (branches[branches.len() - 1].value - first) as usize != branches.len() - 1;
    let form = level << LEVEL_SHIFT | if sparse { SPARSE } else { 0 };
    if branches.len() >= LONG as usize {
        words.extend([form | LONG, branches.len() as u32]);
    } else {
        words.push(form | branches.len() as u32);
    }
    if sparse {
        words.extend(branches.iter().flat_map(|branch| [branch.value, branch.child]));
    } else {
        words.push(first);
        words.extend(branches.iter().map(|branch| branch.child));
    }
}

/// Granules of what starts at word `at`, and whether it is a node.
#[inline]
pub fn extent(words: &[u32], at: usize) -> (usize, bool) {
    if words[at] == FREE {
        return (words[at + 1] as usize, false);
    }
    (Shape::read(words, at).words().div_ceil(GRANULE_WORDS), true)
}

/// The words of the node that starts at word `at`.
#[inline]
pub fn node_words(words: &[u32], at: usize) -> &[u32] {
    &words[at..at + Shape::read(words, at).words()]
}

/// Make `granules` free ones of what starts at word `at`, with `next` in the same list.
pub fn write_free(words: &mut [u32], at: usize, granules: u32, next: u32) {
    words[at..at + 3].copy_from_slice(&[FREE, granules, next]);
}

/// Granules and successor of the free stretch that starts at word `at`.
pub fn read_free(words: &[u32], at: usize) -> (u32, u32) {
    debug_assert_eq!(words[at], FREE);
    (words[at + 1], words[at + 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(values: impl Iterator<Item = u32>) -> usize {
        let branches: Vec<Branch> = values.map(|value| Branch { value, child: value ^ 0x5555 }).collect();
        let mut words = Vec::new();
        write(&mut words, 777, &branches);
        let shape = Shape::read(&words, 0);
        assert_eq!((shape.level, shape.words()), (777, words.len()));
        assert_eq!(shape.branches(&words).collect::<Vec<_>>(), branches);
        for value in branches.iter().flat_map(|branch| [branch.value, branch.value.saturating_add(1)]).take(50) {
            let expected = branches.partition_point(|branch| branch.value < value);
            assert_eq!(shape.first_from(&words, value), expected);
        }
        words.len()
    }

    #[test]
    fn nodes_come_back_as_they_were_written() {
        assert_eq!(round_trip(0..2), GRANULE_WORDS);
        assert_eq!(round_trip(5..6), 3);
        assert_eq!(round_trip([0, 2].into_iter()), 5);
        assert_eq!(round_trip([7, u32::MAX].into_iter()), 5);
        for len in [LONG - 1, LONG, LONG + 1] {
            round_trip(10..10 + len);
            round_trip((0..len).map(|value| 3 * value));
        }
    }

    #[test]
    fn free_stretches_are_told_from_nodes() {
        let mut words = vec![0; 8];
        write_free(&mut words, 0, 2, 9);
        assert_eq!(extent(&words, 0), (2, false));
        assert_eq!(read_free(&words, 0), (2, 9));
        let mut node = Vec::new();
        write(&mut node, FOREST_LEVELS - 1, &[Branch { value: u32::MAX, child: u32::MAX }]);
        node.push(0);
        assert_eq!(extent(&node, 0), (1, true));
    }
}
