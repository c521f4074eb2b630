//! Transition relations compiled for images.
//!
//! A relation over pairs (current, next) of variables becomes a graph of [`Quad`]s: one node per pair with four
//! successors, one for each move of the bit. Two simplifications make images cheap: a pair that the rest of the relation
//! leaves alone has no node at all (the image passes through it), and what the relation says about other variables, such
//! as action labels, is quantified away. Equal sub-graphs are shared between relations, and so are cached images.

use crate::exec::Exec;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use tremula_table::Ref;
use tremula_table::layout::TERMINAL_LEVEL;

/// One pair of variables of a relation: where each move of the bit leads.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Quad {
    /// Level of the current-state variable.
    pub level: u32,
    /// `moves[a][b]`: the relation for the remaining pairs when the bit goes from `a` to `b`.
    pub moves: [[u32; 2]; 2],
}

impl Quad {
    /// The relation without transitions.
    pub const EMPTY: u32 = 0;
    /// The relation that leaves everything as it is.
    pub const IDENTITY: u32 = 1;
    const FIRST: u32 = 2;
}

/// Relations sorted by their top level: those of one level, and all deeper ones.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bundle {
    /// Level of these relations.
    pub level: u32,
    /// The relations.
    pub relations: Vec<u32>,
    /// The bundle of all relations further down.
    pub rest: u32,
}

impl Bundle {
    /// The bundle without relations.
    pub const END: u32 = 0;
}

/// A node of a tree of relations, whose image is the union of all its relations' images.
#[derive(Copy, Clone, Debug, Serialize, Deserialize)]
pub enum Tree {
    /// Two trees side by side.
    Fork(u32, u32),
    /// One relation.
    Leaf(u32),
}

/// All compiled relations of a manager.
#[derive(Default, Serialize, Deserialize)]
pub struct Relations {
    quads: Vec<Quad>,
    /// Not needed by those who only look relations up.
    #[serde(skip)]
    unique: FxHashMap<Quad, u32>,
    bundles: Vec<Bundle>,
    trees: Vec<Tree>,
}

/// A relation mentions a variable that is neither in its pairs nor below them.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct OutsidePairs {
    /// The variable's level.
    pub level: u32,
}

impl Relations {
    /// The node behind a number that is neither empty nor identity.
    #[inline]
    pub fn quad(&self, number: u32) -> &Quad {
        &self.quads[(number - Quad::FIRST) as usize]
    }

    /// The bundle behind a number that is not the end.
    #[inline]
    pub fn bundle(&self, number: u32) -> &Bundle {
        &self.bundles[number as usize - 1]
    }

    /// The tree behind a number.
    #[inline]
    pub fn tree(&self, number: u32) -> Tree {
        self.trees[number as usize]
    }

    /// How many nodes, bundles and trees there are.
    pub fn lengths(&self) -> [usize; 3] {
        [self.quads.len(), self.bundles.len(), self.trees.len()]
    }

    /// All numbers of relations are below this one.
    pub fn end_of_numbers(&self) -> usize {
        self.quads.len() + Quad::FIRST as usize
    }

    /// Bytes in use, for the budget.
    pub fn bytes(&self) -> usize {
        self.quads.capacity() * size_of::<Quad>() + self.unique.capacity() * (size_of::<(Quad, u32)>() + 1)
    }

    /// The same without what finds relations by their content.
    pub fn bytes_of_copy(&self) -> usize {
        self.quads.len() * size_of::<Quad>()
    }

    /// Top level of a relation; none for the empty one and the identity.
    pub fn level(&self, relation: u32) -> Option<u32> {
        (relation >= Quad::FIRST).then(|| self.quad(relation).level)
    }

    /// Deepest level of a relation; none for the empty one and the identity.
    pub fn deepest_level(&self, relation: u32) -> Option<u32> {
        self.nodes(relation).into_iter().map(|number| self.quad(number).level).max()
    }

    /// Number of nodes of the graph below `relation`.
    pub fn size(&self, relation: u32) -> usize {
        self.nodes(relation).len()
    }

    /// The nodes of the graph below `relation`.
    fn nodes(&self, relation: u32) -> FxHashSet<u32> {
        let mut seen = FxHashSet::default();
        let mut stack = vec![relation];
        while let Some(number) = stack.pop() {
            if number >= Quad::FIRST && seen.insert(number) {
                stack.extend(self.quad(number).moves.as_flattened());
            }
        }
        seen
    }

    fn make(&mut self, quad: Quad) -> u32 {
        let [[stay0, rise], [fall, stay1]] = quad.moves;
        let still = rise == Quad::EMPTY && fall == Quad::EMPTY && stay0 == stay1;
        if still && (stay0 == Quad::EMPTY || !cfg!(feature = "keep-identities")) {
            return stay0;
        }
        *self.unique.entry(quad).or_insert_with(|| {
            self.quads.push(quad);
            self.quads.len() as u32 - 1 + Quad::FIRST
        })
    }

