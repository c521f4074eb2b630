//! The table whose parts are changed by their owners alone.
//!
//! A node belongs to the rank that its hash picks. Who wants nodes found or put sends them there, many in a message, and gets
//! their positions back in the same order. Owners work whenever they wait themselves: for answers, or in [`settle`](NodeTable::settle)
//! for ranks that have more to ask.
//!
//! - O1: index and nodes of a rank are written by that rank only, so that equal nodes meet without any atomic operation.
//! - O2: a node is complete before its position leaves the rank.
//! - O3: an owner answers what a rank has asked in the order in which it was asked.

use crate::Node;
use crate::contract::{Found, Full, NodeTable};
use crate::letters::{self, Letter, MOST_NODES};
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
}

/// What a rank owns beside its nodes.
#[derive(Clone, Debug)]
pub struct Part {
    index: Vec<u64>,
    /// Nodes that were put.
    given: usize,
}

/// What a rank has asked others for.
struct Asked {
    /// By owner: places among the results, in the order of the requests.
    waiting: Vec<VecDeque<usize>>,
    /// Nothing where there is no room, or no answer yet.
    results: Vec<Option<Found>>,
    /// Answers that have not come.
    missing: usize,
}

impl<S: Segment> Owned<S> {
    /// *Collective.* An empty table, with so much on each rank.
    ///
    /// Returns [`FabricError::NoMemory`] if one of them has not got it, or positions cannot number all nodes.
    pub fn allocate<F: Fabric<Segment = S>>(fabric: &F, sizes: Sizes) -> Result<Owned<S>, FabricError> {
        let shape = Shape::on(fabric, sizes)?;
        let mut index: Vec<u64> = Vec::new();
        let mut is_missing = [u64::from(index.try_reserve_exact(sizes.slots).is_err())];
        fabric.all_reduce(Reduction::Max, &mut is_missing)?;
        if is_missing != [0] {
            return Err(FabricError::NoMemory { rank: fabric.rank(), words: sizes.slots });
        }
        index.resize(sizes.slots, 0);
        Ok(Owned {
            shape,
            nodes: fabric.allocate(sizes.nodes * NODE_WORDS)?,
            mail: Mail::open(fabric, RING)?,
            reaches: Reach::of_all(fabric)?,
            part: Part { index, given: 0 },
            settled: vec![0; fabric.ranks()],
            errands: Errands::default(),
        })
    }

    /// What this rank has asked for.
    pub fn errands(&self) -> &Errands {
        &self.errands
    }

    fn ask(&mut self, owner: usize, nodes: &mut Vec<Node>) {
        self.errands.messages[self.reaches[owner] as usize] += 1;
        self.mail.send(owner, &letters::request(nodes));
        nodes.clear();
    }

    /// Do what others have asked for, and take what they have answered.
    fn work(&mut self, mut asked: Option<&mut Asked>) {
        let mut arrived: Vec<(usize, Letter)> = Vec::new();
        let any = self.mail.receive(&mut |from, words| {
            let mut understood = 0;
            while let Some((letter, length)) = letters::read(&words[understood..]) {
                arrived.push((from, letter));
                understood += length;
            }
            understood
        });
        for (from, letter) in arrived {
            match letter {
                Letter::Settled => self.settled[from] += 1,
                Letter::Answer(found) => {
                    let asked = asked.as_deref_mut().expect("answers come to those who wait for them");
                    asked.take_all(from, found);
                }
                Letter::Request(nodes) => {
                    let found: Vec<Option<Found>> = nodes.into_iter().map(|node| self.find_or_put_here(node)).collect();
                    self.mail.send(from, &letters::answer(&found));
                }
            }
        }
        self.mail.help();
        if !any {
            self.mail.check();
            thread::yield_now();
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
        let ranks = self.shape.ranks;
        let waiting = vec![VecDeque::new(); ranks];
        let mut asked = Asked { waiting, results: vec![None; nodes.len()], missing: nodes.len() };
        let mut letters: Vec<Vec<Node>> = vec![Vec::new(); ranks];
        for (result, &node) in nodes.iter().enumerate() {
            let owner = self.shape.place_of(hash(node)).rank;
            self.errands.nodes[self.reaches[owner] as usize] += 1;
            if owner == self.mail.rank() {
                asked.take(result, self.find_or_put_here(node));
                continue;
            }
            asked.waiting[owner].push_back(result);
            letters[owner].push(node);
            if letters[owner].len() == MOST_NODES {
                self.ask(owner, &mut letters[owner]);
            }
        }
        for (owner, nodes) in letters.iter_mut().enumerate().filter(|(_, nodes)| !nodes.is_empty()) {
            self.ask(owner, nodes);
        }
        while asked.missing > 0 {
            self.work(Some(&mut asked));
        }
        asked.results.into_iter().map(|found| found.ok_or(Full)).collect()
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
            self.work(None);
        }
    }

    /// Messages, and nodes of this rank's own.
    fn requests(&self) -> [u64; 3] {
        let Errands { nodes, messages } = self.errands;
        [nodes[Reach::Own as usize], messages[Reach::Host as usize], messages[Reach::Far as usize]]
    }

    fn checkpoint(&self) -> Part {
        self.part.clone()
    }

    fn restore(&mut self, checkpoint: &Part) {
        self.part.clone_from(checkpoint);
    }
}

impl Asked {
    fn take(&mut self, result: usize, found: Option<Found>) {
        self.results[result] = found;
        self.missing -= 1;
    }

    /// Answers come in the order of the requests (O3).
    fn take_all(&mut self, owner: usize, found: Vec<Option<Found>>) {
        for one in found {
            let result = self.waiting[owner].pop_front().expect("an answer to a request");
            self.take(result, one);
        }
    }
}
