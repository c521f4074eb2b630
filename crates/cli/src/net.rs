//! `tremula reach` for Petri nets: orders, exploration, and the figures of all reachable markings.

use crate::args::{Engine, Order as OrderChoice, ReachArgs, TraceKind};
use crate::error::Failure;
use crate::order::no_such_order;
use crate::output;
use crate::reach::{Note, Trouble, note_end, trouble};
use crate::report::Figures;
use crate::run::{Marking, Phase, Run, Setting};
use tremula_diagrams::mdd::{Mdd, MddOptions};
use tremula_diagrams::{Attention, Error};
use tremula_engines::net::{
    Contest, Contestant, EncodedNet, EncodingError, Finished, Lineup, NetSurvey, NetSystem, NoWinner, Share,
    Unfinished, Way, share,
};
use tremula_engines::{Order, Strategy};
use tremula_models::PetriNet;

/// All reachable markings of a net, in the order that was found best.
pub struct Explored {
    system: NetSystem,
    states: Mdd,
}

/// What is counted of all reachable markings.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// The markings.
    States,
    /// Pairs of a marking and a transition that can fire in it.
    Transitions,
    /// The most tokens that are ever in one place.
    MaxTokenInPlace,
    /// The most tokens that are ever in all places together.
    MaxTokenPerMarking,
}

/// Explore and count; `figures` are those at the end, whatever the end.
pub fn explore(args: &ReachArgs, run: &Run, net: &PetriNet, figures: &mut Option<Figures>) -> Result<(), Trouble> {
    refuse_what_nets_cannot(args)?;
    let explored = markings(args, run, net, figures)?;
    evaluate(args, run, net, &explored)
}

/// Count, and look for a deadlock if that was asked for.
pub fn evaluate(args: &ReachArgs, run: &Run, net: &PetriNet, explored: &Explored) -> Result<(), Trouble> {
    count(run, explored, &mut |_, _| Ok(()))?;
    if args.deadlock { find_deadlock(args, run, net, explored) } else { Ok(()) }
}

/// Explore only.
pub fn markings(
    args: &ReachArgs,
    run: &Run,
    net: &PetriNet,
    figures: &mut Option<Figures>,
) -> Result<Explored, Trouble> {
    let explored = markings_of_rank(args, run, net, (0, 1), figures)?;
    Ok(explored.expect("who is alone has everything to do"))
}

/// The same as one rank of so many; nothing if they try everything without this one.
pub fn markings_of_rank(
    args: &ReachArgs,
    run: &Run,
    net: &PetriNet,
    (rank, ranks): (usize, usize),
    figures: &mut Option<Figures>,
) -> Result<Option<Explored>, Trouble> {
    run.known().setting = Setting { format: "pnml", engine: "mdd", order: "auto".to_owned() };
    let explored = match (ranks == 1).then(|| soon(args, run, net, figures)).flatten() {
        Some(explored) => Some(explored),
        None => later(args, run, net, (rank, ranks), figures)?,
    };
    let Some(explored) = explored else { return Ok(None) };
    if explored.system.keeps_beliefs(net, &explored.states).map_err(|error| trouble(run, error))? {
        return Ok(Some(explored));
    }
    drop(explored);
    if !args.quiet {
        output::to_stderr(
            "tremula: the units of this net are not safe, although its file says so; it is explored without them\n",
        );
    }
    let without_units = PetriNet { units: None, ..net.clone() };
    markings_of_rank(args, run, &without_units, (rank, ranks), figures)
}

/// Explore in an order that is found soon, if that takes but a moment.
fn soon(args: &ReachArgs, run: &Run, net: &PetriNet, figures: &mut Option<Figures>) -> Option<Explored> {
    let OrderChoice::Auto = args.order else { return None };
    if !matches!(args.strategy.order, Order::Auto | Order::Saturation) {
        return None;
    }
    let lineup = Lineup::quick(net, run.workers as usize)?;
    run.enter(Phase::Reach);
    let finished = contest_of(args, run, net, &lineup).attempt();
    run.enter(if finished.is_some() { Phase::Count } else { Phase::Load });
    finished.map(|finished| won(run, &lineup, finished, figures))
}

/// Explore in the orders and ways that this rank has to try; nothing if there are none.
fn later(
    args: &ReachArgs,
    run: &Run,
    net: &PetriNet,
    (rank, ranks): (usize, usize),
    figures: &mut Option<Figures>,
) -> Result<Option<Explored>, Trouble> {
    let mut lineup = line_up(args, run, net)?;
    keep_wanted(&mut lineup, args.strategy)?;
    match share(&lineup, args.strategy, rank, ranks) {
        Share::Contest(lineup) => contest(args, run, net, &lineup, figures).map(Some),
        Share::Rounds(best, strategy) => rounds(args, run, net, (&lineup, &best, strategy), figures).map(Some),
        Share::Nothing => Ok(None),
    }
}

