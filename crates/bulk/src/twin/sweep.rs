//! One sweep: down the levels to ask, up again to answer.
//!
//! A level is three steps: all its requests are split, and what their halves ask goes into batches by owner; owners find or put
//! what they are asked; the answers go back to who has asked. Up again, the same with nodes. So a level takes two exchanges if
//! owners are ranks, however many requests it has. Here they are parts of one machine.

use super::batch::Batches;
use super::nodes::Nodes;
use super::requests::{Answer, Question, Requests};
use crate::graph::Graph;
use crate::layout::{Element, Node, Ref};
use crate::machine::{Grown, Root, Trouble};
use crate::question::{Simplified, simplify};
use tremula_diagrams::Attention;

/// What a sweep is for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// New sets: what is a set already is not looked into.
    Compute,
    /// The same, answered twice: without what is not wanted, and together with it.
    Grow,
    /// All nodes of sets: everything is looked into, down to the terminals.
    Visit,
}

/// A sweep under way.
pub struct Sweep<'a> {
    graph: &'a Graph,
    purpose: Purpose,
    attention: &'a Attention,
    /// The requests so far.
    pub requests: Requests,
}

impl<'a> Sweep<'a> {
    /// About to start.
    pub fn new(graph: &'a Graph, purpose: Purpose, requests: Requests, attention: &'a Attention) -> Sweep<'a> {
        Sweep { graph, purpose, attention, requests }
    }

    /// Go on unless somebody asks for the end.
    fn attend(&self) -> Result<(), Trouble> {
        if self.attention.is_cancelled() { Err(Trouble::Stopped) } else { Ok(()) }
    }

    /// Ask for the roots and for everything below them, level by level.
    pub fn expand(&mut self, nodes: &Nodes, roots: &[Root]) -> Result<Vec<Answer>, Trouble> {
        let asked = roots.iter().map(|root| self.put(nodes, root.elements.clone(), root.minus)).collect();
        let answers = self.answers(asked)?;
        for level in 0..self.graph.bits() {
            self.attend()?;
            let numbers = self.requests.at(level).to_vec();
            let halves = numbers.iter().flat_map(|&number| self.halves(nodes, number, level)).collect();
            for (number, children) in numbers.into_iter().zip(self.answers(halves)?.chunks_exact(2)) {
                self.requests.request_mut(number).children = [children[0], children[1]];
            }
        }
        Ok(answers)
    }

    /// What is to be asked for the two halves of a request.
    fn halves(&self, nodes: &Nodes, number: usize, level: u32) -> [Put; 2] {
        let question = &self.requests.request(number).question;
        let minus = nodes.cofactors(question.minus, level);
        [0, 1].map(|to| {
            let moved = question.elements.iter().flat_map(|&element| self.moved(nodes, element, level, to));
            self.put(nodes, moved.collect(), minus[to])
        })
    }

    /// Have owners answer what is not plain.
    fn answers(&mut self, all: Vec<Put>) -> Result<Vec<Answer>, Trouble> {
        let mut batches = Batches::new(self.requests.owners());
        let mut plain = Vec::with_capacity(all.len());
        for put in all {
            plain.push(match put {
                Put::Plain(sets) => Some(Answer::Known(sets)),
                Put::Open(question, level) => {
                    batches.ask(question.hash(), (question, level));
                    None
                }
            });
        }
        let requests = &mut self.requests;
        let ask = |owner, batch: Vec<(Question, u32)>| {
            batch
                .into_iter()
                .map(|(question, level)| requests.ask(owner, question, level))
                .collect::<Result<Vec<_>, _>>()
        };
        let mut answers = batches.answer(ask)?.into_iter();
        let given =
            |known: Option<Answer>| known.unwrap_or_else(|| answers.next().expect("an answer to each question"));
        Ok(plain.into_iter().map(given).collect())
    }

    /// What an element leaves to be done below `level` where the bit is `to` afterwards.
    fn moved(&self, nodes: &Nodes, element: Element, level: u32, to: usize) -> Vec<Element> {
        let (relation, halves) = (element.relation(), nodes.cofactors(element.set(), level));
        if self.graph.level(relation) != level {
            return vec![Element::new(halves[to], relation)];
        }
        let from = |from: usize| self.graph.moves(relation, from, to).iter().map(move |&below| (from, below));
        from(0).chain(from(1)).map(|(from, below)| Element::new(halves[from], below)).collect()
    }

    /// A question, or its answer, if that is plain.
    fn put(&self, nodes: &Nodes, elements: Vec<Element>, minus: Ref) -> Put {
        let elements = match simplify(elements, minus, self.purpose == Purpose::Visit) {
            Simplified::Plain(union) => return Put::Plain(Grown::plain(union, minus)),
            Simplified::Open(elements) => elements,
        };
        let own = |element: &Element| nodes.level(element.set()).min(self.graph.level(element.relation()));
        let level = elements.iter().map(own).min().expect("some element").min(nodes.level(minus));
        Put::Open(Question { elements, minus }, level)
    }

    /// Answer all requests, from the last level up, with nodes of `nodes`.
    pub fn reduce(&mut self, nodes: &mut Nodes) -> Result<(), Trouble> {
        for level in (0..self.graph.bits()).rev() {
            self.attend()?;
            let numbers = self.requests.at(level).to_vec();
            let children =
                |&number: &usize| self.requests.request(number).children.map(|child| self.requests.resolve(child));
            let wanted = numbers.iter().map(children).collect::<Vec<_>>();
            let new = self.make(nodes, level, wanted.iter().map(|[low, high]| [low.new, high.new]))?;
            let all = match self.purpose {
                Purpose::Grow => self.make(nodes, level, wanted.iter().map(|[low, high]| [low.all, high.all]))?,
                Purpose::Compute | Purpose::Visit => new.clone(),
            };
            for ((number, new), all) in numbers.into_iter().zip(new).zip(all) {
                self.requests.request_mut(number).result = Grown { new, all };
            }
        }
        Ok(())
    }

    /// Have owners find or put nodes.
    fn make(
        &self,
        nodes: &mut Nodes,
        level: u32,
        children: impl Iterator<Item = [Ref; 2]>,
    ) -> Result<Vec<Ref>, Trouble> {
        let mut batches = Batches::new(self.requests.owners());
        children.for_each(|[low, high]| batches.ask(Node::new(level, low, high).hash(), [low, high]));
        batches.answer(|_, batch| batch.into_iter().map(|[low, high]| nodes.make(level, low, high)).collect())
    }
}

/// What becomes of a question before anybody is asked.
enum Put {
    /// Its answer is plain.
    Plain(Grown),
    /// It is to be asked at this level.
    Open(Question, u32),
}
