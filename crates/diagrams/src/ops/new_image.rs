//! Successors of a set under one relation, without states that are known already: they are never made.
//!
//! The states are subtracted on the way down, so an image and the difference are one walk, and what is known cuts it short. But
//! what is known changes from level to level, and so no result of an earlier level is found in the cache.

use super::and::{and, or_of_results};
use super::code;
use super::image::image;
use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use crate::relation::Quad;
use crate::task::Task;
use tremula_table::layout::TERMINAL_LEVEL;
use tremula_table::{Key, OpTag, Ref};

/// Image of a set under one relation, without the states in `known`. The set is not empty, `known` is not everything, and the
/// relation leads somewhere.
#[derive(Copy, Clone)]
pub struct NewImage {
    set: Ref,
    known: Ref,
    relation: u32,
}

/// Terminal tests of an image without what is known.
#[inline]
pub fn new_image(set: Ref, known: Ref, relation: u32) -> Call<NewImage> {
    if set == Ref::FALSE || known == Ref::TRUE || relation == Quad::EMPTY {
        return Call::Done(Ref::FALSE);
    }
    Call::todo(NewImage { set, known, relation }, false)
}

impl NewImage {
    /// Can all relations with numbers below this one be told apart in the cache?
    pub fn has_keys(end_of_numbers: usize) -> bool {
        end_of_numbers <= OpTag::MAX_PARAMETER as usize
    }
}

impl Operation for NewImage {
    /// None for what is another operation, which has a key of its own.
    #[inline]
    fn key(self) -> Option<Key> {
        let is_other = self.known == Ref::FALSE || self.relation == Quad::IDENTITY;
        (!is_other).then(|| Key::binary(self.set, self.known, OpTag::binary(code::NEW_IMAGE, self.relation)))
    }

    #[inline]
    fn task(self) -> Task {
        Task::NewImage(self)
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.set.bits(), self.known.bits(), self.relation]
    }

    #[inline]
    fn from_words([set, known, relation]: [u32; 3]) -> Self {
        NewImage { set: Ref::from_bits(set), known: Ref::from_bits(known), relation }
    }

    #[inline]
    fn prefetch<E: Exec>(self, exec: &E) {
        exec.prefetch_node(self.set);
        exec.prefetch_node(self.known);
    }

    #[inline]
    fn operands(self) -> [Ref; 2] {
        [self.set, self.known]
    }

    #[inline]
    fn own_level(self, env: &Env) -> Option<u32> {
        // The identity has no level, and looks at no other variable.
        Some(env.relations.level(self.relation).unwrap_or(TERMINAL_LEVEL))
    }

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        let NewImage { set, known, relation } = self;
        if relation == Quad::IDENTITY {
            return exec.solve(env, and(set, !known));
        }
        if known == Ref::FALSE {
            return exec.solve(env, image::<true>(set, relation));
        }
        let quad = env.relations.quad(relation);
        let level = exec.level(set).min(exec.level(known)).min(quad.level);
        let ((s0, s1), (k0, k1)) = (exec.cofactors(set, level), exec.cofactors(known, level));
        if level < quad.level {
            let (low, high) = exec.both(env, new_image(s0, k0, relation), new_image(s1, k1, relation))?;
            return exec.make(level, low, high);
        }
        let [[stay0, rise], [fall, stay1]] = quad.moves;
        if rise == Quad::EMPTY && fall == Quad::EMPTY {
            let (low, high) = exec.both(env, new_image(s0, k0, stay0), new_image(s1, k1, stay1))?;
            return exec.make(level, low, high);
        }
        let into0 = [new_image(s0, k0, stay0), new_image(s1, k0, fall)];
        let into1 = [new_image(s0, k1, rise), new_image(s1, k1, stay1)];
        into1.into_iter().for_each(|call| exec.announce(call));
        let low = union_of(exec, env, into0)?;
        exec.keep(low);
        let high = union_of(exec, env, into1)?;
        exec.release(1);
        exec.make(level, low, high)
    }
}

#[inline]
fn union_of<E: Exec>(exec: &mut E, env: &Env, [first, second]: [Call<NewImage>; 2]) -> Outcome {
    let (a, b) = exec.both(env, first, second)?;
    or_of_results(exec, env, a, b)
}
