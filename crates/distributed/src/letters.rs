//! What ranks write to each other about nodes and results, in words whose highest bits are clear.

use crate::Node;
use crate::contract::Found;
use crate::results::Key;
use crate::shape::Position;

/// Nodes or results in a letter, which fits into one frame of the mail unless the ring ends there.
pub(crate) const MOST: usize = 310;

/// Words whose highest bits are kept in one word.
const BLOCK: usize = 63;

const HIGHEST: u64 = 1 << 63;

/// The rank has no more to ask.
pub(crate) const SETTLED: u64 = 0;
const REQUEST: u64 = 1;
const ANSWER: u64 = 2;
const REMEMBER: u64 = 3;
const RECALL: u64 = 4;
const RECALLED: u64 = 5;
/// A letter begins with its kind and the number of nodes or results that it is about.
const KIND_BITS: u32 = 3;

/// What a letter says.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Letter {
    /// Find or put these nodes.
    Request(Vec<Node>),
    /// That was found; nothing where there was no room.
    Answer(Vec<Option<Found>>),
    /// Remember these results.
    Remember(Vec<(Key, u64)>),
    /// What are the results for these keys?
    Recall(Vec<Key>),
    /// Those are the results; nothing where none is remembered.
    Recalled(Vec<Option<u64>>),
    /// The rank has no more to ask.
    Settled,
}

/// A letter that asks for nodes.
pub(crate) fn request(nodes: &[Node]) -> Vec<u64> {
    packed(head(REQUEST, nodes.len()), nodes.iter().flatten().copied())
}

/// A letter that answers.
pub(crate) fn answer(found: &[Option<Found>]) -> Vec<u64> {
    let word = |found: &Option<Found>| {
        found.map_or(0, |Found { position, new }| u64::from(position.number()) << 1 | u64::from(new))
    };
    std::iter::once(head(ANSWER, found.len())).chain(found.iter().map(word)).collect()
}

/// A letter with results to be remembered.
pub(crate) fn remember(results: &[(Key, u64)]) -> Vec<u64> {
    let words = results.iter().flat_map(|&([first, second], result)| [first, second, result]);
    packed(head(REMEMBER, results.len()), words)
}

/// A letter that asks for results.
pub(crate) fn recall(keys: &[Key]) -> Vec<u64> {
    packed(head(RECALL, keys.len()), keys.iter().flatten().copied())
}

/// A letter with results: a bit for each says whether there is one, and then they come.
pub(crate) fn recalled(results: &[Option<u64>]) -> Vec<u64> {
    let bits = |some: &[Option<u64>]| some.iter().rev().fold(0, |bits, one| bits << 1 | u64::from(one.is_some()));
    let words = results.chunks(64).map(bits).chain(results.iter().map(|result| result.unwrap_or(0)));
    packed(head(RECALLED, results.len()), words)
}

fn head(kind: u64, count: usize) -> u64 {
    (count as u64) << KIND_BITS | kind
}

/// Blocks of words, each after a word with the highest bits of all.
fn packed(head: u64, words: impl Iterator<Item = u64>) -> Vec<u64> {
    let (mut letter, mut block) = (vec![head], 0);
    for (number, word) in words.enumerate() {
        if number.is_multiple_of(BLOCK) {
            block = letter.len();
            letter.push(0);
        }
        letter[block] |= word >> 63 << (number % BLOCK);
        letter.push(word & !HIGHEST);
    }
    letter
}

/// The letter at the beginning of some words, if all of it has come, and its length.
pub(crate) fn read(words: &[u64]) -> Option<(Letter, usize)> {
    let (&head, rest) = words.split_first()?;
    let count = (head >> KIND_BITS) as usize;
    let kind = head & ((1 << KIND_BITS) - 1);
    let content = match kind {
        REQUEST | RECALL => 2 * count,
        REMEMBER => 3 * count,
        RECALLED => count.div_ceil(64) + count,
        ANSWER => count,
        _ => 0,
    };
    let length = if kind == ANSWER { content } else { content + content.div_ceil(BLOCK) };
    let rest = rest.get(..length)?;
    let letter = match kind {
        REQUEST => Letter::Request(groups(rest).collect()),
        ANSWER => Letter::Answer(rest.iter().map(|&word| found(word)).collect()),
        REMEMBER => Letter::Remember(groups(rest).map(|[first, second, result]| ([first, second], result)).collect()),
        RECALL => Letter::Recall(groups(rest).collect()),
        RECALLED => Letter::Recalled(results(&unpacked(rest).collect::<Vec<u64>>(), count)),
        _ => Letter::Settled,
    };
    Some((letter, 1 + length))
}

fn unpacked(blocks: &[u64]) -> impl Iterator<Item = u64> {
    blocks.chunks(1 + BLOCK).flat_map(|block| {
        let highest = block[0];
        block[1..].iter().enumerate().map(move |(at, word)| word | (highest >> at & 1) << 63)
    })
}

/// The words of blocks, so many at a time.
fn groups<const WORDS: usize>(blocks: &[u64]) -> impl Iterator<Item = [u64; WORDS]> {
    let mut words = unpacked(blocks);
    std::iter::from_fn(move || {
        let mut group = [words.next()?; WORDS];
        for word in &mut group[1..] {
            *word = words.next()?;
        }
        Some(group)
    })
}

fn results(words: &[u64], count: usize) -> Vec<Option<u64>> {
    let (bits, results) = words.split_at(count.div_ceil(64));
    let one = |(at, &result): (usize, &u64)| (bits[at / 64] >> (at % 64) & 1 == 1).then_some(result);
    results.iter().enumerate().map(one).collect()
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
        for count in [0, 1, 21, 31, 32, 62, 63, 64, 65, 126, MOST as u64] {
            let nodes: Vec<Node> = (0..count).map(node).collect();
            let found: Vec<Option<Found>> = (0..count as u32)
                .map(|number| Position::from_number(number).map(|position| Found { position, new: number % 3 == 0 }))
                .collect();
            let results: Vec<(Key, u64)> = nodes.iter().map(|&key| (key, key[0].rotate_left(7))).collect();
            let some: Vec<Option<u64>> =
                (0..).zip(&results).map(|(at, pair)| (at % 3 != 1).then_some(pair.1)).collect();
            for (letter, meaning) in [
                (request(&nodes), Letter::Request(nodes.clone())),
                (answer(&found), Letter::Answer(found.clone())),
                (remember(&results), Letter::Remember(results.clone())),
                (recall(&nodes), Letter::Recall(nodes.clone())),
                (recalled(&some), Letter::Recalled(some.clone())),
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
