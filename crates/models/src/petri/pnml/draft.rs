//! What is known of a net while its file is read, and the net that comes of it.
//!
//! Arcs, references and units may name nodes that come later in the file. They keep the numbers of identifiers, and are
//! resolved when the whole file is known.

use super::ids::Ids;
use super::nupn::Structure;
use super::xml::{fault, quote};
use crate::error::{FormatError, Position};
use crate::petri::{Arc, PetriNet, Place, Transition};

/// The two kinds of nodes.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Place,
    Transition,
}

impl Kind {
    /// For messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Place => "a place",
            Self::Transition => "a transition",
        }
    }
}

/// What the identifier of a node stands for.
#[derive(Copy, Clone)]
pub(super) struct Node {
    kind: Kind,
    target: Target,
    /// Where the node is in the file.
    position: Position,
}

/// Where a node leads to.
#[derive(Copy, Clone)]
enum Target {
    /// The node itself: its index among those of its kind.
    Here(u32),
    /// The node with the identifier of this number.
    Reference(u32),
    /// Another node, found by following references: its index among those of its kind.
    Resolved(u32),
}

/// An arc between two identifiers.
struct DraftArc {
    source: u32,
    target: u32,
    weight: u64,
    position: Position,
}

/// An arc between a transition and a place.
struct Flow {
    transition: u32,
    /// Whether it leads to the place, not from it.
    gives: bool,
    place: u32,
    weight: u64,
    position: Position,
}

/// A net in the making.
pub(super) struct Draft {
    nodes: Ids<Node>,
    /// Their identifiers are still missing.
    places: Vec<Place>,
    transitions: Vec<Transition>,
    arcs: Vec<DraftArc>,
    structure: Option<Structure>,
    items_left: u64,
    max_items: u64,
}

impl Draft {
    pub(super) fn new(max_items: u64) -> Self {
        // An item has at most three identifiers, and these are numbered with 32 bits.
        let max_items = max_items.min(1 << 30);
        Self {
            nodes: Ids::new(),
            places: Vec::new(),
            transitions: Vec::new(),
            arcs: Vec::new(),
            structure: None,
            items_left: max_items,
            max_items,
        }
    }

    /// Counts one more of all that takes memory.
    pub(super) fn count_item(&mut self, position: Position) -> Result<(), FormatError> {
        let left = self.items_left.checked_sub(1).ok_or_else(|| {
            let all = "places, transitions, arcs, references, units and names in lists";
            fault(position, format_args!("at most {} {all} (a limit of the reader)", self.max_items), "more")
        })?;
        self.items_left = left;
        Ok(())
    }

    /// The number of a node's identifier.
    pub(super) fn node(&mut self, id: &str) -> u32 {
        self.nodes.number(id)
    }

    pub(super) fn add_place(&mut self, id: &str, position: Position) -> Result<(), FormatError> {
        self.define(id, Kind::Place, Target::Here(self.places.len() as u32), position)?;
        self.places.push(Place { id: String::new(), name: None, initial: 0 });
        Ok(())
    }

    pub(super) fn add_transition(&mut self, id: &str, position: Position) -> Result<(), FormatError> {
        self.define(id, Kind::Transition, Target::Here(self.transitions.len() as u32), position)?;
        let (inputs, outputs) = (Vec::new(), Vec::new());
        self.transitions.push(Transition { id: String::new(), name: None, inputs, outputs });
        Ok(())
    }

    pub(super) fn add_reference(
        &mut self,
        id: &str,
        kind: Kind,
        target: &str,
        position: Position,
    ) -> Result<(), FormatError> {
        let target = Target::Reference(self.nodes.number(target));
        self.define(id, kind, target, position)
    }

    fn define(&mut self, id: &str, kind: Kind, target: Target, position: Position) -> Result<(), FormatError> {
        self.count_item(position)?;
        self.nodes.define(id, Node { kind, target, position }).map_err(|earlier| {
            let found = format_args!("`{}`, which is the node at {} already", quote(id), earlier.position);
            fault(position, "an identifier of its own", found)
        })
    }

    /// The place that was added last.
    pub(super) fn last_place(&mut self) -> Option<&mut Place> {
        self.places.last_mut()
    }

    /// The transition that was added last.
    pub(super) fn last_transition(&mut self) -> Option<&mut Transition> {
        self.transitions.last_mut()
    }

    pub(super) fn add_arc(
        &mut self,
        source: u32,
        target: u32,
        weight: u64,
        position: Position,
    ) -> Result<(), FormatError> {
        self.count_item(position)?;
        self.arcs.push(DraftArc { source, target, weight, position });
        Ok(())
    }

    /// Sets the units, which a net has once at most.
    pub(super) fn set_structure(&mut self, structure: Structure) -> Result<(), FormatError> {
        if self.structure.is_some() {
            return Err(fault(structure.position, "the units of the net once", "them again"));
        }
        self.structure = Some(structure);
        Ok(())
    }

    /// The net, now that the whole file is known.
    pub(super) fn finish(self, id: String) -> Result<PetriNet, FormatError> {
        let (names, nodes) = self.nodes.into_parts();
        let mut nodes = Nodes { names, nodes };
        nodes.resolve_references()?;
        let mut transitions = self.transitions;
        join_arcs(self.arcs, &nodes, &mut transitions)?;
        let mut places = self.places;
        let units = self.structure.map(|structure| structure.finish(&nodes, places.len())).transpose()?;
        nodes.give_names(&mut places, &mut transitions);
        Ok(PetriNet { id, places, transitions, units })
    }
}

