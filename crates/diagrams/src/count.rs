//! Exact counting: satisfying assignments as integers of any size, in memory taken from the budget.
//!
//! Every node gets a number of fixed width, wide enough for two to the power of the variables, in one array indexed by
//! the node's rank among the nodes of the diagram. Levels are counted from below, the nodes of a wide level by all workers
//! together, those of narrow ones by one of them. Nothing is allocated per node.

use crate::error::Error;
use dashu_int::{UBig, Word};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, OnceLock};
use std::thread;
use tremula_table::{Bitmap, Lease, Ranks, Ref, Solo};

/// Fewer nodes than this are not worth the start of a thread.
const NODES_PER_WORKER: usize = 1 << 13;
/// Nodes of a level that are worth a meeting of all workers.
const WIDE_LEVEL: usize = 1 << 11;

/// Count the assignments of `levels` (ascending) that satisfy `f`, on up to `workers` threads. All variables of `f` must be
/// among them.
pub fn count(table: &mut Solo, workers: usize, f: Ref, levels: &[u32]) -> Result<UBig, Error> {
    if f.is_terminal() {
        return Ok(if f == Ref::TRUE { UBig::ONE << levels.len() } else { UBig::ZERO });
    }
    let counter = Counter::new(table, workers, f, levels)?;
    counter.run(workers.min(counter.nodes / NODES_PER_WORKER).max(1))?;
    Ok(counter.total(f))
}

struct Counter<'a> {
    table: &'a Solo,
    levels: &'a [u32],
    marks: Bitmap,
    nodes: usize,
    ranks: Ranks,
    limbs: usize,
    /// Count of each node over the variables from its own downwards; known when its level is done.
    // Relaxed throughout: a level is written and read on different sides of a barrier.
    numbers: Vec<AtomicU64>,
    _lease: Lease,
}

/// Nodes of a diagram by level.
struct ByLevel {
    nodes: Vec<Ref>,
    /// Where the nodes of each counted variable are.
    levels: Vec<Range<usize>>,
}

/// Numbers in the making.
struct Scratch {
    sum: Vec<Word>,
    number: Vec<Word>,
}

impl<'a> Counter<'a> {
    fn new(table: &'a mut Solo, workers: usize, f: Ref, levels: &'a [u32]) -> Result<Counter<'a>, Error> {
        let (marks, nodes) = table.reachable_by(&[f], workers)?;
        let limbs = levels.len() / Word::BITS as usize + 1;
        let bytes = nodes.saturating_add(1).saturating_mul(limbs * size_of::<Word>() + size_of::<u32>());
        let lease = crate::lease::take(table, bytes)?;
        let ranks = Ranks::new(&marks);
        let numbers = (0..(nodes + 1) * limbs).map(|_| AtomicU64::new(0)).collect();
        Ok(Counter { table, levels, marks, nodes, ranks, limbs, numbers, _lease: lease })
    }

    /// Count all nodes, level by level from below.
    fn run(&self, workers: usize) -> Result<(), Error> {
        let by_level = &self.by_level()?;
        // How many threads there are, and where they meet: known when all have started that the system grants.
        let crew = &OnceLock::new();
        thread::scope(|scope| {
            let start = |worker: &usize| {
                let worker = *worker;
                thread::Builder::new().spawn_scoped(scope, move || self.work(by_level, worker, crew.wait())).is_ok()
            };
            let threads = 1 + (1..workers).take_while(start).count();
            self.work(by_level, 0, crew.get_or_init(|| (threads, Barrier::new(threads))));
        });
        Ok(())
    }

    /// The part of one worker of a crew: its share of the wide levels, and the narrow ones too if it is the first.
    fn work(&self, by_level: &ByLevel, worker: usize, (workers, barrier): &(usize, Barrier)) {
        let mut scratch = self.scratch();
        let mut narrow = true;
        for (at, level) in by_level.levels.iter().enumerate().rev() {
            let is_narrow = level.len() < WIDE_LEVEL;
            // All meet where the same worker does not go on alone.
            if !(narrow && is_narrow) {
                barrier.wait();
            }
            narrow = is_narrow;
            let end = |number: usize| match (is_narrow, number) {
                (true, 0) => level.start,
                (true, _) => level.end,
                (false, _) => level.start + level.len() * number / workers,
            };
            for &node in &by_level.nodes[end(worker)..end(worker + 1)] {
                self.count_node(&mut scratch, node, at);
            }
        }
    }

    /// Sort the nodes by level, each into its place at once.
    fn by_level(&self) -> Result<ByLevel, Error> {
        let inner = || self.marks.iter().skip(1).map(|position| Ref::new(position, false));
        let mut ends = vec![0; self.levels.len()];
        for node in inner() {
            let level = self.table.level(node);
            let at = self.levels.binary_search(&level).map_err(|_| Error::NotCounted { level })?;
            ends[at] += 1;
        }
        let mut sum = 0;
        let levels: Vec<Range<usize>> = ends
            .iter()
            .map(|&count: &usize| {
                sum += count;
                sum - count..sum
            })
            .collect();
        let mut next: Vec<usize> = levels.iter().map(|range| range.start).collect();
        let mut nodes = vec![Ref::FALSE; sum];
        for node in inner() {
            let at = self.position(node);
            nodes[next[at]] = node;
            next[at] += 1;
        }
        Ok(ByLevel { nodes, levels })
    }

    fn scratch(&self) -> Scratch {
        Scratch { sum: vec![0; self.limbs], number: vec![0; self.limbs] }
    }

    fn place(&self, index: u32) -> Range<usize> {
        let rank = self.ranks.rank(&self.marks, index) as usize;
        rank * self.limbs..(rank + 1) * self.limbs
    }

    /// Position of a level among the counted variables, of which it is one; the terminal comes after all of them.
    fn position(&self, f: Ref) -> usize {
        if f.is_terminal() {
            return self.levels.len();
        }
        let level = self.table.level(f);
        self.levels.partition_point(|&other| other < level)
    }

    /// Count a node at the variable `at`, whose children are counted.
    fn count_node(&self, scratch: &mut Scratch, node: Ref, at: usize) {
        scratch.sum.fill(0);
        let children = self.table.node(node);
        self.add_edge(scratch, children.low, at + 1);
        self.add_edge(scratch, children.high, at + 1);
        for (cell, &limb) in self.numbers[self.place(node.index())].iter().zip(&scratch.sum) {
            cell.store(limb, Ordering::Relaxed);
        }
    }

    /// Add the count of an edge that leaves from position `from`: variables skipped double it each.
    fn add_edge(&self, Scratch { sum, number }: &mut Scratch, edge: Ref, from: usize) {
        let at = self.position(edge);
        number.fill(0);
        if !edge.is_terminal() {
            for (limb, cell) in number.iter_mut().zip(&self.numbers[self.place(edge.index())]) {
                *limb = cell.load(Ordering::Relaxed);
            }
        }
        if edge.is_complement() {
            complement(number, self.levels.len() - at);
        }
        shift_left(number, at - from);
        add(sum, number);
    }

    fn total(&self, f: Ref) -> UBig {
        let mut scratch = self.scratch();
        self.add_edge(&mut scratch, f, 0);
        UBig::from_words(&scratch.sum)
    }
}

