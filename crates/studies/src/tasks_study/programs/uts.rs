//! Unbalanced tree search: trees whose shape only a walk through them reveals.
//!
//! The trees are those of the UTS benchmark (Olivier et al., LCPC 2006), version 2.1. A node is a SHA-1 digest, its
//! children are the digests of it and their numbers, and the digest as a random number decides how many there are.

use super::tree::Tree;
use sha1::digest::generic_array::GenericArray;
use tremula_tasks::Plain;

/// A node has no more children than this, except the root of a binomial tree.
const MOST_CHILDREN: f64 = 100.0;

/// A tree of the benchmark.
pub(crate) struct Uts {
    seed: u32,
    shape: Shape,
}

enum Shape {
    /// The number of children follows a geometric distribution, which depends on the depth.
    Geometric {
        /// By depth, the logarithm of the chance to have one child more. Deeper nodes have no children.
        log_chances: Vec<f64>,
    },
    /// Inner nodes all have the same number of children, and a node is an inner node with the same probability.
    Binomial { root_children: u32, children: u32, probability: f64 },
}

/// Digest and depth.
#[derive(Copy, Clone)]
pub(crate) struct Node {
    digest: [u32; 5],
    depth: u32,
}

impl Uts {
    /// Geometric with `mean` children, down to `depth`.
    pub(crate) fn fixed(seed: u32, mean: f64, depth: usize) -> Uts {
        Uts::geometric(seed, (0..depth).map(|_| mean))
    }

    /// Geometric with means that go up and down with the depth, by `period`, five times.
    pub(crate) fn cyclic(seed: u32, root_mean: f64, period: usize) -> Uts {
        let mean = |depth| match depth {
            0 => root_mean,
            _ => root_mean.powf((2.0 * std::f64::consts::PI * depth as f64 / period as f64).sin()),
        };
        Uts::geometric(seed, (0..=5 * period).map(mean))
    }

    fn geometric(seed: u32, means: impl Iterator<Item = f64>) -> Uts {
        // The operations and their order are the reference's: another rounding could mean another tree.
        let log_chances = means.map(|mean| (1.0 - 1.0 / (1.0 + mean)).ln()).collect();
        Uts { seed, shape: Shape::Geometric { log_chances } }
    }

    /// Binomial, and so deep that recursion needs large stacks.
    pub(crate) fn binomial(seed: u32, root_children: u32, probability: f64, children: u32) -> Uts {
        Uts { seed, shape: Shape::Binomial { root_children, children, probability } }
    }

    #[inline]
    fn child_count(&self, node: Node) -> u32 {
        match &self.shape {
            Shape::Geometric { log_chances } => match log_chances.get(node.depth as usize) {
                Some(log_chance) => ((1.0 - node.random()).ln() / log_chance).floor().min(MOST_CHILDREN) as u32,
                None => 0,
            },
            Shape::Binomial { root_children, .. } if node.depth == 0 => *root_children,
            Shape::Binomial { children, probability, .. } => {
                if node.random() < *probability {
                    *children
                } else {
                    0
                }
            }
        }
    }
}

impl Node {
    /// A number from zero up to one.
    #[inline]
    fn random(self) -> f64 {
        f64::from(self.digest[4] & 0x7fff_ffff) / f64::from(1_u32 << 31)
    }

    #[inline]
    fn child(self, number: u32) -> Node {
        let [a, b, c, d, e] = self.digest;
        Node { digest: sha1(&[a, b, c, d, e, number]), depth: self.depth + 1 }
    }
}

/// The digest of a message of less than a block, given as big-endian words.
///
/// Not inlined, so that all versions run the same code: how the block is put together decides whether the processor can
/// pass it on, and a stall there takes longer than a spawn.
#[inline(never)]
fn sha1(message: &[u32]) -> [u32; 5] {
    let mut block = [0; 64];
    for (bytes, word) in block.chunks_exact_mut(4).zip(message) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    block[4 * message.len()] = 0x80;
    block[60..].copy_from_slice(&(32 * message.len() as u32).to_be_bytes());
    let mut digest = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    sha1::compress(&mut digest, &[GenericArray::from(block)]);
    digest
}

impl Tree for Uts {
    type Node = Node;

    fn root(&self) -> Node {
        Node { digest: sha1(&[0, 0, 0, 0, self.seed]), depth: 0 }
    }

    #[inline]
    fn weight(&self, _: Node) -> u64 {
        1
    }

    #[inline]
    fn children(&self, node: Node) -> impl Iterator<Item = Node> + Send {
        (0..self.child_count(node)).map(move |number| node.child(number))
    }
}

impl Plain for Node {
    type Words = [u64; 3];

    #[inline]
    fn to_words(self) -> [u64; 3] {
        let [a, b, c, d, e] = self.digest.map(u64::from);
        [a << 32 | b, c << 32 | d, e << 32 | u64::from(self.depth)]
    }

    #[inline]
    fn from_words([ab, cd, e_depth]: [u64; 3]) -> Node {
        let high = |word: u64| (word >> 32) as u32;
        let low = |word: u64| word as u32;
        Node { digest: [high(ab), low(ab), high(cd), low(cd), high(e_depth)], depth: low(e_depth) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Program;
    use super::super::tree::Count;
    use super::*;
    use crate::stack::on_large_stack;

    fn count(tree: Uts) -> u64 {
        on_large_stack(64 << 20, || Count(tree).sequential()).unwrap()
    }

    /// Trees and counts from the benchmark's `sample_trees.sh`: each shape, and few enough nodes for a test.
    #[test]
    fn counts_are_those_of_the_reference() {
        assert_eq!(count(Uts::fixed(19, 4.0, 10)), 4_130_071, "T1");
        assert_eq!(count(Uts::cyclic(502, 6.0, 16)), 4_117_769, "T2");
        assert_eq!(count(Uts::binomial(42, 2000, 0.124875, 8)), 4_112_897, "T3");
    }

    #[test]
    fn nodes_survive_as_words() {
        let node = Uts::fixed(1, 4.0, 3).root().child(3);
        let again = Node::from_words(node.to_words());
        assert_eq!((again.digest, again.depth), (node.digest, node.depth));
    }
}
