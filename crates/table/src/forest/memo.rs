//! A lossy memory of results: two operands and a tag lead to a node.

use crate::bitmap::Bitmap;
use crate::layout::{fold, scale};
use crate::memory::{MapError, Region};

/// What was asked: a node, a second operand, and what was done with them.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Question {
    /// The first operand, a node and not a terminal.
    pub node: u32,
    /// The second operand.
    pub other: u32,
    /// The operation.
    pub operation: Operation,
}

/// A number for an operation, and whether its second operand is a node.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Operation(u32);

impl Operation {
    const OTHER_IS_NODE: u32 = 1;

    /// An operation on two nodes.
    #[must_use]
    pub const fn on_nodes(number: u32) -> Operation {
        Operation(number << 1 | Self::OTHER_IS_NODE)
    }

    /// An operation on a node and something else that no collection touches.
    #[must_use]
    pub const fn on_node(number: u32) -> Operation {
        Operation(number << 1)
    }

    const fn other_is_node(self) -> bool {
        self.0 & Self::OTHER_IS_NODE != 0
    }
}

/// Question and answer; all zero if there is none.
type Entry = [u32; 4];

/// Results by question. One question has one place, and a newer answer there drives out the older.
///
/// It becomes crowded by use: after some times as many answers as there is room for, those that are asked for again have
/// often been driven out.
pub(super) struct Memo {
    entries: Region<Entry>,
    /// Answers until it is crowded.
    patience: usize,
}

/// So many times as many answers as there is room for make a crowd.
const CROWD: usize = 2;

impl Memo {
    pub(super) const ENTRY_BYTES: usize = size_of::<Entry>();

    pub(super) fn new(capacity: usize, len: usize) -> Result<Memo, MapError> {
        let mut entries = Region::reserve_small_pages(capacity)?;
        entries.resize_eagerly(len);
        Ok(Memo { entries, patience: CROWD * len })
    }

    pub(super) fn capacity(&self) -> usize {
        self.entries.capacity()
    }

    pub(super) fn use_huge_pages(&self) {
        self.entries.use_huge_pages();
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    fn place(&self, question: &Question) -> usize {
        let operands = u64::from(question.node) << 32 | u64::from(question.other);
        scale(fold(operands, u64::from(question.operation.0)), self.entries.len())
    }

    #[inline]
    pub(super) fn get(&self, question: &Question) -> Option<u32> {
        let [node, other, answer, operation] = self.entries[self.place(question)];
        (node == question.node && other == question.other && operation == question.operation.0).then_some(answer)
    }

    /// True if it is crowded, once in a while.
    #[inline]
    pub(super) fn put(&mut self, question: &Question, answer: u32) -> bool {
        let place = self.place(question);
        self.entries[place] = [question.node, question.other, answer, question.operation.0];
        self.patience -= 1;
        if self.patience > 0 {
            return false;
        }
        self.patience = CROWD * self.entries.len();
        true
    }

    /// Forget what mentions a node that is not marked.
    pub(super) fn sweep(&mut self, marks: &Bitmap) {
        let lives = |node: u32| marks.get(node);
        for entry in self.entries.iter_mut().filter(|entry| entry[0] != 0) {
            let [node, other, answer, operation] = *entry;
            if !lives(node) || !lives(answer) || (Operation(operation).other_is_node() && !lives(other)) {
                *entry = Entry::default();
            }
        }
    }

    /// Take more entries, and keep what is known. Answers move towards the end, never past one that has not moved.
    pub(super) fn grow(&mut self, len: usize) {
        let before = self.entries.len();
        self.entries.resize_eagerly(len);
        self.patience = CROWD * len;
        for at in (0..before).rev() {
            let [node, other, answer, operation] = std::mem::take(&mut self.entries[at]);
            if node != 0 {
                self.put(&Question { node, other, operation: Operation(operation) }, answer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(n: u32) -> Question {
        Question { node: n + 2, other: 7 * n, operation: Operation::on_node(n % 3) }
    }

    #[test]
    fn growth_keeps_what_is_known() {
        let mut memo = Memo::new(1 << 12, 64).unwrap();
        (0..40).for_each(|n| _ = memo.put(&question(n), n));
        let known: Vec<u32> = (0..40).filter(|&n| memo.get(&question(n)) == Some(n)).collect();
        assert!(known.len() > 20);
        memo.grow(1 << 12);
        assert!(known.iter().all(|&n| memo.get(&question(n)) == Some(n)));
    }

    #[test]
    fn sweeping_forgets_dead_operands_and_answers() {
        let mut memo = Memo::new(1 << 12, 1 << 12).unwrap();
        let mut marks = Bitmap::reserve(16).unwrap();
        marks.resize(16);
        (0..5).for_each(|node| _ = marks.insert(node));
        let on_nodes = |node, other| Question { node, other, operation: Operation::on_nodes(0) };
        memo.put(&on_nodes(2, 3), 4);
        memo.put(&on_nodes(2, 9), 4);
        memo.put(&on_nodes(9, 2), 4);
        memo.put(&on_nodes(3, 4), 9);
        memo.put(&Question { node: 2, other: 1000, operation: Operation::on_node(0) }, 1);
        memo.sweep(&marks);
        assert_eq!(memo.get(&on_nodes(2, 3)), Some(4));
        assert_eq!([on_nodes(2, 9), on_nodes(9, 2), on_nodes(3, 4)].map(|question| memo.get(&question)), [None; 3]);
        assert_eq!(memo.get(&Question { node: 2, other: 1000, operation: Operation::on_node(0) }), Some(1));
    }
}
