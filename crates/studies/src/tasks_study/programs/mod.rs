//! The programs of the study, each in all versions.

mod fibonacci;
mod for_ranks;
mod hoard;
mod langford;
mod product;
mod queens;
mod tree;
mod uts;

use super::our_pool::OurPool;
use fibonacci::Fibonacci;
pub(crate) use for_ranks::ForRanks;
pub(crate) use hoard::Hoard;
use langford::Langford;
use product::Product;
use queens::Queens;
use tree::Count;
use tremula_tasks::Panicked;
use uts::Uts;

/// A program in all its versions, which spawn the same tasks and give the same answer.
pub(crate) trait Program: Sync {
    /// By plain recursion.
    fn sequential(&self) -> u64;

    /// How many tasks the other versions spawn.
    fn tasks(&self) -> u64;

    /// With tasks, by the workers of `pool`.
    fn pool(&self, pool: &mut OurPool) -> Result<u64, Panicked>;

    /// As a program for workers of several processes; none if its answer is in the memory of one.
    fn for_ranks(&self) -> Option<&dyn ForRanks> {
        None
    }

    /// With tasks, by the threads of the pool that the caller is in.
    #[cfg(feature = "peers")]
    fn rayon(&self) -> u64;

    /// With tasks, by the workers of the pool that `worker` is in.
    #[cfg(feature = "peers")]
    fn lace(&self, worker: &mut lace_ws::Worker) -> u64;

    /// What to compare with the expected answer after a run that gave `answer`, and after each run.
    fn checked(&self, answer: u64) -> u64 {
        answer
    }
}

/// A program with its name and the answer it must give.
pub(crate) struct Entry {
    pub(crate) name: String,
    /// None: what the sequential version says.
    pub(crate) expected: Option<u64>,
    pub(crate) program: Box<dyn Program>,
}

fn entry(name: impl Into<String>, expected: impl Into<Option<u64>>, program: impl Program + 'static) -> Entry {
    Entry { name: name.into(), expected: expected.into(), program: Box::new(program) }
}

fn product(side: usize) -> Entry {
    let product = Product::new(side);
    entry(format!("matmul({side})"), product.expected(), product)
}

/// The programs at sizes worth measuring.
pub(crate) fn full() -> Vec<Entry> {
    vec![
        entry("fib(42)", 267_914_296, Fibonacci(42)),
        entry("fib(45)", 1_134_903_170, Fibonacci(45)),
        entry("queens(13)", 73_712, Count(Queens::new(13))),
        entry("queens(15)", 2_279_184, Count(Queens::new(15))),
        entry("uts(T1)", 4_130_071, Count(Uts::fixed(19, 4.0, 10))),
        entry("uts(T2L)", 96_793_510, Count(Uts::cyclic(220, 7.0, 23))),
        entry("uts(T3L)", 111_345_631, Count(Uts::binomial(7, 2000, 0.200_014, 5))),
        product(512),
        entry("langford(12)", 216_288, Count(Langford(12))),
    ]
}

/// The same programs at sizes for tests.
pub(crate) fn quick() -> Vec<Entry> {
    vec![
        entry("fib(30)", 832_040, Fibonacci(30)),
        entry("queens(10)", 724, Count(Queens::new(10))),
        entry("uts(fixed)", None, Count(Uts::fixed(19, 4.0, 7))),
        entry("uts(cyclic)", None, Count(Uts::cyclic(502, 3.0, 10))),
        entry("uts(binomial)", None, Count(Uts::binomial(42, 400, 0.123, 8))),
        product(64),
        entry("langford(8)", 300, Count(Langford(8))),
    ]
}

/// A program that keeps the workers of a pool busy for about a millisecond.
pub(crate) fn warm_up() -> impl Program + ForRanks {
    Fibonacci(27)
}