/// All identifiers of nodes and what they stand for, by number.
pub(super) struct Nodes {
    names: Vec<String>,
    nodes: Vec<Option<Node>>,
}

impl Nodes {
    /// An identifier, for messages.
    pub(super) fn quote(&self, number: u32) -> String {
        format!("`{}`", quote(&self.names[number as usize]))
    }

    /// The identifier of the place with this index, for messages.
    pub(super) fn quote_place(&self, index: u32) -> String {
        let is_it = |node: &Option<Node>| {
            let Some(Node { kind: Kind::Place, target: Target::Here(other), .. }) = node else { return false };
            *other == index
        };
        let number = self.nodes.iter().position(is_it);
        number.map_or_else(String::new, |number| self.quote(number as u32))
    }

    /// The kind of the node that an identifier leads to, and its index among those of its kind.
    pub(super) fn find(&self, number: u32) -> Option<(Kind, u32)> {
        let node = self.nodes[number as usize]?;
        match node.target {
            Target::Here(index) | Target::Resolved(index) => Some((node.kind, index)),
            Target::Reference(_) => None,
        }
    }

    /// Makes every reference lead to its node at once.
    fn resolve_references(&mut self) -> Result<(), FormatError> {
        for start in 0..self.nodes.len() {
            let Some(Node { target: Target::Reference(_), position, .. }) = self.nodes[start] else { continue };
            let (chain, (kind, index)) = self.follow(start, position)?;
            for number in chain {
                let Some(reference) = &mut self.nodes[number] else { continue };
                if reference.kind != kind {
                    let expected = format_args!("a reference to {}", reference.kind.name());
                    return Err(fault(reference.position, expected, format_args!("one to {}", kind.name())));
                }
                reference.target = Target::Resolved(index);
            }
        }
        Ok(())
    }

    /// The chain of references from `start`, at `position`, on, and the node at its end.
    fn follow(&self, start: usize, position: Position) -> Result<(Vec<usize>, (Kind, u32)), FormatError> {
        let mut chain = Vec::new();
        let (mut next, mut last) = (start, position);
        loop {
            let Some(node) = self.nodes[next] else {
                let found = format_args!("{}, which is none", self.quote(next as u32));
                return Err(fault(last, "a reference to a node", found));
            };
            match node.target {
                Target::Here(index) | Target::Resolved(index) => return Ok((chain, (node.kind, index))),
                Target::Reference(_) if chain.len() == self.nodes.len() => {
                    return Err(fault(position, "a reference that leads to a node", "a circle of references"));
                }
                Target::Reference(target) => {
                    chain.push(next);
                    (next, last) = (target as usize, node.position);
                }
            }
        }
    }

    /// Hands the identifiers to their nodes.
    fn give_names(self, places: &mut [Place], transitions: &mut [Transition]) {
        for (name, node) in self.names.into_iter().zip(self.nodes) {
            let Some(Node { kind, target: Target::Here(index), .. }) = node else { continue };
            match kind {
                Kind::Place => places[index as usize].id = name,
                Kind::Transition => transitions[index as usize].id = name,
            }
        }
    }

    fn flow(&self, arc: &DraftArc) -> Result<Flow, FormatError> {
        let find = |number, end: &str| {
            let unknown = || fault(arc.position, format_args!("a node as the {end} of the arc"), self.quote(number));
            self.find(number).ok_or_else(unknown)
        };
        let (gives, transition, place) = match (find(arc.source, "source")?, find(arc.target, "target")?) {
            ((Kind::Place, place), (Kind::Transition, transition)) => (false, transition, place),
            ((Kind::Transition, transition), (Kind::Place, place)) => (true, transition, place),
            ((kind, _), _) => {
                let (source, target) = (self.quote(arc.source), self.quote(arc.target));
                let found = format_args!("one from {} ({source}) to another ({target})", kind.name());
                return Err(fault(arc.position, "an arc between a place and a transition", found));
            }
        };
        Ok(Flow { transition, gives, place, weight: arc.weight, position: arc.position })
    }
}

/// Gives the transitions their arcs, adding up those between the same nodes in the same direction.
fn join_arcs(arcs: Vec<DraftArc>, nodes: &Nodes, transitions: &mut [Transition]) -> Result<(), FormatError> {
    let mut flows = arcs.into_iter().map(|arc| nodes.flow(&arc)).collect::<Result<Vec<Flow>, _>>()?;
    flows.sort_by_key(|flow| (flow.transition, flow.gives, flow.place));
    for flow in flows {
        let transition = &mut transitions[flow.transition as usize];
        let arcs = if flow.gives { &mut transition.outputs } else { &mut transition.inputs };
        match arcs.last_mut() {
            Some(arc) if arc.place == flow.place => {
                let expected = "arcs between the same nodes with weights that add up to less than 2^64";
                let sum = arc.weight.checked_add(flow.weight);
                arc.weight = sum.ok_or_else(|| fault(flow.position, expected, "more"))?;
            }
            _ => arcs.push(Arc { place: flow.place, weight: flow.weight }),
        }
    }
    Ok(())
}
