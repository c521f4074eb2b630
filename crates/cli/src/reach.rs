//! `tremula reach`: from a model file to the number of its reachable states.

use crate::args::{Engine, Order, ReachArgs};
use crate::beside::{self, Rivalry};
use crate::error::{Exit, Failure};
use crate::model::{self, NoModel};
use crate::output;
use crate::presence::Presence;
use crate::progress::Meter;
use crate::report::{Figures, Report};
use crate::run::{Phase, Run};
use crate::states::{self, count_states};
use crate::subject::Subject;
use crate::tune::Tune;
use crate::watch::Watch;
use crate::{binary, gpu, lists, net};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tremula_diagrams::{Attention, Bdd, Counters, Error, Lease, Manager, Options, UBig};
use tremula_engines::net::NetInBits;
use tremula_engines::{Observer, Round, Strategy, SymbolicSystem, stored_reachable};
use tremula_gpu::Device;
use tremula_models::{BddSystem, LddSystem, TransitionSystem};
use tremula_orders::Heuristic;

/// Share of the time that counting for progress may take.
const COUNTING_SHARE: f64 = 0.02;
/// Shortest time between two such counts.
const COUNTING_INTERVAL: Duration = Duration::from_millis(200);
/// What an exploration that ended early found is counted if it takes at most so many machine words: about a second.
const QUICK_WORDS: usize = 20_000_000;

/// Why the exploration has no answer.
pub enum Trouble {
    /// A limit; what is known is still worth telling.
    Unknown(String),
    /// Bad input, or a fault of the program.
    Failed(Failure),
}

impl Trouble {
    /// What the user wants cannot be.
    pub fn input(problem: impl Into<String>) -> Trouble {
        Trouble::Failed(Failure::Input(problem.into()))
    }
}

/// A model inside a manager.
struct Loaded {
    system: SymbolicSystem,
    /// Bits of each integer of a state.
    widths: Vec<u32>,
    /// The reachable set in the file, if it is to be compared.
    stored: Option<Bdd>,
}

/// The reachable states of a model.
pub struct Found {
    pub states: Bdd,
    /// Bits of each integer of a state.
    pub widths: Vec<u32>,
    /// The reachable set in the file, if it is to be compared.
    pub stored: Option<Bdd>,
}

/// What a complete exploration leaves.
pub enum Answer {
    /// A diagram.
    Diagram(Found),
    /// Figures, which are known already.
    Figures,
}

/// Explore a model.
pub fn reach(args: &ReachArgs, started: Instant) -> Result<Exit, Failure> {
    args.save_states.as_deref().map_or(Ok(()), output::probe)?;
    let run = Arc::new(Run::new(args, started)?);
    let watch = Watch::start(&run, args.quiet).map_err(|error| Failure::threads(&error))?;
    if let Some(events) = &run.events {
        events.start(&run);
    }
    let mut figures = None;
    let outcome = explore(args, &run, &mut figures);
    run.claim_or_wait();
    finish(args, &run, watch, outcome, figures.as_ref())
}

/// Print, save, and choose the exit code.
fn finish(
    args: &ReachArgs,
    run: &Run,
    watch: Watch,
    outcome: Result<Answer, Trouble>,
    figures: Option<&Figures>,
) -> Result<Exit, Failure> {
    let answer = match outcome {
        Ok(answer) => answer,
        Err(Trouble::Failed(failure)) => {
            watch.finish();
            return Err(failure);
        }
        Err(Trouble::Unknown(reason)) => {
            let report = Report::unknown(run, reason);
            watch.finish();
            if args.save_states.is_some() && !args.quiet {
                output::to_stderr("tremula: the states are not saved: they are not complete\n");
            }
            return report.publish(run, figures).map(|()| Exit::Limit);
        }
    };
    let report = Report::complete(run);
    let saved = match (&answer, &args.save_states) {
        (Answer::Diagram(found), Some(path)) => states::save(path, &found.states, &found.widths),
        _ => Ok(()),
    };
    watch.finish();
    report.publish(run, figures)?;
    saved?;
    match answer {
        Answer::Diagram(found) if args.check_stored => compare(&found),
        Answer::Figures if report.net.deadlock == Some(true) => Ok(Exit::Violated),
        Answer::Diagram(_) | Answer::Figures => Ok(Exit::Complete),
    }
}

