//! `tremula reach` by several processes that a launcher of MPI has started: one result, printed by rank 0.
//!
//! Those of one host hold the diagrams of a model together, in memory that all address (`host`). Those of several hosts have
//! windows, each its own part of the states of a `.bdd` model (`windowed`); or they share diagrams whose steps travel to their
//! nodes, if told to by a knob. For Petri nets they race (`net_together`).

use crate::args::{Engine, ReachArgs};
use crate::error::{Exit, Failure};
use crate::host;
use crate::net_together;
use crate::numbers::{self, short};
use crate::output;
use crate::processors::Processors;
use crate::ranks;
use crate::reach::{self, Note, Trouble, note_end, trouble};
use crate::report::{Figures, Report, Verdict};
use crate::run::{Phase, Run};
use crate::signals;
use crate::watch::Watch;
use crate::windowed;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use tremula_diagrams::Lease;
use tremula_diagrams::cluster::{Member, Program, RankFigures, Setup};
use tremula_engines::{Distributed, Order, Plan, Strategy, SymbolicSystem, explore};
use tremula_fabric::mail::Mail;
use tremula_fabric::{Fabric, FabricError, Reduction, Segment};
use tremula_models::{BddSystem, TransitionSystem};

/// Words that may be on their way from one rank to another before these wait at the sender.
const RING_WORDS: usize = 1 << 14;
/// The same where memory is short.
const LEAST_RING_WORDS: usize = 1 << 10;
/// The largest share of the budget that goes to rings.
const RING_SHARE: usize = 32;

/// Explore a model, as one of several ranks.
pub fn reach(args: &ReachArgs, started: Instant) -> Result<Exit, Failure> {
    ranks::run(|fabric| take_part(args, started, fabric))
}

fn take_part<F: Fabric>(args: &ReachArgs, started: Instant, fabric: &F) -> Exit
where
    F::Segment: Send + Sync + 'static,
    <F::Segment as Segment>::Words: Send,
{
    let rank = fabric.rank();
    let ready = prepare(args, started, fabric);
    let all = fabric.all_gather(&[u64::from(ready.is_ok())]);
    let (run, watch) = match ready {
        Ok(ready) if all.is_ok_and(|all| all.iter().all(|fine| fine[0] == 1)) => ready,
        ready => return agree_on_end(fabric, ready.map(|_| Exit::Complete)),
    };
    let explored = explore_together(args, &run, fabric);
    run.claim_or_wait();
    if let Some(watch) = watch {
        watch.finish();
    }
    let told = explored.unwrap_or_else(Told::nothing_but);
    let ended = if rank == 0 {
        tell(args, &run, told)
    } else {
        told.ended.map(|()| Exit::Complete).or_else(|trouble| silently(rank, trouble))
    };
    agree_on_end(fabric, ended)
}

/// What this rank knows of the exploration and, on rank 0, who watches it.
fn prepare<F: Fabric>(args: &ReachArgs, started: Instant, fabric: &F) -> Result<(Arc<Run>, Option<Watch>), Failure> {
    let (rank, ranks) = (fabric.rank(), fabric.ranks());
    let processors = Processors::agree(fabric).map_err(|error| Failure::Internal(error.to_string()))?;
    let run = Run::of_rank(args, started, ranks, &processors, rank == 0);
    // Hosts may have different numbers of processors; all ranks have the same number of workers.
    let mut workers = [run.as_ref().map_or(u64::MAX, |run| run.workers.into())];
    let agreed = fabric.all_reduce(Reduction::Min, &mut workers);
    let mut run = run?;
    agreed.map_err(|error| Failure::Internal(error.to_string()))?;
    run.workers = workers[0] as u32;
    let run = Arc::new(run);
    if rank != 0 {
        signals::leave_to_others().map_err(|error| Failure::threads(&error))?;
        return Ok((run, None));
    }
    if let Some(events) = &run.events {
        events.start(&run);
    }
    if let Some(unused) = processors.unused().filter(|_| !args.quiet) {
        output::to_stderr(&format!("tremula: {unused}\n"));
    }
    let watch = Watch::start(&run, args.quiet).map_err(|error| Failure::threads(&error))?;
    Ok((run, Some(watch)))
}

/// What rank 0 can tell beside the result, and whether there is one; figures are nothing on other ranks.
pub struct Told {
    /// Of its own tables, or those of the rank that decided.
    pub figures: Option<Figures>,
    /// What went on at each rank.
    pub of_ranks: String,
    /// Has the exploration come to its end?
    pub ended: Result<(), NoResult>,
}

