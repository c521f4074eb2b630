//! Room for deep recursion.

use std::{io, panic, thread};

/// Run `body` in a thread of its own, with a stack of `stack_bytes` (touched only as deep as recursion goes).
///
/// A panic of `body` goes on in the caller.
pub(crate) fn on_large_stack<R: Send>(stack_bytes: usize, body: impl FnOnce() -> R + Send) -> io::Result<R> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(stack_bytes).spawn_scoped(scope, body)?;
        Ok(thread.join().unwrap_or_else(|payload| panic::resume_unwind(payload)))
    })
}
