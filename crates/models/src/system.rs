//! The transition system and the diagram nodes it is made of.

/// The variable of the first (most significant) bit of an action label. State variables are
/// smaller, so that action labels lie below the state in every diagram.
pub const FIRST_ACTION_VARIABLE: u32 = 1_000_000;

/// Action bits that fit: variable numbers have 24 bits in a file.
pub const MAX_ACTION_BITS: u32 = (1 << 24) - FIRST_ACTION_VARIABLE;

/// State bits that fit below the action variables, at two variables per bit.
pub const MAX_STATE_BITS: u32 = FIRST_ACTION_VARIABLE / 2;

/// The widest integer of a state.
pub const MAX_VARIABLE_BITS: u32 = 64;

/// The largest node id an [`Edge`] can hold.
pub const MAX_NODE_ID: u32 = u32::MAX >> 1;

/// A reference to a function: a node and whether to negate it.
///
/// Node 0 is the false terminal, so the negated edge to it is the true one.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge(u32);

impl Edge {
    /// The function that is false everywhere.
    pub const FALSE: Self = Self::new(0, false);
    /// The function that is true everywhere.
    pub const TRUE: Self = Self::new(0, true);

    /// The edge to node `id`, negated if `complement`.
    ///
    /// # Panics
    ///
    /// If `id` exceeds [`MAX_NODE_ID`].
    #[must_use]
    pub const fn new(id: u32, complement: bool) -> Self {
        assert!(id <= MAX_NODE_ID, "node id out of range");
        Self(id << 1 | complement as u32)
    }

    /// The id of the node; 0 is the terminal.
    #[must_use]
    pub const fn id(self) -> u32 {
        self.0 >> 1
    }

    /// Whether the node's function is negated.
    #[must_use]
    pub const fn is_complement(self) -> bool {
        self.0 & 1 == 1
    }

    /// Whether this is [`Edge::FALSE`] or [`Edge::TRUE`].
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        self.id() == 0
    }

    /// The negated function.
    #[must_use]
    pub const fn not(self) -> Self {
        Self(self.0 ^ 1)
    }

    /// The same function, negated if `condition`.
    #[must_use]
    pub const fn not_if(self, condition: bool) -> Self {
        Self(self.0 ^ condition as u32)
    }
}

impl std::ops::Not for Edge {
    type Output = Self;

    fn not(self) -> Self {
        Self::not(self)
    }
}

impl std::fmt::Debug for Edge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::FALSE => f.write_str("false"),
            Self::TRUE => f.write_str("true"),
            _ => write!(f, "{}{}", if self.is_complement() { "¬" } else { "" }, self.id()),
        }
    }
}

/// A decision: `high` where the variable is true, else `low`.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Node {
    /// The variable decided on. Smaller is nearer the root.
    pub variable: u32,
    /// The function where the variable is false; never a complement edge.
    pub low: Edge,
    /// The function where the variable is true.
    pub high: Edge,
}

/// One integer of a state.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct StateVariable {
    /// Its width. The most significant bit comes first.
    pub bits: u32,
}

/// A group of transitions that touch the same integers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// The integers the transitions depend on: indices of state variables, ascending.
    pub reads: Vec<u32>,
    /// The integers they may change: indices of state variables, ascending. The legacy layout
    /// does not tell reading from writing, so there it equals `reads`.
    pub writes: Vec<u32>,
    /// The transitions, over the current and next variables of every integer read or written
    /// (one that is only read keeps its value) and the action variables.
    pub relation: Edge,
}

impl Group {
    /// The integers the group reads or writes, ascending.
    #[must_use]
    pub fn touched(&self) -> Vec<u32> {
        let mut union = [self.reads.as_slice(), self.writes.as_slice()].concat();
        union.sort_unstable();
        union.dedup();
        union
    }
}

/// The two ways in which `.bdd` files are laid out.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Layout {
    /// The layout of 2016: one width for all integers, node ids that count through the whole
    /// file, and cubes of variables instead of read and write lists.
    Legacy,
    /// The layout of Sylvan's current model files: a width for each integer, separate diagrams,
    /// and read and write lists.
    Sylvan,
}

impl std::fmt::Display for Layout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Legacy => "legacy",
            Self::Sylvan => "Sylvan",
        })
    }
}

/// A symbolic transition system.
///
/// State bit `k` counts through the integers in order, most significant bit first; its value now
/// is variable `2k`, its value after a transition variable `2k + 1`.
///
/// The fields are open, so a system made by hand can be wrong; [`check`](Self::check) says
/// whether these invariants hold:
///
/// - S1: there is an integer, each has 1 to [`MAX_VARIABLE_BITS`] bits, together at most
///   [`MAX_STATE_BITS`]; there are at most [`MAX_ACTION_BITS`] action bits.
/// - S2: `nodes[i]` has id `i + 1`, its children have smaller ids and larger variables.
/// - S3: the low edge of a node is not complemented, and differs from the high edge.
/// - S4: the variable of a node is a state variable or one of `action_bits` action variables.
/// - S5: all other edges refer to nodes that exist.
/// - S6: `initial` and `reachable` use current-state variables only; a relation uses only
///   variables of integers its group reads or writes, and action variables.
/// - S7: read and write lists ascend strictly and name integers that exist.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BddSystem {
    /// The integers of a state.
    pub variables: Vec<StateVariable>,
    /// Bits of an action label.
    pub action_bits: u32,
    /// All diagrams' nodes: `nodes[i]` has id `i + 1`, and children come before parents.
    pub nodes: Vec<Node>,
    /// The initial states.
    pub initial: Edge,
    /// The transitions; their union is the system's transition relation.
    pub groups: Vec<Group>,
    /// The reachable states, where the file stores the answer.
    pub reachable: Option<Edge>,
    /// Names of actions, as bytes since no encoding is promised. Only in the Sylvan layout.
    pub action_labels: Vec<Vec<u8>>,
    /// How the file this system came from was laid out.
    pub layout: Layout,
}

