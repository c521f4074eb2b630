//! The table whose parts are changed by their owners alone.
//!
//! A node belongs to the rank that its hash picks. Who wants nodes found or put sends them there, many in a message, and gets
//! their positions back in the same order. Owners work whenever they wait themselves: for answers, or in [`settle`](NodeTable::settle)
//! for ranks that have more to ask.
//!
//! - O1: index and nodes of a rank are written by that rank only, so that equal nodes meet without any atomic operation.
//! - O2: a node is complete before its position leaves the rank.
//! - O3: an owner answers what a rank has asked in the order in which it was asked.
//!
//! Owners also remember [results of operations](crate::OwnedResults), which come by the same messages.

use crate::Node;
use crate::contract::{Found, Full, NodeTable};
use crate::letters::{self, Letter, MOST};
use crate::owned_results::OwnedResults;
use crate::remembered::Remembered;
use crate::shape::{Entry, NODE_WORDS, Position, Shape, Sizes, hash};
use crate::traffic::{Errands, Reach};
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::thread;
use tremula_fabric::mail::Mail;
use tremula_fabric::{Fabric, FabricError, Reduction, Segment};

/// Words on their way from one rank to another.
const RING: usize = 1 << 14;

/// A table over all ranks. One thread of each uses it.
pub struct Owned<S: Segment> {
    shape: Shape,
    nodes: S,
    mail: Mail<S>,
    /// By rank.
    reaches: Vec<Reach>,
    part: Part,
    /// How often each rank has said that it has no more to ask.
    settled: Vec<u64>,
    errands: Errands,
    pub(crate) remembered: Remembered,
}

/// What a rank owns beside its nodes.
#[derive(Clone, Debug)]
pub struct Part {
    index: Vec<u64>,
    /// Nodes that were put.
    given: usize,
}

/// What a rank has asked others for.
pub(crate) struct Asked<R> {
    /// By owner: places among the results, in the order of the requests.
    waiting: Vec<VecDeque<usize>>,
    /// Nothing where the owner has nothing to say, or has not answered yet.
    results: Vec<Option<R>>,
    /// Answers that have not come.
    missing: usize,
}

