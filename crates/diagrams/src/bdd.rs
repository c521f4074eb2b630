//! Handles on functions and everything one can do with them.

use crate::assignments::Assignments;
use crate::count;
use crate::env::Permutation;
use crate::error::Error;
use crate::manager::{Core, Manager, Relation, RelationBundle, RelationTree};
use crate::ops::and::{and, or};
use crate::ops::image::{image, image_of_all, new_images};
use crate::ops::new_image::NewImage;
use crate::ops::permute::permute;
use crate::ops::quantify::exists;
use crate::ops::restrict::restrict;
use crate::ops::saturate::saturate;
use crate::ops::xor::xor;
use crate::task::Task;
use dashu_int::UBig;
use std::cell::RefMut;
use std::collections::BTreeSet;
use tremula_table::Ref;

/// A Boolean function, protected from collection while the handle lives.
///
/// Two handles of one manager are equal exactly when their functions are.
pub struct Bdd {
    pub(crate) manager: Manager,
    pub(crate) slot: u32,
}

impl Clone for Bdd {
    fn clone(&self) -> Bdd {
        self.manager.core.borrow_mut().table.handles_mut().share(self.slot);
        Bdd { manager: self.manager.clone(), slot: self.slot }
    }
}

impl Drop for Bdd {
    fn drop(&mut self) {
        self.manager.core.borrow_mut().table.handles_mut().close(self.slot);
    }
}

impl PartialEq for Bdd {
    fn eq(&self, other: &Bdd) -> bool {
        self.manager.is(&other.manager) && self.target() == other.target()
    }
}

impl Eq for Bdd {}

impl std::fmt::Debug for Bdd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Bdd({:?})", self.target())
    }
}

impl std::ops::Not for &Bdd {
    type Output = Bdd;
    fn not(self) -> Bdd {
        self.manager.handle(!self.target())
    }
}

impl std::ops::Not for Bdd {
    type Output = Bdd;
    fn not(self) -> Bdd {
        !&self
    }
}

impl Bdd {
    pub(crate) fn target(&self) -> Ref {
        self.manager.core.borrow().table.handles().get(self.slot)
    }

