//! Relations as a graph of moves.
//!
//! A node of the graph stands for a relation and belongs to a level, the number of a state bit. For each way in which
//! the bit can change it has a list of relations that hold for the bits below, and their union is meant. A compiled
//! group has at most one in each list; the node that stands for *all* groups from some level down has those of the
//! groups that begin there, and itself once more, one step lower. So one sweep follows all groups, and a group costs
//! nothing above its first bit.
//!
//! Bits that a relation leaves alone have no node: whoever follows the graph keeps them. What a group says about
//! anything that is no state bit, such as action labels, is quantified away. A bit that belongs to a group whose
//! relation has become true still has a node, which allows all four moves.

use crate::layout::BOTTOM;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;
use tremula_models::{BddSystem, Edge};

/// The relation that changes nothing.
pub const IDENTITY: u32 = 0;
/// Moves of a bit: from 0 or 1 to 0 or 1.
const MOVES: usize = 4;

/// The move from `from` to `to`.
const fn way(from: usize, to: usize) -> usize {
    2 * from + to
}

/// A relation depends on a variable that its group neither reads nor writes.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("transition group {group} depends on variable {variable}, which it does not declare")]
pub struct OutsideGroup {
    /// The group.
    pub group: usize,
    /// The variable.
    pub variable: u32,
}

/// A compiled relation while the graph is built: nothing at all, or a node.
type Compiled = Option<u32>;

/// Several groups together, and the same in two halves.
#[derive(Clone, Debug)]
pub struct Together {
    /// The relation of all of them.
    pub relation: u32,
    /// Those that begin further up and those that begin further down, unless there is but one group. As long as there
    /// are several levels at which groups begin, those of one level are in the same half.
    pub halves: Option<Arc<[Together; 2]>>,
    /// Do all of them begin at the same level?
    pub is_one_level: bool,
}

impl Together {
    /// The groups in parts, those that begin furthest down first: after so many halvings, or fewer where all begin at
    /// the same level.
    #[must_use]
    pub fn parts(&self, halvings: usize) -> Vec<Together> {
        match &self.halves {
            Some(halves) if halvings > 0 && !self.is_one_level => {
                let [up, down] = &**halves;
                [down, up].into_iter().flat_map(|half| half.parts(halvings - 1)).collect()
            }
            _ => vec![self.clone()],
        }
    }

    /// The relations of as many pieces as there are after so many halvings, whatever their levels.
    #[must_use]
    pub fn pieces(&self, halvings: usize) -> Vec<u32> {
        match &self.halves {
            Some(halves) if halvings > 0 => halves.iter().flat_map(|half| half.pieces(halvings - 1)).collect(),
            _ => vec![self.relation],
        }
    }

    /// Halvings after which each group is a piece of its own.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.halves.as_ref().map_or(0, |halves| 1 + halves.iter().map(Together::depth).max().unwrap_or(0))
    }
}

/// The relations of a system.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The level of each node; that of [`IDENTITY`] is [`BOTTOM`].
    levels: Vec<u32>,
    /// Where each list begins in `targets`, four for each node, and the end of the last.
    starts: Vec<u32>,
    /// All lists.
    targets: Vec<u32>,
    /// The relation of each group; none if it has no transition.
    groups: Vec<Option<u32>>,
    /// All groups together; none if there is no transition at all.
    all: Option<Together>,
    /// State bits.
    bits: u32,
}

impl Graph {
    /// Compile the relations of a system.
    pub fn compile(model: &BddSystem) -> Result<Graph, OutsideGroup> {
        let mut builder = Builder::default();
        let compile = |(number, bits): (usize, Vec<u32>)| builder.compile(model, number, &bits);
        let groups: Vec<Compiled> = model.bits_of_groups().enumerate().map(compile).collect::<Result<_, _>>()?;
        let mut known: Vec<u32> = groups.iter().flatten().copied().collect();
        known.sort_by_key(|&relation| builder.level(relation));
        let all = builder.unite_all(&known);
        Ok(builder.finish(groups, all, model.state_bits()))
    }

