//! The bulk algorithm against the CPU engine: models, random systems, tables that are too small.

mod common;

use common::{Seed, by_the_cpu_engine, model, random_system, with_several_initial_states};
use tremula_bulk::layout::{Element, Ref};
use tremula_bulk::{Bulk, Diagram, Graph, Machine, Part, Root, Shares, Trouble, Twin};
use tremula_diagrams::{Attention, Bdd, Budget, Error, Manager};
use tremula_engines::{Order, Space, Strategy, explore};
use tremula_models::BddSystem;

const PAR: Strategy = Strategy { order: Order::Par, frontier: true };
const SATURATION: Strategy = Strategy { order: Order::Saturation, frontier: true };

fn space(model: &BddSystem, bytes: usize) -> Bulk<Twin> {
    let graph = Graph::compile(model).unwrap();
    let machine = Twin::new(graph.clone(), &Diagram::of_initial_states(model), bytes).unwrap();
    Bulk::new(machine, &graph, Attention::default())
}

fn reachable(space: &Bulk<Twin>, strategy: Strategy, manager: &Manager) -> Result<Bdd, Error> {
    let reached = explore(space, strategy, &mut ()).map_err(|stopped| stopped.error)?;
    space.bring_back(&reached.states, manager)
}

#[test]
fn models_have_the_states_that_the_cpu_engine_finds() {
    let names = [
        "beem/phils.2.bdd",
        "beem/bakery.1.bdd",
        "beem/elevator_planning.1.bdd.gz",
        "beem/collision.1.bdd",
        "promela/fair.bdd",
        "promela/first.bdd",
    ];
    for name in names {
        let model = model(name);
        let (manager, expected) = by_the_cpu_engine(&model);
        for strategy in Strategy::ALL {
            let found = reachable(&space(&model, 256 << 20), strategy, &manager).unwrap();
            assert!(found == expected, "{name} with {strategy}");
        }
    }
}

/// Who owns what makes no difference, neither to what is found nor to what is asked.
#[test]
fn owners_answer_in_batches() {
    for name in ["beem/phils.2.bdd", "beem/bakery.1.bdd"] {
        let model = model(name);
        let (manager, expected) = by_the_cpu_engine(&model);
        let asked = [1, 2, 5].map(|owners| {
            let graph = Graph::compile(&model).unwrap();
            let machine = Twin::new(graph.clone(), &Diagram::of_initial_states(&model), 64 << 20).unwrap();
            let space = Bulk::new(machine.with_owners(owners), &graph, Attention::default());
            assert!(reachable(&space, PAR, &manager).unwrap() == expected, "{name}, {owners} owners");
            let figures = space.figures();
            [figures.sweeps, figures.requests, figures.elements]
        });
        assert_eq!(asked, [asked[0]; 3], "{name}");
    }
}

#[test]
fn larger_models_have_the_known_numbers_of_states() {
    for (name, states) in [("beem/adding.1.bdd.gz", "7372"), ("beem/at.1.bdd.gz", "39354")] {
        let model = model(name);
        let manager = Manager::new(&Budget::new(64 << 20)).unwrap();
        let found = reachable(&space(&model, 256 << 20), PAR, &manager).unwrap();
        let levels: Vec<u32> = (0..model.state_bits()).map(BddSystem::current_variable).collect();
        assert_eq!(found.count(&levels).unwrap().to_string(), states, "{name}");
    }
}

#[test]
fn random_systems_have_the_states_that_the_cpu_engine_finds() {
    let mut sizes = Vec::new();
    for seed in 0..400 {
        let _seed = Seed(seed);
        for model in [random_system(seed), with_several_initial_states(random_system(seed), seed)] {
            let (manager, expected) = by_the_cpu_engine(&model);
            for strategy in Strategy::ALL {
                assert!(reachable(&space(&model, 4 << 20), strategy, &manager).unwrap() == expected, "with {strategy}");
            }
            sizes.push(expected.node_count().unwrap());
        }
    }
    // Or nothing was tested.
    assert!(sizes.iter().filter(|&&nodes| nodes > 5).count() > 200, "{sizes:?}");
}

