//! Writing either layout.

use std::io::{BufWriter, Write};

use super::pad::{self, Uniform};
use super::sylvan::ALL_INTEGERS;
use super::{COMPLEMENT, ID_BITS};
use crate::builder::{Builder, Full};
use crate::error::WriteError;
use crate::system::{BddSystem, Edge, Layout, Node};

/// Marks a node that will get an id in the file, but has none yet.
const PENDING: u32 = u32::MAX;

/// Writes a system, in whichever layout; not necessarily the one it was read from.
///
/// Some things have no place in the legacy layout. Action labels are left out, reading and
/// writing become one, and if the integers differ in width the narrower ones get leading bits
/// that are 0 in every state and every transition.
///
/// # Errors
///
/// If the system violates its invariants, does not fit the layout, or cannot be written.
pub fn write_bdd(system: &BddSystem, layout: Layout, out: impl Write) -> Result<(), WriteError> {
    system.check()?;
    let mut out = Output { out: BufWriter::new(out), layout };
    match layout {
        Layout::Legacy => write_legacy(system, &mut out)?,
        Layout::Sylvan => write_sylvan(system, &mut out)?,
    }
    Ok(out.out.flush()?)
}

fn write_sylvan<W: Write>(system: &BddSystem, out: &mut Output<W>) -> Result<(), WriteError> {
    let nodes = &system.nodes;
    let mut numbering = Numbering::new(nodes.len());
    out.count(system.variables.len())?;
    for variable in &system.variables {
        out.u32(variable.bits)?;
    }
    out.u32(system.action_bits)?;
    out.u32(ALL_INTEGERS as u32)?;
    out.diagram(nodes, &mut numbering, system.initial)?;
    out.count(system.groups.len())?;
    for group in &system.groups {
        out.count(group.reads.len())?;
        out.count(group.writes.len())?;
        for &integer in group.reads.iter().chain(&group.writes) {
            out.u32(integer)?;
        }
    }
    for group in &system.groups {
        out.diagram(nodes, &mut numbering, group.relation)?;
    }
    out.u32(u32::from(system.reachable.is_some()))?;
    if let Some(reachable) = system.reachable {
        out.u32(ALL_INTEGERS as u32)?;
        out.diagram(nodes, &mut numbering, reachable)?;
    }
    out.count(system.action_labels.len())?;
    for label in &system.action_labels {
        out.count(label.len())?;
        out.out.write_all(label)?;
    }
    Ok(())
}

fn write_legacy<W: Write>(system: &BddSystem, out: &mut Output<W>) -> Result<(), WriteError> {
    let Some(width) = pad::width(system) else {
        return Err(out.does_not_fit("integers of one width need more state bits than there are"));
    };
    let no_id_left = |Full| out.does_not_fit("its nodes need more ids than there are");
    let mut uniform = Uniform::new(system, width).map_err(no_id_left)?;
    let cubes = Cubes::new(&mut uniform.builder, system, width).map_err(no_id_left)?;

    let nodes = uniform.builder.nodes();
    let mut numbering = Numbering::new(nodes.len());
    let integers = system.variables.len();
    out.count(integers)?;
    out.u32(width)?;
    out.u32(system.action_bits)?;
    let set = |out: &mut Output<W>, numbering: &mut Numbering, root| {
        out.section(nodes, numbering, &[root, cubes.state])?;
        out.u64(numbering.encode(root))?;
        out.u64(integers as u64)?;
        out.u64(numbering.encode(cubes.state))
    };
    set(out, &mut numbering, uniform.initial)?;
    out.count(cubes.groups.len())?;
    for (&relation, &cube) in uniform.relations.iter().zip(&cubes.groups) {
        out.section(nodes, &mut numbering, &[relation, cube])?;
        out.u64(numbering.encode(relation))?;
        out.u64(numbering.encode(cube))?;
    }
    out.u32(u32::from(uniform.reachable.is_some()))?;
    uniform.reachable.map_or(Ok(()), |reachable| set(out, &mut numbering, reachable))
}

/// The variables that sets and relations are over, in the legacy layout: conjunctions of
/// positive variables.
struct Cubes {
    /// All current-state variables.
    state: Edge,
    /// For each group, the current and next variables of its integers.
    groups: Vec<Edge>,
}

