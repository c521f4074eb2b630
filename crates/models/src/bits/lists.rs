//! Systems of list decision diagrams, as bits.
//!
//! An integer has as many bits as the greatest value needs that it has at the start or is given by a transition. A list
//! of values becomes a decision on the bits of its integer; the diagrams are built from the last integer up, so nothing
//! recurs but over the bits of one integer.

use super::{Bits, TooManyBits};
use crate::ldd::{LddSystem, ListGroup, ListNode};
use crate::system::{BddSystem, Edge, Group};
use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};

/// One way in which an integer moves, and what holds for the integers behind it.
#[derive(Copy, Clone)]
struct Move {
    /// The value before; none if it does not matter.
    before: Option<u32>,
    /// The value after; none if it stays.
    after: Option<u32>,
    behind: Edge,
}

/// What the levels of a diagram say about one integer.
#[derive(Copy, Clone)]
struct Stage {
    integer: usize,
    reads: bool,
    writes: bool,
}

impl LddSystem {
    /// The same system in bits, if it takes at most so many nodes, and about as much work.
    ///
    /// # Panics
    ///
    /// If L1 to L6 are violated.
    pub fn in_bits(&self, most_nodes: usize) -> Result<BddSystem, TooManyBits> {
        let walk = Walk { system: self, left: Cell::new(most_nodes) };
        let mut bits = Bits::new(&walk.greatest_values()?, most_nodes)?;
        let initial = bits.diagram(&walk, self.initial, &stages_of_set(self.integers), Bits::values)?;
        let mut groups = Vec::new();
        for group in &self.groups {
            let relation = bits.diagram(&walk, group.relation, &stages(group), Bits::moves)?;
            groups.push(Group { reads: group.reads.clone(), writes: group.writes.clone(), relation });
        }
        Ok(bits.finish(initial, groups))
    }
}

/// A way through the lists of a system. Lists share their ends, and nodes their lists, so that a walk can be much longer
/// than the file.
struct Walk<'a> {
    system: &'a LddSystem,
    /// Moves that may still be looked at.
    left: Cell<usize>,
}

/// What the levels of a stage say: the value before, the value after, and the list behind them.
type Step = (Option<u32>, Option<u32>, u32);

impl Walk<'_> {
    /// The greatest value that each integer ever has.
    fn greatest_values(&self) -> Result<Vec<u32>, TooManyBits> {
        let mut greatest = vec![0; self.system.integers as usize];
        let mut note = |stages: &[Stage], root: u32, is_set: bool| -> Result<(), TooManyBits> {
            for (stage, heads) in stages.iter().zip(self.heads(root, stages)?) {
                let most = &mut greatest[stage.integer];
                for head in heads {
                    let steps = self.steps(head, *stage)?.into_iter();
                    let given = steps.filter_map(|(before, after, _)| if is_set { before } else { after });
                    *most = given.fold(*most, u32::max);
                }
            }
            Ok(())
        };
        note(&stages_of_set(self.system.integers), self.system.initial, true)?;
        self.system.groups.iter().try_for_each(|group| note(&stages(group), group.relation, false))?;
        Ok(greatest)
    }

    /// The lists at which the levels of each stage begin.
    fn heads(&self, root: u32, stages: &[Stage]) -> Result<Vec<BTreeSet<u32>>, TooManyBits> {
        let mut heads: Vec<BTreeSet<u32>> = Vec::new();
        let mut here: BTreeSet<u32> = (root != LddSystem::EMPTY).then_some(root).into_iter().collect();
        for stage in stages {
            let mut next = BTreeSet::new();
            for &head in &here {
                next.extend(self.steps(head, *stage)?.into_iter().map(|(_, _, behind)| behind));
            }
            heads.push(std::mem::replace(&mut here, next));
        }
        Ok(heads)
    }

    /// What the levels of a stage say from a list on.
    fn steps(&self, head: u32, stage: Stage) -> Result<Vec<Step>, TooManyBits> {
        let written = |node: &ListNode| (!node.copy).then_some(node.value);
        let mut steps = Vec::new();
        for node in self.list(head) {
            self.spend()?;
            match stage {
                Stage { reads: true, writes: false, .. } => steps.push((Some(node.value), None, node.down)),
                Stage { reads: false, .. } => steps.push((None, written(node), node.down)),
                Stage { reads: true, writes: true, .. } => {
                    for after in self.list(node.down) {
                        self.spend()?;
                        steps.push((Some(node.value), written(after), after.down));
                    }
                }
            }
        }
        Ok(steps)
    }

    fn spend(&self) -> Result<(), TooManyBits> {
        self.left.set(self.left.get().checked_sub(1).ok_or(TooManyBits)?);
        Ok(())
    }

    /// The nodes of a list.
    fn list(&self, head: u32) -> impl Iterator<Item = &ListNode> {
        std::iter::successors(self.system.node(head), |node| self.system.node(node.right))
    }
}

