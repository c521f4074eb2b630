//! Place/transition nets.

mod net;

pub use net::{Arc, Effect, NetError, PetriNet, Place, Transition, Unit, Units};