/// Each relation's image, and the algebra on the images, against ordinary diagrams.
#[test]
fn operations_agree_with_those_of_diagrams() {
    for seed in 1000..1200 {
        let _seed = Seed(seed);
        let model = random_system(seed);
        let (manager, _) = by_the_cpu_engine(&model);
        let system = tremula_engines::SymbolicSystem::build(&manager, &model).unwrap();
        let bulk = space(&model, 4 << 20);
        let (mut ours, mut theirs) = (vec![bulk.initial()], vec![system.initial.clone()]);
        for relation in 0..bulk.relations() {
            for at in 0..ours.len() {
                let next = (bulk.next(&ours[at], relation).unwrap(), system.next(&theirs[at], relation).unwrap());
                ours.push(bulk.union(&ours[at], &next.0).unwrap());
                theirs.push(theirs[at].or(&next.1).unwrap());
                ours.push(next.0);
                theirs.push(next.1);
            }
        }
        for (a, x) in ours.iter().zip(&theirs) {
            assert!(bulk.bring_back(a, &manager).unwrap() == *x);
            for (b, y) in ours.iter().zip(&theirs).take(8) {
                let minus = bulk.minus(a, b).unwrap();
                assert!(bulk.bring_back(&minus, &manager).unwrap() == x.minus(y).unwrap());
                assert_eq!(a == b, x == y);
            }
        }
    }
}

#[test]
fn collections_change_nothing() {
    let model = model("beem/bakery.1.bdd");
    let (manager, expected) = by_the_cpu_engine(&model);
    // The smallest memory in which requests and the final set fit leaves little room for nodes.
    let bytes = 3 << 20;
    for strategy in Strategy::ALL {
        let space = space(&model, bytes);
        assert!(reachable(&space, strategy, &manager).unwrap() == expected, "{strategy}");
        assert!(space.figures().collections > 1, "{strategy}: {:?}", space.figures());
    }
}

#[test]
fn too_little_memory_is_an_error_and_never_a_wrong_answer() {
    let model = model("beem/bakery.1.bdd");
    let (manager, expected) = by_the_cpu_engine(&model);
    for strategy in [PAR, SATURATION] {
        let mut full = 0;
        for kilobytes in [100, 300, 600, 900, 1200, 1500, 2000, 2500] {
            match reachable(&space(&model, kilobytes << 10), strategy, &manager) {
                Ok(found) => assert!(found == expected, "{kilobytes} KiB with {strategy}"),
                Err(error) => {
                    assert_eq!(error, Error::TableFull, "{kilobytes} KiB with {strategy}");
                    full += 1;
                }
            }
        }
        assert!(full > 0, "{strategy}");
    }
}

#[test]
fn images_that_do_not_fit_are_halved() {
    let model = model("beem/collision.1.bdd");
    let (manager, expected) = by_the_cpu_engine(&model);
    let graph = Graph::compile(&model).unwrap();
    let sweeps = |elements| {
        let shares = Shares { places: 1 << 16, requests: 1 << 16, elements };
        let machine = Twin::with_shares(graph.clone(), &Diagram::of_initial_states(&model), shares).unwrap();
        let space = Bulk::new(machine, &graph, Attention::default());
        let reached = explore(&space, PAR, &mut ()).map_err(|stopped| stopped.error).ok()?;
        assert!(space.bring_back(&reached.states, &manager).unwrap() == expected, "{elements} elements");
        Some(space.figures().sweeps)
    };
    // With plenty of room, there is one sweep for each round; with less and less of it there are more, until nothing
    // helps.
    let sweeps: Vec<Option<u64>> = (1..16).map(|steps| sweeps(steps << 11)).collect();
    let plenty = sweeps.last().unwrap().expect("room for so many elements is enough");
    assert!(sweeps.iter().flatten().any(|&sweeps| sweeps > plenty), "{sweeps:?}");
    assert!(sweeps.contains(&None), "{sweeps:?}");
}

