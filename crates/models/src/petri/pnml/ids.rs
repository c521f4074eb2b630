//! Identifiers, which may be used before what they stand for is known.

use std::collections::HashMap;

/// Identifiers and what they stand for. Each has a number, in order of appearance.
pub(super) struct Ids<T> {
    /// Hashed with a random seed, so that no file can be made to collide on purpose.
    numbers: HashMap<String, u32>,
    meanings: Vec<Option<T>>,
}

impl<T: Copy> Ids<T> {
    pub(super) fn new() -> Self {
        Self { numbers: HashMap::new(), meanings: Vec::new() }
    }

    /// The number of an identifier.
    pub(super) fn number(&mut self, id: &str) -> u32 {
        if let Some(&number) = self.numbers.get(id) {
            return number;
        }
        let number = self.meanings.len() as u32;
        self.numbers.insert(id.to_owned(), number);
        self.meanings.push(None);
        number
    }

    /// Says what an identifier stands for. An error if it stands for something already.
    pub(super) fn define(&mut self, id: &str, meaning: T) -> Result<(), T> {
        let number = self.number(id);
        match self.meanings[number as usize].replace(meaning) {
            None => Ok(()),
            Some(earlier) => Err(earlier),
        }
    }

    /// All identifiers and, if known, what they stand for; both by number.
    pub(super) fn into_parts(self) -> (Vec<String>, Vec<Option<T>>) {
        let mut names = vec![String::new(); self.meanings.len()];
        for (id, number) in self.numbers {
            names[number as usize] = id;
        }
        (names, self.meanings)
    }
}
