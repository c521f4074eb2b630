//! Memory for nodes of different lengths: stretches of granules, taken from the end or from what a collection freed.

use super::Forest;
use super::shape::{self, GRANULE_WORDS, Shape};
use crate::bitmap::Bitmap;
use crate::memory::{MapError, Region};

/// Free stretches up to this length have a list for each length.
const SMALL: usize = 8;
/// Ends a list: no stretch starts at a terminal's place.
const NONE: u32 = 0;

/// Granules of nodes.
pub(super) struct Space {
    words: Region<u32>,
    /// Granules that were ever used; those after it are untouched.
    frontier: u32,
    /// Free stretches of each small length, by length; longer ones in the first.
    free: [u32; SMALL + 1],
    /// Granules in these lists.
    free_granules: usize,
}

impl Space {
    pub(super) fn bytes(granules: usize) -> usize {
        granules * GRANULE_WORDS * size_of::<u32>()
    }

    pub(super) fn new(most: usize, granules: usize) -> Result<Space, MapError> {
        let mut words = Region::reserve_small_pages(most * GRANULE_WORDS)?;
        words.resize_eagerly(granules * GRANULE_WORDS);
        // The places of the two terminals stay unused.
        Ok(Space { words, frontier: Forest::TERMINAL + 1, free: [NONE; SMALL + 1], free_granules: 0 })
    }

    pub(super) fn use_huge_pages(&self) {
        self.words.use_huge_pages();
    }

    /// The first word of a node.
    #[inline]
    pub(super) fn at(node: u32) -> usize {
        node as usize * GRANULE_WORDS
    }

    #[inline]
    pub(super) fn words(&self) -> &[u32] {
        &self.words
    }

    #[inline]
    pub(super) fn shape(&self, node: u32) -> Shape {
        debug_assert!(node > Forest::TERMINAL);
        Shape::read(&self.words, Self::at(node))
    }

    /// Does the node consist of these words?
    #[inline]
    pub(super) fn holds(&self, node: u32, words: &[u32]) -> bool {
        let at = Self::at(node);
        self.words.get(at..at + words.len()) == Some(words)
    }

    /// Granules at the present size.
    pub(super) fn room(&self) -> usize {
        self.words.len() / GRANULE_WORDS
    }

    /// Granules of nodes.
    pub(super) fn used(&self) -> usize {
        self.frontier as usize - self.free_granules
    }

    pub(super) fn grow(&mut self, granules: usize) {
        self.words.resize_eagerly(granules * GRANULE_WORDS);
    }

    /// Would a node of so many words find a stretch?
    pub(super) fn fits(&mut self, words: usize) -> bool {
        let granules = words.div_ceil(GRANULE_WORDS) as u32;
        match self.allocate(granules as usize) {
            Some(start) => {
                self.release(start, granules);
                true
            }
            None => false,
        }
    }

    /// Store the words of a node; nothing if there is no stretch for it.
    #[inline]
    pub(super) fn put(&mut self, words: &[u32]) -> Option<u32> {
        let node = self.allocate(words.len().div_ceil(GRANULE_WORDS))?;
        let at = Self::at(node);
        self.words[at..at + words.len()].copy_from_slice(words);
        Some(node)
    }

    #[inline]
    fn allocate(&mut self, granules: usize) -> Option<u32> {
        if self.free_granules >= granules
            && let Some(found) = self.reuse(granules)
        {
            return Some(found);
        }
        let node = self.frontier;
        if node as usize + granules > self.room() {
            return None;
        }
        self.frontier += granules as u32;
        Some(node)
    }

    /// Take a free stretch: one of this length, or a part of a longer one.
    fn reuse(&mut self, granules: usize) -> Option<u32> {
        if granules <= SMALL {
            let fitting = (granules..=SMALL).chain([0]).find(|&list| self.free[list] != NONE)?;
            return Some(self.cut(fitting, granules));
        }
        // Long nodes are rare: a walk may be afforded.
        let mut before = NONE;
        let mut start = self.free[0];
        while start != NONE {
            let (size, next) = shape::read_free(&self.words, Self::at(start));
            if size as usize >= granules {
                self.bring_to_front(before, start);
                return Some(self.cut(0, granules));
            }
            (before, start) = (start, next);
        }
        None
    }

    /// Make the long stretch at `start`, which follows that at `before` if there is one, the first of its list.
    fn bring_to_front(&mut self, before: u32, start: u32) {
        if before != NONE {
            let (size, next) = shape::read_free(&self.words, Self::at(start));
            let (size_before, _) = shape::read_free(&self.words, Self::at(before));
            shape::write_free(&mut self.words, Self::at(before), size_before, next);
            shape::write_free(&mut self.words, Self::at(start), size, self.free[0]);
            self.free[0] = start;
        }
    }

    /// Take `granules` from the first stretch of a list, and give the rest back.
    fn cut(&mut self, list: usize, granules: usize) -> u32 {
        let start = self.free[list];
        let (size, next) = shape::read_free(&self.words, Self::at(start));
        self.free[list] = next;
        self.free_granules -= size as usize;
        if size as usize > granules {
            self.release(start + granules as u32, size - granules as u32);
        }
        start
    }

    /// Put a stretch into the list of its length.
    fn release(&mut self, start: u32, granules: u32) {
        let list = if granules as usize <= SMALL { granules as usize } else { 0 };
        shape::write_free(&mut self.words, Self::at(start), granules, self.free[list]);
        self.free[list] = start;
        self.free_granules += granules as usize;
    }

    /// Everything below the frontier in order: start, granules, and whether it is a node.
    fn stretches(&self) -> impl Iterator<Item = (u32, u32, bool)> + '_ {
        let mut start = Forest::TERMINAL + 1;
        std::iter::from_fn(move || {
            (start < self.frontier).then(|| {
                let (granules, is_node) = shape::extent(&self.words, Self::at(start));
                let stretch = (start, granules as u32, is_node);
                start += granules as u32;
                stretch
            })
        })
    }

    /// All nodes in the order of their places.
    pub(super) fn nodes(&self) -> impl Iterator<Item = u32> + '_ {
        self.stretches().filter(|&(_, _, is_node)| is_node).map(|(node, _, _)| node)
    }

    /// Mark what `roots` reach, and count it.
    pub(super) fn mark(&self, marks: &mut Bitmap, roots: impl Iterator<Item = u32>) -> u64 {
        let mut waiting = Vec::new();
        let mut reached = 0;
        for root in roots {
            if !marks.insert(root) {
                continue;
            }
            waiting.push(root);
            while let Some(node) = waiting.pop() {
                reached += 1;
                let children = self.shape(node).branches(&self.words).map(|branch| branch.child);
                waiting.extend(children.filter(|&child| marks.insert(child)));
            }
        }
        reached
    }

    /// Make everything free that is not marked; neighbours become one stretch.
    pub(super) fn sweep(&mut self, marks: &Bitmap) {
        self.free = [NONE; SMALL + 1];
        self.free_granules = 0;
        let mut hole = Forest::TERMINAL + 1;
        let mut at = hole;
        while at < self.frontier {
            let (granules, is_node) = shape::extent(&self.words, Self::at(at));
            let next = at + granules as u32;
            if is_node && marks.get(at) {
                if hole < at {
                    self.release(hole, at - hole);
                }
                hole = next;
            }
            at = next;
        }
        // What is free at the end is as good as untouched.
        self.frontier = hole;
    }
}
