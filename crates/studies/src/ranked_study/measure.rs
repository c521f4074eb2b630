//! A table at one load, measured.

use super::batches::Put;
use crate::agreement::agree;
use crate::table_study::{Mix, Random};
use crate::{Spread, StudyError};
use std::io;
use tremula_distributed::{Find, Full, Node, NodeTable, SharedTable};
use tremula_fabric::{Fabric, Reduction};

/// How far the load may be from what was asked for, in either direction.
const DRIFT: f64 = 0.01;

/// A table that is filled almost to a load.
pub(super) struct Subject<'f, F: Fabric, T: NodeTable> {
    pub(super) fabric: &'f F,
    pub(super) table: T,
    put: Put<T>,
    filled: T::Kept,
    /// Nodes below this number are there.
    existing: u64,
    /// Nodes that each rank may put before the load is too high.
    room: u64,
}

impl<'f, F: Fabric, T: NodeTable> Subject<'f, F, T> {
    /// *Collective.* Fill a table with `slots` on each rank; `put` says how.
    pub(super) fn fill(
        fabric: &'f F,
        mut table: T,
        put: Put<T>,
        slots: usize,
        load: f64,
    ) -> Result<Subject<'f, F, T>, StudyError> {
        let ranks = fabric.ranks() as u64;
        let mine = ((load - DRIFT) * slots as f64) as u64;
        let first = fabric.rank() as u64;
        let outcome = put(&mut table, &[(0..mine).map(|number| node(number * ranks + first)).collect()]);
        table.settle();
        agree(fabric, fitting(outcome))?;
        let filled = table.checkpoint();
        fabric.barrier();
        let room = ((2.0 * DRIFT * slots as f64) as u64).max(1);
        Ok(Subject { fabric, table, put, filled, existing: mine * ranks, room })
    }

    /// *Collective.* Set the table back.
    pub(super) fn set_back(&mut self) {
        self.fabric.barrier();
        self.table.restore(&self.filled);
        self.fabric.barrier();
    }

    /// Operations that so many workers of a rank do before the load is too high, each as many.
    pub(super) fn operations_in_round(&self, mix: Mix, workers: usize) -> u64 {
        (self.room / workers as u64).max(1) * 100 / mix.inserts()
    }

    /// *Collective.* Million operations per second of all ranks together, by rounds; so many of each rank, by all its workers.
    pub(super) fn speed(&mut self, mix: Mix, operations: u64, workers: usize) -> Result<Spread, StudyError> {
        let of_worker = self.operations_in_round(mix, workers);
        let a_round = of_worker * workers as u64;
        let mut speeds = Vec::new();
        for round in 0..operations.div_ceil(a_round) {
            let shares: Vec<Vec<Node>> = (0..workers).map(|worker| self.nodes(mix, of_worker, round, worker)).collect();
            self.fabric.barrier();
            let outcome = (self.put)(&mut self.table, &shares);
            self.table.settle();
            let mut longest = [agree(self.fabric, fitting(outcome))?.as_nanos() as u64];
            self.fabric.all_reduce(Reduction::Max, &mut longest)?;
            speeds.push((a_round * self.fabric.ranks() as u64) as f64 * 1e3 / longest[0].max(1) as f64);
            self.set_back();
        }
        Ok(Spread::of(speeds).expect("at least one round"))
    }

    /// What a worker asks for in a round: in random order, with an exact number of inserts.
    pub(super) fn nodes(&self, mix: Mix, operations: u64, round: u64, worker: usize) -> Vec<Node> {
        let mut random = Random(round << 32 | (worker as u64) << 16 | self.fabric.rank() as u64);
        let all_inserts = operations * mix.inserts() / 100;
        let before = worker as u64 * all_inserts;
        let mut inserts = all_inserts;
        let one = |left: u64| {
            let number = random.next();
            let is_insert = number % left < inserts;
            inserts -= u64::from(is_insert);
            node(if is_insert { self.new_number(before + inserts, round) } else { random.next() % self.existing })
        };
        (1..=operations).rev().map(one).collect()
    }

    /// A node that no other rank puts; later rounds have others.
    fn new_number(&self, number: u64, round: u64) -> u64 {
        let ranks = self.fabric.ranks() as u64;
        self.existing + (round * self.room + number) * ranks + self.fabric.rank() as u64
    }
}

impl<F: Fabric, T: SharedTable> Subject<'_, F, T> {
    /// *Collective.* Chunks that an insert reads, on average over all ranks.
    pub(super) fn chunks_per_insert(&mut self) -> Result<f64, StudyError> {
        let nodes: Vec<Node> = (0..self.room).map(|number| node(self.new_number(number, 0))).collect();
        let mut finder = self.table.finder();
        agree(self.fabric, fitting(Ok(finder.find_or_put(&nodes))))?;
        let mut sum = [finder.traffic().chunks.iter().sum::<u64>()];
        drop(finder);
        self.fabric.all_reduce(Reduction::Sum, &mut sum)?;
        self.set_back();
        Ok(sum[0] as f64 / (self.room * self.fabric.ranks() as u64) as f64)
    }
}

/// What a rank has put, if there were threads and room for it.
pub(super) fn fitting<T>(outcome: io::Result<Result<T, Full>>) -> Result<T, StudyError> {
    outcome?.map_err(|Full| StudyError::NothingToMeasure("the table is full at this load"))
}

/// The node with a number.
fn node(number: u64) -> Node {
    [number, number.rotate_left(32)]
}
