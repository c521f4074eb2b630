//! In which order slots are visited, and how many are read at a time.

use super::words::{LINE, Words};
use std::array;
use tremula_table::layout::scale;

/// An order of slots.
pub(crate) trait Probing: Send + Sync {
    /// Visit slots and the words in them until `visit` gives a result; there must be a slot for which it does. Also
    /// tells how many chunks were read, which are cache lines where slots are visited one by one.
    fn walk<R>(words: &Words, hash: u64, visit: impl FnMut(usize, u64) -> Option<R>) -> (R, u32);
}

/// Linear probing from the slot that the hash picks; `C` slots are copied at a time, as from another machine.
pub(crate) struct Chunks<const C: usize>;

/// The line that the hash picks, from the slot in it that the hash picks too, around, then the next line.
pub(crate) struct CacheLine;

/// One slot after the other.
pub(crate) struct Linear;

/// In steps that grow by one.
pub(crate) struct Quadratic;

impl<const C: usize> Probing for Chunks<C> {
    #[inline]
    fn walk<R>(words: &Words, hash: u64, mut visit: impl FnMut(usize, u64) -> Option<R>) -> (R, u32) {
        let slots = words.len();
        let mut first = scale(hash, slots);
        for chunks in 1.. {
            let chunk: [u64; C] = array::from_fn(|at| words.get(wrapped(first + at, slots)));
            for (at, word) in chunk.into_iter().enumerate() {
                if let Some(result) = visit(wrapped(first + at, slots), word) {
                    return (result, chunks);
                }
            }
            first = wrapped(first + C, slots);
        }
        unreachable!("there is an empty slot")
    }
}

impl Probing for CacheLine {
    #[inline]
    fn walk<R>(words: &Words, hash: u64, mut visit: impl FnMut(usize, u64) -> Option<R>) -> (R, u32) {
        let slots = words.len();
        let home = home(hash, slots);
        let (mut line, start) = (home - home % LINE, home % LINE);
        for lines in 1.. {
            for step in 0..LINE {
                let slot = line + (start + step) % LINE;
                if let Some(result) = visit(slot, words.get(slot)) {
                    return (result, lines);
                }
            }
            line = wrapped(line + LINE, slots);
        }
        unreachable!("there is an empty slot")
    }
}

impl Probing for Linear {
    #[inline]
    fn walk<R>(words: &Words, hash: u64, visit: impl FnMut(usize, u64) -> Option<R>) -> (R, u32) {
        by_steps(words, hash, |_| 1, visit)
    }
}

impl Probing for Quadratic {
    #[inline]
    fn walk<R>(words: &Words, hash: u64, visit: impl FnMut(usize, u64) -> Option<R>) -> (R, u32) {
        by_steps(words, hash, |number| number, visit)
    }
}

/// Visit slots at distances that `step` tells for each number of a visit. As many visits as there are slots may still
/// miss some of them, so single steps follow.
#[inline]
fn by_steps<R>(
    words: &Words,
    hash: u64,
    step: impl Fn(usize) -> usize,
    mut visit: impl FnMut(usize, u64) -> Option<R>,
) -> (R, u32) {
    let slots = words.len();
    let mut slot = home(hash, slots);
    let (mut line, mut lines) = (slot / LINE, 1);
    for number in 1.. {
        if let Some(result) = visit(slot, words.get(slot)) {
            return (result, lines);
        }
        slot = wrapped(slot + if number < slots { step(number) } else { 1 }, slots);
        lines += u32::from(slot / LINE != line);
        line = slot / LINE;
    }
    unreachable!("there is an empty slot")
}

/// Where slot by slot probing begins: a line by the upper bits of the hash, a slot in it by the lowest.
#[inline]
fn home(hash: u64, slots: usize) -> usize {
    scale(hash, slots / LINE) * LINE + hash as usize % LINE
}

/// The slot, after at most one turn around the table.
#[inline]
fn wrapped(slot: usize, slots: usize) -> usize {
    if slot < slots { slot } else { slot - slots }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOTS: usize = 5 * LINE;

    /// Visits until all slots were seen; the chunks read and the slots in their order.
    fn walk<P: Probing>(hash: u64) -> (u32, Vec<usize>) {
        let (mut seen, mut order) = ([false; SLOTS], Vec::new());
        let ((), chunks) = P::walk(&Words::new(SLOTS), hash, |slot, _| {
            seen[slot] = true;
            order.push(slot);
            seen.iter().all(|&seen| seen).then_some(())
        });
        (chunks, order)
    }

    #[test]
    fn every_slot_is_reached() {
        for hash in [0, 1, 12345, u64::MAX, u64::MAX / 3] {
            assert_eq!(walk::<Chunks<8>>(hash).0, 5);
            assert_eq!(walk::<Chunks<16>>(hash).0, 3);
            assert_eq!(walk::<CacheLine>(hash).0, 5);
            assert!(walk::<Linear>(hash).0 <= 6);
            assert!(walk::<Quadratic>(hash).1.len() <= 2 * SLOTS);
        }
    }

    #[test]
    fn orders_are_what_their_names_say() {
        let hash = u64::MAX - 4;
        assert_eq!(walk::<Chunks<8>>(hash).1[..3], [39, 0, 1]);
        assert_eq!(walk::<CacheLine>(hash).1[..9], [35, 36, 37, 38, 39, 32, 33, 34, 3]);
        assert_eq!(walk::<Linear>(hash).1[..6], [35, 36, 37, 38, 39, 0]);
        assert_eq!(walk::<Quadratic>(hash).1[..5], [35, 36, 38, 1, 5]);
    }
}
