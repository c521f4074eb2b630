//! Ranks as processes, on one host or many, started by `mpirun`, `srun` or another launcher of MPI.
//!
//! MPI starts the ranks, tells them about each other and does the collectives. Memory of ranks on the same host is mapped
//! into this process and used directly; that of other hosts is reached through UCX, which the owner serves with a thread
//! of its own, so that nobody waits for a rank that computes. Any thread may use segments; collectives belong to the
//! thread that runs the body.
//!
//! A thread of each rank lets the others know that it is alive. When a rank dies, or is not heard of for
//! [`Options::patience`], one rank calls [`Options::tell`] and all call [`Options::end`], which has to end the process: a
//! thread that waits inside MPI cannot be unwound.
//!
//! ```no_run
//! use tremula_fabric::{Fabric, processes};
//! let options = processes::Options::new(|lost| eprintln!("{lost}"), || std::process::exit(70));
//! let ranks = processes::run(options, |fabric| fabric.ranks()).unwrap();
//! println!("one of {ranks}");
//! ```

mod collectives;
mod kept;
mod monitor;
mod peers;
mod segment;

pub use monitor::{farewell, lose_by_panic, sees_death};
pub use segment::{ProcessSegment, ProcessWord, ProcessWords};

use crate::call::Call;
use crate::launcher::{launched_ranks, strangers};
use crate::{Distance, Fabric, FabricError, LossCause, RankLost, Reduction};
use collectives::Collectives;
use monitor::Monitor;
use peers::Peers;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// How ranks live together.
#[derive(Clone, Debug)]
pub struct Options {
    /// Tells the user of a loss: on one rank only, as far as ranks can still agree.
    pub tell: fn(&RankLost),
    /// Ends the process because a rank was lost. Any thread may call it.
    pub end: fn() -> !,
    /// Ends the process because another rank has bidden [`farewell`]. Any thread may call it.
    pub leave: fn() -> !,
    /// How long a rank may be silent before it counts as lost.
    pub patience: Duration,
    /// Words of one message of MPI: as many as it can count, or fewer, to test that longer ones are cut.
    pub longest_message: usize,
    /// Use the network even between ranks of one host.
    pub no_mapping: bool,
    /// What has to be the same on all ranks: program, version, arguments.
    pub identity: Vec<u8>,
    /// The process that started this one, and that the launcher knows instead of it, if there is such a one.
    pub guard: Option<u32>,
}

impl Options {
    /// The usual ones; who leaves ends as after a loss.
    pub fn new(tell: fn(&RankLost), end: fn() -> !) -> Options {
        let patience = Duration::from_secs(8);
        let longest_message = i32::MAX as usize;
        Options {
            tell,
            end,
            leave: end,
            patience,
            longest_message,
            no_mapping: false,
            identity: Vec::new(),
            guard: None,
        }
    }
}

/// Why there is no computation.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// MPI was started before, or would not start.
    #[error("MPI cannot be started")]
    Mpi,
    /// It was built for programs of one thread.
    #[error("this MPI cannot be called by several threads, not even one at a time")]
    Threads,
    /// The launcher belongs to another MPI than this program.
    #[error("the launcher started {launched} ranks, but this program's MPI knows {known}: they are not the same MPI")]
    Launcher {
        /// Ranks according to the launcher's environment.
        launched: usize,
        /// Ranks according to MPI.
        known: usize,
    },
    /// A launcher without PMIx, through which Open MPI's ranks find each other.
    #[error(
        "the launcher started {launched} processes that cannot find each other: use Open MPI's mpirun, or srun --mpi=pmix"
    )]
    Strangers {
        /// Processes according to the launcher's environment.
        launched: usize,
    },
    /// Ranks were started with different programs or arguments.
    #[error("rank {rank} on {host} was started with another program, version or arguments than rank 0")]
    Mismatch {
        /// The lowest rank that differs from rank 0.
        rank: usize,
        /// Where it runs.
        host: String,
        /// This rank. All ranks know, so that one of them can tell.
        noticed_by: usize,
    },
    /// The network does not work.
    #[error("rank {rank}: {error}")]
    Network {
        /// The lowest rank with that problem, as far as this one knows.
        rank: usize,
        /// What UCX said there, if this is that rank.
        error: String,
        /// This rank.
        noticed_by: usize,
    },
    /// No memory for the first words.
    #[error(transparent)]
    Memory(#[from] FabricError),
}

/// Take part in the computation that this process was started for, and end with all others.
pub fn run<R>(options: Options, body: impl FnOnce(&ProcessFabric) -> R) -> Result<R, StartError> {
    let fabric = ProcessFabric::start(options)?;
    match catch_unwind(AssertUnwindSafe(|| body(&fabric))) {
        Ok(result) => {
            fabric.end();
            Ok(result)
        }
        Err(payload) => {
            let cause = LossCause::Panicked(crate::threads::message(payload.as_ref()));
            fabric.monitor.lose(RankLost::new(fabric.rank(), cause))
        }
    }
}

/// The endpoint of a rank that is a process.
pub struct ProcessFabric {
    monitor: Monitor,
    peers: Arc<Peers>,
    collectives: Collectives,
}

