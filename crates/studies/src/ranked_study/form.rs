//! The forms of a table over ranks, as the study uses them.

use tremula_distributed::{Checkpoint, Full, Node, OneSided, Owned, Part};
use tremula_fabric::Segment;

/// A form of the table.
pub(super) trait Form {
    /// What a rank had at some time.
    type Kept;

    /// Find or put nodes, batch by batch.
    fn put_all(&mut self, nodes: &mut dyn Iterator<Item = Node>) -> Result<(), Full>;

    /// *Collective.* Return when no rank needs this one any more.
    fn settle(&mut self);

    /// What this rank has now.
    fn keep(&self) -> Self::Kept;

    /// Go back to what this rank had.
    fn set_back(&mut self, kept: &Self::Kept);
}

/// Nodes that a worker asks for at a time.
const BATCH: usize = 256;
/// The same where that takes the time of a message and its answer.
const LARGE_BATCH: usize = 16_384;

impl<S: Segment> Form for OneSided<S> {
    type Kept = Checkpoint;

    fn put_all(&mut self, nodes: &mut dyn Iterator<Item = Node>) -> Result<(), Full> {
        let mut finder = self.finder();
        in_batches(nodes, BATCH, |batch| finder.find_or_put(batch).map(drop))
    }

    fn settle(&mut self) {}

    fn keep(&self) -> Checkpoint {
        self.checkpoint()
    }

    fn set_back(&mut self, kept: &Checkpoint) {
        self.restore(kept);
    }
}

impl<S: Segment> Form for Owned<S> {
    type Kept = Part;

    fn put_all(&mut self, nodes: &mut dyn Iterator<Item = Node>) -> Result<(), Full> {
        in_batches(nodes, LARGE_BATCH, |batch| self.find_or_put(batch).map(drop))
    }

    fn settle(&mut self) {
        Owned::settle(self);
    }

    fn keep(&self) -> Part {
        self.checkpoint()
    }

    fn set_back(&mut self, kept: &Part) {
        self.restore(kept);
    }
}

fn in_batches(
    mut nodes: &mut dyn Iterator<Item = Node>,
    size: usize,
    mut put: impl FnMut(&[Node]) -> Result<(), Full>,
) -> Result<(), Full> {
    let mut batch = Vec::with_capacity(size);
    loop {
        batch.clear();
        batch.extend((&mut nodes).take(size));
        if batch.is_empty() {
            return Ok(());
        }
        put(&batch)?;
    }
}
