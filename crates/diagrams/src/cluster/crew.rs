//! The threads of a rank, from their start to their end.

use super::exec::FiberExec;
use super::place::{Place, Window};
use super::program::Desk;
use super::rank::{Rank, lock};
use super::{Import, Request, Work};
use crate::exec::{Exec, Outcome};
use crate::manager::ImportEdge;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::channel;
use std::thread::{self, Scope, ScopedJoinHandle};
use tremula_table::{Ref, Shared};
use tremula_tasks::{Fiber, Fibers};

#[derive(Copy, Clone)]
pub struct Crew<'c, 'r> {
    rank: &'c Rank<'r>,
    shared: &'c Shared<'r>,
}

impl<'c, 'r> Crew<'c, 'r> {
    pub fn new(rank: &'c Rank<'r>, shared: &'c Shared<'r>) -> Crew<'c, 'r> {
        Crew { rank, shared }
    }

    /// On rank 0: run `program` beside the threads, and let all ranks end when it has ended.
    pub fn lead<R>(self, fibers: Vec<Fibers>, program: impl FnOnce(&Desk) -> R) -> io::Result<R> {
        let (requests, to_do) = channel();
        let (outcomes, results) = channel();
        let (nodes, fetched) = channel();
        let window = Window { requests: to_do, outcomes, nodes };
        let desk = Desk::new(requests.clone(), results, fetched);
        thread::scope(|scope| {
            let threads = self.start(scope, fibers, Some(window))?;
            let result = catch_unwind(AssertUnwindSafe(|| program(&desk)));
            // Threads that are gone have ended already.
            let _ = requests.send(Request::End);
            join_all(threads);
            Ok(result.unwrap_or_else(|panic| resume_unwind(panic)))
        })
    }

    /// On other ranks: be there for the others until the program has ended.
    pub fn serve(self, fibers: Vec<Fibers>) -> io::Result<()> {
        thread::scope(|scope| {
            join_all(self.start(scope, fibers, None)?);
            Ok(())
        })
    }

    fn start<'s>(
        self,
        scope: &'s Scope<'s, '_>,
        fibers: Vec<Fibers>,
        mut window: Option<Window>,
    ) -> io::Result<Vec<ScopedJoinHandle<'s, ()>>>
    where
        'c: 's,
    {
        let mut threads = Vec::with_capacity(fibers.len());
        for (number, fibers) in fibers.into_iter().enumerate() {
            let window = window.take();
            let started = thread::Builder::new()
                .name(format!("worker {number}"))
                .spawn_scoped(scope, move || self.live(number, fibers, window.as_ref()));
            match started {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    self.give_up();
                    return Err(error);
                }
            }
        }
        Ok(threads)
    }

    /// The life of a thread.
    fn live(self, number: usize, mut fibers: Fibers, window: Option<&Window>) {
        let place = Place::new(self.rank, number, self.shared.worker(number), fibers.most());
        let work = |fiber: &Fiber<'_, Work, Outcome>, work: Work| run(fiber, &place, work);
        let lived = catch_unwind(AssertUnwindSafe(|| fibers.run(&work, |driver| place.serve(driver, window))));
        match lived {
            Ok(()) => {
                // No thread of this rank shall wait in a safepoint for one that has left.
                self.shared.abandon();
                place.table.into_inner().leave();
            }
            Err(panic) => {
                self.give_up();
                resume_unwind(panic);
            }
        }
    }

    /// Nobody shall wait for this rank's threads.
    fn give_up(self) {
        self.rank.end();
        self.shared.abandon();
    }
}

fn join_all(threads: Vec<ScopedJoinHandle<'_, ()>>) {
    for thread in threads {
        thread.join().unwrap_or_else(|panic| resume_unwind(panic));
    }
}

/// Run what a fiber was given.
fn run(fiber: &Fiber<'_, Work, Outcome>, place: &Place<'_, '_>, work: Work) -> Outcome {
    let mut exec = FiberExec::new(fiber, place);
    let outcome = match work {
        Work::Task { task, operation } => {
            place.operations[fiber.number()].set(operation);
            task.run(&mut exec, place.rank.env)
        }
        Work::Import => {
            place.operations[fiber.number()].set(0);
            let import = std::mem::take(&mut *lock(&place.rank.import));
            bring_in(&mut exec, &import)
        }
    };
    place.shadows[fiber.number()].borrow_mut().clear();
    outcome
}

/// Make the nodes of a diagram, which is known to be well formed.
fn bring_in(exec: &mut FiberExec<'_, '_, '_, '_>, import: &Import) -> Outcome {
    let mut built = vec![Ref::FALSE];
    let find = |built: &[Ref], edge: ImportEdge| built[edge.node as usize].negate_if(edge.complement);
    for node in &import.nodes {
        let made = exec.make(node.level, find(&built, node.low), find(&built, node.high))?;
        exec.keep(made);
        built.push(made);
    }
    Ok(find(&built, import.root))
}
