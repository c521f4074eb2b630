//! Saturation: sets closed under events, from the last level up.
//!
//! A node is *closed* if no event whose first change is at its level or further down leads out of its set. A node with
//! closed children becomes closed by letting the events that begin at its level move what is below one value to another,
//! again and again until nothing is new. The union of closed nodes is closed.
//!
//! - Events are swept over the values in the direction in which they move them, so that one sweep carries a change as
//!   far as the event can carry it.
//! - An event looks only at values below which something has changed since it looked last.
//! - Images are closed either node by node, as soon as each is made (*early*), or as a whole once they are united with
//!   what was known before. Neither is better everywhere.

use super::core::{Core, with_stack};
use super::event::{Event, Step};
use super::fire::FIRST_FREE;
use crate::error::Error;
use tremula_table::{Branch, Forest, MemoKind, Operation, Question};

/// A way to saturate.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Saturation {
    /// Close each node of an image as soon as it is made.
    pub early: bool,
}

/// Operations of one closure; another closure has other events, so its results must not be confused with these.
#[derive(Copy, Clone)]
struct Operations {
    closed: Operation,
    closed_image: Operation,
}

/// Events that begin at one level.
#[derive(Default)]
struct AtLevel {
    /// Those that several values allow.
    wide: Vec<Step>,
    /// Those that only one value allows, by this value.
    pointed: Vec<Vec<Step>>,
}

impl AtLevel {
    fn is_empty(&self) -> bool {
        self.wide.is_empty() && self.pointed.is_empty()
    }

    fn add(&mut self, step: Step) {
        let value = step.change.least as usize;
        let list = if step.change.least < step.change.most || value >= MOST_POINTS {
            &mut self.wide
        } else {
            if self.pointed.len() <= value {
                self.pointed.resize_with(value + 1, Vec::new);
            }
            &mut self.pointed[value]
        };
        if !list.contains(&step) {
            list.push(step);
        }
    }
}

/// Greater values have no list of events of their own.
const MOST_POINTS: usize = 1 << 16;

/// Events by the level of their first change.
pub struct Closure {
    events: Vec<AtLevel>,
    operations: Operations,
    early: bool,
}

/// Where an event has taken a value's states.
enum Landing {
    /// Nothing was new.
    Nothing,
    /// To a value that was there before.
    Known,
    /// To a new value before this one.
    NewBefore,
    /// To a new value after this one.
    NewAfter,
}

impl Closure {
    /// Prepare for closing sets under `events`.
    pub fn new(core: &mut Core, events: &[Event], saturation: Saturation) -> Closure {
        let mut by_level: Vec<AtLevel> = core.frames.iter().map(|_| AtLevel::default()).collect();
        for &event in events.iter().filter(|&&event| event != Event::NOTHING) {
            let step = core.events.first(event);
            by_level[step.change.level as usize].add(step);
        }
        core.closures += 1;
        let number = FIRST_FREE + 2 * core.closures;
        let operations =
            Operations { closed: Operation::on_node(number), closed_image: Operation::on_node(number + 1) };
        Closure { events: by_level, operations, early: saturation.early }
    }

    /// The smallest closed set that contains `set`.
    pub fn close(&self, core: &mut Core, set: u32, level: usize) -> Result<u32, Error> {
        if set <= Forest::TERMINAL {
            return Ok(set);
        }
        let question = Question { node: set, other: 0, operation: self.operations.closed };
        if let Some(known) = core.forest.recall(MemoKind::Closures, &question) {
            return Ok(known);
        }
        let result = with_stack(level, || {
            let shape = core.forest.shape(set);
            for n in 0..shape.len {
                let Branch { value, child } = core.forest.branch(&shape, n);
                let child = self.close(core, child, level + 1)?;
                core.add_branch(level, value, child);
            }
            self.close_frame(core, level)
        })?;
        core.forest.remember(MemoKind::Closures, &question, result);
        if result != set {
            core.forest.remember(MemoKind::Closures, &Question { node: result, ..question }, result);
        }
        Ok(result)
    }

    /// Close the node in the making at `level`, whose children are closed.
    ///
    /// Different images often lead to the same node at this point, so it is worth making and remembering.
    pub fn close_frame(&self, core: &mut Core, level: usize) -> Result<u32, Error> {
        let open = core.pack(level)?;
        if open == Forest::EMPTY || self.events[level].is_empty() {
            return Ok(open);
        }
        let question = Question { node: open, other: 1, operation: self.operations.closed };
        if let Some(known) = core.forest.recall(MemoKind::Closures, &question) {
            return Ok(known);
        }
        core.load_frame(level, open);
        // Kept to the end: what is remembered of a node that is gone would be told of another one in its place.
        let result = core.keeping(open, |core| {
            self.run_events(core, level)?;
            core.pack(level)
        })?;
        core.forest.remember(MemoKind::Closures, &question, result);
        if result != open {
            core.forest.remember(MemoKind::Closures, &Question { node: result, ..question }, result);
        }
        Ok(result)
    }

