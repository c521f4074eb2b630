//! A thread's connections to other processes.

use crate::context::UcxWorker;
use crate::error::{NetworkError, check};
use crate::network::{Inner, Region};
use crate::transfer::{Flight, Transfer};
use crate::ucp;
use std::collections::HashMap;
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// So many abandoned requests may always wait.
const SMALL_CROWD: usize = 64;
/// Bytes of a word.
const WORD: usize = size_of::<u64>();

/// What to do with a word, atomically.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Atomic {
    /// Add.
    Add(u64),
    /// Keep the bits that are set in this.
    And(u64),
    /// Set these bits.
    Or(u64),
    /// Flip these bits.
    Xor(u64),
    /// Replace by this.
    Swap(u64),
    /// Replace by `new` if it is `expected`.
    CompareAndSwap {
        /// What it has to be.
        expected: u64,
        /// What it becomes.
        new: u64,
    },
}

impl Atomic {
    fn code(self) -> ucp::ucp_atomic_op_t {
        match self {
            Atomic::Add(_) => ucp::UCP_ATOMIC_OP_ADD,
            Atomic::And(_) => ucp::UCP_ATOMIC_OP_AND,
            Atomic::Or(_) => ucp::UCP_ATOMIC_OP_OR,
            Atomic::Xor(_) => ucp::UCP_ATOMIC_OP_XOR,
            Atomic::Swap(_) => ucp::UCP_ATOMIC_OP_SWAP,
            Atomic::CompareAndSwap { .. } => ucp::UCP_ATOMIC_OP_CSWAP,
        }
    }

    /// The place of the answer, which holds the new word of a compare-and-swap before, and the operand.
    fn buffer(self) -> [u64; 2] {
        match self {
            Atomic::Add(operand) | Atomic::And(operand) | Atomic::Or(operand) => [0, operand],
            Atomic::Xor(operand) | Atomic::Swap(operand) => [0, operand],
            Atomic::CompareAndSwap { expected, new } => [new, expected],
        }
    }
}

/// The way of one thread to all other processes. Other threads may use it too, but wait for each other.
///
/// Nothing here is collective, and the target need not do anything. What is started goes on by itself only while some
/// request of this lane is waited for, tested or flushed. Requests of one lane may take effect in any order, also those for the
/// same words, unless the first was waited for (a read, an atomic change) or flushed (a write) before the second began.
#[derive(Clone, Debug)]
pub struct Lane {
    state: Arc<Mutex<LaneState>>,
    network: Arc<Inner>,
}

/// What a lane consists of.
#[derive(Debug)]
pub(crate) struct LaneState {
    /// By rank; null until first used.
    endpoints: Vec<ucp::ucp_ep_h>,
    /// By rank and number of the region.
    keys: HashMap<(usize, u64), ucp::ucp_rkey_h>,
    /// Requests that nobody waits for.
    pub(crate) abandoned: Vec<Flight>,
    /// When there are so many of them, those that are complete are let go.
    crowd: usize,
    pub(crate) worker: UcxWorker,
}

// SAFETY: endpoints and keys belong to the worker, which may be used by one thread at a time, whichever.
unsafe impl Send for LaneState {}

impl LaneState {
    pub(crate) fn new(worker: UcxWorker) -> LaneState {
        LaneState { endpoints: Vec::new(), keys: HashMap::new(), abandoned: Vec::new(), crowd: SMALL_CROWD, worker }
    }

    fn endpoint(&mut self, network: &Inner, rank: usize) -> Result<ucp::ucp_ep_h, NetworkError> {
        let addresses = network.addresses();
        self.endpoints.resize(addresses.len(), null_mut());
        if self.endpoints[rank].is_null() {
            // SAFETY: plain data of C; the mask says which fields are given.
            let mut params: ucp::ucp_ep_params_t = unsafe { zeroed() };
            let fields = ucp::UCP_EP_PARAM_FIELD_REMOTE_ADDRESS
                | ucp::UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE
                | ucp::UCP_EP_PARAM_FIELD_ERR_HANDLER;
            params.field_mask = u64::from(fields);
            // Otherwise UCX aborts this process when the other one dies.
            params.err_mode = ucp::UCP_ERR_HANDLING_MODE_PEER;
            params.err_handler.cb = Some(ignore_loss);
            params.address = addresses[rank].0.as_ptr().cast();
            let mut endpoint = null_mut();
            // SAFETY: the worker is open, and the address is one that UCX gave to another process.
            check("connect to another process", unsafe {
                ucp::ucp_ep_create(self.worker.handle, &params, &mut endpoint)
            })?;
            self.endpoints[rank] = endpoint;
        }
        Ok(self.endpoints[rank])
    }

