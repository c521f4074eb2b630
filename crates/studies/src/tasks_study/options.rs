//! What the study measures.

use super::versions::Version;
use tremula_fabric::topology::cpu_limit;

/// What the study measures. The default is everything at full size, with all processors that can be used.
#[derive(Clone, Debug)]
pub struct TasksOptions {
    /// Numbers of workers to measure with, all above zero.
    pub workers: Vec<usize>,
    /// Runs of each version.
    pub reps: usize,
    /// Small sizes, for tests: seconds instead of minutes.
    pub quick: bool,
    /// Programs by name, such as `fib(42)`, or all sizes of one, such as `fib`; none: all.
    pub programs: Vec<String>,
    /// Versions to measure beside the sequential one, out of [`Version::PARALLEL`].
    pub versions: Vec<Version>,
    /// Stack of each worker, and of the sequential version. Touched only as deep as recursion goes.
    pub stack_bytes: usize,
}

impl Default for TasksOptions {
    fn default() -> TasksOptions {
        TasksOptions {
            workers: doublings(cpu_limit()),
            reps: 5,
            quick: false,
            programs: Vec::new(),
            versions: Version::PARALLEL.to_vec(),
            // The tree T3L is 17,844 levels deep.
            stack_bytes: 256 << 20,
        }
    }
}

/// Powers of two below `most`, and `most`.
pub(super) fn doublings(most: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1), |workers| Some(2 * workers));
    powers.take_while(|&workers| workers < most).chain([most]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_double_up_to_the_machine() {
        assert_eq!(doublings(1), [1]);
        assert_eq!(doublings(8), [1, 2, 4, 8]);
        assert_eq!(doublings(12), [1, 2, 4, 8, 12]);
    }
}
