//! Handles on sets of vectors, and everything one can do with them.

use super::count;
use super::relation::{ListBundle, ListRelation, ListTree};
use super::vectors::Vectors;
use crate::bdd::Bdd;
use crate::env::Env;
use crate::error::Error;
use crate::exec::{Call, Operation};
use crate::manager::{Core, Manager, parameter};
use crate::ops::lists::image::{list_next, list_next_of_all, list_previous, new_lists};
use crate::ops::lists::intersect::intersect;
use crate::ops::lists::minus::subtract;
use crate::ops::lists::project::project;
use crate::ops::lists::saturate::list_saturate;
use crate::ops::lists::select::select;
use crate::ops::lists::unite;
use dashu_int::UBig;
use tremula_table::Ref;

/// A set of vectors of numbers, all equally long, protected from collection while the handle lives.
///
/// Two handles of one manager are equal exactly when their sets are.
#[derive(Clone, PartialEq, Eq)]
pub struct Ldd {
    /// A slot protects nodes of any kind.
    root: Bdd,
}

impl std::fmt::Debug for Ldd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ldd({:?})", self.target())
    }
}

impl Manager {
    pub(super) fn list_handle(&self, set: Ref) -> Ldd {
        Ldd { root: self.handle(set) }
    }

    pub(super) fn list_in(&self, slot: u32) -> Ldd {
        Ldd { root: Bdd { manager: self.clone(), slot } }
    }
}

impl Ldd {
    pub(super) fn target(&self) -> Ref {
        self.root.target()
    }

    /// The manager this set lives in.
    pub fn manager(&self) -> &Manager {
        &self.root.manager
    }

    /// Run an operation that begins with `call`.
    fn solve<O: Operation>(&self, call: impl FnOnce(&Env) -> Call<O>) -> Result<Ldd, Error> {
        let call = call(&self.manager().core.borrow().env);
        Ok(Ldd { root: self.manager().solve(call)? })
    }

    /// How long the vectors are; none for the empty set.
    pub fn length(&self) -> Option<usize> {
        let core = self.manager().core.borrow();
        let mut set = self.target();
        if set == Ref::FALSE {
            return None;
        }
        let mut length = 0;
        while set != Ref::TRUE {
            set = core.table.node(set).down();
            length += 1;
        }
        Some(length)
    }

    /// Is this set empty, or are its vectors so long?
    fn has_length(&self, length: usize) -> Result<(), Error> {
        if self.length().is_none_or(|own| own == length) { Ok(()) } else { Err(Error::DifferentLengths) }
    }

    fn same_manager(&self, other: &Manager) -> Result<(), Error> {
        if self.manager().is(other) { Ok(()) } else { Err(Error::DifferentManagers) }
    }

    /// References of this and another set, if both belong to one manager and have vectors of one length.
    fn with(&self, other: &Ldd) -> Result<(Ref, Ref), Error> {
        self.same_manager(other.manager())?;
        if let Some(length) = other.length() {
            self.has_length(length)?;
        }
        Ok((self.target(), other.target()))
    }

    /// `self ∪ other`.
    pub fn union(&self, other: &Ldd) -> Result<Ldd, Error> {
        let (a, b) = self.with(other)?;
        self.solve(|_| unite(a, b))
    }

    /// `self ∩ other`.
    pub fn intersection(&self, other: &Ldd) -> Result<Ldd, Error> {
        let (a, b) = self.with(other)?;
        self.solve(|_| intersect(a, b))
    }

    /// `self ∖ other`.
    pub fn minus(&self, other: &Ldd) -> Result<Ldd, Error> {
        let (a, b) = self.with(other)?;
        self.solve(|_| subtract(a, b))
    }

    /// Vectors reached from this set by one transition of `relation`.
    pub fn relnext(&self, relation: &ListRelation) -> Result<Ldd, Error> {
        self.same_manager(&relation.manager)?;
        self.has_length(relation.length as usize)?;
        let set = self.target();
        self.solve(|_| list_next(set, relation.root))
    }

    /// Vectors of `universe` from which one transition of `relation` leads into this set.
    ///
    /// Where a relation writes a value without reading it, any value could have been there before; hence the universe.
    pub fn relprev(&self, relation: &ListRelation, universe: &Ldd) -> Result<Ldd, Error> {
        self.same_manager(&relation.manager)?;
        self.has_length(relation.length as usize)?;
        let (set, universe) = self.with(universe)?;
        self.solve(|_| list_previous(set, universe, relation.root))
    }

