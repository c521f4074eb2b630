//! Results of operations that owners remember: put and asked for by messages, in the same mail as nodes.
//!
//! A result belongs to the rank that the hash of its key picks. Whoever has results sends them there, many in a message, and
//! nobody answers; whoever asks gets answers in the order of the questions (O3).
//!
//! - P1: only the owner reads and writes a result, so that none is seen half written (R1).
//! - P2: what a rank puts comes to the owner before what that rank asks for later: the mail keeps the order.

use crate::contract::NodeTable;
use crate::letters;
use crate::owned::{Errand, Expected, Owned};
use crate::results::{Key, ResultCache};
use tremula_fabric::{FabricError, Segment};

/// The results that the owners of a table remember. They stay as they are when the table is
/// [restored](NodeTable::restore).
///
/// ```
/// use tremula_distributed::{NodeTable, Owned, ResultCache, Sizes};
/// use tremula_fabric::threads;
/// let found = threads::run(2, |fabric| {
///     let mut table = Owned::allocate_with_results(fabric, Sizes { slots: 8, nodes: 8 }, 64).unwrap();
///     table.results().put(&[([1, 2], 3)]).unwrap();
///     let found = table.results().get(&[[1, 2], [2, 1]]).unwrap();
///     table.settle();
///     found
/// });
/// assert_eq!(found.unwrap()[1], [Some(3), None]);
/// ```
pub struct OwnedResults<'t, S: Segment>(pub(crate) &'t mut Owned<S>);

impl<S: Segment> ResultCache for OwnedResults<'_, S> {
    /// Returns when the results have left this rank; their owners take them while they wait themselves.
    fn put(&mut self, results: &[(Key, u64)]) -> Result<(), FabricError> {
        let errand = Errand {
            key: |(key, _)| key,
            letter: letters::remember,
            here: |table: &mut Owned<S>, (key, result)| {
                table.remembered.put(key, result);
                Some(())
            },
            count: |errands| &mut errands.results,
        };
        self.0.dispatch(results, &errand);
        // No more than the rings hold is on its way, however busy the owners are.
        while !self.0.is_sent() {
            self.0.work(&mut Expected::Nothing);
        }
        Ok(())
    }

    /// Returns when all owners have answered, which they do while they wait themselves.
    fn get(&mut self, keys: &[Key]) -> Result<Vec<Option<u64>>, FabricError> {
        let errand = Errand {
            key: |key| key,
            letter: letters::recall,
            here: |table: &mut Owned<S>, key| table.remembered.get(key),
            count: |errands| &mut errands.results,
        };
        let mut asked = self.0.dispatch(keys, &errand);
        while asked.is_waiting() {
            self.0.work(&mut Expected::Results(&mut asked));
        }
        Ok(asked.into_results())
    }

    /// As of the table.
    fn settle(&mut self) {
        self.0.settle();
    }

    /// Those for nodes of the table included.
    fn requests(&self) -> [u64; 3] {
        self.0.requests()
    }
}
