//! Petri nets: the same four values in every order, by every strategy, under forced collections and in little memory;
//! checked against known answers and against a search that fires every transition in every marking.

use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use std::time::Duration;
use tremula_diagrams::mdd::{Mdd, MddOptions, Saturation};
use tremula_diagrams::{Attention, Budget, Error, Manager};
use tremula_engines::net::{self, Contest, Contestant, EncodedNet, Lineup, NetSystem, NoWinner, groups};
use tremula_engines::{Order, Strategy, SymbolicSystem, reach};
use tremula_models::{Arc, Limits, PetriNet, Place, Transition, Unit, Units, read_pnml_file};
use tremula_orders::{FlowLimits, OrderLimits, Semiflows, candidates};

/// States, transitions, most tokens in a place and in a marking, as digits.
type Values = [String; 4];

const SATURATIONS: [Saturation; 2] = [Saturation { early: false }, Saturation { early: true }];
/// Nets with more states are too large for the explicit search, and for strategies that go round by round.
const SMALL: usize = 10_000;
const RANDOM_NETS: usize = 30;
const MEMORY: usize = 64 << 20;
/// Tables that begin small, and collect before they grow.
const THRIFTY: MddOptions = MddOptions { initial: 1 << 13, eager_bytes: 0, stress: None };

/// How to find all markings.
#[derive(Copy, Clone, Debug)]
enum Way {
    Saturate(Saturation),
    Rounds(Strategy),
}

fn rounds() -> impl Iterator<Item = Way> {
    Strategy::ALL.into_iter().filter(|strategy| strategy.order != Order::Saturation).map(Way::Rounds)
}

fn saturations() -> impl Iterator<Item = Way> {
    SATURATIONS.into_iter().map(Way::Saturate)
}

fn build(net: &PetriNet, order: &[u32], budget: &Budget, options: MddOptions) -> Result<NetSystem, Error> {
    let encoding = EncodedNet::new(net, order, &[], &[]).expect("few tokens");
    NetSystem::build(encoding, budget, options, Attention::default())
}

fn explore(system: &NetSystem, way: Way) -> Result<Mdd, Error> {
    match way {
        Way::Saturate(saturation) => system.saturator(saturation).run(),
        Way::Rounds(strategy) => {
            system.explore(strategy, &mut ()).map(|reached| reached.states).map_err(|stopped| stopped.error)
        }
    }
}

fn values(system: &NetSystem, states: &Mdd) -> Result<Values, Error> {
    let space = system.state_space(states)?;
    Ok([
        space.states.to_string(),
        space.transitions.to_string(),
        space.max_tokens_in_place.to_string(),
        space.max_tokens_per_marking.to_string(),
    ])
}

/// Explore in a manager of its own.
fn values_of(net: &PetriNet, order: &[u32], way: Way, options: MddOptions) -> Values {
    let system = build(net, order, &Budget::new(MEMORY), options).unwrap();
    let states = explore(&system, way).unwrap();
    values(&system, &states).unwrap()
}

/// What a search finds that fires every transition in every marking.
struct Explicit {
    values: Values,
    deadlocks: BTreeSet<Vec<u128>>,
    markings: HashSet<Vec<u128>>,
}

impl Explicit {
    fn is_tiny(&self) -> bool {
        self.markings.len() <= 400
    }
}

