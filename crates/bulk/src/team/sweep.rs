//! A worker's part of a sweep: down the levels to ask, up again to answer. All workers do this at the same time.
//!
//! The requests of a level are dealt out in blocks. Levels with few requests are for the first worker alone, which needs no
//! meeting for them.

use super::desk::{Desk, Terms};
use super::meeting::Meeting;
use super::memory::{LEVELS, Memory, Pair};
use super::plan::BLOCK_HEAD;
use crate::graph::Graph;
use crate::layout::{Element, Ref};
use crate::question::adds_something;
use std::sync::atomic::Ordering;
use tremula_diagrams::Attention;

/// Requests of a level that are too few for several workers: a meeting takes as long as some of them. Estimated.
const NARROW: u64 = 48;

/// What all workers of a rank see of a sweep.
#[derive(Copy, Clone)]
pub struct Sweep<'m> {
    /// The memory.
    pub memory: &'m Memory<'m>,
    /// The relations.
    pub graph: &'m Graph,
    /// Where workers meet.
    pub meeting: Meeting,
    /// How the memory is used.
    pub terms: Terms,
    /// Tells this sweep from others: takers of blocks see by it whether they are the first. An even number.
    pub phase: u32,
    /// On the first worker, who may ask for the end.
    pub attention: Option<&'m Attention>,
}

/// A block, or the end of a list: one more than its number.
type Link = u64;

