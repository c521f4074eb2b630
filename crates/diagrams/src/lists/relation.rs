//! Handles on compiled relations.

use super::compile::Transitions;
use super::steps::{Closure, Step};
use crate::error::Error;
use crate::manager::{Manager, parameter};

/// A transition relation compiled by [`Manager::list_relation`].
#[derive(Clone)]
pub struct ListRelation {
    pub(super) manager: Manager,
    pub(super) length: u32,
    /// The step at the first level that it touches.
    top: u32,
    /// The step at the first level of all.
    pub(super) root: u32,
}

impl ListRelation {
    /// The first level that the relation tests or changes; none if it never fires or changes nothing.
    pub fn level(&self) -> Option<u32> {
        let core = self.manager.core.borrow();
        (!self.is_empty() && self.top != Step::IDENTITY).then(|| core.env.lists.step(self.top).level)
    }

    /// Number of steps in compiled form.
    pub fn size(&self) -> usize {
        self.manager.core.borrow().env.lists.size(self.top)
    }

    /// Is there no transition at all?
    pub fn is_empty(&self) -> bool {
        self.top == Step::EMPTY
    }
}

/// Several relations, whose images or closures are computed together.
#[derive(Clone)]
pub struct ListBundle {
    pub(super) manager: Manager,
    pub(super) length: u32,
    pub(super) system: u32,
    /// Does one of them change nothing?
    pub(super) has_identity: bool,
}

impl ListBundle {
    /// Levels at which relations begin, ascending.
    pub fn levels(&self) -> Vec<u32> {
        let core = self.manager.core.borrow();
        let events = &core.env.lists.system(self.system).events;
        (0..).zip(events).filter(|&(_, &event)| event != Step::EMPTY).map(|(level, _)| level).collect()
    }

    /// The number of the closure under the relations that begin at `from` or below.
    pub(super) fn closure(&self, from: u32) -> Result<u32, Error> {
        let lists = &mut self.manager.core.borrow_mut().env.lists;
        parameter(lists.closure_number(Closure { system: self.system, from }))
    }
}

/// Several relations whose images are computed side by side.
#[derive(Clone)]
pub struct ListTree {
    pub(super) manager: Manager,
    pub(super) length: u32,
    pub(super) number: u32,
}

impl Manager {
    /// Compile a transition relation for [`Ldd::relnext`](crate::Ldd::relnext).
    pub fn list_relation(&self, transitions: Transitions<'_>) -> Result<ListRelation, Error> {
        let core = &mut *self.core.borrow_mut();
        let length = transitions.length;
        core.use_levels(length as usize)?;
        let steps = &mut core.env.lists;
        let top = transitions.compile(steps)?;
        let root = match top {
            Step::EMPTY | Step::IDENTITY => top,
            _ => steps.raise(top, steps.step(top).level, 0),
        };
        // Steps are parameters of pre-images.
        parameter(root)?;
        core.lease_relations()?;
        Ok(ListRelation { manager: self.clone(), length, top, root })
    }

    /// All belong to this manager, and are about vectors of one length: this one.
    fn common_length(&self, relations: &[ListRelation]) -> Result<u32, Error> {
        if relations.iter().any(|relation| !self.is(&relation.manager)) {
            return Err(Error::DifferentManagers);
        }
        let length = relations.first().map_or(0, |relation| relation.length);
        let same = relations.iter().all(|relation| relation.length == length);
        if same { Ok(length) } else { Err(Error::DifferentLengths) }
    }

    /// Put relations together for [`Ldd::relnext_all`](crate::Ldd::relnext_all) and
    /// [`Ldd::saturate`](crate::Ldd::saturate).
    pub fn list_bundle(&self, relations: &[ListRelation]) -> Result<ListBundle, Error> {
        let length = self.common_length(relations)?;
        let tops: Vec<u32> = relations.iter().map(|relation| relation.top).collect();
        let core = &mut *self.core.borrow_mut();
        let system = parameter(core.env.lists.put_together(&tops, length))?;
        core.lease_relations()?;
        let has_identity = tops.contains(&Step::IDENTITY);
        Ok(ListBundle { manager: self.clone(), length, system, has_identity })
    }

    /// Arrange relations for [`Ldd::relnext_new`](crate::Ldd::relnext_new).
    pub fn list_tree(&self, relations: &[ListRelation]) -> Result<ListTree, Error> {
        let length = self.common_length(relations)?;
        let roots: Vec<u32> = relations.iter().map(|relation| relation.root).collect();
        let number = self.core.borrow_mut().env.relations.plant(&roots);
        Ok(ListTree { manager: self.clone(), length, number })
    }
}
