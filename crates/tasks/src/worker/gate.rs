//! A worker as the gate of its pool: it runs no tasks, but carries them between the pool and other ranks.

use super::{ORDERS, Work, Worker};
use crate::attention::{GIFT, HUNGRY, RESULT};
use crate::cells::{Outcome, Parcel};
use crate::crew::{Abandoned, Mate};
use crate::deque::{Deque, Private};
use crate::far::Request;
use crate::gate::{Asked, Gate, Incoming, Origin, Outgoing, Traffic};
use crate::plain::Word;

/// Attention bits that wake a gate.
const ALERTS: u32 = ORDERS | RESULT;

impl<W: Work> Worker<'_, W, Private> {
    /// Be the gate until the run is over. The answer, on the rank that has the root.
    pub(crate) fn keep_gate(&mut self, gate: &mut Gate<'_>, root: Option<W::Task>) -> Option<W::Answer> {
        let mut traffic = Traffic::new();
        // What is in a gate's deque is for whoever wants it.
        self.to_share = usize::MAX;
        root.into_iter().for_each(|root| self.let_in(&mut traffic, root, Origin::Root));
        loop {
            self.me.attention.lower(RESULT | GIFT);
            self.attend();
            if let Some(end) = self.tell_results(gate, &mut traffic) {
                gate.far.end(gate.run);
                if end.is_none() {
                    // Perhaps on another rank, of which nobody here has heard.
                    self.crew.poison(Box::new(Abandoned));
                }
                return end.map(W::Answer::from_word);
            }
            if gate.far.is_over(gate.run) {
                return None;
            }
            let is_busy = self.hear_results(gate, &mut traffic)
                | self.answer_from_afar(gate, &mut traffic)
                | self.receive_from_afar(gate, &mut traffic)
                | (self.wants_tasks() && traffic.ask(gate))
                | self.has_more_to_share();
            if !is_busy {
                self.me.attention.doze(ALERTS, traffic.patience());
            }
        }
    }

    /// A task has come, for the first worker who wants one.
    fn let_in(&mut self, traffic: &mut Traffic, task: W::Task, origin: Origin) {
        self.me.deque.push(&mut self.own, task);
        traffic.incoming.push(Incoming { origin, is_told: false });
        self.me.attention.mark(HUNGRY);
    }

    /// Has somebody said that there is none, while there is one here?
    fn has_more_to_share(&self) -> bool {
        self.me.attention.bits() & HUNGRY != 0 && self.me.deque.spare(&self.own) + self.received.len() > 0
    }

    /// Does somebody wait for a task, and there is none?
    fn wants_tasks(&self) -> bool {
        let is_wanted = |(number, mate): (usize, &Mate<Private>)| number != self.number && mate.transfer.is_wanted();
        self.me.deque.spare(&self.own) + self.received.len() == 0 && self.crew.mates().iter().enumerate().any(is_wanted)
    }

    /// Send results of tasks that came in to where these came from. If the root is done: its result, or none if it has panicked.
    fn tell_results(&mut self, gate: &Gate<'_>, traffic: &mut Traffic) -> Option<Option<u64>> {
        for (position, incoming) in traffic.incoming.iter_mut().enumerate() {
            let result = match self.me.deque.outcome(&self.own, position) {
                _ if incoming.is_told => continue,
                Outcome::Pending => continue,
                Outcome::Done(value) => Some(value),
                Outcome::Failed => None,
            };
            match incoming.origin {
                Origin::Root => return Some(result),
                Origin::Rank(rank, slot) => gate.far.deliver(rank, slot, result),
            }
            incoming.is_told = true;
        }
        while traffic.incoming.last().is_some_and(|incoming| incoming.is_told) {
            traffic.incoming.pop();
            self.me.deque.forget_youngest(&mut self.own);
        }
        None
    }

    /// Pass on what has become of tasks that went out.
    fn hear_results(&self, gate: &Gate<'_>, traffic: &mut Traffic) -> bool {
        let mut any = false;
        for (slot, place) in traffic.outgoing.iter_mut().enumerate() {
            let Some(Outgoing { worker, position, .. }) = *place else { continue };
            let Some(result) = gate.far.arrived(slot) else { continue };
            let victim = &self.crew.mates()[worker as usize];
            victim.deque.deliver(position, result);
            victim.attention.raise(RESULT);
            (*place, any) = (None, true);
        }
        any
    }

    /// Another rank has asked: give it what can be had here.
    fn answer_from_afar(&mut self, gate: &Gate<'_>, traffic: &mut Traffic) -> bool {
        let Some(request) = gate.far.next_request() else { return false };
        let spare = self.me.deque.spare(&self.own) + self.received.len();
        if spare == 0 {
            let mut victims = std::mem::take(&mut self.victims);
            victims.visit(|victim| self.obtain_from(victim));
            self.victims = victims;
        }
        let wanted = Traffic::wanted(&self.tactics, self.me.deque.spare(&self.own) + self.received.len());
        let tasks: Vec<_> = (0..wanted).map_while(|_| self.let_out(gate, traffic, request)).collect();
        self.statistics.gifts += tasks.len() as u64;
        gate.far.give(request, &tasks);
        true
    }

    /// The oldest task and a slot for its result, if it is large enough to travel.
    fn let_out(&mut self, gate: &Gate<'_>, traffic: &mut Traffic, request: Request) -> Option<(W::Task, usize)> {
        let slot = traffic.free_slot()?;
        if !self.has_task_of(self.tactics.least_far) {
            return None;
        }
        let Parcel { task, victim, position } = self.oldest_task(self.number)?;
        gate.far.expect(slot);
        traffic.outgoing[slot] = Some(Outgoing { worker: victim, position, rank: request.rank });
        Some((task, slot))
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
        traffic.note_success();
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
