//! The execution of operations by fibers, on a table whose parts belong to several ranks.
//!
//! A fiber that needs a node of another rank, or has to make one there, asks for it and waits; other fibers go on. What it
//! needs is protected as for lanes: operands by whoever holds them, results in hand on the fiber's shadow stack.

use super::Work;
use super::letter::{Debt, Letter, StolenTask};
use super::place::{Answer, EXPANSIONS_PER_TURN, Place};
use super::placement::{Placement, children};
use super::rank::{Rank, Traffic};
use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use tremula_table::{Blocked, Interrupt, Key, Node, Ref};
use tremula_tasks::{Fiber, Synced};

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

    /// Take the task spawned last back, whatever becomes of it: who has begun it will deliver its result here.
    fn forget_spawned(&self) {
        let _ = self.fiber.sync();
    }

    /// Where a sub-problem is to be solved, and its class, if not here.
    #[inline]
    fn elsewhere<O: Operation>(&self, env: &Env, operation: O) -> Option<(usize, usize)> {
        let Rank { placement, division, .. } = *self.place.rank;
        if placement == Placement::ByHash {
            return None;
        }
        let own_level = operation.own_level(env)?;
        let is_elsewhere = |level| placement.home_of_step(division, level).filter(|&(home, _)| home != division.part());
        let operands = operation.operands();
        // Where all levels belong here, it does not matter which is the first: nodes need not be looked at yet.
        if operands.iter().all(|&f| division.local(f).is_some()) && is_elsewhere(own_level).is_none() {
            return None;
        }
        is_elsewhere(operands.into_iter().map(|f| self.level(f)).fold(own_level, u32::min))
    }

    /// Have a sub-problem solved by another rank; its result comes with the next sync.
    fn send_away<O: Operation>(&self, operation: O, (home, class): (usize, usize)) {
        let (place, number) = (self.place, self.operation());
        let task = operation.task();
        let ticket = self.fiber.spawn_away(Work::Task { task, operation: number });
        let debt = Debt { address: place.address(ticket.fiber), position: ticket.position as u32 };
        Traffic::add(&place.rank.traffic.calls, 1);
        let letter = Letter::Task {
            thief: place.next_thread(),
            task: StolenTask::new(task),
            class: class as u16,
            operation: number,
            debt,
            levels: operation.operands().map(|f| place.known_level(f)),
        };
        place.write(home, &letter);
    }

    /// The result of the sub-problem that was sent away last, or given to another fiber.
    fn receive<O: Operation>(&mut self, operation: O, hash: u64) -> Outcome {
        let Synced::Result(outcome) = self.fiber.sync() else { unreachable!("it was sent away") };
        let result = outcome?;
        if let Some(key) = operation.key() {
            self.cache_put(hash, key, result);
        }
        Ok(result)
    }

    /// The result of a sub-problem that has a home elsewhere, if it is known here.
    fn cached<O: Operation>(&mut self, operation: O, hash: u64) -> Option<Ref> {
        operation.key().and_then(|key| self.cache_get(hash, key))
    }

    /// What is known about children that belong to another rank than their parent, for the parent's spare word.
    fn levels_for(&mut self, home: usize, node: &Node) -> u32 {
        let division = self.place.rank.division;
        let is_foreign = |f: Ref| !f.is_terminal() && division.owner(f) != home;
        if !is_foreign(node.low) && !is_foreign(node.high) {
            return children::pack(None, None);
        }
        // To find a level out may take a while.
        self.keep(node.low);
        self.keep(node.high);
        let [low, high] = [node.low, node.high].map(|f| is_foreign(f).then(|| self.level(f)));
        self.release(2);
        children::pack(low, high)
    }

    #[cold]
    fn foreign_level(&self, f: Ref) -> u32 {
        match self.place.rank.copies.level(f.regular()) {
            Some(level) => level,
            None => self.foreign_node(f).level,
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
        // The copy of a node is found by its children and level alone.
        if let Some(f) = rank.copies.reference(hash, &node) {
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
        let Some(node) = here else { return self.foreign_node(f) };
        let rank = self.place.rank;
        if rank.placement != Placement::ByHash {
            let [low, high] = children::unpack(node.spare);
            rank.learn_level(node.low, low);
            rank.learn_level(node.high, high);
        }
        node
    }
    #[inline]
    fn level(&self, f: Ref) -> u32 {
        let here = self.place.table.borrow().level_here(f);
        here.unwrap_or_else(|| self.foreign_level(f))
    }
    #[inline]
    fn cofactors(&self, f: Ref, level: u32) -> (Ref, Ref) {
        let Rank { placement, division, .. } = *self.place.rank;
        let step_is_here = || placement.home_of_step(division, level).is_some_and(|(home, _)| home == division.part());
        if division.local(f).is_none() && step_is_here() {
            // Nodes of this level are here, so this one is below it.
            return (f, f);
        }
        let node = self.node(f);
        if node.level == level { (node.low.under(f), node.high.under(f)) } else { (f, f) }
    }
    #[inline]
    fn make(&mut self, level: u32, low: Ref, high: Ref) -> Outcome {
        if low == high {
            return Ok(low);
        }
        let negate = low.is_complement();
        let mut node = Node { level, low: low.negate_if(negate), high: high.negate_if(negate), spare: 0 };
        let hash = Node::hash(level, node.low, node.high);
        let Rank { placement, division, .. } = *self.place.rank;
        let home = placement.home(division, &node, hash);
        if placement != Placement::ByHash {
            node.spare = self.levels_for(home, &node);
        }
        let made = if home == division.part() { self.make_here(node) } else { self.make_there(home, hash, node) };
        Ok(made?.negate_if(negate))
    }
    fn make_list(&mut self, _: u32, _: Ref, _: Ref) -> Outcome {
        unreachable!("lists live in one process")
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
    fn kept(&self, _: usize) -> Ref {
        unreachable!("lists live in one process")
    }
    fn keep_instead(&mut self, _: usize, _: Ref) {
        unreachable!("lists live in one process")
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

    #[inline]
    fn solve<O: Operation>(&mut self, env: &Env, call: Call<O>) -> Outcome {
        if let Call::Todo { operation, hash, negate } = call
            && let Some(home) = self.elsewhere(env, operation)
        {
            if let Some(result) = self.cached(operation, hash) {
                return Ok(result.negate_if(negate));
            }
            self.send_away(operation, home);
            return Ok(self.receive(operation, hash)?.negate_if(negate));
        }
        self.solve_now(env, call)
    }

    fn both<O: Operation>(&mut self, env: &Env, first: Call<O>, second: Call<O>) -> Result<(Ref, Ref), Interrupt> {
        let (Call::Todo { .. }, Call::Todo { .. }) = (first, second) else {
            // Results of `Done` need no protection: they are operands.
            return self.solve(env, first).and_then(|a| Ok((a, self.solve_beside(env, a, second)?)));
        };
        if let Some(result) = self.begin_away(env, second) {
            return self.finish_away(env, first, second, result);
        }
        if let Some(result) = self.begin_away(env, first) {
            let (b, a) = self.finish_away(env, second, first, result)?;
            return Ok((a, b));
        }
        self.announce(first);
        self.announce(second);
        let Call::Todo { operation, negate, .. } = second else { unreachable!("just seen") };
        self.fiber.spawn(Work::Task { task: operation.task(), operation: self.operation() });
        let a = self.solve_now(env, first).inspect_err(|_| self.forget_spawned())?;
        self.keep(a);
        let b = match self.fiber.sync() {
            Synced::Task(_) => self.solve_now(env, second)?,
            Synced::Result(outcome) => outcome?.negate_if(negate),
        };
        self.release(1);
        Ok((a, b))
    }
}

/// What has become of a sub-problem with a home elsewhere.
enum Away {
    Known(Ref),
    Sent,
}

impl FiberExec<'_, '_, '_, '_> {
    /// Solve a sub-problem while the result of another is in hand.
    fn solve_beside<O: Operation>(&mut self, env: &Env, other: Ref, call: Call<O>) -> Outcome {
        self.keep(other);
        let result = self.solve(env, call);
        self.release(1);
        result
    }

    /// Send a sub-problem to its home, unless that is here or its result is known.
    fn begin_away<O: Operation>(&mut self, env: &Env, call: Call<O>) -> Option<Away> {
        let Call::Todo { operation, hash, .. } = call else { return None };
        let home = self.elsewhere(env, operation)?;
        Some(match self.cached(operation, hash) {
            Some(result) => Away::Known(result),
            None => {
                self.send_away(operation, home);
                Away::Sent
            }
        })
    }

    /// Solve one sub-problem while the other is away; both results.
    fn finish_away<O: Operation>(
        &mut self,
        env: &Env,
        here: Call<O>,
        there: Call<O>,
        away: Away,
    ) -> Result<(Ref, Ref), Interrupt> {
        let Call::Todo { operation, hash, negate } = there else { unreachable!("it has a home") };
        match away {
            Away::Known(result) => {
                let result = result.negate_if(negate);
                Ok((self.solve_beside(env, result, here)?, result))
            }
            Away::Sent => {
                let a = self.solve(env, here).inspect_err(|_| self.forget_spawned())?;
                self.keep(a);
                let b = self.receive(operation, hash)?;
                self.release(1);
                Ok((a, b.negate_if(negate)))
            }
        }
    }
}
