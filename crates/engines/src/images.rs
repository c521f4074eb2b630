//! How `par` finds what is new: by taking known states away from each image, or within it.
//!
//! Images that are made whole stay in the operation cache, and help all later levels. Where known states are taken away within an
//! image, what is known is never made again, but hardly a result is of use later. Which of them is less work depends on the model,
//! by a factor of three either way.
//!
//! What tells them apart is how many of the results that were not in the cache are new nodes. If these are few, images come to sets
//! that are there already, and it is the cache that saves work. If they are many, most are made to be taken away again. That
//! share hardly changes from level to level: docs/decisions/0029. A collection takes results out of the cache and makes nodes new that
//! had been there, so levels with one tell nothing.

use crate::system::SymbolicSystem;
use std::cell::Cell;
use tremula_diagrams::{Bdd, Counters, Error};

/// This share of new nodes among results that were not in the cache makes both ways the same work, in percent.
const EVEN_SHARE: i64 = 30;
/// So many nodes more than that are not by chance.
const SURE: i64 = 5_000;

/// Which way is taken, and what speaks for it.
#[derive(Debug, Default)]
pub(crate) struct Way {
    /// Nodes that were made beyond the even share of all results.
    excess: Cell<i64>,
    within: Cell<bool>,
    /// Is the way not to be chosen any more?
    is_fixed: bool,
}

impl Way {
    /// Always take known states away within images, or always afterwards.
    pub fn fixed(within: bool) -> Way {
        Way { within: Cell::new(within), is_fixed: true, ..Way::default() }
    }

    /// Successors that are not known.
    pub fn new_images(&self, system: &SymbolicSystem, set: &Bdd, known: &Bdd) -> Result<Bdd, Error> {
        if self.within.get() {
            return set.relnext_new_within(system.tree(), known);
        }
        let before = system.manager.counters();
        let found = set.relnext_new(system.tree(), known)?;
        // Where nothing is known, nothing could be taken away.
        if !self.is_fixed && !known.is_false() {
            self.learn(&before, &system.manager.counters());
        }
        Ok(found)
    }

    /// Consider a level.
    fn learn(&self, before: &Counters, after: &Counters) {
        if after.collections + after.compactions > before.collections + before.compactions {
            return;
        }
        let made = (after.created - before.created) as i64;
        let missed = (after.lookups - before.lookups) as i64 - (after.hits - before.hits) as i64;
        self.excess.set(self.excess.get() + made - missed * EVEN_SHARE / 100);
        self.within.set(self.excess.get() > SURE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(created: u64, lookups: u64, hits: u64, collections: u64) -> Counters {
        Counters { created, lookups, hits, collections, ..Counters::default() }
    }

    #[test]
    fn many_new_nodes_speak_for_taking_away_within_images() {
        let way = Way::default();
        let mut before = counters(0, 0, 0, 0);
        let mut level = |made: u64, missed: u64, collections: u64| {
            let after = counters(
                before.created + made,
                before.lookups + missed + 100_000,
                before.hits + 100_000,
                before.collections + collections,
            );
            way.learn(&before, &after);
            before = after;
            way.within.get()
        };
        assert!(!level(3_000, 6_000, 0), "too few to tell");
        assert!(!level(50_000, 200_000, 0));
        assert!(!level(90_000, 100_000, 1), "after a collection more is made");
        assert!(!level(40_000, 100_000, 0), "levels before spoke against it");
        assert!(level(40_000, 100_000, 0));
    }
}
