//! How work changes hands, where there is a choice.

/// How much a victim gives to a thief.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum StealAmount {
    /// Its oldest task.
    One,
    /// Up to so many of its oldest tasks.
    Many(usize),
    /// Half of its tasks.
    Half,
}

/// How work changes hands. All workers of a crew have the same tactics.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Tactics {
    /// How much a thief gets.
    pub amount: StealAmount,
    /// Thieves that can wait for one victim at a time (private deques only).
    pub request_slots: usize,
    /// Does a run begin with a task for everybody, given away by the leader? Otherwise all others begin by stealing.
    pub shares_first: bool,
    /// How large a task must be to go to a worker of another process, in the measure of the work
    /// ([`Work::is_at_least`](crate::Work::is_at_least)); zero if all may.
    pub least_far: u32,
}

impl Default for Tactics {
    fn default() -> Tactics {
        Tactics { amount: StealAmount::One, request_slots: 2, shares_first: true, least_far: 0 }
    }
}

impl Tactics {
    /// How many tasks a thief gets of a worker that has so many to spare.
    pub(crate) fn wanted(&self, spare: usize) -> usize {
        match self.amount {
            StealAmount::One => 1,
            StealAmount::Many(count) => count,
            StealAmount::Half => spare.div_ceil(2),
        }
    }
}
