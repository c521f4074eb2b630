//! In how many pieces the relations are taken when a round uses all of them.
//!
//! In one piece, a round is one sweep; but its requests stand for combinations of sets under different relations, which
//! can be many more than the sets themselves. In pieces, images are sets first, and are united by further sweeps. Nothing
//! in a model tells what is less work, so it is tried: when a round is much work, the next ones are done in more pieces,
//! and then one as before. Rounds grow and shrink by themselves, so that what was tried is compared with the rounds before
//! and after it, unless the difference is plain.
//!
//! Work is counted and not timed, so that a run can be repeated.

use crate::machine::{Costs, Figures};

/// Halvings of the relations from one attempt to the next: unions are of up to four sets.
const STEP: usize = 2;
/// Rounds in more pieces of an attempt: the first one finds none of its requests answered.
const TRIED: u32 = 2;
/// A difference that is plain.
const PLAIN: u64 = 2;
/// Of the work that rounds are otherwise, the part that an attempt has to stay below.
const WORTHWHILE: f64 = 0.95;
/// Rounds between an attempt in vain and the next one; doubled by each.
const REST: u32 = 8;

/// How finely the relations are divided.
#[derive(Clone, Debug)]
pub struct Pace {
    halvings: usize,
    most: usize,
    much: u64,
    phase: Phase,
    rest: u32,
    next_rest: u32,
}

/// The work between two looks at a machine, in elements.
#[must_use]
pub fn work(costs: &Costs, before: &Figures, after: &Figures, levels: u32) -> u64 {
    let sweeps = after.sweeps - before.sweeps;
    let (requests, elements) = (after.requests - before.requests, after.elements - before.elements);
    elements + requests * costs.request + sweeps * u64::from(levels) * costs.level
}

/// What the present round is for.
#[derive(Copy, Clone, Debug)]
enum Phase {
    /// Nothing is being tried.
    Steady,
    /// More pieces, for so many rounds; the round before was so much work.
    Trying { before: u64, rounds_left: u32 },
    /// As many as before, to see how much work that is now.
    Returning { before: u64, tried: u64 },
}

impl Pace {
    /// All relations in one piece; there is nothing left to halve after `most` halvings, and rounds of `much` work are worth
    /// an attempt.
    #[must_use]
    pub fn new(most: usize, much: u64) -> Pace {
        Pace { halvings: 0, most, much, phase: Phase::Steady, rest: 0, next_rest: REST }
    }

    /// Begin with so many halvings.
    pub fn start_with(&mut self, halvings: usize) {
        self.halvings = halvings;
    }

    /// How often the relations are halved in the next round.
    #[must_use]
    pub fn halvings(&self) -> usize {
        self.halvings
    }

    /// A round is over in which there was a collection: the work of it and of the next one tells nothing, since all
    /// answers are forgotten.
    pub fn disturb(&mut self) {
        if let Phase::Trying { .. } = self.phase {
            self.halvings -= STEP;
        }
        self.phase = Phase::Steady;
        self.rest = self.rest.max(TRIED);
    }

    /// A round is over that was so much work.
    pub fn note(&mut self, work: u64) {
        match self.phase {
            Phase::Steady => {
                self.rest = self.rest.saturating_sub(1);
                if work > self.much && self.rest == 0 && self.halvings < self.most {
                    self.halvings += STEP;
                    self.phase = Phase::Trying { before: work, rounds_left: TRIED };
                }
            }
            Phase::Trying { before, rounds_left } if rounds_left > 1 => {
                self.phase = Phase::Trying { before, rounds_left: rounds_left - 1 };
            }
            Phase::Trying { before, .. } if work * PLAIN < before => self.phase = Phase::Steady,
            Phase::Trying { before, .. } => {
                self.halvings -= STEP;
                self.phase = Phase::Returning { before, tried: work };
                if work > before * PLAIN {
                    self.give_up();
                }
            }
            Phase::Returning { before, tried } => {
                // Growth is by factors, and this round is twice as near as that before.
                let expected = (before as f64 * (work as f64).powi(2)).cbrt();
                if (tried as f64) < expected * WORTHWHILE {
                    self.halvings += STEP;
                    self.phase = Phase::Steady;
                } else {
                    self.give_up();
                }
            }
        }
    }

    /// There was no room for the round: is there a finer way?
    pub fn refine(&mut self) -> bool {
        let is_possible = self.halvings < self.most;
        if is_possible {
            self.halvings += STEP;
            self.phase = Phase::Steady;
        }
        is_possible
    }

    /// An attempt was in vain.
    fn give_up(&mut self) {
        self.phase = Phase::Steady;
        (self.rest, self.next_rest) = (self.next_rest, 2 * self.next_rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MUCH: u64 = 1 << 20;

    /// The halvings of some rounds; the work of each depends on its number and on them.
    fn run(pace: &mut Pace, rounds: u32, work: impl Fn(u32, usize) -> u64) -> Vec<usize> {
        let round = |number| {
            let halvings = pace.halvings();
            pace.note(work(number, halvings));
            halvings
        };
        (0..rounds).map(round).collect()
    }

    #[test]
    fn rounds_of_little_work_are_one_sweep() {
        assert_eq!(run(&mut Pace::new(6, MUCH), 4, |_, _| MUCH), [0; 4]);
    }

    #[test]
    fn half_the_work_stays_at_once() {
        let halvings = run(&mut Pace::new(6, MUCH), 9, |_, halvings| MUCH * 1000 / (1 << (2 * halvings)));
        assert_eq!(halvings, [0, 2, 2, 2, 4, 4, 4, 6, 6]);
    }

    #[test]
    fn a_little_less_work_stays_whether_rounds_grow_or_shrink() {
        for trend in [0.8, 1.25] {
            let work = |number: u32, halvings: usize| {
                (1e12 * f64::powi(trend, number as i32) * if halvings > 0 { 0.9 } else { 1.0 }) as u64
            };
            assert_eq!(run(&mut Pace::new(2, MUCH), 6, work), [0, 2, 2, 0, 2, 2], "{trend}");
        }
    }

    #[test]
    fn more_work_is_tried_less_and_less() {
        for trend in [0.9, 1.0, 1.1] {
            let work = |number: u32, halvings: usize| {
                (1e13 * f64::powi(trend, number as i32) * if halvings > 0 { 1.5 } else { 1.0 }) as u64
            };
            let halvings = run(&mut Pace::new(6, MUCH), 100, work);
            let tried = halvings.iter().filter(|&&halvings| halvings > 0).count();
            assert!((6..=8).contains(&tried), "{trend}: {tried}");
        }
    }

    #[test]
    fn a_collection_ends_an_attempt() {
        let mut pace = Pace::new(6, MUCH);
        pace.note(MUCH * 2);
        assert_eq!(pace.halvings(), STEP);
        pace.disturb();
        assert_eq!(pace.halvings(), 0);
        assert_eq!(run(&mut pace, 4, |_, _| MUCH * 2), [0, 0, 2, 2]);
    }

    #[test]
    fn what_has_no_room_is_divided_until_nothing_is_left_to_halve() {
        let mut pace = Pace::new(3, MUCH);
        assert!(pace.refine() && pace.refine() && !pace.refine());
        assert_eq!(pace.halvings(), 4);
    }
}
