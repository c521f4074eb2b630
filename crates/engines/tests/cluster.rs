//! Ranks together find the same states as one process alone.

use std::sync::{Mutex, PoisonError};
use tremula_diagrams::cluster::{Member, RankFigures, Setup};
use tremula_diagrams::{Attention, Budget, Error, Manager, Options};
use tremula_engines::{Distributed, Plan, Strategy, SymbolicSystem, explore, reach};
use tremula_fabric::mail::Mail;
use tremula_fabric::threads;
use tremula_models::{BddSystem, Limits, read_file};

/// Ranks poll: with those of several tests at once, few processors would do little else.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Nodes by hash, and by level in blocks of different sizes, the default last.
const BLOCKS: [Option<u32>; 3] = [Some(0), Some(3), None];

fn model(name: &str) -> BddSystem {
    let path = format!("{}/../../testdata/{name}", env!("CARGO_MANIFEST_DIR"));
    read_file(path.as_ref(), &Limits::default()).unwrap().without_reachable()
}

fn strategy(name: &str) -> Strategy {
    name.parse().unwrap()
}

/// States, nodes and levels, as one process finds them.
fn alone(model: &BddSystem, strategy: Strategy) -> (String, usize, Option<u64>) {
    let manager = Manager::new(&Budget::new(256 << 20)).unwrap();
    let system = SymbolicSystem::build(&manager, model).unwrap();
    let reached = reach(&system, strategy, &mut ()).map_err(|stopped| stopped.error).unwrap();
    let states = reached.states.count(&system.state_levels).unwrap();
    (states.to_string(), reached.states.node_count().unwrap(), reached.levels)
}

type Found = Result<(String, usize, Option<u64>), Error>;

/// The same, as `ranks` find them; and what went on at each.
fn together(
    model: &BddSystem,
    strategy: Strategy,
    ranks: usize,
    bytes: usize,
    options: Options,
) -> (Found, Vec<RankFigures>) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let outcomes = threads::run(ranks, |fabric| {
        let mail = Mail::open(fabric, 4096).unwrap();
        let manager = Manager::new(&Budget::new(256 << 20)).unwrap();
        let plan = Plan::new(model, SymbolicSystem::build(&manager, model).unwrap()).unwrap();
        let setup = Setup { post: &mail, budget: Budget::new(bytes), options, attention: Attention::default() };
        let joined = Member::new(setup, &plan.blueprint).unwrap().join(|program| {
            let system = Distributed::new(program, &plan)?;
            let reached = explore(&system, strategy, &mut ()).map_err(|stopped| stopped.error)?;
            let (states, nodes) = program.count(&reached.states, &plan.state_levels)?;
            Ok((states.to_string(), nodes, reached.levels))
        });
        joined.unwrap()
    });
    let mut outcomes = outcomes.unwrap();
    let found = outcomes[0].0.take().expect("the result of rank 0");
    (found, outcomes.into_iter().map(|(_, figures)| figures).collect())
}

/// `shapes` are numbers of ranks, and of workers of each.
fn check(name: &str, strategies: &[&str], shapes: &[(usize, usize)], options: Options) -> Vec<RankFigures> {
    let model = model(name);
    let mut figures = Vec::new();
    for strategy in strategies.iter().map(|name| self::strategy(name)) {
        let expected = alone(&model, strategy);
        for &(ranks, workers) in shapes {
            for level_block in BLOCKS {
                let options = Options { workers, level_block, ..options };
                let (found, all) = together(&model, strategy, ranks, 64 << 20, options);
                let how = format!("{name}, {strategy}, {ranks} ranks, {workers} workers, blocks of {level_block:?}");
                assert_eq!(found.as_ref(), Ok(&expected), "{how}");
                figures = all;
            }
        }
    }
    figures
}

#[test]
fn small_models_on_one_to_four_ranks() {
    for name in ["beem/phils.1.bdd", "beem/peterson.1.bdd", "promela/fair.bdd"] {
        check(name, &["par", "bfs", "chaining"], &[(1, 1), (2, 1), (2, 2), (3, 1), (4, 2)], Options::default());
    }
}

#[test]
fn nodes_are_spread_and_work_is_shared() {
    let figures = check("beem/collision.1.bdd", &["par"], &[(3, 1)], Options::default());
    let created: u64 = figures.iter().map(|figures| figures.counters.created).sum();
    for (rank, figures) in figures.iter().enumerate() {
        assert!(figures.counters.created * 2 < created, "rank {rank} has {} of {created}", figures.counters.created);
    }
    assert!(figures.iter().all(|figures| figures.expansions > 0 && figures.calls > 0));
}

#[test]
fn collections_leave_everything_that_is_needed() {
    for name in ["beem/bakery.1.bdd", "beem/phils.2.bdd"] {
        let options = Options { stress: Some(1000), fibers: 5, ..Options::default() };
        let figures = check(name, &["par", "chaining"], &[(1, 2), (3, 2)], options);
        assert!(figures.iter().all(|figures| figures.counters.collections > 2), "{name}: {figures:?}");
    }
}

/// What two ranks' memory cannot hold in one process, the memory of four holds: none of them has all of it.
#[test]
fn memory_of_four_ranks_holds_what_one_cannot() {
    let model = model("beem/lifts.2.bdd.gz");
    let (par, bytes) = (strategy("par"), 350 << 10);
    for bytes in [bytes, 2 * bytes] {
        let (too_little, _) = together(&model, par, 1, bytes, Options::default());
        assert_eq!(too_little, Err(Error::TableFull));
    }
    let expected = alone(&model, par);
    for level_block in BLOCKS {
        let (found, figures) = together(&model, par, 4, bytes, Options { level_block, ..Options::default() });
        assert_eq!(found, Ok(expected.clone()), "blocks of {level_block:?}");
        assert!(figures.iter().all(|figures| figures.counters.bytes <= bytes as u64));
    }
}
