//! Tremula's own diagrams: with sizes chosen for these boards, as the peers have them, and with its defaults.

use tremula_diagrams::{Attention, Bdd, Budget, Manager, Options, Sizing};

use super::Peer;

/// The memory that tables may grow to.
const MEMORY: usize = 1 << 30;

/// Few nodes at first, and a small cache: these boards gain nothing from a larger one.
const CHOSEN: Sizing = Sizing {
    initial_nodes: 1 << 18,
    cache_per_node: 1.0 / 16.0,
    eager_cache: 0,
    cache_patience: usize::MAX,
    ..Sizing::DEFAULT
};

/// A manager, with default options or the chosen sizes.
pub struct Tremula<const DEFAULTS: bool> {
    manager: Manager,
    levels: Vec<u32>,
}

impl<const DEFAULTS: bool> Peer for Tremula<DEFAULTS> {
    type Node = Bdd;

    fn with_manager<T: Send>(variables: u32, job: impl FnOnce(&mut Self) -> T + Send) -> T {
        let sizing = if DEFAULTS { Sizing::DEFAULT } else { CHOSEN };
        let options = Options { sizing, ..Options::default() };
        let manager = Manager::with_options(&Budget::new(MEMORY), options, Attention::default());
        let manager = manager.expect("room for small tables");
        job(&mut Self { manager, levels: (0..variables).collect() })
    }

    fn literal(&mut self, variable: u32, positive: bool) -> Bdd {
        let literal = self.manager.var(variable).expect("room for a node");
        if positive { literal } else { !literal }
    }

    fn and(&mut self, left: &Bdd, right: &Bdd) -> Bdd {
        left.and(right).expect("room for the conjunction")
    }

    fn or(&mut self, left: &Bdd, right: &Bdd) -> Bdd {
        left.or(right).expect("room for the disjunction")
    }

    fn count(&mut self, node: &Bdd) -> u64 {
        let count = node.count(&self.levels).expect("room for the counts");
        count.try_into().expect("a small count")
    }
}
