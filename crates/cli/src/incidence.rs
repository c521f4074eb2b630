//! What the transitions of a net do to its places, as a matrix.

use crate::matrix::{Matrix, TRANSITIONS};
use tremula_models::{Arc, PetriNet};

/// Places and transitions as the file has them.
pub fn given(net: &PetriNet) -> Matrix {
    let order: Vec<u32> = (0..net.places.len() as u32).collect();
    rows(net, &order)
}

/// Places in an order, transitions by the first level they touch, then by the last one.
pub fn ordered(net: &PetriNet, order: &[u32]) -> Matrix {
    let mut matrix = rows(net, order);
    matrix.rows.sort_by_cached_key(|(taken, given)| {
        let touched = || taken.iter().chain(given);
        // Those that touch nothing come last.
        (touched().min().copied().unwrap_or(u32::MAX), touched().max().copied())
    });
    matrix
}

fn rows(net: &PetriNet, order: &[u32]) -> Matrix {
    let mut levels = vec![0; order.len()];
    for (level, &place) in order.iter().enumerate() {
        levels[place as usize] = level as u32;
    }
    let on_levels = |arcs: &[Arc]| {
        let mut found: Vec<u32> = arcs.iter().map(|arc| levels[arc.place as usize]).collect();
        found.sort_unstable();
        found
    };
    let row = |transition: &tremula_models::Transition| (on_levels(&transition.inputs), on_levels(&transition.outputs));
    Matrix {
        terms: &TRANSITIONS,
        columns: order.len(),
        rows: net.transitions.iter().map(row).collect(),
        tells_reads_from_writes: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tremula_models::{Place, Transition};

    /// Two transitions: the first from place 1 to 2, the second from 0 to 0 and 2.
    fn net() -> PetriNet {
        let place = Place { id: "p".to_owned(), name: None, initial: 0 };
        let arcs = |places: &[u32]| places.iter().map(|&place| Arc { place, weight: 1 }).collect();
        let transition = |inputs: &[u32], outputs: &[u32]| Transition {
            id: "t".to_owned(),
            name: None,
            inputs: arcs(inputs),
            outputs: arcs(outputs),
        };
        let transitions = vec![transition(&[1], &[2]), transition(&[0], &[0, 2])];
        PetriNet { places: vec![place; 3], transitions, ..PetriNet::default() }
    }

    #[test]
    fn the_file_decides_where_nobody_orders() {
        assert_eq!(given(&net()).rows, [(vec![1], vec![2]), (vec![0], vec![0, 2])]);
    }

    #[test]
    fn rows_go_by_the_first_level() {
        assert_eq!(ordered(&net(), &[0, 1, 2]).rows, [(vec![0], vec![0, 2]), (vec![1], vec![2])]);
        assert_eq!(ordered(&net(), &[1, 2, 0]).rows, [(vec![0], vec![1]), (vec![2], vec![1, 2])]);
    }
}
