//! `--engine auto` where there is a device: the processors explore, the device beside them, and who is first has the answer.

use crate::args::{Engine, ReachArgs};
use crate::envoy::Envoy;
use crate::gpu;
use crate::reach::{Answer, Found, Trouble, begin_again, found, keep_count, manager, note_end, options, trouble};
use crate::report::Figures;
use crate::rival::{Explored, Explorer, HEAD_START, Match, Rival, Task, Won};
use crate::run::{Phase, Run};
use crate::subject::Subject;
use crate::tune::Tune;
use std::time::Duration;
use tremula_diagrams::Attention;
use tremula_engines::Strategy;
use tremula_gpu::Cuda;

/// Does a device take part?
pub fn is_wanted(args: &ReachArgs) -> bool {
    args.engine == Engine::Auto && (Cuda::has_driver() || is_played(args))
}

/// Does a twin play the device?
fn is_played(args: &ReachArgs) -> bool {
    args.tune.contains(&Tune::DeviceTwin(1))
}

/// Processors that lack memory explore once more if at least this part of it was kept for a device: less makes no difference.
const WORTH_A_RETRY: usize = 32;

/// What the device does beside the processors.
pub struct Rivalry<E> {
    /// What it explores: the model of the processors.
    pub subject: Subject,
    pub strategy: Strategy,
    /// How long the processors are alone.
    pub head_start: Duration,
    /// Has it explore.
    pub explorer: E,
}

impl Rivalry<()> {
    /// With the device of this host.
    pub fn with_device(args: &ReachArgs, subject: Subject) -> Rivalry<impl Explorer + use<>> {
        let strategy = gpu::strategy_for_devices(args.strategy);
        let told = args.tune.iter().find_map(|knob| match *knob {
            Tune::DeviceDelay(milliseconds) => Some(Duration::from_millis(milliseconds)),
            _ => None,
        });
        let envoy = Envoy { memory: args.gpu_mem, is_twin: is_played(args) };
        let explorer = move |task: &Task<'_>| envoy.explore(task);
        Rivalry { subject, strategy, head_start: told.unwrap_or(HEAD_START), explorer }
    }
}

/// Explore with the processors, and take the answer of the device if that is first. What the processors do ends when its
/// attention is called. If they lack what was kept for a device that has no answer either, they explore once more with it; and so
/// do they if there is too little memory for the states that the device has found, which may take more than finding them again.
pub fn explore(
    args: &ReachArgs,
    run: &Run,
    rivalry: Rivalry<impl Explorer>,
    figures: &mut Option<Figures>,
    processors: impl Fn(&Attention, &mut Option<Figures>) -> Result<Answer, Trouble>,
) -> Result<Answer, Trouble> {
    let Rivalry { subject, strategy, head_start, explorer } = rivalry;
    let (both, of_processors) = (run.attention.clone(), run.attention.of_one());
    let game =
        Match { subject, strategy, both, processors: of_processors.clone(), budget: run.budget.clone(), head_start };
    let (without, engine) = (run.budget.used(), run.known().setting.engine);
    let rival = Rival::start(game, explorer);
    let outcome = processors(&of_processors, figures);
    match &outcome {
        Err(Trouble::Unknown(reason)) if !run.is_stopped() => {
            let kept = run.budget.used().saturating_sub(without);
            let lacked = *reason == run.memory_reason() && kept >= run.budget.limit() / WORTH_A_RETRY;
            run.enter(Phase::Reach);
            let won = rival.wait();
            run.enter(Phase::Count);
            let taken = won.map(|won| {
                *figures = None;
                take_from_device(args, run, won)
            });
            match taken {
                Some(Err(Trouble::Unknown(_))) if !run.is_stopped() => {}
                Some(taken) => return taken.map(Answer::Diagram),
                None if lacked && !run.is_stopped() => {}
                None => return outcome,
            }
            let proven = begin_again(run)?;
            run.known().setting.engine = engine;
            // The device has stopped them, if it was first.
            processors(&run.attention.of_one(), figures).inspect_err(|_| keep_count(run, proven))
        }
        _ => {
            rival.stop();
            outcome
        }
    }
}

