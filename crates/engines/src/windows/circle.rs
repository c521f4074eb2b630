//! How ranks meet: all go on, or none does.
//!
//! Whatever a rank does between two meetings may fail. At the next one all hear of it, and stop together; so no rank ever waits
//! for one that has stopped.

use super::parcel::Parcel;
use super::{Halt, Times};
use std::time::Instant;
use tremula_diagrams::{Error, Manager};
use tremula_fabric::Fabric;

/// Words for one rank that are received without asking whether there is memory for them.
const FEW_WORDS: u64 = 1 << 14;
/// Words that go from one rank to another at a time: few enough that copies on their way need little memory.
const SLICE: usize = 1 << 14;

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

    /// *Collective.* What this rank has made, if all ranks had room for theirs.
    pub(super) fn if_all_have_room<T>(&mut self, mine: Result<T, Error>) -> Result<Option<T>, Halt> {
        let mine = match mine {
            Err(Error::TableFull) => Ok(None),
            mine => mine.map(Some),
        };
        let has_room = matches!(mine, Ok(Some(_)));
        let (mine, all) = self.meet(mine, &[u64::from(has_room)])?;
        Ok(mine.filter(|_| all.iter().all(|words| words[0] == 1)))
    }

    /// *Collective.* Give every rank its parcel; what the others have for this one, by sender, or nothing at all if nobody has
    /// sent anything. The parcel for this rank is ignored.
    pub(super) fn exchange(
        &mut self,
        manager: &Manager,
        parcels: Result<Vec<Parcel>, Error>,
    ) -> Result<Vec<Parcel>, Halt> {
        let lengths: Vec<u64> = parcels.iter().flatten().map(|parcel| parcel.words.len() as u64).collect();
        let (parcels, table) = self.meet(parcels, &lengths)?;
        let for_rank = |rank: usize| table.iter().map(|lengths| lengths[rank]).sum::<u64>();
        let most = (0..self.ranks()).map(for_rank).max().unwrap_or(0);
        if most == 0 {
            return Ok(Vec::new());
        }
        let coming = table.iter().map(|lengths| lengths[self.rank()] as usize);
        // All ranks see the same table, and so agree on whether to ask.
        let mut received: Vec<Parcel> = match most > FEW_WORDS {
            true => self.meet(coming.map(|length| Parcel::expected(manager, length)).collect(), &[])?.0,
            false => coming.map(|_| Parcel::default()).collect(),
        };
        let began = Instant::now();
        self.words_sent += lengths.iter().sum::<u64>();
        self.messages += lengths.iter().filter(|&&length| length > 0).count() as u64;
        let longest = table.iter().flatten().max().map_or(0, |&length| length as usize);
        for start in (0..longest).step_by(SLICE) {
            let slices: Vec<Vec<u64>> = parcels.iter().map(|parcel| parcel.slice(start, SLICE).to_vec()).collect();
            let arrived = self.fabric.all_to_all(&slices)?;
            received.iter_mut().zip(arrived).for_each(|(parcel, slice)| parcel.words.extend(slice));
        }
        self.times.sending += began.elapsed();
        Ok(received)
    }
}
