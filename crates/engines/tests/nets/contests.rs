//! Contests of orders: whoever wins, the values are the same.

use super::support::*;
use std::time::Duration;
use tremula_diagrams::mdd::MddOptions;
use tremula_diagrams::{Attention, Budget, Error};
use tremula_engines::net::{self, Contest, Contestant, Lineup, NoWinner};
use tremula_models::{Arc, PetriNet, Place, Transition};

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
