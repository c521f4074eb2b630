//! Exploration of Petri nets on multi-valued diagrams.

mod encoding;
mod system;

pub use encoding::{Encoding, EncodingError, Variable};
pub use system::{NetSystem, StateSpace};
