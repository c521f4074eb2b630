//! Pools: threads that wait for runs.

use crate::attention::{ALONE, Attention, FINISHED, POISON, QUIT, START};
use crate::crew::Crew;
use crate::deque::{Deque, Private};
use crate::statistics::Statistics;
use crate::sync::{Mutex, thread};
use crate::tactics::Tactics;
use crate::worker::{Work, Worker};
use std::any::Any;
use std::io;
use std::sync::Arc;
use tremula_fabric::topology::{Topology, bind_this_thread};

/// How a pool is set up.
#[derive(Clone, Debug)]
pub struct PoolOptions {
    /// Workers, the calling thread included.
    pub workers: usize,
    /// Stack of each thread that the pool starts; touched only as deep as recursion goes.
    pub stack_bytes: usize,
    /// A worker that waits takes no other task on when less stack than this is left.
    pub least_stack: usize,
    /// How work changes hands.
    pub tactics: Tactics,
    /// `distances[a][b]`: how far worker `b` is from worker `a`; empty if all are equally far.
    pub distances: Vec<Vec<u8>>,
    /// `cpus[number]`: the processor on which the thread of this worker stays; empty if the system moves them about.
    /// The calling thread is not the pool's to bind; it finds the processor that the others leave.
    pub cpus: Vec<usize>,
}

impl PoolOptions {
    /// So many workers, in places of their own where this machine has near and far ones (see [`Topology::places`]).
    pub fn on_this_machine(workers: usize) -> PoolOptions {
        let topology = Topology::detect();
        let cpus = topology.places(workers).unwrap_or_default();
        let row = |&a: &usize| cpus.iter().map(|&b| topology.distance(a, b) as u8).collect();
        let distances = cpus.iter().map(row).collect();
        PoolOptions { workers, distances, cpus: cpus.to_vec(), ..PoolOptions::default() }
    }
}

impl Default for PoolOptions {
    fn default() -> PoolOptions {
        PoolOptions {
            workers: 1,
            stack_bytes: 16 << 20,
            least_stack: 1 << 20,
            tactics: Tactics::default(),
            distances: Vec::new(),
            cpus: Vec::new(),
        }
    }
}

/// A task of the run has panicked.
#[derive(Debug, thiserror::Error)]
#[error("a task has panicked: {}", self.message())]
pub struct Panicked {
    payload: Box<dyn Any + Send>,
}

impl Panicked {
    /// What the panic said, if it was text.
    pub fn message(&self) -> &str {
        let text = self.payload.downcast_ref::<&str>().copied();
        text.or_else(|| self.payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("(no message)")
    }

    /// Go on unwinding with the payload of the panic.
    pub fn resume(self) -> ! {
        std::panic::resume_unwind(self.payload)
    }
}

/// A number of workers: the thread that calls [`Pool::run`], and threads of the pool, which sleep between runs.
pub struct Pool<D: Deque = Private> {
    shared: Arc<Shared<D>>,
    threads: Vec<thread::JoinHandle<()>>,
    options: PoolOptions,
}

struct Shared<D> {
    crew: Crew<D>,
    job: Mutex<Option<Job>>,
}

/// The run that is under way, without its types.
#[derive(Copy, Clone)]
struct Job {
    data: *const (),
    /// Takes part in the run behind `data` as the worker with this number.
    take_part: unsafe fn(*const (), usize),
}

// SAFETY: `data` points to a `Run`, which is shared between threads by reference and is Sync (its parts are); `Pool::run_led`
// keeps it alive until all workers have left.
unsafe impl Send for Job {}

/// One run, on the stack of the thread that started it.
struct Run<'a, W, D> {
    work: &'a W,
    crew: &'a Crew<D>,
    options: &'a PoolOptions,
}

impl<W: Work, D: Deque> Run<'_, W, D> {
    fn worker(&self, number: usize) -> Worker<'_, W, D> {
        let PoolOptions { tactics, least_stack, distances, .. } = self.options;
        let distances = distances.get(number).map_or(&[][..], Vec::as_slice);
        Worker::new(self.work, self.crew, number, *tactics, *least_stack, distances)
    }

    /// # Safety
    /// `data` must come from a reference to a `Run<'_, W, D>` that outlives this call.
    unsafe fn take_part(data: *const (), number: usize) {
        // SAFETY: as promised by the caller.
        let run = unsafe { &*data.cast::<Run<'_, W, D>>() };
        let mut worker = run.worker(number);
        worker.serve();
        worker.leave();
    }
}

impl<D: Deque> Pool<D> {
    /// Start the threads.
    pub fn new(options: PoolOptions) -> io::Result<Pool<D>> {
        let options = PoolOptions { workers: options.workers.max(1), ..options };
        let workers = options.workers;
        let shared =
            Arc::new(Shared { crew: Crew::new(workers, options.tactics.request_slots), job: Mutex::new(None) });
        let mut pool = Pool { shared, threads: Vec::new(), options };
        for number in 1..workers {
            let shared = Arc::clone(&pool.shared);
            let cpu = pool.options.cpus.get(number).copied();
            let thread = thread::Builder::new()
                .name(format!("worker {number}"))
                .stack_size(pool.options.stack_bytes)
                .spawn(move || {
                cpu.into_iter().for_each(bind_this_thread);
                wait_for_runs(&shared, number);
            })?;
            pool.threads.push(thread);
        }
        Ok(pool)
    }