/// Is there anything that the user wants and nets cannot?
pub fn refuse_what_nets_cannot(args: &ReachArgs) -> Result<(), Trouble> {
    let refuse = |problem: &str| Err(Trouble::input(problem));
    if matches!(args.engine, Engine::Bdd | Engine::Gpu) {
        return refuse("several processes explore Petri nets with --engine mdd");
    }
    refuse_what_no_engine_can(args)
}

/// Is there anything that the user wants and no kind of diagrams can do for nets?
pub fn refuse_what_no_engine_can(args: &ReachArgs) -> Result<(), Trouble> {
    let refuse = |problem: &str| Err(Trouble::input(problem));
    if args.engine == Engine::Ldd {
        return refuse("Petri nets are explored with --engine mdd, bdd or gpu");
    }
    if args.save_states.is_some() {
        return refuse("the states of Petri nets cannot be saved yet");
    }
    if args.check_stored { refuse("Petri nets carry no reachable set to compare with") } else { Ok(()) }
}

/// Explore in all ways and orders that may be good, or in those that the user wants.
fn contest(
    args: &ReachArgs,
    run: &Run,
    net: &PetriNet,
    lineup: &Lineup,
    figures: &mut Option<Figures>,
) -> Result<Explored, Trouble> {
    run.enter(Phase::Reach);
    run.known().levels_only = false;
    let ended = contest_of(args, run, net, lineup).run();
    run.enter(Phase::Count);
    match ended {
        Ok(finished) => Ok(won(run, lineup, finished, figures)),
        Err(NoWinner::Encoding(error)) => Err(unencodable(&error)),
        Err(NoWinner::Unfinished(unfinished)) => {
            let Unfinished { error, furthest } = *unfinished;
            if let Some(furthest) = furthest {
                note_contestant(run, lineup, &furthest, 0, figures);
                note_lower_bound(run, &furthest.states);
            }
            Err(trouble(run, error))
        }
    }
}

fn contest_of<'a>(args: &ReachArgs, run: &'a Run, net: &'a PetriNet, lineup: &'a Lineup) -> Contest<'a> {
    Contest {
        net,
        lineup,
        workers: run.workers as usize,
        budget: &run.budget,
        options: options(args),
        attention: &run.attention,
    }
}

/// What the winner of a contest has found.
fn won(run: &Run, lineup: &Lineup, finished: Finished, figures: &mut Option<Figures>) -> Explored {
    note_contestant(run, lineup, &finished, 1, figures);
    Explored { system: finished.system, states: finished.states }
}

fn note_contestant(run: &Run, lineup: &Lineup, finished: &Finished, rounds: u64, figures: &mut Option<Figures>) {
    let contestant = &lineup.contestants[finished.winner];
    note_end(run, rounds, None, strategy(contestant.way));
    run.known().setting.order = contestant.name.clone();
    *figures = Some(Figures { counters: finished.system.manager.counters(), stealing: None });
}

/// All orders that may be good, or the one that the user wants.
pub fn line_up(args: &ReachArgs, run: &Run, net: &PetriNet) -> Result<Lineup, Trouble> {
    let OrderChoice::Chosen(recipe) = args.order else { return Ok(Lineup::new(net, run.workers as usize)) };
    Lineup::in_order(net, recipe).ok_or_else(|| Trouble::Failed(no_such_order(recipe)))
}

/// Where the user wants one way of those that hold a contest, only who explores in this way stays.
fn keep_wanted(lineup: &mut Lineup, wanted: Strategy) -> Result<(), Trouble> {
    if matches!(wanted.order, Order::Saturation | Order::Explicit) {
        lineup.contestants.retain(|contestant| wanted == strategy(contestant.way));
    }
    if lineup.contestants.is_empty() {
        let problem = "--strategy explicit needs bounds of all places that fit into 127 bits together, and semiflows \
                       do not tell them for this net";
        return Err(Trouble::Unknown(problem.to_owned()));
    }
    Ok(())
}

/// What a way to explore is called.
fn strategy(way: Way) -> Strategy {
    let order = match way {
        Way::Saturation(_) => Order::Saturation,
        Way::Bfs => Order::Bfs,
        Way::Chaining => Order::Chaining,
        Way::Explicit => Order::Explicit,
    };
    Strategy { order, frontier: true }
}

