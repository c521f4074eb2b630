//! A slot that holds a node: three words with 126 bits of it, 2 bits, and a flag in each word.

use crate::Node;

/// Words of a slot.
pub(crate) const SLOT_WORDS: usize = 3;

/// A node as it lies in a slot. Equal nodes have equal words, and different ones different words.
pub(crate) type SlotWords = [u64; SLOT_WORDS];

/// In a word that was written.
const FLAG: u64 = 1 << 63;

/// What a slot is to a search.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Sight {
    /// Nobody has taken it.
    Free,
    /// It has the node.
    Equal,
    /// It may get the node: somebody has claimed it, but not all words have come.
    Unfinished,
    /// It has another node.
    Other,
}

pub(crate) fn encode(node: Node) -> SlotWords {
    [node[0] | FLAG, node[1] | FLAG, node[0] >> 63 | node[1] >> 63 << 1 | FLAG]
}

/// The node in a slot, if all of it has come.
pub(crate) fn decode(words: SlotWords) -> Option<Node> {
    let [first, second, highest] = words;
    let is_whole = words.iter().all(|word| word & FLAG != 0);
    is_whole.then_some([first & !FLAG | highest << 63, second & !FLAG | (highest >> 1) << 63])
}

/// What a slot with these words is to a search for a node with those.
pub(crate) fn compare(words: SlotWords, wanted: SlotWords) -> Sight {
    if words == wanted {
        Sight::Equal
    } else if words[0] == 0 {
        Sight::Free
    } else if words[0] == wanted[0] && words.contains(&0) {
        Sight::Unfinished
    } else {
        Sight::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODES: [Node; 5] =
        [[0, 0], [0, 1 << 63], [1 << 63, 0], [u64::MAX, u64::MAX], [0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210]];

    #[test]
    fn nodes_are_read_as_they_were_written() {
        for node in NODES {
            assert_eq!(decode(encode(node)), Some(node));
            assert!(NODES.iter().all(|&other| (encode(other) == encode(node)) == (other == node)));
        }
    }

    /// Whatever words have come, no part of a node is taken for a node.
    #[test]
    fn unfinished_slots_are_known() {
        for node in NODES {
            let wanted = encode(node);
            for come in 0..1 << (SLOT_WORDS - 1) {
                let words = [wanted[0], wanted[1] * (come & 1), wanted[2] * (come >> 1)];
                let expected = if come == 3 { Sight::Equal } else { Sight::Unfinished };
                assert_eq!((compare(words, wanted), decode(words).is_some()), (expected, come == 3));
            }
            assert_eq!(compare([0; SLOT_WORDS], wanted), Sight::Free);
            let others = NODES.iter().filter(|&&other| other != node);
            assert!(others.map(|&other| compare(encode(other), wanted)).all(|sight| sight == Sight::Other));
        }
    }
}