    /// Vectors reached from this set by one transition of any relation of `bundle`.
    pub fn relnext_all(&self, bundle: &ListBundle) -> Result<Ldd, Error> {
        self.same_manager(&bundle.manager)?;
        self.has_length(bundle.length as usize)?;
        let set = self.target();
        let next = self.solve(|env| list_next_of_all(env, set, 0, bundle.system))?;
        if bundle.has_identity { next.union(self) } else { Ok(next) }
    }

    /// Vectors outside `known` reached from this set by one transition: each relation of `tree` by itself, then unions.
    pub fn relnext_new(&self, tree: &ListTree, known: &Ldd) -> Result<Ldd, Error> {
        self.same_manager(&tree.manager)?;
        self.has_length(tree.length as usize)?;
        let (set, known) = self.with(known)?;
        self.solve(|_| new_lists(set, known, tree.number))
    }

    /// Vectors reached from this set by any number of transitions of those relations of `bundle` that begin at the level
    /// `from` or below.
    pub fn saturate(&self, bundle: &ListBundle, from: u32) -> Result<Ldd, Error> {
        self.same_manager(&bundle.manager)?;
        self.has_length(bundle.length as usize)?;
        let (set, closure) = (self.target(), bundle.closure(from)?);
        self.solve(|env| list_saturate(env, set, 0, closure))
    }

    /// The number of the projection on `levels`, in any order.
    fn plan(&self, levels: &[u32]) -> Result<(u32, usize), Error> {
        let mut levels = levels.to_vec();
        levels.sort_unstable();
        levels.dedup();
        if let Some((length, &last)) = self.length().zip(levels.last())
            && last as usize >= length
        {
            return Err(Error::LevelTooLarge { level: last });
        }
        let core = &mut *self.manager().core.borrow_mut();
        Ok((parameter(core.env.lists.plan_number(&levels))?, levels.len()))
    }

    /// The vectors of this set with only the values at `levels`.
    pub fn project(&self, levels: &[u32]) -> Result<Ldd, Error> {
        let (plan, _) = self.plan(levels)?;
        let set = self.target();
        self.solve(|_| project(set, plan))
    }

    /// The vectors of this set whose projection on `levels` is in `among`.
    pub fn matching(&self, levels: &[u32], among: &Ldd) -> Result<Ldd, Error> {
        self.same_manager(among.manager())?;
        let (plan, length) = self.plan(levels)?;
        among.has_length(length)?;
        let (set, among) = (self.target(), among.target());
        self.solve(|_| select(set, among, plan))
    }

    /// Is there no vector?
    pub fn is_empty(&self) -> bool {
        self.target() == Ref::FALSE
    }

    /// Is this vector in the set?
    pub fn contains(&self, vector: &[u32]) -> bool {
        let core = self.manager().core.borrow();
        let mut set = self.target();
        for &value in vector {
            if set.is_terminal() {
                return false;
            }
            let mut node = core.table.node(set);
            while node.value() < value && node.right() != Ref::FALSE {
                node = core.table.node(node.right());
            }
            set = if node.value() == value { node.down() } else { Ref::FALSE };
        }
        set == Ref::TRUE
    }

    /// Exact number of vectors.
    pub fn count(&self) -> Result<UBig, Error> {
        let set = self.target();
        let core: &mut Core = &mut self.manager().core.borrow_mut();
        count::count(&mut core.table, set)
    }

    /// Number of nodes, without the constants.
    pub fn node_count(&self) -> Result<usize, Error> {
        self.root.node_count()
    }

    /// All vectors in lexicographic order, one at a time.
    pub fn vectors(&self) -> Vectors {
        Vectors::new(self.clone())
    }

    /// The first node's value, the set below it, and the rest of the list; none for the empty set and the empty vector's.
    pub fn first(&self) -> Option<(u32, Ldd, Ldd)> {
        let set = self.target();
        if set.is_terminal() {
            return None;
        }
        let node = self.manager().core.borrow().table.node(set);
        let manager = self.manager();
        Some((node.value(), manager.list_handle(node.down()), manager.list_handle(node.right())))
    }
}