/// Load, explore and count; `figures` are those at the end, whatever the end.
fn explore(args: &ReachArgs, run: &Run, figures: &mut Option<Figures>) -> Result<Answer, Trouble> {
    let _presence = (args.engine == Engine::Gpu).then(Presence::new);
    let device = gpu::find_if_wanted(args)?;
    let device = device.as_ref();
    match read_any(run)? {
        TransitionSystem::Net(net) if binary::is_wanted(args) => {
            explore_net_in_bits(args, run, device, binary::Net::new(args, run, &net)?, figures)
        }
        TransitionSystem::Net(net) => net::explore(args, run, &net, figures).map(|()| Answer::Figures),
        TransitionSystem::Ldd(model) if binary::is_wanted(args) => {
            refuse_what_diagrams_cannot(args)?;
            let bits = binary::of_lists(args, run, &model)?;
            drop(model);
            explore_binary(args, run, device, bits, figures)
        }
        TransitionSystem::Ldd(model) => {
            refuse_what_diagrams_cannot(args)?;
            explore_lists(args, run, model, figures)
        }
        TransitionSystem::Bdd(model) => {
            refuse_what_bdds_cannot(args)?;
            explore_binary(args, run, device, model, figures)
        }
    }
}

/// Explore a net with binary diagrams, as often as places turn out to need more room than they had.
fn explore_net_in_bits(
    args: &ReachArgs,
    run: &Run,
    device: Option<&Device>,
    mut net: binary::Net,
    figures: &mut Option<Figures>,
) -> Result<Answer, Trouble> {
    let mut proven = None;
    loop {
        let NetInBits { system, brims } = net.in_bits(run)?;
        let answer =
            explore_binary(args, run, device, system, figures).inspect_err(|_| keep_count(run, proven.clone()))?;
        let is_complete = match &answer {
            Answer::Diagram(found) => net.has_room_for(&found.states, &brims).map_err(|error| trouble(run, error))?,
            Answer::Figures => true,
        };
        if is_complete {
            return Ok(answer);
        }
        proven = begin_again(run)?;
    }
}

/// Prepare for another exploration of the same model; what the last one has counted.
pub fn begin_again(run: &Run) -> Result<Option<(String, u64)>, Trouble> {
    if run.is_stopped() {
        return Err(Trouble::Unknown(run.stop_reason()));
    }
    run.enter(Phase::Load);
    let mut known = run.known();
    (known.rounds, known.levels_only) = (0, true);
    Ok(known.states.clone())
}

/// Tell a number of states that was proven earlier, if nothing greater is known now.
pub fn keep_count(run: &Run, proven: Option<(String, u64)>) {
    let size = |counted: &Option<(String, u64)>| {
        counted.as_ref().map_or((0, String::new()), |(digits, _)| (digits.len(), digits.clone()))
    };
    let mut known = run.known();
    if size(&proven) > size(&known.states) {
        known.states = proven;
    }
}

/// Explore with binary diagrams, on the device that was asked for, if any.
fn explore_binary(
    args: &ReachArgs,
    run: &Run,
    device: Option<&Device>,
    model: BddSystem,
    figures: &mut Option<Figures>,
) -> Result<Answer, Trouble> {
    if let Some(device) = device {
        return explore_on_device(args, run, device, model).map(Answer::Diagram);
    }
    let (model, lease) = charge(args, run, model)?;
    if beside::is_wanted(args) {
        let model = Arc::new(model);
        let processors = |attention: &_, figures: &mut _| with_processors(args, run, &model, attention, figures);
        return beside::explore(args, run, Rivalry::with_device(args, Subject::in_bits(&model)), figures, processors);
    }
    let loaded = load(args, run, &model, &manager(run, options(args, run), &run.attention)?)?;
    drop((model, lease));
    explore_loaded(args, run, loaded, figures)
}

/// Explore with the processors; the model stays, for who else wants it.
pub fn with_processors(
    args: &ReachArgs,
    run: &Run,
    model: &BddSystem,
    attention: &Attention,
    figures: &mut Option<Figures>,
) -> Result<Answer, Trouble> {
    with_manager(args, run, model, &manager(run, options(args, run), attention)?, figures)
}

