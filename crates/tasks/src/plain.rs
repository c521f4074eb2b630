//! Tasks and results as plain words: nothing in them refers to the memory of one thread or one process.

/// Words of a task.
pub const WORDS: usize = 4;

/// A task as plain words: no closures, no pointers, so that another thread or another machine can run it.
pub trait Plain: Copy + Send {
    /// The task as words.
    fn to_words(self) -> [u64; WORDS];
    /// The task that [`Plain::to_words`] gave these words for.
    fn from_words(words: [u64; WORDS]) -> Self;
}

/// A result in one word.
pub trait Word: Copy + Send {
    /// The result as a word.
    fn to_word(self) -> u64;
    /// The result that [`Word::to_word`] gave this word for.
    fn from_word(word: u64) -> Self;
}

impl Plain for [u64; WORDS] {
    #[inline]
    fn to_words(self) -> [u64; WORDS] {
        self
    }
    #[inline]
    fn from_words(words: [u64; WORDS]) -> Self {
        words
    }
}

impl Plain for u64 {
    #[inline]
    fn to_words(self) -> [u64; WORDS] {
        [self, 0, 0, 0]
    }
    #[inline]
    fn from_words(words: [u64; WORDS]) -> Self {
        words[0]
    }
}

impl Plain for u32 {
    #[inline]
    fn to_words(self) -> [u64; WORDS] {
        u64::from(self).to_words()
    }
    #[inline]
    fn from_words(words: [u64; WORDS]) -> Self {
        words[0] as u32
    }
}

impl Plain for (u64, u64) {
    #[inline]
    fn to_words(self) -> [u64; WORDS] {
        [self.0, self.1, 0, 0]
    }
    #[inline]
    fn from_words(words: [u64; WORDS]) -> Self {
        (words[0], words[1])
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
