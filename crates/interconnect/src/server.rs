//! The thread that carries out what other processes ask for.

use crate::context::UcxWorker;
use crate::error::NetworkError;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Between two looks for requests where UCX cannot tell of them.
const LOOKS: Duration = Duration::from_millis(1);

/// A thread that sleeps while nobody asks.
#[derive(Debug)]
pub(crate) struct Server {
    thread: Option<JoinHandle<()>>,
    stop: Arc<AtomicBool>,
    wake: Arc<OwnedFd>,
}

impl Server {
    pub(crate) fn start(mut worker: UcxWorker) -> Result<Server, NetworkError> {
        let arrived = worker.descriptor()?;
        let wake =
            eventfd(0, EventfdFlags::CLOEXEC).map_err(|error| NetworkError::system("make a descriptor", error))?;
        let (wake, stop) = (Arc::new(wake), Arc::new(AtomicBool::new(false)));
        let (woken, stopped) = (Arc::clone(&wake), Arc::clone(&stop));
        let thread = Builder::new().name("server".to_owned()).spawn(move || {
            // Relaxed: a wish to end, nothing else.
            while !stopped.load(Ordering::Relaxed) {
                // Relaxed: as above.
                while worker.progress() && !stopped.load(Ordering::Relaxed) {}
                match worker.arm() {
                    Ok(true) => wait_for(arrived, &woken),
                    Ok(false) => {}
                    // Nothing would wake this thread, so it looks now and then.
                    Err(_) => std::thread::sleep(LOOKS),
                }
            }
        });
        let thread = thread.map_err(|error| NetworkError::system("start a thread", error))?;
        Ok(Server { thread: Some(thread), stop, wake })
    }
}

fn wait_for(arrived: i32, wake: &OwnedFd) {
    // SAFETY: the descriptor belongs to the worker of the thread that calls this, which is open.
    let arrived = unsafe { BorrowedFd::borrow_raw(arrived) };
    let mut both = [PollFd::new(&arrived, PollFlags::IN), PollFd::new(wake, PollFlags::IN)];
    // An interrupted wait is followed by a look, and another wait.
    let _ = poll(&mut both, None);
}

impl Server {
    /// Serve nobody any more.
    pub(crate) fn stop(&self) {
        // Relaxed: as above.
        self.stop.store(true, Ordering::Relaxed);
        let _ = rustix::io::write(&*self.wake, &1u64.to_ne_bytes());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