/// The same in a manager.
pub fn with_manager(
    args: &ReachArgs,
    run: &Run,
    model: &BddSystem,
    manager: &Manager,
    figures: &mut Option<Figures>,
) -> Result<Answer, Trouble> {
    explore_loaded(args, run, load(args, run, model, manager)?, figures)
}

/// Explore lists.
fn explore_lists(
    args: &ReachArgs,
    run: &Run,
    model: LddSystem,
    figures: &mut Option<Figures>,
) -> Result<Answer, Trouble> {
    lists::refuse_what_lists_cannot(args)?;
    let model = Arc::new(model);
    let processors = |attention: &_, figures: &mut _| {
        lists::explore(args, run, &model, attention, figures).map(|()| Answer::Figures)
    };
    if !beside::is_wanted(args) {
        return processors(&run.attention, figures);
    }
    let rivalry = Rivalry::with_device(args, Subject::in_lists(&model, &run.budget));
    beside::explore(args, run, rivalry, figures, processors)
}

/// Is there anything that the user wants and no kind of decision diagrams of a file can?
pub fn refuse_what_diagrams_cannot(args: &ReachArgs) -> Result<(), Trouble> {
    let refuse = |problem: &str| Err(Trouble::input(problem));
    if !matches!(args.order, Order::Auto) && args.order != Order::Chosen(Heuristic::Given.into()) {
        return refuse("the order of this model is given by its file: use --order auto or given");
    }
    if args.engine == Engine::Mdd {
        return refuse("--engine mdd is for Petri nets");
    }
    if args.strategy == Strategy::EXPLICIT {
        return refuse("--strategy explicit is for Petri nets");
    }
    if args.deadlock { refuse("--deadlock is only for Petri nets so far") } else { Ok(()) }
}

/// Is there anything that the user wants and binary diagrams cannot?
pub fn refuse_what_bdds_cannot(args: &ReachArgs) -> Result<(), Trouble> {
    refuse_what_diagrams_cannot(args)?;
    if args.engine == Engine::Ldd {
        return Err(Trouble::input("--engine ldd is for .ldd models"));
    }
    Ok(())
}

fn explore_loaded(
    args: &ReachArgs,
    run: &Run,
    loaded: Loaded,
    figures: &mut Option<Figures>,
) -> Result<Answer, Trouble> {
    let manager = loaded.system.manager.clone();
    run.enter(Phase::Reach);
    let mut observer = Observe::new(run, &loaded.system.state_levels);
    let result = tremula_engines::reach(&loaded.system, args.strategy, &mut observer);
    run.enter(Phase::Count);
    *figures = Some(Figures { counters: manager.counters(), stealing: manager.stealing() });
    match result {
        Ok(reached) => {
            note_end(run, reached.rounds, reached.levels, reached.strategy);
            count_found(run, &reached.states, &loaded.system.state_levels, reached.rounds)
                .map_err(|error| trouble(run, error))?;
            let Loaded { widths, stored, .. } = loaded;
            Ok(Answer::Diagram(Found { states: reached.states, widths, stored }))
        }
        Err(stopped) => {
            note_end(run, stopped.rounds, stopped.levels, stopped.strategy);
            if !has_lost(run, &stopped.error) {
                count_quickly(run, &stopped.states, &loaded.system.state_levels, stopped.rounds);
            }
            Err(trouble(run, stopped.error))
        }
    }
}

/// Explore on an accelerator; what it finds comes back into a manager.
fn explore_on_device(args: &ReachArgs, run: &Run, device: &Device, model: BddSystem) -> Result<Found, Trouble> {
    let (model, _lease) = charge(args, run, model)?;
    let manager = manager(run, options(args, run), &run.attention)?;
    let states = gpu::explore(args, run, device, &model, &manager)?;
    found(args, run, &model, states)
}

/// States that were found elsewhere, counted.
pub fn found(args: &ReachArgs, run: &Run, model: &BddSystem, states: Bdd) -> Result<Found, Trouble> {
    let levels: Vec<u32> = (0..model.state_bits()).map(BddSystem::current_variable).collect();
    let rounds = run.known().rounds;
    count_found(run, &states, &levels, rounds).map_err(|error| trouble(run, error))?;
    let stored = if args.check_stored { stored_reachable(states.manager(), model) } else { Ok(None) };
    let stored = stored.map_err(|error| trouble(run, error))?;
    Ok(Found { states, widths: widths(model), stored })
}

