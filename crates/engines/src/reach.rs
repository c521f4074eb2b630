//! Reachability: least fixpoints of the image, in several orders of work.

use crate::space::Space;
use crate::strategy::{Order, Strategy};
use crate::system::SymbolicSystem;
use tremula_diagrams::{Bdd, Error};

/// All reachable states.
pub struct Reached<S = Bdd> {
    /// The set.
    pub states: S,
    /// Breadth-first levels until nothing new was found; none for strategies that do not go level by level.
    pub levels: Option<u64>,
    /// Rounds of the strategy.
    pub rounds: u64,
    /// What did the work.
    pub strategy: Strategy,
}

/// Exploration ended early; what was found by then is still true.
pub struct Stopped<S = Bdd> {
    /// Why.
    pub error: Error,
    /// States that are reachable for certain.
    pub states: S,
    /// Breadth-first levels completed; none for strategies that do not go level by level.
    pub levels: Option<u64>,
    /// Rounds completed.
    pub rounds: u64,
    /// What did the work.
    pub strategy: Strategy,
}

/// Where exploration stands after a round.
pub struct Round<'a, S = Bdd> {
    /// Number of the round, from 1.
    pub number: u64,
    /// Is a round a breadth-first level?
    pub is_level: bool,
    /// States found so far.
    pub states: &'a S,
    /// What the next round starts from.
    pub frontier: &'a S,
    /// What is doing the work.
    pub strategy: Strategy,
}

/// Told about each round, between operations.
pub trait Observer<S = Bdd> {
    /// A round is over.
    fn round(&mut self, round: &Round<'_, S>);
}

/// An observer that does not look.
impl<S> Observer<S> for () {
    fn round(&mut self, _: &Round<'_, S>) {}
}

/// Compute all reachable states with one strategy.
///
/// # Panics
/// If the strategy is explicit.
pub fn reach(
    system: &SymbolicSystem,
    strategy: Strategy,
    observer: &mut dyn Observer,
) -> Result<Reached, Box<Stopped>> {
    match strategy.order {
        Order::Auto => crate::auto::reach(system, observer),
        Order::Saturation => crate::saturation::reach(system, observer),
        Order::Bfs | Order::Par | Order::Chaining | Order::Explicit => explore(system, strategy, observer),
    }
}

/// Compute all reachable states round by round, wherever sets live; saturation goes in passes over parts of the relations.
///
/// # Panics
/// If the strategy is explicit or automatic: these are for one process only.
pub fn explore<P: Space>(
    space: &P,
    strategy: Strategy,
    observer: &mut dyn Observer<P::Set>,
) -> Result<Reached<P::Set>, Box<Stopped<P::Set>>> {
    match strategy.order {
        Order::Saturation => crate::passes::explore(space, observer),
        _ => Run::new(space, strategy).explore(observer),
    }
}

/// One exploration under way.
pub(crate) struct Run<'a, P: Space> {
    space: &'a P,
    step: Step,
    pub strategy: Strategy,
    pub visited: P::Set,
    pub frontier: P::Set,
    pub rounds: u64,
    /// Has a round found nothing new?
    complete: bool,
}

/// How one round computes successors.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Step {
    /// One sweep over all relations together.
    Sweep,
    /// Each relation's image of the same set, then a tree of unions.
    SideBySide,
    /// Each relation's image of what is known by then.
    Chain,
}

impl<'a, P: Space> Run<'a, P> {
    pub fn new(space: &'a P, strategy: Strategy) -> Run<'a, P> {
        let step = match strategy.order {
            Order::Bfs => Step::Sweep,
            Order::Par => Step::SideBySide,
            Order::Chaining => Step::Chain,
            Order::Saturation | Order::Explicit | Order::Auto => panic!("{strategy} does not go round by round"),
        };
        let initial = space.initial();
        Run { space, step, strategy, visited: initial.clone(), frontier: initial, rounds: 0, complete: false }
    }

    /// All rounds that are left, and what they come to.
    pub fn explore(mut self, observer: &mut dyn Observer<P::Set>) -> Result<Reached<P::Set>, Box<Stopped<P::Set>>> {
        match self.run_to_end(observer) {
            Ok(()) => Ok(self.result()),
            Err(error) => Err(Box::new(self.stopped(error))),
        }
    }

    /// All rounds that are left; none if the last one has found nothing new.
    fn run_to_end(&mut self, observer: &mut dyn Observer<P::Set>) -> Result<(), Error> {
        while !self.complete {
            self.round()?;
            observer.round(&self.report());
        }
        Ok(())
    }

    pub fn report(&self) -> Round<'_, P::Set> {
        Round {
            number: self.rounds,
            is_level: self.is_level(),
            states: &self.visited,
            frontier: &self.frontier,
            strategy: self.strategy,
        }
    }

