//! Place/transition nets, and the PNML files they are read from.

mod net;
mod pnml;

pub use net::{Arc, Effect, NetError, PetriNet, Place, Transition, Unit, Units};
pub use pnml::{read_pnml, read_pnml_file};
