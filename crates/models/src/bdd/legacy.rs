//! Reading the layout of 2016.
//!
//! ```text
//! file  := i32 integers   i32 bits of each   i32 action bits
//!          SET initial
//!          i32 groups   REL * groups
//!          i32 has_reachable   [ SET reachable, if not 0 ]
//! SET   := NODES   u64 root   u64 integers (again)   u64 cube
//! REL   := NODES   u64 root   u64 cube
//! NODES := u64 n   n * node
//! ```
//!
//! Ids count through the whole file, starting at 1, and a section lists only nodes that no
//! earlier one has. A set's cube holds all current-state variables. A relation's cube holds the
//! current and next variables of all integers that the group reads or writes.

use super::diagrams::Diagrams;
use crate::cursor::{Cursor, Fault};
use crate::limits::Limits;
use crate::system::{
    BddSystem, Edge, Group, Layout, MAX_ACTION_BITS, MAX_STATE_BITS, MAX_VARIABLE_BITS, StateVariable,
};

/// The state vector as the head of the file describes it.
#[derive(Copy, Clone)]
struct Shape {
    integers: u32,
    bits: u32,
}

impl Shape {
    fn state_bits(self) -> u32 {
        self.integers * self.bits
    }
}

/// Decodes a whole file.
pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<BddSystem, Fault> {
    let mut cursor = Cursor::new(bytes);
    let shape = read_shape(&mut cursor)?;
    let action_bits = cursor.number(0, MAX_ACTION_BITS, "the number of action bits")?;
    let variables = vec![StateVariable { bits: shape.bits }; shape.integers as usize];
    let mut diagrams = Diagrams::new(limits, &variables, action_bits);

    let initial = read_set(&mut cursor, &mut diagrams, shape, "the initial set")?;
    let group_count = cursor.count("the number of groups")?;
    let mut groups = Vec::new();
    for index in 0..group_count {
        groups.push(read_group(&mut cursor, &mut diagrams, shape, index)?);
    }
    let reachable = match cursor.i32("whether the reachable set follows")? {
        0 => None,
        _ => Some(read_set(&mut cursor, &mut diagrams, shape, "the reachable set")?),
    };
    cursor.finish()?;

    let mut system = BddSystem {
        variables,
        action_bits,
        nodes: diagrams.into_nodes(),
        initial,
        groups,
        reachable,
        action_labels: Vec::new(),
        layout: Layout::Legacy,
    };
    // The nodes of the cubes have served their purpose.
    system.compact();
    Ok(system)
}

fn read_shape(cursor: &mut Cursor) -> Result<Shape, Fault> {
    let integers = cursor.number(1, MAX_STATE_BITS, "the number of integers")?;
    let most = MAX_VARIABLE_BITS.min(MAX_STATE_BITS / integers);
    let bits = cursor.number(1, most, "the number of bits of an integer")?;
    Ok(Shape { integers, bits })
}

fn read_set(cursor: &mut Cursor, diagrams: &mut Diagrams, shape: Shape, what: &str) -> Result<Edge, Fault> {
    diagrams.read_nodes(cursor, what)?;
    let root = diagrams.read_set(cursor, what)?;
    let offset = cursor.offset();
    let again = cursor.u64("the number of integers, repeated")?;
    if again != u64::from(shape.integers) {
        let expected = format!("the number of integers, repeated ({})", shape.integers);
        return Err(Fault::new(offset, expected, again));
    }
    read_set_cube(cursor, diagrams, shape)?;
    Ok(root)
}

/// A set is over the whole state: all current-state variables, and no others.
fn read_set_cube(cursor: &mut Cursor, diagrams: &mut Diagrams, shape: Shape) -> Result<(), Fault> {
    let offset = cursor.offset();
    let mut bits = 0;
    diagrams.read_cube(cursor, |variable| {
        let next = BddSystem::current_variable(bits);
        bits += 1;
        if variable == next && bits <= shape.state_bits() {
            Ok(())
        } else {
            Err("a set's cube to hold all current-state variables (even ones) only".into())
        }
    })?;
    if bits == shape.state_bits() {
        return Ok(());
    }
    let expected = format!("a set's cube to hold all {} current-state variables", shape.state_bits());
    Err(Fault::new(offset, expected, format_args!("{bits} of them")))
}

fn read_group(cursor: &mut Cursor, diagrams: &mut Diagrams, shape: Shape, index: u32) -> Result<Group, Fault> {
    let what = format!("the relation of group {index}");
    diagrams.read_nodes(cursor, &what)?;
    let offset = cursor.offset();
    let relation = diagrams.read_edge(cursor, format_args!("the root of {what}"))?;
    let integers = read_relation_cube(cursor, diagrams, shape)?;
    diagrams.check_relation(relation, &integers, offset)?;
    Ok(Group { reads: integers.clone(), writes: integers, relation })
}

/// The integers of a relation's cube, ascending. Each must be there with all its variables.
fn read_relation_cube(cursor: &mut Cursor, diagrams: &mut Diagrams, shape: Shape) -> Result<Vec<u32>, Fault> {
    let offset = cursor.offset();
    let per_integer = 2 * shape.bits;
    let mut integers: Vec<u32> = Vec::new();
    let mut of_this = per_integer;
    diagrams.read_cube(cursor, |variable| {
        if of_this == per_integer {
            of_this = 0;
            integers.push(variable / per_integer);
        }
        let integer = integers.last().copied().unwrap_or(0);
        let next = integer * per_integer + of_this;
        of_this += 1;
        if variable == next && integer < shape.integers {
            Ok(())
        } else {
            Err(format!("a relation's cube to hold all {per_integer} variables of integers only"))
        }
    })?;
    if of_this != per_integer {
        let expected = format!("a relation's cube to hold all {per_integer} variables of an integer");
        return Err(Fault::new(offset, expected, format_args!("{of_this} of its last one's")));
    }
    diagrams.count_projections(2 * integers.len() as u64, offset)?;
    Ok(integers)
}
