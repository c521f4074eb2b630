//! One-sided memory, atomics and collectives between the ranks of a computation.
//!
//! A computation consists of *ranks*, numbered from zero, that run the same program. Each holds an endpoint, a
//! [`Fabric`], and together they allocate [`Segment`]s: arrays of 64-bit words of which every rank owns an equal part
//! and which all may read, write and update without the owner's help. [`BlockArray`] deals one long array out to the
//! ranks. Ranks are threads of one process ([`threads`]) or, with the feature `mpi`, processes on one or many hosts. The
//! traits ask for what a network can do: places are offsets instead of addresses, buffers belong to the operation while
//! it runs, effects are complete after a flush.
//!
//! ```
//! use tremula_fabric::{Fabric, Place, Reduction, Segment, threads};
//!
//! let sums = threads::run(3, |fabric| {
//!     let counters = fabric.allocate(1)?;
//!     counters.fetch_add(Place { rank: 0, offset: 0 }, 1 + fabric.rank() as u64)?;
//!     fabric.barrier();
//!     let mut sum = [counters.get_word(Place { rank: 0, offset: 0 })?];
//!     fabric.all_reduce(Reduction::Max, &mut sum)?;
//!     Ok::<u64, tremula_fabric::FabricError>(sum[0])
//! });
//! assert!(sums.unwrap().into_iter().all(|sum| sum == Ok(6)));
//! ```
//!
//! # What a program may rely on
//!
//! - F1, *whole words*: a word that is written alone, or by its owner, is written whole; a word that is read alone, or in a
//!   slice of up to [`WHOLE_WORDS`], is read whole. In longer slices a word that is read and written at the same time may
//!   have bytes of both; and until a write of several words is complete, each of them may have bytes of the old and the
//!   new. The words of one slice move in no particular order.
//! - F2, *flush*: between two flushes the operations of a thread on one target take effect in any order, unless one of
//!   them has returned a value: then it has taken effect. A flush is for the thread that calls it, not for others of its rank.
//! - F3, *publication*: whatever a thread completed by a flush before it wrote a word is visible to a rank that has read
//!   that word through the fabric. So data, flush, flag is a message.
//! - F4, *barrier*: what all threads of all ranks did before a barrier, without any flush, is visible to all ranks after it.
//! - F5, *no half failures*: an operation that returns an error has changed nothing; a collective fails on all ranks or
//!   on none.
//! - F6, *no rank is left waiting*: if a rank is lost, calls of the others end their ranks too (see [`RankLost`]).
//!
//! # Not yet
//!
//! Teams of ranks; collectives that do not block.

#![forbid(unsafe_code)]

mod array;
pub mod barrier;
mod blocks;
pub mod bytes;
mod call;
mod error;
mod fabric;
mod ground;
mod launcher;
pub mod mail;
mod pending;
#[cfg(feature = "mpi")]
pub mod processes;
mod reduction;
mod segment;
pub mod sync;
pub mod threads;
pub mod topology;
pub mod wake;

pub use array::BlockArray;
pub use blocks::Blocks;
pub use error::{FabricError, LossCause, RankLost};
pub use fabric::Fabric;
pub use ground::Ground;
pub use launcher::{host_name, is_launched_by_open_mpi, launched_rank, launched_ranks};
pub use pending::{Pending, Ready};
pub use reduction::Reduction;
pub use segment::{Place, Segment, Update, WHOLE_WORDS};
pub use topology::Distance;
