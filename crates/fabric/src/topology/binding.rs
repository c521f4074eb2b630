//! Threads that stay on one processor.

/// Bind the calling thread to a processor. A place is a wish: where it is not granted, nothing happens.
#[cfg(target_os = "linux")]
pub fn bind_this_thread(cpu: usize) {
    use rustix::thread::{CpuSet, sched_setaffinity};
    if cpu < CpuSet::MAX_CPU {
        let mut only = CpuSet::new();
        only.set(cpu);
        let _ = sched_setaffinity(None, &only);
    }
}

/// Bind the calling thread to a processor. Not on this system.
#[cfg(not(target_os = "linux"))]
pub fn bind_this_thread(_cpu: usize) {}
