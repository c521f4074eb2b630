//! How memory is divided: two tables of nodes, and what one sweep needs.

use crate::layout::{Element, MOST, Node, Ref};

/// Bytes of a request: what it asks, its halves and its answers.
pub const REQUEST_BYTES: usize = 48;
/// Places in the lists of levels for each request: requests wait in the list of each level that they skip.
pub const LIST_PER_REQUEST: usize = 2;
/// Places in the index for each request.
pub const INDEX_PER_REQUEST: usize = 2;
/// Elements for each request. Measured: 2 to 11 on average.
pub const ELEMENTS_PER_REQUEST: usize = 8;
/// Part of a table that nodes may fill.
const LOAD: (usize, usize) = (3, 4);
/// Part of the memory for the two tables.
pub const TABLES: (usize, usize) = (2, 5);

/// How much of everything fits.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Shares {
    /// Places of each of the two tables of nodes.
    pub places: usize,
    /// Requests of a sweep.
    pub requests: usize,
    /// Elements of all requests of a sweep.
    pub elements: usize,
}

impl Shares {
    /// Divide `bytes`.
    #[must_use]
    pub fn of(bytes: usize) -> Shares {
        let tables = bytes / TABLES.1 * TABLES.0;
        let request = REQUEST_BYTES
            + LIST_PER_REQUEST * size_of::<u32>()
            + INDEX_PER_REQUEST * size_of::<u64>()
            + ELEMENTS_PER_REQUEST * size_of::<Element>();
        let requests = ((bytes - tables) / request).min(MOST);
        Shares {
            places: (tables / 2 / size_of::<Node>()).min(MOST),
            requests,
            elements: (requests * ELEMENTS_PER_REQUEST).min(u32::MAX as usize),
        }
    }

    /// Divide what `fixed` bytes leave of so many; nothing if that is more than there are.
    pub fn beside(fixed: usize, bytes: usize) -> Option<Shares> {
        bytes.checked_sub(fixed).map(Shares::of)
    }

    /// How many nodes a table of so many places holds: never all, so that every search ends.
    #[must_use]
    pub fn nodes(places: usize) -> usize {
        places.saturating_sub(Ref::TERMINALS as usize) / LOAD.1 * LOAD.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of everything.
    fn bytes(shares: Shares) -> usize {
        let Shares { places, requests, elements } = shares;
        let request = REQUEST_BYTES + LIST_PER_REQUEST * 4 + INDEX_PER_REQUEST * 8;
        2 * places * 16 + requests * request + elements * 8
    }

    #[test]
    fn shares_stay_inside() {
        for size in [0, 1000, 1 << 20, 3 << 30, 140 << 30] {
            let shares = Shares::of(size);
            assert!(bytes(shares) <= size);
            assert!(shares.places <= MOST && shares.requests <= MOST);
        }
    }

    #[test]
    fn what_is_fixed_is_not_divided() {
        for (fixed, size) in [(0, 1 << 20), (1 << 20, 3 << 20), (3 << 30, 4 << 30)] {
            let shares = Shares::beside(fixed, size).expect("something is left");
            assert!(fixed + bytes(shares) <= size && bytes(shares) > (size - fixed) / 10 * 9);
        }
        assert_eq!(Shares::beside(1000, 1000), Some(Shares { places: 0, requests: 0, elements: 0 }));
        assert_eq!(Shares::beside(1001, 1000), None);
    }
}
