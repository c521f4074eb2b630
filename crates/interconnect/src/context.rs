//! The UCX library as this process uses it.

use crate::error::{NetworkError, check};
use crate::memory::SharedMemory;
use crate::ucp;
use rustix::process::{Resource, getrlimit};
use std::ffi::c_void;
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::Arc;

/// An initialised library.
#[derive(Debug)]
pub(crate) struct Context {
    handle: ucp::ucp_context_h,
}

// SAFETY: created with `mt_workers_shared`, so that its functions may be called by several threads.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    pub(crate) fn open() -> Result<Arc<Context>, NetworkError> {
        keep_quiet();
        let mut config = null_mut();
        // SAFETY: both names are optional, and `config` is a place for the result.
        check("read the configuration of UCX", unsafe {
            ucp::ucp_config_read(std::ptr::null(), std::ptr::null(), &mut config)
        })?;
        // SAFETY: `config` was read above; the texts end with zero.
        check("have atomics done by processors", unsafe {
            ucp::ucp_config_modify(config, c"ATOMIC_MODE".as_ptr(), c"cpu".as_ptr())
        })?;
        // SAFETY: plain data of C; the mask says which fields are given.
        let mut params: ucp::ucp_params_t = unsafe { zeroed() };
        params.field_mask = u64::from(ucp::UCP_PARAM_FIELD_FEATURES | ucp::UCP_PARAM_FIELD_MT_WORKERS_SHARED);
        params.features = u64::from(ucp::UCP_FEATURE_RMA | ucp::UCP_FEATURE_AMO64 | ucp::UCP_FEATURE_WAKEUP);
        params.mt_workers_shared = 1;
        let mut handle = null_mut();
        let (major, minor) = (ucp::UCP_API_MAJOR, ucp::UCP_API_MINOR);
        // SAFETY: parameters and configuration are complete, `handle` is a place for the result.
        let status = unsafe { ucp::ucp_init_version(major, minor, &params, config, &mut handle) };
        // SAFETY: read above, and not needed any more.
        unsafe { ucp::ucp_config_release(config) };
        check("start UCX", status)?;
        Ok(Arc::new(Context { handle }))
    }

    pub(crate) fn worker(self: &Arc<Context>) -> Result<UcxWorker, NetworkError> {
        // SAFETY: plain data of C; the mask says which fields are given.
        let mut params: ucp::ucp_worker_params_t = unsafe { zeroed() };
        params.field_mask = u64::from(ucp::UCP_WORKER_PARAM_FIELD_THREAD_MODE);
        params.thread_mode = ucp::UCS_THREAD_MODE_SERIALIZED;
        let mut handle = null_mut();
        // SAFETY: the context is open; `handle` is a place for the result.
        check("open an endpoint of UCX", unsafe { ucp::ucp_worker_create(self.handle, &params, &mut handle) })?;
        Ok(UcxWorker { handle, _context: Arc::clone(self) })
    }

    /// Make memory known to UCX, so that others can ask for it; it stays alive until it is forgotten.
    pub(crate) fn register(self: &Arc<Context>, memory: &Arc<SharedMemory>) -> Result<Registered, NetworkError> {
        // SAFETY: plain data of C; the mask says which fields are given.
        let mut params: ucp::ucp_mem_map_params_t = unsafe { zeroed() };
        params.field_mask = u64::from(ucp::UCP_MEM_MAP_PARAM_FIELD_ADDRESS | ucp::UCP_MEM_MAP_PARAM_FIELD_LENGTH);
        params.address = memory.words().as_ptr().cast_mut().cast();
        params.length = size_of_val(memory.words()).max(1);
        let mut handle = null_mut();
        // SAFETY: the memory is mapped with this length as long as `memory` lives, which the result holds.
        let mapped = check("register memory", unsafe { ucp::ucp_mem_map(self.handle, &params, &mut handle) });
        mapped.map_err(|error| error.beside_a_limit(getrlimit(Resource::Memlock).current))?;
        Ok(Registered { handle, memory: Arc::clone(memory), context: Arc::clone(self) })
    }
}

