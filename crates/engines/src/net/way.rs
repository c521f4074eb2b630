//! Ways to find all markings of a net, each of which can be interrupted and goes on from there.

use super::explicit::{Explicit, Packing};
use super::rounds::Rounds;
use super::system::NetSystem;
use tremula_diagrams::mdd::{Mdd, Saturation, Saturator};
use tremula_diagrams::{Attention, Budget, Error};

/// A way to explore.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Way {
    /// Close sets from the last level up.
    Saturation(Saturation),
    /// Level by level.
    Bfs,
    /// Transition after transition, each on what is known by then.
    Chaining,
    /// Marking by marking; at the end they become a diagram.
    Explicit,
}

/// A way at work.
pub enum Explorer {
    Saturation(Box<Saturator>),
    Rounds(Rounds),
    Explicit(Box<Explicit>),
}

/// What a way may need besides the diagrams.
pub struct Means<'a> {
    /// The most tokens of each place.
    pub bounds: &'a [Option<u64>],
    /// Memory for everything.
    pub budget: &'a Budget,
    /// How much of it a list of markings may take.
    pub list_bytes: usize,
    /// How to interrupt.
    pub attention: &'a Attention,
}

/// Firing a transition in a marking costs a fraction of a look-up.
const FIRINGS_PER_LOOKUP: u64 = 10;

impl Explorer {
    /// Begin.
    pub fn new(way: Way, system: &NetSystem, means: &Means) -> Result<Explorer, Error> {
        Ok(match way {
            Way::Saturation(saturation) => Explorer::Saturation(Box::new(system.saturator(saturation))),
            Way::Bfs => Explorer::Rounds(Rounds::new(system, false)),
            Way::Chaining => Explorer::Rounds(Rounds::new(system, true)),
            Way::Explicit => {
                let &Means { bounds, budget, list_bytes, attention } = means;
                // What cannot be packed needs more than all memory.
                let packing = Packing::of(&system.encoding, bounds).ok_or(Error::TableFull)?;
                let explicit = Explicit::new(system, &packing, budget, list_bytes, attention)?;
                Explorer::Explicit(Box::new(explicit))
            }
        })
    }

    /// Go on, for so many look-ups or to the end. After [`Error::OutOfFuel`] this may be called again.
    pub fn run(&mut self, system: &NetSystem, lookups: Option<u64>) -> Result<Mdd, Error> {
        system.manager.set_fuel(lookups);
        let result = match self {
            Explorer::Saturation(saturator) => saturator.run(),
            Explorer::Rounds(rounds) => rounds.run(system),
            Explorer::Explicit(explicit) => {
                explicit.run(lookups.map(|count| FIRINGS_PER_LOOKUP * count)).and_then(|()| {
                    system.manager.set_fuel(None);
                    explicit.diagram(&system.manager)
                })
            }
        };
        system.manager.set_fuel(None);
        result
    }

    /// Markings that are reachable for certain.
    pub fn so_far(&mut self, system: &NetSystem) -> Result<Mdd, Error> {
        match self {
            Explorer::Saturation(saturator) => saturator.so_far(),
            Explorer::Rounds(rounds) => Ok(rounds.so_far()),
            Explorer::Explicit(explicit) => explicit.diagram(&system.manager),
        }
    }

    /// How much is done, to compare those who did not get to the end.
    pub fn progress(&self) -> usize {
        match self {
            Explorer::Saturation(saturator) => saturator.levels_done(),
            Explorer::Rounds(_) | Explorer::Explicit(_) => 0,
        }
    }
}
