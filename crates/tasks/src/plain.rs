//! Tasks and results as plain words: nothing in them refers to the memory of one thread or one process.
//!
//! A task's type says how many words it takes, as the length of an array. So both sides of a transfer know it, nothing has to
//! be written about it, and no word is moved that a task does not have.
//!
//! ```
//! use tremula_tasks::Plain;
//! #[derive(Copy, Clone, PartialEq, Debug)]
//! struct Block {
//!     corner: [u32; 3],
//!     side: u32,
//! }
//! impl Plain for Block {
//!     type Words = [u64; 2];
//!     fn to_words(self) -> [u64; 2] {
//!         let [x, y, z] = self.corner.map(u64::from);
//!         [x << 32 | y, z << 32 | u64::from(self.side)]
//!     }
//!     fn from_words([xy, z_side]: [u64; 2]) -> Block {
//!         Block { corner: [(xy >> 32) as u32, xy as u32, (z_side >> 32) as u32], side: z_side as u32 }
//!     }
//! }
//! let block = Block { corner: [1, 2, 3], side: 4 };
//! assert_eq!(Block::from_words(block.to_words()), block);
//! ```

/// Words that a task has at most.
pub const MOST_WORDS: usize = 16;

/// A task as plain words: no closures, no pointers, so that another thread or another machine can run it.
pub trait Plain: Copy + Send {
    /// Its words: an array of at most [`MOST_WORDS`]; a longer one does not compile.
    type Words: Words;

    /// The task as words.
    fn to_words(self) -> Self::Words;
    /// The task that [`Plain::to_words`] gave these words for.
    fn from_words(words: Self::Words) -> Self;
}

/// An array of words.
pub trait Words: Copy + AsRef<[u64]> {
    /// How many there are.
    const LENGTH: usize;

    /// All of them, each by its position.
    fn from_fn(word: impl FnMut(usize) -> u64) -> Self;
}

impl<const N: usize> Words for [u64; N] {
    const LENGTH: usize = {
        assert!(N <= MOST_WORDS, "a task has too many words");
        N
    };

    #[inline]
    fn from_fn(word: impl FnMut(usize) -> u64) -> Self {
        std::array::from_fn(word)
    }
}

/// A result in one word.
pub trait Word: Copy + Send {
    /// The result as a word.
    fn to_word(self) -> u64;
    /// The result that [`Word::to_word`] gave this word for.
    fn from_word(word: u64) -> Self;
}

impl<const N: usize> Plain for [u64; N] {
    type Words = [u64; N];
    #[inline]
    fn to_words(self) -> [u64; N] {
        self
    }
    #[inline]
    fn from_words(words: [u64; N]) -> Self {
        words
    }
}

impl Plain for u64 {
    type Words = [u64; 1];
    #[inline]
    fn to_words(self) -> [u64; 1] {
        [self]
    }
    #[inline]
    fn from_words([word]: [u64; 1]) -> Self {
        word
    }
}

impl Plain for u32 {
    type Words = [u64; 1];
    #[inline]
    fn to_words(self) -> [u64; 1] {
        [u64::from(self)]
    }
    #[inline]
    fn from_words([word]: [u64; 1]) -> Self {
        word as u32
    }
}

impl Plain for (u64, u64) {
    type Words = [u64; 2];
    #[inline]
    fn to_words(self) -> [u64; 2] {
        [self.0, self.1]
    }
    #[inline]
    fn from_words([first, second]: [u64; 2]) -> Self {
        (first, second)
    }
}

impl Word for u64 {
    #[inline]
    fn to_word(self) -> u64 {
        self
    }
    #[inline]
    fn from_word(word: u64) -> Self {
        word
    }
}

impl Word for u32 {
    #[inline]
    fn to_word(self) -> u64 {
        u64::from(self)
    }
    #[inline]
    fn from_word(word: u64) -> Self {
        word as u32
    }
}

impl Word for () {
    #[inline]
    fn to_word(self) -> u64 {
        0
    }
    #[inline]
    fn from_word(_: u64) -> Self {}
}
