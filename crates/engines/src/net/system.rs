//! A net inside a manager of multi-valued diagrams.

use super::encoding::{EncodedNet, Encoding};
use crate::reach::{Observer, Reached, Stopped, explore};
use crate::space::Space;
use crate::strategy::Strategy;
use tremula_diagrams::mdd::{Event, Mdd, MddManager, MddOptions, Saturation, Saturator, Survey};
use tremula_diagrams::{Attention, Budget, Error, UBig};
use tremula_models::PetriNet;

/// A net ready for exploration.
pub struct NetSystem {
    /// The manager everything lives in.
    pub manager: MddManager,
    /// The initial marking.
    pub initial: Mdd,
    /// What the variables mean.
    pub encoding: Encoding,
    /// What transitions do, in the order of the net: mostly one event each, none for those that never fire. Of several events
    /// of a transition, one at most is possible in a marking.
    pub events: Vec<Event>,
    /// The index of the transition of each event.
    pub transitions: Vec<u32>,
}

/// Exact figures of all reachable markings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StateSpace {
    /// Markings.
    pub states: UBig,
    /// Pairs of a marking and a transition that can fire in it.
    pub transitions: UBig,
    /// The most tokens that are ever in one place.
    pub max_tokens_in_place: u128,
    /// The most tokens that are ever in all places together.
    pub max_tokens_per_marking: u128,
}

impl NetSystem {
    /// Bring a net into a manager of its own.
    pub fn build(
        net: EncodedNet,
        budget: &Budget,
        options: MddOptions,
        attention: Attention,
    ) -> Result<NetSystem, Error> {
        NetSystem::inside(MddManager::new(net.encoding.variables.len(), budget, options, attention)?, net)
    }

    /// Bring a net into a manager that has as many levels as the net has variables.
    pub(super) fn inside(manager: MddManager, net: EncodedNet) -> Result<NetSystem, Error> {
        let EncodedNet { encoding, transitions } = net;
        let initial = manager.vector(&encoding.initial)?;
        let all = (0..).zip(&transitions).flat_map(|(at, events)| events.iter().map(move |changes| (at, changes)));
        let events = all.map(|(at, changes)| Ok((manager.event(changes)?, at)));
        let (events, transitions) = events.collect::<Result<Vec<(Event, u32)>, Error>>()?.into_iter().unzip();
        Ok(NetSystem { manager, initial, encoding, events, transitions })
    }

    /// Compute all reachable markings round by round.
    ///
    /// # Panics
    /// If the strategy does not go round by round.
    pub fn explore(
        &self,
        strategy: Strategy,
        observer: &mut dyn Observer<Mdd>,
    ) -> Result<Reached<Mdd>, Box<Stopped<Mdd>>> {
        explore(self, strategy, observer)
    }

    /// Compute all reachable markings by saturation, when [`Saturator::run`] is called.
    #[must_use]
    pub fn saturator(&self, saturation: Saturation) -> Saturator {
        Saturator::new(&self.manager, &self.encoding.initial, &self.events, saturation)
    }

    /// Do places of `net`, which this is, share one token, as they are believed to, in everything that leads on from these
    /// markings? If not, other markings are reachable than those found.
    ///
    /// # Panics
    /// If this is another net.
    pub fn keeps_beliefs(&self, net: &PetriNet, states: &Mdd) -> Result<bool, Error> {
        for changes in self.encoding.overflows(net).expect("the net was encoded before") {
            let overflow = self.manager.event(&changes)?;
            if !states.fire(overflow)?.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Look at the figures of these markings. The manager is locked meanwhile: `look` must not call anything of it.
    pub fn survey<T>(&self, states: &Mdd, look: impl FnOnce(&NetSurvey<'_>) -> T) -> Result<T, Error> {
        let tokens = |level: u32, value: u32| self.encoding.variables[level as usize].tokens(value);
        states.survey(tokens, |survey| look(&NetSurvey { system: self, survey }))
    }

    /// All four figures of these markings.
    pub fn state_space(&self, states: &Mdd) -> Result<StateSpace, Error> {
        self.survey(states, |survey| {
            Ok(StateSpace {
                states: survey.states().clone(),
                transitions: survey.transitions()?,
                max_tokens_in_place: survey.max_tokens_in_place(),
                max_tokens_per_marking: survey.max_tokens_per_marking(),
            })
        })?
    }

    /// Those of `states` in which no transition can fire.
    pub fn deadlocks(&self, states: &Mdd) -> Result<Mdd, Error> {
        self.events.iter().try_fold(states.clone(), |left, &event| left.disabled(event))
    }
}

/// The figures of some markings: of all that is known after one pass over their diagram, only transitions take a while.
pub struct NetSurvey<'a> {
    system: &'a NetSystem,
    survey: &'a Survey<'a>,
}

impl NetSurvey<'_> {
    /// Markings.
    #[must_use]
    pub fn states(&self) -> &UBig {
        self.survey.vectors()
    }

    /// Nodes of the diagram.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.survey.nodes()
    }

    /// The most tokens that are ever in one place.
    #[must_use]
    pub fn max_tokens_in_place(&self) -> u128 {
        let Encoding { variables, constants, .. } = &self.system.encoding;
        let greatest = variables.iter().zip(self.survey.greatest_values());
        let variable = greatest.map(|(variable, &value)| variable.tokens(value));
        let constant = constants.iter().map(|&(_, tokens)| u128::from(tokens));
        variable.chain(constant).max().unwrap_or(0)
    }

    /// The most tokens that one of the markings has.
    #[must_use]
    pub fn max_tokens_per_marking(&self) -> u128 {
        self.survey.greatest_sum().unwrap_or(0) + self.system.encoding.constant_tokens()
    }

    /// Pairs of a marking and a transition that can fire in it.
    pub fn transitions(&self) -> Result<UBig, Error> {
        self.survey.possible(&self.system.events)
    }
}

impl Space for NetSystem {
    type Set = Mdd;

    fn initial(&self) -> Mdd {
        self.initial.clone()
    }
    fn nothing(&self) -> Mdd {
        self.manager.empty()
    }
    fn relations(&self) -> usize {
        self.events.len()
    }
    fn next(&self, set: &Mdd, relation: usize) -> Result<Mdd, Error> {
        set.fire(self.events[relation])
    }
    fn next_of_all(&self, set: &Mdd) -> Result<Mdd, Error> {
        self.new_images(set, &self.nothing())
    }
    fn new_images(&self, set: &Mdd, known: &Mdd) -> Result<Mdd, Error> {
        let add = |found: Mdd, &event| found.union(&set.fire(event)?.minus(known)?);
        self.events.iter().try_fold(self.nothing(), add)
    }
    fn union(&self, a: &Mdd, b: &Mdd) -> Result<Mdd, Error> {
        a.union(b)
    }
    fn minus(&self, a: &Mdd, b: &Mdd) -> Result<Mdd, Error> {
        a.minus(b)
    }
}