    /// Let the events that begin at `level` work on its frame until nothing is new.
    fn run_events(&self, core: &mut Core, level: usize) -> Result<(), Error> {
        let AtLevel { wide, pointed } = &self.events[level];
        core.frames[level].start_clocks(wide.len());
        let mut clock = 1;
        loop {
            let before = clock;
            for (number, step) in wide.iter().enumerate() {
                if core.frames[level].looked[number] < clock {
                    self.sweep(core, level, number, step, &mut clock)?;
                    core.frames[level].looked[number] = clock;
                }
            }
            self.run_pointed(core, level, pointed, &mut clock)?;
            if clock == before {
                return Ok(());
            }
        }
    }

    /// Let the events of each value work that has changed since they did.
    fn run_pointed(&self, core: &mut Core, level: usize, events: &[Vec<Step>], clock: &mut u32) -> Result<(), Error> {
        let mut at = 0;
        while let Some(&Branch { value, .. }) = core.frames[level].branches.get(at) {
            let frame = &mut core.frames[level];
            if let Some(steps) = events.get(value as usize)
                && frame.changed[at] > frame.fired[at]
            {
                frame.fired[at] = *clock;
                for step in steps {
                    if let Landing::NewBefore = self.move_states(core, level, at, step, clock)? {
                        at += 1;
                    }
                }
            }
            at += 1;
        }
        Ok(())
    }

    /// Let one event move what is below each value, in its direction.
    fn sweep(&self, core: &mut Core, level: usize, number: usize, step: &Step, clock: &mut u32) -> Result<(), Error> {
        let looked = core.frames[level].looked[number];
        let first_above =
            |core: &Core, bound: u32| core.frames[level].branches.partition_point(|branch| branch.value <= bound);
        if step.change.delta > 0 {
            let mut at = step.change.least.checked_sub(1).map_or(0, |below| first_above(core, below));
            while let Some(branch) = core.frames[level].branches.get(at)
                && branch.value <= step.change.most
            {
                if core.frames[level].changed[at] > looked {
                    self.move_states(core, level, at, step, clock)?;
                }
                at += 1;
            }
            return Ok(());
        }
        let mut at = first_above(core, step.change.most);
        while at > 0 && core.frames[level].branches[at - 1].value >= step.change.least {
            at -= 1;
            if core.frames[level].changed[at] <= looked {
                continue;
            }
            match self.move_states(core, level, at, step, clock)? {
                // This value has moved up by one place.
                Landing::NewBefore => at += 1,
                // Without a direction the value itself has changed: look again until it has not.
                Landing::Known if step.change.delta == 0 => at += 1,
                _ => {}
            }
        }
        Ok(())
    }

    /// Add what an event makes of the states below one value to what is below another.
    #[inline]
    fn move_states(
        &self,
        core: &mut Core,
        level: usize,
        at: usize,
        step: &Step,
        clock: &mut u32,
    ) -> Result<Landing, Error> {
        if step.rest == Event::NOTHING {
            core.step_in_frame()?;
        }
        let Branch { value, child } = core.frames[level].branches[at];
        let image = self.image(core, child, step.rest, level + 1)?;
        if image == Forest::EMPTY {
            return Ok(Landing::Nothing);
        }
        let target = step.change.apply(value)?;
        let place = core.frames[level].branches.binary_search_by_key(&target, |branch| branch.value);
        let before = place.map_or(Forest::EMPTY, |place| core.frames[level].branches[place].child);
        let after = core.keeping(image, |core| self.add_image(core, before, image, step.rest, level + 1))?;
        if after == before {
            return Ok(Landing::Nothing);
        }
        *clock += 1;
        let frame = &mut core.frames[level];
        match place {
            Ok(place) => {
                frame.branches[place].child = after;
                frame.changed[place] = *clock;
                Ok(Landing::Known)
            }
            Err(place) => {
                frame.branches.insert(place, Branch { value: target, child: after });
                frame.changed.insert(place, *clock);
                frame.fired.insert(place, 0);
                core.frame_has_grown(level)?;
                Ok(if place <= at { Landing::NewBefore } else { Landing::NewAfter })
            }
        }
    }

    /// What `event` makes of a closed set; closed too if that is done early.
    #[inline]
    fn image(&self, core: &mut Core, set: u32, event: Event, level: usize) -> Result<u32, Error> {
        if self.early { self.closed_image(core, set, event, level) } else { core.fire(set, event, level) }
    }

    /// The closed union of a closed set and an image under `event`.
    #[inline]
    fn add_image(&self, core: &mut Core, set: u32, image: u32, event: Event, level: usize) -> Result<u32, Error> {
        let union = core.union(set, image, level)?;
        if self.early || union == set || event == Event::NOTHING {
            return Ok(union);
        }
        core.keeping(union, |core| self.close(core, union, level))
    }

    /// The closed image of a closed set, each node closed as soon as it is made.
    fn closed_image(&self, core: &mut Core, set: u32, event: Event, level: usize) -> Result<u32, Error> {
        if event == Event::NOTHING || set == Forest::EMPTY {
            return Ok(set);
        }
        let question = Question { node: set, other: event.0, operation: self.operations.closed_image };
        if let Some(known) = core.forest.recall(MemoKind::Events, &question) {
            return Ok(known);
        }
        let result = with_stack(level, || {
            let mut below = |core: &mut Core, set, event, level| self.closed_image(core, set, event, level);
            core.fire_branches(set, event, level, &mut below)?;
            self.close_frame(core, level)
        })?;
        core.forest.remember(MemoKind::Events, &question, result);
        Ok(result)
    }
}
