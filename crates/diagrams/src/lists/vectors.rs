//! Enumeration of the vectors of a set.
//!
//! The iterator holds a handle on the node of each value of the last vector, so that neither collections nor compactions
//! between two steps matter.

use super::ldd::Ldd;

/// Iterator over the vectors of a set in lexicographic order; see [`Ldd::vectors`].
pub struct Vectors {
    /// For each value of the last vector, that value and the list after its node.
    path: Vec<(u32, Ldd)>,
    /// The set that the next vector goes on with after that path; none when all have been seen.
    rest: Option<Ldd>,
}

impl Vectors {
    pub(super) fn new(set: Ldd) -> Vectors {
        Vectors { path: Vec::new(), rest: (!set.is_empty()).then_some(set) }
    }

    /// Go back to the last value that has a larger one beside it.
    fn turn(&mut self) {
        self.rest = loop {
            match self.path.pop() {
                Some((_, right)) if !right.is_empty() => break Some(right),
                Some(_) => {}
                None => break None,
            }
        };
    }
}

impl Iterator for Vectors {
    type Item = Vec<u32>;

    fn next(&mut self) -> Option<Vec<u32>> {
        let mut set = self.rest.take()?;
        while let Some((value, down, right)) = set.first() {
            self.path.push((value, right));
            set = down;
        }
        let vector = self.path.iter().map(|&(value, _)| value).collect();
        self.turn();
        Some(vector)
    }
}
