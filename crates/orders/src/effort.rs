//! A bound on work that does not depend on a clock.
//!
//! A time limit would make the result depend on the machine and on its load. Steps are counted instead: a step is the
//! look at one arc, one entry of a matrix or one pair of rows, and takes some nanoseconds.

/// Steps that are left.
#[derive(Clone, Debug)]
pub(crate) struct Effort(u64);

impl Effort {
    pub(crate) fn new(steps: u64) -> Effort {
        Effort(steps)
    }

    /// Takes so many steps, or says that there are not so many left; then nothing is left at all.
    pub(crate) fn spend(&mut self, steps: usize) -> Option<()> {
        let left = self.0.checked_sub(steps as u64);
        self.0 = left.unwrap_or(0);
        left.map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spent_is_gone() {
        let mut effort = Effort::new(5);
        assert_eq!(effort.spend(3), Some(()));
        assert_eq!(effort.spend(2), Some(()));
        assert_eq!(effort.spend(1), None);
    }

    #[test]
    fn after_a_refusal_nothing_is_left() {
        let mut effort = Effort::new(5);
        assert_eq!(effort.spend(6), None);
        assert_eq!(effort.spend(1), None);
    }
}
