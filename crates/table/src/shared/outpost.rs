//! A table that another process keeps, on a ground that both address.
//!
//! The owner has a [`Solo`](crate::Solo) there. For parallel operations it starts workers, its own and those of outposts; in
//! between, it has the tables for itself.

use super::control::ControlPlace;
use super::{Keeper, Office, Shared, Stretch};
use crate::allocation::Allocation;
use crate::attention::Attention;
use crate::division::Division;
use crate::memory::{SharedRegion, use_huge_pages_on};
use crate::solo::{Options, TableGround};
use crate::sync::{Mutex, Ordering};

/// A view of the owner's tables, for the workers of another process, or of the same one.
pub struct Outpost {
    ground: TableGround,
    stress: Option<u64>,
}

impl Outpost {
    /// On the ground of the owner's tables, which have these options.
    pub fn new(ground: TableGround, options: &Options) -> Outpost {
        let TableGround { nodes, index, cache, .. } = &ground;
        [nodes, index, cache].into_iter().for_each(use_huge_pages_on);
        Outpost { ground, stress: options.stress }
    }

    /// Ask all workers of the operation that is under way, if there is one, to end it.
    pub fn cancel(&self) {
        // Relaxed: the word itself is the whole message.
        ControlPlace::on(Some(&self.ground.control)).cancelled.store(true, Ordering::Relaxed);
    }

    /// Take part in the operation that the owner has begun with so many workers, as worker `number`. `stretch` is what this
    /// worker keeps from one operation to the next.
    pub fn share<'a>(&'a self, workers: usize, number: usize, stretch: &'a mut Stretch) -> Shared<'a> {
        let control = ControlPlace::on(Some(&self.ground.control));
        // Relaxed: published by whoever has started this worker.
        let collections = control.collections.load(Ordering::Relaxed);
        if stretch.collections != collections {
            // All that was free then has been given out anew.
            *stretch = Stretch { allocation: Allocation::default(), collections };
        }
        Shared {
            nodes: SharedRegion::on(&self.ground.nodes),
            index: SharedRegion::on(&self.ground.index),
            cache: SharedRegion::on(&self.ground.cache),
            live: SharedRegion::on(&self.ground.live),
            division: Division::WHOLE,
            foreign: None,
            found: Mutex::default(),
            told: Mutex::default(),
            control,
            roots: Vec::new(),
            workers,
            here: number..number + 1,
            attention: Attention::default(),
            stress: self.stress,
            office: Mutex::new(Office {
                allocations: vec![stretch.allocation],
                keeper: Keeper::Guest(stretch),
                given_out: vec![false],
            }),
        }
    }
}
