//! Events: what they ask of variables and do to them, with common endings stored once.

use crate::error::Error;
use rustc_hash::FxHashMap;

/// What an event does to one variable.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Change {
    /// The variable.
    pub level: u32,
    /// The least value with which the event is possible.
    pub least: u32,
    /// The greatest value with which the event is possible.
    pub most: u32,
    /// What is added to the value.
    pub delta: i64,
}

impl Change {
    /// Is the event possible with this value?
    #[inline]
    pub fn allows(&self, value: u32) -> bool {
        (self.least..=self.most).contains(&value)
    }

    /// The value afterwards.
    #[inline]
    pub fn apply(&self, value: u32) -> Result<u32, Error> {
        let after = i64::from(value).checked_add(self.delta).and_then(|after| u32::try_from(after).ok());
        after.ok_or(Error::ValueTooLarge { level: self.level })
    }

    fn is_identity(&self) -> bool {
        *self == Change { level: self.level, least: 0, most: u32::MAX, delta: 0 }
    }
}

/// An event that a manager knows: the number of its first change.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Event(pub(super) u32);

impl Event {
    /// The event that changes nothing and is always possible.
    pub const NOTHING: Event = Event(0);
}

/// A change and the rest of the event, further down.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Step {
    pub change: Change,
    pub rest: Event,
}

/// All events of a manager.
#[derive(Default)]
pub struct Events {
    steps: Vec<Step>,
    numbers: FxHashMap<Step, Event>,
}

impl Events {
    /// The event with these changes, which ascend by level.
    pub fn event(&mut self, changes: &[Change]) -> Result<Event, Error> {
        if !changes.is_sorted_by(|a, b| a.level < b.level) {
            return Err(Error::UnorderedChanges);
        }
        if changes
            .iter()
            .any(|change| change.least > change.most || i64::from(change.least).saturating_add(change.delta) < 0)
        {
            return Err(Error::ImpossibleChange);
        }
        let matter = changes.iter().rev().filter(|change| !change.is_identity());
        Ok(matter.fold(Event::NOTHING, |rest, &change| self.step(Step { change, rest })))
    }

    fn step(&mut self, step: Step) -> Event {
        *self.numbers.entry(step).or_insert_with(|| {
            self.steps.push(step);
            Event(self.steps.len() as u32)
        })
    }

    /// Memory for all of them, as far as it is known here: a hash map has a byte for each entry besides, and room for more.
    pub fn bytes(&self) -> usize {
        let entries = self.numbers.capacity() * 8 / 7;
        self.steps.capacity() * size_of::<Step>() + entries * (size_of::<(Step, Event)>() + 1)
    }

    /// The first step of an event that is not [`Event::NOTHING`].
    #[inline]
    pub fn first(&self, event: Event) -> Step {
        self.steps[event.0 as usize - 1]
    }

    /// All changes of an event, from above.
    pub fn changes(&self, event: Event) -> impl Iterator<Item = Change> + '_ {
        let mut event = event;
        std::iter::from_fn(move || {
            (event != Event::NOTHING).then(|| {
                let step = self.first(event);
                event = step.rest;
                step.change
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(level: u32, least: u32, delta: i64) -> Change {
        Change { level, least, most: u32::MAX, delta }
    }

    #[test]
    fn endings_are_shared_and_identities_vanish() {
        let mut events = Events::default();
        let a = events.event(&[change(0, 1, -1), change(3, 0, 1)]).unwrap();
        let b = events.event(&[change(1, 2, -2), change(2, 0, 0), change(3, 0, 1)]).unwrap();
        assert_eq!(events.steps.len(), 3);
        assert_eq!(events.changes(b).collect::<Vec<_>>(), [change(1, 2, -2), change(3, 0, 1)]);
        assert_eq!(events.event(&[change(0, 1, -1), change(3, 0, 1)]), Ok(a));
        assert_eq!(events.event(&[change(7, 0, 0)]), Ok(Event::NOTHING));
    }

    #[test]
    fn nonsense_is_refused() {
        let mut events = Events::default();
        assert_eq!(events.event(&[change(2, 0, 1), change(2, 0, 1)]), Err(Error::UnorderedChanges));
        assert_eq!(events.event(&[change(2, 1, -2)]), Err(Error::ImpossibleChange));
        assert_eq!(events.event(&[Change { level: 0, least: 2, most: 1, delta: 0 }]), Err(Error::ImpossibleChange));
    }
}