    fn key(&mut self, endpoint: ucp::ucp_ep_h, rank: usize, region: &Region) -> Result<ucp::ucp_rkey_h, NetworkError> {
        if let Some(&key) = self.keys.get(&(rank, region.number)) {
            return Ok(key);
        }
        let mut key = null_mut();
        // SAFETY: the endpoint is open, and these bytes come from the process that it leads to.
        let unpacked = unsafe { ucp::ucp_ep_rkey_unpack(endpoint, region.key.as_ptr().cast(), &mut key) };
        check("understand another process's memory", unpacked)?;
        self.keys.insert((rank, region.number), key);
        Ok(key)
    }
}

impl LaneState {
    /// Let go of abandoned requests that are complete.
    fn forget_complete(&mut self) -> Result<(), NetworkError> {
        let (abandoned, worker) = (&mut self.abandoned, &mut self.worker);
        let mut outcome = Ok(());
        abandoned.retain_mut(|flight| match flight.test(worker) {
            Ok(complete) => !complete,
            Err(error) => {
                outcome = Err(error);
                false
            }
        });
        self.crowd = SMALL_CROWD.max(2 * self.abandoned.len());
        outcome
    }
}

impl Drop for LaneState {
    fn drop(&mut self) {
        for key in self.keys.values() {
            // SAFETY: unpacked by this lane, and not used again.
            unsafe { ucp::ucp_rkey_destroy(*key) };
        }
    }
}

