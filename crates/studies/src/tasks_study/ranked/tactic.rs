//! Ways to hand work over, by name.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use tremula_tasks::{StealAmount, Tactics};

/// Tasks that a thief gets at most with [`Tactic::StealMany`].
const MANY: usize = 8;

/// A way to hand work over. Each differs from the first, which exploration uses, in one respect.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tactic {
    /// A thief gets one task, two thieves can wait for a victim, and a run begins with a task for everybody.
    StealOne,
    /// A thief gets up to eight tasks.
    StealMany,
    /// A thief gets half of the tasks, up to sixteen.
    StealHalf,
    /// One thief can wait for a victim.
    OneSlot,
    /// A run begins with nothing for anybody but the leader.
    NoSharing,
}

impl Tactic {
    /// All of them.
    pub const ALL: [Tactic; 5] =
        [Tactic::StealOne, Tactic::StealMany, Tactic::StealHalf, Tactic::OneSlot, Tactic::NoSharing];

    /// As people call it.
    pub fn name(self) -> &'static str {
        match self {
            Tactic::StealOne => "steal-one",
            Tactic::StealMany => "steal-many",
            Tactic::StealHalf => "steal-half",
            Tactic::OneSlot => "one-slot",
            Tactic::NoSharing => "no-sharing",
        }
    }

    /// What it means for the workers.
    pub(super) fn tactics(self) -> Tactics {
        let usual = Tactics { amount: StealAmount::One, ..Tactics::default() };
        match self {
            Tactic::StealOne => usual,
            Tactic::StealMany => Tactics { amount: StealAmount::Many(MANY), ..usual },
            Tactic::StealHalf => Tactics { amount: StealAmount::Half, ..usual },
            Tactic::OneSlot => Tactics { request_slots: 1, ..usual },
            Tactic::NoSharing => Tactics { shares_first: false, ..usual },
        }
    }
}

impl fmt::Display for Tactic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for Tactic {
    type Err = String;

    fn from_str(text: &str) -> Result<Tactic, String> {
        let names = || Tactic::ALL.map(Tactic::name).join(", ");
        Tactic::ALL.into_iter().find(|tactic| tactic.name() == text).ok_or_else(|| format!("expected {}", names()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tactics_differ_and_have_names() {
        for tactic in Tactic::ALL {
            assert_eq!(tactic.name().parse(), Ok(tactic));
            assert_eq!(Tactic::ALL.iter().filter(|other| other.tactics() == tactic.tactics()).count(), 1);
        }
        assert_eq!(Tactic::StealOne.tactics(), Tactics::default());
        assert!("steal".parse::<Tactic>().is_err());
    }
}
