//! Sets from lists of nodes.

use super::ldd::Ldd;
use crate::error::Error;
use crate::manager::{Core, Manager};
use tremula_table::Ref;

/// A node handed in by [`Manager::import_lists`] or [`Manager::list_relation`]. Number 0 is the empty set, 1 the set of the
/// empty vector, and from [`ImportList::FIRST`] on the nodes of the list, in their order.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct ImportList {
    /// The value; means nothing in a copy node.
    pub value: u32,
    /// In relations only: keep the value that was read.
    pub copy: bool,
    /// What follows the value; not empty.
    pub down: u32,
    /// The node with the next larger value, or 0.
    pub right: u32,
}

impl ImportList {
    /// Number of the first node of a list.
    pub const FIRST: u32 = 2;

    /// The node with a number that is not 0 or 1, if there is one; `above` is the number of the node that mentions it.
    pub(super) fn get(nodes: &[ImportList], number: u32, above: u32) -> Result<ImportList, Error> {
        let missing = "it refers to a node that does not come before it";
        let malformed = |problem| Error::MalformedNode { position: above as usize, problem };
        let position = number.checked_sub(Self::FIRST).ok_or_else(|| malformed("its vectors are too short"))?;
        let found = nodes.get(position as usize).filter(|_| number < above);
        found.copied().ok_or_else(|| malformed(missing))
    }
}

impl Manager {
    /// The empty set of vectors.
    pub fn no_vectors(&self) -> Ldd {
        self.list_handle(Ref::FALSE)
    }

    /// The set of one vector.
    pub fn vector(&self, values: &[u32]) -> Result<Ldd, Error> {
        let core = &mut *self.core.borrow_mut();
        core.use_levels(values.len())?;
        let table = &mut core.table;
        let made = values.iter().rev().try_fold(Ref::TRUE, |rest, &value| table.make_list(value, rest, Ref::FALSE))?;
        let slot = table.handles_mut().open(made);
        Ok(self.list_in(slot))
    }

    /// Build sets from a list of nodes, children first, and return those at `roots`. Other nodes do not matter.
    pub fn import_lists(&self, nodes: &[ImportList], roots: &[u32]) -> Result<Vec<Ldd>, Error> {
        let core = &mut *self.core.borrow_mut();
        let depth = core.table.depth();
        let built = Import { core, nodes, built: vec![None; nodes.len()] }.run(roots);
        core.table.unwind(depth);
        let slots: Vec<u32> = built?.into_iter().map(|set| core.table.handles_mut().open(set)).collect();
        Ok(slots.into_iter().map(|slot| self.list_in(slot)).collect())
    }
}

struct Import<'a> {
    core: &'a mut Core,
    nodes: &'a [ImportList],
    /// The node for each node of the list, and how long its vectors are.
    built: Vec<Option<(Ref, u32)>>,
}

impl Import<'_> {
    fn run(mut self, roots: &[u32]) -> Result<Vec<Ref>, Error> {
        let wanted = self.reachable(roots)?;
        for (at, _) in wanted.into_iter().enumerate().filter(|&(_, wanted)| wanted) {
            self.build(at)?;
        }
        roots.iter().map(|&root| Ok(self.find(root).expect("built").0)).collect()
    }

    /// Which nodes the roots need.
    fn reachable(&self, roots: &[u32]) -> Result<Vec<bool>, Error> {
        let mut wanted = vec![false; self.nodes.len()];
        let end = ImportList::FIRST + self.nodes.len() as u32;
        let mut pending: Vec<(u32, u32)> = roots.iter().map(|&root| (root, end)).collect();
        while let Some((number, above)) = pending.pop() {
            if number < ImportList::FIRST {
                continue;
            }
            let node = ImportList::get(self.nodes, number, above)?;
            if !std::mem::replace(&mut wanted[(number - ImportList::FIRST) as usize], true) {
                pending.extend([(node.down, number), (node.right, number)]);
            }
        }
        Ok(wanted)
    }

    /// A set that was built, and how long its vectors are; the length of the empty set means nothing.
    fn find(&self, number: u32) -> Option<(Ref, u32)> {
        match number {
            0 => Some((Ref::FALSE, 0)),
            1 => Some((Ref::TRUE, 0)),
            _ => self.built[(number - ImportList::FIRST) as usize],
        }
    }

    fn build(&mut self, at: usize) -> Result<(), Error> {
        let node = self.nodes[at];
        let malformed = |problem| Err(Error::MalformedNode { position: at, problem });
        let (Some((down, length)), Some((right, right_length))) = (self.find(node.down), self.find(node.right)) else {
            return malformed("it refers to a node that does not come before it");
        };
        let length = length + 1;
        if node.copy {
            return malformed("a copy node in a set");
        }
        if down == Ref::FALSE || right == Ref::TRUE {
            return malformed("its children are not those of a list");
        }
        if right != Ref::FALSE && right_length != length {
            return malformed("vectors differ in length");
        }
        if right != Ref::FALSE && self.core.table.node(right).value() <= node.value {
            return malformed("values do not ascend");
        }
        self.core.use_levels(length as usize)?;
        let made = self.core.table.make_list(node.value, down, right)?;
        self.core.table.keep(made);
        self.built[at] = Some((made, length));
        Ok(())
    }
}
