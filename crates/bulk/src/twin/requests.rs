//! The requests of a sweep, each once, and those of the sweeps before it that are still of use.

use crate::layout::{Element, Ref};
use crate::machine::{Grown, Part, Trouble};
use crate::shares::Shares;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;
use std::rc::Rc;

/// What a request asks for: elements in ascending order, each once, and what to take away.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Question {
    /// Sets and relations.
    pub elements: Vec<Element>,
    /// What is not wanted.
    pub minus: Ref,
}

impl Question {
    /// What names its owner.
    pub fn hash(&self) -> u64 {
        FxBuildHasher.hash_one(self)
    }
}

/// Known at once, or to be answered by a request.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The sets.
    Known(Grown),
    /// The request with this number.
    Asked(usize),
}

/// A question under way.
#[derive(Clone, Debug)]
pub struct Request {
    /// What is asked.
    pub question: Rc<Question>,
    /// Where the bit of the request's level is 0, and where it is 1.
    pub children: [Answer; 2],
    /// The sets, when the levels below are done.
    pub result: Grown,
}

/// All requests, by number, and those of the present sweep by level.
pub struct Requests {
    requests: Vec<Request>,
    /// By owner.
    unique: Vec<FxHashMap<Rc<Question>, usize>>,
    by_level: Vec<Vec<usize>>,
    elements: usize,
    /// Requests of earlier sweeps, and their elements: they have their answers.
    past: (usize, usize),
    shares: Shares,
}

impl Requests {
    /// No requests, on so many levels, with so many owners.
    pub fn new(levels: u32, owners: usize, shares: Shares) -> Requests {
        let (by_level, unique) = (vec![Vec::new(); levels as usize], vec![FxHashMap::default(); owners]);
        Requests { requests: Vec::new(), unique, by_level, elements: 0, past: (0, 0), shares }
    }

    /// How many owners there are.
    pub fn owners(&self) -> usize {
        self.unique.len()
    }

    /// A new sweep begins: all requests are of the past.
    pub fn begin(&mut self) {
        self.past = (self.requests.len(), self.elements);
        self.by_level.iter_mut().for_each(Vec::clear);
    }

    /// Are there requests of earlier sweeps?
    pub fn has_past(&self) -> bool {
        self.past.0 > 0
    }

    /// Is there no more than half of the room left for a sweep?
    pub fn is_crowded(&self) -> bool {
        self.requests.len() > self.shares.requests / 2 || self.elements > self.shares.elements / 2
    }

    /// The request for a question at its level, new or not, as its owner knows it.
    pub fn ask(&mut self, owner: usize, question: Question, level: u32) -> Result<Answer, Trouble> {
        if let Some(&number) = self.unique[owner].get(&question) {
            return Ok(Answer::Asked(number));
        }
        self.elements += question.elements.len();
        if self.requests.len() >= self.shares.requests || self.elements > self.shares.elements {
            return Err(Trouble::Full(Part::Requests));
        }
        let (number, question) = (self.requests.len(), Rc::new(question));
        self.unique[owner].insert(question.clone(), number);
        let unknown = Grown::plain(Ref::FALSE, Ref::FALSE);
        self.requests.push(Request { question, children: [Answer::Known(unknown); 2], result: unknown });
        self.by_level[level as usize].push(number);
        Ok(Answer::Asked(number))
    }

    /// The requests of a level. None are added to it once those of levels above are answered.
    pub fn at(&self, level: u32) -> &[usize] {
        &self.by_level[level as usize]
    }

    /// A request.
    pub fn request(&self, number: usize) -> &Request {
        &self.requests[number]
    }

    /// A request, to be answered.
    pub fn request_mut(&mut self, number: usize) -> &mut Request {
        &mut self.requests[number]
    }

    /// The sets of an answer whose level is done.
    pub fn resolve(&self, answer: Answer) -> Grown {
        match answer {
            Answer::Known(sets) => sets,
            Answer::Asked(number) => self.requests[number].result,
        }
    }

    /// How many there are of the present sweep, and how many elements they have.
    pub fn size(&self) -> (usize, usize) {
        (self.requests.len() - self.past.0, self.elements - self.past.1)
    }
}
