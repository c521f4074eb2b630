//! Memory of other processes: mapped where they run on the same host, read and written through UCX where they do not.
//!
//! [`SharedMemory`] is memory that processes of one host have in common. [`Network`] is this process's way to others:
//! it serves requests for registered [`SharedMemory`] with a thread that sleeps while there are none, and sends requests
//! through a [`Lane`] of each thread that asks. Who the others are, and how they learn of each other's [`Address`] and
//! [`Region`]s, is not decided here: these are bytes, to be exchanged by other means.
//!
//! ```
//! use std::sync::Arc;
//! use tremula_interconnect::{Atomic, Network, SharedMemory};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let network = Network::open()?;
//! network.connect(vec![network.address().clone()]);
//! let memory = Arc::new(SharedMemory::create(4)?);
//! let registration = network.register(&memory)?;
//! let region = registration.region();
//! assert_eq!(network.lane()?.atomic(0, &region, 3, Atomic::Add(5))?, 0);
//! assert_eq!(memory.words()[3].load(std::sync::atomic::Ordering::Acquire), 5);
//! # Ok(())
//! # }
//! ```
//!
//! # What UCX is asked for
//!
//! Atomic operations by the processor of the target (`ATOMIC_MODE=cpu`), never by its network adapter: these words are
//! also changed by processes that have them mapped, and adapters need not be coherent with processors.
//!
//! Not yet: memory of accelerators, and atomic operations by adapters.

mod context;
mod error;
mod lane;
mod memory;
mod network;
mod server;
mod transfer;

/// UCX as bindgen sees it.
#[allow(missing_docs, non_camel_case_types, non_upper_case_globals, non_snake_case, dead_code, unused, clippy::all)]
mod ucp {
    include!(concat!(env!("OUT_DIR"), "/ucp.rs"));
}

pub use error::NetworkError;
pub use lane::{Atomic, Lane};
pub use memory::SharedMemory;
pub use network::{Address, Network, Region, Registration};
pub use transfer::Transfer;