impl Told {
    /// It has, and other ranks than this one tell of it.
    pub fn elsewhere() -> Told {
        Told { figures: None, of_ranks: String::new(), ended: Ok(()) }
    }

    /// Why there is no result.
    pub fn nothing_but(why: NoResult) -> Told {
        Told { ended: Err(why), ..Told::elsewhere() }
    }
}

/// Why a rank has nothing to tell.
pub enum NoResult {
    /// The reason, if this rank is the one to tell it.
    Here(Trouble),
    /// Another rank, the lowest of those in trouble, could not go on.
    Elsewhere(usize),
    /// Another rank has found bad input or a fault of the program, and tells that itself.
    ToldElsewhere,
}

impl From<FabricError> for NoResult {
    fn from(error: FabricError) -> NoResult {
        NoResult::Here(Trouble::Unknown(error.to_string()))
    }
}

/// Load, explore and count.
fn explore_together<F: Fabric>(args: &ReachArgs, run: &Run, fabric: &F) -> Result<Told, NoResult>
where
    F::Segment: Send + Sync + 'static,
    <F::Segment as Segment>::Words: Send,
{
    let model = agree(fabric, reach::read_any(run))?;
    all_have_it(fabric, agree(fabric, checksum(&run.model))?)?;
    let model = match model {
        TransitionSystem::Net(net) => return net_together::race(args, run, &net, fabric),
        model if host::is_possible(args, fabric)? => match host::explore(args, run, model, fabric)? {
            Ok(told) => return Ok(told),
            Err(model) => model,
        },
        model => model,
    };
    match model {
        TransitionSystem::Bdd(model) if args.tune.iter().any(|knob| knob.is_for_steps()) => {
            share_diagrams(args, run, model, fabric)
        }
        TransitionSystem::Bdd(model) => windowed::explore(args, run, model, fabric),
        _ => agree(
            fabric,
            Err(Trouble::input("processes without common memory can explore .bdd models and Petri nets only")),
        ),
    }
}

/// A number by which files that differ are told apart.
fn checksum(path: &Path) -> Result<u64, Trouble> {
    ranks::checksum(path).map_err(|error| Trouble::input(format!("{}: {error}", path.display())))
}

/// *Collective.* Go on if all ranks have the same model: with another one on some host the answer would be wrong.
fn all_have_it<F: Fabric>(fabric: &F, checksum: u64) -> Result<(), NoResult> {
    let all = fabric.all_gather(&[checksum])?;
    match all.iter().position(|other| *other != all[0]) {
        None => Ok(()),
        Some(odd) if fabric.rank() == 0 => {
            let problem = format!("rank {odd} finds another model under this name than rank 0");
            Err(NoResult::Here(Trouble::input(problem)))
        }
        Some(_) => Err(NoResult::Elsewhere(0)),
    }
}

/// Explore and count with diagrams in the memory of all ranks.
fn share_diagrams<F: Fabric>(args: &ReachArgs, run: &Run, model: BddSystem, fabric: &F) -> Result<Told, NoResult>
where
    F::Segment: Send + Sync + 'static,
    <F::Segment as Segment>::Words: Send,
{
    let (strategy, plan) = agree(fabric, load(args, run, model))?;
    let ring = ring_words(run, fabric)?;
    let rings = run.budget.take(ring * fabric.ranks() * size_of::<u64>());
    let _rings = agree(fabric, rings.map_err(|_| Trouble::Unknown(run.memory_reason())))?;
    let mail = Mail::open(fabric, ring)?;
    let options = reach::options(args, run);
    let setup = Setup { post: &mail, budget: run.budget.clone(), options, attention: run.attention.clone() };
    let member = Member::new(setup, &plan.blueprint).map_err(|error| Trouble::Unknown(error.to_string()));
    let member = agree(fabric, member)?;
    run.enter(Phase::Reach);
    let joined = member.join(|program| explore_on_first(run, strategy, &plan, program));
    // The others are waiting for this rank by now: it counts as lost.
    let (result, figures) = joined.unwrap_or_else(|error| panic!("{error}"));
    let rows = fabric.gather(0, &row(&figures))?.unwrap_or_default();
    let ended = result.unwrap_or(Ok(())).map_err(NoResult::Here);
    let figures = Figures { counters: figures.counters, stealing: None };
    Ok(Told { figures: Some(figures), of_ranks: table_of_ranks(&rows), ended })
}