/// A set has a level for each integer.
fn stages_of_set(integers: u32) -> Vec<Stage> {
    (0..integers as usize).map(|integer| Stage { integer, reads: true, writes: false }).collect()
}

fn stages(group: &ListGroup) -> Vec<Stage> {
    let mut integers = [&group.reads[..], &group.writes].concat();
    integers.sort_unstable();
    integers.dedup();
    let stage = |integer: u32| Stage {
        integer: integer as usize,
        reads: group.reads.binary_search(&integer).is_ok(),
        writes: group.writes.binary_search(&integer).is_ok(),
    };
    integers.into_iter().map(stage).collect()
}

impl Bits {
    /// A set or a relation, in which `decide` makes one integer's part.
    fn diagram(
        &mut self,
        walk: &Walk,
        root: u32,
        stages: &[Stage],
        decide: impl Fn(&mut Bits, usize, &[Move]) -> Result<Edge, TooManyBits>,
    ) -> Result<Edge, TooManyBits> {
        if root == LddSystem::EMPTY {
            return Ok(Edge::FALSE);
        }
        // Behind the last integer there is nothing more to say, or an action label, which does not matter.
        let mut behind: Option<HashMap<u32, Edge>> = None;
        for (stage, heads) in stages.iter().zip(walk.heads(root, stages)?).rev() {
            let mut here = HashMap::new();
            for head in heads {
                let edge = |list: u32| behind.as_ref().map_or(Edge::TRUE, |known| known[&list]);
                let steps = walk.steps(head, *stage)?.into_iter();
                let moves: Vec<Move> =
                    steps.map(|(before, after, list)| Move { before, after, behind: edge(list) }).collect();
                here.insert(head, decide(self, stage.integer, &moves)?);
            }
            behind = Some(here);
        }
        Ok(behind.map_or(Edge::TRUE, |known| known[&root]))
    }

    /// Some values of an integer.
    fn values(&mut self, integer: usize, moves: &[Move]) -> Result<Edge, TooManyBits> {
        self.values_below(integer, self.variables[integer].bits, moves)
    }

    fn values_below(&mut self, integer: usize, width: u32, moves: &[Move]) -> Result<Edge, TooManyBits> {
        let Some(first) = moves.first() else { return Ok(Edge::FALSE) };
        let Some(significance) = width.checked_sub(1) else { return Ok(first.behind) };
        // Values ascend.
        let bit_is_set = |each: &Move| each.before.is_some_and(|value| value >> significance & 1 == 1);
        let (low, high) = moves.split_at(moves.partition_point(|each| !bit_is_set(each)));
        let [low, high] = [low, high].map(|half| self.values_below(integer, significance, half));
        let variable = BddSystem::current_variable(self.bit(integer, significance));
        Ok(self.builder.decide(variable, low?, high?)?)
    }

