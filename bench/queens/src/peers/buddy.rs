//! BuDDy 2.4 from the system's library path.
//!
//! BuDDy is one manager per process and holds it in global variables; a process
//! of this benchmark runs one job.

use std::ffi::{c_double, c_int};

use super::Peer;

/// Initial node slots of 20 bytes; the table doubles when it is full.
const NODES: c_int = 1 << 22;

/// Entries of each operator cache, kept in this ratio to the nodes as the table
/// grows. Of the powers of two from 4 to 64, 64 was the fastest on boards 8 to
/// 11: a cache is initialised in full.
const CACHE: c_int = NODES / CACHE_RATIO;
const CACHE_RATIO: c_int = 64;

/// The most nodes by which one resize may grow the table.
const INCREASE: c_int = 1 << 24;

const AND: c_int = 0;
const OR: c_int = 2;

#[link(name = "bdd")]
unsafe extern "C" {
    safe fn bdd_init(nodes: c_int, cache: c_int) -> c_int;
    safe fn bdd_done();
    safe fn bdd_setcacheratio(ratio: c_int) -> c_int;
    safe fn bdd_setmaxincrease(nodes: c_int) -> c_int;
    safe fn bdd_setvarnum(variables: c_int) -> c_int;
    safe fn bdd_ithvar(variable: c_int) -> c_int;
    safe fn bdd_nithvar(variable: c_int) -> c_int;
    safe fn bdd_apply(left: c_int, right: c_int, operator: c_int) -> c_int;
    safe fn bdd_satcount(node: c_int) -> c_double;
    safe fn bdd_addref(node: c_int) -> c_int;
    safe fn bdd_delref(node: c_int) -> c_int;
    // BuDDy's default handler reports every collection.
    unsafe fn bdd_gbc_hook(handler: Option<extern "C" fn()>) -> Option<extern "C" fn()>;
}

/// The global manager.
pub struct Buddy;

/// A counted reference to a node.
pub struct Reference(c_int);

/// Takes a reference to the result of an operation.
fn hold(node: c_int) -> Reference {
    assert!(node >= 0, "BuDDy error {node}");
    Reference(bdd_addref(node))
}

impl Drop for Reference {
    fn drop(&mut self) {
        bdd_delref(self.0);
    }
}

impl Peer for Buddy {
    type Node = Reference;

    fn with_manager<T: Send>(variables: u32, job: impl FnOnce(&mut Self) -> T + Send) -> T {
        assert_eq!(bdd_init(NODES, CACHE), 0, "BuDDy does not start");
        // SAFETY: no handler is a valid handler.
        unsafe { bdd_gbc_hook(None) };
        bdd_setcacheratio(CACHE_RATIO);
        bdd_setmaxincrease(INCREASE);
        bdd_setvarnum(variables.cast_signed());
        let result = job(&mut Self);
        bdd_done();
        result
    }

    fn literal(&mut self, variable: u32, positive: bool) -> Reference {
        let variable = variable.cast_signed();
        hold(if positive { bdd_ithvar(variable) } else { bdd_nithvar(variable) })
    }

    fn and(&mut self, left: &Reference, right: &Reference) -> Reference {
        hold(bdd_apply(left.0, right.0, AND))
    }

    fn or(&mut self, left: &Reference, right: &Reference) -> Reference {
        hold(bdd_apply(left.0, right.0, OR))
    }

    fn count(&mut self, node: &Reference) -> u64 {
        bdd_satcount(node.0) as u64
    }
}
