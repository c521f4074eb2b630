//! Exact counting: satisfying assignments as integers of any size, in memory taken from the budget.
//!
//! Every node gets a number of fixed width, wide enough for two to the power of the variables, in one array indexed by
//! the node's rank among the nodes of the diagram. Nothing is allocated per node.

use crate::error::Error;
use dashu_int::{UBig, Word};
use tremula_table::{Bitmap, Ranks, Ref, Solo};

/// Count the assignments of `levels` (ascending) that satisfy `f`. All variables of `f` must be among them.
pub fn count(table: &mut Solo, f: Ref, levels: &[u32]) -> Result<UBig, Error> {
    if f.is_terminal() {
        return Ok(if f == Ref::TRUE { UBig::ONE << levels.len() } else { UBig::ZERO });
    }
    let (marks, nodes) = table.reachable(&[f])?;
    let limbs = levels.len() / Word::BITS as usize + 1;
    let bytes = nodes.saturating_add(1).saturating_mul(limbs).saturating_mul(size_of::<Word>());
    let _lease = crate::lease::take(table, bytes)?;
    let ranks = Ranks::new(&marks);
    let numbers = vec![0; (nodes + 1) * limbs];
    Counter { table, levels, marks, ranks, limbs, numbers }.total(f)
}

struct Counter<'a> {
    table: &'a Solo,
    levels: &'a [u32],
    marks: Bitmap,
    ranks: Ranks,
    limbs: usize,
    /// Count of each node over the variables from its own downwards; zero until known (no node is unsatisfiable).
    numbers: Vec<Word>,
}

impl Counter<'_> {
    fn total(mut self, f: Ref) -> Result<UBig, Error> {
        self.visit(f)?;
        let mut sum = vec![0; self.limbs];
        self.add_edge(&mut sum, f, 0)?;
        Ok(UBig::from_words(&sum))
    }

    fn place(&self, index: u32) -> std::ops::Range<usize> {
        let rank = self.ranks.rank(&self.marks, index) as usize;
        rank * self.limbs..(rank + 1) * self.limbs
    }

    fn is_known(&self, f: Ref) -> bool {
        f.is_terminal() || self.numbers[self.place(f.index())].iter().any(|&limb| limb != 0)
    }

    /// Position of a level among the counted variables; the terminal comes after all of them.
    fn position(&self, f: Ref) -> Result<usize, Error> {
        if f.is_terminal() {
            return Ok(self.levels.len());
        }
        let level = self.table.level(f);
        self.levels.binary_search(&level).map_err(|_| Error::NotCounted { level })
    }

    /// Compute the numbers of all nodes below `f`, children first, on an explicit stack.
    fn visit(&mut self, f: Ref) -> Result<(), Error> {
        let mut stack = vec![f.regular()];
        while let Some(&top) = stack.last() {
            let node = self.table.node(top);
            let before = stack.len();
            stack.extend([node.low, node.high].into_iter().filter(|&child| !self.is_known(child)).map(Ref::regular));
            if stack.len() == before {
                stack.pop();
                let mut sum = vec![0; self.limbs];
                let below = self.position(top)? + 1;
                self.add_edge(&mut sum, node.low, below)?;
                self.add_edge(&mut sum, node.high, below)?;
                let place = self.place(top.index());
                self.numbers[place].copy_from_slice(&sum);
            }
        }
        Ok(())
    }

    /// Add the count of an edge that leaves from position `from`: variables skipped double it each.
    fn add_edge(&self, sum: &mut [Word], edge: Ref, from: usize) -> Result<(), Error> {
        let at = self.position(edge)?;
        let mut number = vec![0; self.limbs];
        if !edge.is_terminal() {
            number.copy_from_slice(&self.numbers[self.place(edge.index())]);
        }
        if edge.is_complement() {
            complement(&mut number, self.levels.len() - at);
        }
        shift_left(&mut number, at - from);
        add(sum, &number);
        Ok(())
    }
}

/// `number := 2^bits - number`.
fn complement(number: &mut [Word], bits: usize) {
    let mut carry = true;
    for limb in number.iter_mut() {
        let (value, overflow) = (!*limb).overflowing_add(Word::from(carry));
        (*limb, carry) = (value, overflow);
    }
    let mut power = vec![0; number.len()];
    power[bits / Word::BITS as usize] = 1 << (bits % Word::BITS as usize);
    add(number, &power);
}

fn add(sum: &mut [Word], number: &[Word]) {
    let mut carry = false;
    for (limb, &other) in sum.iter_mut().zip(number) {
        let (value, first) = limb.overflowing_add(other);
        let (value, second) = value.overflowing_add(Word::from(carry));
        (*limb, carry) = (value, first || second);
    }
}

fn shift_left(number: &mut [Word], by: usize) {
    let (limbs, bits) = (by / Word::BITS as usize, by % Word::BITS as usize);
    for at in (0..number.len()).rev() {
        let high = at.checked_sub(limbs).map_or(0, |from| number[from]);
        let low = at.checked_sub(limbs + 1).map_or(0, |from| number[from]);
        number[at] = if bits == 0 { high } else { high << bits | low >> (Word::BITS as usize - bits) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limb_arithmetic_matches_big_integers() {
        let mut number: Vec<Word> = vec![Word::MAX, 5, 0, 0];
        let value = UBig::from_words(&number);
        shift_left(&mut number, 67);
        assert_eq!(UBig::from_words(&number), &value << 67);
        complement(&mut number, 250);
        assert_eq!(UBig::from_words(&number), (UBig::ONE << 250) - (value << 67));
    }
}
