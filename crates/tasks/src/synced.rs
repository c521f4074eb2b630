//! What a sync gives back.

/// What became of a spawned task.
pub enum Synced<T, R> {
    /// Nobody took it: here it is, run it yourself.
    Task(T),
    /// Another worker or lane ran it, with this result.
    Result(R),
}
