//! The strategy that finds out which strategy pays.

use crate::reach::{Observer, Reached, Run, Stopped};
use crate::strategy::{Order, Strategy};
use crate::system::SymbolicSystem;

/// Compute all reachable states, choosing the strategy while running.
pub(crate) fn reach(system: &SymbolicSystem, observer: &mut dyn Observer) -> Result<Reached, Box<Stopped>> {
    let mut run = Run::new(system, Strategy { order: Order::Chaining, frontier: true });
    match run.to_the_end(observer) {
        Ok(()) => Ok(run.finished()),
        Err(error) => Err(Box::new(run.stopped(error))),
    }
}
