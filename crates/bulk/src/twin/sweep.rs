//! One sweep: down the levels to ask, up again to answer.

use super::nodes::Nodes;
use super::requests::{Answer, Question, Requests};
use crate::graph::Graph;
use crate::layout::{Element, Ref};
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
        let ask = |root: &Root| self.ask(nodes, root.elements.clone(), root.minus);
        let answers = roots.iter().map(ask).collect::<Result<_, _>>()?;
        for level in 0..self.graph.bits() {
            self.attend()?;
            for at in 0..self.requests.at(level).len() {
                let number = self.requests.at(level)[at];
                self.split(nodes, number, level)?;
            }
        }
        Ok(answers)
    }

    /// Ask for the two halves of a request.
    fn split(&mut self, nodes: &Nodes, number: usize, level: u32) -> Result<(), Trouble> {
        let question = self.requests.request(number).question.clone();
        let minus = nodes.cofactors(question.minus, level);
        for to in [0, 1] {
            let moved = question.elements.iter().flat_map(|&element| self.moved(nodes, element, level, to));
            let answer = self.ask(nodes, moved.collect(), minus[to])?;
            self.requests.request_mut(number).children[to] = answer;
        }
        Ok(())
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

    /// The answer to a question, if it is plain; else the request for it.
    fn ask(&mut self, nodes: &Nodes, elements: Vec<Element>, minus: Ref) -> Result<Answer, Trouble> {
        let elements = match simplify(elements, minus, self.purpose == Purpose::Visit) {
            Simplified::Plain(union) => return Ok(Answer::Known(Grown::plain(union, minus))),
            Simplified::Open(elements) => elements,
        };
        let own = |element: &Element| nodes.level(element.set()).min(self.graph.level(element.relation()));
        let level = elements.iter().map(own).min().expect("some element").min(nodes.level(minus));
        self.requests.ask(Question { elements, minus }, level)
    }

    /// Answer all requests, from the last level up, with nodes of `nodes`.
    pub fn reduce(&mut self, nodes: &mut Nodes) -> Result<(), Trouble> {
        for level in (0..self.graph.bits()).rev() {
            self.attend()?;
            for at in 0..self.requests.at(level).len() {
                let number = self.requests.at(level)[at];
                let [low, high] = self.requests.request(number).children.map(|child| self.requests.resolve(child));
                let new = nodes.make(level, low.new, high.new)?;
                let all = if self.purpose == Purpose::Grow { nodes.make(level, low.all, high.all)? } else { new };
                self.requests.request_mut(number).result = Grown { new, all };
            }
        }
        Ok(())
    }
}
