//! Exact counting: the number of vectors in a set, as an integer of any size, in memory taken from the budget.
//!
//! The count of a node is that of the node below it and that of the node beside it. Nodes are brought into an order in
//! which these come first, without recursion. A first pass finds how large the numbers get, the second adds numbers of that
//! width.

use crate::error::Error;
use dashu_int::{UBig, Word};
use tremula_table::{Bitmap, Lease, Ranks, Ref, Solo};

/// Count the vectors of `set`.
pub fn count(table: &mut Solo, set: Ref) -> Result<UBig, Error> {
    if set.is_terminal() {
        return Ok(if set == Ref::TRUE { UBig::ONE } else { UBig::ZERO });
    }
    let counter = Counter::new(table, set)?;
    let bits = counter.bits();
    counter.total(set, bits / Word::BITS as usize + 1)
}

struct Counter<'a> {
    table: &'a mut Solo,
    marks: Bitmap,
    ranks: Ranks,
    /// All nodes, children first.
    order: Vec<Ref>,
    _lease: Lease,
}

impl<'a> Counter<'a> {
    fn new(table: &'a mut Solo, set: Ref) -> Result<Counter<'a>, Error> {
        let (marks, nodes) = table.reachable(&[set])?;
        // The order, the ranks, and the sizes of the first pass.
        let bytes = nodes.saturating_add(1).saturating_mul(3 * size_of::<u32>() + size_of::<f64>());
        let lease = crate::lease::take(table, bytes)?;
        let ranks = Ranks::new(&marks);
        let order = order(table, set, &marks, &ranks, nodes);
        Ok(Counter { table, marks, ranks, order, _lease: lease })
    }

    fn rank(&self, f: Ref) -> usize {
        self.ranks.rank(&self.marks, f.index()) as usize
    }

    /// More bits than any count has.
    fn bits(&self) -> usize {
        // Logarithms to base two. Rounding may lose a little of a bit for each node that adds.
        let mut logarithms = vec![0.0_f64; self.order.len() + 1];
        let log = |logarithms: &[f64], f: Ref| match f {
            Ref::FALSE => f64::NEG_INFINITY,
            Ref::TRUE => 0.0,
            _ => logarithms[self.rank(f)],
        };
        let mut most = 0.0_f64;
        for &f in &self.order {
            let node = self.table.node(f);
            let (a, b) = (log(&logarithms, node.down()), log(&logarithms, node.right()));
            let (large, small) = if a > b { (a, b) } else { (b, a) };
            let sum = large + (1.0 + (small - large).exp2()).log2();
            logarithms[self.rank(f)] = sum;
            most = most.max(sum);
        }
        most as usize + 2
    }

    fn total(self, set: Ref, limbs: usize) -> Result<UBig, Error> {
        let bytes = (self.order.len() + 1).saturating_mul(limbs * size_of::<Word>());
        let _lease = crate::lease::take(self.table, bytes)?;
        let mut numbers: Vec<Word> = vec![0; (self.order.len() + 1) * limbs];
        let place = |f: Ref| self.rank(f) * limbs;
        for &f in &self.order {
            let (node, at) = (self.table.node(f), place(f));
            for child in [node.down(), node.right()] {
                match child {
                    Ref::FALSE => {}
                    Ref::TRUE => add(&mut numbers, at, &[1], limbs),
                    _ => {
                        let from = place(child);
                        let number: smallvec::SmallVec<[Word; 4]> = numbers[from..from + limbs].into();
                        add(&mut numbers, at, &number, limbs);
                    }
                }
            }
        }
        let at = place(set);
        Ok(UBig::from_words(&numbers[at..at + limbs]))
    }
}

/// Add `number` to the one of `limbs` words at `at`.
fn add(numbers: &mut [Word], at: usize, number: &[Word], limbs: usize) {
    let mut carry = false;
    for (n, limb) in numbers[at..at + limbs].iter_mut().enumerate() {
        let (value, first) = limb.overflowing_add(number.get(n).copied().unwrap_or(0));
        let (value, second) = value.overflowing_add(Word::from(carry));
        (*limb, carry) = (value, first || second);
    }
    assert!(!carry, "numbers are as wide as the first pass has found");
}

/// The nodes below `set`, children first.
fn order(table: &Solo, set: Ref, marks: &Bitmap, ranks: &Ranks, nodes: usize) -> Vec<Ref> {
    let mut met = vec![false; nodes + 1];
    let mut order = Vec::with_capacity(nodes);
    // A node is met twice: first its children are put on top of it, then it is next.
    let mut stack = vec![(set, false)];
    while let Some((f, done)) = stack.pop() {
        if done {
            order.push(f);
            continue;
        }
        if f.is_terminal() || std::mem::replace(&mut met[ranks.rank(marks, f.index()) as usize], true) {
            continue;
        }
        let node = table.node(f);
        stack.extend([(f, true), (node.down(), false), (node.right(), false)]);
    }
    order
}
