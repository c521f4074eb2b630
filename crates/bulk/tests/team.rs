//! Teams of threads, of one rank and of several, find what the CPU engine finds.

mod common;

use common::{Seed, by_the_cpu_engine, model, random_system, with_several_initial_states};
use tremula_bulk::team::{NoTeam, Setup, Team, join};
use tremula_bulk::{Bulk, Diagram, Figures, Graph};
use tremula_diagrams::{Attention, Budget, Error, Manager};
use tremula_engines::{Order, Strategy, explore};
use tremula_fabric::{Fabric, threads};
use tremula_models::BddSystem;

const PAR: Strategy = Strategy { order: Order::Par, frontier: true };
/// Ranks, and workers of each.
const SHAPES: [(usize, usize); 5] = [(1, 1), (1, 3), (2, 1), (2, 2), (4, 2)];

/// Let all ranks run a program with a team.
fn with_team<R: Send>(
    model: &BddSystem,
    (ranks, workers): (usize, usize),
    bytes: usize,
    program: impl Fn(Bulk<Team<'_>>, usize) -> R + Sync,
) -> Vec<Result<R, NoTeam>> {
    let graph = Graph::compile(model).unwrap();
    let initial = Diagram::of_initial_states(model);
    let run = |fabric: &threads::ThreadFabric| {
        let setup = Setup { graph: &graph, initial: &initial, bytes, workers, attention: Attention::default() };
        join(fabric, &setup, |team| program(Bulk::new(team, &graph, Attention::default()), fabric.rank()))
    };
    threads::run(ranks, run).unwrap()
}

/// Explore; all ranks must find the expected states. What went on, and the error if there was one.
fn check(model: &BddSystem, strategy: Strategy, shape: (usize, usize), bytes: usize) -> Result<Figures, Error> {
    let levels: Vec<u32> = (0..model.state_bits()).map(BddSystem::current_variable).collect();
    let expected = by_the_cpu_engine(model).1.count(&levels).unwrap();
    let outcomes = with_team(model, shape, bytes, |space, _| {
        let reached = explore(&space, strategy, &mut ()).map_err(|stopped| stopped.error)?;
        let manager = Manager::new(&Budget::new(256 << 20)).unwrap();
        let count = space.bring_back(&reached.states, &manager).unwrap().count(&levels).unwrap();
        Ok((count, space.figures()))
    });
    let outcomes: Vec<Result<_, Error>> = outcomes.into_iter().map(Result::unwrap).collect();
    for outcome in &outcomes {
        assert_eq!(outcome, &outcomes[0], "ranks see the same");
        assert!(
            outcome.as_ref().is_ok_and(|(count, _)| *count == expected) || outcome.is_err(),
            "{strategy} {shape:?}"
        );
    }
    outcomes.into_iter().next().unwrap().map(|(_, figures)| figures)
}

#[test]
fn models_have_the_states_that_the_cpu_engine_finds() {
    for name in ["beem/phils.2.bdd", "beem/bakery.1.bdd", "beem/adding.1.bdd.gz", "promela/fair.bdd"] {
        for shape in SHAPES {
            for strategy in [PAR, "bfs".parse().unwrap(), "chaining".parse().unwrap(), "saturation".parse().unwrap()] {
                check(&model(name), strategy, shape, 32 << 20).unwrap();
            }
        }
    }
}

#[test]
fn random_systems_have_the_states_that_the_cpu_engine_finds() {
    for seed in 0..40 {
        let _seed = Seed(seed);
        for model in [random_system(seed), with_several_initial_states(random_system(seed), seed)] {
            check(&model, PAR, SHAPES[seed as usize % SHAPES.len()], 4 << 20).unwrap();
        }
    }
}

#[test]
fn too_little_memory_is_an_error_and_never_a_wrong_answer() {
    let model = model("beem/collision.1.bdd");
    let (mut full, mut complete) = (0, 0);
    for shape in SHAPES {
        for kilobytes in [128, 256, 512, 1024, 4096, 16384] {
            match check(&model, PAR, shape, kilobytes << 10) {
                Ok(_) => complete += 1,
                Err(error) => {
                    assert_eq!(error, Error::TableFull);
                    full += 1;
                }
            }
        }
    }
    assert!(full > 3 && complete > 8, "{full} and {complete}");
}

/// Each rank gives a part: what does not fit into the memory of one fits into that of four.
#[test]
fn ranks_are_for_memory() {
    let model = model("beem/collision.1.bdd");
    let fits = |ranks: usize, kilobytes: usize| check(&model, PAR, (ranks, 1), kilobytes << 10).is_ok();
    let enough = (7..20).map(|power| 1 << power).find(|&kilobytes| fits(1, kilobytes)).unwrap();
    assert!(!fits(1, enough / 2) && fits(4, enough / 2));
}

#[test]
fn collections_happen_and_change_nothing() {
    for shape in SHAPES {
        let figures = check(&model("beem/bakery.1.bdd"), PAR, shape, 16 << 20).unwrap();
        assert!(shape.0 > 1 || figures.collections > 0, "{shape:?} {figures:?}");
    }
}

#[test]
fn a_sweep_is_stopped_on_all_ranks() {
    let model = model("beem/phils.2.bdd");
    let graph = Graph::compile(&model).unwrap();
    let initial = Diagram::of_initial_states(&model);
    let errors = threads::run(3, |fabric| {
        let attention = Attention::default();
        // Only the first rank's counts.
        if fabric.rank() == 0 {
            attention.cancel();
        }
        let setup = Setup { graph: &graph, initial: &initial, bytes: 4 << 20, workers: 2, attention };
        join(fabric, &setup, |team| {
            let space = Bulk::new(team, &graph, Attention::default());
            explore(&space, PAR, &mut ()).map(|_| ()).map_err(|stopped| stopped.error)
        })
        .unwrap()
    });
    assert_eq!(errors.unwrap(), vec![Err(Error::Cancelled); 3]);
}

#[test]
fn a_panic_on_one_rank_ends_all() {
    let model = model("beem/phils.2.bdd");
    let graph = Graph::compile(&model).unwrap();
    let initial = Diagram::of_initial_states(&model);
    let lost = threads::run(3, |fabric| {
        let attention = Attention::default();
        let setup = Setup { graph: &graph, initial: &initial, bytes: 4 << 20, workers: 2, attention };
        let program = |team: Team<'_>| {
            assert!(fabric.rank() != 1, "for the sake of the test");
            explore(&Bulk::new(team, &graph, Attention::default()), PAR, &mut ()).is_ok()
        };
        join(fabric, &setup, program).unwrap()
    });
    assert!(lost.is_err());
}

#[test]
fn hardly_any_memory_is_refused() {
    let refused = with_team(&model("beem/phils.1.bdd"), (2, 1), 1000, |_, _| ());
    assert!(refused.iter().all(|outcome| matches!(outcome, Err(NoTeam::TooSmall(1000)))), "{refused:?}");
}
