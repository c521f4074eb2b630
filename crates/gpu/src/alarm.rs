//! Waiting for a sweep, and telling one under way to stop.
//!
//! All threads of a sweep look at a word on the device, in which the first that finds no room says so. The host says in the
//! same word that nobody wants the result any more, by a copy beside the launch. So a sweep that is let be costs nothing.

use crate::program::STOPPED;
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, DriverError, PinnedHostSlice, result, sys};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tremula_diagrams::Attention;

/// How long a processor looks all the time: narrow sweeps take less than it takes to fall asleep and wake up.
const SPIN: Duration = Duration::from_millis(5);
/// After that it sleeps for a part of the time that has passed, so that waking up late is no great loss,
const PART: u32 = 64;
/// but never for longer.
const LONGEST_SLEEP: Duration = Duration::from_millis(10);

/// A way into the device beside that of launches.
pub struct Alarm {
    context: Arc<CudaContext>,
    /// Not one of the library's own streams, which it would have wait for each other.
    stream: sys::CUstream,
    done: CudaEvent,
    /// Always [`STOPPED`]; copies from ordinary memory may wait for launches.
    word: PinnedHostSlice<u32>,
}

impl Alarm {
    pub fn new(context: &Arc<CudaContext>) -> Result<Alarm, DriverError> {
        let done = context.new_event(None)?;
        // SAFETY: written right below.
        let mut word = unsafe { context.alloc_pinned::<u32>(1)? };
        word.as_mut_slice()?[0] = STOPPED;
        let stream = result::stream::create(result::stream::StreamKind::NonBlocking)?;
        Ok(Alarm { context: Arc::clone(context), stream, done, word })
    }

    /// Wait for everything that `launches` has been given. If attention asks for it, stop the sweep whose word is at
    /// `full`, an address of the device.
    pub fn wait(&self, launches: &CudaStream, full: u64, attention: &Attention) -> Result<(), DriverError> {
        self.done.record(launches)?;
        let began = Instant::now();
        while !self.done.try_is_complete()? {
            if attention.is_cancelled() {
                // Again and again: the sweep may not have begun, and it begins by clearing the word.
                self.ring(full)?;
            }
            pause(began.elapsed());
        }
        Ok(())
    }

    /// Write to the device, and wait until that is done: nothing must be on its way when the next sweep begins.
    fn ring(&self, full: u64) -> Result<(), DriverError> {
        // SAFETY: the address is that of a word of a live allocation, which only other relaxed accesses of whole words
        // go to meanwhile; the stream lives as long as this.
        unsafe {
            result::memcpy_htod_async(full, self.word.as_slice()?, self.stream)?;
            result::stream::synchronize(self.stream)
        }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        // Nothing can be done about failures here.
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: made in `new`, and destroyed only here.
            let _ = unsafe { result::stream::destroy(self.stream) };
        }
    }
}

fn pause(waited: Duration) {
    if waited < SPIN {
        std::hint::spin_loop();
    } else {
        std::thread::sleep((waited / PART).min(LONGEST_SLEEP));
    }
}
