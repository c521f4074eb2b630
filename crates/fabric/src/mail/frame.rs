//! Words of a stream as they lie in a ring: a header, and so many words behind it.
//!
//! Whoever writes to a ring through a network copies many words at once, in any order, and a word may show bytes of the new
//! and of the old one for a moment. So the header has a checksum of its words, and a frame is read only when that fits.
//! The bit [`ROUND`] of every word says in which round through the ring it was written, an odd or an even one: most of the
//! time that alone tells that nothing has come yet.

use crate::sync::{AtomicU64, Ordering};

/// Tells odd rounds through a ring from even ones; words to be sent have it clear.
pub(super) const ROUND: u64 = 1 << 63;

/// Most words in a frame, without its header: a few pages.
pub(super) const MOST: usize = 1000;

const LENGTH_BITS: u32 = 10;
const _: () = assert!(MOST < 1 << LENGTH_BITS);

/// The frame of `words`, in a ring of `ring` words, with so many words before it in all rounds.
pub(super) fn frame(ring: usize, before: u64, words: &[u64]) -> Vec<u64> {
    let mark = mark(ring, before);
    let header = header(before, words.iter().copied());
    std::iter::once(header).chain(words.iter().copied()).map(|word| word | mark).collect()
}

/// Append the words of the frame that has so many words before it in all rounds, if it has come as a whole. Returns its
/// length, header included.
pub(super) fn read(ring: &[AtomicU64], before: u64, words: &mut Vec<u64>) -> Option<usize> {
    let mark = mark(ring.len(), before);
    let at = (before % ring.len() as u64) as usize;
    // Acquire: pairs with the Release of a sender on this host. What a network writes is ordered by the checksum.
    let word = |place: &AtomicU64| Some(place.load(Ordering::Acquire)).filter(|word| word & ROUND == mark);
    let first = word(&ring[at])? & !ROUND;
    let length = (first & ((1 << LENGTH_BITS) - 1)) as usize;
    let (known, places) = (words.len(), ring[at + 1..].get(..length)?);
    for place in places {
        let Some(word) = word(place) else {
            words.truncate(known);
            return None;
        };
        words.push(word & !ROUND);
    }
    if first != header(before, words[known..].iter().copied()) {
        words.truncate(known);
        return None;
    }
    Some(1 + length)
}

/// The mark of the frame that has so many words before it. Rings begin with zeros, so the first round sets it.
fn mark(ring: usize, before: u64) -> u64 {
    if (before / ring as u64).is_multiple_of(2) { ROUND } else { 0 }
}

/// Length and checksum, which depends on the place too: an old frame is none.
fn header(before: u64, words: impl ExactSizeIterator<Item = u64>) -> u64 {
    let length = words.len() as u64;
    let sum = words.fold(mix(before, length), mix);
    (sum << LENGTH_BITS | length) & !ROUND
}

/// One step of a hash: every bit of both has a part in the lower half of the result.
fn mix(sum: u64, word: u64) -> u64 {
    let product = u128::from(sum ^ 0x9E37_79B9_7F4A_7C15) * u128::from(word ^ 0xD1B5_4A32_D192_ED03);
    (product as u64 ^ (product >> 64) as u64).wrapping_add(word.rotate_left(32))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RING: usize = 20;

    fn ring(words: &[u64]) -> Vec<AtomicU64> {
        words.iter().map(|&word| AtomicU64::new(word)).collect()
    }

    /// What a ring holds that two frames have filled, the second in round one, and the same before the second came.
    fn rounds() -> (Vec<u64>, Vec<u64>, Vec<u64>) {
        let old: Vec<u64> = (1..RING as u64).map(|at| at.wrapping_mul(0x0123_4567_89AB_CDEF) >> 1).collect();
        let new: Vec<u64> = old.iter().map(|word| !word & !ROUND).collect();
        (frame(RING, 0, &old), frame(RING, RING as u64, &new), new)
    }

    #[test]
    fn frames_are_read_as_they_were_written() {
        for length in 0..RING {
            for round in 0..3 {
                let (sent, before) = ((0..length as u64).collect::<Vec<u64>>(), (round * RING) as u64);
                let mut lying = frame(RING, before, &sent);
                lying.resize(RING, 0);
                let mut read_words = vec![42];
                assert_eq!(read(&ring(&lying), before, &mut read_words), Some(1 + length));
                assert_eq!(read_words, [&[42], &sent[..]].concat());
            }
        }
    }

    #[test]
    fn half_a_frame_is_none() {
        let (old, new, words) = rounds();
        let before = RING as u64;
        let mut seen = Vec::new();
        assert_eq!(read(&ring(&old), before, &mut seen), None, "nothing has come");
        for torn in 0..RING {
            // The upper bytes of a word have come and the lower have not, or the other way round.
            for bytes in 1..8 {
                let lower = (1u64 << (8 * bytes)) - 1;
                for keep in [lower, !lower] {
                    let mut lying = new.clone();
                    lying[torn] = old[torn] & keep | new[torn] & !keep;
                    // Headers may have a byte in common.
                    let expected = (lying[torn] == new[torn]).then_some(RING);
                    assert!(torn == 0 || expected.is_none());
                    assert_eq!(read(&ring(&lying), before, &mut seen), expected, "word {torn}, {bytes} bytes");
                    seen.clear();
                }
            }
            // A word has not come at all, though its mark is right.
            let mut lying = new.clone();
            lying[torn] = old[torn] ^ ROUND;
            assert_eq!(read(&ring(&lying), before, &mut seen), None);
            assert!(seen.is_empty());
        }
        assert_eq!(read(&ring(&new), before, &mut seen), Some(RING));
        assert_eq!(seen, words);
        assert_eq!(read(&ring(&new), 3 * before, &mut seen), None, "a frame of two rounds ago");
    }
}
