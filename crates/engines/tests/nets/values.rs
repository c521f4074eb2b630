//! The four values, in every order and by every strategy.

use super::support::*;
use std::collections::{BTreeSet, HashSet};
use tremula_diagrams::mdd::MddOptions;
use tremula_diagrams::{Attention, Budget, Manager};
use tremula_engines::net::{self, Brim, EncodedNet, Lineup, NetInBits, NetSystem, Room, groups};
use tremula_engines::{Order, Strategy, SymbolicSystem, reach};
use tremula_models::PetriNet;
use tremula_orders::{FlowLimits, Semiflows};

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
        let exact = exact_bounds(net, &explicit.markings);
        let half_known = (0..).zip(&exact).map(|(place, &bound)| bound.filter(|_| place % 2 == 0)).collect();
        for bounds in [exact.clone(), half_known, vec![None; exact.len()]] {
            let lineup = Lineup { groups: groups.clone(), bounds, contestants: Vec::new() };
            for order in orders(net).iter().take(3) {
                for order_of_work in [Order::Saturation, Order::Par, Order::Chaining] {
                    let strategy = Strategy { order: order_of_work, frontier: true };
                    let counts = counts_in_bits(net, &lineup, order, strategy);
                    let about = format!("{name} by {strategy:?} in {order:?}: {counts:?}");
                    assert_eq!(counts.last(), Some(&explicit.values[0]), "{about}");
                    let lower_bounds = counts.iter().map(|count| count.parse::<u128>().unwrap());
                    assert!(lower_bounds.is_sorted(), "{about}");
                }
            }
        }
    }
}

/// How many markings each exploration of a net in bits finds, until no place needs more room.
fn counts_in_bits(net: &PetriNet, lineup: &Lineup, order: &[u32], strategy: Strategy) -> Vec<String> {
    let (mut room, mut counts) = (Room::default(), Vec::new());
    loop {
        let NetInBits { system: model, brims } = net::in_bits(net, lineup, order, &room, 1 << 20).unwrap();
        assert_eq!(model.check(), Ok(()));
        let manager = Manager::new(&Budget::new(MEMORY)).unwrap();
        let system = SymbolicSystem::build(&manager, &model).unwrap();
        let reached = reach(&system, strategy, &mut ()).unwrap_or_else(|stopped| panic!("{}", stopped.error));
        counts.push(reached.states.count(&system.state_levels).unwrap().to_string());
        let full: Vec<&Brim> = brims.iter().filter(|brim| brim.is_reached(&reached.states).unwrap()).collect();
        if full.is_empty() {
            return counts;
        }
        full.into_iter().for_each(|brim| room.widen(brim));
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
