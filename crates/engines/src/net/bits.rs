//! A net in bits, for binary diagrams: each variable has as many as its greatest value needs.
//!
//! ```
//! use tremula_engines::net::{Lineup, in_bits};
//! use tremula_models::{Limits, read_pnml_file};
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/pnml/Kanban-PT-00005.pnml");
//! let net = read_pnml_file(path.as_ref(), &Limits::default())?;
//! let lineup = Lineup::new(&net, 1);
//! // Sixteen places, each with five tokens at most.
//! assert_eq!(in_bits(&net, &lineup, &lineup.contestants[0].order, 10_000)?.state_bits(), 16 * 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::encoding::{EncodedNet, EncodingError, Variable};
use super::groups::Group;
use super::lineup::Lineup;
use tremula_diagrams::mdd::Change;
use tremula_models::{BddSystem, CounterChange, Counters, PetriNet, TooManyBits};

/// Why a net cannot be told in bits.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotInBits {
    /// Nobody knows how many a place needs, or it needs too many.
    #[error("place `{place}` has no bound below 2^32 that semiflows tell, and binary diagrams need one")]
    Unbounded {
        /// The place.
        place: String,
    },
    /// A number of tokens is beyond all values.
    #[error(transparent)]
    Encoding(#[from] EncodingError),
    /// There are too many.
    #[error(transparent)]
    TooMany(#[from] TooManyBits),
}

/// The net in bits, with its places in this order, if it takes at most so many nodes. Places that surely share a token share
/// the bits of one integer.
pub fn in_bits(net: &PetriNet, lineup: &Lineup, order: &[u32], most_nodes: usize) -> Result<BddSystem, NotInBits> {
    let proven: Vec<Group> = lineup.groups.iter().filter(|group| !group.believed).cloned().collect();
    let EncodedNet { encoding, transitions } = EncodedNet::new(net, order, &proven, &lineup.bounds)?;
    let greatest = encoding.variables.iter().map(|variable| {
        variable.greatest(&lineup.bounds).ok_or_else(|| NotInBits::Unbounded { place: name(net, variable) })
    });
    let counters = Counters {
        greatest: greatest.collect::<Result<_, _>>()?,
        initial: encoding.initial,
        transitions: transitions.into_iter().flatten().map(|changes| changes.iter().map(counter).collect()).collect(),
    };
    Ok(counters.in_bits(most_nodes)?)
}

fn counter(&Change { level, least, most, delta }: &Change) -> CounterChange {
    CounterChange { counter: level, least, most, delta }
}

/// The place of a variable that is one place's.
fn name(net: &PetriNet, variable: &Variable) -> String {
    net.places[variable.first_place() as usize].id.clone()
}
