//! What a worker brings to a safepoint, and takes home from it.

use super::TableWorker;
use crate::layout::Ref;

/// A worker's part in a safepoint, beside that of the table. Methods are called in this order, by the worker itself.
///
/// A table that is divided ([`Division`](crate::Division)) collects in all parts at once, and the first worker of each
/// part speaks with the others. Any closure that adds roots is the attendance of a worker of a whole table.
pub trait Attendance {
    /// *First worker of a divided table.* All workers of this part have stopped: see that nothing is under way between
    /// the parts.
    fn settle(&mut self, _table: &TableWorker<'_, '_>) {}

    /// Nobody computes any more, anywhere. Only now is it certain which functions this worker needs afterwards, beside
    /// those it keeps: results may arrive until the last worker stops. Add them to the list.
    fn begun(&mut self, roots: &mut Vec<Ref>);

    /// *First worker of a divided table.* Tell the owners of these nodes that they are alive; returns what the others
    /// have told this part, or none if no part had anything to tell.
    fn exchange(&mut self, found: Vec<Ref>) -> Option<Vec<Ref>> {
        assert!(found.is_empty(), "nodes of other parts, and no way to these");
        None
    }

    /// *First worker of a divided table.* Give the marks of this part to all, and return those of all, by part.
    fn exchange_marks(&mut self, own: Vec<u64>) -> Vec<Vec<u64>> {
        vec![own]
    }

    /// Garbage is being collected: forget the nodes that are not alive, before anybody goes on.
    fn collected(&mut self, _alive: &dyn Fn(Ref) -> bool) {}
}

impl<F: FnMut(&mut Vec<Ref>)> Attendance for F {
    fn begun(&mut self, roots: &mut Vec<Ref>) {
        self(roots);
    }
}
