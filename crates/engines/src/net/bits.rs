//! A net in bits, for binary diagrams: each variable has as many as its greatest value needs.
//!
//! Where semiflows tell no bound of a place, one is assumed: its greatest value is a brim, which stands for all numbers of
//! tokens from there on. If no marking of those that were found has a place filled to its brim, none was ever cut off, and
//! they are all markings of the net. Otherwise these places get [room](Room) for more, and all starts again. Until then each
//! marking that was found still stands for another one of the net, so that their number is a lower bound.
//!
//! ```
//! use tremula_engines::net::{Lineup, Room, in_bits};
//! use tremula_models::{Limits, read_pnml_file};
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/pnml/Kanban-PT-00005.pnml");
//! let net = read_pnml_file(path.as_ref(), &Limits::default())?;
//! let lineup = Lineup::new(&net, 1);
//! let bits = in_bits(&net, &lineup, &lineup.contestants[0].order, &Room::default(), 10_000)?;
//! // Sixteen places, each with five tokens at most.
//! assert_eq!(bits.system.state_bits(), 16 * 3);
//! assert!(bits.brims.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::encoding::{EncodedNet, EncodingError, Variable};
use super::groups::Group;
use super::lineup::Lineup;
use std::collections::HashMap;
use std::ops::Range;
use tremula_diagrams::mdd::Change;
use tremula_diagrams::{Bdd, Error};
use tremula_models::{BddSystem, CounterChange, Counters, PetriNet, StateVariable, TooManyBits};

/// Why a net cannot be told in bits.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotInBits {
    /// A place may need more than integers have.
    #[error("place `{place}` may have 2^32 tokens or more, and that is beyond binary diagrams")]
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

/// A net in bits.
pub struct NetInBits {
    /// The system.
    pub system: BddSystem,
    /// The places whose bounds are assumed. While none is full, the states are the markings.
    pub brims: Vec<Brim>,
}

/// A place whose bound is assumed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Brim {
    /// The place.
    pub place: u32,
    /// Its bits among those of a state. At the brim all are set.
    pub bits: Range<u32>,
}

impl Brim {
    /// Is the place full in any of these states?
    pub fn is_reached(&self, states: &Bdd) -> Result<bool, Error> {
        let full: Vec<(u32, bool)> = self.bits.clone().map(|bit| (BddSystem::current_variable(bit), true)).collect();
        Ok(!states.and(&states.manager().cube(&full)?)?.is_false())
    }
}

/// How many bits places have whose bounds are not known.
#[derive(Clone, Default, Debug)]
pub struct Room {
    bits: HashMap<u32, u32>,
}

impl Room {
    /// The fewest bits: one value, of four, is the brim.
    const FEWEST_BITS: u32 = 2;

    /// Bits of a place that starts with this value, which is below the brim; none if there are not enough.
    fn bits(&self, place: u32, initial: u32) -> Option<u32> {
        let more_than_initial = u32::BITS - initial.checked_add(1)?.leading_zeros();
        let bits = self.bits.get(&place).copied().unwrap_or(Self::FEWEST_BITS).max(more_than_initial);
        (bits <= u32::BITS && initial < brim(bits)).then_some(bits)
    }

    /// Twice as many bits for a place that got full, as long as integers have them.
    pub fn widen(&mut self, brim: &Brim) {
        let bits = brim.bits.len() as u32;
        self.bits.insert(brim.place, (2 * bits).min(u32::BITS).max(bits + 1));
    }
}

/// The greatest value of so many bits.
fn brim(bits: u32) -> u32 {
    u32::MAX >> (u32::BITS - bits)
}

/// The net in bits, with its places in this order, if it takes at most so many nodes. Places that surely share a token share
/// the bits of one integer.
pub fn in_bits(
    net: &PetriNet,
    lineup: &Lineup,
    order: &[u32],
    room: &Room,
    most_nodes: usize,
) -> Result<NetInBits, NotInBits> {
    let proven: Vec<Group> = lineup.groups.iter().filter(|group| !group.believed).cloned().collect();
    let EncodedNet { encoding, transitions } = EncodedNet::new(net, order, &proven, &lineup.bounds)?;
    let (mut greatest, mut has_brim) = (Vec::new(), Vec::new());
    for (variable, &initial) in encoding.variables.iter().zip(&encoding.initial) {
        let known = variable.greatest(&lineup.bounds);
        let assumed = || room.bits(variable.first_place(), initial).map(brim);
        let value = known.or_else(assumed).ok_or_else(|| NotInBits::Unbounded { place: name(net, variable) })?;
        greatest.push(value);
        has_brim.push(known.is_none());
    }
    let counters = Counters {
        greatest,
        has_brim,
        initial: encoding.initial,
        transitions: transitions.into_iter().flatten().map(|changes| changes.iter().map(counter).collect()).collect(),
    };
    let system = counters.in_bits(most_nodes)?;
    let integers = encoding.variables.iter().zip(bits_of_integers(&system.variables));
    let brims = integers
        .zip(&counters.has_brim)
        .filter(|&(_, &has_brim)| has_brim)
        .map(|((variable, bits), _)| Brim { place: variable.first_place(), bits })
        .collect();
    Ok(NetInBits { system, brims })
}

/// The bits of each integer among those of a state.
fn bits_of_integers(integers: &[StateVariable]) -> impl Iterator<Item = Range<u32>> {
    integers.iter().scan(0, |next, integer| {
        let first = std::mem::replace(next, *next + integer.bits);
        Some(first..*next)
    })
}

fn counter(&Change { level, least, most, delta }: &Change) -> CounterChange {
    CounterChange { counter: level, least, most, delta }
}

/// The place of a variable that is one place's.
fn name(net: &PetriNet, variable: &Variable) -> String {
    net.places[variable.first_place() as usize].id.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_more_than_the_start_and_doubles() {
        let mut room = Room::default();
        assert_eq!([0, 2, 3, 6, 7].map(|initial| room.bits(0, initial)), [2, 2, 3, 3, 4].map(Some));
        assert_eq!((room.bits(0, u32::MAX - 1), room.bits(0, u32::MAX)), (Some(32), None));
        let mut widen = |bits: u32| {
            room.widen(&Brim { place: 0, bits: 5..5 + bits });
            (room.bits(0, 0), room.bits(1, 0))
        };
        assert_eq!(widen(3), (Some(6), Some(2)));
        assert_eq!(widen(24), (Some(32), Some(2)));
        assert_eq!(widen(32), (None, Some(2)));
    }
}