    fn is_level(&self) -> bool {
        self.step != Step::Chain
    }

    fn levels(&self) -> Option<u64> {
        self.is_level().then_some(self.rounds)
    }

    /// One round; false when it found nothing new.
    pub fn round(&mut self) -> Result<bool, Error> {
        let space = self.space;
        let from = if self.strategy.frontier { &self.frontier } else { &self.visited };
        let with_known = |found| Ok((space.union(&self.visited, &found)?, found));
        let (grown, found) = match self.step {
            Step::Sweep => with_known(space.next_of_all(from)?),
            // Subtracting what is known from each image keeps the unions small.
            Step::SideBySide if self.strategy.frontier => {
                space.step(from, &self.visited).map(|(found, grown)| (grown, found))
            }
            Step::SideBySide => with_known(space.new_images(from, &space.nothing())?),
            Step::Chain => with_known(self.chain(from)?),
        }?;
        self.rounds += 1;
        let known = std::mem::replace(&mut self.visited, grown);
        let changed = known != self.visited;
        self.frontier = match (self.strategy.frontier, changed) {
            (true, true) if self.step == Step::SideBySide => found,
            (true, true) => space.minus(&found, &known)?,
            (false, true) => self.visited.clone(),
            (_, false) => space.nothing(),
        };
        self.complete = !changed;
        Ok(changed)
    }

    /// The set and what firing the relations one after another adds to it.
    fn chain(&self, set: &P::Set) -> Result<P::Set, Error> {
        let fire = |known: P::Set, relation| self.space.fire(&known, relation);
        (0..self.space.relations()).try_fold(set.clone(), fire)
    }

    /// The states found, when a round has found nothing new.
    fn result(self) -> Reached<P::Set> {
        Reached { levels: self.levels(), states: self.visited, rounds: self.rounds, strategy: self.strategy }
    }

    pub fn stopped(self, error: Error) -> Stopped<P::Set> {
        Stopped { error, levels: self.levels(), states: self.visited, rounds: self.rounds, strategy: self.strategy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tremula_diagrams::{Budget, Manager};
    use tremula_models::{Limits, read_file};

    /// Without parts to choose from, all relations are one.
    #[test]
    fn every_space_can_be_explored_in_passes() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/beem/phils.1.bdd");
        let model = read_file(path.as_ref(), &Limits::default()).unwrap();
        let manager = Manager::new(&Budget::new(64 << 20)).unwrap();
        let system = SymbolicSystem::build(&manager, &model).unwrap();
        let strategy = Strategy { order: Order::Saturation, frontier: true };
        let reached = explore(&system, strategy, &mut ()).map_err(|stopped| stopped.error).unwrap();
        assert_eq!(reached.states.count(&system.state_levels).unwrap().to_string(), "80");
        assert_eq!((reached.levels, reached.strategy), (None, strategy));
    }

    #[test]
    fn a_complete_run_has_no_rounds_left() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/beem/phils.1.bdd");
        let model = read_file(path.as_ref(), &Limits::default()).unwrap();
        let manager = Manager::new(&Budget::new(64 << 20)).unwrap();
        let system = SymbolicSystem::build(&manager, &model).unwrap();
        for order in [Order::Bfs, Order::Par, Order::Chaining] {
            let mut run = Run::new(&system, Strategy { order, frontier: true });
            while run.round().unwrap() {}
            let rounds = run.rounds;
            run.run_to_end(&mut ()).unwrap();
            assert_eq!(run.rounds, rounds, "{order:?}");
        }
    }
}
