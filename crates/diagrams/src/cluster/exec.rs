//! The execution of operations by fibers, on a table whose parts belong to several ranks.
//!
//! A fiber that needs a node of another rank, or has to make one there, asks for it and waits; other fibers go on. What it
//! needs is protected as for lanes: operands by whoever holds them, results in hand on the fiber's shadow stack.

use super::Work;
use super::letter::Letter;
use super::place::{Answer, Place};
use super::rank::Traffic;
use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use tremula_table::{Blocked, Interrupt, Key, Node, Ref};
use tremula_tasks::{Fiber, Synced};

/// Expansions after which a fiber lets its thread look after others.
const EXPANSIONS_PER_TURN: u64 = 256;

pub struct FiberExec<'a, 'f, 'p, 'r> {
    fiber: &'a Fiber<'f, Work, Outcome>,
    place: &'a Place<'p, 'r>,
}

impl<'a, 'f, 'p, 'r> FiberExec<'a, 'f, 'p, 'r> {
    pub fn new(fiber: &'a Fiber<'f, Work, Outcome>, place: &'a Place<'p, 'r>) -> FiberExec<'a, 'f, 'p, 'r> {
        FiberExec { fiber, place }
    }

    fn operation(&self) -> u32 {
        self.place.operations[self.fiber.number()].get()
    }

    /// End the operation early.
    fn fail(&self, interrupt: Interrupt) -> Interrupt {
        self.place.cancel(self.operation(), interrupt);
        interrupt
    }

    /// Send a request and wait for the answer.
    fn ask(&self, rank: usize, letter: &Letter) -> Answer {
        self.place.write(rank, letter);
        let answer = &self.place.answers[self.fiber.number()];
        loop {
            if let Some(answer) = answer.take() {
                return answer;
            }
            self.fiber.wait();
        }
    }

    #[cold]
    fn foreign_node(&self, f: Ref) -> Node {
        let (rank, f) = (self.place.rank, f.regular());
        if let Some(node) = rank.copies.node(f) {
            return node;
        }
        Traffic::add(&rank.traffic.reads, 1);
        let from = self.place.address(self.fiber.number());
        let Answer::Node(node) = self.ask(rank.division.owner(f), &Letter::Read { from, f }) else {
            unreachable!("a node was asked for");
        };
        rank.copies.put(f, &node);
        node
    }

    /// Make a node that belongs to this rank.
    fn make_here(&mut self, node: Node) -> Outcome {
        loop {
            let made = self.place.table.borrow_mut().make_here(node);
            match made {
                Ok(f) => return Ok(f),
                Err(Blocked::Interrupt(interrupt)) => return Err(self.fail(interrupt)),
                Err(Blocked::NoRoom) => {
                    self.keep(node.low);
                    self.keep(node.high);
                    self.place.wait_for_room(self.fiber.number());
                    self.fiber.wait();
                    self.release(2);
                }
            }
        }
    }

    /// Make a node that belongs to another rank.
    fn make_there(&mut self, home: usize, hash: u64, node: Node) -> Outcome {
        let rank = self.place.rank;
        if let Some(f) = rank.copies.reference(hash, &node) {
            Traffic::add(&rank.traffic.found_copies, 1);
            return Ok(f);
        }
        Traffic::add(&rank.traffic.makes, 1);
        self.keep(node.low);
        self.keep(node.high);
        let from = self.place.address(self.fiber.number());
        let Answer::Made(outcome) = self.ask(home, &Letter::Make { from, node }) else {
            unreachable!("a node was to be made");
        };
        self.release(2);
        let f = outcome.map_err(|interrupt| self.fail(interrupt))?;
        rank.copies.put(f, &node);
        Ok(f)
    }
}

impl Exec for FiberExec<'_, '_, '_, '_> {
    #[inline]
    fn node(&self, f: Ref) -> Node {
        let here = self.place.table.borrow().node_here(f);
        here.unwrap_or_else(|| self.foreign_node(f))
    }
    #[inline]
    fn level(&self, f: Ref) -> u32 {
        self.node(f).level
    }
    #[inline]
    fn make(&mut self, level: u32, low: Ref, high: Ref) -> Outcome {
        if low == high {
            return Ok(low);
        }
        let negate = low.is_complement();
        let node = Node { level, low: low.negate_if(negate), high: high.negate_if(negate), spare: 0 };
        let hash = Node::hash(level, node.low, node.high);
        let division = self.place.rank.division;
        let home = division.home(hash);
        let made = if home == division.part() { self.make_here(node) } else { self.make_there(home, hash, node) };
        Ok(made?.negate_if(negate))
    }
    #[inline]
    fn cache_get(&mut self, hash: u64, key: Key) -> Option<Ref> {
        self.place.table.borrow_mut().cache_get(hash, key)
    }
    #[inline]
    fn cache_put(&mut self, hash: u64, key: Key, result: Ref) {
        self.place.table.borrow_mut().cache_put(hash, key, result);
    }
    #[inline]
    fn cache_prefetch(&self, hash: u64) {
        self.place.table.borrow().cache_prefetch(hash);
    }
    #[inline]
    fn prefetch_node(&self, f: Ref) {
        if !self.place.table.borrow().prefetch_here(f) {
            self.place.rank.copies.prefetch(f);
        }
    }
    #[inline]
    fn keep(&mut self, f: Ref) {
        self.place.shadows[self.fiber.number()].borrow_mut().push(f);
    }
    #[inline]
    fn release(&mut self, count: usize) {
        let mut shadow = self.place.shadows[self.fiber.number()].borrow_mut();
        let left = shadow.len() - count;
        shadow.truncate(left);
    }
    #[inline]
    fn burn(&mut self) -> Result<(), Interrupt> {
        let place = self.place;
        let expansions = place.expansions.get() + 1;
        place.expansions.set(expansions);
        if expansions.is_multiple_of(EXPANSIONS_PER_TURN) {
            self.fiber.pause();
        }
        if let Some(reason) = place.rank.cancelled(self.operation()) {
            return Err(reason);
        }
        let burnt = place.table.borrow_mut().burn();
        if burnt.map_err(|interrupt| self.fail(interrupt))? {
            place.wants_cache.set(true);
        }
        Ok(())
    }

    fn both<O: Operation>(&mut self, env: &Env, first: Call<O>, second: Call<O>) -> Result<(Ref, Ref), Interrupt> {
        let Call::Todo { operation, negate, .. } = second else {
            return self.solve(env, first).and_then(|a| Ok((a, self.solve(env, second)?)));
        };
        if let Call::Done(a) = first {
            return Ok((a, self.solve(env, second)?));
        }
        self.announce(first);
        self.announce(second);
        self.fiber.spawn(Work::Task { task: operation.task(), operation: self.operation() });
        let a = self.solve(env, first).inspect_err(|_| drop(self.fiber.sync()))?;
        self.keep(a);
        let b = match self.fiber.sync() {
            Synced::Task(_) => self.solve(env, second)?,
            Synced::Result(outcome) => outcome?.negate_if(negate),
        };
        self.release(1);
        Ok((a, b))
    }
}