/// What a rank waits for while it works for others.
pub(crate) enum Expected<'a> {
    Nothing,
    Nodes(&'a mut Asked<Found>),
    Results(&'a mut Asked<u64>),
}

/// What owners can be asked to do with a thing.
pub(crate) struct Errand<S: Segment, T, R> {
    /// What says who the owner is.
    pub(crate) key: fn(T) -> [u64; 2],
    /// A letter to the owner of some.
    pub(crate) letter: fn(&[T]) -> Vec<u64>,
    /// Done by this rank, for those that it owns.
    pub(crate) here: fn(&mut Owned<S>, T) -> Option<R>,
    pub(crate) count: fn(&mut Errands) -> &mut [u64; 3],
}

impl<S: Segment> Owned<S> {
    /// *Collective.* An empty table, with so much on each rank.
    ///
    /// Returns [`FabricError::NoMemory`] if one of them has not got it, or positions cannot number all nodes.
    pub fn allocate<F: Fabric<Segment = S>>(fabric: &F, sizes: Sizes) -> Result<Owned<S>, FabricError> {
        Owned::allocate_with_results(fabric, sizes, 0)
    }

    /// *Collective.* As [`Owned::allocate`], with room for so many [results](Owned::results) of operations on each rank.
    pub fn allocate_with_results<F: Fabric<Segment = S>>(
        fabric: &F,
        sizes: Sizes,
        results: usize,
    ) -> Result<Owned<S>, FabricError> {
        let shape = Shape::on(fabric, sizes)?;
        let mut index: Vec<u64> = Vec::new();
        let is_there = index.try_reserve_exact(sizes.slots).is_ok();
        let remembered = Remembered::new(fabric.ranks(), results).filter(|_| is_there);
        let mut without = [if remembered.is_some() { u64::MAX } else { fabric.rank() as u64 }];
        fabric.all_reduce(Reduction::Min, &mut without)?;
        let Some(remembered) = remembered.filter(|_| without == [u64::MAX]) else {
            let words = sizes.slots.saturating_add(results);
            return Err(FabricError::NoMemory { rank: without[0] as usize, words });
        };
        index.resize(sizes.slots, 0);
        Ok(Owned {
            shape,
            nodes: fabric.allocate(sizes.nodes * NODE_WORDS)?,
            mail: Mail::open(fabric, RING)?,
            reaches: Reach::of_all(fabric)?,
            part: Part { index, given: 0 },
            settled: vec![0; fabric.ranks()],
            errands: Errands::default(),
            remembered,
        })
    }

    /// The results that owners remember.
    pub fn results(&mut self) -> OwnedResults<'_, S> {
        OwnedResults(self)
    }

    /// What this rank has asked for.
    pub fn errands(&self) -> &Errands {
        &self.errands
    }

    /// Do what this rank owns, and send the rest to its owners; what came of it so far.
    pub(crate) fn dispatch<T: Copy, R: Clone>(&mut self, things: &[T], errand: &Errand<S, T, R>) -> Asked<R> {
        let ranks = self.shape.ranks;
        let mut asked = Asked::new(ranks, things.len());
        let mut letters: Vec<Vec<T>> = vec![Vec::new(); ranks];
        for (result, &thing) in things.iter().enumerate() {
            let owner = self.shape.place_of(hash((errand.key)(thing))).rank;
            (errand.count)(&mut self.errands)[self.reaches[owner] as usize] += 1;
            if owner == self.mail.rank() {
                asked.take(result, (errand.here)(self, thing));
                continue;
            }
            asked.waiting[owner].push_back(result);
            letters[owner].push(thing);
            if letters[owner].len() == MOST {
                self.send(owner, &(errand.letter)(&letters[owner]));
                letters[owner].clear();
            }
        }
        for (owner, things) in letters.iter().enumerate().filter(|(_, things)| !things.is_empty()) {
            self.send(owner, &(errand.letter)(things));
        }
        asked
    }

    fn send(&mut self, owner: usize, letter: &[u64]) {
        self.errands.messages[self.reaches[owner] as usize] += 1;
        self.mail.send(owner, letter);
    }

    /// Has everything left this rank?
    pub(crate) fn is_sent(&self) -> bool {
        self.mail.is_sent()
    }

    /// Do what others have asked for, and take what they have answered.
    pub(crate) fn work(&mut self, expected: &mut Expected) {
        let mut arrived: Vec<(usize, Letter)> = Vec::new();
        let any = self.mail.receive(&mut |from, words| {
            let mut understood = 0;
            while let Some((letter, length)) = letters::read(&words[understood..]) {
                arrived.push((from, letter));
                understood += length;
            }
            understood
        });
        arrived.into_iter().for_each(|(from, letter)| self.take_letter(from, letter, expected));
        self.mail.help();
        if !any {
            self.mail.check();
            thread::yield_now();
        }
    }

    fn take_letter(&mut self, from: usize, letter: Letter, expected: &mut Expected) {
        match (letter, expected) {
            (Letter::Settled, _) => self.settled[from] += 1,
            (Letter::Request(nodes), _) => {
                let found: Vec<Option<Found>> = nodes.into_iter().map(|node| self.find_or_put_here(node)).collect();
                self.mail.send(from, &letters::answer(&found));
            }
            (Letter::Remember(results), _) => {
                results.into_iter().for_each(|(key, result)| self.remembered.put(key, result));
            }
            (Letter::Recall(keys), _) => {
                let results: Vec<Option<u64>> = keys.into_iter().map(|key| self.remembered.get(key)).collect();
                self.mail.send(from, &letters::recalled(&results));
            }
            (Letter::Answer(found), Expected::Nodes(asked)) => asked.take_all(from, found),
            (Letter::Recalled(results), Expected::Results(asked)) => asked.take_all(from, results),
            (Letter::Answer(_) | Letter::Recalled(_), _) => unreachable!("answers come to those who wait for them"),
        }
    }

    /// Find or put a node that belongs to this rank; nothing if there is no room.
    fn find_or_put_here(&mut self, node: Node) -> Option<Found> {
        let hash = hash(node);
        let (first, slots) = (self.shape.place_of(hash).offset, self.part.index.len());
        for slot in (first..slots).chain(0..first) {
            let entry = Entry(self.part.index[slot]);
            match entry.position() {
                Some(position) if entry.may_be(hash) && self.own_node(position) == node => {
                    return Some(Found { position, new: false });
                }
                Some(_) => {}
                None => {
                    let position = self.put_here(node)?;
                    self.part.index[slot] = Entry::new(hash, position).0;
                    return Some(Found { position, new: true });
                }
            }
        }
        None
    }

    fn own_node(&self, position: Position) -> Node {
        let first = self.shape.node_place(position).offset;
        // Relaxed: written by this thread.
        std::array::from_fn(|word| self.nodes.local()[first + word].load(Ordering::Relaxed))
    }

    fn put_here(&mut self, node: Node) -> Option<Position> {
        let number = self.part.given;
        if number == self.shape.sizes.nodes {
            return None;
        }
        self.part.given += 1;
        for (word, new) in self.nodes.local()[number * NODE_WORDS..].iter().zip(node) {
            // Release: with the message that tells the position, whoever reads the node there sees it (O2).
            word.store(new, Ordering::Release);
        }
        Some(self.shape.position(self.nodes.rank(), number))
    }
}

