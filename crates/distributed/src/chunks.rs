//! How many slots a search reads at a time.

use tremula_fabric::WHOLE_WORDS;

/// How many slots a search reads at a time.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Chunks {
    /// Always so many, at least one, and at most [`WHOLE_WORDS`].
    Fixed(usize),
    /// As many as it takes for one chunk to be expected to suffice, which depends on the load.
    ByLoad,
}

impl Chunks {
    /// Sizes to choose from.
    const SIZES: [usize; 5] = [8, 16, 32, 64, 128];

    /// Slots to read when `load` of all slots are taken.
    ///
    /// One chunk of C slots is expected to suffice up to the load 1 - sqrt(1/(2C-1)) (Oortwijn 2015, section 3.3).
    pub fn slots(self, load: f64) -> usize {
        match self {
            Chunks::Fixed(slots) => slots.clamp(1, WHOLE_WORDS),
            Chunks::ByLoad => {
                let suffices = |slots: &usize| load <= 1.0 - (1.0 / (2.0 * *slots as f64 - 1.0)).sqrt();
                Chunks::SIZES.into_iter().find(suffices).unwrap_or(Chunks::SIZES[4])
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
}