/// *Collective.* Words of each ring, the same on all ranks: fewer where one of them has little memory.
fn ring_words<F: Fabric>(run: &Run, fabric: &F) -> Result<usize, NoResult> {
    let mut least = [(run.budget.limit() / RING_SHARE / fabric.ranks() / size_of::<u64>()) as u64];
    fabric.all_reduce(Reduction::Min, &mut least)?;
    Ok((least[0] as usize).clamp(LEAST_RING_WORDS, RING_WORDS))
}

/// How to explore, and what a rank keeps of the model.
fn load(args: &ReachArgs, run: &Run, model: BddSystem) -> Result<(Strategy, Plan), Trouble> {
    let (strategy, system, (model, _lease)) = build(args, run, model)?;
    let plan = Plan::new(&model, system).map_err(|error| trouble(run, error))?;
    Ok((strategy, plan))
}

/// How to explore, and the model in a manager of this rank; the model itself comes back with its lease.
pub fn build(
    args: &ReachArgs,
    run: &Run,
    model: BddSystem,
) -> Result<(Strategy, SymbolicSystem, (BddSystem, Lease)), Trouble> {
    reach::refuse_what_bdds_cannot(args)?;
    refuse_what_ranks_cannot(args)?;
    let strategy = strategy_for_ranks(args).map_err(Trouble::Failed)?;
    run.known().strategy = strategy;
    let (model, lease) = reach::charge(args, run, model)?;
    let manager = reach::manager(run, reach::options(args, run), &run.attention)?;
    let system = reach::system(args, &manager, &model).map_err(|error| trouble(run, error))?;
    Ok((strategy, system, (model, lease)))
}

/// Is there anything that the user wants and several processes cannot?
pub fn refuse_what_ranks_cannot(args: &ReachArgs) -> Result<(), Trouble> {
    if args.engine == Engine::Gpu {
        return Err(Trouble::input("--engine gpu is for one process"));
    }
    if args.save_states.is_some() || args.check_stored {
        return Err(Trouble::input("several processes cannot save or compare the states yet"));
    }
    Ok(())
}

/// Saturation takes memory that all address; elsewhere `auto` means a strategy that suits several hosts.
fn strategy_for_ranks(args: &ReachArgs) -> Result<Strategy, Failure> {
    match args.strategy.order {
        Order::Auto => Ok(Strategy { order: Order::Par, frontier: true }),
        Order::Saturation | Order::Explicit => Err(Failure::Input(format!(
            "{} takes processes of one host with common memory; others can do bfs, par and chaining",
            args.strategy
        ))),
        Order::Bfs | Order::Par | Order::Chaining => Ok(args.strategy),
    }
}

/// *Collective.* Go on if all ranks can; else the lowest that has failed tells why, or the lowest that cannot go on.
pub fn agree<F: Fabric, T>(fabric: &F, mine: Result<T, Trouble>) -> Result<T, NoResult> {
    const FINE: u64 = 0;
    const UNKNOWN: u64 = 1;
    const FAILED: u64 = 2;
    let own = match &mine {
        Ok(_) => FINE,
        Err(Trouble::Unknown(_)) => UNKNOWN,
        Err(Trouble::Failed(_)) => FAILED,
    };
    let all = fabric.all_gather(&[own])?;
    let worst = all.iter().map(|of_rank| of_rank[0]).max().unwrap_or(own);
    let lowest = all.iter().position(|of_rank| of_rank[0] == worst).unwrap_or_default();
    match mine {
        Ok(value) if worst == FINE => Ok(value),
        Err(trouble) if lowest == fabric.rank() => Err(NoResult::Here(trouble)),
        _ if worst == FAILED => Err(NoResult::ToldElsewhere),
        _ => Err(NoResult::Elsewhere(lowest)),
    }
}

/// The program of rank 0.
fn explore_on_first(run: &Run, strategy: Strategy, plan: &Plan, program: &Program<'_>) -> Result<(), Trouble> {
    let system = Distributed::new(program, plan).map_err(|error| trouble(run, error))?;
    let result = explore(&system, strategy, &mut Note { run });
    run.enter(Phase::Count);
    let (states, rounds, error) = match result {
        Ok(reached) => {
            note_end(run, reached.rounds, reached.levels, reached.strategy);
            (reached.states, reached.rounds, None)
        }
        Err(stopped) => {
            note_end(run, stopped.rounds, stopped.levels, stopped.strategy);
            (stopped.states, stopped.rounds, Some(stopped.error))
        }
    };
    if let Some(error) = error {
        return Err(trouble(run, error));
    }
    let (count, nodes) = program.count(&states, &plan.state_levels).map_err(|error| trouble(run, error))?;
    let mut known = run.known();
    known.states = Some((count.to_string(), rounds));
    known.nodes = Some(nodes as u64);
    Ok(())
}

