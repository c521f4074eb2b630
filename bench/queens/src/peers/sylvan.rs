//! Sylvan with one worker, through `sylvan_shim.c`.
//!
//! Most of Sylvan's interface is macros and inline functions, hence the shim.
//! The job runs inside a task of the worker: an operation asked for from
//! outside would pay two thread switches.

use std::ffi::c_void;

use super::Peer;

// SAFETY: the declarations match `sylvan_shim.c`.
unsafe extern "C" {
    unsafe fn queens_sylvan_run(job: unsafe extern "C" fn(*mut c_void), data: *mut c_void);
    unsafe fn queens_sylvan_literal(variable: u32, positive: bool) -> u64;
    unsafe fn queens_sylvan_and(left: u64, right: u64) -> u64;
    unsafe fn queens_sylvan_or(left: u64, right: u64) -> u64;
    unsafe fn queens_sylvan_count(node: u64, variables: u32) -> f64;
    unsafe fn queens_sylvan_deref(node: u64);
}

/// The global manager, of which only the worker has a handle.
pub struct Sylvan {
    variables: u32,
}

/// A reference counted by Sylvan.
pub struct Reference(u64);

impl Drop for Reference {
    fn drop(&mut self) {
        // SAFETY: the shim's operations return referenced nodes.
        unsafe { queens_sylvan_deref(self.0) };
    }
}

/// A job on its way to the worker, and its result on the way back.
struct Errand<F, T> {
    variables: u32,
    job: Option<F>,
    result: Option<T>,
}

/// Runs an errand; called by the worker.
///
/// # Safety
///
/// `data` points to an `Errand<F, T>` that nobody else accesses meanwhile.
unsafe extern "C" fn perform<T, F: FnOnce(&mut Sylvan) -> T>(data: *mut c_void) {
    // SAFETY: the caller's promise.
    let errand = unsafe { &mut *data.cast::<Errand<F, T>>() };
    let job = errand.job.take().expect("one run");
    let variables = errand.variables;
    errand.result = Some(job(&mut Sylvan { variables }));
}

/// Hands a job to the worker and waits for it.
fn run<T: Send, F: FnOnce(&mut Sylvan) -> T + Send>(variables: u32, job: F) -> T {
    let mut errand = Errand { variables, job: Some(job), result: None };
    // SAFETY: the errand outlives the call, which returns when the worker is
    // done with it; job and result may cross threads.
    unsafe { queens_sylvan_run(perform::<T, F>, (&raw mut errand).cast()) };
    errand.result.expect("the worker ran the job")
}

impl Peer for Sylvan {
    type Node = Reference;

    fn with_manager<T: Send>(variables: u32, job: impl FnOnce(&mut Self) -> T + Send) -> T {
        run(variables, job)
    }

    fn literal(&mut self, variable: u32, positive: bool) -> Reference {
        // SAFETY: `self` exists only inside the worker's task.
        Reference(unsafe { queens_sylvan_literal(variable, positive) })
    }

    fn and(&mut self, left: &Reference, right: &Reference) -> Reference {
        // SAFETY: as above; both operands are referenced.
        Reference(unsafe { queens_sylvan_and(left.0, right.0) })
    }

    fn or(&mut self, left: &Reference, right: &Reference) -> Reference {
        // SAFETY: as above; both operands are referenced.
        Reference(unsafe { queens_sylvan_or(left.0, right.0) })
    }

    fn count(&mut self, node: &Reference) -> u64 {
        // SAFETY: as above; the operand is referenced.
        let count = unsafe { queens_sylvan_count(node.0, self.variables) };
        count as u64
    }
}
