//! One table for all processes of a host, in memory that all of them address.
//!
//! One process leads: it has a [`Manager`] and does with it whatever programs do. Large operations are run by all workers of
//! all processes: the leader's other threads and the threads of those who follow take tasks from each other, and make
//! nodes in the same table, exactly as the threads of one process do. Who follows has a copy of the relations (`notes`).
//!
//! ```
//! use tremula_diagrams::joint::{Follower, Leader, Setup};
//! use tremula_diagrams::{Attention, Options};
//! use tremula_fabric::{Fabric, threads};
//!
//! let counts = threads::run(2, |fabric| {
//!     let setup = Setup { ranks: 2, workers: 2, crowd: false, bytes: 16 << 20, options: Options::default() };
//!     let segment = fabric.allocate(setup.words()).unwrap();
//!     let distance = |to| fabric.distance(to).unwrap();
//!     if fabric.rank() > 0 {
//!         fabric.barrier();
//!         Follower::new(&setup, segment, fabric.rank(), distance).unwrap().wait();
//!         return None;
//!     }
//!     let leader = Leader::new(&setup, segment, distance).unwrap();
//!     fabric.barrier();
//!     let count = leader.run(Attention::default(), |manager| {
//!         let (a, b) = (manager.var(0).unwrap(), manager.var(1).unwrap());
//!         a.or(&b).unwrap().count(&[0, 1]).unwrap().to_string()
//!     });
//!     Some(count.unwrap())
//! });
//! assert_eq!(counts.unwrap()[0].as_deref(), Some("3"));
//! ```

mod guests;
mod notes;

use crate::env::{Env, Extent};
use crate::exec::Outcome;
use crate::manager::Manager;
use crate::task::Task;
use crate::threads::Threads;
use guests::Guests;
use notes::Notes;
use std::io;
use std::sync::Arc;
use tremula_fabric::{Distance, Ground, Segment};
use tremula_table::{Attention, Budget, Options, SetupError, Solo, TableGround};
use tremula_tasks::{Alliance, Allies, Statistics, Tactics};

/// What all processes agree on.
#[derive(Copy, Clone, Debug)]
pub struct Setup {
    /// How many processes there are.
    pub ranks: usize,
    /// Workers of each.
    pub workers: usize,
    /// Are there fewer processors than workers of all processes?
    pub crowd: bool,
    /// Memory of the table, in all.
    pub bytes: usize,
    /// How the table behaves.
    pub options: Options,
}

/// Copies of relations are no larger than this part of the table's memory.
const NOTES_SHARE: usize = 4;

/// Why a process cannot take part.
#[derive(Debug, thiserror::Error)]
pub enum JointError {
    /// The segment is not what [`Setup::words`] said, or cannot be addressed.
    #[error("the memory of another process cannot be used")]
    NoGround,
    /// There are no more threads.
    #[error("a worker could not start: {0}")]
    System(#[from] io::Error),
    /// The table could not be set up.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

/// The parts of the ground.
struct Parts {
    allies: Ground,
    notes: Ground,
    table: TableGround,
}

impl Setup {
    /// Words that the segment has on every rank; they take no memory until they are touched.
    pub fn words(&self) -> usize {
        let parts = [self.alliance().bytes(), self.notes_bytes()];
        Ground::words_for(parts.into_iter().chain(TableGround::bytes(self.bytes, &self.table_options())))
    }

    fn alliance(&self) -> Alliance {
        let tactics = Tactics { least_far: self.options.least_far_levels, ..Tactics::default() };
        Alliance { processes: self.ranks, each: self.workers, tactics, crowd: self.crowd }
    }

    fn notes_bytes(&self) -> usize {
        self.bytes / NOTES_SHARE
    }

    fn table_options(&self) -> Options {
        Options { workers: self.alliance().workers(), ..self.options }
    }

    fn cut<S: Segment + Send + Sync + 'static>(&self, segment: S) -> Option<Parts> {
        let mut ground = Ground::new(segment, 0)?;
        Some(Parts {
            allies: ground.cut(self.alliance().bytes())?,
            notes: ground.cut(self.notes_bytes())?,
            table: TableGround::cut(&mut ground, self.bytes, &self.table_options())?,
        })
    }
}

/// The process that leads, before it does.
pub struct Leader {
    setup: Setup,
    allies: Arc<Allies>,
    notes: Ground,
    table: TableGround,
    /// The other threads of this process, who follow too.
    guests: Guests,
    dismiss: Dismiss,
}

/// What a manager needs to have others take part.
pub(crate) struct Lead {
    allies: Arc<Allies>,
    notes: Notes,
    /// Workers of this process.
    pub workers: usize,
    processes: usize,
    /// What was written last, or found too large to be.
    written: Option<(Extent, bool)>,
}

impl Leader {
    /// Prepare the segment, whose part on rank 0 is used. Others may [follow](Follower::new) when this has returned. How far
    /// they are decides whom workers turn to first.
    pub fn new<S: Segment + Send + Sync + 'static>(
        setup: &Setup,
        segment: S,
        distance: impl Fn(usize) -> Distance,
    ) -> Result<Leader, JointError> {
        let parts = setup.cut(segment.clone()).ok_or(JointError::NoGround)?;
        let allies = Allies::lead(parts.allies, &setup.alliance()).ok_or(JointError::NoGround)?;
        let allies = Arc::new(allies.with_distances(distance));
        // The same ground once more: workers use it between the beginning and the end of an operation of the manager only.
        let others = setup.cut(segment).ok_or(JointError::NoGround)?;
        let dismiss = Dismiss(Arc::clone(&allies));
        let guests = Guests::start(setup, &allies, others.notes, others.table, 1..setup.workers)?;
        Ok(Leader { setup: *setup, allies, notes: parts.notes, table: parts.table, guests, dismiss })
    }