impl Lane {
    pub(crate) fn new(state: Arc<Mutex<LaneState>>, network: Arc<Inner>) -> Lane {
        Lane { state, network }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, LaneState> {
        // Nothing that panics leaves the state half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Start to read `words` words. They are the result of the [`Transfer`], each as it was at some time between this call and
    /// its completion; of a word that is written meanwhile, a read of several may bring some bytes old and some new.
    pub fn start_get(&self, rank: usize, region: &Region, at: usize, words: usize) -> Result<Transfer, NetworkError> {
        self.start("read", rank, region, at, words, |endpoint, address, key| {
            let buffer = Box::into_raw(vec![0u64; words].into_boxed_slice());
            // SAFETY: the buffer lives as long as the request, which gets it, and the words exist there.
            unsafe {
                let returned = ucp::ucp_get_nbx(endpoint, buffer.cast(), words * WORD, address, key, &plain());
                Flight::new("read", returned, buffer)
            }
        })
    }

    /// Start to write. The buffer belongs to the request until it is complete, which means only that the words have left; they are
    /// there, and visible to all processes, after [`Lane::flush`]. A [`Transfer`] that is dropped is still carried out.
    pub fn start_put(
        &self,
        rank: usize,
        region: &Region,
        at: usize,
        words: Box<[u64]>,
    ) -> Result<Transfer, NetworkError> {
        self.start("write", rank, region, at, words.len(), |endpoint, address, key| {
            let (length, buffer) = (words.len() * WORD, Box::into_raw(words));
            // SAFETY: the buffer lives as long as the request, which gets it, and the words exist there.
            unsafe {
                let returned = ucp::ucp_put_nbx(endpoint, buffer.cast(), length, address, key, &plain());
                Flight::new("write", returned, buffer)
            }
        })
    }

    /// Start to change a word; the first word of the buffer will be what it was. When that is known, the change has
    /// happened and is visible to all processes.
    pub fn start_atomic(
        &self,
        rank: usize,
        region: &Region,
        at: usize,
        atomic: Atomic,
    ) -> Result<Transfer, NetworkError> {
        self.start("change", rank, region, at, 1, |endpoint, address, key| {
            let mut params = plain();
            params.op_attr_mask |= ucp::UCP_OP_ATTR_FIELD_DATATYPE | ucp::UCP_OP_ATTR_FIELD_REPLY_BUFFER;
            params.datatype = u64::from(ucp::UCP_DATATYPE_CONTIG) | (WORD as u64) << ucp::UCP_DATATYPE_SHIFT;
            let buffer: *mut [u64] = Box::into_raw(Box::new(atomic.buffer()));
            let base = buffer.cast::<u64>();
            params.reply_buffer = base.cast();
            // SAFETY: the operand and the place for the answer live as long as the request, which gets them, and the
            // word exists there.
            unsafe {
                let operand = base.add(1).cast();
                let returned = ucp::ucp_atomic_op_nbx(endpoint, atomic.code(), operand, 1, address, key, &params);
                Flight::new("change", returned, buffer)
            }
        })
    }

    /// Change a word; what it was.
    pub fn atomic(&self, rank: usize, region: &Region, at: usize, atomic: Atomic) -> Result<u64, NetworkError> {
        Ok(self.start_atomic(rank, region, at, atomic)?.wait()?[0])
    }

    /// Wait until all that was started through this lane for `rank` is complete there.
    pub fn flush(&self, rank: usize) -> Result<(), NetworkError> {
        let state = self.lock();
        if state.endpoints.get(rank).is_none_or(|endpoint| endpoint.is_null()) {
            return Ok(());
        }
        // SAFETY: the endpoint is open.
        let returned = unsafe { ucp::ucp_ep_flush_nbx(state.endpoints[rank], &plain()) };
        drop(state);
        let mut flush = Flight::without_buffer("flush", returned)?;
        self.finish(&mut flush)?;
        self.lock().forget_complete()
    }

    /// Let go of what this lane knows of regions, by rank and number. If they are used once more, it learns that again.
    pub(crate) fn forget(&self, regions: &[(usize, u64)]) -> Result<(), NetworkError> {
        let known = |state: &mut LaneState| -> Vec<_> {
            regions.iter().filter_map(|region| Some((region.0, state.keys.remove(region)?))).collect()
        };
        let keys = known(&mut self.lock());
        // Requests may use them that were begun before. If that does not come to its end, they are leaked.
        let mut ranks: Vec<usize> = keys.iter().map(|&(rank, _)| rank).collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks.into_iter().try_for_each(|rank| self.flush(rank))?;
        let _worker = self.lock();
        for (_, key) in keys {
            // SAFETY: unpacked by this lane, which is locked; nobody finds it since it was removed, and what was begun with it is
            // complete since the flush.
            unsafe { ucp::ucp_rkey_destroy(key) };
        }
        Ok(())
    }

    /// Nobody will wait for `flight` any more.
    pub(crate) fn abandon(&self, flight: Flight) {
        let mut state = self.lock();
        state.abandoned.push(flight);
        // All are looked at only when they are twice as many as were left the last time, so each costs little.
        if state.abandoned.len() >= state.crowd {
            // An error will be met again by the next flush.
            let _ = state.forget_complete();
        }
    }

    fn start(
        &self,
        action: &'static str,
        rank: usize,
        region: &Region,
        at: usize,
        words: usize,
        request: impl FnOnce(ucp::ucp_ep_h, u64, ucp::ucp_rkey_h) -> Result<Flight, NetworkError>,
    ) -> Result<Transfer, NetworkError> {
        assert!(at.checked_add(words).is_some_and(|end| end <= region.words), "{action} outside of a region");
        if words == 0 {
            return Ok(Transfer::new(self.clone(), Flight::without_buffer(action, null_mut())?));
        }
        if self.network.is_closed() {
            return Err(NetworkError::Closed);
        }
        let mut state = self.lock();
        let endpoint = state.endpoint(&self.network, rank)?;
        let key = state.key(endpoint, rank, region)?;
        let flight = request(endpoint, region.address + (at * WORD) as u64, key)?;
        drop(state);
        Ok(Transfer::new(self.clone(), flight))
    }

    /// Wait for a request of this lane.
    pub(crate) fn finish(&self, flight: &mut Flight) -> Result<(), NetworkError> {
        /// Polls in a row before others may have the processor.
        const POLLS: u32 = 50;
        let mut polls = 0;
        while !flight.test(&mut self.lock().worker)? {
            polls += 1;
            if polls % POLLS == 0 {
                if self.network.is_closed() {
                    return Err(NetworkError::Closed);
                }
                std::thread::yield_now();
            }
        }
        Ok(())
    }
}

/// Requests on a lost connection end with errors, which is notice enough.
unsafe extern "C" fn ignore_loss(_: *mut std::ffi::c_void, _: ucp::ucp_ep_h, _: ucp::ucs_status_t) {}

/// Parameters without any wishes.
fn plain() -> ucp::ucp_request_param_t {
    // SAFETY: plain data of C; the mask of zero says that nothing is given.
    unsafe { zeroed() }
}

#[cfg(test)]
mod tests {
    use crate::{Atomic, Network, SharedMemory};
    use std::sync::Arc;

    #[test]
    fn regions_are_forgotten_and_learned_again() {
        let network = Network::open().unwrap();
        network.connect(vec![network.address().clone()]);
        let known = || network.lane().unwrap().lock().keys.len();
        let registrations = [0; 3].map(|_| network.register(&Arc::new(SharedMemory::create(2).unwrap())).unwrap());
        for registration in &registrations {
            let lane = network.lane().unwrap();
            drop(lane.start_put(0, &registration.region(), 0, Box::new([7])).unwrap());
            assert_eq!(lane.atomic(0, &registration.region(), 1, Atomic::Add(5)), Ok(0));
        }
        assert_eq!(known(), 3);
        let forgotten = [0, 2].map(|at: usize| (0, registrations[at].region().number));
        network.forget(&forgotten).unwrap();
        assert_eq!(known(), 1);
        // Those that no lane knows any more are no harm.
        network.forget(&forgotten).unwrap();
        let read = network.lane().unwrap().start_get(0, &registrations[0].region(), 0, 2).unwrap();
        assert_eq!(read.wait().unwrap()[..], [7, 5]);
        assert_eq!(known(), 2);
    }
}
