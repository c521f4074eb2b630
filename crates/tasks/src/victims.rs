//! In which order a worker without work turns to the others: near ones first, and inside a group from a random start.

/// The other workers, grouped by distance.
#[derive(Default)]
pub struct Victims {
    groups: Vec<Vec<usize>>,
    random: u64,
}

impl Victims {
    /// The victims of worker `number` of `workers`; `distances[other]` tells how far another one is from it, and an empty
    /// list means that all are equally far.
    pub fn new(number: usize, workers: usize, distances: &[u8]) -> Victims {
        let distance = |other: usize| distances.get(other).copied().unwrap_or(0);
        let mut others: Vec<usize> = (0..workers).filter(|&other| other != number).collect();
        others.sort_by_key(|&other| distance(other));
        let groups = others.chunk_by(|&a, &b| distance(a) == distance(b)).map(<[usize]>::to_vec).collect();
        // An odd start, different for each worker, for a generator that must not be zero.
        Victims { groups, random: (number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1 }
    }

    /// Visit the others, nearest group first, until `visit` returns true; tells whether it did.
    pub fn visit(&mut self, mut visit: impl FnMut(usize) -> bool) -> bool {
        for at in 0..self.groups.len() {
            let start = self.next_random() as usize;
            let group = &self.groups[at];
            if (0..group.len()).any(|step| visit(group[(start + step) % group.len()])) {
                return true;
            }
        }
        false
    }

    /// Xorshift: fast, and even enough to spread thieves.
    fn next_random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random >> 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(victims: &mut Victims) -> Vec<usize> {
        let mut seen = Vec::new();
        victims.visit(|other| {
            seen.push(other);
            false
        });
        seen
    }

    #[test]
    fn near_ones_come_first_and_nobody_is_left_out() {
        let mut victims = Victims::new(1, 6, &[0, 0, 0, 1, 1, 1]);
        for _ in 0..100 {
            let seen = order(&mut victims);
            assert!(seen[..2].iter().all(|&other| other < 3) && seen[2..].iter().all(|&other| other >= 3));
            let mut sorted = seen;
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 2, 3, 4, 5]);
        }
    }

    #[test]
    fn starts_differ() {
        let mut victims = Victims::new(0, 8, &[]);
        let first: std::collections::BTreeSet<usize> = (0..100).map(|_| order(&mut victims)[0]).collect();
        assert_eq!(first.len(), 7);
    }
}