/// The states that the device was first to find.
fn take_from_device(args: &ReachArgs, run: &Run, won: Won) -> Result<Found, Trouble> {
    let Won { explored: Explored { states: diagram, rounds, levels, strategy }, model, leases: [of_states, _of_model] } =
        won;
    let manager = manager(run, options(args, run), &run.attention)?;
    let states = diagram.import(&manager).map_err(|error| trouble(run, error))?;
    drop((diagram, of_states));
    run.known().setting.engine = "gpu";
    note_end(run, rounds, levels, strategy);
    found(args, run, &model, states)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envoy::explore_here;
    use crate::lists;
    use crate::memory::Size;
    use crate::reach::with_processors;
    use crate::rival::Loan;
    use std::cell::Cell;
    use std::sync::Arc;
    use std::time::Instant;
    use tremula_engines::Order;
    use tremula_models::{Limits, read_file, read_ldd_file};

    fn setting(path: &str, memory: usize) -> (ReachArgs, Run) {
        let args = ReachArgs { mem: Some(Size::Bytes(memory)), workers: Some(1), ..ReachArgs::of(path.into()) };
        let run = Run::new(&args, Instant::now()).expect("no files are written");
        (args, run)
    }

    /// A device that is a twin, or none.
    fn rivalry(subject: Subject, head_start: Duration, has_device: bool) -> Rivalry<impl Explorer + use<>> {
        let explorer = move |task: &Task<'_>| if has_device { explore_here(task) } else { None };
        Rivalry { subject, strategy: Strategy { order: Order::Par, frontier: true }, head_start, explorer }
    }

    /// Explore bakery.1 beside a device for which so much is kept.
    fn race_against(memory: usize, kept: usize, explorer: impl Explorer) -> (Result<Answer, Trouble>, Run) {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/beem/bakery.1.bdd");
        let (args, run) = setting(path, memory);
        let model = Arc::new(read_file(path.as_ref(), &Limits::default()).unwrap());
        let processors = |attention: &_, figures: &mut _| with_processors(&args, &run, &model, attention, figures);
        let subject = Subject { kept, ..Subject::in_bits(&model) };
        let strategy = Strategy { order: Order::Par, frontier: true };
        let rivalry = Rivalry { subject, strategy, head_start: Duration::ZERO, explorer };
        let outcome = explore(&args, &run, rivalry, &mut None, processors);
        (outcome, run)
    }

    /// Explore bakery.1 (1506 states), and say who won.
    fn race(memory: usize, head_start: Duration, has_device: bool) -> (Result<Answer, Trouble>, Run) {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/beem/bakery.1.bdd");
        let (args, run) = setting(path, memory);
        let model = Arc::new(read_file(path.as_ref(), &Limits::default()).unwrap());
        let processors = |attention: &_, figures: &mut _| with_processors(&args, &run, &model, attention, figures);
        // This device makes its relations elsewhere.
        let subject = Subject { kept: 0, ..Subject::in_bits(&model) };
        let outcome = explore(&args, &run, rivalry(subject, head_start, has_device), &mut None, processors);
        (outcome, run)
    }

    fn states(run: &Run) -> Option<String> {
        run.known().states.clone().map(|(states, _)| states)
    }

    #[test]
    fn processors_that_are_first_have_the_answer() {
        let (outcome, run) = race(64 << 20, Duration::from_secs(3600), true);
        assert!(outcome.is_ok());
        assert_eq!((states(&run).as_deref(), run.known().setting.engine), (Some("1506"), "bdd"));
    }

    #[test]
    fn a_device_answers_where_processors_have_too_little_memory() {
        // Enough for the states that the device finds, not for finding them.
        let (outcome, run) = race(180 << 10, Duration::ZERO, true);
        assert!(outcome.is_ok(), "{:?}", run.known().states);
        assert_eq!((states(&run).as_deref(), run.known().setting.engine), (Some("1506"), "gpu"));
        let (outcome, _) = race(180 << 10, Duration::ZERO, false);
        assert!(matches!(outcome, Err(Trouble::Unknown(_))));
    }

    #[test]
    fn processors_have_all_memory_once_the_device_has_failed() {
        let alone = |memory| race_against(memory, 0, |_: &Task<'_>| None).0.is_ok();
        let enough = (180..).map(|size| size << 10).find(|&memory| alone(memory)).expect("some is enough");
        // A device that holds what it has until the processors have given up.
        let fails_late = |task: &Task<'_>| {
            (task.lend)(Loan::All);
            None
        };
        let (outcome, run) = race_against(enough, enough / 8, fails_late);
        assert!(outcome.is_ok());
        assert_eq!((states(&run).as_deref(), run.known().setting.engine), (Some("1506"), "bdd"));
    }

    #[test]
    fn processors_explore_once_more_where_the_states_of_the_device_have_no_room() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/beem/bakery.1.bdd");
        let (args, run) = setting(path, 64 << 20);
        let model = Arc::new(read_file(path.as_ref(), &Limits::default()).unwrap());
        let tries = Cell::new(0);
        let processors = |attention: &_, figures: &mut _| {
            tries.set(tries.get() + 1);
            match tries.get() {
                1 => Err(Trouble::Unknown("given up".to_owned())),
                _ => with_processors(&args, &run, &model, attention, figures),
            }
        };
        // The states take all memory that there is.
        let explorer = |task: &Task<'_>| {
            let (explored, lease) = explore_here(task)?;
            drop(lease);
            Some((explored, (task.lend)(Loan::All)?))
        };
        let strategy = Strategy { order: Order::Par, frontier: true };
        let subject = Subject { kept: 0, ..Subject::in_bits(&model) };
        let rivalry = Rivalry { subject, strategy, head_start: Duration::ZERO, explorer };
        let outcome = explore(&args, &run, rivalry, &mut None, processors);
        assert!(outcome.is_ok());
        assert_eq!((states(&run).as_deref(), run.known().setting.engine), (Some("1506"), "bdd"));
        assert_eq!(tries.get(), 2);
    }

    #[test]
    fn lists_have_a_rival_too() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/sylvan/anderson.4.ldd");
        let lists = Arc::new(read_ldd_file(path.as_ref(), &Limits::default()).unwrap());
        let race = |head_start, processors: &dyn Fn(&ReachArgs, &Run, &Attention) -> Result<Answer, Trouble>| {
            let (args, run) = setting(path, 64 << 20);
            let rivalry = rivalry(Subject::in_lists(&lists, &run.budget), head_start, true);
            let outcome = explore(&args, &run, rivalry, &mut None, |attention, _| processors(&args, &run, attention));
            assert!(outcome.is_ok());
            (states(&run), run.known().setting.engine)
        };
        let by_lists = |args: &ReachArgs, run: &Run, attention: &Attention| {
            lists::explore(args, run, &lists, attention, &mut None).map(|()| Answer::Figures)
        };
        let give_up = |_: &ReachArgs, _: &Run, _: &Attention| Err(Trouble::Unknown("given up".to_owned()));
        let expected = Some("29641".to_owned());
        assert_eq!(race(Duration::from_secs(3600), &by_lists), (expected.clone(), "ldd"));
        assert_eq!(race(Duration::ZERO, &give_up), (expected, "gpu"));
    }
}
