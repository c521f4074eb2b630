//! What ranks tell each other, and how it is written in words of 63 bits.
//!
//! The first word of a letter has its kind, the thread and the fiber that it concerns, and up to 35 bits more; some letters
//! have a few more words, and a [`Letter::Bulk`] has as many as it says.

use crate::exec::Outcome;
use crate::task::{Answer, Task};
use tremula_table::layout::MAX_LEVELS;
use tremula_table::{Interrupt, Node, Ref};
use tremula_tasks::{Plain, Word};

/// A fiber of some rank.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Address {
    pub thread: u8,
    pub fiber: u16,
}

/// A task that was taken from its fiber: where the result has to go.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Debt {
    pub address: Address,
    /// The task's number among those of the fiber.
    pub position: u32,
}

/// What a [`Letter::Bulk`] is about.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Matter {
    /// Nodes of the receiver that the sender has found to be alive.
    Found,
    /// Which nodes of the sender are alive.
    Marks,
    /// References of the receiver whose nodes the sender wants.
    Wanted,
    /// Nodes that the receiver wanted.
    Nodes,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Letter {
    /// Find or put a node that belongs to the receiver.
    Make { from: Address, node: Node },
    /// The answer to it.
    Made { to: Address, outcome: Outcome },
    /// Read a node of the receiver.
    Read { from: Address, f: Ref },
    /// The answer to it.
    Copy { to: Address, node: Node },
    /// A thread of the sender would like a task of a thread of the receiver.
    Ask { thief: u8, victim: u8 },
    /// There is none.
    Nothing { thief: u8 },
    /// A task for a thread of the receiver; `operation` numbers what it is part of, `class` is for its fiber, and the
    /// levels are those of its operands, as far as they are known.
    Task { thief: u8, task: StolenTask, class: u16, operation: u32, debt: Debt, levels: [Option<u32>; 2] },
    /// The result of a task that the receiver gave away, and its level, if that is known.
    Done { debt: Debt, outcome: Outcome, level: Option<u32> },
    /// Garbage is to be collected, for this time.
    Collect { number: u32 },
    /// An operation is to end early.
    Cancel { operation: u32, reason: Interrupt },
    /// All has been sent that was to be sent before a collection.
    Marker,
    /// There will be no more operations.
    End,
    /// Many words.
    Bulk { matter: Matter, words: Vec<u64> },
}

/// A task in words; tasks themselves cannot be compared.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct StolenTask([u32; 4]);

impl StolenTask {
    pub fn new(task: Task) -> StolenTask {
        let [first, second] = task.to_words();
        StolenTask([(first >> 32) as u32, first as u32, (second >> 32) as u32, second as u32])
    }

    /// The functions that the first two operands are, if they are functions; harmless numbers otherwise.
    pub fn operands(self) -> [Ref; 2] {
        [self.0[1], self.0[2]].map(Ref::from_bits)
    }

    pub fn task(self) -> Task {
        let [code, a, b, c] = self.0.map(u64::from);
        Task::from_words([code << 32 | a, b << 32 | c])
    }
}

const KIND_BITS: u32 = 4;
const THREAD_BITS: u32 = 8;
const FIBER_BITS: u32 = 16;
const THREAD_AT: u32 = KIND_BITS;
const FIBER_AT: u32 = THREAD_AT + THREAD_BITS;
const REST_AT: u32 = FIBER_AT + FIBER_BITS;

/// Where the class of a task is, above its code.
const CLASS_AT: u32 = 40;

/// Levels are below [`MAX_LEVELS`], which stands for none.
const LEVEL_BITS: u32 = MAX_LEVELS.ilog2() + 1;

/// Above the 32 bits of a reference in an [`Answer`]: why there is none.
const REASON_AT: u32 = 32;

