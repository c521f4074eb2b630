//! biodivine-lib-bdd: every diagram is a vector of its own, without a shared
//! table, so there are no sizes to choose.

use biodivine_lib_bdd::{Bdd, BddVariable, BddVariableSet};

use super::Peer;

/// The variables; diagrams own their nodes.
pub struct Biodivine {
    set: BddVariableSet,
    variables: Vec<BddVariable>,
}

impl Peer for Biodivine {
    type Node = Bdd;

    fn with_manager<T: Send>(variables: u32, job: impl FnOnce(&mut Self) -> T + Send) -> T {
        let set = BddVariableSet::new_anonymous(variables.try_into().expect("a small board"));
        let variables = set.variables();
        job(&mut Self { set, variables })
    }

    fn literal(&mut self, variable: u32, positive: bool) -> Bdd {
        self.set.mk_literal(self.variables[variable as usize], positive)
    }

    fn and(&mut self, left: &Bdd, right: &Bdd) -> Bdd {
        left.and(right)
    }

    fn or(&mut self, left: &Bdd, right: &Bdd) -> Bdd {
        left.or(right)
    }

    fn count(&mut self, node: &Bdd) -> u64 {
        node.exact_cardinality().try_into().expect("a small count")
    }
}
