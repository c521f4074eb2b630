//! Requests of earlier sweeps, which stay where they are: their answers hold until the next collection.
//!
//! A sweep numbers its requests behind those of the sweeps before it and finds all of them in the same index, so that
//! it asks for nothing that was answered before. Entries of the index belong to an *epoch*; those of another epoch count
//! as empty. Sweeps that answer twice have an epoch of their own, since requests of the others lack the second answer.
//! Each kind may overwrite entries of the other: then something is asked again, and nothing else happens.

/// Epochs have sixteen bits, and none is zero.
const LAST_EPOCH: u32 = (1 << 16) - 1;

/// What is there from earlier sweeps.
#[derive(Clone, Debug)]
pub struct Past {
    /// Numbers of requests that are taken.
    pub requests: usize,
    /// Elements that are taken.
    pub elements: usize,
    /// The epochs of sweeps that answer once, and of those that answer twice.
    epochs: [u32; 2],
}

impl Past {
    /// Nothing, in an index of zeros.
    pub fn nothing() -> Past {
        Past { requests: 0, elements: 0, epochs: [1, 2] }
    }

    /// The epoch of a sweep.
    pub fn epoch(&self, answers_twice: bool) -> u32 {
        self.epochs[usize::from(answers_twice)]
    }

    /// Forget everything. If that takes an index of zeros, the answer is true.
    #[must_use]
    pub fn forget(&mut self) -> bool {
        let epochs = self.epochs.map(|epoch| epoch + 2);
        let is_over = epochs[1] > LAST_EPOCH;
        *self = if is_over { Past::nothing() } else { Past { epochs, ..Past::nothing() } };
        is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_are_new_until_the_index_is_cleared() {
        let mut past = Past::nothing();
        let mut seen = vec![past.epoch(false), past.epoch(true)];
        while !past.forget() {
            seen.extend([past.epoch(false), past.epoch(true)]);
            assert!(*seen.last().unwrap() <= LAST_EPOCH);
        }
        assert!(seen.windows(2).all(|pair| pair[0] < pair[1]) && seen[0] > 0);
        assert_eq!(past.epoch(false), Past::nothing().epoch(false));
    }
}
