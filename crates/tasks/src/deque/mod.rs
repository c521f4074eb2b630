//! Deques of spawned tasks: the owner works at the young end, others take from the old end.
//!
//! Two kinds are measured against each other: [`Private`], in which only the owner ever touches its tasks and thieves
//! have to ask, and [`Split`], whose older part is open to thieves. In both, tasks that were taken form a prefix, and a
//! worker syncs its tasks in reverse order of spawning; so a worker that finds its youngest task taken knows that all of
//! them are.

mod private;
mod split;

use crate::cells::{Outcome, Parcel};
use crate::plain::Plain;
pub use private::Private;
pub use split::Split;

/// What a thief gets when it turns to a victim.
pub enum Asked<T> {
    /// Nothing, and nothing will come.
    Refused,
    /// Nothing yet; the victim is to be alerted, so that it has something for the next thief.
    Alert,
    /// The victim is to be alerted, and will answer in the thief's transfer cell.
    Wait,
    /// A task.
    Loot(Parcel<T>),
}

/// The part of a deque that other workers see; the owner's part is kept by the owner.
pub trait Deque: Send + Sync + Sized + 'static {
    /// What only the owner sees.
    type Owner<T: Plain>;

    /// A deque that is closed: thieves are refused.
    fn new(request_slots: usize) -> Self;
    /// Open the deque of worker `number` for a run.
    fn open<T: Plain>(&self, number: usize) -> Self::Owner<T>;
    /// Refuse thieves from now on; false while there are requests that are still to be answered.
    fn close(&self) -> bool;

    /// Add a task at the young end.
    fn push<T: Plain>(&self, owner: &mut Self::Owner<T>, task: T);
    /// Take the youngest task back; none if it was taken by another worker.
    fn pop<T: Plain>(&self, owner: &mut Self::Owner<T>) -> Option<T>;
    /// Tasks, those included that were taken and not yet forgotten.
    fn len<T: Plain>(owner: &Self::Owner<T>) -> usize;
    /// Tasks that can be given away.
    fn spare<T: Plain>(&self, owner: &Self::Owner<T>) -> usize;
    /// The oldest task, if it can be given away.
    fn oldest<T: Plain>(&self, owner: &Self::Owner<T>) -> Option<T>;
    /// Give the oldest task to `thief`.
    fn give<T: Plain>(&self, owner: &mut Self::Owner<T>, thief: usize) -> Option<Parcel<T>>;

    /// What became of the youngest task, which was taken, and by whom.
    fn youngest<T: Plain>(&self, owner: &Self::Owner<T>) -> (Outcome, usize);
    /// Forget the youngest task, which was taken and is finished.
    fn forget_youngest<T: Plain>(&self, owner: &mut Self::Owner<T>);
    /// Results that have arrived and were not yet asked for.
    fn arrived<T: Plain>(&self, owner: &Self::Owner<T>, each: &mut dyn FnMut(u64));

    /// A thief turns to this deque.
    fn ask<T: Plain>(&self, thief: usize) -> Asked<T>;
    /// The owner was alerted: the next thief that waits for an answer, if any.
    fn next_request<T: Plain>(&self, owner: &mut Self::Owner<T>) -> Option<usize>;
    /// A thief delivers the result of the task at `position`; none if it has panicked.
    fn deliver(&self, position: u32, result: Option<u64>);
}
