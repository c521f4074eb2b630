//! Rank by elimination, modulo a prime.
//!
//! That could make a rank too small, if the prime happened to divide a minor, but would do so on all machines alike.

use crate::effort::Effort;

pub(super) const PRIME: u64 = (1 << 31) - 1;

/// Entries that are not zero modulo the prime, ascending by index.
pub(super) type Sparse = Vec<(u32, u32)>;

/// Rows of a matrix in echelon form: none has an entry left of its own leading one, which is one.
pub(super) struct Echelon {
    by_lead: Vec<Option<Sparse>>,
    /// Columns from here on are gone.
    width: u32,
    rank: u32,
}

impl Echelon {
    pub(super) fn new(columns: usize) -> Echelon {
        Echelon { by_lead: vec![None; columns], width: columns as u32, rank: 0 }
    }

    pub(super) fn rank(&self) -> u32 {
        self.rank
    }

    /// Takes the last columns away, such that `width` are left. Rows that had entries only there are zero now.
    pub(super) fn narrow(&mut self, width: u32) {
        for row in &mut self.by_lead[width as usize..self.width as usize] {
            self.rank -= u32::from(row.take().is_some());
        }
        self.width = width;
    }

    /// Adds a row, and tells whether it was independent of those before.
    pub(super) fn insert(&mut self, mut row: Sparse, effort: &mut Effort) -> Option<bool> {
        truncate(&mut row, self.width);
        while let Some(&(lead, value)) = row.first() {
            let Some(known) = &mut self.by_lead[lead as usize] else {
                scale(&mut row, inverse(u64::from(value)));
                self.by_lead[lead as usize] = Some(row);
                self.rank += 1;
                return Some(true);
            };
            truncate(known, self.width);
            effort.spend(row.len() + known.len())?;
            row = difference(&row, known, u64::from(value));
        }
        Some(false)
    }
}

fn truncate(row: &mut Sparse, width: u32) {
    if row.last().is_some_and(|&(index, _)| index >= width) {
        row.truncate(row.partition_point(|&(index, _)| index < width));
    }
}

fn scale(row: &mut Sparse, factor: u64) {
    for (_, entry) in row {
        *entry = (u64::from(*entry) * factor % PRIME) as u32;
    }
}

/// `a - factor * b`, without zeros.
fn difference(a: &Sparse, b: &Sparse, factor: u64) -> Sparse {
    let mut result = Vec::with_capacity(a.len() + b.len());
    let negated = PRIME - factor;
    let mut rest = b.iter().peekable();
    for &(index, value) in a {
        while let Some(&(earlier, other)) = rest.next_if(|entry| entry.0 < index) {
            result.push((earlier, (u64::from(other) * negated % PRIME) as u32));
        }
        let other = rest.next_if(|entry| entry.0 == index).map_or(0, |entry| u64::from(entry.1));
        let value = (u64::from(value) + other * negated) % PRIME;
        if value != 0 {
            result.push((index, value as u32));
        }
    }
    result.extend(rest.map(|&(index, other)| (index, (u64::from(other) * negated % PRIME) as u32)));
    result
}

/// The inverse modulo the prime, by Fermat: the power of two less than the prime.
fn inverse(value: u64) -> u64 {
    let (mut power, mut result, mut exponent) = (value, 1, PRIME - 2);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * power % PRIME;
        }
        power = power * power % PRIME;
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependent_rows_are_noticed() {
        let mut echelon = Echelon::new(3);
        let mut insert = |row: Sparse| echelon.insert(row, &mut Effort::new(100));
        assert_eq!(insert(vec![(0, 1), (2, 2)]), Some(true));
        assert_eq!(insert(vec![(0, 3), (1, 1)]), Some(true));
        assert_eq!(insert(vec![(0, 5), (1, 1), (2, 4)]), Some(false));
        assert_eq!(insert(vec![(0, 5), (1, 1), (2, 5)]), Some(true));
        assert_eq!(echelon.rank(), 3);
    }

    #[test]
    fn columns_that_go_take_their_rows_with_them() {
        let mut echelon = Echelon::new(3);
        let mut effort = Effort::new(100);
        for row in [vec![(0, 1), (1, 1)], vec![(1, 1), (2, 1)], vec![(2, 7)]] {
            assert_eq!(echelon.insert(row, &mut effort), Some(true));
        }
        echelon.narrow(1);
        assert_eq!(echelon.rank(), 1);
        assert_eq!(echelon.insert(vec![(0, 2), (1, 3)], &mut effort), Some(false));
    }

    #[test]
    fn inverses_are_inverses() {
        for value in [1, 2, 3, 12_345, PRIME - 1] {
            assert_eq!(value * inverse(value) % PRIME, 1);
        }
    }
}