    /// The level of a relation.
    #[must_use]
    pub fn level(&self, relation: u32) -> u32 {
        self.levels[relation as usize]
    }

    /// What holds below the relation's level when its bit goes from `from` to `to`.
    #[must_use]
    pub fn moves(&self, relation: u32, from: usize, to: usize) -> &[u32] {
        let list = relation as usize * MOVES + way(from, to);
        &self.targets[self.starts[list] as usize..self.starts[list + 1] as usize]
    }

    /// How many groups there are.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// The relation of a group; none if it has no transition.
    #[must_use]
    pub fn group(&self, number: usize) -> Option<u32> {
        self.groups[number]
    }

    /// All groups together; none if there is no transition at all.
    #[must_use]
    pub fn all(&self) -> Option<&Together> {
        self.all.as_ref()
    }

    /// State bits, which are levels.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Bytes of memory that it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let words = self.arrays().map(<[u32]>::len).iter().sum::<usize>();
        words * size_of::<u32>() + self.groups.len() * (size_of::<Option<u32>>() + 2 * size_of::<Together>())
    }

    /// Levels, starts of lists and lists, as the kernels see them.
    #[must_use]
    pub fn arrays(&self) -> [&[u32]; 3] {
        [&self.levels, &self.starts, &self.targets]
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Parts {
    level: u32,
    moves: [Vec<u32>; MOVES],
}

#[derive(Default)]
struct Builder {
    nodes: Vec<Parts>,
    unique: FxHashMap<Parts, u32>,
}

impl Builder {
    fn make(&mut self, level: u32, moves: [Compiled; MOVES]) -> Compiled {
        let [stay0, rise, fall, stay1] = moves;
        if rise.is_none() && fall.is_none() && stay0 == stay1 {
            return stay0;
        }
        Some(self.put(Parts { level, moves: moves.map(|target| target.into_iter().collect()) }))
    }

    fn put(&mut self, parts: Parts) -> u32 {
        *self.unique.entry(parts).or_insert_with_key(|parts| {
            self.nodes.push(parts.clone());
            self.nodes.len() as u32 + IDENTITY
        })
    }

    /// Compile a group, bit by bit: which functions are met at each bit from the first on, then their nodes from the
    /// last.
    fn compile(&mut self, model: &BddSystem, group: usize, bits: &[u32]) -> Result<Compiled, OutsideGroup> {
        let root = model.groups[group].relation;
        let mut layers: Vec<Layer> = Vec::with_capacity(bits.len());
        let mut met = vec![root];
        for &bit in bits {
            let layer = Layer::split(model, group, bit, &met)?;
            met = layer.next();
            layers.push(layer);
        }
        // Below the group's bits all that counts is whether anything is allowed.
        let below = |edge: &Edge| (*edge, (*edge != Edge::FALSE).then_some(IDENTITY));
        let mut compiled: FxHashMap<Edge, Compiled> = met.iter().map(below).collect();
        for (&bit, layer) in bits.iter().zip(&layers).rev() {
            let node =
                |&(edge, moves): &(Edge, [Edge; MOVES])| (edge, self.make(bit, moves.map(|edge| compiled[&edge])));
            compiled = layer.functions.iter().map(node).collect();
        }
        Ok(compiled[&root])
    }

    /// Relations, sorted by level, together, and their halves.
    fn unite_all(&mut self, relations: &[u32]) -> Option<Together> {
        let relation = self.unite(relations)?;
        let [first, .., last] = *relations else {
            return Some(Together { relation, halves: None, is_one_level: true });
        };
        let is_one_level = self.level(first) == self.level(last);
        let (up, down) = relations.split_at(self.middle(relations));
        let halves = self.unite_all(up).zip(self.unite_all(down)).map(|(up, down)| Arc::new([up, down]));
        Some(Together { relation, halves, is_one_level })
    }

    /// Where to halve several relations: between two levels, if there are two.
    fn middle(&self, relations: &[u32]) -> usize {
        let half = relations.len() / 2;
        let is_between = |&at: &usize| self.level(relations[at - 1]) != self.level(relations[at]);
        (1..relations.len()).filter(is_between).min_by_key(|at| at.abs_diff(half)).unwrap_or(half)
    }

    /// The relation of several together.
    fn unite(&mut self, relations: &[u32]) -> Compiled {
        let mut by_level: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &relation in relations {
            by_level.entry(self.level(relation)).or_default().push(relation);
        }
        let mut rest = None;
        for (level, together) in by_level.into_iter().rev() {
            if level == BOTTOM {
                rest = Some(IDENTITY);
                continue;
            }
            let mut moves = [const { Vec::new() }; MOVES];
            for relation in together {
                let parts = &self.nodes[(relation - IDENTITY) as usize - 1];
                moves.iter_mut().zip(&parts.moves).for_each(|(all, own)| all.extend(own));
            }
            for stay in [way(0, 0), way(1, 1)] {
                moves[stay].extend(rest);
            }
            moves.iter_mut().for_each(|list| {
                list.sort_unstable();
                list.dedup();
            });
            rest = Some(self.put(Parts { level, moves }));
        }
        rest
    }

    fn level(&self, relation: u32) -> u32 {
        if relation == IDENTITY { BOTTOM } else { self.nodes[(relation - IDENTITY) as usize - 1].level }
    }

    fn finish(self, groups: Vec<Compiled>, all: Option<Together>, bits: u32) -> Graph {
        let mut graph = Graph { levels: vec![BOTTOM], starts: vec![0; MOVES], targets: Vec::new(), groups, all, bits };
        for Parts { level, moves } in self.nodes {
            graph.levels.push(level);
            for list in moves {
                graph.starts.push(graph.targets.len() as u32);
                graph.targets.extend(list);
            }
        }
        graph.starts.push(graph.targets.len() as u32);
        graph
    }
}

/// The functions that a relation has become before some bit, and what they become behind it.
struct Layer {
    functions: Vec<(Edge, [Edge; MOVES])>,
}

impl Layer {
    fn split(model: &BddSystem, group: usize, bit: u32, met: &[Edge]) -> Result<Layer, OutsideGroup> {
        let (now, then) = (BddSystem::current_variable(bit), BddSystem::next_variable(bit));
        let split = |&edge: &Edge| {
            let (from0, from1) = cofactors(model, group, edge, now)?;
            let ((stay0, rise), (fall, stay1)) =
                (cofactors(model, group, from0, then)?, cofactors(model, group, from1, then)?);
            Ok((edge, [stay0, rise, fall, stay1]))
        };
        met.iter().map(split).collect::<Result<_, _>>().map(|functions| Layer { functions })
    }

    /// What there is behind the bit, each function once.
    fn next(&self) -> Vec<Edge> {
        let mut next: Vec<Edge> = self.functions.iter().flat_map(|(_, moves)| *moves).collect();
        next.sort_unstable();
        next.dedup();
        next
    }
}

fn cofactors(model: &BddSystem, group: usize, edge: Edge, variable: u32) -> Result<(Edge, Edge), OutsideGroup> {
    match model.node(edge) {
        Some(node) if node.variable < variable => Err(OutsideGroup { group, variable: node.variable }),
        Some(node) if node.variable == variable => {
            let negate = edge.is_complement();
            Ok((node.low.not_if(negate), node.high.not_if(negate)))
        }
        _ => Ok((edge, edge)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tremula_models::{Group, Layout, Node, StateVariable};

    /// One integer of `bits` bits, one group that reads and writes it, with this relation.
    fn system(bits: u32, nodes: Vec<Node>, relation: Edge) -> BddSystem {
        BddSystem {
            variables: vec![StateVariable { bits }],
            action_bits: 1,
            nodes,
            initial: Edge::TRUE,
            groups: vec![Group { reads: vec![0], writes: vec![0], relation }],
            reachable: None,
            action_labels: Vec::new(),
            layout: Layout::Sylvan,
        }
    }

    #[test]
    fn a_relation_that_is_true_still_allows_every_move() {
        let graph = Graph::compile(&system(1, Vec::new(), Edge::TRUE)).unwrap();
        let root = graph.group(0).unwrap();
        for (from, to) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            assert_eq!(graph.moves(root, from, to), [IDENTITY]);
        }
    }

    #[test]
    fn action_labels_are_quantified_away() {
        let label = Node { variable: tremula_models::FIRST_ACTION_VARIABLE, low: Edge::FALSE, high: Edge::TRUE };
        let rise = Node { variable: 1, low: Edge::FALSE, high: Edge::new(1, false) };
        let step = Node { variable: 0, low: Edge::FALSE, high: Edge::new(2, false) };
        let graph = Graph::compile(&system(1, vec![label, rise, step], Edge::new(3, false))).unwrap();
        let root = graph.group(0).unwrap();
        assert_eq!(graph.moves(root, 1, 1), [IDENTITY]);
        assert!(graph.moves(root, 0, 0).is_empty() && graph.moves(root, 0, 1).is_empty());
    }

    #[test]
    fn a_relation_without_transitions_is_none() {
        let graph = Graph::compile(&system(2, Vec::new(), Edge::FALSE)).unwrap();
        assert!(graph.group(0).is_none() && graph.all().is_none());
    }

    /// A system of single bits, with a group for each of these, which sets it.
    fn setters(firsts: &[u32]) -> BddSystem {
        let bits = firsts.iter().max().map_or(0, |last| last + 1);
        let mut model = system(1, Vec::new(), Edge::FALSE);
        model.variables = vec![StateVariable { bits: 1 }; bits as usize];
        let group = |(at, &first): (usize, &u32)| {
            model.nodes.push(Node { variable: 2 * first + 1, low: Edge::FALSE, high: Edge::TRUE });
            Group { reads: vec![first], writes: vec![first], relation: Edge::new(at as u32 + 1, false) }
        };
        model.groups = firsts.iter().enumerate().map(group).collect();
        model
    }

    #[test]
    fn parts_are_halved_between_levels() {
        let graph = Graph::compile(&setters(&[5, 0, 1, 2, 3, 4])).unwrap();
        let levels = |halvings| -> Vec<u32> {
            let parts = graph.all().unwrap().parts(halvings);
            parts.iter().map(|part| graph.level(part.relation)).collect()
        };
        assert_eq!([levels(0), levels(1), levels(9)], [vec![0], vec![3, 0], vec![5, 4, 3, 2, 1, 0]]);
        // Nothing is halved for the sake of saturation that begins at one level, but it can be for want of memory.
        let graph = Graph::compile(&setters(&[2, 0, 0, 0, 0, 0])).unwrap();
        let parts = graph.all().unwrap().parts(9);
        assert_eq!(parts.iter().map(|part| graph.level(part.relation)).collect::<Vec<_>>(), [2, 0]);
        assert!(parts[0].halves.is_none() && parts[1].halves.is_some());
    }

    #[test]
    fn a_variable_outside_the_group_is_an_error() {
        let node = Node { variable: 0, low: Edge::FALSE, high: Edge::TRUE };
        let mut model = system(1, vec![node], Edge::new(1, false));
        model.variables.push(StateVariable { bits: 1 });
        model.groups[0].reads = vec![1];
        model.groups[0].writes = vec![1];
        assert_eq!(Graph::compile(&model).unwrap_err(), OutsideGroup { group: 0, variable: 0 });
    }
}
