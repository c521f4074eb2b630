//! From the nodes of a relation to steps.

use super::import::ImportList;
use super::steps::{Arm, Arms, Step, Steps};
use crate::error::Error;
use rustc_hash::FxHashMap;

/// A transition relation as nodes of lists.
///
/// The relation has a level for each integer that is read or written, and two where it is both: the value before, then
/// the value after. A copy node for the value after stands for the value before. Levels further down do not matter.
#[derive(Copy, Clone, Debug)]
pub struct Transitions<'a> {
    /// The nodes, children first.
    pub nodes: &'a [ImportList],
    /// Number of the relation's node.
    pub root: u32,
    /// How long the vectors are.
    pub length: u32,
    /// Levels of the vectors whose values matter, ascending.
    pub reads: &'a [u32],
    /// Levels whose values may change, ascending.
    pub writes: &'a [u32],
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Role {
    Read,
    Write,
    Both,
}

impl Transitions<'_> {
    /// Levels read or written, and what happens there.
    fn touched(&self) -> Result<Vec<(u32, Role)>, Error> {
        let ascend = |list: &[u32]| list.is_sorted_by(|a, b| a < b) && list.last().is_none_or(|&l| l < self.length);
        if !ascend(self.reads) || !ascend(self.writes) {
            return Err(Error::UnorderedLevels);
        }
        let role = |level: &u32| match self.writes.binary_search(level) {
            Ok(_) => (*level, Role::Both),
            Err(_) => (*level, Role::Read),
        };
        let written = self.writes.iter().filter(|level| self.reads.binary_search(level).is_err());
        let mut touched: Vec<(u32, Role)> =
            self.reads.iter().map(role).chain(written.map(|&level| (level, Role::Write))).collect();
        touched.sort_unstable_by_key(|&(level, _)| level);
        Ok(touched)
    }

    /// Compile into `steps`. The result begins at the first level that the relation touches.
    pub(super) fn compile(self, steps: &mut Steps) -> Result<u32, Error> {
        let touched = self.touched()?;
        Compiler { relation: self, steps, touched, known: FxHashMap::default() }.run()
    }
}

struct Compiler<'a, 's> {
    relation: Transitions<'a>,
    steps: &'s mut Steps,
    touched: Vec<(u32, Role)>,
    /// Steps of lists that begin an integer.
    known: FxHashMap<u32, u32>,
}

impl Compiler<'_, '_> {
    fn run(mut self) -> Result<u32, Error> {
        let mut heads = self.heads()?;
        // Children come first.
        heads.sort_unstable();
        for (head, at) in heads {
            let step = self.compile(head, at)?;
            self.known.insert(head, step);
        }
        Ok(self.step(self.relation.root, 0))
    }

    /// The nodes of a list, and the number of the node that mentions each.
    fn list(&self, head: u32, above: u32) -> Result<Vec<(u32, ImportList)>, Error> {
        let mut list = Vec::new();
        let (mut number, mut above) = (head, above);
        while number != 0 {
            let node = ImportList::get(self.relation.nodes, number, above)?;
            list.push((number, node));
            (number, above) = (node.right, number);
        }
        Ok(list)
    }

    /// For each entry of a list that begins the integer `at`: the arms, with numbers of lists in place of steps.
    fn arms(&self, head: u32, above: u32, role: Role) -> Result<Arms, Error> {
        let mut arms = Arms::default();
        for (number, node) in self.list(head, above)? {
            let malformed = |problem| Err(Error::MalformedNode { position: number as usize, problem });
            if node.down == 0 {
                return malformed("nothing follows its value");
            }
            match role {
                Role::Read if node.copy => return malformed("a copy node for a value that is read"),
                Role::Both if node.copy => return malformed("a copy node for a value that is read"),
                Role::Read => arms.moves.push(Arm { from: node.value, to: node.value, next: node.down }),
                Role::Write if node.copy => arms.keeps.push(node.down),
                Role::Write => arms.sets.push((node.value, node.down)),
                Role::Both => {
                    for (_, written) in self.list(node.down, number)? {
                        let to = if written.copy { node.value } else { written.value };
                        arms.moves.push(Arm { from: node.value, to, next: written.down });
                    }
                }
            }
        }
        Ok(arms)
    }

    /// All lists that begin an integer, and which.
    fn heads(&self) -> Result<Vec<(u32, usize)>, Error> {
        let mut found: FxHashMap<u32, usize> = FxHashMap::default();
        let end = ImportList::FIRST + self.relation.nodes.len() as u32;
        let mut pending = vec![(self.relation.root, 0, end)];
        while let Some((head, at, above)) = pending.pop() {
            if head == 0 || at == self.touched.len() {
                continue;
            }
            match found.insert(head, at) {
                None => {
                    let arms = self.arms(head, above, self.touched[at].1)?;
                    let below = arms.keeps.into_iter().chain(arms.sets.into_iter().map(|(_, next)| next));
                    let below = below.chain(arms.moves.into_iter().map(|arm| arm.next));
                    pending.extend(below.map(|next| (next, at + 1, head)));
                }
                Some(before) if before == at => {}
                Some(_) => {
                    return Err(Error::MalformedNode { position: head as usize, problem: "vectors differ in length" });
                }
            }
        }
        Ok(found.into_iter().collect())
    }

    /// The step of a list that begins the integer `at`.
    fn step(&self, head: u32, at: usize) -> u32 {
        match head {
            0 => Step::EMPTY,
            _ if at == self.touched.len() => Step::IDENTITY,
            _ => self.known[&head],
        }
    }

    fn compile(&mut self, head: u32, at: usize) -> Result<u32, Error> {
        let (level, role) = self.touched[at];
        let mut arms = self.arms(head, u32::MAX, role)?;
        let next_level = self.touched.get(at + 1).map_or(level + 1, |next| next.0);
        let mut below = |head: &mut u32| {
            let step = self.step(*head, at + 1);
            *head = if step == Step::EMPTY { step } else { self.steps.raise(step, next_level, level + 1) };
        };
        arms.keeps.iter_mut().for_each(&mut below);
        arms.sets.iter_mut().for_each(|(_, next)| below(next));
        arms.moves.iter_mut().for_each(|arm| below(&mut arm.next));
        Ok(self.steps.make(level, arms))
    }
}
