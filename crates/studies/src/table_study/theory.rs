//! What the thesis expects of linear probing in chunks, and what it measured.
//!
//! The thesis: W. Oortwijn, *Distributed Symbolic Reachability Analysis*, sections 3.3 and 3.5.2.

/// The expected number of slots to look at until an empty one is found, divided by the slots of a chunk (Corollary 1).
///
/// The thesis calls it the greatest number of chunks to expect. But whole chunks are read: the mean of
/// `ceil(slots / chunk)` is at least one, and lies above this number by up to `1 - 1 / chunk`.
pub fn expected_chunks(chunk: usize, load: f64) -> f64 {
    (1.0 + 1.0 / (1.0 - load).powi(2)) / (2.0 * chunk as f64)
}

/// The load up to which a chunk of `chunk` slots is expected to have an empty one (Theorem 2).
pub fn efficiency_bound(chunk: usize) -> f64 {
    1.0 - (1.0 / (2.0 * chunk as f64 - 1.0)).sqrt()
}

/// Figure 3.17, measured over a network: loads, then for each chunk size the expected and the actual number of round
/// trips at these loads.
const LOADS: [f64; 3] = [0.5, 0.8, 0.9];
const FIGURE_3_17: [(usize, [(u32, f64); 3]); 5] = [
    (8, [(1, 1.04), (2, 2.05), (7, 5.77)]),
    (16, [(1, 1.00), (1, 1.41), (4, 3.21)]),
    (32, [(1, 1.00), (1, 1.13), (2, 1.96)]),
    (64, [(1, 1.00), (1, 1.03), (1, 1.37)]),
    (128, [(1, 1.00), (1, 1.00), (1, 1.11)]),
];

/// Figure 3.14, at the same loads: nanoseconds on one machine and over InfiniBand.
const FIGURE_3_14: [(usize, [(u32, u32); 3]); 5] = [
    (8, [(338, 7981), (431, 9602), (769, 15_873)]),
    (16, [(447, 8046), (493, 8746), (682, 11_653)]),
    (32, [(526, 8217), (548, 8446), (695, 9928)]),
    (64, [(629, 8565), (639, 8645), (710, 9304)]),
    (128, [(733, 9383), (743, 9413), (802, 9708)]),
];

/// Round trips in Figure 3.17 of the thesis: expected and measured.
pub fn thesis(chunk: usize, load: f64) -> Option<(u32, f64)> {
    entry(&FIGURE_3_17, chunk, load)
}

/// Mean latencies of find-or-put in Figure 3.14 of the thesis, in nanoseconds: on one machine and over a network.
pub fn thesis_latency(chunk: usize, load: f64) -> Option<(u32, u32)> {
    entry(&FIGURE_3_14, chunk, load)
}

fn entry<T: Copy>(figure: &[(usize, [T; 3])], chunk: usize, load: f64) -> Option<T> {
    let column = LOADS.iter().position(|&known| (known - load).abs() < 1e-9)?;
    let row = figure.iter().find(|row| row.0 == chunk)?;
    Some(row.1[column])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_give_the_numbers_of_the_thesis() {
        assert_eq!(expected_chunks(1, 0.0), 1.0);
        assert_eq!(expected_chunks(1, 0.5), 2.5);
        assert!((expected_chunks(8, 0.9) - 6.3125).abs() < 1e-9);
        // Figure 3.3.
        let bounds = [8, 16, 32, 64, 128, 256].map(|chunk| format!("{:.2}", efficiency_bound(chunk)));
        assert_eq!(bounds, ["0.74", "0.82", "0.87", "0.91", "0.94", "0.96"]);
    }

    #[test]
    fn latencies_have_the_slowdowns_of_the_figure() {
        let slowdown = |chunk, load| {
            let (local, remote) = thesis_latency(chunk, load).unwrap();
            format!("{:.2}", f64::from(remote) / f64::from(local))
        };
        assert_eq!(
            [8, 16, 32, 64, 128].map(|chunk| slowdown(chunk, 0.5)),
            ["23.61", "18.00", "15.62", "13.62", "12.80"]
        );
        assert_eq!(
            [8, 16, 32, 64, 128].map(|chunk| slowdown(chunk, 0.9)),
            ["20.64", "17.09", "14.28", "13.10", "12.10"]
        );
    }

    /// What the figure calls expected is Corollary 1, rounded up.
    #[test]
    fn the_figure_follows_from_the_formula() {
        for (chunk, _) in FIGURE_3_17 {
            for load in LOADS {
                let (expected, _) = thesis(chunk, load).unwrap();
                assert_eq!(f64::from(expected), expected_chunks(chunk, load).ceil(), "C={chunk}, load {load}");
            }
        }
        assert_eq!(thesis(8, 0.7), None);
        assert_eq!(thesis(256, 0.5), None);
    }
}
