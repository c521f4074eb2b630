//! Tremula's own diagrams, with default options: tables start small and grow.

use tremula_diagrams::{Bdd, Budget, Manager};

use super::Peer;

/// The memory that tables may grow to.
const MEMORY: usize = 1 << 30;

/// A manager.
pub struct Tremula {
    manager: Manager,
    levels: Vec<u32>,
}

impl Peer for Tremula {
    type Node = Bdd;

    fn with_manager<T: Send>(variables: u32, job: impl FnOnce(&mut Self) -> T + Send) -> T {
        let manager = Manager::new(&Budget::new(MEMORY)).expect("room for small tables");
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
