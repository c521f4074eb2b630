//! What operations look up beside nodes: relations, variable sets, permutations, levels. Read-only while an operation runs.

use crate::lists::steps::Steps;
use crate::relation::Relations;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Tables of everything that operations name by a small number.
#[derive(Default, Serialize, Deserialize)]
pub struct Env {
    /// Compiled transition relations.
    pub relations: Relations,
    /// Compiled transition relations on lists.
    pub lists: Steps,
    /// Sets of variables to quantify.
    pub sets: Interned<VarSet>,
    /// Renamings of variables.
    pub permutations: Interned<Permutation>,
    /// The first level below all that functions depend on.
    pub end_of_levels: u32,
}

/// How much there is in an [`Env`]. Things are added to it and never changed, so equal extents mean equal contents.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct Extent([usize; 10]);

impl Env {
    /// How much there is.
    pub fn extent(&self) -> Extent {
        let [quads, bundles, trees] = self.relations.lengths();
        let [steps, systems, closures, plans] = self.lists.lengths();
        let [sets, permutations] = [self.sets.len(), self.permutations.len()];
        let levels = self.end_of_levels as usize;
        Extent([quads, bundles, trees, steps, systems, closures, plans, sets, permutations, levels])
    }

    /// About the memory of the relations in a copy, which cannot look them up by what they are.
    pub fn bytes_of_copy(&self) -> usize {
        self.relations.bytes_of_copy() + self.lists.bytes_of_copy()
    }
}

/// Values by number, equal values sharing one.
#[derive(Serialize, Deserialize)]
#[serde(bound(deserialize = "T: Deserialize<'de>"))]
pub struct Interned<T> {
    values: Vec<T>,
    /// Not needed by those who only look values up.
    #[serde(skip)]
    numbers: FxHashMap<T, u32>,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Interned { values: Vec::new(), numbers: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Interned<T> {
    /// The number of `value`.
    pub fn intern(&mut self, value: T) -> u32 {
        *self.numbers.entry(value).or_insert_with_key(|value| {
            self.values.push(value.clone());
            self.values.len() as u32 - 1
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// The value behind a number.
    #[inline]
    pub fn get(&self, number: u32) -> &T {
        &self.values[number as usize]
    }
}

/// A set of levels.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct VarSet {
    bits: Vec<u64>,
    last: Option<u32>,
}

impl FromIterator<u32> for VarSet {
    fn from_iter<I: IntoIterator<Item = u32>>(levels: I) -> VarSet {
        let mut set = VarSet::default();
        for level in levels {
            let word = level as usize / 64;
            if set.bits.len() <= word {
                set.bits.resize(word + 1, 0);
            }
            set.bits[word] |= 1 << (level % 64);
            set.last = set.last.max(Some(level));
        }
        set
    }
}

impl VarSet {
    /// Is `level` in the set?
    #[inline]
    pub fn contains(&self, level: u32) -> bool {
        self.bits.get(level as usize / 64).is_some_and(|word| word >> (level % 64) & 1 != 0)
    }

    /// Does the set lie entirely above `level`?
    #[inline]
    pub fn ends_above(&self, level: u32) -> bool {
        self.last.is_none_or(|last| last < level)
    }
}

/// A renaming of levels; levels not mentioned stay.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Permutation {
    /// Pairs (from, to), sorted.
    pairs: Vec<(u32, u32)>,
}

impl Permutation {
    /// The renaming by `pairs`; `None` when it is not a bijection on the levels it mentions as sources and targets.
    pub fn new(pairs: impl IntoIterator<Item = (u32, u32)>) -> Option<Permutation> {
        let mut pairs: Vec<_> = pairs.into_iter().collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut targets: Vec<u32> = pairs.iter().map(|&(_, to)| to).collect();
        targets.sort_unstable();
        let sources_differ = pairs.windows(2).all(|pair| pair[0].0 != pair[1].0);
        let targets_differ = targets.windows(2).all(|pair| pair[0] != pair[1]);
        (sources_differ && targets_differ).then_some(Permutation { pairs })
    }

    /// Where `level` goes.
    #[inline]
    pub fn apply(&self, level: u32) -> u32 {
        match self.pairs.binary_search_by_key(&level, |&(from, _)| from) {
            Ok(at) => self.pairs[at].1,
            Err(_) => level,
        }
    }

    /// Is any level at or below `level` renamed?
    #[inline]
    pub fn ends_above(&self, level: u32) -> bool {
        self.pairs.last().is_none_or(|&(from, _)| from < level)
    }

    /// Levels that are targets.
    pub fn targets(&self) -> impl Iterator<Item = u32> + '_ {
        self.pairs.iter().map(|&(_, to)| to)
    }
}