impl<S: Segment> NodeTable for Owned<S> {
    type Kept = Part;

    /// Returns when all owners have answered, which they do while they wait themselves.
    fn find_or_put(&mut self, nodes: &[Node]) -> Result<Vec<Found>, Full> {
        let errand = Errand {
            key: |node| node,
            letter: letters::request,
            here: Owned::find_or_put_here,
            count: |errands| &mut errands.nodes,
        };
        let mut asked = self.dispatch(nodes, &errand);
        while asked.is_waiting() {
            self.work(&mut Expected::Nodes(&mut asked));
        }
        asked.into_results().into_iter().map(|found| found.ok_or(Full)).collect()
    }

    fn node(&self, position: Position) -> Result<Node, FabricError> {
        let mut node = [0; NODE_WORDS];
        self.nodes.get(self.shape.node_place(position), &mut node)?;
        Ok(node)
    }

    /// Work for others until each rank has come here as often as this one: all that was asked for before is done.
    fn settle(&mut self) {
        let me = self.mail.rank();
        self.settled[me] += 1;
        let others = (0..self.shape.ranks).filter(|&rank| rank != me);
        others.for_each(|rank| self.mail.send(rank, &[letters::SETTLED]));
        while self.settled.iter().any(|&times| times < self.settled[me]) || !self.mail.is_sent() {
            self.work(&mut Expected::Nothing);
        }
    }

    /// Messages, and what this rank owns itself.
    fn requests(&self) -> [u64; 3] {
        let Errands { nodes, results, messages } = self.errands;
        let own = nodes[Reach::Own as usize] + results[Reach::Own as usize];
        [own, messages[Reach::Host as usize], messages[Reach::Far as usize]]
    }

    fn checkpoint(&self) -> Part {
        self.part.clone()
    }

    fn restore(&mut self, checkpoint: &Part) {
        self.part.clone_from(checkpoint);
    }
}

impl<R: Clone> Asked<R> {
    fn new(ranks: usize, things: usize) -> Asked<R> {
        Asked { waiting: vec![VecDeque::new(); ranks], results: vec![None; things], missing: things }
    }

    pub(crate) fn is_waiting(&self) -> bool {
        self.missing > 0
    }

    /// What owners have said, when all have.
    pub(crate) fn into_results(self) -> Vec<Option<R>> {
        self.results
    }

    fn take(&mut self, result: usize, answer: Option<R>) {
        self.results[result] = answer;
        self.missing -= 1;
    }

    /// Answers come in the order of the requests (O3).
    fn take_all(&mut self, owner: usize, answers: Vec<Option<R>>) {
        for one in answers {
            let result = self.waiting[owner].pop_front().expect("an answer to a request");
            self.take(result, one);
        }
    }
}
