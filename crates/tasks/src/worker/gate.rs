//! A worker as the gate of its pool: it runs no tasks, but carries them between the pool and other ranks.
//!
//! A gate waits for nobody: not for an answer from another rank, nor for one of a worker, which may be in a long stretch without a
//! look at its attention word.

use super::{ORDERS, Work, Worker};
use crate::attention::{GIFT, HUNGRY, REQUEST, RESULT};
use crate::cells::{Outcome, Parcel};
use crate::crew::Abandoned;
use crate::deque::{Asked as Reply, Deque, Private};
use crate::far::MOST_TASKS;
use crate::gate::{Asked, Errand, Export, Gate, Import, Origin, Traffic};
use crate::plain::Word;

/// Attention bits that wake a gate.
const ALERTS: u32 = ORDERS | RESULT | GIFT;

impl<W: Work> Worker<'_, W, Private> {
    /// Be the gate until the run is over. The answer, on the rank that has the root.
    pub(crate) fn keep_gate(&mut self, gate: &mut Gate<'_>, root: Option<W::Task>) -> Option<W::Answer> {
        let mut traffic = Traffic::new();
        root.into_iter().for_each(|root| self.let_in(&mut traffic, root, Origin::Root));
        let answer = loop {
            self.me.attention.lower(RESULT | GIFT);
            self.attend();
            self.share_poison(gate, &mut traffic);
            if let Some(end) = self.tell_results(gate, &mut traffic) {
                gate.far.end(gate.run);
                break end.map(W::Answer::from_word);
            }
            if gate.far.is_over(gate.run) {
                // What was told before.
                self.share_poison(gate, &mut traffic);
                break None;
            }
            let is_busy = self.hear_results(gate, &mut traffic)
                | self.take_request(gate, &mut traffic)
                | self.run_errand(gate, &mut traffic)
                | self.receive_from_afar(gate, &mut traffic)
                | (self.wants_tasks() && traffic.ask(gate))
                | self.has_more_to_share();
            if !is_busy {
                self.me.attention.doze(ALERTS, traffic.patience());
            }
        };
        if traffic.errand.is_some_and(|errand| errand.is_out) {
            // Whoever was asked writes into this worker's cell; there are no tasks any more.
            self.await_answer();
        }
        answer
    }

    /// A task has come, for the first worker who wants one.
    fn let_in(&mut self, traffic: &mut Traffic, task: W::Task, origin: Origin) {
        let position = traffic.new_position(origin);
        self.me.deque.expect(position);
        self.received.push(Parcel { task, victim: self.number as u32, position });
        self.me.attention.mark(HUNGRY);
    }

    /// Has somebody said that there is none, while there is one here?
    fn has_more_to_share(&self) -> bool {
        self.me.attention.bits() & HUNGRY != 0 && !self.received.is_empty()
    }

    /// Does somebody wait for a task, and there is none?
    fn wants_tasks(&self) -> bool {
        let is_wanted = || self.crew.mates().iter().any(|mate| mate.transfer.is_wanted());
        self.received.is_empty() && !self.is_poisoned() && is_wanted()
    }

    /// If a task has panicked, here or elsewhere, all are to know, and nothing more is begun: what a gate has at hand, nobody might
    /// ever take.
    fn share_poison(&mut self, gate: &Gate<'_>, traffic: &mut Traffic) {
        if gate.far.is_poisoned(gate.run) && !self.is_poisoned() {
            self.crew.poison(Box::new(Abandoned));
        }
        if !self.is_poisoned() {
            return;
        }
        self.tell_poison(gate, traffic);
        for Parcel { victim, position, .. } in self.received.drain(..) {
            let victim = &self.crew.mates()[victim as usize];
            victim.deque.deliver(position, None);
            victim.attention.raise(RESULT);
        }
    }

    fn tell_poison(&self, gate: &Gate<'_>, traffic: &mut Traffic) {
        if !std::mem::replace(&mut traffic.is_poison_told, true) {
            gate.far.poison(gate.run);
        }
    }

    /// Send results of tasks that came in to where these came from. If the root is done: its result, or none if it has panicked.
    fn tell_results(&mut self, gate: &Gate<'_>, traffic: &mut Traffic) -> Option<Option<u64>> {
        for at in (0..traffic.imports.len()).rev() {
            let Import { origin, position } = traffic.imports[at];
            let result = match self.me.deque.outcome(position) {
                Outcome::Pending => continue,
                Outcome::Done(value) => Some(value),
                Outcome::Failed => {
                    // Before anybody hears of the failure.
                    self.tell_poison(gate, traffic);
                    None
                }
            };
            traffic.forget_import(at);
            match origin {
                Origin::Root => return Some(result),
                Origin::Rank(rank, slot) => gate.far.deliver(rank, slot, result),
            }
        }
        None
    }

    /// Pass on what has become of tasks that went out.
    fn hear_results(&self, gate: &Gate<'_>, traffic: &mut Traffic) -> bool {
        let mut any = false;
        for (slot, place) in traffic.exports.iter_mut().enumerate() {
            let Some(Export { worker, position, .. }) = *place else { continue };
            let Some(result) = gate.far.arrived(slot) else { continue };
            let victim = &self.crew.mates()[worker as usize];
            victim.deque.deliver(position, result);
            victim.attention.raise(RESULT);
            (*place, any) = (None, true);
        }
        any
    }

    /// Another rank asks: that is an errand.
    fn take_request(&mut self, gate: &Gate<'_>, traffic: &mut Traffic) -> bool {
        if traffic.errand.is_some() {
            return false;
        }
        let Some(request) = gate.far.next_request() else { return false };
        let mut left = Vec::new();
        if self.received.is_empty() && traffic.free_slot().is_some() && !self.is_poisoned() {
            // Those asked first are at the end.
            self.victims.visit(|victim| {
                left.insert(0, victim);
                false
            });
        }
        traffic.errand = Some(Errand { request, left, is_out: false });
        true
    }

    /// Ask one worker after the other, and answer when one has given something or all have refused.
    fn run_errand(&mut self, gate: &Gate<'_>, traffic: &mut Traffic) -> bool {
        let Some(mut errand) = traffic.errand.take() else { return false };
        if errand.is_out {
            let (received, transfer) = (&mut self.received, &self.me.transfer);
            if !transfer.take(|parcel| received.push(parcel)) {
                traffic.errand = Some(errand);
                return false;
            }
            errand.is_out = false;
        }
        while self.received.is_empty() && !errand.is_out {
            let Some(worker) = errand.left.pop() else { break };
            let mate = &self.crew.mates()[worker];
            if mate.transfer.is_wanted() {
                continue;
            }
            self.me.transfer.expect_answer();
            if let Reply::Wait = mate.deque.ask::<W::Task>(self.number) {
                mate.attention.raise(REQUEST);
                errand.is_out = true;
            }
        }
        if errand.is_out {
            traffic.errand = Some(errand);
        } else {
            self.answer_from_afar(gate, traffic, &errand);
        }
        true
    }

    /// Give another rank what is at hand: tasks that came from workers for it, or some that came from other ranks.
    fn answer_from_afar(&mut self, gate: &Gate<'_>, traffic: &mut Traffic, errand: &Errand) {
        let mut tasks = Vec::new();
        while tasks.len() < MOST_TASKS && self.has_task_for_others(traffic) && !self.is_poisoned() {
            let Some(slot) = traffic.free_slot() else { break };
            let Parcel { task, victim, position } = self.received.remove(0);
            gate.far.expect(slot);
            traffic.exports[slot] = Some(Export { worker: victim, position, rank: errand.request.rank });
            tasks.push((task, slot));
        }
        self.statistics.gifts += tasks.len() as u64;
        gate.far.give(errand.request, &tasks);
    }

    /// May the first task at hand go out? The root stays where it is, and what has come from another rank has been found large
    /// enough there, as has what a worker has given.
    fn has_task_for_others(&self, traffic: &Traffic) -> bool {
        let is_root =
            |parcel: &Parcel<W::Task>| parcel.victim == self.number as u32 && traffic.is_root(parcel.position);
        self.received.first().is_some_and(|parcel| !is_root(parcel))
    }

    /// Take in what another rank has answered.
    fn receive_from_afar(&mut self, gate: &Gate<'_>, traffic: &mut Traffic) -> bool {
        let Some(Asked { number, rank, since }) = traffic.asked else { return false };
        let Some(tasks) = gate.far.answer::<W::Task>(number) else { return false };
        traffic.asked = None;
        if tasks.is_empty() {
            self.statistics.failed_steals += 1;
            traffic.note_refusal(gate);
            return true;
        }
        traffic.note_success(rank);
        let nanoseconds = since.elapsed().as_nanos() as u64;
        self.statistics.steals += tasks.len() as u64;
        self.statistics.latency_ns.record(nanoseconds);
        self.statistics.between_ns.record(nanoseconds);
        for (task, slot) in tasks {
            self.let_in(traffic, task, Origin::Rank(rank, slot));
        }
        true
    }
}