/// Bits of each integer of a state.
fn widths(model: &BddSystem) -> Vec<u32> {
    model.variables.iter().map(|variable| variable.bits).collect()
}

/// Write down how many states and nodes a set has that was found after so many rounds.
pub fn count_found(run: &Run, found: &Bdd, levels: &[u32], rounds: u64) -> Result<(), Error> {
    let (states, nodes) = (count_states(found, levels)?, found.manager().shared_node_count(&[found])?);
    let mut known = run.known();
    known.states = Some((states.to_string(), rounds));
    known.nodes = Some(nodes as u64);
    Ok(())
}

/// Write down how the exploration ended, which its last observed round need not tell.
pub fn note_end(run: &Run, rounds: u64, levels: Option<u64>, strategy: Strategy) {
    let mut known = run.known();
    (known.rounds, known.levels_only, known.strategy) = (rounds, levels.is_some(), strategy);
}

/// Bring the model into a manager.
fn load(args: &ReachArgs, run: &Run, model: &BddSystem, manager: &Manager) -> Result<Loaded, Trouble> {
    let build = || -> Result<Loaded, Error> {
        let system = system(args, manager, model)?;
        let stored = if args.check_stored { stored_reachable(manager, model)? } else { None };
        Ok(Loaded { system, widths: widths(model), stored })
    };
    build().map_err(|error| trouble(run, error))
}

/// A model inside a manager.
pub fn system(args: &ReachArgs, manager: &Manager, model: &BddSystem) -> Result<SymbolicSystem, Error> {
    let mut system = SymbolicSystem::build(manager, model)?;
    for knob in &args.tune {
        if let Tune::ImagesWithin(value) = knob {
            system.fix_images(*value == 1);
        }
    }
    Ok(system)
}

/// Read the model, of whatever kind.
pub fn read_any(run: &Run) -> Result<TransitionSystem, Trouble> {
    if run.is_stopped() {
        return Err(Trouble::Unknown(run.stop_reason()));
    }
    model::read_any(&run.model, run.budget.limit(), &run.attention).map_err(|reason| match reason {
        NoModel::Bad(failure) | NoModel::Unsupported(failure) => Trouble::Failed(failure),
        NoModel::TooLarge(reason) => Trouble::Unknown(reason),
        NoModel::Stopped => Trouble::Unknown(run.stop_reason()),
    })
}

/// Take the memory of a model from the budget.
pub fn charge(args: &ReachArgs, run: &Run, mut model: BddSystem) -> Result<(BddSystem, Lease), Trouble> {
    if !args.check_stored {
        model = model.without_reachable();
    }
    let lease = charge_for(run, &model)?;
    Ok((model, lease))
}

/// The budget's memory for a model.
pub fn charge_for(run: &Run, model: &BddSystem) -> Result<Lease, Trouble> {
    let charged = model::bytes(model).saturating_sub(model::UNCHARGED);
    run.budget.take(charged).map_err(|_| Trouble::Unknown(run.memory_reason()))
}

/// How the tables are to behave.
pub fn options(args: &ReachArgs, run: &Run) -> Options {
    let mut options = Options { stress: args.stress, workers: run.workers as usize, ..Options::default() };
    args.tune.iter().for_each(|knob| knob.apply(&mut options));
    options
}

/// A manager inside the budget.
pub fn manager(run: &Run, options: Options, attention: &Attention) -> Result<Manager, Trouble> {
    let made = Manager::with_options(&run.budget, options, attention.clone());
    made.map_err(|error| Trouble::Unknown(error.to_string()))
}

/// What an error of the diagrams means to the user.
pub fn trouble(run: &Run, error: Error) -> Trouble {
    match error {
        Error::Cancelled => Trouble::Unknown(run.stop_reason()),
        Error::TableFull => Trouble::Unknown(run.memory_reason()),
        Error::Device { .. } => Trouble::Unknown(error.to_string()),
        Error::ValueTooLarge { .. } => {
            Trouble::Unknown(format!("a place gets more tokens than diagrams can hold: {error}"))
        }
        Error::LevelTooLarge { .. } => Trouble::Unknown(format!("too many variables: {error}")),
        _ => Trouble::Failed(Failure::Internal(error.to_string())),
    }
}

