//! A table at one load, measured.

use crate::table_study::{Mix, Random};
use crate::{Spread, StudyError};
use std::time::Instant;
use tremula_distributed::{Checkpoint, Chunks, Finder, Node, OneSided, Sizes};
use tremula_fabric::{Fabric, Reduction};

/// How far the load may be from what was asked for, in either direction.
const DRIFT: f64 = 0.01;
/// Nodes that a worker asks for at a time.
const BATCH: usize = 256;

/// A table that is filled almost to a load.
pub(super) struct Subject<'f, F: Fabric> {
    fabric: &'f F,
    table: OneSided<F::Segment>,
    filled: Checkpoint,
    /// Nodes below this number are there.
    existing: u64,
    /// Nodes that each rank may put before the load is too high.
    room: u64,
}

impl<'f, F: Fabric> Subject<'f, F> {
    /// *Collective.* Fill a table with `slots` on each rank.
    pub(super) fn fill(fabric: &'f F, slots: usize, chunk: usize, load: f64) -> Result<Subject<'f, F>, StudyError> {
        let ranks = fabric.ranks() as u64;
        let sizes = Sizes { slots, nodes: slots };
        let table = OneSided::allocate(fabric, sizes)?.with_chunks(Chunks::Fixed(chunk));
        let mine = ((load - DRIFT) * slots as f64) as u64;
        let first = fabric.rank() as u64;
        let numbers = (0..mine).map(|number| node(number * ranks + first));
        in_batches(&mut table.finder(), numbers)?;
        fabric.barrier();
        let filled = table.checkpoint();
        fabric.barrier();
        let room = ((2.0 * DRIFT * slots as f64) as u64).max(1);
        Ok(Subject { fabric, table, filled, existing: mine * ranks, room })
    }

    /// *Collective.* Set the table back.
    fn set_back(&self) {
        self.fabric.barrier();
        self.table.restore(&self.filled);
        self.fabric.barrier();
    }

    /// *Collective.* Million operations per second of all ranks together, by rounds.
    pub(super) fn speed(&self, mix: Mix, operations: u64) -> Result<Spread, StudyError> {
        let a_round = self.room * 100 / mix.inserts();
        let rounds = operations.div_ceil(a_round);
        let mut speeds = Vec::new();
        for round in 0..rounds {
            let nodes = self.nodes(mix, a_round, round);
            self.fabric.barrier();
            let started = Instant::now();
            in_batches(&mut self.table.finder(), nodes.iter().copied())?;
            let mut longest = [started.elapsed().as_nanos() as u64];
            self.fabric.all_reduce(Reduction::Max, &mut longest)?;
            speeds.push((a_round * self.fabric.ranks() as u64) as f64 * 1e3 / longest[0].max(1) as f64);
            self.set_back();
        }
        Ok(Spread::of(speeds).expect("at least one round"))
    }

    /// *Collective.* Chunks that an insert reads, on average over all ranks.
    pub(super) fn chunks_per_insert(&self) -> Result<f64, StudyError> {
        let mut finder = self.table.finder();
        in_batches(&mut finder, (0..self.room).map(|number| node(self.new_number(number, 0))))?;
        let mut sum = [finder.traffic().chunks.iter().sum::<u64>()];
        self.fabric.all_reduce(Reduction::Sum, &mut sum)?;
        self.set_back();
        Ok(sum[0] as f64 / (self.room * self.fabric.ranks() as u64) as f64)
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

fn in_batches<S: tremula_fabric::Segment>(
    finder: &mut Finder<'_, S>,
    nodes: impl Iterator<Item = Node>,
) -> Result<(), StudyError> {
    let mut batch = Vec::with_capacity(BATCH);
    let mut nodes = nodes.peekable();
    while nodes.peek().is_some() {
        batch.clear();
        batch.extend(nodes.by_ref().take(BATCH));
        finder.find_or_put(&batch).map_err(|_| StudyError::NothingToMeasure("the table is full at this load"))?;
    }
    Ok(())
}

/// The node with a number.
fn node(number: u64) -> Node {
    [number, number.rotate_left(32)]
}