/// More pieces than there are groups are as many as there are groups.
#[test]
fn relations_in_pieces_have_the_same_images() {
    for name in ["beem/phils.2.bdd", "beem/bakery.1.bdd", "beem/adding.1.bdd.gz", "promela/fair.bdd"] {
        let model = model(name);
        let (manager, expected) = by_the_cpu_engine(&model);
        let rounds = [0, 1, 2, 3, 20].map(|halvings| {
            let space = space(&model, 1 << 30);
            space.start_with_halvings(halvings);
            let reached = explore(&space, PAR, &mut ()).map_err(|stopped| stopped.error).unwrap();
            assert!(space.bring_back(&reached.states, &manager).unwrap() == expected, "{name}, {halvings} halvings");
            reached.rounds
        });
        assert!(rounds.iter().all(|&other| other == rounds[0]), "{name}: {rounds:?}");
    }
}

/// What an earlier sweep was asked is not asked again, and has the same answer.
#[test]
fn sweeps_remember_answers() {
    let space = space(&model("beem/phils.2.bdd"), 1 << 30);
    let step = || {
        let before = space.figures().requests;
        let sets = space.step(&space.initial(), &space.initial()).unwrap();
        (space.figures().requests - before, sets)
    };
    let ((first, sets), (second, again)) = (step(), step());
    assert!(first > 1 && second == 0 && sets == again);
}

/// Breadth-first, sets in between are wide; closed under few relations at a time, they are not.
#[test]
fn saturation_asks_for_less() {
    let model = model("beem/phils.8.bdd");
    let elements = |strategy| {
        let space = space(&model, 256 << 20);
        explore(&space, strategy, &mut ()).map_err(|stopped| stopped.error).unwrap();
        space.figures().elements
    };
    assert!(2 * elements(SATURATION) < elements(PAR));
}

#[test]
fn a_cancelled_run_ends() {
    let model = model("beem/bakery.1.bdd");
    let graph = Graph::compile(&model).unwrap();
    let machine = Twin::new(graph.clone(), &Diagram::of_initial_states(&model), 16 << 20).unwrap();
    let attention = Attention::default();
    let space = Bulk::new(machine, &graph, attention.clone());
    attention.cancel();
    let Err(stopped) = explore(&space, PAR, &mut ()) else { panic!("did not stop") };
    assert_eq!(stopped.error, Error::Cancelled);
}

#[test]
fn a_sweep_is_stopped_and_nothing_is_lost() {
    let model = model("beem/bakery.1.bdd");
    let graph = Graph::compile(&model).unwrap();
    let mut machine = Twin::new(graph.clone(), &Diagram::of_initial_states(&model), 16 << 20).unwrap();
    let attention = Attention::default();
    machine.heed(&attention);
    let initial = machine.initial();
    let all = graph.all().unwrap().relation;
    let root = Root { elements: vec![Element::new(initial, all)], minus: Ref::FALSE };
    attention.cancel();
    assert_eq!(machine.grow(&root), Err(Trouble::Stopped));
    assert_eq!(machine.collect(&[initial]), Err(Trouble::Stopped));
    assert_eq!(machine.export(initial, &Budget::new(1 << 20)).unwrap().0.nodes.len(), model.state_bits() as usize);
    attention.reset();
    assert!(machine.grow(&root).unwrap().new != Ref::FALSE);
}

#[test]
fn what_is_brought_back_is_charged() {
    let model = model("beem/bakery.1.bdd");
    let space = space(&model, 16 << 20);
    let reached = explore(&space, PAR, &mut ()).map_err(|stopped| stopped.error).unwrap();
    let budget = Budget::new(1 << 20);
    let (diagram, lease) = space.export(&reached.states, &budget).unwrap();
    assert!(lease.bytes() >= size_of_val(&diagram.nodes[..]) && budget.used() == lease.bytes());
    let refused = space.export(&reached.states, &Budget::new(1000)).map(|_| ());
    assert_eq!(refused, Err(Trouble::Full(Part::Host)));
}
