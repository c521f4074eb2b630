//! Operations that are under way.

/// A started operation.
///
/// It owns its buffer until [`Pending::wait`] hands it back, so a buffer cannot be reused or freed too early.
/// Dropping the handle does not cancel the operation: it will be complete after the next flush of its target.
///
/// ```
/// use tremula_fabric::{Pending, Ready};
/// let mut pending = Ready::new(vec![1, 2]);
/// while !pending.test() {}
/// assert_eq!(pending.wait(), [1, 2]);
/// ```
#[must_use = "the value arrives with `wait`"]
pub trait Pending {
    /// What the operation hands back.
    type Output;

    /// Has the operation come so far that [`Pending::wait`] would return at once? Does not block, and helps the
    /// operation along where that is needed; once true it stays true.
    fn test(&mut self) -> bool;

    /// Wait for the value, or for the buffer that was given. See the operation for what this says about its effect.
    fn wait(self) -> Self::Output;
}

/// An operation that was complete when it was started, as all are between threads.
#[derive(Clone, PartialEq, Eq, Debug)]
#[must_use = "the value arrives with `wait`"]
pub struct Ready<T>(T);

impl<T> Ready<T> {
    /// The handle of an operation that has ended with `value`.
    pub fn new(value: T) -> Ready<T> {
        Ready(value)
    }
}

impl<T> Pending for Ready<T> {
    type Output = T;

    fn test(&mut self) -> bool {
        true
    }

    fn wait(self) -> T {
        self.0
    }
}