    fn core(&self) -> RefMut<'_, Core> {
        self.manager.core.borrow_mut()
    }

    /// References of this and another function, if both belong to one manager.
    fn with(&self, other: &Bdd) -> Result<(Ref, Ref), Error> {
        if self.manager.is(&other.manager) {
            Ok((self.target(), other.target()))
        } else {
            Err(Error::DifferentManagers)
        }
    }

    /// The manager this function lives in.
    pub fn manager(&self) -> &Manager {
        &self.manager
    }

    /// `self ∧ other`.
    pub fn and(&self, other: &Bdd) -> Result<Bdd, Error> {
        let (f, g) = self.with(other)?;
        self.manager.solve(and(f, g))
    }

    /// `self ∨ other`.
    pub fn or(&self, other: &Bdd) -> Result<Bdd, Error> {
        let (f, g) = self.with(other)?;
        self.manager.solve(or(f, g))
    }

    /// `self ⊕ other`.
    pub fn xor(&self, other: &Bdd) -> Result<Bdd, Error> {
        let (f, g) = self.with(other)?;
        self.manager.solve(xor(f, g))
    }

    /// `self ∧ ¬other`.
    pub fn minus(&self, other: &Bdd) -> Result<Bdd, Error> {
        let (f, g) = self.with(other)?;
        self.manager.solve(and(f, !g))
    }

    /// `self → other`.
    pub fn implies(&self, other: &Bdd) -> Result<Bdd, Error> {
        let (f, g) = self.with(other)?;
        self.manager.solve(or(!f, g))
    }

    /// `self ↔ other`.
    pub fn equiv(&self, other: &Bdd) -> Result<Bdd, Error> {
        let (f, g) = self.with(other)?;
        self.manager.solve(xor(f, !g))
    }

    /// `if self then yes else no`.
    pub fn ite(&self, yes: &Bdd, no: &Bdd) -> Result<Bdd, Error> {
        let ((f, g), (_, h)) = (self.with(yes)?, self.with(no)?);
        self.manager.run(Task::IteOf(f, g, h))
    }

    /// Some value of the variables at `levels` makes the function true.
    pub fn exists(&self, levels: &[u32]) -> Result<Bdd, Error> {
        let set = self.core().var_set(levels)?;
        let f = self.target();
        self.manager.solve(exists(f, set))
    }

    /// All values of the variables at `levels` make the function true.
    pub fn forall(&self, levels: &[u32]) -> Result<Bdd, Error> {
        let set = self.core().var_set(levels)?;
        let f = self.target();
        self.manager.solve(exists(!f, set).negated())
    }

    /// `∃ levels. self ∧ other`, without building the conjunction.
    pub fn and_exists(&self, other: &Bdd, levels: &[u32]) -> Result<Bdd, Error> {
        let (f, g) = self.with(other)?;
        let set = self.core().var_set(levels)?;
        self.manager.run(Task::AndExistsOf(f, g, set))
    }

    /// States reached from this set by one transition of `relation`.
    pub fn relnext(&self, relation: &Relation) -> Result<Bdd, Error> {
        self.same_manager(&relation.manager)?;
        let f = self.target();
        self.manager.solve(image::<true>(f, relation.number))
    }

    /// States from which one transition of `relation` leads into this set.
    pub fn relprev(&self, relation: &Relation) -> Result<Bdd, Error> {
        self.same_manager(&relation.manager)?;
        let f = self.target();
        self.manager.solve(image::<false>(f, relation.number))
    }

    /// States reached from this set by one transition of any relation of `bundle`.
    pub fn relnext_all(&self, bundle: &RelationBundle) -> Result<Bdd, Error> {
        self.same_manager(&bundle.manager)?;
        let f = self.target();
        self.manager.solve(image_of_all(f, bundle.number))
    }

    /// States outside `known` reached from this set by one transition: each relation of `tree` by itself, then unions.
    pub fn relnext_new(&self, tree: &RelationTree, known: &Bdd) -> Result<Bdd, Error> {
        self.same_manager(&tree.manager)?;
        let (f, known) = self.with(known)?;
        self.manager.solve(new_images::<false>(f, known, tree.number))
    }

    /// The same set as [`Bdd::relnext_new`] finds, by walks that go through `known` at the same time. States that are known are never
    /// made then, but no result of a call with other known states is of use. Without room for the numbers of relations in the
    /// operation cache it is the same way, too.
    pub fn relnext_new_within(&self, tree: &RelationTree, known: &Bdd) -> Result<Bdd, Error> {
        self.same_manager(&tree.manager)?;
        if !NewImage::has_keys(self.core().env.relations.end_of_numbers()) {
            return self.relnext_new(tree, known);
        }
        let (f, known) = self.with(known)?;
        self.manager.solve(new_images::<true>(f, known, tree.number))
    }

    /// States reached from this set by any number of transitions of the relations of `bundle`.
    pub fn saturate(&self, bundle: &RelationBundle) -> Result<Bdd, Error> {
        self.same_manager(&bundle.manager)?;
        let f = self.target();
        self.manager.solve(saturate(f, bundle.number))
    }

    fn same_manager(&self, other: &Manager) -> Result<(), Error> {
        if self.manager.is(other) { Ok(()) } else { Err(Error::DifferentManagers) }
    }

    /// Rename variables by pairs (from, to), simultaneously; the order may change.
    pub fn rename(&self, pairs: &[(u32, u32)]) -> Result<Bdd, Error> {
        let permutation = Permutation::new(pairs.iter().copied()).ok_or(Error::NotAPermutation)?;
        let collision = |&&level: &&u32| {
            permutation.apply(level) == level
                && permutation.targets().any(|target| target == level)
                && !pairs.contains(&(level, level))
        };
        if let Some(&level) = self.support()?.iter().find(collision) {
            return Err(Error::RenamingCollides { level });
        }
        let number = self.core().permutation(permutation)?;
        let f = self.target();
        self.manager.solve(permute(f, number))
    }

    /// Substitute `g` for the variable at `level`.
    pub fn compose(&self, level: u32, g: &Bdd) -> Result<Bdd, Error> {
        let (f, g) = self.with(g)?;
        self.core().use_level(level)?;
        self.manager.run(Task::ComposeOf(f, level, g))
    }

    /// A function that agrees with this one wherever `care` holds, and is often smaller.
    pub fn restrict(&self, care: &Bdd) -> Result<Bdd, Error> {
        let (f, care) = self.with(care)?;
        if care == Ref::FALSE {
            return Err(Error::EmptyCareSet);
        }
        self.manager.solve(restrict(f, care))
    }

    /// Fix variables to values.
    pub fn cofactor(&self, literals: &[(u32, bool)]) -> Result<Bdd, Error> {
        self.restrict(&self.manager.cube(literals)?)
    }

    /// Is it a constant, and which?
    pub fn as_constant(&self) -> Option<bool> {
        let f = self.target();
        f.is_terminal().then_some(f == Ref::TRUE)
    }

    /// Is it false everywhere?
    pub fn is_false(&self) -> bool {
        self.target() == Ref::FALSE
    }

    /// Is it true everywhere?
    pub fn is_true(&self) -> bool {
        self.target() == Ref::TRUE
    }

    /// Level of the topmost variable; none for constants.
    pub fn level(&self) -> Option<u32> {
        let f = self.target();
        (!f.is_terminal()).then(|| self.manager.core.borrow().table.level(f))
    }

    /// Both cofactors at the topmost variable (low, high); none for constants.
    pub fn children(&self) -> Option<(Bdd, Bdd)> {
        let f = self.target();
        if f.is_terminal() {
            return None;
        }
        let node = self.manager.core.borrow().table.node(f);
        Some((self.manager.handle(node.low.under(f)), self.manager.handle(node.high.under(f))))
    }

    /// Levels that the function depends on, ascending.
    pub fn support(&self) -> Result<Vec<u32>, Error> {
        let core = self.manager.core.borrow();
        let (marks, _) = core.table.reachable(&[self.target()])?;
        let levels: BTreeSet<u32> =
            marks.iter().skip(1).map(|position| core.table.level(Ref::new(position, false))).collect();
        Ok(levels.into_iter().collect())
    }

    /// Number of nodes, without the terminal.
    pub fn node_count(&self) -> Result<usize, Error> {
        self.manager.shared_node_count(&[self])
    }

    /// Exact number of assignments to the variables at `levels` that satisfy the function.
    pub fn count(&self, levels: &[u32]) -> Result<UBig, Error> {
        let mut levels = levels.to_vec();
        levels.sort_unstable();
        levels.dedup();
        let f = self.target();
        let core = &mut *self.core();
        let workers = core.workers();
        count::count(&mut core.table, workers, f, &levels)
    }

    /// Value of the function where `value` tells each variable's.
    pub fn eval(&self, mut value: impl FnMut(u32) -> bool) -> bool {
        let core = self.manager.core.borrow();
        let mut f = self.target();
        while !f.is_terminal() {
            let node = core.table.node(f);
            f = if value(node.level) { node.high } else { node.low }.under(f);
        }
        f == Ref::TRUE
    }

    /// The lexicographically smallest satisfying assignment to `levels` (ascending; false before true), if there is one.
    pub fn pick(&self, levels: &[u32]) -> Result<Option<Vec<bool>>, Error> {
        Ok(self.assignments(levels)?.next())
    }

    /// All satisfying assignments to `levels`, in lexicographic order, one at a time.
    ///
    /// Variables of the function outside `levels` are an error.
    pub fn assignments(&self, levels: &[u32]) -> Result<Assignments, Error> {
        Assignments::new(self.clone(), levels)
    }
}
