//! How many slots a search reads at a time, and where it goes on.

use tremula_fabric::WHOLE_WORDS;

/// How many slots a search reads at a time.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Chunks {
    /// Always so many, at least one, and at most [`WHOLE_WORDS`].
    Fixed(usize),
    /// As many as it takes for one chunk to be expected to suffice, which depends on the load.
    ByLoad,
    /// Always so many, and the next ones at distances that grow: quadratic probing. All ranks must do it, with the same
    /// number. A search looks at as many slots as there are, but not at all of them, and may so find no room although there is some.
    Scattered(usize),
}

impl Chunks {
    /// Sizes to choose from.
    const SIZES: [usize; 5] = [8, 16, 32, 64, 128];

    /// Slots to read when `load` of all slots are taken.
    ///
    /// One chunk of C slots is expected to suffice up to the load 1 - sqrt(1/(2C-1)) (Oortwijn 2015, section 3.3).
    pub fn slots(self, load: f64) -> usize {
        match self {
            Chunks::Fixed(slots) | Chunks::Scattered(slots) => slots.clamp(1, WHOLE_WORDS),
            Chunks::ByLoad => {
                let suffices = |slots: &usize| load <= 1.0 - (1.0 / (2.0 * *slots as f64 - 1.0)).sqrt();
                Chunks::SIZES.into_iter().find(suffices).unwrap_or(Chunks::SIZES[4])
            }
        }
    }
}

/// The way of all searches through a table of so many slots.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Way {
    pub(crate) chunks: Chunks,
    pub(crate) slots: usize,
}

impl Way {
    /// Where chunk `number` of a search begins, if chunk 0 began at `home` and the one before this ended before `end`.
    pub(crate) fn next(self, home: usize, number: usize, end: usize) -> usize {
        match self.chunks {
            Chunks::Fixed(_) | Chunks::ByLoad => end % self.slots,
            Chunks::Scattered(_) => {
                let distance = number * (number + 1) / 2 * self.chunks.slots(0.0);
                (home + distance) % self.slots
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_grow_with_the_load() {
        let sizes = [0.0, 0.74, 0.75, 0.85, 0.9, 0.93, 0.99].map(|load| Chunks::ByLoad.slots(load));
        assert_eq!(sizes, [8, 8, 16, 32, 64, 128, 128]);
        assert_eq!(Chunks::Fixed(0).slots(0.5), 1);
    }

    #[test]
    fn ways_go_on_or_jump() {
        let begins = |chunks| {
            let way = Way { chunks, slots: 100 };
            (1..5)
                .scan(90, |slot, number| Some(std::mem::replace(slot, way.next(90, number, *slot + 8))))
                .collect::<Vec<_>>()
        };
        assert_eq!(begins(Chunks::Fixed(8)), [90, 98, 6, 14]);
        assert_eq!(begins(Chunks::Scattered(8)), [90, 98, 14, 38]);
    }
}
