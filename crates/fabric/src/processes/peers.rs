//! The ranks as this one knows them: where they run, and how their memory is reached.

use super::collectives::Collectives;
use super::kept::Kept;
use super::{Options, StartError};
use crate::bytes::{to_bytes, to_words};
use crate::launcher::host_name;
use crate::sync::Ordering;
use crate::{Distance, FabricError, Reduction};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tremula_interconnect::{Address, Network, NetworkError, SharedMemory};

/// A rank.
#[derive(Debug)]
pub(super) struct Peer {
    /// The name of its host.
    pub(super) host: String,
    /// Its process on that host.
    pub(super) process: u32,
    /// Does it run on this rank's host?
    same_host: bool,
    /// Can this process map its memory?
    pub(super) mapped: bool,
}

/// All ranks.
#[derive(Debug)]
pub(super) struct Peers {
    rank: usize,
    all: Vec<Peer>,
    /// Open on all ranks if any of them needs it.
    network: Option<Network>,
    kept: Mutex<Kept>,
    /// The first request that the network refused, and when.
    refused: OnceLock<(Instant, NetworkError)>,
}

impl Peers {
    /// *Collective.* Get to know each other.
    pub(super) fn meet(collectives: &Collectives, options: &Options) -> Result<Peers, StartError> {
        let rank = collectives.rank();
        let host = host_name();
        let mut all = introduce(collectives, &host);
        let identities = gather_bytes(collectives, &options.identity);
        if let Some(odd) = identities.iter().position(|identity| *identity != identities[0]) {
            return Err(StartError::Mismatch { rank: odd, host: all[odd].host.clone(), noticed_by: rank });
        }
        try_mapping(collectives, options, &mut all);
        let mut far = [u64::from(all.iter().any(|peer| !peer.mapped))];
        collectives.all_reduce(Reduction::Or, &mut far);
        let network = if far[0] == 1 { Some(connect(collectives)?) } else { None };
        Ok(Peers { rank, all, network, kept: Mutex::default(), refused: OnceLock::new() })
    }

    pub(super) fn rank(&self) -> usize {
        self.rank
    }

    pub(super) fn ranks(&self) -> usize {
        self.all.len()
    }

    pub(super) fn of(&self, rank: usize) -> &Peer {
        &self.all[rank]
    }

    pub(super) fn network(&self) -> Option<&Network> {
        self.network.as_ref()
    }

    pub(super) fn kept(&self) -> MutexGuard<'_, Kept> {
        // Nothing panics half way through a change.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wait until everything that any thread of this rank has begun is complete.
    pub(super) fn flush(&self) {
        if let Some(network) = &self.network {
            self.or_stay(network.flush_all_lanes());
        }
    }

    /// Let go of what is known of parts of others that this rank has dropped, by rank and the owner's number.
    pub(super) fn forget(&self, regions: &[(usize, u64)]) {
        if let Some(network) = &self.network {
            self.or_stay(network.forget(regions));
        }
    }

    /// What the network has done; if it has refused to, wait for the end. Usually a rank is lost then, and the monitor finds
    /// out which; if it does not, it tells of the network.
    pub(super) fn or_stay<T>(&self, outcome: Result<T, NetworkError>) -> T {
        outcome.unwrap_or_else(|error| {
            if error != NetworkError::Closed {
                let _ = self.refused.set((Instant::now(), error));
            }
            loop {
                std::thread::park();
            }
        })
    }

    /// What the network has refused so long ago that no lost rank explains it.
    pub(super) fn unexplained(&self, patience: Duration) -> Option<&NetworkError> {
        self.refused.get().filter(|(at, _)| at.elapsed() > patience).map(|(_, error)| error)
    }

    pub(super) fn check_rank(&self, rank: usize) -> Result<(), FabricError> {
        let ranks = self.ranks();
        if rank < ranks { Ok(()) } else { Err(FabricError::NoSuchRank { rank, ranks }) }
    }

    pub(super) fn distance(&self, to: usize) -> Distance {
        match &self.all[to] {
            _ if to == self.rank => Distance::Same,
            peer if peer.same_host => Distance::Machine,
            _ => Distance::Remote,
        }
    }
}

/// Who and where all ranks are; whether they can be mapped is yet to be seen.
fn introduce(collectives: &Collectives, host: &str) -> Vec<Peer> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let mine = format!("{host}\n{boot}");
    let processes = collectives.all_gather(&[u64::from(std::process::id())]);
    let hosts = gather_bytes(collectives, mine.as_bytes());
    let peer = |(place, process): (&Vec<u8>, Vec<u64>)| Peer {
        host: String::from_utf8_lossy(place).lines().next().unwrap_or_default().to_owned(),
        process: process[0] as u32,
        same_host: place == mine.as_bytes(),
        mapped: false,
    };
    hosts.iter().zip(processes).map(peer).collect()
}

/// Find out whose memory can be mapped: containers may keep processes of one host apart.
fn try_mapping(collectives: &Collectives, options: &Options, all: &mut [Peer]) {
    let sample = SharedMemory::create(1).ok();
    // Process numbers of two containers may be the same, so a memory that can be opened need not be the right one.
    let token = RandomState::new().hash_one(std::process::id());
    if let Some(sample) = &sample {
        // Release: with the exchange below, whoever opens it sees this.
        sample.words()[0].store(token, Ordering::Release);
    }
    let descriptor = sample.as_ref().map_or(u64::MAX, |sample| sample.descriptor() as u64);
    let samples = collectives.all_gather(&[descriptor, token]);
    for (rank, (peer, theirs)) in all.iter_mut().zip(samples).enumerate() {
        let opens = || {
            let opened = i32::try_from(theirs[0]).ok().and_then(|it| SharedMemory::open(peer.process, it, 1).ok());
            // Acquire: pairs with the Release above, in the owner.
            opened.is_some_and(|memory| memory.words()[0].load(Ordering::Acquire) == theirs[1])
        };
        peer.mapped = rank == collectives.rank() || peer.same_host && !options.no_mapping && opens();
    }
    // Nobody lets go of its sample before all have looked.
    collectives.barrier();
}

fn connect(collectives: &Collectives) -> Result<Network, StartError> {
    let (network, noticed_by) = (Network::open(), collectives.rank());
    let mut failed = [if network.is_err() { noticed_by as u64 } else { u64::MAX }];
    collectives.all_reduce(Reduction::Min, &mut failed);
    let rank = failed[0] as usize;
    let network = match network {
        Ok(network) if failed[0] == u64::MAX => network,
        Err(error) if rank == noticed_by => {
            return Err(StartError::Network { rank, error: error.to_string(), noticed_by });
        }
        _ => return Err(StartError::Network { rank, error: "no network".to_owned(), noticed_by }),
    };
    let addresses = gather_bytes(collectives, &network.address().0);
    network.connect(addresses.into_iter().map(Address).collect());
    Ok(network)
}

/// *Collective.* What each rank gives, by rank.
pub(super) fn gather_bytes(collectives: &Collectives, bytes: &[u8]) -> Vec<Vec<u8>> {
    collectives.all_gather(&to_words(bytes)).iter().map(|words| to_bytes(words)).collect()
}
