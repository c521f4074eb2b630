//! Ranks with windows find the same states as one process alone.

use tremula_diagrams::{Attention, Budget, Error, Manager, Options, UBig};
use tremula_engines::windows::{self, Ended, Halt};
use tremula_engines::{Strategy, SymbolicSystem, reach};
use tremula_fabric::threads;
use tremula_models::{BddSystem, Limits, read_file};

fn model(name: &str) -> BddSystem {
    let path = format!("{}/../../testdata/{name}", env!("CARGO_MANIFEST_DIR"));
    read_file(path.as_ref(), &Limits::default()).unwrap().without_reachable()
}

/// States and levels, as one process finds them.
fn alone(model: &BddSystem, strategy: Strategy) -> (String, Option<u64>) {
    let manager = Manager::new(&Budget::new(256 << 20)).unwrap();
    let system = SymbolicSystem::build(&manager, model).unwrap();
    let reached = reach(&system, strategy, &mut ()).map_err(|stopped| stopped.error).unwrap();
    (reached.states.count(&system.state_levels).unwrap().to_string(), reached.levels)
}

/// What is left of a rank's end when its manager is gone.
struct Part {
    count: UBig,
    levels: Option<u64>,
    halt: Option<Halt>,
    moves: u64,
    pieces: u64,
}

/// The parts of the ranks; windows change as soon as `patience` steps were waited for.
fn together(model: &BddSystem, strategy: Strategy, budgets: &[usize], options: Options, patience: u64) -> Vec<Part> {
    let ran = threads::run(budgets.len(), |fabric| {
        let budget = Budget::new(budgets[tremula_fabric::Fabric::rank(fabric)]);
        let manager = Manager::with_options(&budget, options, Attention::default()).unwrap();
        let system = SymbolicSystem::build(&manager, model).unwrap();
        let Ended { states, levels, halt, figures, .. } =
            windows::explore(fabric, &system, strategy, windows::Options { patience }, &mut ());
        manager.compact();
        let count = states.count(&system.state_levels).unwrap();
        Part { count, levels, halt, moves: figures.moves, pieces: figures.pieces }
    });
    ran.unwrap()
}

fn sum(parts: &[Part]) -> String {
    parts.iter().map(|part| &part.count).sum::<UBig>().to_string()
}

const ENOUGH: usize = 256 << 20;
/// Too little for schedule_world.2 at once.
const LITTLE: usize = 16 << 20;

#[test]
fn ranks_find_what_one_process_finds() {
    for name in ["beem/phils.2.bdd", "beem/bakery.1.bdd", "beem/peterson.1.bdd", "promela/fair.bdd"] {
        let model = model(name);
        for strategy in
            ["bfs", "par", "chaining", "bfs-full", "par-full", "chaining-full"].map(|name| name.parse().unwrap())
        {
            let (states, levels) = alone(&model, strategy);
            for ranks in 1..=4 {
                let parts = together(&model, strategy, &vec![ENOUGH; ranks], Options::default(), 1);
                let what = format!("{name}, {strategy}, {ranks} ranks");
                assert!(parts.iter().all(|part| part.halt.is_none()), "{what}");
                assert_eq!(sum(&parts), states, "{what}");
                assert!(parts.iter().all(|part| part.levels == levels), "{what}: {:?}", parts[0].levels);
            }
        }
    }
}

#[test]
fn windows_change_and_everybody_has_a_part() {
    let (model, strategy) = (model("beem/at.1.bdd.gz"), "par".parse().unwrap());
    for ranks in 2..=4 {
        let parts = together(&model, strategy, &vec![ENOUGH; ranks], Options::default(), 1000);
        assert_eq!(sum(&parts), "39354");
        assert!(parts[0].moves >= 1 && parts[0].pieces >= ranks as u64);
        assert!(parts.iter().all(|part| part.count > UBig::ZERO && part.moves == parts[0].moves));
    }
}

#[test]
fn collections_do_no_harm() {
    let model = model("beem/bakery.1.bdd");
    let options = Options { stress: Some(500), workers: 2, worker_threshold: 10, ..Options::default() };
    for strategy in ["par", "chaining"].map(|name| name.parse().unwrap()) {
        assert_eq!(sum(&together(&model, strategy, &[ENOUGH; 3], options, 100)), "1506");
    }
}

/// One of the ranks has too little memory: all stop together, and the others know which one it was.
#[test]
fn a_rank_without_room_stops_all() {
    let (model, strategy) = (model("beem/schedule_world.2.bdd.gz"), "par".parse().unwrap());
    let parts = together(&model, strategy, &[ENOUGH, 4 << 20, ENOUGH], Options::default(), 1000);
    let is_expected = |(rank, part): (usize, &Part)| match &part.halt {
        Some(Halt::Here(Error::TableFull)) => rank == 1,
        Some(Halt::Elsewhere(1)) => rank != 1,
        _ => false,
    };
    let halts = parts.iter().map(|part| &part.halt).collect::<Vec<_>>();
    assert!(parts.iter().enumerate().all(is_expected), "{halts:?}");
    let found = parts.iter().map(|part| &part.count).sum::<UBig>();
    assert!(found > UBig::ZERO && found < UBig::from(1_570_340u32), "{found}");
}

/// Without room for all successors at once, a round explores part by part, and its level is the same.
#[test]
fn little_room_takes_more_exchanges() {
    let (model, strategy) = (model("beem/schedule_world.2.bdd.gz"), "par".parse().unwrap());
    let manager = Manager::new(&Budget::new(LITTLE)).unwrap();
    let system = SymbolicSystem::build(&manager, &model).unwrap();
    let stopped = reach(&system, strategy, &mut ()).err().map(|stopped| stopped.error);
    assert_eq!(stopped, Some(Error::TableFull), "the model is too small for this test");
    let parts = together(&model, strategy, &[LITTLE], Options::default(), 1000);
    assert_eq!((sum(&parts).as_str(), parts[0].levels), ("1570340", Some(18)));
}

#[test]
fn who_is_cancelled_stops_all() {
    let (model, strategy) = (model("beem/at.1.bdd.gz"), "par".parse().unwrap());
    let halts = threads::run(2, |fabric| {
        let attention = Attention::default();
        let manager = Manager::with_options(&Budget::new(ENOUGH), Options::default(), attention.clone()).unwrap();
        let system = SymbolicSystem::build(&manager, &model).unwrap();
        if tremula_fabric::Fabric::rank(fabric) == 1 {
            attention.cancel();
        }
        windows::explore(fabric, &system, strategy, windows::Options { patience: 1 }, &mut ()).halt
    });
    let halts = halts.unwrap();
    assert!(matches!(halts[..], [Some(Halt::Elsewhere(1)), Some(Halt::Here(Error::Cancelled))]), "{halts:?}");
}
