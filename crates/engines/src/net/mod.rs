//! Exploration of Petri nets on multi-valued diagrams.

mod contest;
mod encoding;
mod groups;
mod lineup;
mod system;

pub use contest::{Contest, Contestant, Finished, NoWinner, Unfinished};
pub use encoding::{Encoding, EncodingError, Variable};
pub use groups::{Group, groups};
pub use lineup::Lineup;
pub use system::{NetSystem, StateSpace};
