//! Exploration of Petri nets on multi-valued diagrams.
//!
//! ```
//! use tremula_diagrams::{Attention, Budget};
//! use tremula_engines::net::{Contest, Lineup};
//! use tremula_models::{Limits, read_pnml_file};
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/pnml/Kanban-PT-00005.pnml");
//! let net = read_pnml_file(path.as_ref(), &Limits::default())?;
//! let contest = Contest {
//!     net: &net,
//!     lineup: &Lineup::new(&net, 2),
//!     workers: 2,
//!     budget: &Budget::new(1 << 30),
//!     options: Default::default(),
//!     attention: &Attention::default(),
//! };
//! let finished = contest.run()?;
//! let figures = finished.system.state_space(&finished.states)?;
//! assert_eq!(figures.states.to_string(), "2546432");
//! assert_eq!(figures.transitions.to_string(), "24460016");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Invariants: every order, way to explore and grouping of places gives the same figures; a contest that is stopped
//! gives markings that are reachable for certain.

mod bits;
mod contest;
mod encoding;
mod explicit;
mod groups;
mod lineup;
mod listing;
mod rehearsal;
mod rounds;
mod runner;
mod share;
mod system;
mod trace;
mod way;

pub use bits::{Brim, NetInBits, NotInBits, Room, in_bits};
pub use contest::{Contest, Contestant, Finished, NoWinner, Unfinished};
pub use encoding::{EncodedNet, Encoding, EncodingError, Variable};
pub use groups::{Group, groups};
pub use lineup::Lineup;
pub use share::{Share, share};
pub use system::{NetSurvey, NetSystem, StateSpace};
pub use trace::Trace;
pub use way::Way;
