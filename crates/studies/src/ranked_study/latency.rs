//! Latencies of single operations: every rank finds or puts one node after the other, and all ranks do at the same time.
//!
//! Each operation is timed by itself, between two readings of the clock, and what it has asked other ranks for is counted
//! beside that.

use super::measure::{Subject, fitting};
use super::{LatencyReport, LatencyTable};
use crate::StudyError;
use crate::agreement::agree;
use crate::table_study::{Latency, Mix};
use std::time::Instant;
use tremula_distributed::{Find, Full, Node, NodeTable, Reach, SharedTable};
use tremula_fabric::{Fabric, Reduction};

/// Operations of each rank that are timed, at most.
const MOST_OPERATIONS: u64 = 20_000;

/// Finds or puts nodes one by one.
pub(super) type Time<T> = fn(&mut T, &[Node]) -> Result<Timed, Full>;

/// What single operations took.
#[derive(Default)]
pub(super) struct Timed {
    nanoseconds: Vec<u64>,
    /// Those that asked other ranks for anything.
    remote_operations: u64,
    /// What they asked for.
    remote_requests: u64,
}

impl Timed {
    /// Time one operation; the requests to other ranks, ever, come with its end.
    fn add(&mut self, remote_before: u64, started: Instant, remote: impl FnOnce() -> u64) {
        self.nanoseconds.push(started.elapsed().as_nanos() as u64);
        let requests = remote() - remote_before;
        self.remote_requests += requests;
        self.remote_operations += u64::from(requests > 0);
    }

    fn append(&mut self, mut more: Timed) {
        self.nanoseconds.append(&mut more.nanoseconds);
        self.remote_operations += more.remote_operations;
        self.remote_requests += more.remote_requests;
    }
}

/// By the table itself, where it has no finders.
pub(super) fn by_table<T: NodeTable>(table: &mut T, nodes: &[Node]) -> Result<Timed, Full> {
    let remote = |table: &T| {
        let requests = table.requests();
        requests[Reach::Host as usize] + requests[Reach::Far as usize]
    };
    let mut timed = Timed::default();
    for &node in nodes {
        let (before, started) = (remote(table), Instant::now());
        table.find_or_put(&[node])?;
        timed.add(before, started, || remote(table));
    }
    Ok(timed)
}

/// By one finder.
pub(super) fn by_finder<T: SharedTable>(table: &mut T, nodes: &[Node]) -> Result<Timed, Full> {
    let (mut finder, mut timed) = (table.finder(), Timed::default());
    for &node in nodes {
        let (before, started) = (finder.traffic().remote(), Instant::now());
        finder.find_or_put(&[node])?;
        timed.add(before, started, || finder.traffic().remote());
    }
    Ok(timed)
}

/// *Collective.* Latencies of so many operations of each rank, or of fewer, at the load of the subject.
pub(super) fn measure<F: Fabric, T: NodeTable>(
    subject: &mut Subject<'_, F, T>,
    (table, load, mix): (LatencyTable, f64, Mix),
    operations: u64,
    time: Time<T>,
) -> Result<LatencyReport, StudyError> {
    let operations = operations.min(MOST_OPERATIONS);
    let a_round = subject.operations_in_round(mix, 1).min(operations);
    let mut timed = Timed::default();
    for round in 0..operations.div_ceil(a_round) {
        let nodes = subject.nodes(mix, a_round, round, 0);
        subject.fabric.barrier();
        let outcome = time(&mut subject.table, &nodes);
        subject.table.settle();
        timed.append(agree(subject.fabric, fitting(Ok(outcome)))?);
        subject.set_back();
    }
    let mut sums = [timed.nanoseconds.len() as u64, timed.remote_operations, timed.remote_requests];
    subject.fabric.all_reduce(Reduction::Sum, &mut sums)?;
    let [operations, remote_operations, remote_requests] = sums;
    let samples = subject.fabric.gather(0, &timed.nanoseconds)?.unwrap_or_default().concat();
    Ok(LatencyReport {
        table,
        load,
        mix,
        operations,
        latency_ns: Latency::of(samples.into_iter().map(|ns| ns.try_into().unwrap_or(u32::MAX)).collect()),
        remote_operations: remote_operations as f64 / operations as f64,
        remote_requests: remote_requests as f64 / operations as f64,
    })
}