    /// Run a program, and dismiss all who follow. What it returns can be sent, so that no handle of the manager is left.
    pub fn run<R: Send>(self, attention: Attention, program: impl FnOnce(&Manager) -> R) -> Result<R, JointError> {
        let Leader { setup, allies, notes, table, guests, dismiss } = self;
        let options = setup.table_options();
        let solo = Solo::on_ground(&Budget::new(setup.bytes), options, attention.clone(), table)?;
        let (workers, processes) = (setup.workers, setup.ranks);
        let lead = Lead { allies, notes: Notes::new(notes), workers, processes, written: None };
        let result = guests.stopped_by(&attention, || program(&Manager::leading(solo, options, lead)));
        drop(dismiss);
        guests.wait();
        Ok(result)
    }
}

/// Ends what others wait for, whatever happens.
struct Dismiss(Arc<Allies>);

impl Drop for Dismiss {
    fn drop(&mut self) {
        self.0.dismiss();
    }
}

impl Lead {
    /// How many copies of the relations there are: what is written, and what each process reads from it.
    pub fn copies(&self) -> usize {
        1 + self.processes
    }

    /// See that others have the relations; false if there is no room for them.
    pub fn publish(&mut self, env: &Env) -> bool {
        let extent = env.extent();
        match self.written {
            Some((known, fits)) if known == extent => fits,
            _ => {
                let fits = self.notes.write(env);
                self.written = Some((extent, fits));
                fits
            }
        }
    }

    /// Run `task` on all workers; each may need so much stack for a task.
    pub fn run(&self, table: &mut Solo, env: &Env, task: Task, stack: usize) -> Outcome {
        let shared = table.share_with_outposts(self.allies.workers());
        match self.allies.run(&Threads { shared: &shared, env }, task, stack) {
            Ok(answer) => answer.0,
            // A fault of the program: the caller's thread goes on with it.
            Err(panicked) => panicked.resume(),
        }
    }

    /// What the workers of this process have done.
    pub fn statistics(&self) -> Statistics {
        self.allies.statistics()
    }
}

/// A process that follows.
pub struct Follower {
    allies: Arc<Allies>,
    guests: Guests,
}

impl Follower {
    /// Start all workers of this process, when the [`Leader`] has prepared the segment. How far others are decides whom they
    /// turn to first.
    pub fn new<S: Segment + Send + Sync + 'static>(
        setup: &Setup,
        segment: S,
        rank: usize,
        distance: impl Fn(usize) -> Distance,
    ) -> Result<Follower, JointError> {
        let parts = setup.cut(segment).ok_or(JointError::NoGround)?;
        let alliance = setup.alliance();
        let allies = Allies::join(parts.allies, &alliance, rank).ok_or(JointError::NoGround)?;
        let allies = Arc::new(allies.with_distances(distance));
        let guests = Guests::start(setup, &allies, parts.notes, parts.table, alliance.numbers(rank))?;
        Ok(Follower { allies, guests })
    }

    /// Take part until the leader has no more to do. What the workers have done.
    pub fn wait(self) -> Statistics {
        self.guests.wait();
        self.allies.statistics()
    }
}
