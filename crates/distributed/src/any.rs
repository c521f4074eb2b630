//! The form of a table that suits the ranks that there are.
//!
//! Where all ranks can address each other's memory, whoever wants a node helps itself; a single rank that cannot be reached so
//! makes owners the better choice for all, by two orders of magnitude (docs/decisions/0024). All ranks have the same form.

use crate::Node;
use crate::contract::{Found, Full, NodeTable};
use crate::one_sided::{Checkpoint, OneSided};
use crate::owned::{Owned, Part};
use crate::shape::{Position, Sizes};
use tremula_fabric::{Fabric, FabricError, Reduction, Segment};

/// Who does the work of a table.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Form {
    /// The rank that wants a node: [`OneSided`].
    OneSided,
    /// The owner of a node, who is asked: [`Owned`].
    Owned,
}

impl Form {
    /// *Collective.* The one that suits these ranks, the same on all.
    ///
    /// Returns [`FabricError::NoMemory`] if a rank has not got a single word.
    pub fn preferred<F: Fabric>(fabric: &F) -> Result<Form, FabricError> {
        let segment = fabric.allocate(1)?;
        let mut all_mapped = [u64::from((0..segment.ranks()).all(|rank| segment.mapped(rank).is_some()))];
        fabric.all_reduce(Reduction::Min, &mut all_mapped)?;
        Ok(if all_mapped == [1] { Form::OneSided } else { Form::Owned })
    }
}

/// A table of the preferred form, or of another one.
///
/// ```
/// use tremula_distributed::{AnyTable, Form, Sizes};
/// use tremula_fabric::threads;
/// let forms = threads::run(2, |fabric| AnyTable::allocate(fabric, Sizes { slots: 8, nodes: 8 }).unwrap().form());
/// // Threads address each other's memory.
/// assert_eq!(forms.unwrap(), [Form::OneSided; 2]);
/// ```
pub enum AnyTable<S: Segment> {
    /// Ranks help themselves.
    OneSided(OneSided<S>),
    /// Ranks ask owners. One thread of each uses it, and it has streams to all others.
    Owned(Box<Owned<S>>),
}

/// What a rank had of such a table at some time.
#[derive(Clone, Debug)]
pub enum AnyKept {
    /// Where ranks help themselves.
    OneSided(Checkpoint),
    /// Where ranks ask owners.
    Owned(Part),
}

impl<S: Segment> AnyTable<S> {
    /// *Collective.* An empty table of the [preferred](Form::preferred) form, with so much on each rank.
    ///
    /// Returns [`FabricError::NoMemory`] if one of them has not got it, or positions cannot number all nodes.
    pub fn allocate<F: Fabric<Segment = S>>(fabric: &F, sizes: Sizes) -> Result<AnyTable<S>, FabricError> {
        AnyTable::of_form(fabric, sizes, Form::preferred(fabric)?)
    }

    /// *Collective.* An empty table of this form; otherwise as [`AnyTable::allocate`].
    pub fn of_form<F: Fabric<Segment = S>>(fabric: &F, sizes: Sizes, form: Form) -> Result<AnyTable<S>, FabricError> {
        Ok(match form {
            Form::OneSided => AnyTable::OneSided(OneSided::allocate(fabric, sizes)?),
            Form::Owned => AnyTable::Owned(Box::new(Owned::allocate(fabric, sizes)?)),
        })
    }

    /// Which one it is.
    pub fn form(&self) -> Form {
        match self {
            AnyTable::OneSided(_) => Form::OneSided,
            AnyTable::Owned(_) => Form::Owned,
        }
    }
}

impl<S: Segment> NodeTable for AnyTable<S> {
    type Kept = AnyKept;

    fn find_or_put(&mut self, nodes: &[Node]) -> Result<Vec<Found>, Full> {
        match self {
            AnyTable::OneSided(table) => table.find_or_put(nodes),
            AnyTable::Owned(table) => table.find_or_put(nodes),
        }
    }

    fn node(&self, position: Position) -> Result<Node, FabricError> {
        match self {
            AnyTable::OneSided(table) => table.node(position),
            AnyTable::Owned(table) => table.node(position),
        }
    }

    fn settle(&mut self) {
        match self {
            AnyTable::OneSided(table) => table.settle(),
            AnyTable::Owned(table) => table.settle(),
        }
    }

    fn requests(&self) -> [u64; 3] {
        match self {
            AnyTable::OneSided(table) => table.requests(),
            AnyTable::Owned(table) => table.requests(),
        }
    }

    fn checkpoint(&self) -> AnyKept {
        match self {
            AnyTable::OneSided(table) => AnyKept::OneSided(table.checkpoint()),
            AnyTable::Owned(table) => AnyKept::Owned(table.checkpoint()),
        }
    }

    /// # Panics
    /// If this is what a table of another form had.
    fn restore(&mut self, kept: &AnyKept) {
        match (self, kept) {
            (AnyTable::OneSided(table), AnyKept::OneSided(kept)) => table.restore(kept),
            (AnyTable::Owned(table), AnyKept::Owned(kept)) => table.restore(kept),
            _ => panic!("a checkpoint of a table of another form"),
        }
    }
}