impl ProcessFabric {
    fn start(options: Options) -> Result<ProcessFabric, StartError> {
        if let Some(launched) = strangers() {
            return Err(StartError::Strangers { launched });
        }
        let collectives = Collectives::start(options.longest_message)?;
        let known = collectives.ranks();
        match launched_ranks() {
            Some(launched) if launched != known => return Err(StartError::Launcher { launched, known }),
            _ => {}
        }
        let peers = Arc::new(Peers::meet(&collectives, &options)?);
        let beats = segment::allocate(&collectives, &peers, monitor::words(known))?;
        let monitor = Monitor::start(Arc::clone(&peers), beats, &options)?;
        collectives.barrier();
        monitor.all_are_connected();
        Ok(ProcessFabric { monitor, peers, collectives })
    }

    /// The name of the host that `rank` runs on.
    ///
    /// Returns [`FabricError::NoSuchRank`] if there is none.
    pub fn host(&self, rank: usize) -> Result<&str, FabricError> {
        self.peers.check_rank(rank)?;
        Ok(&self.peers.of(rank).host)
    }

    /// Wait for all ranks to come to their end.
    fn end(&self) {
        self.peers.flush();
        if self.agree(&Call::new("end")).is_ok() {
            self.monitor.stop();
            // Its last beats.
            self.peers.flush();
            self.collectives.barrier();
        }
    }

    /// Tell all ranks what this one calls; an error if they do not fit together.
    fn agree(&self, call: &Call) -> Result<(), FabricError> {
        self.agree_on_words(call, 0).map(|_| ())
    }

    /// The same for a call about so many words, of which other ranks may have more or fewer: how many each of them has.
    fn agree_on_words(&self, call: &Call, words: usize) -> Result<Vec<u64>, FabricError> {
        if std::thread::panicking() {
            // A destructor of a rank that panics; the others shall not wait for what it was going to do.
            let cause = LossCause::Panicked("still unwinding".to_owned());
            self.monitor.lose(RankLost::new(self.rank(), cause));
        }
        let agreed = self.collectives.agree(call, words);
        if let Some(rank) = agreed.ended_early() {
            self.monitor.lose(RankLost::new(rank, LossCause::EndedEarly));
        }
        agreed.outcome
    }
}

impl Fabric for ProcessFabric {
    type Segment = ProcessSegment;

    fn rank(&self) -> usize {
        self.peers.rank()
    }

    fn ranks(&self) -> usize {
        self.peers.ranks()
    }

    fn distance(&self, to: usize) -> Result<Distance, FabricError> {
        self.peers.check_rank(to)?;
        Ok(self.peers.distance(to))
    }

    fn allocate(&self, words_per_rank: usize) -> Result<ProcessSegment, FabricError> {
        self.agree(&Call::new("allocate").length(words_per_rank))?;
        segment::allocate(&self.collectives, &self.peers, words_per_rank)
    }

    fn barrier(&self) {
        self.peers.flush();
        // Who calls something else hears of it; this call has no way to say so.
        let _ = self.agree(&Call::new("barrier"));
    }

    fn broadcast(&self, root: usize, words: &mut Vec<u64>) -> Result<(), FabricError> {
        let lengths = self.agree_on_words(&Call::new("broadcast").root(root), words.len())?;
        self.collectives.broadcast(root, words, lengths[root]);
        Ok(())
    }

    fn reduce(&self, root: usize, reduction: Reduction, words: &mut [u64]) -> Result<(), FabricError> {
        self.agree(&Call::new("reduce").root(root).reduction(reduction).length(words.len()))?;
        self.collectives.reduce(root, reduction, words);
        Ok(())
    }

    fn all_reduce(&self, reduction: Reduction, words: &mut [u64]) -> Result<(), FabricError> {
        self.agree(&Call::new("all_reduce").reduction(reduction).length(words.len()))?;
        self.collectives.all_reduce(reduction, words);
        Ok(())
    }

    fn scan(&self, reduction: Reduction, words: &mut [u64]) -> Result<(), FabricError> {
        self.agree(&Call::new("scan").reduction(reduction).length(words.len()))?;
        self.collectives.scan(reduction, words);
        Ok(())
    }

    fn gather(&self, root: usize, words: &[u64]) -> Result<Option<Vec<Vec<u64>>>, FabricError> {
        let lengths = self.agree_on_words(&Call::new("gather").root(root), words.len())?;
        Ok(self.collectives.gather(root, words, &lengths))
    }

    fn all_gather(&self, words: &[u64]) -> Result<Vec<Vec<u64>>, FabricError> {
        let lengths = self.agree_on_words(&Call::new("all_gather"), words.len())?;
        Ok(self.collectives.all_gather_of(words, &lengths))
    }

    fn all_to_all(&self, messages: &[Vec<u64>]) -> Result<Vec<Vec<u64>>, FabricError> {
        let mine = messages.iter().map(Vec::len).max().unwrap_or(0);
        let longest = self.agree_on_words(&Call::new("all_to_all").length(messages.len()), mine)?;
        if messages.len() != self.ranks() {
            return Err(FabricError::MessageCount { messages: messages.len(), ranks: self.ranks() });
        }
        Ok(self.collectives.all_to_all(messages, &longest))
    }
}
