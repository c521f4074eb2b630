//! Langford pairings: the numbers 1 to n, each twice, in a row so that there are k numbers between the two k.
//!
//! A node per placed pair, largest number first. A row and its reversal count as two, so the answers are twice those of
//! <https://oeis.org/A014552>.

use super::tree::Tree;

/// The number of pairs.
pub(crate) struct Langford(pub u64);

/// How many numbers are left to place, which is also the next of them; and a bit for each place that is taken.
type Row = (u64, u64);

impl Tree for Langford {
    type Node = Row;

    fn root(&self) -> Row {
        (self.0, 0)
    }

    #[inline]
    fn weight(&self, (left, _): Row) -> u64 {
        u64::from(left == 0)
    }

    #[inline]
    fn children(&self, (number, taken): Row) -> impl Iterator<Item = Row> + Send {
        let pair = 1 | 1 << (number + 1);
        let positions = if number == 0 { 0 } else { 2 * self.0 - (number + 1) };
        let pairs = (0..positions).map(move |position| pair << position);
        pairs.filter(move |pair| taken & pair == 0).map(move |pair| (number - 1, taken | pair))
    }
}
