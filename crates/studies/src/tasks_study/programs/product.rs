//! The product of two square matrices by quarters: few tasks, large ones, and memory that they share.
//!
//! A quarter of the product is the sum of two products of quarters, and the four first of these eight products can be
//! computed at the same time, then the four second ones. The four are halved twice, so that everything forks in two, in all
//! versions alike.

use super::Program;
use crate::tasks_study::our_pool::OurPool;
use std::sync::atomic::{AtomicU64, Ordering};
use tremula_tasks::{Deque, Panicked, Plain, Work, Worker};

/// Blocks of this side are multiplied without further tasks.
const LEAF: usize = 16;

/// Numbers by which a row in memory is longer than a matrix: one cache line. Rows of 512 numbers alone are a page apart, and the 16
/// of a block are more than the first cache holds of lines that are pages apart.
const PADDING: usize = 8;

/// Two factors and room for their product, row by row, [`Product::stride`] apart.
pub(crate) struct Product {
    side: usize,
    left: Vec<f64>,
    right: Vec<f64>,
    /// Bits of numbers. No two tasks under way write to the same place; atomics say so without `unsafe`.
    product: Vec<AtomicU64>,
}

/// Multiply the left block at `(row, inner)` with the right block at `(inner, column)`, and add that to the product's
/// block at `(row, column)`; the first to come there, with `inner` zero, sets it.
#[derive(Copy, Clone)]
pub(crate) struct Block {
    row: usize,
    column: usize,
    inner: usize,
    side: usize,
    /// Do the same for the block to the right of it?
    is_pair: bool,
}

impl Block {
    /// Halves that can be computed at the same time, and of a single block then those that are added to them.
    fn halves(self) -> impl Iterator<Item = [Block; 2]> {
        let side = if self.is_pair { self.side } else { self.side / 2 };
        let half = |down, right, inner| Block {
            row: self.row + down,
            column: self.column + right,
            inner: self.inner + inner,
            side,
            is_pair: !self.is_pair,
        };
        let first = if self.is_pair { [half(0, 0, 0), half(0, side, 0)] } else { [half(0, 0, 0), half(side, 0, 0)] };
        let second = [half(0, 0, side), half(side, 0, side)];
        std::iter::once(first).chain((!self.is_pair).then_some(second))
    }

    fn is_leaf(self) -> bool {
        self.side == LEAF && !self.is_pair
    }
}

impl Product {
    /// Factors of this side, a power of two and at least [`LEAF`], of small whole numbers: all sums are exact.
    pub(crate) fn new(side: usize) -> Product {
        let places = side * (side + PADDING);
        let numbers = |salt: usize| (0..places).map(|at| (at * salt % 31 % 8) as f64).collect();
        let product = (0..places).map(|_| AtomicU64::new(f64::NAN.to_bits())).collect();
        Product { side, left: numbers(7), right: numbers(11), product }
    }

    /// What [`Program::checked`] should give: the same sums by way of the factors, in quadratic time.
    pub(crate) fn expected(&self) -> u64 {
        let weights = self.weights();
        let sums = times(self.right.iter().copied(), &weights);
        digest(&times(self.left.iter().copied(), &sums))
    }

    /// One weight per column.
    fn weights(&self) -> Vec<f64> {
        (0..self.side).map(|column| (column % 5 + 1) as f64).collect()
    }

    fn stride(&self) -> usize {
        self.side + PADDING
    }

    fn whole(&self) -> Block {
        Block { row: 0, column: 0, inner: 0, side: self.side, is_pair: false }
    }
}

/// Multiply a block that is a leaf, with the widest vectors that the processor has: the less time it takes, the more those
/// show who hand out the blocks. One function behind a pointer, so that all versions run the same code here.
#[multiversion::multiversion(targets("x86_64+avx2+fma"), dispatcher = "indirect")]
fn multiply(all: &Product, block: Block) {
    let stride = all.stride();
    for row in block.row..block.row + LEAF {
        let mut sums = [0.0; LEAF];
        for inner in block.inner..block.inner + LEAF {
            let factor = all.left[row * stride + inner];
            let others = &all.right[inner * stride + block.column..][..LEAF];
            for (sum, other) in sums.iter_mut().zip(others) {
                *sum += factor * other;
            }
        }
        let places = &all.product[row * stride + block.column..][..LEAF];
        for (place, sum) in places.iter().zip(sums) {
            // Relaxed: nobody else uses this place at this time; joining orders the tasks that do.
            let before = if block.inner == 0 { 0.0 } else { f64::from_bits(place.load(Ordering::Relaxed)) };
            place.store((before + sum).to_bits(), Ordering::Relaxed);
        }
    }
}

