//! Fork and join of plain-data tasks, in threads and in lanes.
//!
//! A [`Pool`] runs a computation on several threads. A worker offers tasks to the others ([`Worker::spawn`]) and takes
//! them back when it needs their results ([`Worker::sync`]); idle workers steal the oldest. Tasks are plain words and
//! results one word, so nothing in a task points into the memory of the thread that made it.
//!
//! ```
//! use tremula_tasks::{Deque, Pool, PoolOptions, Work, Worker};
//! struct Fibonacci;
//! impl Work for Fibonacci {
//!     type Task = u64;
//!     type Answer = u64;
//!     type State = ();
//!     fn state(&self, _: usize) {}
//!     fn run<D: Deque>(&self, worker: &mut Worker<'_, Self, D>, n: u64) -> u64 {
//!         if n < 2 {
//!             return n;
//!         }
//!         worker.spawn(n - 2);
//!         let first = self.run(worker, n - 1);
//!         first + worker.join()
//!     }
//! }
//! let mut pool: Pool = Pool::new(PoolOptions { workers: 4, ..PoolOptions::default() })?;
//! assert_eq!(pool.run(&Fibonacci, 20).unwrap(), 6765);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! How it works, one idea per file: `attention` (the one word that a worker polls, and sleeping), `cells` (how tasks and
//! results change hands), `deque` (two kinds of deques), `worker` (running, waiting, stealing), `pool` (threads and runs),
//! `victims` (whom to steal from), `tactics` (how much to give, and when), `crew` and `common` (what they see of each other,
//! and where that is), `allies` (workers of several processes of one host), `gate` and `far` (pools of several hosts).
//! `src/README.md` walks through the protocol.
//!
//! [`Lanes`] runs one computation as several cooperating lanes in one thread. A lane that would wait for memory pauses
//! after asking for it, and another lane goes on meanwhile. [`Fibers`] are for longer waits, for other processes: their
//! thread does the talking, and wakes who has an answer.
//!
//! Not yet: workers that join or leave a pool between runs.

#[cfg(not(any(loom, shuttle)))]
mod allies;
mod attention;
mod cells;
mod common;
mod crew;
mod deque;
#[cfg(not(any(loom, shuttle)))]
mod far;
mod fibers;
#[cfg(not(any(loom, shuttle)))]
mod gate;
#[cfg(all(test, loom))]
mod interleavings;
mod lanes;
mod patience;
mod plain;
mod pool;
mod statistics;
mod sync;
mod synced;
mod tactics;
mod victims;
mod worker;

#[cfg(not(any(loom, shuttle)))]
pub use allies::{Alliance, Allies};
pub use deque::{Deque, Private, Split};
pub use fibers::{Board, Driver, Fiber, Fibers, Ticket};
#[cfg(not(any(loom, shuttle)))]
pub use gate::Gate;
pub use lanes::{Lane, Lanes};
pub use plain::{MOST_WORDS, Plain, Word, Words};
pub use pool::{Panicked, Pool, PoolOptions};
pub use statistics::{Histogram, Statistics};
pub use synced::Synced;
pub use tactics::{StealAmount, Tactics};
pub use worker::{Inbox, Work, Worker};
