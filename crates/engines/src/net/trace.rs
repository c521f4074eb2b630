//! A way from the initial marking to one of some others, in as few firings as possible, or just some way.
//!
//! Forwards, sets of markings by distance, or transition after transition on all that is known; backwards, from one that was
//! looked for, a predecessor in the set before, and so on. What comes out is fired on the net itself before anybody is told.

use super::system::NetSystem;
use crate::space::Space;
use tremula_diagrams::Error;
use tremula_diagrams::mdd::{Event, Mdd};
use tremula_models::PetriNet;

/// Firings that lead to a marking.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// The indices of transitions, in the order in which they fire.
    pub firings: Vec<usize>,
    /// Tokens of all places in the end.
    pub marking: Vec<u128>,
}

impl NetSystem {
    /// A shortest way from the initial marking to one of `targets`, if there is one.
    pub fn shortest_trace(&self, targets: &Mdd) -> Result<Option<Trace>, Error> {
        let mut distances = vec![self.initial.clone()];
        let mut known = self.initial.clone();
        loop {
            let newest = &distances[distances.len() - 1];
            let found = newest.intersection(targets)?;
            if let Some(values) = found.vectors().next() {
                return self.walk_back(&distances, values).map(Some);
            }
            let next = self.new_images(newest, &known)?;
            if next.is_empty() {
                return Ok(None);
            }
            known = known.union(&next)?;
            distances.push(next);
        }
    }

    /// Some way from the initial marking to one of `targets`, if there is one. It may be long, and is found soon: there are
    /// mostly far fewer rounds of all transitions than steps on a shortest way.
    pub fn any_trace(&self, targets: &Mdd) -> Result<Option<Trace>, Error> {
        let mut known = self.initial.clone();
        // What was known before an event found more, and the event.
        let mut history: Vec<(Mdd, usize)> = Vec::new();
        loop {
            if let Some(values) = known.intersection(targets)?.vectors().next() {
                return self.unwind(&history, values).map(Some);
            }
            let steps = history.len();
            for (number, &event) in self.events.iter().enumerate() {
                let next = known.union(&known.fire(event)?)?;
                if next != known {
                    history.push((std::mem::replace(&mut known, next), number));
                }
            }
            if history.len() == steps {
                return Ok(None);
            }
        }
    }

    /// From a marking back to the initial one: an event has fired where the marking was not known before.
    fn unwind(&self, history: &[(Mdd, usize)], values: Vec<u32>) -> Result<Trace, Error> {
        let marking = self.encoding.marking(&values);
        let mut at = self.manager.vector(&values)?;
        let mut firings = Vec::new();
        for (before, event) in history.iter().rev() {
            if !at.minus(before)?.is_empty() {
                let back = [self.manager.reversed(self.events[*event])?];
                let (_, predecessor) = self.predecessor(&at, before, &back)?;
                firings.push(self.transitions[*event] as usize);
                at = predecessor;
            }
        }
        firings.reverse();
        Ok(Trace { firings, marking })
    }

    /// From a marking of the last set to the initial one, by markings of the sets between.
    fn walk_back(&self, distances: &[Mdd], values: Vec<u32>) -> Result<Trace, Error> {
        let marking = self.encoding.marking(&values);
        let back: Vec<Option<Event>> =
            self.events.iter().map(|&event| self.manager.reversed(event)).collect::<Result<_, _>>()?;
        let mut at = self.manager.vector(&values)?;
        let mut firings = Vec::new();
        for before in distances.iter().rev().skip(1) {
            let (event, predecessor) = self.predecessor(&at, before, &back)?;
            firings.push(self.transitions[event] as usize);
            at = predecessor;
        }
        firings.reverse();
        Ok(Trace { firings, marking })
    }

    /// A marking of `before` from which an event leads to the only one of `at`, and the number of the event.
    fn predecessor(&self, at: &Mdd, before: &Mdd, back: &[Option<Event>]) -> Result<(usize, Mdd), Error> {
        for (number, event) in back.iter().enumerate().filter_map(|(number, event)| Some((number, (*event)?))) {
            let sources = at.fire(event)?.intersection(before)?;
            if let Some(values) = sources.vectors().next() {
                return Ok((number, self.manager.vector(&values)?));
            }
        }
        unreachable!("markings that an event has found have predecessors among those before")
    }
}

impl Trace {
    /// Does the net fire so, and end with this marking?
    #[must_use]
    pub fn holds(&self, net: &PetriNet) -> bool {
        let mut marking: Vec<u128> = net.places.iter().map(|place| place.initial.into()).collect();
        for &number in &self.firings {
            let Some(transition) = net.transitions.get(number) else { return false };
            for arc in &transition.inputs {
                let tokens = &mut marking[arc.place as usize];
                match tokens.checked_sub(arc.weight.into()) {
                    Some(left) => *tokens = left,
                    None => return false,
                }
            }
            transition.outputs.iter().for_each(|arc| marking[arc.place as usize] += u128::from(arc.weight));
        }
        marking == self.marking
    }
}
