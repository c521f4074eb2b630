//! Nodes, edges and the checks on them, which the two layouts have in common.

use std::fmt::Display;
use std::ops::Range;

use super::{COMPLEMENT, ID_BITS};
use crate::builder::Builder;
use crate::cursor::{Cursor, Fault};
use crate::limits::Limits;
use crate::support::{Support, check_support};
use crate::system::{Edge, FIRST_ACTION_VARIABLE, Node, StateVariable};

const ID_MASK: u64 = (1 << ID_BITS) - 1;

/// Marks a node as a leaf that holds a number.
const LEAF: u64 = 1 << 62;

/// The diagrams of the file read so far.
///
/// Whatever it hands out refers to nodes that satisfy S2 to S4 of
/// [`BddSystem`](crate::BddSystem).
pub(super) struct Diagrams<'a> {
    limits: &'a Limits,
    builder: Builder,
    /// For each id in the file, the terminal's 0 included, the edge to its node.
    edges: Vec<Edge>,
    nodes_read: u64,
    /// For each state bit, the integer it belongs to.
    integer_of_bit: Vec<u32>,
    actions: Range<u32>,
    support: Support,
    /// Variables in all cubes read.
    cube_variables: u64,
    projections: u64,
}

impl<'a> Diagrams<'a> {
    /// No diagrams yet, over these integers and action bits (which satisfy S1).
    pub(super) fn new(limits: &'a Limits, variables: &[StateVariable], action_bits: u32) -> Self {
        let mut integer_of_bit = Vec::new();
        for (integer, variable) in (0..).zip(variables) {
            integer_of_bit.extend((0..variable.bits).map(|_| integer));
        }
        Self {
            limits,
            builder: Builder::new(),
            edges: vec![Edge::FALSE],
            nodes_read: 0,
            integer_of_bit,
            actions: FIRST_ACTION_VARIABLE..FIRST_ACTION_VARIABLE + action_bits,
            support: Support::new(),
            cube_variables: 0,
            projections: 0,
        }
    }

    pub(super) fn into_nodes(self) -> Vec<Node> {
        self.builder.into_nodes()
    }

    fn state_variables(&self) -> u32 {
        2 * self.integer_of_bit.len() as u32
    }

    /// Lets the ids in the file start at 1 again.
    pub(super) fn restart_ids(&mut self) {
        self.edges.truncate(1);
    }

    /// Reads a number of nodes and that many nodes.
    pub(super) fn read_nodes(&mut self, cursor: &mut Cursor, what: &str) -> Result<(), Fault> {
        let offset = cursor.offset();
        let count = cursor.u64(format_args!("the number of nodes of {what}"))?;
        self.nodes_read = self.nodes_read.saturating_add(count);
        if self.nodes_read > self.limits.max_nodes {
            let limit = self.limits.max_nodes;
            let expected = format!("at most {limit} nodes in the file (a limit of the reader)");
            return Err(Fault::new(offset, expected, format_args!("{} so far", self.nodes_read)));
        }
        for index in 1..=count {
            let offset = cursor.offset();
            let first = cursor.u64(format_args!("node {index} of {count} of {what}"))?;
            let second = cursor.u64("the second half of a node")?;
            let node = self.decode(first, second, offset)?;
            let edge = self
                .builder
                .add(node)
                .map_err(|_| Fault::new(offset, "fewer nodes", "a node for which there is no id left"))?;
            self.edges.push(edge);
        }
        Ok(())
    }

    fn decode(&self, first: u64, second: u64, offset: usize) -> Result<Node, Fault> {
        if first & LEAF != 0 {
            let expected = "a decision node (leaves with numbers are not supported)";
            return Err(Fault::new(offset, expected, "a leaf"));
        }
        let high = self.decode_edge(first, offset, "the high child of a node")?;
        let low = self.decode_edge(second & ID_MASK, offset, "the low child of a node")?;
        let variable = (second >> ID_BITS) as u32;
        if variable >= self.state_variables() && !self.actions.contains(&variable) {
            let (state, actions) = (self.state_variables(), &self.actions);
            let expected = format!("a variable below {state}, or from {} below {}", actions.start, actions.end);
            return Err(Fault::new(offset, expected, format_args!("variable {variable}")));
        }
        for child in [low, high] {
            let below = self.builder.variable(child);
            if below <= variable {
                let expected = format!("a node with a variable below its children's ({below})");
                return Err(Fault::new(offset, expected, format_args!("variable {variable}")));
            }
        }
        if low == high {
            return Err(Fault::new(offset, "a node with two different children", "equal ones"));
        }
        Ok(Node { variable, low, high })
    }

