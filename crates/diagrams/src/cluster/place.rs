//! A thread of a rank: it runs fibers, answers other ranks, asks them for work, and comes to safepoints.
//!
//! Requests of fibers gather in a batch for each rank. A batch is sent when it is large, when no fiber can go on, or when
//! fibers have gone on for a while.

use super::letter::{Address, Debt, Letter, Matter, StolenTask, node_of, node_words};
use super::placement::Placement;
use super::rank::{Rank, Traffic, lock};
use super::safepoint::Presence;
use super::{Request, Work};
use crate::exec::Outcome;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::time::{Duration, Instant};
use tremula_table::{Blocked, Interrupt, Node, Ref, TableWorker};
use tremula_tasks::{Board, Driver, Ticket};

/// Batches of so many words are sent at once.
const BATCH_WORDS: usize = 512;
/// Expansions after which a fiber lets its thread look after others.
pub const EXPANSIONS_PER_TURN: u64 = 256;
/// Steps between two looks for letters.
const STEPS_PER_LOOK: u32 = 16;
/// Turns without anything to do until a thread lets others have the processor, and until it sleeps.
const SPINS: u32 = 50;
const YIELDS: u32 = 2000;
const NAP: Duration = Duration::from_micros(50);
/// Pause after all others were asked for work in vain, doubled each time.
const FIRST_PAUSE: Duration = Duration::from_micros(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(2);

/// The tag of the task that the program waits for.
const ROOT: u64 = u64::MAX;

/// What a fiber was waiting for.
#[derive(Copy, Clone)]
pub enum Answer {
    Made(Outcome),
    Node(Node),
}

pub struct Place<'p, 'r> {
    pub rank: &'p Rank<'r>,
    pub thread: usize,
    pub table: RefCell<TableWorker<'p, 'r>>,
    /// By fiber: functions in hand.
    pub shadows: Vec<RefCell<Vec<Ref>>>,
    /// By fiber: what has come for it.
    pub answers: Vec<Cell<Option<Answer>>>,
    /// By fiber: the operation that its task is part of.
    pub operations: Vec<Cell<u32>>,
    /// Fibers that wait for a collection.
    waiting_for_room: RefCell<Vec<usize>>,
    /// A larger cache would be good.
    pub wants_cache: Cell<bool>,
    pub expansions: Cell<u64>,
    batches: Vec<RefCell<Vec<u64>>>,
    /// Threads that asked for work in a safepoint.
    postponed: RefCell<Vec<(usize, u8)>>,
    hunger: RefCell<Hunger>,
    /// Whom the next call goes to.
    turn: Cell<usize>,
}

/// Whom this thread asks for work, and when.
struct Hunger {
    asked: bool,
    /// The rank and thread that will be asked next.
    victim: usize,
    refusals: usize,
    pause: Duration,
    not_before: Option<Instant>,
}

/// How the first thread of rank 0 talks to the program.
pub struct Window {
    pub requests: Receiver<Request>,
    pub outcomes: Sender<Outcome>,
    pub nodes: Sender<Vec<Node>>,
}

impl<'p, 'r> Place<'p, 'r> {
    pub fn new(rank: &'p Rank<'r>, thread: usize, table: TableWorker<'p, 'r>, fibers: usize) -> Place<'p, 'r> {
        Place {
            rank,
            thread,
            table: RefCell::new(table),
            shadows: (0..fibers).map(|_| RefCell::default()).collect(),
            answers: (0..fibers).map(|_| Cell::new(None)).collect(),
            operations: (0..fibers).map(|_| Cell::new(0)).collect(),
            waiting_for_room: RefCell::default(),
            wants_cache: Cell::new(false),
            expansions: Cell::new(0),
            batches: (0..rank.post.ranks()).map(|_| RefCell::default()).collect(),
            postponed: RefCell::default(),
            turn: Cell::new(thread),
            hunger: RefCell::new(Hunger { asked: false, victim: 0, refusals: 0, pause: FIRST_PAUSE, not_before: None }),
        }
    }

    /// Live until the program ends.
    pub fn serve(&self, driver: &mut Driver<'_, Work, Outcome>, window: Option<&Window>) {
        let board = driver.board();
        let (mut steps, mut idle) = (0u32, 0u32);
        let mut expansions = 0;
        while !self.rank.is_ended() {
            self.come_to_safepoint(board);
            let worked = driver.step();
            steps = steps.wrapping_add(1);
            // Others may be waiting for what lies in the batches, and this rank for what has come.
            let turn_is_over = self.expansions.get().wrapping_sub(expansions) >= EXPANSIONS_PER_TURN;
            let mut heard = false;
            if !worked || turn_is_over || steps.is_multiple_of(STEPS_PER_LOOK) {
                expansions = self.expansions.get();
                heard = self.look_for_letters(board);
            }
            board.take_finished(|tag, outcome| self.hand_in(tag, outcome, window));
            self.send_batches(if worked && !turn_is_over { BATCH_WORDS } else { 1 });
            if worked || heard {
                idle = 0;
                continue;
            }
            if window.is_some_and(|window| self.take_request(board, window)) {
                idle = 0;
                continue;
            }
            self.seek_work(board);
            idle = idle.saturating_add(1);
            self.rest(idle);
        }
        self.report_expansions();
        while !self.rank.post.is_sent() {
            self.rank.post.help();
            self.rank.post.check();
            std::thread::yield_now();
        }
    }

    /// Nothing to do, for the `idle`th time in a row.
    fn rest(&self, idle: u32) {
        if idle.is_multiple_of(SPINS) {
            self.rank.post.check();
            self.report_expansions();
            if let Err(reason) = self.table.borrow().look_up() {
                self.operations.iter().for_each(|operation| self.cancel(operation.get(), reason));
            }
        }
        match idle {
            idle if idle < SPINS => std::hint::spin_loop(),
            idle if idle < YIELDS => std::thread::yield_now(),
            _ => std::thread::sleep(NAP),
        }
    }

    fn report_expansions(&self) {
        Traffic::add(&self.rank.traffic.expansions, self.expansions.replace(0));
    }

    // ---- the program --------------------------------------------------------------------------------------------

    /// Begin what the program wants. True if there was anything.
    fn take_request(&self, board: &Board<Work, Outcome>, window: &Window) -> bool {
        match window.requests.try_recv() {
            Ok(Request::Run { work, roots }) => {
                *lock(&self.rank.roots) = roots;
                board.offer(work, ROOT, 0);
            }
            Ok(Request::Fetch(functions)) => {
                // Nobody hears of a program that is gone.
                let _ = window.nodes.send(self.fetch(&functions));
            }
            Ok(Request::End) | Err(TryRecvError::Disconnected) => {
                self.tell_all(&Letter::End);
                self.rank.end();
            }
            Err(TryRecvError::Empty) => return false,
        }
        true
    }

    /// The nodes of functions, wherever they are. Only between operations.
    fn fetch(&self, functions: &[Ref]) -> Vec<Node> {
        let division = self.rank.division;
        let mut wanted = vec![Vec::new(); division.parts()];
        let is_here = |f: Ref| division.local(f).is_some();
        functions.iter().filter(|&&f| !is_here(f)).for_each(|&f| wanted[division.owner(f)].push(u64::from(f.index())));
        let asked: Vec<usize> = self.rank.others().filter(|&rank| !wanted[rank].is_empty()).collect();
        for &rank in &asked {
            let words = std::mem::take(&mut wanted[rank]);
            self.write(rank, &Letter::Bulk { matter: Matter::Wanted, words });
        }
        self.send_batches(1);
        let mut come = vec![std::collections::VecDeque::new(); division.parts()];
        for rank in asked {
            let words = self.wait_for(Some(&self.table.borrow()), || self.rank.take_bulk(rank, Matter::Nodes));
            come[rank] = words.chunks_exact(2).map(|pair| node_of([pair[0], pair[1]])).collect();
        }
        let node = |&f: &Ref| match self.table.borrow().node_here(f) {
            Some(node) => node,
            None => come[division.owner(f)].pop_front().expect("as many nodes as were wanted"),
        };
        functions.iter().map(node).collect()
    }

    /// Wait for something that other ranks send, in a safepoint or between operations; `table` as for
    /// [`Place::take_in_safepoint`].
    pub fn wait_for<T>(&self, table: Option<&TableWorker<'_, '_>>, mut come: impl FnMut() -> Option<T>) -> T {
        loop {
            if let Some(value) = come() {
                return value;
            }
            self.receive(&mut |from, letter| self.take_in_safepoint(table, from, letter));
            self.send_batches(1);
            self.rank.post.help();
            self.rank.post.check();
            std::thread::yield_now();
        }
    }

    // ---- results ------------------------------------------------------------------------------------------------

    fn hand_in(&self, tag: u64, outcome: Outcome, window: Option<&Window>) {
        if tag == ROOT {
            let window = window.expect("the program is here");
            // Nobody hears of a program that is gone.
            let _ = window.outcomes.send(outcome);
            return;
        }
        let (rank, debt) = untag(tag);
        let level = outcome.ok().and_then(|f| self.known_level(f));
        self.tell(rank, debt.address.thread, Letter::Done { debt, outcome, level });
    }

    /// End an operation early, everywhere.
    pub fn cancel(&self, operation: u32, reason: Interrupt) {
        if operation != 0 && self.rank.note_cancel(operation, reason) {
            self.tell_all(&Letter::Cancel { operation, reason });
        }
    }

    /// The thread of another rank that gets the next call: each in turn.
    pub fn next_thread(&self) -> u8 {
        let turn = (self.turn.get() + 1) % self.rank.threads;
        self.turn.set(turn);
        turn as u8
    }

    /// The level of a function, if it is known without asking.
    pub fn known_level(&self, f: Ref) -> Option<u32> {
        self.table.borrow().level_here(f).or_else(|| self.rank.copies.level(f.regular()))
    }

    // ---- letters ------------------------------------------------------------------------------------------------

    pub fn address(&self, fiber: usize) -> Address {
        Address { thread: self.thread as u8, fiber: fiber as u16 }
    }

    /// Put a letter into the batch for a rank.
    pub fn write(&self, rank: usize, letter: &Letter) {
        letter.write(&mut self.batches[rank].borrow_mut());
    }

    /// Tell a thread, of this rank or another.
    fn tell(&self, rank: usize, thread: u8, letter: Letter) {
        if rank == self.rank.number() {
            self.rank.hand_over(thread, rank, letter);
        } else {
            self.write(rank, &letter);
        }
    }

    /// Tell all other ranks.
    pub fn tell_all(&self, letter: &Letter) {
        self.rank.others().for_each(|rank| self.write(rank, letter));
        self.send_batches(1);
    }

    /// Send the batches that have `least` words.
    pub fn send_batches(&self, least: usize) {
        for (rank, batch) in self.batches.iter().enumerate() {
            let mut batch = batch.borrow_mut();
            if batch.len() >= least && !batch.is_empty() {
                Traffic::add(&self.rank.traffic.batches, 1);
                self.rank.post.send(rank, &batch);
                batch.clear();
            }
        }
    }

    /// Take what has come for this thread, and what has come for this rank. True if there was anything.
    fn look_for_letters(&self, board: &Board<Work, Outcome>) -> bool {
        let letters = self.rank.take_letters(self.thread);
        let any = !letters.is_empty();
        letters.into_iter().for_each(|(from, letter)| self.take(board, from, letter));
        let postponed = self.postponed.take();
        postponed.into_iter().for_each(|(rank, thief)| self.answer_thief(board, rank, thief));
        self.rank.post.help();
        self.receive(&mut |from, letter| self.sort(board, from, letter)) || any
    }

    /// Read all letters of other ranks that have come as a whole.
    pub fn receive(&self, take: &mut dyn FnMut(usize, Letter)) -> bool {
        self.rank.post.receive(&mut |from, words| {
            let mut understood = 0;
            while let Some((letter, length)) = Letter::read(&words[understood..]) {
                take(from, letter);
                understood += length;
            }
            understood
        })
    }

    /// Do what another rank asks for, or hand its letter to the thread that it is for.
    fn sort(&self, board: &Board<Work, Outcome>, from: usize, letter: Letter) {
        match letter {
            Letter::Make { from: address, node } => self.make_for(from, address, node),
            Letter::Read { from: address, f } => self.copy_for(&self.table.borrow(), from, address, f),
            Letter::Bulk { matter: Matter::Wanted, words } => self.nodes_for(&self.table.borrow(), from, &words),
            letter => match self.note_for_rank(from, letter) {
                Some((thread, letter)) if usize::from(thread) == self.thread => self.take(board, from, letter),
                Some((thread, letter)) => self.rank.hand_over(thread, from, letter),
                None => {}
            },
        }
    }

    /// In a safepoint, and between operations, no nodes are made, and nothing is begun. Nodes are read as long as there is a
    /// table: while this rank marks, others may already be done with the collection, and what they want waits for its end.
    fn take_in_safepoint(&self, table: Option<&TableWorker<'_, '_>>, from: usize, letter: Letter) {
        match (table, letter) {
            (Some(table), Letter::Read { from: address, f }) => self.copy_for(table, from, address, f),
            (Some(table), Letter::Bulk { matter: Matter::Wanted, words }) => self.nodes_for(table, from, &words),
            (_, letter @ (Letter::Make { .. } | Letter::Read { .. } | Letter::Bulk { matter: Matter::Wanted, .. })) => {
                self.rank.defer(from, letter);
            }
            (_, letter) => {
                if let Some((thread, letter)) = self.note_for_rank(from, letter) {
                    self.rank.hand_over(thread, from, letter);
                }
            }
        }
    }

    /// Note what concerns the rank as a whole; a letter for one thread comes back, with that thread.
    fn note_for_rank(&self, from: usize, letter: Letter) -> Option<(u8, Letter)> {
        let thread = match &letter {
            Letter::Made { to, .. } | Letter::Copy { to, .. } => to.thread,
            Letter::Ask { victim, .. } => *victim,
            Letter::Nothing { thief } | Letter::Task { thief, .. } => *thief,
            Letter::Done { debt, .. } => debt.address.thread,
            Letter::Make { .. } | Letter::Read { .. } => unreachable!("done by whoever receives it"),
            &Letter::Collect { number } => {
                self.rank.note_demand(number);
                return None;
            }
            &Letter::Cancel { operation, reason } => {
                self.rank.note_cancel(operation, reason);
                return None;
            }
            Letter::Marker => {
                self.rank.note_marker(from);
                return None;
            }
            Letter::End => {
                self.rank.end();
                return None;
            }
            Letter::Bulk { .. } => {
                let Letter::Bulk { matter, words } = letter else { unreachable!("just seen") };
                self.rank.note_bulk(from, matter, words);
                return None;
            }
        };
        Some((thread, letter))
    }

    /// A letter for this thread.
    fn take(&self, board: &Board<Work, Outcome>, from: usize, letter: Letter) {
        match letter {
            Letter::Made { to, outcome } => self.answer(board, to, Answer::Made(outcome)),
            Letter::Copy { to, node } => self.answer(board, to, Answer::Node(node)),
            Letter::Ask { thief, .. } => self.answer_thief(board, from, thief),
            Letter::Nothing { .. } => self.hunger.borrow_mut().refused(self.victims().len()),
            Letter::Task { task, class, operation, debt, levels, .. } => {
                if class == 0 {
                    self.hunger.borrow_mut().fed();
                    Traffic::add(&self.rank.traffic.tasks_stolen, 1);
                }
                task.operands().into_iter().zip(levels).for_each(|(f, level)| self.rank.learn_level(f, level));
                board.offer(Work::Task { task: task.task(), operation }, tag(from, debt), class.into());
            }
            Letter::Done { debt, outcome, level } => {
                outcome.into_iter().for_each(|f| self.rank.learn_level(f, level));
                let Debt { address, position } = debt;
                board.deliver(Ticket { fiber: address.fiber.into(), position: position as usize }, outcome);
            }
            letter => unreachable!("not for a thread: {letter:?}"),
        }
    }

    /// As [`Place::take`], in a safepoint: nothing is given away.
    pub fn take_before_collection(&self, board: &Board<Work, Outcome>) {
        for (from, letter) in self.rank.take_letters(self.thread) {
            match letter {
                Letter::Ask { thief, .. } => self.postponed.borrow_mut().push((from, thief)),
                letter => self.take(board, from, letter),
            }
        }
    }

    fn answer(&self, board: &Board<Work, Outcome>, to: Address, answer: Answer) {
        self.answers[usize::from(to.fiber)].set(Some(answer));
        board.wake(to.fiber.into());
    }

    // ---- what others ask for ------------------------------------------------------------------------------------

    fn make_for(&self, rank: usize, from: Address, node: Node) {
        let made = self.table.borrow_mut().make_here(node);
        let outcome = match made {
            Ok(f) => Ok(f),
            Err(Blocked::Interrupt(interrupt)) => Err(interrupt),
            Err(Blocked::NoRoom) => {
                self.rank.defer(rank, Letter::Make { from, node });
                self.demand_collection();
                return;
            }
        };
        self.write(rank, &Letter::Made { to: from, outcome });
    }

    fn copy_for(&self, table: &TableWorker<'_, '_>, rank: usize, to: Address, f: Ref) {
        let node = table.node_here(f).expect("read where it belongs");
        self.write(rank, &Letter::Copy { to, node });
    }

    fn nodes_for(&self, table: &TableWorker<'_, '_>, rank: usize, wanted: &[u64]) {
        let node = |&index: &u64| table.node_here(Ref::new(index as u32, false)).expect("read where it belongs");
        let words = wanted.iter().map(node).flat_map(|node| node_words(&node)).collect();
        self.write(rank, &Letter::Bulk { matter: Matter::Nodes, words });
        self.send_batches(1);
    }

    fn answer_thief(&self, board: &Board<Work, Outcome>, rank: usize, thief: u8) {
        let letter = match board.take_oldest() {
            Some((Work::Task { task, operation }, ticket)) => {
                let debt = Debt { address: self.address(ticket.fiber), position: ticket.position as u32 };
                Letter::Task { thief, task: StolenTask::new(task), class: 0, operation, debt, levels: [None; 2] }
            }
            Some((Work::Import, _)) => unreachable!("nobody spawns it"),
            None => Letter::Nothing { thief },
        };
        self.tell(rank, thief, letter);
    }

    // ---- work of others -----------------------------------------------------------------------------------------

    /// Ask another thread for a task, if fibers have nothing to do.
    fn seek_work(&self, board: &Board<Work, Outcome>) {
        let mut hunger = self.hunger.borrow_mut();
        if hunger.asked || !board.wants_work() || hunger.not_before.is_some_and(|time| Instant::now() < time) {
            return;
        }
        let (victims, threads) = (self.victims(), self.rank.threads);
        if victims.len() == 1 {
            return;
        }
        let own = self.rank.number() * threads + self.thread;
        if !victims.contains(&hunger.victim) {
            hunger.victim = victims.start;
        }
        if hunger.victim == own {
            hunger.victim = if own + 1 < victims.end { own + 1 } else { victims.start };
        }
        let (rank, thread) = (hunger.victim / threads, hunger.victim % threads);
        hunger.asked = true;
        drop(hunger);
        self.tell(rank, thread as u8, Letter::Ask { thief: self.thread as u8, victim: thread as u8 });
        self.send_batches(1);
    }

    /// Threads that may have work for this one, itself among them: where steps have homes, those of this rank.
    fn victims(&self) -> Range<usize> {
        let (rank, threads) = (self.rank.number(), self.rank.threads);
        match self.rank.placement {
            Placement::ByHash => 0..self.rank.post.ranks() * threads,
            Placement::ByLevel(_) => rank * threads..(rank + 1) * threads,
        }
    }

    // ---- collections --------------------------------------------------------------------------------------------

    /// Let a fiber wait until garbage has been collected.
    pub fn wait_for_room(&self, fiber: usize) {
        self.waiting_for_room.borrow_mut().push(fiber);
        self.demand_collection();
    }

    fn demand_collection(&self) {
        let number = self.rank.collections() + 1;
        if self.rank.note_demand(number) {
            self.tell_all(&Letter::Collect { number });
        }
    }

    fn come_to_safepoint(&self, board: &Board<Work, Outcome>) {
        if self.rank.collection_is_due() {
            self.table.borrow().demand_collection();
        } else if self.wants_cache.get() && self.thread == 0 {
            // One thread alone asks for this, so that no operation ends while another waits in a safepoint.
            self.table.borrow().demand_cache();
        }
        if !self.table.borrow().safepoint_is_due() {
            return;
        }
        self.wants_cache.set(false);
        self.send_batches(1);
        let before = self.rank.collections();
        let presence = Presence::new(self, board);
        // After a panic elsewhere the rank ends anyway.
        let _ = self.table.borrow_mut().attend(presence);
        if self.rank.collections() == before {
            return;
        }
        self.waiting_for_room.take().into_iter().for_each(|fiber| board.wake(fiber));
        if self.thread == 0 {
            self.rank.take_deferred().into_iter().for_each(|(from, letter)| self.sort(board, from, letter));
        }
    }
}

impl Hunger {
    /// There was nothing, at one of so many threads.
    fn refused(&mut self, threads: usize) {
        self.asked = false;
        self.victim += 1;
        self.refusals += 1;
        if self.refusals >= threads - 1 {
            self.refusals = 0;
            self.not_before = Some(Instant::now() + self.pause);
            self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn fed(&mut self) {
        (self.asked, self.refusals, self.pause, self.not_before) = (false, 0, FIRST_PAUSE, None);
    }
}

/// A creditor in one word: rank, thread, fiber, position.
fn tag(rank: usize, debt: Debt) -> u64 {
    let Debt { address, position } = debt;
    debug_assert!(position < 1 << 24, "a task far down in the stack of its fiber");
    (rank as u64) << 48 | u64::from(address.thread) << 40 | u64::from(address.fiber) << 24 | u64::from(position)
}

fn untag(tag: u64) -> (usize, Debt) {
    let address = Address { thread: (tag >> 40) as u8, fiber: (tag >> 24) as u16 };
    ((tag >> 48) as usize, Debt { address, position: tag as u32 & 0xFF_FFFF })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_name_creditors() {
        let debt = Debt { address: Address { thread: 200, fiber: 60_000 }, position: 0xFF_FFFF };
        assert_eq!(untag(tag(60_000, debt)), (60_000, debt));
    }
}
