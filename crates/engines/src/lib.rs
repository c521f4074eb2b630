//! Exploration of symbolic models: strategies over the diagram operations.
#![forbid(unsafe_code)]

mod auto;
mod reach;
mod strategy;
mod system;

pub use reach::{Observer, Reached, Round, Stopped, reach};
pub use strategy::{Order, Strategy, UnknownStrategy};
pub use system::SymbolicSystem;