/// Was an exploration stopped because somebody else has the answer? Then nobody wants to know what it has found.
pub fn has_lost(run: &Run, error: &Error) -> bool {
    matches!(error, Error::Cancelled) && !run.is_stopped()
}

/// Count what an exploration that ended early has found, unless that takes long or more memory than there is.
fn count_quickly(run: &Run, found: &Bdd, levels: &[u32], rounds: u64) {
    let Ok(nodes) = found.node_count() else { return };
    run.known().nodes = Some(nodes as u64);
    if let Some(states) = quick_count(found, levels) {
        run.known().states = Some((states.to_string(), rounds));
    }
}

/// The number of states, unless that takes long or more memory than there is.
pub fn quick_count(found: &Bdd, levels: &[u32]) -> Option<UBig> {
    let nodes = found.node_count().ok()?;
    let is_quick = nodes.saturating_mul(words(levels)) <= QUICK_WORDS;
    is_quick.then(|| count_states(found, levels).ok()).flatten()
}

/// Machine words of a count of assignments to these levels.
fn words(levels: &[u32]) -> usize {
    levels.len() / usize::BITS as usize + 1
}

/// Compare with what the file says.
fn compare(found: &Found) -> Result<Exit, Failure> {
    match &found.stored {
        None => output::to_stderr("tremula: the model file carries no reachable set to compare with\n"),
        Some(stored) if *stored == found.states => {
            output::to_stderr("tremula: equal to the reachable set in the model file\n")
        }
        Some(_) => {
            return Err(Failure::Internal("the reachable set differs from the one in the model file".to_owned()));
        }
    }
    Ok(Exit::Complete)
}

/// Writes down where the exploration is after each round, whatever sets are made of.
pub struct Note<'a> {
    /// The exploration.
    pub run: &'a Run,
}

impl<S> Observer<S> for Note<'_> {
    fn round(&mut self, round: &Round<'_, S>) {
        let mut known = self.run.known();
        known.rounds = round.number;
        known.levels_only &= round.is_level;
        known.strategy = round.strategy;
    }
}

/// The same for binary diagrams, whose states are counted now and then for those who watch.
struct Observe<'a> {
    run: &'a Run,
    levels: &'a [u32],
    meter: Meter,
    counting: Duration,
    counted: Instant,
}

impl Observe<'_> {
    fn new<'a>(run: &'a Run, levels: &'a [u32]) -> Observe<'a> {
        Observe { run, levels, meter: Meter::default(), counting: Duration::ZERO, counted: run.started }
    }

    /// Count the states for those who watch, if that is cheap and leaves the tables alone.
    fn count(&mut self, round: &Round<'_>, counters: &Counters) {
        let affordable = self.counting.as_secs_f64() <= COUNTING_SHARE * self.run.elapsed().as_secs_f64();
        let bytes = (counters.nodes as usize).saturating_mul(words(self.levels) * size_of::<usize>());
        if !affordable
            || self.counted.elapsed() < COUNTING_INTERVAL
            || bytes > round.states.manager().budget().available()
        {
            return;
        }
        let started = Instant::now();
        if let Ok(states) = round.states.count(self.levels) {
            self.run.known().states = Some((states.to_string(), round.number));
        }
        self.counted = Instant::now();
        self.counting += started.elapsed();
    }
}

impl Observer for Observe<'_> {
    fn round(&mut self, round: &Round<'_>) {
        Note { run: self.run }.round(round);
        let counters = round.states.manager().counters();
        self.count(round, &counters);
        if let Some(events) = &self.run.events
            && events.round_is_due()
        {
            events.round(self.run, &self.meter.measure(self.run, &counters));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(run: &Run) -> Option<String> {
        run.known().states.clone().map(|(states, _)| states)
    }

    #[test]
    fn the_greatest_number_of_states_that_was_proven_stays() {
        let run = Run::new(&ReachArgs::of("model".into()), Instant::now()).expect("no files are written");
        let counted = |digits: &str| Some((digits.to_owned(), 1));
        for (proven, known, kept) in [("100", "99", "100"), ("98", "99", "99"), ("7", "", "7")] {
            run.known().states = counted(known).filter(|_| !known.is_empty());
            keep_count(&run, counted(proven));
            assert_eq!(states(&run).as_deref(), Some(kept));
        }
        keep_count(&run, None);
        assert_eq!(states(&run).as_deref(), Some("7"));
    }
}
