//! Where to cut a piece: by the variable that leaves the smaller diagrams on both sides. And how to cut a set where there is no
//! room to look for that.

use super::pieces::Cube;
use tremula_diagrams::{Bdd, Error};

/// Nodes that a search may look at, about; with more candidates than that allows, every so-manieth is tried.
const EFFORT: usize = 1 << 20;
/// So many candidates are always tried.
const LEAST_CANDIDATES: usize = 8;

/// The level whose value cuts `set` best: the larger side is as small as may be. None if no level cuts it in two smaller
/// ones. `taken` are the literals that all its states have in common already.
pub(super) fn best_level(set: &Bdd, taken: &Cube) -> Result<Option<u32>, Error> {
    let whole = set.node_count()?;
    let levels: Vec<u32> =
        set.support()?.into_iter().filter(|level| taken.iter().all(|literal| literal.0 != *level)).collect();
    let most = (EFFORT / (2 * whole.max(1))).max(LEAST_CANDIDATES);
    let stride = levels.len().div_ceil(most).max(1);
    let mut best: Option<(usize, u32)> = None;
    for &level in levels.iter().step_by(stride) {
        let larger = sides(set, level)?.into_iter().max().unwrap_or(0);
        if larger < best.map_or(whole, |(size, _)| size) {
            best = Some((larger, level));
        }
    }
    Ok(best.map(|(_, level)| level))
}

/// The states of a set that have the value false at the first level at which they differ; none if all are alike as far as the
/// set depends on levels.
pub(super) fn first_half(set: &Bdd) -> Result<Option<Bdd>, Error> {
    let (mut literals, mut rest) = (Cube::new(), set.clone());
    while let (Some(level), Some((low, high))) = (rest.level(), rest.children()) {
        let is_high = low.is_false();
        literals.push((level, is_high));
        if !is_high && !high.is_false() {
            return set.and(&set.manager().cube(&literals)?).map(Some);
        }
        rest = if is_high { high } else { low };
    }
    Ok(None)
}

/// Nodes of what has either value at a level.
fn sides(set: &Bdd, level: u32) -> Result<[usize; 2], Error> {
    let side = |value| set.cofactor(&[(level, value)])?.node_count();
    Ok([side(false)?, side(true)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use tremula_diagrams::{Budget, Manager};

    #[test]
    fn the_better_variable_is_found() {
        let manager = Manager::new(&Budget::new(16 << 20)).unwrap();
        let v: Vec<Bdd> = (0..8).map(|level| manager.var(level).unwrap()).collect();
        // Two functions of equal size, chosen by the variable in the middle.
        let odd = |levels: [usize; 3]| v[levels[0]].xor(&v[levels[1]]).unwrap().xor(&v[levels[2]]).unwrap();
        let set = v[4].ite(&odd([0, 1, 5]), &odd([2, 3, 6])).unwrap();
        assert_eq!(best_level(&set, &Cube::new()).unwrap(), Some(4));
        assert_ne!(best_level(&set, &vec![(4, true)]).unwrap(), Some(4));
    }

    #[test]
    fn halves_get_smaller_until_nothing_is_left_to_halve() {
        let manager = Manager::new(&Budget::new(16 << 20)).unwrap();
        let v: Vec<Bdd> = (0..6).map(|level| manager.var(level).unwrap()).collect();
        let mut set = v[0].and(&v[2].or(&v[3]).unwrap()).unwrap().and(&v[5]).unwrap();
        let levels: Vec<u32> = (0..6).collect();
        let mut counts = vec![set.count(&levels).unwrap()];
        while let Some(half) = first_half(&set).unwrap() {
            assert!(half.minus(&set).unwrap().is_false() && half != set);
            counts.push(half.count(&levels).unwrap());
            set = half;
        }
        assert!(counts.len() > 1 && counts.is_sorted_by(|a, b| a > b), "{counts:?}");
    }

    #[test]
    fn a_constant_cannot_be_cut() {
        let manager = Manager::new(&Budget::new(16 << 20)).unwrap();
        for value in [false, true] {
            assert_eq!(best_level(&manager.constant(value), &Cube::new()).unwrap(), None);
        }
    }
}
