//! Successors and predecessors of a set under compiled relations, renaming included.
//!
//! Current and next variables alternate in the order, so the image is built in the current variables at once: where a
//! relation node leads from value `a` to value `b` of a variable, the successors go into the branch `b`.

use super::and::{and, or_of_results};
use super::code;
use super::new_image::new_image;
use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use crate::relation::{Bundle, Quad, Tree};
use crate::task::Task;
use tremula_table::{Key, OpTag, Ref};

const NEXT: OpTag = OpTag::unary(code::NEXT, 0);
const PREVIOUS: OpTag = OpTag::unary(code::PREVIOUS, 0);
const NEXT_OF_ALL: OpTag = OpTag::unary(code::NEXT_OF_ALL, 0);

/// Image of a set under one relation, forwards or backwards. The set is not empty, the relation has a node.
#[derive(Copy, Clone)]
pub struct Image<const FORWARD: bool> {
    set: Ref,
    relation: u32,
}

/// Terminal tests of an image.
#[inline]
pub fn image<const FORWARD: bool>(set: Ref, relation: u32) -> Call<Image<FORWARD>> {
    if set == Ref::FALSE || relation == Quad::EMPTY {
        return Call::Done(Ref::FALSE);
    }
    if relation == Quad::IDENTITY {
        return Call::Done(set);
    }
    Call::todo(Image { set, relation }, false)
}

impl<const FORWARD: bool> Operation for Image<FORWARD> {
    #[inline]
    fn key(self) -> Option<Key> {
        Some(Key::unary(self.set, self.relation, if FORWARD { NEXT } else { PREVIOUS }))
    }

    #[inline]
    fn task(self) -> Task {
        let Image { set, relation } = self;
        if FORWARD { Task::Next(Image { set, relation }) } else { Task::Previous(Image { set, relation }) }
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.set.bits(), self.relation, 0]
    }

    #[inline]
    fn from_words([set, relation, _]: [u32; 3]) -> Self {
        Image { set: Ref::from_bits(set), relation }
    }

    #[inline]
    fn prefetch<E: Exec>(self, exec: &E) {
        exec.prefetch_node(self.set);
    }

    #[inline]
    fn operands(self) -> [Ref; 2] {
        [self.set, Ref::FALSE]
    }

    #[inline]
    fn own_level(self, env: &Env) -> Option<u32> {
        Some(env.relations.quad(self.relation).level)
    }

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        let quad = env.relations.quad(self.relation);
        let level = exec.level(self.set);
        if level < quad.level {
            let cofactors = exec.cofactors(self.set, level);
            let calls = (image(cofactors.0, self.relation), image(cofactors.1, self.relation));
            let (low, high) = exec.both::<Self>(env, calls.0, calls.1)?;
            if (low, high) == cofactors && !cfg!(feature = "always-make") {
                return Ok(self.set);
            }
            return exec.make(level, low, high);
        }
        let (s0, s1) = exec.cofactors(self.set, quad.level);
        let [[stay0, rise], [fall, stay1]] = quad.moves;
        if rise == Quad::EMPTY && fall == Quad::EMPTY {
            let (low, high) = exec.both::<Self>(env, image(s0, stay0), image(s1, stay1))?;
            return exec.make(quad.level, low, high);
        }
        let (into0, into1) = if FORWARD { ((stay0, fall), (rise, stay1)) } else { ((stay0, rise), (fall, stay1)) };
        let calls: [Call<Self>; 4] = [image(s0, into0.0), image(s1, into0.1), image(s0, into1.0), image(s1, into1.1)];
        // Those of the first half are announced right before they are solved, so their misses overlap with these. Where the first
        // half takes long, these are gone by the time they are wanted, and are announced again.
        exec.announce(calls[2]);
        exec.announce(calls[3]);
        let low = union_of(exec, env, calls[0], calls[1])?;
        exec.keep(low);
        let high = union_of(exec, env, calls[2], calls[3])?;
        exec.release(1);
        exec.make(quad.level, low, high)
    }
}

#[inline]
fn union_of<E: Exec, O: Operation>(exec: &mut E, env: &Env, first: Call<O>, second: Call<O>) -> Outcome {
    let (a, b) = exec.both(env, first, second)?;
    or_of_results(exec, env, a, b)
}

/// Image of a set under all relations of a bundle at once.
#[derive(Copy, Clone)]
pub struct ImageOfAll {
    set: Ref,
    bundle: u32,
}

