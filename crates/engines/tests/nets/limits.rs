//! Large numbers, unsafe units, places without a bound, and little memory.

use super::support::*;
use std::collections::BTreeSet;
use tremula_diagrams::mdd::{MddOptions, Saturation};
use tremula_diagrams::{Attention, Budget, Error};
use tremula_engines::net::{self, Contest, EncodedNet, Lineup, NetSystem, NoWinner, groups};
use tremula_models::{Arc, PetriNet, Place, Transition, Unit, Units};
use tremula_orders::Semiflows;

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