/// Explore round by round, in the order that the metric likes best or that the user wants.
fn rounds(
    args: &ReachArgs,
    run: &Run,
    net: &PetriNet,
    (lineup, best, strategy): (&Lineup, &Contestant, Strategy),
    figures: &mut Option<Figures>,
) -> Result<Explored, Trouble> {
    run.known().setting.order = best.name.clone();
    let groups = if best.grouped { &lineup.groups[..] } else { &[] };
    let net = EncodedNet::new(net, &best.order, groups, &lineup.bounds).map_err(|error| unencodable(&error))?;
    let system = NetSystem::build(net, &run.budget, options(args), run.attention.clone());
    let system = system.map_err(|error| trouble(run, error))?;
    run.enter(Phase::Reach);
    let result = system.explore(strategy, &mut Note { run });
    run.enter(Phase::Count);
    *figures = Some(Figures { counters: system.manager.counters(), stealing: None });
    match result {
        Ok(reached) => {
            note_end(run, reached.rounds, reached.levels, reached.strategy);
            Ok(Explored { system, states: reached.states })
        }
        Err(stopped) => {
            note_end(run, stopped.rounds, stopped.levels, stopped.strategy);
            note_lower_bound(run, &stopped.states);
            Err(trouble(run, stopped.error))
        }
    }
}

fn options(args: &ReachArgs) -> MddOptions {
    MddOptions { stress: args.stress, ..MddOptions::default() }
}

fn unencodable(error: &EncodingError) -> Trouble {
    Trouble::Unknown(error.to_string())
}

/// Count what an exploration that ended early has found, if there is memory for it and anybody who wants to know.
fn note_lower_bound(run: &Run, states: &Mdd) {
    if run.is_beaten() {
        return;
    }
    // What stopped the exploration does not stop this; if it takes long, the watching thread ends it.
    states.manager().set_attention(Attention::default());
    let _ = states.survey(
        |_, _| 0,
        |survey| {
            let mut known = run.known();
            known.states = Some((survey.vectors().to_string(), known.rounds));
            known.nodes = Some(survey.nodes() as u64);
        },
    );
}

/// The figures of all markings, the one that takes long last; each is known and told as soon as it is there.
pub fn count(
    run: &Run,
    explored: &Explored,
    tell: &mut dyn FnMut(Value, &str) -> Result<(), Failure>,
) -> Result<(), Trouble> {
    let Explored { system, states } = explored;
    let failed = |error: Error| trouble(run, error);
    let mut tell = |value, digits: &str| tell(value, digits).map_err(Trouble::Failed);

    let look = |survey: &NetSurvey<'_>| {
        let states = survey.states().to_string();
        {
            let mut known = run.known();
            known.states = Some((states.clone(), known.rounds));
            known.nodes = Some(survey.nodes() as u64);
        }
        tell(Value::States, &states)?;

        let in_place = survey.max_tokens_in_place().to_string();
        run.known().net.max_token_in_place = Some(in_place.clone());
        tell(Value::MaxTokenInPlace, &in_place)?;

        let per_marking = survey.max_tokens_per_marking().to_string();
        run.known().net.max_token_per_marking = Some(per_marking.clone());
        tell(Value::MaxTokenPerMarking, &per_marking)?;

        let transitions = survey.transitions().map_err(failed)?.to_string();
        run.known().net.transitions = Some(transitions.clone());
        tell(Value::Transitions, &transitions)
    };
    system.survey(states, look).map_err(failed)?
}

/// Can the net get stuck? A marking is known as soon as it is found, a way to the nearest one only if it was asked for.
fn find_deadlock(args: &ReachArgs, run: &Run, net: &PetriNet, explored: &Explored) -> Result<(), Trouble> {
    let Explored { system, states } = explored;
    let failed = |error: Error| trouble(run, error);
    let stuck = system.deadlocks(states).map_err(failed)?;
    let marking = stuck.vectors().next().map(|values| system.encoding.marking(&values));
    {
        let mut known = run.known();
        known.net.deadlock = Some(marking.is_some());
        known.net.deadlock_marking = marking.as_deref().map(|tokens| named(net, tokens));
    }
    let Some(kind) = args.trace.filter(|_| marking.is_some()) else { return Ok(()) };
    let trace = match kind {
        TraceKind::Shortest => system.shortest_trace(&stuck),
        TraceKind::Any => system.any_trace(&stuck),
    };
    let trace = match trace.map_err(failed) {
        // The answer is known all the same.
        Err(Trouble::Unknown(reason)) => {
            if !args.quiet {
                output::to_stderr(&format!("tremula: no sequence of firings: {reason}\n"));
            }
            return Ok(());
        }
        other => other?.filter(|trace| trace.holds(net)),
    };
    let unsound = || Trouble::Failed(Failure::Internal("the net does not fire as the trace says".to_owned()));
    let trace = trace.ok_or_else(unsound)?;
    let mut known = run.known();
    known.net.deadlock_marking = Some(named(net, &trace.marking));
    known.net.deadlock_trace = Some(trace.firings.iter().map(|&at| net.transitions[at].id.clone()).collect());
    Ok(())
}

/// A marking by the names of places.
fn named(net: &PetriNet, tokens: &[u128]) -> Marking {
    let held = net.places.iter().zip(tokens).filter(|&(_, &tokens)| tokens > 0);
    held.map(|(place, tokens)| (place.id.clone(), tokens.to_string().into())).collect()
}