    /// Some moves of an integer.
    fn moves(&mut self, integer: usize, moves: &[Move]) -> Result<Edge, TooManyBits> {
        let width = self.variables[integer].bits;
        let has = |value: Option<u32>| value.is_none_or(|value| u64::from(value) < 1 << width);
        // Values that it never has do not matter.
        let possible = (0..moves.len() as u32).filter(|&each| has(moves[each as usize].before)).collect();
        self.moves_below(integer, (width, possible), moves, &mut HashMap::new())
    }

    /// What is left of some moves when all but the lowest bits are decided.
    fn moves_below(
        &mut self,
        integer: usize,
        (width, left): (u32, Vec<u32>),
        moves: &[Move],
        known: &mut HashMap<(u32, Vec<u32>), Edge>,
    ) -> Result<Edge, TooManyBits> {
        if left.is_empty() {
            return Ok(Edge::FALSE);
        }
        let Some(significance) = width.checked_sub(1) else {
            let behind: Vec<Edge> = left.iter().map(|&each| moves[each as usize].behind).collect();
            return behind.into_iter().try_fold(Edge::FALSE, |all, edge| Ok(self.builder.or(all, edge)?));
        };
        if let Some(&edge) = known.get(&(width, left.clone())) {
            return Ok(edge);
        }
        let mut below = [[Edge::FALSE; 2]; 2];
        for (before, row) in (0..).zip(&mut below) {
            for (after, edge) in (0..).zip(row) {
                let goes = |each: &u32| {
                    let Move { before: from, after: to, .. } = moves[*each as usize];
                    let bit = |value: u32| value >> significance & 1;
                    from.is_none_or(|value| bit(value) == before) && to.map_or(before, bit) == after
                };
                let rest: Vec<u32> = left.iter().copied().filter(goes).collect();
                *edge = self.moves_below(integer, (significance, rest), moves, known)?;
            }
        }
        let edge = self.decide_move(self.bit(integer, significance), below)?;
        known.insert((width, left), edge);
        Ok(edge)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An element of a vector of a relation; none is a copy.
    type Elements = Vec<Option<u32>>;

    /// The nodes of a set of vectors, which ascend; copies come first.
    fn list(nodes: &mut Vec<ListNode>, vectors: &[Elements], at: usize) -> u32 {
        let Some(first) = vectors.first() else { return LddSystem::EMPTY };
        let Some(&element) = first.get(at) else { return LddSystem::UNIT };
        let (same, others) = vectors.split_at(vectors.partition_point(|vector| vector[at] == element));
        let (right, down) = (list(nodes, others, at), list(nodes, same, at + 1));
        nodes.push(ListNode { value: element.unwrap_or(0), copy: element.is_none(), down, right });
        LddSystem::FIRST_NODE + nodes.len() as u32 - 1
    }

    /// Does a vector of a relation lead from one state to another?
    fn leads(stages: &[Stage], vector: &[Option<u32>], from: &[u32], to: &[u32]) -> bool {
        let mut elements = vector.iter();
        let mut next = || *elements.next().expect("as many as the stages say");
        let mut untouched: BTreeSet<usize> = (0..from.len()).collect();
        let ok = stages.iter().all(|stage| {
            untouched.remove(&stage.integer);
            let (before, after) = (from[stage.integer], to[stage.integer]);
            (!stage.reads || next() == Some(before))
                && after == if stage.writes { next().unwrap_or(before) } else { before }
        });
        ok && untouched.iter().all(|&integer| from[integer] == to[integer])
    }

    #[test]
    fn relations_lead_where_their_lists_lead() {
        const INTEGERS: u32 = 3;
        let mut state = 42_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..60 {
            let [reads, writes] = [0, 1].map(|_| (0..INTEGERS).filter(|_| random(3) > 0).collect::<Vec<u32>>());
            let mut group = ListGroup { reads, writes, relation: LddSystem::EMPTY };
            let stages = stages(&group);
            let mut vectors: Vec<Elements> = Vec::new();
            for _ in 0..random(12) {
                let levels = stages.iter().flat_map(|stage| [(stage.reads, false), (stage.writes, true)]);
                let elements = levels
                    .filter(|&(exists, _)| exists)
                    .map(|(_, writes)| if writes && random(3) == 0 { None } else { Some(random(6) as u32) });
                vectors.push(elements.collect());
            }
            vectors.sort();
            vectors.dedup();
            let mut nodes = Vec::new();
            group.relation = list(&mut nodes, &vectors, 0);
            let initial = [1, 0, 2].map(Some).to_vec();
            let initial = list(&mut nodes, &[initial], 0);
            let lists = LddSystem {
                integers: INTEGERS,
                nodes,
                initial,
                groups: vec![group],
                reachable: None,
                action_labels: Vec::new(),
            };
            assert_eq!(lists.check(), Ok(()));
            let system = lists.in_bits(10_000).unwrap();
            assert_eq!(system.check(), Ok(()));
            compare(&system, &stages, &vectors);
        }
    }

    #[test]
    fn what_is_much_larger_than_its_file_is_refused() {
        const VALUES: u32 = 1 << 12;
        // Every value leads to every value: few nodes, many moves.
        let mut nodes: Vec<ListNode> = Vec::new();
        for down in [LddSystem::UNIT, LddSystem::FIRST_NODE + VALUES - 1] {
            for value in (0..VALUES).rev() {
                let right =
                    if value == VALUES - 1 { LddSystem::EMPTY } else { LddSystem::FIRST_NODE + nodes.len() as u32 - 1 };
                nodes.push(ListNode { value, copy: false, down, right });
            }
        }
        let relation = LddSystem::FIRST_NODE + nodes.len() as u32 - 1;
        nodes.push(ListNode { value: 0, copy: false, down: LddSystem::UNIT, right: LddSystem::EMPTY });
        let group = ListGroup { reads: vec![0], writes: vec![0], relation };
        let lists = LddSystem {
            integers: 1,
            nodes,
            initial: relation + 1,
            groups: vec![group],
            reachable: None,
            action_labels: Vec::new(),
        };
        assert_eq!(lists.check(), Ok(()));
        assert_eq!(lists.in_bits(100_000), Err(TooManyBits));
    }

    /// Whatever the values of all integers, the relation is that of the vectors.
    fn compare(system: &BddSystem, stages: &[Stage], vectors: &[Elements]) {
        let bits = system.state_bits();
        let firsts = system.first_bits();
        let integers = |word: u32| -> Vec<u32> {
            let value = |(first, width): (u32, u32)| word >> (bits - first - width) & ((1 << width) - 1);
            firsts.iter().copied().zip(system.variables.iter().map(|variable| variable.bits)).map(value).collect()
        };
        let bit = |word: u32, bit: u32| word >> (bits - 1 - bit) & 1 == 1;
        assert_eq!(
            (0..1 << bits)
                .filter(|&word| system.evaluate(system.initial, |v| bit(word, v / 2)))
                .map(integers)
                .collect::<Vec<_>>(),
            [[1, 0, 2]]
        );
        let touched: BTreeSet<usize> = stages.iter().map(|stage| stage.integer).collect();
        for from in 0..1 << bits {
            for to in 0..1 << bits {
                let (before, after) = (integers(from), integers(to));
                // What no stage is about is kept by whoever applies the relation.
                if (0..before.len()).any(|integer| !touched.contains(&integer) && before[integer] != after[integer]) {
                    continue;
                }
                let holds =
                    system.evaluate(system.groups[0].relation, |v| bit(if v % 2 == 0 { from } else { to }, v / 2));
                assert_eq!(
                    holds,
                    vectors.iter().any(|vector| leads(stages, vector, &before, &after)),
                    "{before:?} {after:?}"
                );
            }
        }
    }
}
