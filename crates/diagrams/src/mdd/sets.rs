//! Operations on two sets: union, intersection and difference.

use super::core::{Core, with_stack};
use crate::error::Error;
use tremula_table::{Branch, Forest, MemoKind, Operation, Question};

const UNION: Operation = Operation::on_nodes(0);
const INTERSECTION: Operation = Operation::on_nodes(1);
const MINUS: Operation = Operation::on_nodes(2);
/// Numbers of operations on two nodes that other files may use.
pub const FIRST_FREE: u32 = 3;

impl Core {
    /// What is in one of two sets or in both.
    pub fn union(&mut self, a: u32, b: u32, level: usize) -> Result<u32, Error> {
        if a == b || b == Forest::EMPTY {
            return Ok(a);
        }
        if a == Forest::EMPTY {
            return Ok(b);
        }
        let question = Question { node: a.min(b), other: a.max(b), operation: UNION };
        if let Some(known) = self.forest.recall(MemoKind::Sets, &question) {
            return Ok(known);
        }
        let result = with_stack(level, || self.merge(question.node, question.other, level))?;
        self.forest.remember(MemoKind::Sets, &question, result);
        Ok(result)
    }

    fn merge(&mut self, a: u32, b: u32, level: usize) -> Result<u32, Error> {
        let (left, right) = (self.forest.shape(a), self.forest.shape(b));
        let (mut i, mut j) = (0, 0);
        let (mut like_a, mut like_b) = (true, true);
        while i < left.len && j < right.len {
            let (x, y) = (self.forest.branch(&left, i), self.forest.branch(&right, j));
            let branch = match x.value.cmp(&y.value) {
                std::cmp::Ordering::Less => x,
                std::cmp::Ordering::Greater => y,
                std::cmp::Ordering::Equal => Branch { value: x.value, child: self.union(x.child, y.child, level + 1)? },
            };
            like_a &= branch == x;
            like_b &= branch == y;
            i += usize::from(x.value <= y.value);
            j += usize::from(y.value <= x.value);
            self.frames[level].branches.push(branch);
        }
        if (like_a && j == right.len) || (like_b && i == left.len) {
            self.frames[level].branches.clear();
            return Ok(if like_a && j == right.len { a } else { b });
        }
        for (node, shape, from) in [(a, left, i), (b, right, j)] {
            debug_assert!(node > Forest::TERMINAL);
            for n in from..shape.len {
                let branch = self.forest.branch(&shape, n);
                self.frames[level].branches.push(branch);
            }
        }
        self.pack(level)
    }

    /// What is in both sets.
    pub fn intersection(&mut self, a: u32, b: u32, level: usize) -> Result<u32, Error> {
        if a == b {
            return Ok(a);
        }
        if a == Forest::EMPTY || b == Forest::EMPTY {
            return Ok(Forest::EMPTY);
        }
        let question = Question { node: a.min(b), other: a.max(b), operation: INTERSECTION };
        if let Some(known) = self.forest.recall(MemoKind::Sets, &question) {
            return Ok(known);
        }
        let result = with_stack(level, || self.common(a, b, level))?;
        self.forest.remember(MemoKind::Sets, &question, result);
        Ok(result)
    }

    fn common(&mut self, a: u32, b: u32, level: usize) -> Result<u32, Error> {
        let (left, right) = (self.forest.shape(a), self.forest.shape(b));
        let (mut i, mut j) = (0, 0);
        while i < left.len && j < right.len {
            let (x, y) = (self.forest.branch(&left, i), self.forest.branch(&right, j));
            if x.value == y.value {
                let child = self.intersection(x.child, y.child, level + 1)?;
                self.add_branch(level, x.value, child);
            }
            i += usize::from(x.value <= y.value);
            j += usize::from(y.value <= x.value);
        }
        self.pack(level)
    }

    /// What is in the first set and not in the second.
    pub fn minus(&mut self, a: u32, b: u32, level: usize) -> Result<u32, Error> {
        if a == b || a == Forest::EMPTY {
            return Ok(Forest::EMPTY);
        }
        if b == Forest::EMPTY {
            return Ok(a);
        }
        let question = Question { node: a, other: b, operation: MINUS };
        if let Some(known) = self.forest.recall(MemoKind::Sets, &question) {
            return Ok(known);
        }
        let result = with_stack(level, || self.remainder(a, b, level))?;
        self.forest.remember(MemoKind::Sets, &question, result);
        Ok(result)
    }

    fn remainder(&mut self, a: u32, b: u32, level: usize) -> Result<u32, Error> {
        let (left, right) = (self.forest.shape(a), self.forest.shape(b));
        let mut j = 0;
        for i in 0..left.len {
            let x = self.forest.branch(&left, i);
            while j < right.len && self.forest.branch(&right, j).value < x.value {
                j += 1;
            }
            let taken = (j < right.len).then(|| self.forest.branch(&right, j)).filter(|y| y.value == x.value);
            let child = match taken {
                Some(y) => self.minus(x.child, y.child, level + 1)?,
                None => x.child,
            };
            self.add_branch(level, x.value, child);
        }
        self.pack(level)
    }

    /// Give the node in the making at `level` another child, unless it is empty.
    #[inline]
    pub fn add_branch(&mut self, level: usize, value: u32, child: u32) {
        if child != Forest::EMPTY {
            self.frames[level].branches.push(Branch { value, child });
        }
    }
}