/// Search without diagrams, unless there are too many markings.
fn search(net: &PetriNet) -> Option<Explicit> {
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
struct Known {
    path: String,
    net: PetriNet,
    values: Values,
}

impl Known {
    /// Are there so many tokens that it takes long?
    fn is_vast(&self) -> bool {
        self.values[0].len() > 10
    }

    fn is_small(&self) -> bool {
        self.values[0].parse().is_ok_and(|states: usize| states <= SMALL)
    }
}

fn known_nets() -> Vec<Known> {
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
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    /// Arcs to different places.
    fn arcs(&mut self, places: u64, most: u64, heaviest: u64) -> Vec<Arc> {
        let mut arcs: Vec<Arc> = (0..self.below(most + 1))
            .map(|_| Arc { place: self.below(places) as u32, weight: 1 + self.below(heaviest) })
            .collect();
        arcs.sort_by_key(|arc| arc.place);
        arcs.dedup_by_key(|arc| arc.place);
        arcs
    }

    /// A net with self-loops, constant places, transitions that do nothing, and sometimes great weights.
    fn net(&mut self) -> PetriNet {
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
    fn stretch(&mut self, net: &mut PetriNet) {
        let (stretched, factor) = (self.below(net.places.len() as u64) as u32, 5_000_000_000 + self.below(1000));
        let place = &mut net.places[stretched as usize];
        place.initial = place.initial * factor + self.below(factor);
        let arcs = net.transitions.iter_mut().flat_map(|t| t.inputs.iter_mut().chain(&mut t.outputs));
        arcs.filter(|arc| arc.place == stretched).for_each(|arc| arc.weight *= factor);
    }
}

/// A net, where it comes from, and what the explicit search says.
struct Sample {
    name: String,
    net: PetriNet,
    explicit: Explicit,
}

/// Random nets that are neither trivial nor too large, and the small ones of the repository.
fn samples() -> Vec<Sample> {
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
fn orders(net: &PetriNet) -> Vec<Vec<u32>> {
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

#[test]
fn known_nets_have_their_four_values() {
    for Known { path, net, values } in known_nets().iter().filter(|known| !known.is_vast()) {
        for order in Lineup::new(net, 1).contestants.iter().map(|contestant| &contestant.order).take(6) {
            for way in saturations() {
                let found = values_of(net, order, way, MddOptions::default());
                assert_eq!(found, *values, "{path} by {way:?} in {order:?}");
            }
        }
    }
}

/// With variables that places share, how many did, and whether all is as expected.
fn check_shared(name: &str, net: &PetriNet, expected: &Values, deadlocks: Option<usize>) -> usize {
    let groups = groups(net, &Semiflows::of(net, &FlowLimits::default()));
    for order in orders(net).iter().take(4) {
        for (saturation, stress) in [(SATURATIONS[0], None), (SATURATIONS[1], None), (SATURATIONS[0], Some(97))] {
            let encoding = EncodedNet::new(net, order, &groups, &[]).unwrap();
            let options = MddOptions { stress, ..THRIFTY };
            let system = NetSystem::build(encoding, &Budget::new(MEMORY), options, Attention::default()).unwrap();
            let states = explore(&system, Way::Saturate(saturation)).unwrap();
            assert_eq!(values(&system, &states).as_ref(), Ok(expected), "{name} {saturation:?} {stress:?} {order:?}");
            if let Some(deadlocks) = deadlocks {
                let stuck = system.deadlocks(&states).unwrap().count().unwrap();
                assert_eq!(stuck.to_string(), deadlocks.to_string(), "{name} in {order:?}");
            }
        }
    }
    groups.iter().map(|group| group.places.len()).sum()
}

#[test]
fn places_that_share_variables_change_no_value() {
    let mut shared = 0;
    for Sample { name, net, explicit } in &samples() {
        shared += check_shared(name, net, &explicit.values, Some(explicit.deadlocks.len()));
    }
    for Known { path, net, values } in known_nets().iter().filter(|known| !known.is_vast()) {
        shared += check_shared(path, net, values, None);
    }
    assert!(shared > 100, "{shared} places share variables");
}

#[test]
fn small_known_nets_have_them_by_every_strategy() {
    for Known { path, net, values } in known_nets().iter().filter(|known| known.is_small()) {
        let best = Lineup::new(net, 1).contestants;
        for order in best.iter().map(|contestant| &contestant.order).take(2) {
            for way in rounds() {
                let found = values_of(net, order, way, MddOptions::default());
                assert_eq!(found, *values, "{path} by {way:?} in {order:?}");
            }
        }
    }
}

#[test]
fn every_order_and_strategy_finds_what_the_search_finds() {
    for Sample { name, net, explicit } in &samples() {
        // In larger nets: some orders, and rounds in the first of them only.
        let all = explicit.is_tiny() && net.places.len() < 20;
        let (most, most_in_rounds) = if all { (usize::MAX, usize::MAX) } else { (4, 1) };
        for (number, order) in orders(net).iter().enumerate().take(most) {
            let system = build(net, order, &Budget::new(MEMORY), THRIFTY).unwrap();
            for way in saturations().chain(rounds().filter(|_| number < most_in_rounds)) {
                let found = explore(&system, way).and_then(|states| values(&system, &states));
                assert_eq!(found.as_ref(), Ok(&explicit.values), "{name} by {way:?} in {order:?}");
            }
        }
    }
}

/// Bounds that hold, whether or not semiflows tell them.
fn exact_bounds(net: &PetriNet, markings: &HashSet<Vec<u128>>) -> Vec<Option<u64>> {
    let most = |place: usize| markings.iter().map(|marking| marking[place]).max();
    (0..net.places.len()).map(|place| most(place).and_then(|tokens| u64::try_from(tokens).ok())).collect()
}

#[test]
fn nets_in_bits_have_as_many_markings() {
    for Sample { name, net, explicit } in &samples() {
        let groups = groups(net, &Semiflows::of(net, &FlowLimits::default()));
        let lineup = Lineup { groups, bounds: exact_bounds(net, &explicit.markings), contestants: Vec::new() };
        for order in orders(net).iter().take(3) {
            let model = net::in_bits(net, &lineup, order, 1 << 20).unwrap();
            assert_eq!(model.check(), Ok(()), "{name}");
            let manager = Manager::new(&Budget::new(MEMORY)).unwrap();
            let system = SymbolicSystem::build(&manager, &model).unwrap();
            for order_of_work in [Order::Saturation, Order::Par, Order::Chaining] {
                let strategy = Strategy { order: order_of_work, frontier: true };
                let reached = reach(&system, strategy, &mut ()).unwrap_or_else(|stopped| panic!("{}", stopped.error));
                let count = reached.states.count(&system.state_levels).unwrap();
                assert_eq!(count.to_string(), explicit.values[0], "{name} by {strategy:?} in {order:?}");
            }
        }
    }
}

#[test]
fn the_markings_are_those_of_the_search() {
    for Sample { name, net, explicit } in &samples() {
        for order in orders(net).iter().take(3) {
            let system = build(net, order, &Budget::new(MEMORY), THRIFTY).unwrap();
            for way in saturations() {
                let states = explore(&system, way).unwrap();
                let found: HashSet<Vec<u128>> =
                    states.vectors().map(|vector| system.encoding.marking(&vector)).collect();
                assert!(found == explicit.markings, "{name} by {way:?} in {order:?}");
            }
        }
    }
}

#[test]
fn deadlocks_are_those_of_the_search() {
    let (mut stuck, mut free) = (0, 0);
    for Sample { name, net, explicit } in &samples() {
        for order in orders(net).iter().take(4) {
            let system = build(net, order, &Budget::new(MEMORY), THRIFTY).unwrap();
            let states = system.saturator(SATURATIONS[0]).run().unwrap();
            let deadlocks = system.deadlocks(&states).unwrap();
            let found: BTreeSet<Vec<u128>> =
                deadlocks.vectors().map(|vector| system.encoding.marking(&vector)).collect();
            assert_eq!(found, explicit.deadlocks, "{name} in {order:?}");
            assert_eq!(deadlocks.is_empty(), explicit.deadlocks.is_empty(), "{name} in {order:?}");
        }
        *if explicit.deadlocks.is_empty() { &mut free } else { &mut stuck } += 1;
    }
    assert!(stuck >= 5 && free >= 5, "{stuck} with a deadlock, {free} without");
}

#[test]
fn forced_collections_change_nothing() {
    let mut collections = 0;
    for Sample { name, net, explicit } in samples().iter().filter(|sample| sample.explicit.is_tiny()) {
        for (order, stress) in orders(net).iter().zip([1, 3, 10, 50].into_iter().cycle()).take(4) {
            let options = MddOptions { stress: Some(stress), initial: 1 << 8, ..THRIFTY };
            let system = build(net, order, &Budget::new(MEMORY), options).unwrap();
            for way in saturations().chain(rounds().filter(|_| stress >= 10)) {
                let found = explore(&system, way).and_then(|states| {
                    let deadlocks = system.deadlocks(&states)?.count()?.to_string();
                    assert_eq!(deadlocks, explicit.deadlocks.len().to_string(), "{name} by {way:?} in {order:?}");
                    values(&system, &states)
                });
                assert_eq!(found.as_ref(), Ok(&explicit.values), "{name} by {way:?} in {order:?}, {stress}");
            }
            collections += system.manager.counters().collections;
        }
    }
    assert!(collections > 10_000, "{collections} collections");
}

/// Explore in so little memory; whether that was enough.
fn squeezed(net: &PetriNet, order: &[u32], way: Way, bytes: usize) -> Result<Values, Error> {
    let system = build(net, order, &Budget::new(bytes), MddOptions { initial: 1 << 8, ..THRIFTY })?;
    let states = explore(&system, way)?;
    values(&system, &states)
}

#[test]
fn little_memory_gives_no_wrong_value() {
    let (mut complete, mut unknown) = (0, 0);
    let mut check = |name: &str, net: &PetriNet, expected: &Values, sizes: &[usize], ways: &[Way]| {
        for order in Lineup::new(net, 1).contestants.iter().map(|contestant| &contestant.order).take(2) {
            for (&bytes, &way) in sizes.iter().flat_map(|bytes| ways.iter().map(move |way| (bytes, way))) {
                match squeezed(net, order, way, bytes) {
                    Ok(found) => {
                        assert_eq!(found, *expected, "{name} by {way:?} in {order:?} with {bytes} bytes");
                        complete += 1;
                    }
                    Err(error) => {
                        assert_eq!(error, Error::TableFull, "{name} by {way:?} in {order:?} with {bytes} bytes");
                        unknown += 1;
                    }
                }
            }
        }
    };
    let all: Vec<Way> = saturations().chain(rounds().step_by(2)).collect();
    for Sample { name, net, explicit } in &samples() {
        let sizes = [12_000, 25_000, 90_000];
        let ways = if explicit.is_tiny() { &all[..] } else { &all[..2] };
        check(name, net, &explicit.values, &sizes, ways);
    }
    for Known { path, net, values } in known_nets().iter().filter(|known| !known.is_small()) {
        if values[0].len() <= 10 {
            check(path, net, values, &[100_000, 200_000, 400_000, 800_000, 1_600_000], &all[..2]);
        }
    }
    println!("{complete} complete, {unknown} unknown");
    assert!(complete > 100 && unknown > 100, "{complete} complete, {unknown} unknown");
}

/// Firings from the initial marking to the nearest deadlock, by a search without diagrams.
fn distance_to_deadlock(net: &PetriNet) -> Option<usize> {
    let initial: Vec<u128> = net.places.iter().map(|place| place.initial.into()).collect();
    let mut known = HashSet::from([initial.clone()]);
    let mut newest = vec![initial];
    for distance in 0.. {
        let mut next = Vec::new();
        for marking in &newest {
            let successors: Vec<Vec<u128>> = net.transitions.iter().filter_map(|by| fired(marking, by)).collect();
            if successors.is_empty() {
                return Some(distance);
            }
            next.extend(successors.into_iter().filter(|successor| known.insert(successor.clone())));
        }
        if next.is_empty() {
            return None;
        }
        newest = next;
    }
    None
}

/// The marking after a transition, if it can fire.
fn fired(marking: &[u128], transition: &Transition) -> Option<Vec<u128>> {
    let mut next = marking.to_vec();
    for arc in &transition.inputs {
        next[arc.place as usize] = next[arc.place as usize].checked_sub(arc.weight.into())?;
    }
    transition.outputs.iter().for_each(|arc| next[arc.place as usize] += u128::from(arc.weight));
    Some(next)
}

#[test]
fn traces_are_shortest_and_the_net_fires_them() {
    let mut traced = 0;
    for Sample { name, net, explicit } in &samples() {
        let order: Vec<u32> = (0..net.places.len() as u32).collect();
        let system = build(net, &order, &Budget::new(MEMORY), THRIFTY).unwrap();
        let states = explore(&system, Way::Saturate(SATURATIONS[0])).unwrap();
        let trace = system.shortest_trace(&system.deadlocks(&states).unwrap()).unwrap();
        assert_eq!(trace.as_ref().map(|trace| trace.firings.len()), distance_to_deadlock(net), "{name}");
        let some_trace = system.any_trace(&system.deadlocks(&states).unwrap()).unwrap();
        assert_eq!(some_trace.is_some(), trace.is_some(), "{name}");
        assert!(
            some_trace.is_none_or(|trace| trace.holds(net) && explicit.deadlocks.contains(&trace.marking)),
            "{name}"
        );
        if let Some(mut trace) = trace {
            traced += 1;
            assert!(trace.holds(net) && explicit.deadlocks.contains(&trace.marking), "{name}");
            trace.marking[0] += 1;
            assert!(!trace.holds(net), "{name}");
        }
    }
    assert!(traced > 5, "{traced} nets can get stuck");
}

#[test]
fn a_contest_gives_the_same_values_whoever_wins() {
    for Known { path, net, values } in known_nets().iter().filter(|known| !known.is_vast()) {
        let lineup = Lineup::new(net, 1);
        for workers in [1, 2, 3] {
            let contest = Contest {
                net,
                lineup: &lineup,
                workers,
                budget: &Budget::new(1 << 30),
                options: MddOptions::default(),
                attention: &Attention::default(),
            };
            let finished = contest.run().unwrap();
            let found = self::values(&finished.system, &finished.states);
            assert_eq!(
                found.as_ref(),
                Ok(values),
                "{path}, {workers} workers, {}",
                lineup.contestants[finished.winner].name
            );
        }
    }
}

#[test]
fn an_attempt_gives_them_or_nothing() {
    let (mut done, mut given_up) = (0, 0);
    for Known { path, net, values } in &known_nets() {
        let Some(lineup) = Lineup::quick(net, 2) else { continue };
        assert_eq!(lineup.contestants.len(), 1, "{path}");
        let contest = Contest {
            net,
            lineup: &lineup,
            workers: 2,
            budget: &Budget::new(1 << 28),
            options: MddOptions::default(),
            attention: &Attention::default(),
        };
        match contest.attempt() {
            Some(finished) => {
                let found = self::values(&finished.system, &finished.states);
                assert_eq!(found.as_ref(), Ok(values), "{path}");
                done += 1;
            }
            None => given_up += 1,
        }
    }
    assert!(done > 0 && given_up > 0, "{done} {given_up}");
}

/// The net with every number of tokens made large, and a little larger where `random` says so.
fn enlarged(net: &PetriNet, random: &mut Random) -> PetriNet {
    let mut net = net.clone();
    let mut enlarge = |number: &mut u64| *number = (*number << 40) + u64::from(*number > 0) * random.below(3);
    net.places.iter_mut().for_each(|place| enlarge(&mut place.initial));
    for transition in &mut net.transitions {
        transition.inputs.iter_mut().chain(&mut transition.outputs).for_each(|arc| enlarge(&mut arc.weight));
    }
    net
}

#[test]
fn numbers_beyond_all_values_are_listed() {
    let (mut explored, mut listed) = (0, 0);
    for number in 1..1000 {
        let mut random = Random(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(number));
        let net = random.net();
        if net.places.iter().any(|place| place.initial > 100) {
            continue;
        }
        let net = enlarged(&net, &mut random);
        let Some(explicit) = search(&net).filter(Explicit::is_tiny) else { continue };
        let lineup = Lineup::new(&net, 1);
        let contest = Contest {
            net: &net,
            lineup: &lineup,
            workers: 2,
            budget: &Budget::new(1 << 28),
            options: MddOptions::default(),
            attention: &Attention::default(),
        };
        let finished = match contest.run() {
            Ok(finished) => finished,
            // A list may have no end where the markings have one: then numbers are what they are, and may be too large.
            Err(NoWinner::Encoding(_)) => continue,
            Err(NoWinner::Unfinished(unfinished)) => {
                assert!(matches!(unfinished.error, Error::ValueTooLarge { .. }), "net {number}: {}", unfinished.error);
                continue;
            }
        };
        assert_eq!(values(&finished.system, &finished.states).as_ref(), Ok(&explicit.values), "net {number}");
        let stuck = finished.system.deadlocks(&finished.states).unwrap();
        let markings: BTreeSet<Vec<u128>> =
            stuck.vectors().map(|values| finished.system.encoding.marking(&values)).collect();
        assert_eq!(markings, explicit.deadlocks, "net {number}");
        if !stuck.is_empty() {
            let trace = finished.system.shortest_trace(&stuck).unwrap().expect("a way to what is reachable");
            assert!(trace.holds(&net), "net {number}");
        }
        explored += 1;
        listed += usize::from(is_listed(&finished.system));
    }
    assert!(explored > 30 && listed > 10, "{explored} nets, {listed} with lists");
}

#[test]
fn transitions_beyond_all_values_that_never_fire_do_no_harm() {
    let arc = |place, weight| vec![Arc { place, weight }];
    for weight in [5_u64 << 38, 1 << 63] {
        let transition = |id: &str, inputs, outputs| Transition { id: id.to_owned(), name: None, inputs, outputs };
        let place = |id: &str| Place { id: id.to_owned(), name: None, initial: 0 };
        let net = PetriNet {
            places: vec![place("a"), place("b")],
            transitions: vec![
                transition("t", arc(1, 5 << 38), arc(0, 5 << 38)),
                transition("u", arc(0, 1), arc(0, weight)),
            ],
            ..PetriNet::default()
        };
        let system = build(&net, &[0, 1], &Budget::new(MEMORY), MddOptions::default()).unwrap();
        let states = system.saturator(Saturation::default()).run().unwrap();
        let stuck = system.deadlocks(&states).unwrap();
        let trace = system.shortest_trace(&stuck).unwrap().expect("it is stuck from the start");
        assert!(trace.firings.is_empty() && trace.holds(&net));
    }
}

fn is_listed(system: &NetSystem) -> bool {
    system.encoding.variables.iter().any(|variable| matches!(variable, net::Variable::Listed { .. }))
}

#[test]
fn every_way_gives_them_alone() {
    let mut seen = [0; 4];
    for Known { path, net, values } in known_nets().iter().filter(|known| known.is_small()) {
        let lineup = Lineup::new(net, 1);
        let mut tried = Vec::new();
        for contestant in &lineup.contestants {
            if tried.contains(&(contestant.way, contestant.grouped)) {
                continue;
            }
            tried.push((contestant.way, contestant.grouped));
            let alone = Lineup { contestants: vec![contestant.clone()], ..lineup.clone() };
            let contest = Contest {
                net,
                lineup: &alone,
                workers: 2,
                budget: &Budget::new(1 << 28),
                options: MddOptions { stress: Some(1000), ..MddOptions::default() },
                attention: &Attention::default(),
            };
            let finished = contest.run().unwrap();
            let found = self::values(&finished.system, &finished.states);
            assert_eq!(found.as_ref(), Ok(values), "{path}, {contestant:?}");
            seen[match contestant.way {
                net::Way::Saturation(_) => 0,
                net::Way::Bfs => 1,
                net::Way::Chaining => 2,
                net::Way::Explicit => 3,
            }] += 1;
        }
    }
    assert!(seen.iter().all(|&count| count >= 3), "{seen:?}");
}

/// Three places in a unit that is called safe, and these arcs: for each transition, what it takes and what it gives.
fn in_one_unit(transitions: &[[&[(u32, u64)]; 2]]) -> PetriNet {
    let arcs = |list: &[(u32, u64)]| list.iter().map(|&(place, weight)| Arc { place, weight }).collect();
    let transition = |(at, [inputs, outputs]): (usize, &[&[(u32, u64)]; 2])| Transition {
        id: format!("t{at}"),
        name: None,
        inputs: arcs(inputs),
        outputs: arcs(outputs),
    };
    let place = |at: u32| Place { id: format!("p{at}"), name: None, initial: u64::from(at == 0) };
    let unit = Unit { id: "u".to_owned(), places: vec![0, 1, 2], subunits: Vec::new() };
    PetriNet {
        places: (0..3).map(place).collect(),
        transitions: transitions.iter().enumerate().map(transition).collect(),
        units: Some(Units { units: vec![unit], root: 0, safe: true }),
        ..PetriNet::default()
    }
}

#[test]
fn units_that_are_not_safe_are_found_out() {
    let round: [&[(u32, u64)]; 2] = [&[(0, 1)], &[(1, 1)]];
    let back: [&[(u32, u64)]; 2] = [&[(1, 1)], &[(0, 1)]];
    let safe = [vec![round, back], vec![round, [&[(1, 1)], &[]], [&[(0, 1), (1, 1)], &[(2, 2)]]]];
    let unsafe_ones = [
        // A second token for another place, for the same one, and out of nothing; also after a while.
        vec![[&[(0, 1)][..], &[(1, 1), (2, 1)]], [&[(1, 1), (2, 1)], &[(0, 1)]]],
        vec![[&[(0, 1)], &[(1, 2)]]],
        vec![[&[], &[(2, 1)]], back],
        vec![round, [&[(1, 1)], &[(1, 1), (0, 1)]]],
    ];
    let believed = |net: &PetriNet| {
        let groups = groups(net, &Semiflows::default());
        assert_eq!(groups.len(), 1);
        let encoding = EncodedNet::new(net, &[0, 1, 2], &groups, &[]).unwrap();
        let options = MddOptions::default();
        let system = NetSystem::build(encoding, &Budget::new(MEMORY), options, Attention::default()).unwrap();
        let states = system.saturator(Saturation::default()).run().unwrap();
        system.keeps_beliefs(net, &states).unwrap()
    };
    for transitions in &safe {
        assert!(believed(&in_one_unit(transitions)), "{transitions:?}");
    }
    for transitions in &unsafe_ones {
        assert!(!believed(&in_one_unit(transitions)), "{transitions:?}");
    }
}

#[test]
fn a_place_without_end_stays_inside_the_budget_and_can_be_stopped() {
    let mut net = in_one_unit(&[[&[(0, 1)], &[(0, 2)]]]);
    net.units = None;
    for saturation in SATURATIONS {
        let budget = Budget::new(4 << 20);
        let system = build(&net, &[0, 1, 2], &budget, MddOptions::default()).unwrap();
        assert_eq!(system.saturator(saturation).run().unwrap_err(), Error::TableFull);
        assert!(budget.peak() > 1 << 20);
        let attention = Attention::default();
        system.manager.set_attention(attention.clone());
        attention.cancel();
        assert_eq!(system.saturator(saturation).run().unwrap_err(), Error::Cancelled);
        system.manager.set_attention(Attention::default());
        system.manager.set_fuel(Some(1000));
        assert_eq!(system.saturator(saturation).run().unwrap_err(), Error::OutOfFuel);
    }
}

/// All permutations of `size` things, by swaps of neighbours: no order has a small diagram.
fn permutations(size: u32) -> PetriNet {
    let place = |thing: u32, at: u32| thing * size + at;
    let arcs = |mut places: [u32; 2]| {
        places.sort_unstable();
        places.map(|place| Arc { place, weight: 1 }).to_vec()
    };
    let pairs = (0..size).flat_map(|one| (0..size).map(move |other| (one, other))).filter(|(one, other)| one != other);
    let swaps = pairs.flat_map(|pair| (1..size).map(move |at| (pair, at)));
    let transition = |((one, other), at): ((u32, u32), u32)| Transition {
        id: format!("t{one}-{other}-{at}"),
        name: None,
        inputs: arcs([place(one, at - 1), place(other, at)]),
        outputs: arcs([place(one, at), place(other, at - 1)]),
    };
    let initial = |number: u32| u64::from(number / size == number % size);
    let place = |number| Place { id: format!("p{number}"), name: None, initial: initial(number) };
    let net = PetriNet {
        places: (0..size * size).map(place).collect(),
        transitions: swaps.map(transition).collect(),
        ..PetriNet::default()
    };
    net.check().unwrap();
    net
}

/// Both ways to saturate, in the given order and back.
fn given_contestants(net: &PetriNet) -> Vec<Contestant> {
    let given: Vec<u32> = (0..net.places.len() as u32).collect();
    let reverse = given.iter().rev().copied().collect();
    let orders = [("given", given), ("reverse", reverse)];
    let both = orders.iter().flat_map(|(name, order)| {
        SATURATIONS.map(|saturation| Contestant {
            name: (*name).to_owned(),
            order: order.clone(),
            way: net::Way::Saturation(saturation),
            grouped: false,
        })
    });
    both.collect()
}

#[test]
fn permutations_are_counted() {
    let net = permutations(6);
    for Contestant { order, way, .. } in &given_contestants(&net) {
        let net::Way::Saturation(saturation) = *way else { panic!("{way:?}") };
        let found = values_of(&net, order, Way::Saturate(saturation), MddOptions::default());
        assert_eq!(found, ["720", "3600", "1", "6"]);
    }
}

#[test]
fn a_cancelled_contest_keeps_a_lower_bound() {
    let net = permutations(18);
    let lineup =
        Lineup { groups: Vec::new(), bounds: vec![None; net.places.len()], contestants: given_contestants(&net) };
    for workers in [1, 2, 3] {
        let (budget, attention) = (Budget::new(1 << 30), Attention::default());
        let options = MddOptions::default();
        let contest = Contest { net: &net, lineup: &lineup, workers, budget: &budget, options, attention: &attention };
        let ended = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(300));
                attention.cancel();
            });
            contest.run()
        });
        let Err(NoWinner::Unfinished(unfinished)) = ended else { panic!("18! permutations with {workers} workers") };
        assert_eq!(unfinished.error, Error::Cancelled, "{workers} workers");
        let furthest = unfinished.furthest.unwrap_or_else(|| panic!("no lower bound with {workers} workers"));
        assert!(furthest.states.contains(&furthest.system.encoding.initial), "{workers} workers");
        let count = furthest.states.count().unwrap();
        let all = (1..=18_u64).product::<u64>();
        assert!((1..=all).contains(&u64::try_from(count).unwrap()));
    }
}

