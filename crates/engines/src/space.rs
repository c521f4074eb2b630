//! What exploration needs of the place where sets of states live: one process, or several together.

use crate::system::SymbolicSystem;
use tremula_diagrams::{Bdd, Error};

/// Sets of states and a system's ways from one to the next.
pub trait Space {
    /// Handles on sets; equal exactly when their sets are.
    type Set: Clone + PartialEq;

    /// The initial states.
    fn initial(&self) -> Self::Set;
    /// The empty set.
    fn nothing(&self) -> Self::Set;
    /// How many relations the system has.
    fn relations(&self) -> usize;
    /// Successors under one relation.
    fn next(&self, set: &Self::Set, relation: usize) -> Result<Self::Set, Error>;
    /// Successors under all relations, in one sweep.
    fn next_of_all(&self, set: &Self::Set) -> Result<Self::Set, Error>;
    /// Successors under all relations that are not `known`, each relation by itself.
    fn new_images(&self, set: &Self::Set, known: &Self::Set) -> Result<Self::Set, Error>;
    /// Successors under all relations that are not `known`, and these together with what is.
    fn step(&self, set: &Self::Set, known: &Self::Set) -> Result<(Self::Set, Self::Set), Error> {
        let found = self.new_images(set, known)?;
        let grown = self.union(known, &found)?;
        Ok((found, grown))
    }
    /// How many parts the relations come in, from all in one part to more and smaller ones; of each of these layers, the
    /// first parts begin deepest. None if there are no relations.
    fn layers(&self) -> Vec<usize> {
        vec![1]
    }
    /// As [`Space::step`], under one part of a layer.
    fn step_in(
        &self,
        _layer: usize,
        _part: usize,
        set: &Self::Set,
        known: &Self::Set,
    ) -> Result<(Self::Set, Self::Set), Error> {
        self.step(set, known)
    }
    /// The set together with its successors under one relation.
    fn fire(&self, known: &Self::Set, relation: usize) -> Result<Self::Set, Error> {
        self.union(known, &self.next(known, relation)?)
    }
    /// Both sets together.
    fn union(&self, a: &Self::Set, b: &Self::Set) -> Result<Self::Set, Error>;
    /// What is in `a` and not in `b`.
    fn minus(&self, a: &Self::Set, b: &Self::Set) -> Result<Self::Set, Error>;
}

impl Space for SymbolicSystem {
    type Set = Bdd;

    fn initial(&self) -> Bdd {
        self.initial.clone()
    }
    fn nothing(&self) -> Bdd {
        self.manager.constant(false)
    }
    fn relations(&self) -> usize {
        self.relations.len()
    }
    fn next(&self, set: &Bdd, relation: usize) -> Result<Bdd, Error> {
        set.relnext(&self.relations[relation])
    }
    fn next_of_all(&self, set: &Bdd) -> Result<Bdd, Error> {
        set.relnext_all(self.bundle())
    }
    fn new_images(&self, set: &Bdd, known: &Bdd) -> Result<Bdd, Error> {
        self.way.new_images(self, set, known)
    }
    fn union(&self, a: &Bdd, b: &Bdd) -> Result<Bdd, Error> {
        a.or(b)
    }
    fn minus(&self, a: &Bdd, b: &Bdd) -> Result<Bdd, Error> {
        a.minus(b)
    }
}
