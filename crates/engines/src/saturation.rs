//! Saturation: close the set under the deepest relations first, then under more and more of them.
//!
//! [`Bdd::saturate`] closes every node under the relations below it, so what a relation adds is completed where it was
//! added. The relations of the topmost level are fired from here, round by round: they act on the whole set anyway, and
//! in this way there is something to report and to keep when the time is over.

use crate::reach::{Observer, Reached, Round, Stopped};
use crate::strategy::{Order, Strategy};
use crate::system::SymbolicSystem;
use tremula_diagrams::{Bdd, Error, Relation, RelationBundle};

const SATURATION: Strategy = Strategy { order: Order::Saturation, frontier: true };

/// Calls for the relations below the topmost level: each goes down from the root again, so they are not too many.
const STAGES: usize = 16;

/// Compute all reachable states by saturation.
pub(crate) fn reach(system: &SymbolicSystem, observer: &mut dyn Observer) -> Result<Reached, Box<Stopped>> {
    let mut run = Saturation { system, states: system.initial.clone(), rounds: 0 };
    let ended = run.run(observer);
    let Saturation { states, rounds, .. } = run;
    match ended {
        Ok(()) => Ok(Reached { states, levels: None, rounds, strategy: SATURATION }),
        Err(error) => Err(Box::new(Stopped { error, states, levels: None, rounds, strategy: SATURATION })),
    }
}

struct Saturation<'a> {
    system: &'a SymbolicSystem,
    states: Bdd,
    rounds: u64,
}

impl Saturation<'_> {
    fn run(&mut self, observer: &mut dyn Observer) -> Result<(), Error> {
        let relations = &self.system.relations;
        let all = self.system.manager.bundle(relations)?;
        let layers: Vec<RelationBundle> = std::iter::successors(all.below(), RelationBundle::below).collect();
        for layer in layers.iter().step_by(layers.len().div_ceil(STAGES).max(1)).rev() {
            self.states = self.states.saturate(layer)?;
            self.end_round(observer);
        }
        let top = relations.iter().filter_map(Relation::level).min();
        let topmost: Vec<&Relation> = relations.iter().filter(|relation| relation.level() == top).collect();
        loop {
            let known = self.states.clone();
            self.states = chain(&known, topmost.iter().copied())?;
            let changed = self.states != known;
            if let Some(lower) = layers.first().filter(|_| changed) {
                self.states = self.states.saturate(lower)?;
            }
            self.end_round(observer);
            if !changed {
                return Ok(());
            }
        }
    }

    fn end_round(&mut self, observer: &mut dyn Observer) {
        self.rounds += 1;
        observer.round(&Round {
            number: self.rounds,
            is_level: false,
            states: &self.states,
            frontier: &self.states,
            strategy: SATURATION,
        });
    }
}

/// The set and what firing the relations one after another adds to it.
fn chain<'a>(set: &Bdd, relations: impl IntoIterator<Item = &'a Relation>) -> Result<Bdd, Error> {
    relations.into_iter().try_fold(set.clone(), |known, relation| known.or(&known.relnext(relation)?))
}
