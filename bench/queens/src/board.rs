//! The n-queens problem, stated over any [`Peer`].
//!
//! Square (r, c) of the n x n board is variable r * n + c. A square's cube says
//! that its queen stands there and attacks nobody; a row is the disjunction of
//! its squares' cubes, the board the conjunction of its rows.

use std::ops::RangeInclusive;

use crate::peers::Peer;

/// The board sizes whose solutions are known here.
pub const SIZES: RangeInclusive<u32> = 1..=11;

/// The number of solutions of a board, for the sizes in [`SIZES`].
pub fn solutions(size: u32) -> u64 {
    [1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680][size as usize - 1]
}

/// The diagram of all solutions: the rows conjoined from top to bottom.
pub fn queens<P: Peer>(peer: &mut P, size: u32) -> P::Node {
    let first = row(peer, size, 0);
    (1..size).fold(first, |above, r| {
        let row = row(peer, size, r);
        peer.and(&above, &row)
    })
}

/// Row `r`: its squares' cubes disjoined from left to right.
fn row<P: Peer>(peer: &mut P, size: u32, r: u32) -> P::Node {
    let first = cube(peer, size, (r, 0));
    (1..size).fold(first, |left, c| {
        let cube = cube(peer, size, (r, c));
        peer.or(&left, &cube)
    })
}

/// The cube of a square, conjoined from its largest variable to its smallest.
fn cube<P: Peer>(peer: &mut P, size: u32, square: (u32, u32)) -> P::Node {
    let mut literals = (0..size * size)
        .rev()
        .map(|variable| (variable, (variable / size, variable % size)))
        .filter(|&(_, other)| attacks(square, other))
        .map(|(variable, other)| (variable, other == square));
    let (variable, positive) = literals.next().expect("a square attacks itself");
    let last = peer.literal(variable, positive);
    literals.fold(last, |below, (variable, positive)| {
        let literal = peer.literal(variable, positive);
        peer.and(&literal, &below)
    })
}

/// Whether two squares share a row, a column or a diagonal.
fn attacks((r, c): (u32, u32), (s, d): (u32, u32)) -> bool {
    r == s || c == d || r.abs_diff(s) == c.abs_diff(d)
}
