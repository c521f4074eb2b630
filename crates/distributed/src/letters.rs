//! What ranks write to each other about nodes, in words whose highest bits are clear.

use crate::Node;
use crate::contract::Found;
use crate::shape::Position;

/// Nodes in a letter, which fits into one frame of the mail unless the ring ends there.
pub(crate) const MOST_NODES: usize = 10 * BLOCK;

/// Nodes whose highest bits are kept in one word.
const BLOCK: usize = 31;

const HIGHEST: u64 = 1 << 63;

/// The rank has no more to ask.
pub(crate) const SETTLED: u64 = 0;
const REQUEST: u64 = 1;
const ANSWER: u64 = 2;
/// A letter begins with its kind and the number of nodes that it is about.
const KIND_BITS: u32 = 2;

/// What a letter says.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Letter {
    /// Find or put these nodes.
    Request(Vec<Node>),
    /// That was found; nothing where there was no room.
    Answer(Vec<Option<Found>>),
    /// The rank has no more to ask.
    Settled,
}

/// A letter that asks for nodes: blocks of their words, each after a word with the highest bits of all.
pub(crate) fn request(nodes: &[Node]) -> Vec<u64> {
    let mut letter = vec![head(REQUEST, nodes.len())];
    for block in nodes.chunks(BLOCK) {
        let words = || block.iter().flatten().copied();
        letter.push(words().rev().fold(0, |highest, word| highest << 1 | word >> 63));
        letter.extend(words().map(|word| word & !HIGHEST));
    }
    letter
}

/// A letter that answers.
pub(crate) fn answer(found: &[Option<Found>]) -> Vec<u64> {
    let word = |found: &Option<Found>| {
        found.map_or(0, |Found { position, new }| u64::from(position.number()) << 1 | u64::from(new))
    };
    std::iter::once(head(ANSWER, found.len())).chain(found.iter().map(word)).collect()
}

fn head(kind: u64, count: usize) -> u64 {
    (count as u64) << KIND_BITS | kind
}

/// The letter at the beginning of some words, if all of it has come, and its length.
pub(crate) fn read(words: &[u64]) -> Option<(Letter, usize)> {
    let (&head, rest) = words.split_first()?;
    let count = (head >> KIND_BITS) as usize;
    match head & ((1 << KIND_BITS) - 1) {
        REQUEST => {
            let length = 2 * count + count.div_ceil(BLOCK);
            Some((Letter::Request(nodes(rest.get(..length)?)), 1 + length))
        }
        ANSWER => Some((Letter::Answer(rest.get(..count)?.iter().map(|&word| found(word)).collect()), 1 + count)),
        _ => Some((Letter::Settled, 1)),
    }
}

fn nodes(blocks: &[u64]) -> Vec<Node> {
    let of_block = |block: &[u64]| {
        let (highest, words) = (block[0], &block[1..]);
        let word = |at: usize| words[at] | (highest >> at & 1) << 63;
        (0..words.len() / 2).map(|node| [word(2 * node), word(2 * node + 1)]).collect::<Vec<Node>>()
    };
    blocks.chunks(1 + 2 * BLOCK).flat_map(of_block).collect()
}

fn found(word: u64) -> Option<Found> {
    Position::from_number((word >> 1) as u32).map(|position| Found { position, new: word & 1 == 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_read_as_they_were_written() {
        let node = |number: u64| [number.wrapping_mul(0x9E37_79B9_7F4A_7C15), !number];
        for count in [0, 1, 30, 31, 32, 62, 63, MOST_NODES as u64] {
            let nodes: Vec<Node> = (0..count).map(node).collect();
            let found: Vec<Option<Found>> = (0..count as u32)
                .map(|number| Position::from_number(number).map(|position| Found { position, new: number % 3 == 0 }))
                .collect();
            for (letter, meaning) in [
                (request(&nodes), Letter::Request(nodes.clone())),
                (answer(&found), Letter::Answer(found.clone())),
                (vec![SETTLED], Letter::Settled),
            ] {
                assert!(letter.iter().all(|word| word & HIGHEST == 0));
                // More may have come, but not less.
                let longer = [&letter[..], &[42]].concat();
                assert_eq!(read(&longer), Some((meaning, letter.len())));
                assert_eq!(read(&letter[..letter.len() - 1]), None);
            }
        }
    }
}
