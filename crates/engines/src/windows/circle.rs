//! How ranks meet: all go on, or none does.
//!
//! Whatever a rank does between two meetings may fail. At the next one all hear of it, and stop together; so no rank ever waits
//! for one that has stopped.

use super::parcel::{Parcel, WORD};
use super::{Halt, Times};
use std::time::Instant;
use tremula_diagrams::{Error, Lease, Manager};
use tremula_fabric::Fabric;

/// Words for one rank that are received without asking whether there is memory for them.
const FEW_WORDS: u64 = 1 << 14;

/// What has come, and the memory that it takes until it is gone.
pub(super) struct Received {
    /// Words by sender; nothing at all if nobody has sent anything.
    pub(super) by_rank: Vec<Vec<u64>>,
    _lease: Option<Lease>,
}

/// The ranks, and what being together has cost this one.
pub(super) struct Circle<'a, F> {
    fabric: &'a F,
    pub(super) times: Times,
    pub(super) words_sent: u64,
    pub(super) messages: u64,
}

impl<'a, F: Fabric> Circle<'a, F> {
    pub(super) fn new(fabric: &'a F) -> Circle<'a, F> {
        Circle { fabric, times: Times::default(), words_sent: 0, messages: 0 }
    }

    pub(super) fn rank(&self) -> usize {
        self.fabric.rank()
    }

    pub(super) fn ranks(&self) -> usize {
        self.fabric.ranks()
    }

    /// *Collective.* Tell the others how it went and a few words, and hear theirs, by rank.
    pub(super) fn meet<T>(&mut self, mine: Result<T, Error>, words: &[u64]) -> Result<(T, Vec<Vec<u64>>), Halt> {
        let began = Instant::now();
        let told: Vec<u64> = std::iter::once(u64::from(mine.is_ok())).chain(words.iter().copied()).collect();
        let mut all = self.fabric.all_gather(&told)?;
        self.times.waiting += began.elapsed();
        self.messages += self.ranks() as u64 - 1;
        let first_in_trouble = all.iter().position(|told| told[0] == 0);
        all.iter_mut().for_each(|told| _ = told.remove(0));
        match (mine, first_in_trouble) {
            (Ok(value), None) => Ok((value, all)),
            (Err(error), Some(rank)) if rank == self.rank() => Err(Halt::Here(error)),
            (_, rank) => Err(Halt::Elsewhere(rank.expect("this rank at least"))),
        }
    }

    /// *Collective.* Give every rank its parcel; what the others have for this one. The parcel for this rank is ignored.
    pub(super) fn exchange(
        &mut self,
        manager: &Manager,
        parcels: Result<Vec<Parcel>, Error>,
    ) -> Result<Received, Halt> {
        let lengths: Vec<u64> = parcels.iter().flatten().map(|parcel| parcel.words.len() as u64).collect();
        let (parcels, table) = self.meet(parcels, &lengths)?;
        let received = |rank: usize| table.iter().map(|lengths| lengths[rank]).sum::<u64>();
        let most = (0..self.ranks()).map(received).max().unwrap_or(0);
        if most == 0 {
            return Ok(Received { by_rank: Vec::new(), _lease: None });
        }
        // All ranks see the same table, and so agree on whether to ask. The fabric has copies of what is sent and received.
        let bytes = 2 * (received(self.rank()) + lengths.iter().sum::<u64>()) as usize * WORD;
        let lease = match most > FEW_WORDS {
            true => Some(self.meet(manager.lease(bytes), &[])?.0),
            false => None,
        };
        let began = Instant::now();
        self.words_sent += lengths.iter().sum::<u64>();
        self.messages += lengths.iter().filter(|&&length| length > 0).count() as u64;
        let (words, _leases): (Vec<_>, Vec<_>) = parcels.into_iter().map(|parcel| (parcel.words, parcel.lease)).unzip();
        let by_rank = self.fabric.all_to_all(&words)?;
        self.times.sending += began.elapsed();
        Ok(Received { by_rank, _lease: lease })
    }
}