#[test]
fn what_takes_long_is_right_or_a_lower_bound() {
    for Known { path, net, values } in known_nets().iter().filter(|known| known.is_vast()) {
        let lineup = Lineup::new(net, 1);
        let (budget, attention) = (Budget::new(1 << 30), Attention::default());
        let contest = Contest {
            net,
            lineup: &lineup,
            workers: 2,
            budget: &budget,
            options: MddOptions::default(),
            attention: &attention,
        };
        let ended = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_secs(1));
                attention.cancel();
            });
            contest.run()
        });
        match ended {
            Ok(finished) => {
                attention.reset();
                assert_eq!(self::values(&finished.system, &finished.states).as_ref(), Ok(values), "{path}");
            }
            Err(NoWinner::Unfinished(unfinished)) => {
                let bound = unfinished.furthest.and_then(|found| found.states.count().ok()).map(|n| n.to_string());
                let at_most = |bound: &String| (bound.len(), bound) <= (values[0].len(), &values[0]);
                assert!(bound.as_ref().is_none_or(at_most), "{path}: {bound:?}");
            }
            Err(NoWinner::Encoding(error)) => panic!("{path}: {error}"),
        }
    }
}

#[test]
fn a_contest_in_little_memory_has_no_winner_or_the_right_one() {
    let known = known_nets();
    let mut winners = 0;
    for Known { path, net, values } in known.iter().filter(|known| !known.is_vast()) {
        let lineup = Lineup::new(net, 1);
        for (bytes, workers) in [50_000, 200_000, 600_000].into_iter().flat_map(|bytes| [(bytes, 1), (bytes, 2)]) {
            let contest = Contest {
                net,
                lineup: &lineup,
                workers,
                budget: &Budget::new(bytes),
                options: MddOptions { initial: 1 << 8, ..THRIFTY },
                attention: &Attention::default(),
            };
            match contest.run() {
                Ok(finished) => match self::values(&finished.system, &finished.states) {
                    Ok(found) => {
                        winners += 1;
                        assert_eq!(found, *values, "{path}, {workers} workers, {bytes} bytes");
                    }
                    Err(error) => assert_eq!(error, Error::TableFull, "{path}, {workers} workers, {bytes} bytes"),
                },
                Err(NoWinner::Unfinished(unfinished)) => {
                    assert_eq!(unfinished.error, Error::TableFull, "{path}, {workers} workers, {bytes} bytes");
                }
                Err(NoWinner::Encoding(error)) => panic!("{path}: {error}"),
            }
        }
    }
    assert!(winners > 0);
}
