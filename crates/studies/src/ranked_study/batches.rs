//! Nodes for a table, batch by batch: by the one thread of a rank that may use it, or by several.

use crate::table_study::on_threads;
use std::io;
use std::time::{Duration, Instant};
use tremula_distributed::{Find, Full, Node, NodeTable, SharedTable};

/// What the workers of a rank find or put, the nodes of each, and how long that took.
pub(super) type Put<T> = fn(&mut T, &[Vec<Node>]) -> io::Result<Result<Duration, Full>>;

/// Nodes that a worker asks for at a time.
const BATCH: usize = 256;
/// The same where that takes the time of a message and its answer.
const LARGE_BATCH: usize = 16_384;

/// By this thread, whatever the table.
pub(super) fn by_one<T: NodeTable>(table: &mut T, shares: &[Vec<Node>]) -> io::Result<Result<Duration, Full>> {
    let started = Instant::now();
    let outcome = shares.iter().flat_map(|share| share.chunks(LARGE_BATCH)).try_for_each(|batch| {
        table.find_or_put(batch)?;
        Ok(())
    });
    Ok(outcome.map(|()| started.elapsed()))
}

/// By a thread for each share, with a finder of its own. Starting them takes no part of the time.
pub(super) fn by_all<T: SharedTable + Sync>(table: &mut T, shares: &[Vec<Node>]) -> io::Result<Result<Duration, Full>> {
    let table = &*table;
    if let [share] = shares {
        return Ok(put(table, share).map(|(started, ended)| ended - started));
    }
    let ends = on_threads(shares.len(), |worker| put(table, &shares[worker]))?;
    Ok(ends.into_iter().collect::<Result<Vec<_>, Full>>().map(|ends| {
        let started = ends.iter().map(|&(started, _)| started).min();
        let ended = ends.iter().map(|&(_, ended)| ended).max();
        started.zip(ended).map_or(Duration::ZERO, |(started, ended)| ended - started)
    }))
}

fn put<T: SharedTable>(table: &T, share: &[Node]) -> Result<(Instant, Instant), Full> {
    let mut finder = table.finder();
    let started = Instant::now();
    for batch in share.chunks(BATCH) {
        finder.find_or_put(batch)?;
    }
    Ok((started, Instant::now()))
}