    /// Compile the relation `root` over `pairs` of (current, next) levels, ascending.
    pub fn compile<E: Exec>(&mut self, exec: &E, root: Ref, pairs: &[(u32, u32)]) -> Result<u32, OutsidePairs> {
        Compiler { relations: self, exec, pairs, memo: FxHashMap::default() }.compile(root, 0)
    }

    /// File relations by their top level.
    pub fn bundle_up(&mut self, relations: &[u32]) -> u32 {
        let mut by_level: std::collections::BTreeMap<u32, Vec<u32>> = std::collections::BTreeMap::new();
        for &relation in relations {
            if relation != Quad::EMPTY {
                // The identity lies below all levels.
                by_level.entry(self.level(relation).unwrap_or(TERMINAL_LEVEL)).or_default().push(relation);
            }
        }
        by_level.into_iter().rev().fold(Bundle::END, |rest, (level, relations)| {
            self.bundles.push(Bundle { level, relations, rest });
            self.bundles.len() as u32
        })
    }

    /// A balanced tree over relations, in their order.
    pub fn plant(&mut self, relations: &[u32]) -> u32 {
        let tree = match relations {
            [] => Tree::Leaf(Quad::EMPTY),
            [relation] => Tree::Leaf(*relation),
            _ => {
                let (left, right) = relations.split_at(relations.len() / 2);
                Tree::Fork(self.plant(left), self.plant(right))
            }
        };
        self.trees.push(tree);
        self.trees.len() as u32 - 1
    }

    /// The union of two relations, unless its graph would have more than `limit` nodes.
    pub fn union(&mut self, a: u32, b: u32, limit: usize) -> Option<u32> {
        let first_new = self.quads.len();
        let mut memo = FxHashMap::default();
        self.union_of(a, b, first_new + limit, &mut memo)
    }

    fn union_of(&mut self, a: u32, b: u32, limit: usize, memo: &mut FxHashMap<(u32, u32), u32>) -> Option<u32> {
        if a == b || b == Quad::EMPTY {
            return Some(a);
        }
        if a == Quad::EMPTY {
            return Some(b);
        }
        let key = (a.min(b), a.max(b));
        if let Some(&known) = memo.get(&key) {
            return Some(known);
        }
        if self.quads.len() >= limit {
            return None;
        }
        let level = self.level(a).into_iter().chain(self.level(b)).min().expect("two different relations, not empty");
        let (x, y) = (self.moves_at(a, level), self.moves_at(b, level));
        let mut moves = [[Quad::EMPTY; 2]; 2];
        for (from, to) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            moves[from][to] = self.union_of(x[from][to], y[from][to], limit, memo)?;
        }
        let result = self.make(Quad { level, moves });
        memo.insert(key, result);
        Some(result)
    }

    /// The moves of a relation at `level`, which is at or above its top: above it, the bit stays.
    fn moves_at(&self, relation: u32, level: u32) -> [[u32; 2]; 2] {
        match self.level(relation) {
            Some(top) if top == level => self.quad(relation).moves,
            _ => [[relation, Quad::EMPTY], [Quad::EMPTY, relation]],
        }
    }
}

struct Compiler<'a, E> {
    relations: &'a mut Relations,
    exec: &'a E,
    pairs: &'a [(u32, u32)],
    memo: FxHashMap<(Ref, usize), u32>,
}

impl<E: Exec> Compiler<'_, E> {
    fn compile(&mut self, relation: Ref, at: usize) -> Result<u32, OutsidePairs> {
        if relation == Ref::FALSE {
            return Ok(Quad::EMPTY);
        }
        let Some(&(current, next)) = self.pairs.get(at) else { return Ok(Quad::IDENTITY) };
        if let Some(&known) = self.memo.get(&(relation, at)) {
            return Ok(known);
        }
        let level = self.exec.level(relation);
        if level < current {
            return Err(OutsidePairs { level });
        }
        let (from0, from1) = self.exec.cofactors(relation, current);
        let moves = [self.row(from0, next, at)?, self.row(from1, next, at)?];
        let number = self.relations.make(Quad { level: current, moves });
        self.memo.insert((relation, at), number);
        Ok(number)
    }

    fn row(&mut self, from: Ref, next: u32, at: usize) -> Result<[u32; 2], OutsidePairs> {
        let level = self.exec.level(from);
        if level < next {
            return Err(OutsidePairs { level });
        }
        let (to0, to1) = self.exec.cofactors(from, next);
        Ok([self.compile(to0, at + 1)?, self.compile(to1, at + 1)?])
    }
}
