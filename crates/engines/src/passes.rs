//! Saturation in bulk, for spaces whose operations cost by the sweep: passes over parts of the relations.
//!
//! A pass takes the parts from the deepest up, and closes the set under each of them. Closing under few relations at a
//! time keeps sets between sweeps simple, but every part costs sweeps, even if it finds nothing. So the parts are few from
//! the start; and if some part has found nothing in a pass, the next pass has larger ones. Invariant: the last layer to
//! be reached is that of a single part, all relations, and closing under it is the end.

use crate::reach::{Observer, Reached, Round, Stopped};
use crate::space::Space;
use crate::strategy::{Order, Strategy};
use tremula_diagrams::Error;

const SATURATION: Strategy = Strategy { order: Order::Saturation, frontier: true };

/// Parts of the first pass. Measured: docs/gpu.md.
const MOST_PARTS: usize = 32;

/// Compute all reachable states in passes.
pub(crate) fn explore<P: Space>(
    space: &P,
    observer: &mut dyn Observer<P::Set>,
) -> Result<Reached<P::Set>, Box<Stopped<P::Set>>> {
    let mut passes = Passes { space, states: space.initial(), rounds: 0 };
    let ended = passes.run(observer);
    let Passes { states, rounds, .. } = passes;
    match ended {
        Ok(()) => Ok(Reached { states, levels: None, rounds, strategy: SATURATION }),
        Err(error) => Err(Box::new(Stopped { error, states, levels: None, rounds, strategy: SATURATION })),
    }
}

struct Passes<'a, P: Space> {
    space: &'a P,
    states: P::Set,
    rounds: u64,
}

impl<P: Space> Passes<'_, P> {
    fn run(&mut self, observer: &mut dyn Observer<P::Set>) -> Result<(), Error> {
        let layers = self.space.layers();
        let Some(mut layer) = layers.iter().rposition(|&parts| parts <= MOST_PARTS) else { return Ok(()) };
        // Parts in a row under which the set is closed.
        let mut closed = 0;
        loop {
            let (parts, mut rich) = (layers[layer], 0);
            for part in 0..parts {
                let found = self.close(layer, part, observer)?;
                rich += usize::from(found);
                closed = if found { 1 } else { closed + 1 };
                if closed == parts {
                    return Ok(());
                }
            }
            if rich < parts {
                (layer, closed) = (layer - 1, 0);
            }
        }
    }

    /// Close the states under a part; has it found any?
    fn close(&mut self, layer: usize, part: usize, observer: &mut dyn Observer<P::Set>) -> Result<bool, Error> {
        let (mut frontier, mut found) = (self.states.clone(), false);
        loop {
            (frontier, self.states) = self.space.step_in(layer, part, &frontier, &self.states)?;
            self.end_round(&frontier, observer);
            if frontier == self.space.nothing() {
                return Ok(found);
            }
            found = true;
        }
    }

    fn end_round(&mut self, frontier: &P::Set, observer: &mut dyn Observer<P::Set>) {
        self.rounds += 1;
        observer.round(&Round {
            number: self.rounds,
            is_level: false,
            states: &self.states,
            frontier,
            strategy: SATURATION,
        });
    }
}