/// `number := 2^bits - number`.
fn complement(number: &mut [Word], bits: usize) {
    let mut carry = true;
    for limb in number.iter_mut() {
        let (value, overflow) = (!*limb).overflowing_add(Word::from(carry));
        (*limb, carry) = (value, overflow);
    }
    let (at, power) = (bits / Word::BITS as usize, 1 << (bits % Word::BITS as usize));
    let mut carry = power;
    for limb in &mut number[at..] {
        let (value, overflow) = limb.overflowing_add(carry);
        (*limb, carry) = (value, Word::from(overflow));
    }
}

fn add(sum: &mut [Word], number: &[Word]) {
    let mut carry = false;
    for (limb, &other) in sum.iter_mut().zip(number) {
        let (value, first) = limb.overflowing_add(other);
        let (value, second) = value.overflowing_add(Word::from(carry));
        (*limb, carry) = (value, first || second);
    }
}

fn shift_left(number: &mut [Word], by: usize) {
    let (limbs, bits) = (by / Word::BITS as usize, by % Word::BITS as usize);
    for at in (0..number.len()).rev() {
        let high = at.checked_sub(limbs).map_or(0, |from| number[from]);
        let low = at.checked_sub(limbs + 1).map_or(0, |from| number[from]);
        number[at] = if bits == 0 { high } else { high << bits | low >> (Word::BITS as usize - bits) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tremula_table::{Attention, Budget, Options};

    /// A parity, and a function with as many nodes as there are points, on any number of threads.
    #[test]
    fn workers_count_alike() {
        let mut table = Solo::new(&Budget::new(64 << 20), Options::default(), Attention::default()).unwrap();
        let levels: Vec<u32> = (0..100).collect();
        let mut make = |level, low, high| {
            let made = table.make(level, low, high).unwrap();
            table.keep(made);
            made
        };
        let parity = levels.iter().rev().fold(Ref::FALSE, |f, &level| make(level, f, !f));
        let mut row = vec![Ref::FALSE, Ref::TRUE];
        for level in (0..40).rev() {
            // Each joins two of the row below, far apart, so that a few have all rows below them. Rows are narrow and wide.
            let at = |n: usize| row[n % row.len()];
            let width = (row.len() * 2).min(if level % 5 == 0 { 1000 } else { 3000 });
            row = (0..width).map(|n| make(level, at(n * 7), at(n * 13 + 1 + n / 7))).collect();
        }
        let mut most = 0;
        for f in [parity, row[0], !row[1]] {
            let one = count(&mut table, 1, f, &levels).unwrap();
            for workers in [2, 3, 8] {
                let counter = Counter::new(&mut table, workers, f, &levels).unwrap();
                counter.run(workers).unwrap();
                assert_eq!(counter.total(f), one);
                most = most.max(counter.nodes);
            }
        }
        assert!(most > 30_000, "{most} nodes: there should be wide levels");
        assert_eq!(count(&mut table, 4, parity, &levels).unwrap(), UBig::ONE << 99);
    }

    #[test]
    fn limb_arithmetic_matches_big_integers() {
        let mut number: Vec<Word> = vec![Word::MAX, 5, 0, 0];
        let value = UBig::from_words(&number);
        shift_left(&mut number, 67);
        assert_eq!(UBig::from_words(&number), &value << 67);
        complement(&mut number, 250);
        assert_eq!(UBig::from_words(&number), (UBig::ONE << 250) - (value << 67));
    }
}