impl Letter {
    /// Write the letter behind others.
    pub fn write(&self, words: &mut Vec<u64>) {
        let head = |kind: u64, address: Address, rest: u64| {
            kind | u64::from(address.thread) << THREAD_AT | u64::from(address.fiber) << FIBER_AT | rest << REST_AT
        };
        let thread = |thread: u8| Address { thread, fiber: 0 };
        match self {
            Letter::Make { from, node } => {
                words.extend([head(0, *from, u64::from(node.level)), children(node), u64::from(node.spare)]);
            }
            Letter::Made { to, outcome } => words.push(head(1, *to, outcome_bits(*outcome))),
            Letter::Read { from, f } => words.push(head(2, *from, u64::from(f.index()))),
            Letter::Copy { to, node } => words.extend([head(3, *to, u64::from(node.level)), children(node)]),
            Letter::Ask { thief, victim } => words.push(head(4, thread(*thief), u64::from(*victim))),
            Letter::Nothing { thief } => words.push(head(5, thread(*thief), 0)),
            Letter::Task { thief, task, class, operation, debt, levels } => {
                let [code, a, b, c] = task.0.map(u64::from);
                let creditor = head(0, debt.address, u64::from(debt.position));
                let first = u64::from(*class) << CLASS_AT | code << 32 | a;
                let levels = level_bits(levels[0]) | level_bits(levels[1]) << LEVEL_BITS;
                words.extend([head(6, thread(*thief), u64::from(*operation)), first, b, c, creditor, levels]);
            }
            Letter::Done { debt, outcome, level } => {
                let second = u64::from(debt.position) | level_bits(*level) << 32;
                words.extend([head(7, debt.address, outcome_bits(*outcome)), second]);
            }
            Letter::Collect { number } => words.push(head(8, thread(0), u64::from(*number))),
            Letter::Cancel { operation, reason } => {
                let address = Address { thread: reason_number(*reason), fiber: 0 };
                words.push(head(9, address, u64::from(*operation)));
            }
            Letter::Marker => words.push(head(10, thread(0), 0)),
            Letter::End => words.push(head(11, thread(0), 0)),
            Letter::Bulk { matter, words: content } => {
                words.push(head(12, thread(*matter as u8), content.len() as u64));
                words.extend(content);
            }
        }
    }

    /// The first letter of `words` and how many of these it takes; none if it has not come as a whole.
    pub fn read(words: &[u64]) -> Option<(Letter, usize)> {
        let &first = words.first()?;
        let address_of = |word: u64| Address { thread: (word >> THREAD_AT) as u8, fiber: (word >> FIBER_AT) as u16 };
        let (address, rest) = (address_of(first), first >> REST_AT);
        let more = |count: usize| words.get(1..=count);
        Some(match first & ((1 << KIND_BITS) - 1) {
            0 => {
                let words = more(2)?;
                let node = Node { spare: words[1] as u32, ..node(rest, words[0]) };
                (Letter::Make { from: address, node }, 3)
            }
            1 => (Letter::Made { to: address, outcome: outcome(rest) }, 1),
            2 => (Letter::Read { from: address, f: Ref::new(rest as u32, false) }, 1),
            3 => (Letter::Copy { to: address, node: node(rest, more(1)?[0]) }, 2),
            4 => (Letter::Ask { thief: address.thread, victim: rest as u8 }, 1),
            5 => (Letter::Nothing { thief: address.thread }, 1),
            6 => {
                let words = more(5)?;
                let code = (words[0] >> 32) as u32 & ((1 << (CLASS_AT - 32)) - 1);
                let task = StolenTask([code, words[0] as u32, words[1] as u32, words[2] as u32]);
                let class = (words[0] >> CLASS_AT) as u16;
                let levels = [words[4], words[4] >> LEVEL_BITS].map(level_of);
                let debt = Debt { address: address_of(words[3]), position: (words[3] >> REST_AT) as u32 };
                (Letter::Task { thief: address.thread, task, class, operation: rest as u32, debt, levels }, 6)
            }
            7 => {
                let second = more(1)?[0];
                let debt = Debt { address, position: second as u32 };
                (Letter::Done { debt, outcome: outcome(rest), level: level_of(second >> 32) }, 2)
            }
            8 => (Letter::Collect { number: rest as u32 }, 1),
            9 => (Letter::Cancel { operation: rest as u32, reason: reason(address.thread) }, 1),
            10 => (Letter::Marker, 1),
            11 => (Letter::End, 1),
            12 => {
                let content = more(rest as usize)?;
                let matters = [Matter::Found, Matter::Marks, Matter::Wanted, Matter::Nodes];
                let matter = matters[usize::from(address.thread)];
                (Letter::Bulk { matter, words: content.to_vec() }, 1 + content.len())
            }
            kind => unreachable!("a letter of kind {kind}"),
        })
    }
}

