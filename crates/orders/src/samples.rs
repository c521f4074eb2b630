//! Small nets for the tests of this crate.

use tremula_models::{Arc, PetriNet, Place, Transition};

/// What a transition takes and what it gives: pairs of place and weight.
pub(crate) type Step = [Vec<(u32, u64)>; 2];

/// A net from its initial marking and its transitions.
pub(crate) fn net(initial: &[u64], steps: Vec<Step>) -> PetriNet {
    let arcs = |mut list: Vec<(u32, u64)>| {
        list.sort_unstable();
        list.into_iter().map(|(place, weight)| Arc { place, weight }).collect()
    };
    let place = |(number, &initial)| Place { id: format!("p{number}"), name: None, initial };
    let transition = |(number, [taken, given]): (usize, Step)| Transition {
        id: format!("t{number}"),
        name: None,
        inputs: arcs(taken),
        outputs: arcs(given),
    };
    let net = PetriNet {
        id: "sample".to_owned(),
        places: initial.iter().enumerate().map(place).collect(),
        transitions: steps.into_iter().enumerate().map(transition).collect(),
        units: None,
    };
    net.check().expect("a sample that satisfies the invariants");
    net
}

/// A token that wanders from the first of some places to the last.
pub(crate) fn chain(places: u32) -> PetriNet {
    let initial: Vec<u64> = (0..places).map(|place| u64::from(place == 0)).collect();
    net(&initial, (1..places).map(|to| [vec![(to - 1, 1)], vec![(to, 1)]]).collect())
}

/// One transition that takes from the first place and gives to all others.
pub(crate) fn star(places: u32) -> PetriNet {
    let initial: Vec<u64> = (0..places).map(|place| u64::from(place == 0)).collect();
    net(&initial, vec![[vec![(0, 1)], (1..places).map(|place| (place, 1)).collect()]])
}

/// Philosophers around a table, each with four places: thinking, has the left fork, eating, and the fork to the left.
/// The places of one philosopher are apart from each other: all that think come first, then all with a fork, and so on.
pub(crate) fn philosophers(number: u32) -> PetriNet {
    let place = |kind: u32, who: u32| (kind * number + who % number, 1);
    let initial: Vec<u64> = (0..4 * number).map(|at| u64::from(at < number || at >= 3 * number)).collect();
    let mut steps: Vec<Step> = Vec::new();
    for who in 0..number {
        steps.push([vec![place(0, who), place(3, who)], vec![place(1, who)]]);
        steps.push([vec![place(1, who), place(3, who + 1)], vec![place(2, who)]]);
        steps.push([vec![place(2, who)], vec![place(0, who), place(3, who), place(3, who + 1)]]);
    }
    net(&initial, steps)
}

/// The Kanban system: four cells, each with a place for free cards, and three for parts; so many cards in each.
///
/// Cell `c` has the places `4c` (work), `4c + 1` (to be redone), `4c + 2` (finished) and `4c + 3` (cards).
pub(crate) fn kanban(cards: u64) -> PetriNet {
    let [work, redo, done, card] = [0, 1, 2, 3].map(|kind| move |cell: u32| (4 * cell + kind, 1));
    let initial: Vec<u64> = (0..16).map(|place| if place % 4 == 3 { cards } else { 0 }).collect();
    let mut steps: Vec<Step> = Vec::new();
    for cell in 0..4 {
        steps.push([vec![work(cell)], vec![redo(cell)]]);
        steps.push([vec![redo(cell)], vec![work(cell)]]);
        steps.push([vec![work(cell)], vec![done(cell)]]);
    }
    steps.push([vec![card(0)], vec![work(0)]]);
    steps.push([vec![done(0), card(1), card(2)], vec![card(0), work(1), work(2)]]);
    steps.push([vec![done(1), done(2), card(3)], vec![card(1), card(2), work(3)]]);
    steps.push([vec![done(3)], vec![card(3)]]);
    net(&initial, steps)
}

/// SplitMix64: small, good enough, the same everywhere.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.bits() % end
    }

    /// The numbers `0..end` in random order.
    pub(crate) fn permutation(&mut self, end: u32) -> Vec<u32> {
        let mut order: Vec<u32> = (0..end).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, self.below(at as u64 + 1) as usize);
        }
        order
    }

    /// A net with a few random arcs for each transition.
    pub(crate) fn net(&mut self, places: u64, transitions: u64) -> PetriNet {
        let steps = (0..transitions).map(|_| [self.arcs(places), self.arcs(places)]).collect();
        let initial: Vec<u64> = (0..places).map(|_| self.below(3)).collect();
        net(&initial, steps)
    }

    fn arcs(&mut self, places: u64) -> Vec<(u32, u64)> {
        let arcs = (0..self.below(4)).map(|_| (self.below(places) as u32, 1 + self.below(3) / 2));
        let mut arcs: Vec<(u32, u64)> = arcs.collect();
        arcs.sort_unstable();
        arcs.dedup_by_key(|arc| arc.0);
        arcs
    }
}

/// Names the seed when a test fails, however it fails.
pub(crate) struct Seed(pub(crate) u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed with seed {:#x}", self.0);
        }
    }
}