impl Sweep<'_> {
    /// Is this the first worker of all?
    fn leads(&self) -> bool {
        self.attention.is_some()
    }

    /// Take part. What there was no room for, the same for all workers.
    pub fn run(&self, desk: &mut Desk<'_>) -> u64 {
        let mut full = self.all_levels(Direction::Down, desk);
        if full == 0 {
            full = self.all_levels(Direction::Up, desk);
        }
        desk.end(&self.terms);
        self.meeting.meet(self.memory) | full
    }

    /// All levels in one direction.
    fn all_levels(&self, direction: Direction, desk: &mut Desk<'_>) -> u64 {
        let levels = self.graph.bits();
        let mut done = 0;
        while done < levels {
            let is_narrow = self.is_narrow(direction.level(done, levels));
            if !is_narrow {
                self.take_blocks(direction, direction.level(done, levels), desk);
            } else if self.leads() {
                let end = self.run_narrow(direction, done, desk);
                // Relaxed, here and below: read after a meeting, and written again only after another one.
                self.memory.control(LEVELS[direction as usize]).store(end.into(), Ordering::Relaxed);
            }
            let full = self.meeting.meet(self.memory);
            if full != 0 {
                return full;
            }
            let end = || self.memory.control(LEVELS[direction as usize]).load(Ordering::Relaxed) as u32;
            done = if is_narrow { end() } else { done + 1 };
        }
        0
    }

    /// A run of narrow levels, by the first worker; where it ends.
    fn run_narrow(&self, direction: Direction, mut done: u32, desk: &mut Desk<'_>) -> u32 {
        let levels = self.graph.bits();
        while done < levels && self.is_narrow(direction.level(done, levels)) && !desk.is_given_up() {
            self.take_blocks(direction, direction.level(done, levels), desk);
            done += 1;
        }
        done
    }

    /// Are the requests of a level few? It is over before their number changes.
    fn is_narrow(&self, level: u32) -> bool {
        let (mut block, mut count) = (self.first_block(level), 0);
        while block != 0 && count <= NARROW {
            let words = self.memory.block(block as usize - 1);
            // Relaxed: written before the last meeting.
            count += words[1].load(Ordering::Relaxed);
            block = words[0].load(Ordering::Relaxed);
        }
        count <= NARROW
    }

    fn first_block(&self, level: u32) -> Link {
        // Relaxed: as above.
        self.memory.control(self.memory.plan.heads + level as usize).load(Ordering::Relaxed)
    }

    /// Work on blocks of a level until there are none left.
    fn take_blocks(&self, direction: Direction, level: u32, desk: &mut Desk<'_>) {
        while let Some(block) = self.take_block(direction, level) {
            if desk.is_given_up() {
                return;
            }
            if self.attention.is_some_and(Attention::is_cancelled) {
                desk.stop();
                return;
            }
            let words = self.memory.block(block);
            // Relaxed: written before the last meeting, or by this worker.
            let count = words[1].load(Ordering::Relaxed) as usize;
            for word in &words[BLOCK_HEAD..BLOCK_HEAD + count] {
                let number = word.load(Ordering::Relaxed) as u32;
                match direction {
                    Direction::Down => self.split(desk, level, number),
                    Direction::Up => self.answer(desk, level, number),
                }
            }
        }
    }

    /// The next block of a level that nobody has taken.
    fn take_block(&self, direction: Direction, level: u32) -> Option<usize> {
        let phase = u64::from(self.phase | direction as u32) << 32;
        let cursor = self.memory.control(self.memory.plan.cursors + level as usize);
        let block = |seen: u64| if seen & !0xffff_ffff == phase { seen & 0xffff_ffff } else { self.first_block(level) };
        let next = |seen: u64| {
            let link = block(seen);
            (link != 0).then(|| phase | self.memory.block(link as usize - 1)[0].load(Ordering::Relaxed))
        };
        // Relaxed: only the number of the block passes from one taker to another; blocks are read after a meeting.
        let seen = cursor.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok()?;
        Some(block(seen) as usize - 1)
    }

    /// Ask for the two halves of a request.
    fn split(&self, desk: &mut Desk<'_>, level: u32, number: u32) {
        let (memory, terms) = (self.memory, &self.terms);
        let header = memory.header(number);
        let minus = memory.halves(terms.table, header.minus, level);
        let elements = memory.elements(header.first, header.length);
        let answers = [0, 1].map(|to| {
            desk.candidates.clear();
            if minus[to] != Ref::TRUE.0 {
                for element in elements {
                    // Relaxed: published with the request.
                    self.move_on(desk, element.load(Ordering::Relaxed), level, to, minus[to]);
                }
            }
            desk.ask(terms, minus[to])
        });
        memory.set_pair(number, Pair::Halves, answers);
    }

    /// What an element leaves to be done below `level` where the bit is `to` afterwards.
    #[inline]
    fn move_on(&self, desk: &mut Desk<'_>, element: u64, level: u32, to: usize, minus: u32) {
        let (set, relation) = ((element >> 32) as u32, element as u32);
        let halves = self.memory.halves(self.terms.table, set, level);
        let mut put = |set: u32, relation: u32| {
            let element = Element::new(Ref(set), relation);
            if adds_something(element, Ref(minus)) {
                desk.candidates.push(element.bits());
            }
        };
        if self.graph.level(relation) != level {
            return put(halves[to], relation);
        }
        for from in [0, 1] {
            self.graph.moves(relation, from, to).iter().for_each(|&below| put(halves[from], below));
        }
    }

    /// Answer a request from the answers of its halves.
    fn answer(&self, desk: &mut Desk<'_>, level: u32, number: u32) {
        let (memory, terms) = (self.memory, &self.terms);
        let minus = if terms.twice {
            memory.halves(terms.table, memory.header(number).minus, level)
        } else {
            [Ref::FALSE.0; 2]
        };
        let [low, high] = memory.pair(number, Pair::Halves);
        let ([low, all_low], [high, all_high]) = (memory.sets(low, minus[0]), memory.sets(high, minus[1]));
        let new = desk.make(terms, level, [low, high]);
        let all = if terms.twice { desk.make(terms, level, [all_low, all_high]) } else { new };
        memory.set_pair(number, Pair::Answers, [new, all]);
    }
}

/// Down asks, up answers.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Direction {
    Down = 0,
    Up = 1,
}

impl Direction {
    /// The level that comes after so many others.
    fn level(self, done: u32, levels: u32) -> u32 {
        match self {
            Direction::Down => done,
            Direction::Up => levels - 1 - done,
        }
    }
}
