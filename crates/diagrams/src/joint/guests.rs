//! Threads that wait for operations of the leader, and take part in them.

use super::Setup;
use super::notes::Copy;
use crate::manager::NESTED_TASKS;
use crate::threads::Threads;
use std::io;
use std::ops::Range;
use std::sync::{Arc, mpsc};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;
use tremula_fabric::Ground;
use tremula_table::{Attention, Outpost, Stretch, TableGround};
use tremula_tasks::Allies;

/// Stack of each thread, which is touched as deep as recursion goes. Operations that need more get more.
const STACK_BYTES: usize = 64 << 20;

/// What the threads of a process share.
struct Camp {
    allies: Arc<Allies>,
    outpost: Outpost,
    copy: Copy,
}

/// The threads, and what they share.
pub struct Guests {
    threads: Vec<JoinHandle<()>>,
    camp: Arc<Camp>,
}

/// How often somebody looks whether the leader is asked to stop.
const LOOK: Duration = Duration::from_millis(50);

impl Guests {
    /// Start a thread for each of these workers.
    pub fn start(
        setup: &Setup,
        allies: &Arc<Allies>,
        notes: Ground,
        table: TableGround,
        numbers: Range<usize>,
    ) -> io::Result<Guests> {
        let camp = Arc::new(Camp {
            allies: Arc::clone(allies),
            outpost: Outpost::new(table, &setup.table_options()),
            copy: Copy::new(notes),
        });
        let start = |number: usize| {
            let camp = Arc::clone(&camp);
            let thread = Builder::new().name(format!("worker {number}")).stack_size(STACK_BYTES);
            thread.spawn(move || camp.work(number))
        };
        Ok(Guests { threads: numbers.map(start).collect::<io::Result<_>>()?, camp })
    }

    /// Run what leads, and tell all workers if it is asked to stop: the leader, who would hear of it, may sleep.
    pub fn stopped_by<R>(&self, attention: &Attention, lead: impl FnOnce() -> R) -> R {
        let (done, ended) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            // Without another thread, the leader hears of it when it works again.
            let _ = Builder::new().spawn_scoped(scope, move || {
                while ended.recv_timeout(LOOK) == Err(mpsc::RecvTimeoutError::Timeout) {
                    if attention.is_cancelled() {
                        self.camp.outpost.cancel();
                    }
                }
            });
            let result = lead();
            drop(done);
            result
        })
    }

    /// Wait until they are dismissed.
    pub fn wait(self) {
        for thread in self.threads {
            // A worker catches the panics of its tasks; there is nothing to tell here.
            let _ = thread.join();
        }
    }
}

impl Camp {
    /// Life of a worker.
    fn work(&self, number: usize) {
        let mut stretch = Stretch::default();
        self.allies.in_each_run(number, |stack| {
            let env = self.copy.current();
            let shared = self.outpost.share(self.allies.workers(), number, &mut stretch);
            let work = Threads { shared: &shared, env: &env };
            stacker::maybe_grow(2 * stack, NESTED_TASKS * stack, || self.allies.take_part(&work, number, stack));
        });
    }
}