/// UCX prints what goes wrong on its own. Here it is returned, and the user hears of lost processes in other words.
fn keep_quiet() {
    for (variable, name, value) in
        [("UCX_LOG_LEVEL", c"LOG_LEVEL", c"fatal"), ("UCX_HANDLE_ERRORS", c"HANDLE_ERRORS", c"none")]
    {
        if std::env::var_os(variable).is_none() {
            // SAFETY: both texts end with zero and are copied. A refusal means some more words on standard error.
            let _ = unsafe { ucp::ucs_global_opts_set_value(name.as_ptr(), value.as_ptr()) };
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: workers and registrations hold the context, so none is left.
        unsafe { ucp::ucp_cleanup(self.handle) };
    }
}

/// Memory that UCX knows.
#[derive(Debug)]
pub(crate) struct Registered {
    handle: ucp::ucp_mem_h,
    memory: Arc<SharedMemory>,
    context: Arc<Context>,
}

// SAFETY: UCX's handle of a registration may be used by any thread of a context with shared workers.
unsafe impl Send for Registered {}
// SAFETY: as above.
unsafe impl Sync for Registered {}

impl Registered {
    pub(crate) fn memory(&self) -> &SharedMemory {
        &self.memory
    }

    /// What others need in order to ask for it.
    pub(crate) fn key(&self) -> Result<Vec<u8>, NetworkError> {
        let (mut buffer, mut length) = (null_mut::<c_void>(), 0);
        // SAFETY: registered with this context; the last two are places for the result.
        let packed = unsafe { ucp::ucp_rkey_pack(self.context.handle, self.handle, &mut buffer, &mut length) };
        check("describe registered memory", packed)?;
        // SAFETY: UCX has filled so many bytes there.
        let key = unsafe { std::slice::from_raw_parts(buffer.cast::<u8>(), length) }.to_vec();
        // SAFETY: from `ucp_rkey_pack`, and copied.
        unsafe { ucp::ucp_rkey_buffer_release(buffer) };
        Ok(key)
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        // SAFETY: registered with this context, once. A failure leaks it.
        let _ = unsafe { ucp::ucp_mem_unmap(self.context.handle, self.handle) };
    }
}

/// What UCX calls a worker: a set of connections that one thread at a time may use.
#[derive(Debug)]
pub(crate) struct UcxWorker {
    pub(crate) handle: ucp::ucp_worker_h,
    _context: Arc<Context>,
}

// SAFETY: created for use by one thread at a time, whichever; its methods that need this take `&mut self`.
unsafe impl Send for UcxWorker {}

impl UcxWorker {
    /// Let UCX do what there is to do; was there anything?
    pub(crate) fn progress(&mut self) -> bool {
        // SAFETY: the worker is open, and `&mut self` keeps other threads out.
        unsafe { ucp::ucp_worker_progress(self.handle) != 0 }
    }

    /// Where others reach this worker.
    pub(crate) fn address(&mut self) -> Result<Vec<u8>, NetworkError> {
        let (mut address, mut length) = (null_mut(), 0);
        // SAFETY: the worker is open; the last two are places for the result.
        let known = unsafe { ucp::ucp_worker_get_address(self.handle, &mut address, &mut length) };
        check("learn the own address", known)?;
        // SAFETY: UCX has filled so many bytes there.
        let bytes = unsafe { std::slice::from_raw_parts(address.cast::<u8>(), length) }.to_vec();
        // SAFETY: from `ucp_worker_get_address`, and copied.
        unsafe { ucp::ucp_worker_release_address(self.handle, address) };
        Ok(bytes)
    }

    /// A descriptor that becomes readable when there is something to do after [`UcxWorker::arm`].
    pub(crate) fn descriptor(&mut self) -> Result<i32, NetworkError> {
        let mut descriptor = 0;
        // SAFETY: the worker is open, with the feature for wake-ups.
        check("get a descriptor to wait for", unsafe { ucp::ucp_worker_get_efd(self.handle, &mut descriptor) })?;
        Ok(descriptor)
    }

    /// Prepare to sleep; false if there is something to do first.
    pub(crate) fn arm(&mut self) -> Result<bool, NetworkError> {
        // SAFETY: the worker is open, with the feature for wake-ups.
        let status = unsafe { ucp::ucp_worker_arm(self.handle) };
        if status == ucp::UCS_ERR_BUSY { Ok(false) } else { check("prepare to sleep", status).map(|()| true) }
    }
}

impl Drop for UcxWorker {
    fn drop(&mut self) {
        // SAFETY: open until here; the context is dropped afterwards.
        unsafe { ucp::ucp_worker_destroy(self.handle) };
    }
}