/// A node in two words, for [`Letter::Bulk`].
pub fn node_words(node: &Node) -> [u64; 2] {
    [u64::from(node.level), children(node)]
}

/// The node that [`node_words`] gave these words for.
pub fn node_of(words: [u64; 2]) -> Node {
    node(words[0], words[1])
}

/// Both children: `low` is never complemented.
fn children(node: &Node) -> u64 {
    u64::from(node.low.index()) | u64::from(node.high.bits()) << 31
}

fn node(level: u64, children: u64) -> Node {
    let low = Ref::new((children & 0x7FFF_FFFF) as u32, false);
    Node { level: level as u32, low, high: Ref::from_bits((children >> 31) as u32), spare: 0 }
}

fn level_bits(level: Option<u32>) -> u64 {
    u64::from(level.unwrap_or(MAX_LEVELS).min(MAX_LEVELS))
}

fn level_of(bits: u64) -> Option<u32> {
    let level = bits as u32 & ((1 << LEVEL_BITS) - 1);
    (level < MAX_LEVELS).then_some(level)
}

fn outcome_bits(outcome: Outcome) -> u64 {
    Answer(outcome).to_word()
}

fn outcome(bits: u64) -> Outcome {
    Answer::from_word(bits).0
}

fn reason_number(reason: Interrupt) -> u8 {
    (outcome_bits(Err(reason)) >> REASON_AT) as u8
}

fn reason(number: u8) -> Interrupt {
    outcome(u64::from(number) << REASON_AT).expect_err("the number of a reason")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_read_as_they_were_written() {
        let address = Address { thread: 255, fiber: u16::MAX };
        let node =
            Node { level: (1 << 22) - 1, low: Ref::new(0x77FF_FFFF, false), high: Ref::from_bits(!0 >> 4), spare: 0 };
        let debt = Debt { address, position: u32::MAX };
        let task = StolenTask([15, u32::MAX, 7, u32::MAX]);
        let letters = [
            Letter::Make { from: address, node: Node { spare: u32::MAX, ..node } },
            Letter::Made { to: address, outcome: Ok(Ref::from_bits(0xEFFF_FFFF)) },
            Letter::Made { to: address, outcome: Err(Interrupt::TableFull) },
            Letter::Read { from: address, f: Ref::new(0x77FF_FFFF, false) },
            Letter::Copy { to: address, node },
            Letter::Ask { thief: 255, victim: 254 },
            Letter::Nothing { thief: 255 },
            Letter::Task {
                thief: 255,
                task,
                class: 513,
                operation: u32::MAX,
                debt,
                levels: [Some((1 << 22) - 1), None],
            },
            Letter::Done { debt, outcome: Ok(Ref::TRUE), level: Some(5) },
            Letter::Done { debt, outcome: Err(Interrupt::Cancelled), level: None },
            Letter::Collect { number: u32::MAX },
            Letter::Cancel { operation: u32::MAX, reason: Interrupt::Cancelled },
            Letter::Marker,
            Letter::End,
            Letter::Bulk { matter: Matter::Nodes, words: node_words(&node).to_vec() },
            Letter::Bulk { matter: Matter::Found, words: Vec::new() },
        ];
        let mut words = Vec::new();
        letters.iter().for_each(|letter| letter.write(&mut words));
        assert!(words.iter().all(|word| word >> 63 == 0), "the highest bit belongs to the mail");
        let mut rest = words.as_slice();
        for letter in &letters {
            let (read, length) = Letter::read(rest).unwrap();
            assert_eq!(read, *letter);
            (0..length).for_each(|part| assert_eq!(Letter::read(&rest[..part]), None));
            rest = &rest[length..];
        }
        assert!(rest.is_empty());
        assert_eq!(node_of(node_words(&node)), node);
    }
}