/// Print what there is to tell, on rank 0.
fn tell(args: &ReachArgs, run: &Run, Told { figures, of_ranks, ended }: Told) -> Result<Exit, Failure> {
    let report = match ended {
        Ok(()) => Report::complete(run),
        Err(NoResult::Here(Trouble::Failed(failure))) => return Err(failure),
        Err(NoResult::Here(Trouble::Unknown(reason))) => Report::unknown(run, reason),
        Err(NoResult::Elsewhere(rank)) => Report::unknown(run, format!("rank {rank} could not go on")),
        // There is no result to print, and all end with that rank's code.
        Err(NoResult::ToldElsewhere) => return Ok(Exit::Complete),
    };
    report.publish(run, figures.as_ref())?;
    if args.stats {
        output::to_stderr(&of_ranks);
    }
    Ok(match report.verdict {
        Verdict::Unknown => Exit::Limit,
        Verdict::Complete if report.net.deadlock == Some(true) => Exit::Violated,
        Verdict::Complete => Exit::Complete,
    })
}

/// On other ranks, trouble is told only where no lower rank has any.
fn silently(rank: usize, trouble: NoResult) -> Result<Exit, Failure> {
    match trouble {
        NoResult::Here(Trouble::Failed(failure)) => Err(failure.of_rank(rank)),
        NoResult::Here(Trouble::Unknown(reason)) => Err(Failure::Limit(reason)),
        NoResult::Elsewhere(_) | NoResult::ToldElsewhere => Ok(Exit::Complete),
    }
}

/// *Collective.* All ranks end as the worst of them does, so that the launcher reports one code. A failure is told before:
/// launchers kill all processes as soon as one of them has ended with a code.
pub fn agree_on_end<F: Fabric>(fabric: &F, ended: Result<Exit, Failure>) -> Exit {
    let mine = ended.unwrap_or_else(|failure| {
        output::to_stderr(&format!("tremula: {failure}\n"));
        failure.exit()
    });
    let mut worst = [mine.code() as u64];
    // Lost ranks end this process by other means.
    let _ = fabric.all_reduce(Reduction::Max, &mut worst);
    i32::try_from(worst[0]).ok().and_then(Exit::of).unwrap_or(mine)
}

/// Figures of a rank, in the order of [`COLUMNS`].
fn row(figures: &RankFigures) -> [u64; COLUMNS.len()] {
    let RankFigures { counters, expansions, calls, tasks_stolen, reads, makes, batches } = *figures;
    let (created, capacity, bytes) = (counters.created, counters.capacity, counters.bytes);
    [created, capacity, bytes, counters.collections, expansions, calls + tasks_stolen, reads, makes, batches]
}

const COLUMNS: [&str; 9] = ["created", "room", "memory", "gcs", "steps", "calls", "reads", "makes", "sent"];

/// A line of a table with a line for each rank, whose cells have this width.
pub fn line_of_rank(rank: &str, cells: impl IntoIterator<Item = String>, width: usize) -> String {
    cells.into_iter().fold(format!("{rank:<4}"), |line, cell| format!("{line}{cell:>width$}")) + "\n"
}

/// What went on at each rank, and what its steps cost in messages.
fn table_of_ranks(rows: &[Vec<u64>]) -> String {
    let cell = |(at, &value): (usize, &u64)| if COLUMNS[at] == "memory" { numbers::bytes(value) } else { short(value) };
    let mut text = line_of_rank("Rank", COLUMNS.map(str::to_owned), 8);
    for (rank, row) in rows.iter().enumerate() {
        text += &line_of_rank(&rank.to_string(), row.iter().enumerate().map(cell), 8);
    }
    let sum = |names: &[&str]| {
        let chosen = |row: &Vec<u64>| {
            row.iter().zip(COLUMNS).filter(|(_, name)| names.contains(name)).map(|(n, _)| n).sum::<u64>()
        };
        rows.iter().map(chosen).sum::<u64>() as f64
    };
    let steps = sum(&["steps"]).max(1.0);
    let (remote, messages) = (sum(&["calls", "reads", "makes"]) / steps, sum(&["sent"]) / steps);
    text + &format!("Per step: {remote:.4} remote operations, {messages:.4} messages\n")
}