/// A matrix, row by row and padded, times a vector.
fn times(matrix: impl Iterator<Item = f64>, vector: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; vector.len()];
    for (at, number) in matrix.enumerate() {
        let (row, column) = (at / (vector.len() + PADDING), at % (vector.len() + PADDING));
        sums[row] += vector.get(column).map_or(0.0, |weight| number * weight);
    }
    sums
}

/// One word for a vector of whole numbers.
fn digest(vector: &[f64]) -> u64 {
    vector.iter().fold(0, |digest: u64, &number| digest.wrapping_mul(0x9e37_79b9).wrapping_add(number as u64))
}

fn sequential(product: &Product, block: Block) {
    if block.is_leaf() {
        return multiply(product, block);
    }
    block.halves().flatten().for_each(|half| sequential(product, half));
}

impl Plain for Block {
    type Words = [u64; 4];

    #[inline]
    fn to_words(self) -> [u64; 4] {
        [self.row, self.column, self.inner, self.side << 1 | usize::from(self.is_pair)].map(|number| number as u64)
    }

    #[inline]
    fn from_words(words: [u64; 4]) -> Block {
        let [row, column, inner, shape] = words.map(|number| number as usize);
        Block { row, column, inner, side: shape >> 1, is_pair: shape & 1 == 1 }
    }
}

impl Work for Product {
    type Task = Block;
    type Answer = ();
    type State = ();

    fn state(&self, _: usize) {}

    fn run<D: Deque>(&self, worker: &mut Worker<'_, Self, D>, block: Block) {
        if block.is_leaf() {
            return multiply(self, block);
        }
        for [first, second] in block.halves() {
            worker.spawn(second);
            self.run(worker, first);
            worker.join();
        }
    }
}

#[cfg(feature = "peers")]
fn by_rayon(product: &Product, block: Block) {
    if block.is_leaf() {
        return multiply(product, block);
    }
    for [first, second] in block.halves() {
        rayon::join(|| by_rayon(product, first), || by_rayon(product, second));
    }
}

#[cfg(feature = "peers")]
fn by_lace(worker: &mut lace_ws::Worker, (product, block): (&Product, Block)) {
    if block.is_leaf() {
        return multiply(product, block);
    }
    for [first, second] in block.halves() {
        let spawned = worker.spawn(by_lace, (product, second));
        by_lace(worker, (product, first));
        worker.sync(spawned);
    }
}

impl Program for Product {
    fn sequential(&self) -> u64 {
        sequential(self, self.whole());
        0
    }

    fn tasks(&self) -> u64 {
        let halvings = (self.side / LEAF).ilog2();
        // Two by a block, and one by each of its four pairs.
        (0..halvings).map(|depth| 6 * 8_u64.pow(depth)).sum()
    }

    fn pool(&self, pool: &mut OurPool) -> Result<u64, Panicked> {
        pool.run(self, self.whole()).map(|()| 0)
    }

    #[cfg(feature = "peers")]
    fn rayon(&self) -> u64 {
        by_rayon(self, self.whole());
        0
    }

    #[cfg(feature = "peers")]
    fn lace(&self, worker: &mut lace_ws::Worker) -> u64 {
        by_lace(worker, (self, self.whole()));
        0
    }

    /// A digest of the product; leaves nothing of it to the next run.
    fn checked(&self, _: u64) -> u64 {
        // Relaxed: the run is over, and its end has made all that was written visible.
        let taken = self.product.iter().map(|place| place.swap(f64::NAN.to_bits(), Ordering::Relaxed));
        digest(&times(taken.map(f64::from_bits), &self.weights()))
    }
}
