//! Reading the layout of Sylvan's model files.
//!
//! ```text
//! file := i32 integers   i32 bits * integers   i32 action bits
//!         SET initial
//!         i32 groups   PROJ * groups   DD * groups
//!         i32 has_reachable   [ SET reachable, if not 0 ]
//!         i32 labels   ( u32 length   bytes ) * labels
//! SET  := i32 -1 (all integers)   DD
//! PROJ := i32 r   i32 w   i32 read * r   i32 write * w
//! DD   := u64 n   n * node   i32 1 (one root)   u64 root
//! ```
//!
//! Ids start at 1 in every `DD`. Read and write lists hold indices of integers, ascending.

use super::diagrams::Diagrams;
use crate::cursor::{Cursor, Fault};
use crate::limits::Limits;
use crate::system::{
    BddSystem, Edge, Group, Layout, MAX_ACTION_BITS, MAX_STATE_BITS, MAX_VARIABLE_BITS, StateVariable,
};

/// Says that a set is over the whole state, not over some of its integers.
pub(super) const ALL_INTEGERS: i32 = -1;

/// Decodes a whole file.
pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<BddSystem, Fault> {
    let mut cursor = Cursor::new(bytes);
    let variables = read_variables(&mut cursor)?;
    let action_bits = cursor.number(0, MAX_ACTION_BITS, "the number of action bits")?;
    let mut diagrams = Diagrams::new(limits, &variables, action_bits);

    let initial = read_set(&mut cursor, &mut diagrams, "the initial set")?;
    let group_count = cursor.count("the number of groups")?;
    let mut groups = Vec::new();
    for _ in 0..group_count {
        groups.push(read_projection(&mut cursor, &mut diagrams, variables.len() as u32)?);
    }
    for (index, group) in groups.iter_mut().enumerate() {
        group.relation = read_relation(&mut cursor, &mut diagrams, group, index)?;
    }
    let reachable = match cursor.i32("whether the reachable set follows")? {
        0 => None,
        _ => Some(read_set(&mut cursor, &mut diagrams, "the reachable set")?),
    };
    let action_labels = read_labels(&mut cursor)?;
    cursor.finish()?;

    let nodes = diagrams.into_nodes();
    let layout = Layout::Sylvan;
    let mut system = BddSystem { variables, action_bits, nodes, initial, groups, reachable, action_labels, layout };
    system.compact();
    Ok(system)
}

fn read_variables(cursor: &mut Cursor) -> Result<Vec<StateVariable>, Fault> {
    let integers = cursor.number(1, MAX_STATE_BITS, "the number of integers")?;
    let mut bits_left = MAX_STATE_BITS;
    let mut variables = Vec::new();
    for index in 0..integers {
        let most = MAX_VARIABLE_BITS.min(bits_left);
        let what = format_args!("the number of bits of integer {index}");
        let bits = cursor.number(1, most, what)?;
        bits_left -= bits;
        variables.push(StateVariable { bits });
    }
    Ok(variables)
}

fn read_set(cursor: &mut Cursor, diagrams: &mut Diagrams, what: &str) -> Result<Edge, Fault> {
    let offset = cursor.offset();
    let integers = cursor.i32(format_args!("the integers of {what}"))?;
    if integers != ALL_INTEGERS {
        let expected = format!("{what} to be over all integers ({ALL_INTEGERS})");
        return Err(Fault::new(offset, expected, integers));
    }
    read_diagram(cursor, diagrams, what)?;
    diagrams.read_set(cursor, what)
}

/// Reads a diagram up to its root, which the caller knows how to check.
fn read_diagram(cursor: &mut Cursor, diagrams: &mut Diagrams, what: &str) -> Result<(), Fault> {
    diagrams.restart_ids();
    diagrams.read_nodes(cursor, what)?;
    cursor.number(1, 1, format_args!("the number of roots of {what}")).map(drop)
}

/// Reads what a group reads and writes. Its relation comes later in the file.
fn read_projection(cursor: &mut Cursor, diagrams: &mut Diagrams, integers: u32) -> Result<Group, Fault> {
    let offset = cursor.offset();
    let reads = cursor.number(0, integers, "the number of integers read")?;
    let writes = cursor.number(0, integers, "the number of integers written")?;
    diagrams.count_projections(u64::from(reads) + u64::from(writes), offset)?;
    let mut list = |count: u32, what: &str| {
        let mut list = Vec::new();
        for _ in 0..count {
            let least = list.last().map_or(0, |last| last + 1);
            list.push(cursor.number(least, integers - 1, what)?);
        }
        Ok(list)
    };
    let reads = list(reads, "the index of an integer read, ascending,")?;
    let writes = list(writes, "the index of an integer written, ascending,")?;
    Ok(Group { reads, writes, relation: Edge::FALSE })
}

fn read_relation(cursor: &mut Cursor, diagrams: &mut Diagrams, group: &Group, index: usize) -> Result<Edge, Fault> {
    let what = format!("the relation of group {index}");
    read_diagram(cursor, diagrams, &what)?;
    let offset = cursor.offset();
    let root = diagrams.read_edge(cursor, format_args!("the root of {what}"))?;
    diagrams.check_relation(root, &group.touched(), offset)?;
    Ok(root)
}

fn read_labels(cursor: &mut Cursor) -> Result<Vec<Vec<u8>>, Fault> {
    let count = cursor.count("the number of action labels")?;
    let mut labels = Vec::new();
    for index in 0..count {
        let length = cursor.u32(format_args!("the length of action label {index}"))?;
        let label = cursor.bytes(length as usize, format_args!("action label {index}"))?;
        labels.push(label.to_vec());
    }
    Ok(labels)
}
