//! This process's way to others.

use crate::context::{Context, Registered};
use crate::error::NetworkError;
use crate::lane::{Lane, LaneState};
use crate::memory::SharedMemory;
use crate::server::Server;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// Where a process is reached.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address(pub Vec<u8>);

/// Memory of a process, as others know it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Region {
    /// Where the owner has it.
    pub address: u64,
    /// How long it is.
    pub words: usize,
    /// The owner's number for it, which it gives once.
    pub number: u64,
    /// What UCX has to know.
    pub key: Arc<[u8]>,
}

/// Own memory that others may use while this lives.
#[derive(Debug)]
pub struct Registration {
    number: u64,
    key: Arc<[u8]>,
    registered: Registered,
}

impl Registration {
    /// What others need to know.
    pub fn region(&self) -> Region {
        let words = self.registered.memory().words();
        let address = words.as_ptr() as u64;
        Region { address, words: words.len(), number: self.number, key: Arc::clone(&self.key) }
    }
}

/// The network as one process sees it. Clones are the same.
#[derive(Clone, Debug)]
pub struct Network {
    inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    context: Arc<Context>,
    address: Address,
    others: OnceLock<Vec<Address>>,
    /// All lanes that there are.
    lanes: Mutex<Vec<Arc<Mutex<LaneState>>>>,
    /// Those whose threads have ended.
    free: Mutex<Vec<Arc<Mutex<LaneState>>>>,
    regions: AtomicU64,
    closed: AtomicBool,
    server: Server,
}

impl Inner {
    pub(crate) fn addresses(&self) -> &[Address] {
        self.others.get().map_or(&[], Vec::as_slice)
    }

    pub(crate) fn is_closed(&self) -> bool {
        // Relaxed: a wish to end, nothing else.
        self.closed.load(Ordering::Relaxed)
    }
}

/// A lane that a thread has, until it ends.
struct Held {
    state: Arc<Mutex<LaneState>>,
    network: Weak<Inner>,
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(network) = self.network.upgrade() {
            network.free.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&self.state));
        }
    }
}

thread_local! {
    static LANES: RefCell<Vec<Held>> = const { RefCell::new(Vec::new()) };
}

impl Network {
    /// Start to serve others.
    pub fn open() -> Result<Network, NetworkError> {
        let context = Context::open()?;
        let mut worker = context.worker()?;
        let address = Address(worker.address()?);
        let inner = Inner {
            context,
            address,
            others: OnceLock::new(),
            lanes: Mutex::default(),
            free: Mutex::default(),
            regions: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            server: Server::start(worker)?,
        };
        Ok(Network { inner: Arc::new(inner) })
    }

    /// Where others reach this process.
    pub fn address(&self) -> &Address {
        &self.inner.address
    }

    /// Learn where all processes are, this one included; once, before the first lane is used.
    pub fn connect(&self, all: Vec<Address>) {
        assert!(self.inner.others.set(all).is_ok(), "connected twice");
    }

    /// Let others use `memory`.
    pub fn register(&self, memory: &Arc<SharedMemory>) -> Result<Registration, NetworkError> {
        let registered = self.inner.context.register(memory)?;
        // Relaxed: only the numbers matter.
        let number = self.inner.regions.fetch_add(1, Ordering::Relaxed);
        Ok(Registration { number, key: registered.key()?.into(), registered })
    }

    /// The calling thread's lane.
    pub fn lane(&self) -> Result<Lane, NetworkError> {
        let state = LANES.with_borrow_mut(|lanes| {
            let mine = |held: &&Held| held.network.as_ptr() == Arc::as_ptr(&self.inner);
            if let Some(held) = lanes.iter().find(mine) {
                return Ok(Arc::clone(&held.state));
            }
            let state = self.free_lane()?;
            lanes.push(Held { state: Arc::clone(&state), network: Arc::downgrade(&self.inner) });
            Ok(state)
        })?;
        Ok(Lane::new(state, Arc::clone(&self.inner)))
    }

    fn free_lane(&self) -> Result<Arc<Mutex<LaneState>>, NetworkError> {
        if let Some(lane) = self.inner.free.lock().unwrap_or_else(PoisonError::into_inner).pop() {
            return Ok(lane);
        }
        let lane = Arc::new(Mutex::new(LaneState::new(self.inner.context.worker()?)));
        self.inner.lanes.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&lane));
        Ok(lane)
    }

    /// Wait until all that any thread has started is complete.
    pub fn flush_all_lanes(&self) -> Result<(), NetworkError> {
        let ranks = self.inner.addresses().len();
        self.lanes().into_iter().try_for_each(|lane| (0..ranks).try_for_each(|rank| lane.flush(rank)))
    }

    /// Let go of what is known of regions, by rank and [number](Region::number), because they will hardly be used any more.
    pub fn forget(&self, regions: &[(usize, u64)]) -> Result<(), NetworkError> {
        self.lanes().into_iter().try_for_each(|lane| lane.forget(regions))
    }

    /// Those of all threads, and of threads that have ended.
    fn lanes(&self) -> Vec<Lane> {
        let lanes = self.inner.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        lanes.iter().map(|state| Lane::new(Arc::clone(state), Arc::clone(&self.inner))).collect()
    }

    /// Have nothing more to do with other processes: nobody is served, and requests end with [`NetworkError::Closed`], now
    /// and later. What was sent may or may not arrive.
    pub fn close(&self) {
        // Relaxed: a wish to end, nothing else.
        self.inner.closed.store(true, Ordering::Relaxed);
        self.inner.server.stop();
    }
}