/// Terminal tests of an image under all relations.
#[inline]
pub fn image_of_all(set: Ref, bundle: u32) -> Call<ImageOfAll> {
    if set == Ref::FALSE || bundle == Bundle::END {
        return Call::Done(Ref::FALSE);
    }
    Call::todo(ImageOfAll { set, bundle }, false)
}

impl Operation for ImageOfAll {
    #[inline]
    fn key(self) -> Option<Key> {
        Some(Key::unary(self.set, self.bundle, NEXT_OF_ALL))
    }

    #[inline]
    fn task(self) -> Task {
        Task::NextOfAll(self)
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.set.bits(), self.bundle, 0]
    }

    #[inline]
    fn from_words([set, bundle, _]: [u32; 3]) -> Self {
        ImageOfAll { set: Ref::from_bits(set), bundle }
    }

    #[inline]
    fn prefetch<E: Exec>(self, exec: &E) {
        exec.prefetch_node(self.set);
    }

    #[inline]
    fn operands(self) -> [Ref; 2] {
        [self.set, Ref::FALSE]
    }

    #[inline]
    fn own_level(self, env: &Env) -> Option<u32> {
        Some(env.relations.bundle(self.bundle).level)
    }

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        let bundle = env.relations.bundle(self.bundle);
        let level = exec.level(self.set);
        if level < bundle.level {
            let (s0, s1) = exec.cofactors(self.set, level);
            let (low, high) = exec.both(env, image_of_all(s0, self.bundle), image_of_all(s1, self.bundle))?;
            return exec.make(level, low, high);
        }
        let lower = exec.solve(env, image_of_all(self.set, bundle.rest))?;
        bundle.relations.iter().try_fold(lower, |all, &relation| unite_image(exec, env, all, self.set, relation))
    }
}

/// `all` and the image of `set`, which the caller protects, or which is `all`.
pub fn unite_image<E: Exec>(exec: &mut E, env: &Env, all: Ref, set: Ref, relation: u32) -> Outcome {
    exec.keep(all);
    let found = exec.solve(env, image::<true>(set, relation))?;
    exec.release(1);
    or_of_results(exec, env, all, found)
}

/// New successors of a set: each relation's image by itself, without the states in `known`, united in a tree. These are taken
/// away within each image, or from it when it is made.
#[derive(Copy, Clone)]
pub struct NewImages<const WITHIN: bool> {
    set: Ref,
    known: Ref,
    tree: u32,
}

/// Terminal tests of the new successors.
#[inline]
pub fn new_images<const WITHIN: bool>(set: Ref, known: Ref, tree: u32) -> Call<NewImages<WITHIN>> {
    if set == Ref::FALSE || known == Ref::TRUE {
        return Call::Done(Ref::FALSE);
    }
    Call::todo(NewImages { set, known, tree }, false)
}

impl<const WITHIN: bool> Operation for NewImages<WITHIN> {
    #[inline]
    fn key(self) -> Option<Key> {
        None
    }

    #[inline]
    fn task(self) -> Task {
        let NewImages { set, known, tree } = self;
        if WITHIN {
            Task::NewImagesWithin(NewImages { set, known, tree })
        } else {
            Task::NewImages(NewImages { set, known, tree })
        }
    }

    #[inline]
    fn words(self) -> [u32; 3] {
        [self.set.bits(), self.known.bits(), self.tree]
    }

    #[inline]
    fn from_words([set, known, tree]: [u32; 3]) -> Self {
        NewImages { set: Ref::from_bits(set), known: Ref::from_bits(known), tree }
    }

    #[inline]
    fn prefetch<E: Exec>(self, _: &E) {}

    fn expand<E: Exec>(self, exec: &mut E, env: &Env) -> Outcome {
        let NewImages { set, known, tree } = self;
        match env.relations.tree(tree) {
            Tree::Fork(left, right) => {
                union_of(exec, env, new_images::<WITHIN>(set, known, left), new_images::<WITHIN>(set, known, right))
            }
            Tree::Leaf(relation) if WITHIN => exec.solve(env, new_image(set, known, relation)),
            Tree::Leaf(relation) => {
                let found = exec.solve(env, image::<true>(set, relation))?;
                exec.keep(found);
                let new = exec.solve(env, and(found, !known));
                exec.release(1);
                new
            }
        }
    }
}
