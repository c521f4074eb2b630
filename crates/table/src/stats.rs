//! Counters of one table: what a progress line shows and what tests check.

/// Running totals and present sizes.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Nodes created (not found) since the start.
    pub created: u64,
    /// Operation-cache look-ups.
    pub lookups: u64,
    /// Look-ups that found their result.
    pub hits: u64,
    /// Collections so far.
    pub collections: u64,
    /// Microseconds spent collecting.
    pub collection_micros: u64,
    /// Compactions so far.
    pub compactions: u64,
    /// Nodes in use: survivors of the last collection and all made since.
    pub nodes: u64,
    /// Nodes that fit at the present size.
    pub capacity: u64,
    /// Entries of the operation cache.
    pub cache_entries: u64,
    /// Bytes of all tables at their present size.
    pub bytes: u64,
}

impl Counters {
    /// How many there are.
    pub const FIELDS: usize = 10;

    /// All of them, for those who store or send them.
    #[must_use]
    pub fn to_array(self) -> [u64; Self::FIELDS] {
        [
            self.created,
            self.lookups,
            self.hits,
            self.collections,
            self.collection_micros,
            self.compactions,
            self.nodes,
            self.capacity,
            self.cache_entries,
            self.bytes,
        ]
    }

    /// The counters that [`Counters::to_array`] gave.
    #[must_use]
    pub fn from_array(values: [u64; Self::FIELDS]) -> Counters {
        let [
            created,
            lookups,
            hits,
            collections,
            collection_micros,
            compactions,
            nodes,
            capacity,
            cache_entries,
            bytes,
        ] = values;
        Counters {
            created,
            lookups,
            hits,
            collections,
            collection_micros,
            compactions,
            nodes,
            capacity,
            cache_entries,
            bytes,
        }
    }
}

/// [`Counters`] as a worker published them.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Snapshot {
    /// How many reports came before; grows with each.
    pub number: u64,
    /// The counters.
    pub counters: Counters,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_round_trip() {
        let values = std::array::from_fn(|at| at as u64 + 1);
        assert_eq!(Counters::from_array(values).to_array(), values);
    }
}
