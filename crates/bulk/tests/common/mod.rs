//! What the test files share: models of `testdata`, random systems, and the CPU engine to compare with.

use std::path::PathBuf;
use tremula_diagrams::{Bdd, Budget, Manager};
use tremula_engines::{Strategy, SymbolicSystem, reach};
use tremula_models::{BddSystem, Edge, Group, Layout, Limits, Node, StateVariable, read_file};

/// Names the seed when a test fails, however it fails.
pub struct Seed(pub u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed with seed {:#x}", self.0);
        }
    }
}

/// SplitMix64: small, good enough, the same everywhere.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }
}

/// A model of `testdata`.
pub fn model(name: &str) -> BddSystem {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name);
    read_file(&path, &Limits::default()).unwrap()
}

/// All reachable states, by the CPU engine.
pub fn by_the_cpu_engine(model: &BddSystem) -> (Manager, Bdd) {
    let manager = Manager::new(&Budget::new(256 << 20)).unwrap();
    let system = SymbolicSystem::build(&manager, model).unwrap();
    let reached = reach(&system, Strategy::AUTO, &mut ()).map_err(|stopped| stopped.error).unwrap();
    (manager, reached.states)
}

/// A system of a few integers and groups whose relations are random diagrams, with action labels below.
pub fn random_system(seed: u64) -> BddSystem {
    let random = &mut Random(seed);
    let variables: Vec<StateVariable> =
        (0..3 + random.below(3)).map(|_| StateVariable { bits: 1 + random.below(3) as u32 }).collect();
    let mut model = BddSystem {
        variables,
        action_bits: 2,
        nodes: Vec::new(),
        initial: Edge::FALSE,
        groups: Vec::new(),
        reachable: None,
        action_labels: Vec::new(),
        layout: Layout::Sylvan,
    };
    for _ in 0..2 + random.below(4) {
        let touched: Vec<u32> = (0..model.variables.len() as u32).filter(|_| random.below(2) == 0).collect();
        let mut group = Group { reads: touched.clone(), writes: touched, relation: Edge::FALSE };
        let mut variables: Vec<u32> = model.group_bits(&group).iter().flat_map(|bit| [2 * bit, 2 * bit + 1]).collect();
        variables.extend((0..2).map(|bit| tremula_models::FIRST_ACTION_VARIABLE + bit));
        group.relation = random_function(random, &mut model.nodes, &variables);
        model.groups.push(group);
    }
    // One initial state.
    model.initial = (0..model.state_bits()).rev().fold(Edge::TRUE, |rest, bit| {
        let (low, high) = if random.below(2) == 0 { (Edge::FALSE, rest) } else { (rest, Edge::FALSE) };
        make(&mut model.nodes, 2 * bit, low, high)
    });
    model
}

/// The same system with other initial states, several of them as a rule.
pub fn with_several_initial_states(mut model: BddSystem, seed: u64) -> BddSystem {
    let variables: Vec<u32> = (0..model.state_bits()).map(BddSystem::current_variable).collect();
    model.initial = random_function(&mut Random(seed), &mut model.nodes, &variables);
    model
}

/// A node without a complement on its low edge, and unlike all others.
fn make(nodes: &mut Vec<Node>, variable: u32, low: Edge, high: Edge) -> Edge {
    if low == high {
        return low;
    }
    let negate = low.is_complement();
    let node = Node { variable, low: low.not_if(negate), high: high.not_if(negate) };
    let known = nodes.iter().position(|other| *other == node);
    let position = known.unwrap_or_else(|| {
        nodes.push(node);
        nodes.len() - 1
    });
    Edge::new(position as u32 + 1, negate)
}

/// A random function of these variables, which ascend.
fn random_function(random: &mut Random, nodes: &mut Vec<Node>, variables: &[u32]) -> Edge {
    let mut known = vec![Edge::FALSE, Edge::TRUE];
    for &variable in variables.iter().rev() {
        for _ in 0..2 + random.below(3) {
            // Functions made last lie nearer to the root. Most moves are impossible, or everything can be reached.
            let mut pick = |known: &[Edge]| match random.below(5) {
                0 | 1 => Edge::FALSE,
                _ => known[known.len() - 1 - random.below(known.len().min(4))],
            };
            let (low, high) = (pick(&known), pick(&known));
            let below = |edge: Edge| edge.is_terminal() || nodes[edge.id() as usize - 1].variable > variable;
            if below(low) && below(high) {
                let negate = random.below(8) == 0;
                let made = make(nodes, variable, low.not_if(negate), high);
                known.push(made);
            }
        }
    }
    *known.last().expect("two constants at least")
}