    fn decode_edge(&self, word: u64, offset: usize, what: impl Display) -> Result<Edge, Fault> {
        let id = word & !COMPLEMENT;
        let known = usize::try_from(id).ok().and_then(|id| self.edges.get(id));
        known.map(|edge| edge.not_if(word & COMPLEMENT != 0)).ok_or_else(|| {
            let largest = self.edges.len() - 1;
            let expected = format!("{what} to be a node read before (at most {largest})");
            Fault::new(offset, expected, format_args!("{id}"))
        })
    }

    /// Reads the reference to a diagram.
    pub(super) fn read_edge(&self, cursor: &mut Cursor, what: impl Display) -> Result<Edge, Fault> {
        let offset = cursor.offset();
        let word = cursor.u64(&what)?;
        self.decode_edge(word, offset, what)
    }

    /// Reads the reference to a set of states.
    pub(super) fn read_set(&mut self, cursor: &mut Cursor, what: &str) -> Result<Edge, Fault> {
        let offset = cursor.offset();
        let root = self.read_edge(cursor, format_args!("the root of {what}"))?;
        check_support(&mut self.support, self.builder.nodes(), root, |variable| {
            variable < FIRST_ACTION_VARIABLE && variable.is_multiple_of(2)
        })
        .map_err(|variable| {
            let expected = format!("{what} to use current-state variables only (even ones)");
            Fault::new(offset, expected, format_args!("variable {variable}"))
        })?;
        Ok(root)
    }

    /// Checks that a relation, whose root was read at `offset`, is about these integers
    /// (ascending) and actions only.
    pub(super) fn check_relation(&mut self, root: Edge, integers: &[u32], offset: usize) -> Result<(), Fault> {
        let integer_of_bit = &self.integer_of_bit;
        check_support(&mut self.support, self.builder.nodes(), root, |variable| {
            variable >= FIRST_ACTION_VARIABLE || integers.binary_search(&integer_of_bit[variable as usize / 2]).is_ok()
        })
        .map_err(|variable| {
            let expected = "a relation to use only variables of integers its group reads or writes";
            Fault::new(offset, expected, format_args!("variable {variable}"))
        })?;
        self.check_work(offset)
    }

    /// Reads a conjunction of positive variables and hands them, ascending, to `accept`, which
    /// says what it expected instead if it does not like one.
    pub(super) fn read_cube(
        &mut self,
        cursor: &mut Cursor,
        mut accept: impl FnMut(u32) -> Result<(), String>,
    ) -> Result<(), Fault> {
        let offset = cursor.offset();
        let mut rest = self.read_edge(cursor, "the root of a cube")?;
        while rest != Edge::TRUE {
            let node = rest.id().checked_sub(1).map(|index| self.builder.nodes()[index as usize]);
            let literal = node.filter(|node| !rest.is_complement() && node.low == Edge::FALSE);
            let Some(node) = literal else {
                let expected = "a cube (a conjunction of positive variables)";
                return Err(Fault::new(offset, expected, "another function"));
            };
            accept(node.variable)
                .map_err(|expected| Fault::new(offset, expected, format_args!("variable {}", node.variable)))?;
            rest = node.high;
            self.cube_variables += 1;
        }
        self.check_work(offset)
    }

    fn check_work(&self, offset: usize) -> Result<(), Fault> {
        let work = self.support.visited() + self.cube_variables;
        if work <= self.limits.max_relation_nodes {
            return Ok(());
        }
        let limit = self.limits.max_relation_nodes;
        let expected = format!("sets, relations and cubes of at most {limit} nodes together (a limit of the reader)");
        Err(Fault::new(offset, expected, format_args!("{work} so far")))
    }

    /// Counts `more` integers in read and write lists, of which one was met at `offset`.
    pub(super) fn count_projections(&mut self, more: u64, offset: usize) -> Result<(), Fault> {
        self.projections = self.projections.saturating_add(more);
        if self.projections <= self.limits.max_projections {
            return Ok(());
        }
        let limit = self.limits.max_projections;
        let expected = format!("at most {limit} entries in read and write lists (a limit of the reader)");
        Err(Fault::new(offset, expected, format_args!("{} so far", self.projections)))
    }
}
