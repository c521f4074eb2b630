//! Requests that are under way.

use crate::context::UcxWorker;
use crate::error::{NetworkError, check, refusal};
use crate::lane::Lane;
use crate::ucp;
use std::ffi::c_void;
use std::ptr::null_mut;

/// A request as UCX knows it, with the memory that UCX may read and write until it is complete.
#[derive(Debug)]
pub(crate) struct Flight {
    /// Null once it is complete.
    request: *mut c_void,
    /// A box, owned by this value, but not as one: UCX holds its address.
    buffer: *mut [u64],
    /// How it ended.
    outcome: Result<(), NetworkError>,
}

// SAFETY: the request belongs to a worker that one thread at a time uses, and is touched by who has that worker.
unsafe impl Send for Flight {}

impl Flight {
    /// What UCX returned when it was asked to do something with `buffer`.
    ///
    /// # Safety
    /// `buffer` is from [`Box::into_raw`] and belongs to the result.
    pub(crate) unsafe fn new(
        action: &'static str,
        returned: *mut c_void,
        buffer: *mut [u64],
    ) -> Result<Flight, NetworkError> {
        // UCX encodes errors as the highest addresses.
        let code = returned as isize;
        if code < 0 && code >= ucp::UCS_ERR_LAST as isize {
            // The buffer goes with this value.
            let _refused = Flight { request: null_mut(), buffer, outcome: Ok(()) };
            return Err(refusal(action, code as ucp::ucs_status_t));
        }
        Ok(Flight { request: returned, buffer, outcome: Ok(()) })
    }

    /// What UCX returned when it was asked to do something that needs no buffer.
    pub(crate) fn without_buffer(action: &'static str, returned: *mut c_void) -> Result<Flight, NetworkError> {
        // SAFETY: a box of its own.
        unsafe { Flight::new(action, returned, Box::into_raw(Box::default())) }
    }

    /// Help along; is it complete?
    pub(crate) fn test(&mut self, worker: &mut UcxWorker) -> Result<bool, NetworkError> {
        if self.request.is_null() {
            return self.outcome.clone().map(|()| true);
        }
        worker.progress();
        // SAFETY: a request of this worker that has not been freed.
        let status = unsafe { ucp::ucp_request_check_status(self.request) };
        if status == ucp::UCS_INPROGRESS {
            return Ok(false);
        }
        // SAFETY: as above, and not used again.
        unsafe { ucp::ucp_request_free(self.request) };
        self.request = null_mut();
        self.outcome = check("finish a request", status);
        self.outcome.clone().map(|()| true)
    }

    /// The memory that was given, when the request is complete.
    pub(crate) fn into_buffer(mut self) -> Box<[u64]> {
        assert!(self.request.is_null(), "UCX may still write");
        let empty = Box::into_raw(Box::default());
        // SAFETY: from a box, by the contract of `new`, and replaced by another one that nobody else has.
        unsafe { Box::from_raw(std::mem::replace(&mut self.buffer, empty)) }
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        // While UCX may still write there, it is leaked.
        if self.request.is_null() {
            // SAFETY: from a box, by the contract of `new`; this value ends.
            drop(unsafe { Box::from_raw(self.buffer) });
        }
    }
}

/// A started request. Dropping it does not cancel it.
#[derive(Debug)]
#[must_use = "the words arrive with `wait`"]
pub struct Transfer {
    lane: Lane,
    flight: Option<Flight>,
}

impl Transfer {
    pub(crate) fn new(lane: Lane, flight: Flight) -> Transfer {
        Transfer { lane, flight: Some(flight) }
    }

    /// Is it complete? Helps it along.
    pub fn test(&mut self) -> Result<bool, NetworkError> {
        self.flight.as_mut().map_or(Ok(true), |flight| flight.test(&mut self.lane.lock().worker))
    }

    /// Wait, and take the buffer: the words read, those that were written, or the old word and others.
    pub fn wait(mut self) -> Result<Box<[u64]>, NetworkError> {
        let mut flight = self.flight.take().expect("taken here only");
        self.lane.finish(&mut flight)?;
        Ok(flight.into_buffer())
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        if let Some(flight) = self.flight.take() {
            self.lane.abandon(flight);
        }
    }
}
