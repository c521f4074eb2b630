//! A table at one load, measured.

use super::form::Form;
use crate::table_study::{Mix, Random};
use crate::{Spread, StudyError};
use std::time::Instant;
use tremula_distributed::{Full, Node, OneSided};
use tremula_fabric::{Fabric, Reduction};

/// How far the load may be from what was asked for, in either direction.
const DRIFT: f64 = 0.01;

/// A table that is filled almost to a load.
pub(super) struct Subject<'f, F: Fabric, T: Form> {
    fabric: &'f F,
    table: T,
    filled: T::Kept,
    /// Nodes below this number are there.
    existing: u64,
    /// Nodes that each rank may put before the load is too high.
    room: u64,
}

impl<'f, F: Fabric, T: Form> Subject<'f, F, T> {
    /// *Collective.* Fill a table with `slots` on each rank.
    pub(super) fn fill(fabric: &'f F, mut table: T, slots: usize, load: f64) -> Result<Subject<'f, F, T>, StudyError> {
        let ranks = fabric.ranks() as u64;
        let mine = ((load - DRIFT) * slots as f64) as u64;
        let first = fabric.rank() as u64;
        let outcome = table.put_all(&mut (0..mine).map(|number| node(number * ranks + first)));
        table.settle();
        agree(fabric, outcome)?;
        let filled = table.keep();
        fabric.barrier();
        let room = ((2.0 * DRIFT * slots as f64) as u64).max(1);
        Ok(Subject { fabric, table, filled, existing: mine * ranks, room })
    }

    /// *Collective.* Set the table back.
    fn set_back(&mut self) {
        self.fabric.barrier();
        self.table.set_back(&self.filled);
        self.fabric.barrier();
    }

    /// *Collective.* Million operations per second of all ranks together, by rounds.
    pub(super) fn speed(&mut self, mix: Mix, operations: u64) -> Result<Spread, StudyError> {
        let a_round = self.room * 100 / mix.inserts();
        let rounds = operations.div_ceil(a_round);
        let mut speeds = Vec::new();
        for round in 0..rounds {
            let nodes = self.nodes(mix, a_round, round);
            self.fabric.barrier();
            let started = Instant::now();
            let outcome = self.table.put_all(&mut nodes.iter().copied());
            let mut longest = [started.elapsed().as_nanos() as u64];
            self.table.settle();
            agree(self.fabric, outcome)?;
            self.fabric.all_reduce(Reduction::Max, &mut longest)?;
            speeds.push((a_round * self.fabric.ranks() as u64) as f64 * 1e3 / longest[0].max(1) as f64);
            self.set_back();
        }
        Ok(Spread::of(speeds).expect("at least one round"))
    }

    /// What this rank asks for in a round: in random order, with an exact number of inserts.
    fn nodes(&self, mix: Mix, operations: u64, round: u64) -> Vec<Node> {
        let mut random = Random(round << 32 | self.fabric.rank() as u64);
        let mut inserts = operations * mix.inserts() / 100;
        let one = |left: u64| {
            let number = random.next();
            let is_insert = number % left < inserts;
            inserts -= u64::from(is_insert);
            node(if is_insert { self.new_number(inserts, round) } else { random.next() % self.existing })
        };
        (1..=operations).rev().map(one).collect()
    }

    /// A node that no other rank puts; later rounds have others.
    fn new_number(&self, number: u64, round: u64) -> u64 {
        let ranks = self.fabric.ranks() as u64;
        self.existing + (round * self.room + number) * ranks + self.fabric.rank() as u64
    }
}

impl<F: Fabric> Subject<'_, F, OneSided<F::Segment>> {
    /// *Collective.* Chunks that an insert reads, on average over all ranks.
    pub(super) fn chunks_per_insert(&mut self) -> Result<f64, StudyError> {
        let nodes: Vec<Node> = (0..self.room).map(|number| node(self.new_number(number, 0))).collect();
        let mut finder = self.table.finder();
        agree(self.fabric, finder.find_or_put(&nodes).map(drop))?;
        let mut sum = [finder.traffic().chunks.iter().sum::<u64>()];
        drop(finder);
        self.fabric.all_reduce(Reduction::Sum, &mut sum)?;
        self.set_back();
        Ok(sum[0] as f64 / (self.room * self.fabric.ranks() as u64) as f64)
    }
}

/// *Collective.* An error for all ranks if the table is full for one of them.
fn agree<F: Fabric>(fabric: &F, outcome: Result<(), Full>) -> Result<(), StudyError> {
    let mut is_full = [u64::from(outcome.is_err())];
    fabric.all_reduce(Reduction::Max, &mut is_full)?;
    if is_full == [0] { Ok(()) } else { Err(StudyError::NothingToMeasure("the table is full at this load")) }
}

/// The node with a number.
fn node(number: u64) -> Node {
    [number, number.rotate_left(32)]
}