    /// How the pool was set up.
    pub fn options(&self) -> &PoolOptions {
        &self.options
    }

    /// Run `root` and everything it spawns to the end, on all workers.
    pub fn run<W: Work>(&mut self, work: &W, root: W::Task) -> Result<W::Answer, Panicked> {
        self.run_led(work, false, |leader| leader.lead(root)).map(|answer| answer.expect("nobody has panicked"))
    }

    /// Start all workers, and have `lead` done by the first of them, which is a gate or not. What it gives, unless a task has
    /// panicked.
    pub(crate) fn run_led<W: Work>(
        &mut self,
        work: &W,
        gated: bool,
        lead: impl FnOnce(&mut Worker<'_, W, D>) -> Option<W::Answer>,
    ) -> Result<Option<W::Answer>, Panicked> {
        let crew = &self.shared.crew;
        crew.set_gated(gated);
        let run = Run { work, crew, options: &self.options };
        let job = Job { data: (&raw const run).cast(), take_part: Run::<W, D>::take_part };
        *self.shared.job.lock().expect("nobody panics with this lock") = Some(job);
        let answer = conduct(crew, || run.worker(0), lead, self.options.least_stack);
        *self.shared.job.lock().expect("nobody panics with this lock") = None;
        answer
    }

    /// What the workers have done since the pool was made.
    pub fn statistics(&self) -> Statistics {
        self.shared.crew.statistics()
    }
}

impl<D: Deque> Drop for Pool<D> {
    fn drop(&mut self) {
        self.shared.crew.raise_all(QUIT);
        for thread in self.threads.drain(..) {
            // A thread of the pool catches the panics of its tasks; there is nothing to tell here.
            let _ = thread.join();
        }
    }
}

/// Do `lead` as the first worker of a crew, with all others, who take part when they are started. What it gives, unless a task has
/// panicked.
pub(crate) fn conduct<'r, W: Work + 'r, D: Deque>(
    crew: &'r Crew<D>,
    leader: impl FnOnce() -> Worker<'r, W, D>,
    lead: impl FnOnce(&mut Worker<'r, W, D>) -> Option<W::Answer>,
    least_stack: usize,
) -> Result<Option<W::Answer>, Panicked> {
    // Bits that came too late for the last run mean nothing in this one.
    crew.mates().iter().for_each(|mate| mate.attention.reset());
    let (first, others) = (&crew.mates()[0].attention, &crew.mates()[1..]);
    // The leader's deque opens here: others may turn to it as soon as they start.
    let mut leader = leader();
    let no_unwinding = AbortOnUnwind;
    crew.enter_all(least_stack);
    others.iter().for_each(|mate| mate.attention.raise(START));
    let answer = lead(&mut leader);
    crew.raise_all(FINISHED);
    leader.leave();
    // What is worked on, and all that it borrows, is in use until the last of the others has left.
    while !others.is_empty() && first.bits() & ALONE == 0 {
        first.rest(ALONE);
    }
    std::mem::forget(no_unwinding);
    // The payload of a panic stays in the process of its worker, and the leader may have come to an answer of its own.
    let poisoned = first.bits() & POISON != 0;
    match crew.take_panic() {
        None if !poisoned => Ok(answer),
        payload => Err(Panicked { payload: payload.unwrap_or_else(|| Box::new("a task was abandoned")) }),
    }
}

/// Wait until a run begins; false if none will.
pub(crate) fn wait_for_start(attention: &Attention) -> bool {
    while attention.bits() & (START | QUIT) == 0 {
        attention.rest(START | QUIT);
    }
    attention.lower(START) & QUIT == 0
}

/// Take part in a run as one of those who were started.
pub(crate) fn follow<D: Deque>(crew: &Crew<D>, take_part: impl FnOnce()) {
    let no_unwinding = AbortOnUnwind;
    take_part();
    std::mem::forget(no_unwinding);
    if crew.leave() {
        crew.mates()[0].attention.raise(ALONE);
    }
}

/// Ends the process when it is dropped. Tasks may panic, but where anything else of a [`Work`] does, others wait for this
/// worker, or use what it was about to free.
pub(crate) struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        std::process::abort();
    }
}

/// Life of a thread of the pool.
fn wait_for_runs<D: Deque>(shared: &Shared<D>, number: usize) {
    while wait_for_start(&shared.crew.mates()[number].attention) {
        let job = shared.job.lock().expect("nobody panics with this lock").expect("a run has begun");
        // SAFETY: `Pool::run_led` made the job from a live `Run` of these types, and waits until this worker has left.
        follow(&shared.crew, || unsafe { (job.take_part)(job.data, number) });
    }
}
