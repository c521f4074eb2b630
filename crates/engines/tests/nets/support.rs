//! What these tests share: nets, a search without diagrams, and ways to explore.

use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use tremula_diagrams::mdd::{Mdd, MddOptions, Saturation};
use tremula_diagrams::{Attention, Budget, Error};
use tremula_engines::net::{EncodedNet, NetSystem};
use tremula_engines::{Order, Strategy};
use tremula_models::{Arc, Limits, PetriNet, Place, Transition, read_pnml_file};
use tremula_orders::{FlowLimits, OrderLimits, Semiflows, candidates};

/// States, transitions, most tokens in a place and in a marking, as digits.
pub type Values = [String; 4];

pub const SATURATIONS: [Saturation; 2] = [Saturation { early: false }, Saturation { early: true }];
/// Nets with more states are too large for the explicit search, and for strategies that go round by round.
pub const SMALL: usize = 10_000;
pub const RANDOM_NETS: usize = 30;
pub const MEMORY: usize = 64 << 20;
/// Tables that begin small, and collect before they grow.
pub const THRIFTY: MddOptions = MddOptions { initial: 1 << 13, eager_bytes: 0, stress: None };

/// How to find all markings.
#[derive(Copy, Clone, Debug)]
pub enum Way {
    Saturate(Saturation),
    Rounds(Strategy),
}

pub fn rounds() -> impl Iterator<Item = Way> {
    Strategy::ALL.into_iter().filter(|strategy| strategy.order != Order::Saturation).map(Way::Rounds)
}

pub fn saturations() -> impl Iterator<Item = Way> {
    SATURATIONS.into_iter().map(Way::Saturate)
}

pub fn build(net: &PetriNet, order: &[u32], budget: &Budget, options: MddOptions) -> Result<NetSystem, Error> {
    let encoding = EncodedNet::new(net, order, &[], &[]).expect("few tokens");
    NetSystem::build(encoding, budget, options, Attention::default())
}

pub fn explore(system: &NetSystem, way: Way) -> Result<Mdd, Error> {
    match way {
        Way::Saturate(saturation) => system.saturator(saturation).run(),
        Way::Rounds(strategy) => {
            system.explore(strategy, &mut ()).map(|reached| reached.states).map_err(|stopped| stopped.error)
        }
    }
}

pub fn values(system: &NetSystem, states: &Mdd) -> Result<Values, Error> {
    let space = system.state_space(states)?;
    Ok([
        space.states.to_string(),
        space.transitions.to_string(),
        space.max_tokens_in_place.to_string(),
        space.max_tokens_per_marking.to_string(),
    ])
}

/// Explore in a manager of its own.
pub fn values_of(net: &PetriNet, order: &[u32], way: Way, options: MddOptions) -> Values {
    let system = build(net, order, &Budget::new(MEMORY), options).unwrap();
    let states = explore(&system, way).unwrap();
    values(&system, &states).unwrap()
}

/// What a search finds that fires every transition in every marking.
pub struct Explicit {
    pub values: Values,
    pub deadlocks: BTreeSet<Vec<u128>>,
    pub markings: HashSet<Vec<u128>>,
}

impl Explicit {
    pub fn is_tiny(&self) -> bool {
        self.markings.len() <= 400
    }
}

/// Search without diagrams, unless there are too many markings.
pub fn search(net: &PetriNet) -> Option<Explicit> {
    let initial: Vec<u128> = net.places.iter().map(|place| place.initial.into()).collect();
    let mut markings = HashSet::from([initial.clone()]);
    let mut waiting = vec![initial];
    let mut deadlocks = BTreeSet::new();
    let (mut transitions, mut in_place, mut per_marking) = (0_u64, 0, 0);
    while let Some(marking) = waiting.pop() {
        in_place = in_place.max(marking.iter().copied().max().unwrap_or(0));
        per_marking = per_marking.max(marking.iter().sum());
        let before = transitions;
        for transition in &net.transitions {
            let mut next = marking.clone();
            let take = |arc: &Arc| next[arc.place as usize].checked_sub(arc.weight.into());
            let Some(left) = transition.inputs.iter().map(take).collect::<Option<Vec<u128>>>() else { continue };
            transition.inputs.iter().zip(left).for_each(|(arc, left)| next[arc.place as usize] = left);
            transition.outputs.iter().for_each(|arc| next[arc.place as usize] += u128::from(arc.weight));
            transitions += 1;
            if !markings.contains(&next) {
                markings.insert(next.clone());
                waiting.push(next);
            }
        }
        if transitions == before {
            deadlocks.insert(marking);
        }
        if markings.len() > SMALL {
            return None;
        }
    }
    let values = [markings.len().to_string(), transitions.to_string(), in_place.to_string(), per_marking.to_string()];
    Some(Explicit { values, deadlocks, markings })
}

/// A net of the repository and its four values.
pub struct Known {
    pub path: String,
    pub net: PetriNet,
    pub values: Values,
}

impl Known {
    /// Are there so many tokens that it takes long?
    pub fn is_vast(&self) -> bool {
        self.values[0].len() > 10
    }