impl Cubes {
    fn new(builder: &mut Builder, system: &BddSystem, width: u32) -> Result<Self, Full> {
        let bits = width * system.variables.len() as u32;
        let state = (0..bits).map(BddSystem::current_variable);
        let state = Self::cube(builder, state)?;
        let per_integer = 2 * width;
        let groups = system.groups.iter().map(|group| {
            let touched = group.touched();
            let variables = touched.iter().flat_map(|i| i * per_integer..(i + 1) * per_integer);
            Self::cube(builder, variables)
        });
        Ok(Self { state, groups: groups.collect::<Result<_, _>>()? })
    }

    /// The conjunction of these variables, given ascending.
    fn cube(builder: &mut Builder, variables: impl DoubleEndedIterator<Item = u32>) -> Result<Edge, Full> {
        let conjoin = |rest, variable| builder.decide(variable, Edge::FALSE, rest);
        variables.rev().try_fold(Edge::TRUE, conjoin)
    }
}

/// The ids that nodes have in the file.
struct Numbering {
    /// For each id of the system, its id in the file, or 0 while it has none.
    file_ids: Vec<u32>,
    last: u32,
}

impl Numbering {
    fn new(nodes: usize) -> Self {
        Self { file_ids: vec![0; nodes + 1], last: 0 }
    }

    /// Gives ids to the nodes below `roots` that have none; these nodes, in the order of ids.
    fn extend(&mut self, nodes: &[Node], roots: &[Edge]) -> Vec<u32> {
        let mut pending: Vec<Edge> = roots.to_vec();
        let mut new = Vec::new();
        while let Some(edge) = pending.pop() {
            let id = edge.id();
            if id == 0 || self.file_ids[id as usize] != 0 {
                continue;
            }
            self.file_ids[id as usize] = PENDING;
            new.push(id);
            let node = nodes[id as usize - 1];
            pending.extend([node.low, node.high]);
        }
        // Children have smaller ids than their parents, and it stays that way.
        new.sort_unstable();
        for &id in &new {
            self.last += 1;
            self.file_ids[id as usize] = self.last;
        }
        new
    }

    /// Forgets the ids of these nodes, which must be all that have any.
    fn restart(&mut self, numbered: &[u32]) {
        for &id in numbered {
            self.file_ids[id as usize] = 0;
        }
        self.last = 0;
    }

    fn encode(&self, edge: Edge) -> u64 {
        let mark = if edge.is_complement() { COMPLEMENT } else { 0 };
        u64::from(self.file_ids[edge.id() as usize]) | mark
    }
}

/// The file being written.
struct Output<W: Write> {
    out: BufWriter<W>,
    layout: Layout,
}

impl<W: Write> Output<W> {
    fn does_not_fit(&self, reason: &'static str) -> WriteError {
        WriteError::DoesNotFit { layout: self.layout, reason }
    }

    fn u32(&mut self, value: u32) -> Result<(), WriteError> {
        Ok(self.out.write_all(&value.to_le_bytes())?)
    }

    fn u64(&mut self, value: u64) -> Result<(), WriteError> {
        Ok(self.out.write_all(&value.to_le_bytes())?)
    }

    /// A number of things, which readers take as signed.
    fn count(&mut self, count: usize) -> Result<(), WriteError> {
        let count =
            i32::try_from(count).map_err(|_| self.does_not_fit("a list is longer than a 32-bit number can say"))?;
        Ok(self.out.write_all(&count.to_le_bytes())?)
    }

    /// Writes the nodes below `roots` that are not in the file yet; these nodes.
    fn section(&mut self, nodes: &[Node], numbering: &mut Numbering, roots: &[Edge]) -> Result<Vec<u32>, WriteError> {
        let new = numbering.extend(nodes, roots);
        self.u64(new.len() as u64)?;
        for &id in &new {
            let node = nodes[id as usize - 1];
            self.u64(numbering.encode(node.high))?;
            self.u64(u64::from(node.variable) << ID_BITS | numbering.encode(node.low))?;
        }
        Ok(new)
    }

    /// Writes a diagram that shares nothing with others.
    fn diagram(&mut self, nodes: &[Node], numbering: &mut Numbering, root: Edge) -> Result<(), WriteError> {
        let numbered = self.section(nodes, numbering, &[root])?;
        self.u32(1)?;
        self.u64(numbering.encode(root))?;
        numbering.restart(&numbered);
        Ok(())
    }
}
