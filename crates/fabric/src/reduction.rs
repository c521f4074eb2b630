//! How the words of several ranks become one.

/// An associative and commutative operation on words.
///
/// ```
/// use tremula_fabric::Reduction;
/// assert_eq!([3, 5, 4].into_iter().fold(Reduction::Min.identity(), |a, b| Reduction::Min.apply(a, b)), 3);
/// ```
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Reduction {
    /// The sum, modulo 2 to the power 64.
    Sum,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// Bits set in all.
    And,
    /// Bits set in any.
    Or,
    /// Bits set in an odd number.
    Xor,
}

impl Reduction {
    /// All reductions.
    pub const ALL: [Reduction; 6] =
        [Reduction::Sum, Reduction::Min, Reduction::Max, Reduction::And, Reduction::Or, Reduction::Xor];

    /// The word that changes nothing.
    pub fn identity(self) -> u64 {
        match self {
            Reduction::Sum | Reduction::Max | Reduction::Or | Reduction::Xor => 0,
            Reduction::Min | Reduction::And => u64::MAX,
        }
    }

    /// Two words made one.
    pub fn apply(self, a: u64, b: u64) -> u64 {
        match self {
            Reduction::Sum => a.wrapping_add(b),
            Reduction::Min => a.min(b),
            Reduction::Max => a.max(b),
            Reduction::And => a & b,
            Reduction::Or => a | b,
            Reduction::Xor => a ^ b,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identity_changes_nothing() {
        for reduction in Reduction::ALL {
            for word in [0, 1, 0xF0F0, u64::MAX] {
                assert_eq!(reduction.apply(reduction.identity(), word), word, "{reduction:?}");
                assert_eq!(reduction.apply(word, reduction.identity()), word, "{reduction:?}");
            }
        }
    }
}
