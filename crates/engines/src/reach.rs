//! Reachability: least fixpoints of the image, in several orders of work.

use crate::strategy::{Order, Strategy};
use crate::system::SymbolicSystem;
use tremula_diagrams::{Bdd, Error, Relation, RelationBundle, RelationTree};

/// All reachable states.
pub struct Reached {
    /// The set.
    pub states: Bdd,
    /// Breadth-first levels until nothing new was found; none for strategies that do not go level by level.
    pub levels: Option<u64>,
    /// Rounds of the strategy.
    pub rounds: u64,
    /// What did the work.
    pub strategy: Strategy,
}

/// Exploration ended early; what was found by then is still true.
pub struct Stopped {
    /// Why.
    pub error: Error,
    /// States that are reachable for certain.
    pub states: Bdd,
    /// Breadth-first levels completed; none for strategies that do not go level by level.
    pub levels: Option<u64>,
    /// Rounds completed.
    pub rounds: u64,
    /// What did the work.
    pub strategy: Strategy,
}

/// Where exploration stands after a round.
pub struct Round<'a> {
    /// Number of the round, from 1.
    pub number: u64,
    /// Is a round a breadth-first level?
    pub is_level: bool,
    /// States found so far.
    pub states: &'a Bdd,
    /// What the next round starts from.
    pub frontier: &'a Bdd,
    /// What is doing the work.
    pub strategy: Strategy,
}

/// Told about each round, between operations.
pub trait Observer {
    /// A round is over.
    fn round(&mut self, round: &Round<'_>);
}

/// An observer that does not look.
impl Observer for () {
    fn round(&mut self, _: &Round<'_>) {}
}

/// Compute all reachable states with one strategy.
pub fn reach(
    system: &SymbolicSystem,
    strategy: Strategy,
    observer: &mut dyn Observer,
) -> Result<Reached, Box<Stopped>> {
    match strategy.order {
        Order::Auto => return crate::auto::reach(system, observer),
        Order::Saturation => return crate::saturation::reach(system, observer),
        Order::Bfs | Order::Par | Order::Chaining => {}
    }
    Run::new(system, strategy).explore(observer)
}

/// One exploration under way.
pub(crate) struct Run<'a> {
    step: Step<'a>,
    pub strategy: Strategy,
    pub visited: Bdd,
    pub frontier: Bdd,
    pub rounds: u64,
    /// Has a round found nothing new?
    complete: bool,
}

/// How one round computes successors.
enum Step<'a> {
    /// One sweep over all relations together.
    Bundle(RelationBundle),
    /// Each relation's image of the same set, then a tree of unions.
    Tree(RelationTree),
    /// Each relation's image of what is known by then.
    Chain(&'a [Relation]),
}

impl<'a> Run<'a> {
    pub fn new(system: &'a SymbolicSystem, strategy: Strategy) -> Run<'a> {
        let step = match strategy.order {
            Order::Bfs => Step::Bundle(system.manager.bundle(&system.relations).expect("relations of this manager")),
            Order::Par => Step::Tree(system.manager.tree(&system.relations).expect("relations of this manager")),
            Order::Chaining => Step::Chain(&system.relations),
            Order::Saturation | Order::Auto => unreachable!("they have modules of their own"),
        };
        let initial = &system.initial;
        Run { step, strategy, visited: initial.clone(), frontier: initial.clone(), rounds: 0, complete: false }
    }

    /// All rounds that are left, and what they come to.
    pub fn explore(mut self, observer: &mut dyn Observer) -> Result<Reached, Box<Stopped>> {
        match self.run_to_end(observer) {
            Ok(()) => Ok(self.result()),
            Err(error) => Err(Box::new(self.stopped(error))),
        }
    }

    /// All rounds that are left; none if the last one has found nothing new.
    fn run_to_end(&mut self, observer: &mut dyn Observer) -> Result<(), Error> {
        while !self.complete {
            self.round()?;
            observer.round(&self.report());
        }
        Ok(())
    }

    pub fn report(&self) -> Round<'_> {
        Round {
            number: self.rounds,
            is_level: self.is_level(),
            states: &self.visited,
            frontier: &self.frontier,
            strategy: self.strategy,
        }
    }

    fn is_level(&self) -> bool {
        !matches!(self.step, Step::Chain(_))
    }

    fn levels(&self) -> Option<u64> {
        self.is_level().then_some(self.rounds)
    }

    /// One round; false when it found nothing new.
    pub fn round(&mut self) -> Result<bool, Error> {
        let from = if self.strategy.frontier { &self.frontier } else { &self.visited };
        let found = match &self.step {
            Step::Bundle(bundle) => from.relnext_all(bundle)?,
            // Subtracting what is known from each image keeps the unions small.
            Step::Tree(tree) if self.strategy.frontier => from.relnext_new(tree, &self.visited)?,
            Step::Tree(tree) => from.relnext_new(tree, &from.manager().constant(false))?,
            Step::Chain(relations) => chain(from, *relations)?,
        };
        let grown = self.visited.or(&found)?;
        self.rounds += 1;
        let known = std::mem::replace(&mut self.visited, grown);
        let changed = known != self.visited;
        self.frontier = match (self.strategy.frontier, changed) {
            (true, true) if matches!(self.step, Step::Tree(_)) => found,
            (true, true) => found.minus(&known)?,
            (false, true) => self.visited.clone(),
            (_, false) => known.manager().constant(false),
        };
        self.complete = !changed;
        Ok(changed)
    }

    /// The states found, when a round has found nothing new.
    fn result(self) -> Reached {
        Reached { levels: self.levels(), states: self.visited, rounds: self.rounds, strategy: self.strategy }
    }

    pub fn stopped(self, error: Error) -> Stopped {
        Stopped { error, levels: self.levels(), states: self.visited, rounds: self.rounds, strategy: self.strategy }
    }
}

/// The set and what firing the relations one after another adds to it.
pub(crate) fn chain<'a>(set: &Bdd, relations: impl IntoIterator<Item = &'a Relation>) -> Result<Bdd, Error> {
    relations.into_iter().try_fold(set.clone(), |known, relation| known.or(&known.relnext(relation)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tremula_diagrams::{Budget, Manager};
    use tremula_models::{Limits, read_file};

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
