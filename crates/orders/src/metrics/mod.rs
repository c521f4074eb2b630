//! Metrics: what can be said about an order without exploring the net.
//!
//! All are sums over a net and an order of its places, level 0 being the root, and small ones are good. None is a
//! bound; each is its own function. [`Score`](crate::Score) is made of two of them, [`crossing_ranks`] and
//! [`unique_productive_spans`]; the others are there to be shown and compared.

mod coupling;
mod crossing;
mod echelon;
mod soups;
mod spans;

pub use coupling::Coupling;
pub use crossing::{Crossing, crossing_ranks};
pub use soups::unique_productive_spans;
pub use spans::{event_spans, normalised_event_span, point_transition_spans, weighted_event_span};
