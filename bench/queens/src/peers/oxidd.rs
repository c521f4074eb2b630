//! OxiDD: binary decision diagrams with complement edges, one thread.

use oxidd::bcdd::{BCDDFunction, BCDDManagerRef, new_manager};
use oxidd::util::{FxHasher, SatCountCache};
use oxidd::{BooleanFunction, Manager, ManagerRef};
use std::hash::BuildHasherDefault;

use super::Peer;

/// Node slots of 16 bytes, of which only those in use are touched.
const NODES: usize = 1 << 25;

/// Apply cache entries; OxiDD's cache has a fixed size. From 2^14 to 2^22, the
/// sizes around this one were the fastest on boards 8 to 11.
const CACHE: usize = 1 << 16;

/// A manager.
pub struct Oxidd {
    manager: BCDDManagerRef,
    variables: u32,
}

impl Peer for Oxidd {
    type Node = BCDDFunction;

    fn with_manager<T: Send>(variables: u32, job: impl FnOnce(&mut Self) -> T + Send) -> T {
        let manager = new_manager(NODES, CACHE, 1);
        manager.with_manager_exclusive(|manager| manager.add_vars(variables));
        job(&mut Self { manager, variables })
    }

    fn literal(&mut self, variable: u32, positive: bool) -> BCDDFunction {
        self.manager
            .with_manager_shared(|manager| {
                if positive { BCDDFunction::var(manager, variable) } else { BCDDFunction::not_var(manager, variable) }
            })
            .expect("room for a node")
    }

    fn and(&mut self, left: &BCDDFunction, right: &BCDDFunction) -> BCDDFunction {
        left.and(right).expect("room for the conjunction")
    }

    fn or(&mut self, left: &BCDDFunction, right: &BCDDFunction) -> BCDDFunction {
        left.or(right).expect("room for the disjunction")
    }

    fn count(&mut self, node: &BCDDFunction) -> u64 {
        let mut cache = SatCountCache::<u128, BuildHasherDefault<FxHasher>>::default();
        node.sat_count(self.variables, &mut cache).try_into().expect("a small count")
    }
}
