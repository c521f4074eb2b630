//! Fork and join of plain-data tasks.
//!
//! [`Lanes`] runs one computation as several cooperating lanes in one thread. A lane that would wait for memory pauses
//! after asking for it, and another lane goes on meanwhile: independent misses overlap, which is worth more than fewer
//! instructions where every step is a look-up in a large table. Work spreads by stealing, oldest task first.
//!
//! ```
//! use tremula_tasks::{Lane, Lanes, Synced};
//! fn fibonacci(lane: &Lane<'_, u64, u64>, n: u64) -> u64 {
//!     if n < 2 {
//!         return n;
//!     }
//!     lane.spawn(n - 2);
//!     lane.pause();
//!     let first = fibonacci(lane, n - 1);
//!     first + match lane.sync() {
//!         Synced::Task(n) => fibonacci(lane, n),
//!         Synced::Result(second) => second,
//!     }
//! }
//! let mut lanes = Lanes::new(4, 256 << 10)?;
//! assert_eq!(lanes.run(20, &fibonacci), 6765);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Not yet: workers in several threads or processes.

mod lanes;

pub use lanes::{Lane, Lanes, Synced};