    pub fn is_small(&self) -> bool {
        self.values[0].parse().is_ok_and(|states: usize| states <= SMALL)
    }
}

pub fn known_nets() -> Vec<Known> {
    let testdata = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let text = std::fs::read_to_string(testdata.join("expected.toml")).unwrap();
    let known = |entry: &str| {
        let field = |name: &str| {
            let value = entry.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
            value.unwrap_or_else(|| panic!("{name} in {entry}")).trim_matches('"').to_owned()
        };
        let path = field("path");
        let net = read_pnml_file(&testdata.join(&path), &Limits::default()).unwrap();
        let values = ["states", "transitions", "max_token_in_place", "max_token_per_marking"].map(field);
        Known { path, net, values }
    };
    let nets: Vec<Known> = text.split("[[net]]").skip(1).map(known).collect();
    assert!(nets.len() >= 10);
    nets
}

/// Xorshift, for nets that are the same everywhere.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    /// Arcs to different places.
    pub fn arcs(&mut self, places: u64, most: u64, heaviest: u64) -> Vec<Arc> {
        let mut arcs: Vec<Arc> = (0..self.below(most + 1))
            .map(|_| Arc { place: self.below(places) as u32, weight: 1 + self.below(heaviest) })
            .collect();
        arcs.sort_by_key(|arc| arc.place);
        arcs.dedup_by_key(|arc| arc.place);
        arcs
    }

    /// A net with self-loops, constant places, transitions that do nothing, and sometimes great weights.
    pub fn net(&mut self) -> PetriNet {
        let places = 3 + self.below(6);
        let heaviest = 1 + self.below(3);
        let mut transitions = Vec::new();
        for number in 0..3 + self.below(8) {
            let (mut inputs, outputs) = (self.arcs(places, 3, heaviest), self.arcs(places, 3, heaviest));
            // Mostly no more is given than is taken: nets are to have an end.
            let weight = |arcs: &[Arc]| arcs.iter().map(|arc| arc.weight).sum::<u64>();
            let missing = weight(&outputs).saturating_sub(weight(&inputs));
            if missing > 0 && self.below(10) > 0 {
                match inputs.first_mut() {
                    Some(arc) => arc.weight += missing,
                    None => inputs.push(Arc { place: self.below(places) as u32, weight: missing }),
                }
            }
            transitions.push(Transition { id: format!("t{number}"), name: None, inputs, outputs });
        }
        let place = |at| Place { id: format!("p{at}"), name: None, initial: self.below(5) };
        let mut net = PetriNet { places: (0..places).map(place).collect(), transitions, ..PetriNet::default() };
        if self.below(4) == 0 {
            self.stretch(&mut net);
        }
        net.check().unwrap();
        net
    }

    /// Multiply all that concerns one place, beyond 2^32.
    pub fn stretch(&mut self, net: &mut PetriNet) {
        let (stretched, factor) = (self.below(net.places.len() as u64) as u32, 5_000_000_000 + self.below(1000));
        let place = &mut net.places[stretched as usize];
        place.initial = place.initial * factor + self.below(factor);
        let arcs = net.transitions.iter_mut().flat_map(|t| t.inputs.iter_mut().chain(&mut t.outputs));
        arcs.filter(|arc| arc.place == stretched).for_each(|arc| arc.weight *= factor);
    }
}

/// A net, where it comes from, and what the explicit search says.
pub struct Sample {
    pub name: String,
    pub net: PetriNet,
    pub explicit: Explicit,
}

/// Random nets that are neither trivial nor too large, and the small ones of the repository.
pub fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    for seed in (1_u64..).map(|number| 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(number)) {
        let net = Random(seed).net();
        match search(&net) {
            Some(explicit) if (8..=1000).contains(&explicit.markings.len()) => {
                println!("seed {seed:#x}: {} markings", explicit.markings.len());
                samples.push(Sample { name: format!("seed {seed:#x}"), net, explicit });
            }
            _ => {}
        }
        if samples.len() == RANDOM_NETS {
            break;
        }
    }
    for known in known_nets().into_iter().filter(Known::is_small) {
        let explicit = search(&known.net).unwrap();
        assert_eq!(explicit.values, known.values, "{}", known.path);
        samples.push(Sample { name: known.path, net: known.net, explicit });
    }
    samples
}

/// All orders that there are, the given one and all reverses among them.
pub fn orders(net: &PetriNet) -> Vec<Vec<u32>> {
    let semiflows = Semiflows::of(net, &FlowLimits::default());
    let found = candidates(net, &semiflows, &OrderLimits::default());
    let forth: Vec<Vec<u32>> = found.into_iter().map(|candidate| candidate.order).collect();
    let back: Vec<Vec<u32>> = forth.iter().map(|order| order.iter().rev().copied().collect()).collect();
    let mut orders: Vec<Vec<u32>> = Vec::new();
    for order in forth.into_iter().chain(back).chain([(0..net.places.len() as u32).collect()]) {
        if !orders.contains(&order) {
            orders.push(order);
        }
    }
    orders
}