impl BddSystem {
    /// Bits of a state.
    #[must_use]
    pub fn state_bits(&self) -> u32 {
        self.variables.iter().map(|variable| variable.bits).sum()
    }

    /// The first (most significant) state bit of integer `variable`.
    ///
    /// # Panics
    ///
    /// If there are fewer than `variable` integers.
    #[must_use]
    pub fn first_bit(&self, variable: u32) -> u32 {
        self.variables[..variable as usize].iter().map(|variable| variable.bits).sum()
    }

    /// The first state bit of every integer, in order: all of [`first_bit`](Self::first_bit) in
    /// one pass.
    #[must_use]
    pub fn first_bits(&self) -> Vec<u32> {
        let following = self.variables.iter().scan(0, |next, variable| {
            let first = *next;
            *next += variable.bits;
            Some(first)
        });
        following.collect()
    }

    /// The diagram variable of a state bit's value now.
    #[must_use]
    pub const fn current_variable(bit: u32) -> u32 {
        2 * bit
    }

    /// The diagram variable of a state bit's value after a transition.
    #[must_use]
    pub const fn next_variable(bit: u32) -> u32 {
        2 * bit + 1
    }

    /// The state bits of the integers that `group` reads or writes, ascending.
    ///
    /// # Panics
    ///
    /// If the group names an integer that does not exist.
    #[must_use]
    pub fn group_bits(&self, group: &Group) -> Vec<u32> {
        self.group_bits_from(group, &self.first_bits())
    }

    /// The same for all groups, in order.
    ///
    /// # Panics
    ///
    /// If a group names an integer that does not exist.
    pub fn bits_of_groups(&self) -> impl Iterator<Item = Vec<u32>> {
        let first_bits = self.first_bits();
        self.groups.iter().map(move |group| self.group_bits_from(group, &first_bits))
    }

    fn group_bits_from(&self, group: &Group, first_bits: &[u32]) -> Vec<u32> {
        let bits = group.touched().into_iter().flat_map(|integer| {
            let first = first_bits[integer as usize];
            first..first + self.variables[integer as usize].bits
        });
        bits.collect()
    }

    /// The node of an edge, or nothing for a terminal.
    ///
    /// # Panics
    ///
    /// If the edge refers to a node that does not exist.
    #[must_use]
    pub fn node(&self, edge: Edge) -> Option<&Node> {
        let index = edge.id().checked_sub(1)?;
        Some(&self.nodes[index as usize])
    }

    /// The value of a function under an assignment of the variables.
    ///
    /// # Panics
    ///
    /// If the edge refers to a node that does not exist.
    #[must_use]
    pub fn evaluate(&self, edge: Edge, assignment: impl Fn(u32) -> bool) -> bool {
        let mut edge = edge;
        while let Some(node) = self.node(edge) {
            let child = if assignment(node.variable) { node.high } else { node.low };
            edge = child.not_if(edge.is_complement());
        }
        edge == Edge::TRUE
    }

    /// The system without its stored answer, and without the nodes only the answer used.
    ///
    /// # Panics
    ///
    /// If S2 or S5 is violated.
    #[must_use]
    pub fn without_reachable(mut self) -> Self {
        self.reachable = None;
        self.compact();
        self
    }

    /// Drops the nodes that no diagram uses and renumbers the others, keeping their order.
    pub(crate) fn compact(&mut self) {
        // First marks (1 = used), then the new ids in the same place; the terminal stays 0.
        let mut new_ids = vec![0_u32; self.nodes.len() + 1];
        for root in self.roots_mut() {
            new_ids[root.id() as usize] = 1;
        }
        for (index, node) in self.nodes.iter().enumerate().rev() {
            if new_ids[index + 1] == 1 {
                new_ids[node.low.id() as usize] = 1;
                new_ids[node.high.id() as usize] = 1;
            }
        }
        new_ids[0] = 0;
        let mut kept = 0;
        for id in new_ids.iter_mut().filter(|id| **id == 1) {
            kept += 1;
            *id = kept;
        }
        let renumber = |edge: Edge| Edge::new(new_ids[edge.id() as usize], edge.is_complement());
        let mut id = 0;
        self.nodes.retain(|_| {
            id += 1;
            new_ids[id] != 0
        });
        for node in &mut self.nodes {
            (node.low, node.high) = (renumber(node.low), renumber(node.high));
        }
        self.nodes.shrink_to_fit();
        self.roots_mut().for_each(|root| *root = renumber(*root));
    }

    /// Every edge from outside into the diagrams.
    fn roots_mut(&mut self) -> impl Iterator<Item = &mut Edge> {
        let relations = self.groups.iter_mut().map(|group| &mut group.relation);
        std::iter::once(&mut self.initial).chain(&mut self.reachable).chain(relations)
    }
}
