//! CUDD 3.0.0 through cudd-sys.

use cudd_sys::cudd::{
    CUDD_CACHE_SLOTS, CUDD_UNIQUE_SLOTS, Cudd_CountMinterm, Cudd_Init, Cudd_Not, Cudd_Quit, Cudd_RecursiveDeref,
    Cudd_Ref, Cudd_bddAnd, Cudd_bddIthVar, Cudd_bddOr,
};
use cudd_sys::{DdManager, DdNode};

use super::Peer;

/// The memory CUDD aims to stay below. The tables start at CUDD's recommended
/// sizes and grow by its own rules within this bound.
const MEMORY: usize = 1 << 30;

/// A manager.
pub struct Cudd {
    manager: *mut DdManager,
    variables: u32,
}

/// A counted reference to a node.
pub struct Reference {
    manager: *mut DdManager,
    node: *mut DdNode,
}

impl Cudd {
    /// Takes a reference to the result of an operation.
    fn hold(&self, node: *mut DdNode) -> Reference {
        assert!(!node.is_null(), "CUDD ran out of memory");
        // SAFETY: `node` is a live node that the operation has just returned.
        unsafe { Cudd_Ref(node) };
        Reference { manager: self.manager, node }
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        // SAFETY: this reference was counted in `hold`, and the manager
        // outlives every reference made by a job.
        unsafe { Cudd_RecursiveDeref(self.manager, self.node) };
    }
}

impl Peer for Cudd {
    type Node = Reference;

    fn with_manager<T: Send>(variables: u32, job: impl FnOnce(&mut Self) -> T + Send) -> T {
        // SAFETY: plain numbers; the result is checked.
        let manager = unsafe { Cudd_Init(variables, 0, CUDD_UNIQUE_SLOTS, CUDD_CACHE_SLOTS, MEMORY) };
        assert!(!manager.is_null(), "CUDD ran out of memory");
        let result = job(&mut Self { manager, variables });
        // SAFETY: the job has dropped its references to the manager's nodes.
        unsafe { Cudd_Quit(manager) };
        result
    }

    fn literal(&mut self, variable: u32, positive: bool) -> Reference {
        // SAFETY: the manager is live; the variable exists since its creation.
        let node = unsafe {
            let node = Cudd_bddIthVar(self.manager, variable.cast_signed());
            if positive { node } else { Cudd_Not(node) }
        };
        self.hold(node)
    }

    fn and(&mut self, left: &Reference, right: &Reference) -> Reference {
        // SAFETY: both operands are referenced nodes of this manager.
        self.hold(unsafe { Cudd_bddAnd(self.manager, left.node, right.node) })
    }

    fn or(&mut self, left: &Reference, right: &Reference) -> Reference {
        // SAFETY: both operands are referenced nodes of this manager.
        self.hold(unsafe { Cudd_bddOr(self.manager, left.node, right.node) })
    }

    fn count(&mut self, node: &Reference) -> u64 {
        // SAFETY: the operand is a referenced node of this manager.
        let count = unsafe { Cudd_CountMinterm(self.manager, node.node, self.variables.cast_signed()) };
        count as u64
    }
}
