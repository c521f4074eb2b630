//! Pieces of the state space and whose they are.
//!
//! A piece is a cube: all states in which some variables have certain values. Invariant: every state is in exactly one
//! piece. All ranks hold the same list, and what changes it depends on nothing but the list and what all ranks know.

/// A conjunction of literals: levels, each with the value that it has.
pub(super) type Cube = Vec<(u32, bool)>;

/// The state space in pieces.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Pieces {
    cubes: Vec<Cube>,
    owners: Vec<usize>,
}

impl Pieces {
    /// One piece, which belongs to the first rank.
    pub(super) fn whole() -> Pieces {
        Pieces { cubes: vec![Cube::new()], owners: vec![0] }
    }

    pub(super) fn len(&self) -> usize {
        self.cubes.len()
    }

    pub(super) fn cube(&self, piece: usize) -> &Cube {
        &self.cubes[piece]
    }

    /// The pieces of a rank.
    pub(super) fn of(&self, rank: usize) -> impl Iterator<Item = usize> {
        (0..self.len()).filter(move |&piece| self.owners[piece] == rank)
    }

    /// Cut a piece in two, by the value at a level that it leaves open. Both belong to its owner.
    pub(super) fn cut(&mut self, piece: usize, level: u32) {
        debug_assert!(self.cubes[piece].iter().all(|literal| literal.0 != level));
        let mut other = self.cubes[piece].clone();
        other.push((level, true));
        self.cubes[piece].push((level, false));
        self.cubes.push(other);
        self.owners.push(self.owners[piece]);
    }

    /// Deal the pieces out anew, so that sizes are as equal as may be: the largest first, each to who has least by then. It
    /// stays where it is if that is hardly worse.
    pub(super) fn deal(&mut self, ranks: usize, sizes: &[u64]) {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_key(|&piece| (std::cmp::Reverse(sizes[piece]), piece));
        let slack = sizes.iter().sum::<u64>() / (STAYING * ranks as u64);
        let mut loads = vec![0; ranks];
        for piece in order {
            let least = (0..ranks).min_by_key(|&rank| (loads[rank], rank)).expect("there is a rank");
            let owner = &mut self.owners[piece];
            if loads[*owner] > loads[least] + slack {
                *owner = least;
            }
            loads[*owner] += sizes[piece];
        }
    }
}

/// A piece stays if its owner has at most this part of an equal share more than the one who has least.
const STAYING: u64 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    /// How many pieces an assignment is in.
    fn containing(pieces: &Pieces, bits: u32) -> usize {
        let holds = |&(level, value): &(u32, bool)| (bits >> level & 1 == 1) == value;
        (0..pieces.len()).filter(|&piece| pieces.cube(piece).iter().all(holds)).count()
    }

    #[test]
    fn every_state_is_in_one_piece() {
        let mut pieces = Pieces::whole();
        for (piece, level) in [(0, 3), (0, 1), (1, 0), (3, 2), (2, 0)] {
            pieces.cut(piece, level);
            assert!((0..16).all(|bits| containing(&pieces, bits) == 1), "{pieces:?}");
        }
        assert_eq!((pieces.len(), pieces.of(0).count()), (6, 6));
    }

    #[test]
    fn sizes_are_dealt_out_evenly() {
        let mut pieces = Pieces::whole();
        (0..5).for_each(|level| pieces.cut(0, level));
        let sizes = [50, 10, 20, 30, 40, 50];
        pieces.deal(3, &sizes);
        let load = |rank| pieces.of(rank).map(|piece| sizes[piece]).sum::<u64>();
        let loads = [load(0), load(1), load(2)];
        assert_eq!(loads.iter().sum::<u64>(), 200);
        assert!(loads.iter().all(|&load| (60..=80).contains(&load)), "{loads:?}");
    }

    #[test]
    fn who_has_hardly_more_keeps_what_he_has() {
        let mut pieces = Pieces::whole();
        pieces.cut(0, 0);
        pieces.deal(2, &[100, 100]);
        let dealt = pieces.clone();
        pieces.deal(2, &[101, 99]);
        assert_eq!(pieces, dealt);
    }

    #[test]
    fn one_rank_keeps_everything() {
        let mut pieces = Pieces::whole();
        pieces.cut(0, 7);
        pieces.deal(1, &[3, 0]);
        assert_eq!(pieces.of(0).collect::<Vec<_>>(), [0, 1]);
    }
}
