//! `.bdd` models by processes of several hosts: each keeps the states of its own window, in tables of its own.
//!
//! A thread of each rank looks at a board, so that Ctrl-C and limits of one rank stop the operations of all.

use crate::args::ReachArgs;
use crate::board::Board;
use crate::error::Failure;
use crate::numbers::{self, short};
use crate::reach::{self, Note, Trouble, note_end, trouble};
use crate::report::Figures;
use crate::run::{Phase, Run};
use crate::states::count_states;
use crate::together::{NoResult, Told, agree, build, line_of_rank};
use crate::tune::Tune;
use std::sync::mpsc::channel;
use tremula_diagrams::UBig;
use tremula_engines::windows::{self, Ended, Halt, Times, WindowFigures};
use tremula_engines::{Strategy, SymbolicSystem};
use tremula_fabric::bytes::{to_bytes, to_words};
use tremula_fabric::{Fabric, FabricError};
use tremula_models::BddSystem;

/// *Collective.* Explore and count.
pub fn explore<F: Fabric>(args: &ReachArgs, run: &Run, model: BddSystem, fabric: &F) -> Result<Told, NoResult>
where
    F::Segment: Send + Sync,
{
    let built = build(args, run, model).map(|(strategy, system, _)| (strategy, system));
    let (strategy, system) = agree(fabric, built)?;
    let board = &Board::new(fabric)?;
    let told = std::thread::scope(|scope| {
        let (_until_here, over) = channel();
        let watch = std::thread::Builder::new().name("stops".to_owned());
        let watched = watch.spawn_scoped(scope, move || board.watch(run, &over));
        agree(fabric, watched.map_err(|error| Trouble::Failed(Failure::threads(&error))))?;
        run.enter(Phase::Reach);
        let ended = windows::explore(fabric, &system, strategy, options(args), &mut Note { run });
        run.enter(Phase::Count);
        conclude(run, fabric, strategy, &system, ended)
    });
    // Nobody looks at the board any more when it goes.
    fabric.barrier();
    told
}

fn options(args: &ReachArgs) -> windows::Options {
    let patience = args.tune.iter().find_map(|knob| match *knob {
        Tune::WindowPatience(steps) => Some(steps),
        _ => None,
    });
    patience.map_or_else(windows::Options::default, |patience| windows::Options { patience })
}

/// *Collective.* What all ranks have found together, whatever the end.
fn conclude<F: Fabric>(
    run: &Run,
    fabric: &F,
    strategy: Strategy,
    system: &SymbolicSystem,
    ended: Ended,
) -> Result<Told, NoResult> {
    note_end(run, ended.rounds, ended.levels, strategy);
    let manager = &system.manager;
    let (counters, stealing) = (manager.counters(), manager.stealing());
    let own_nodes = ended.states.node_count().unwrap_or(0) as u64;
    let steals = stealing.as_ref().map_or(0, |statistics| statistics.steals);
    let counts = [counters.created, counters.capacity, counters.bytes, counters.collections, counters.lookups];
    let sent = [own_nodes, ended.figures.words_sent, ended.figures.messages, steals];
    let times = micros(&ended.figures.times, counters.collection_micros);
    let rows = fabric.gather(0, &[&counts[..], &sent, &times].concat())?.unwrap_or_default();
    let count = match &ended.halt {
        None => count_states(&ended.states, &system.state_levels).map(Some),
        Some(_) => Ok(reach::quick_count(&ended.states, &system.state_levels)),
    };
    sum_up(run, fabric, ended.rounds, count.map_err(|error| trouble(run, error)))?;
    let of_ranks = table(&rows, &ended.figures);
    let ended = match ended.halt {
        None => Ok(()),
        Some(halt) => Err(why(run, fabric, halt)?),
    };
    Ok(Told { figures: Some(Figures { counters, stealing }), of_ranks, ended })
}

/// What a rank says that has failed, instead of a reason: it tells that itself.
const FAILED: &str = "\0";

/// *Collective.* Why there is no result: rank 0 tells what the rank says that could not go on, and that rank nothing.
fn why<F: Fabric>(run: &Run, fabric: &F, halt: Halt) -> Result<NoResult, NoResult> {
    let (rank, mine) = match halt {
        Halt::Here(error) => (fabric.rank(), Some(trouble(run, error))),
        Halt::Elsewhere(rank) => (rank, None),
        Halt::Fabric(error) => return Ok(error.into()),
    };
    let text = match &mine {
        Some(Trouble::Unknown(reason)) => reason,
        Some(Trouble::Failed(_)) => FAILED,
        None => "",
    };
    let reasons = gathered(fabric, text.as_bytes())?;
    Ok(match mine {
        Some(Trouble::Failed(failure)) => NoResult::Here(Trouble::Failed(failure)),
        _ if reasons[rank] == FAILED => NoResult::ToldElsewhere,
        _ if fabric.rank() != 0 || reasons[rank].is_empty() => NoResult::Elsewhere(rank),
        // Who was stopped first is of no interest.
        _ if rank == 0 || run.is_stopped() => NoResult::Here(Trouble::Unknown(reasons[rank].clone())),
        _ => NoResult::Here(Trouble::Unknown(format!("rank {rank}: {}", reasons[rank]))),
    })
}

/// *Collective.* Add the numbers of states of all ranks up, unless one of them is not known.
fn sum_up<F: Fabric>(run: &Run, fabric: &F, rounds: u64, count: Result<Option<UBig>, Trouble>) -> Result<(), NoResult> {
    let count = agree(fabric, count)?;
    let digits = count.map_or_else(String::new, |count| count.to_string());
    let all: Result<Vec<UBig>, _> = gathered(fabric, digits.as_bytes())?.iter().map(|digits| digits.parse()).collect();
    if let Ok(counts) = all {
        run.known().states = Some((counts.iter().sum::<UBig>().to_string(), rounds));
    }
    Ok(())
}

/// *Collective.* Texts of all ranks.
fn gathered<F: Fabric>(fabric: &F, text: &[u8]) -> Result<Vec<String>, FabricError> {
    let all = fabric.all_gather(&to_words(text))?;
    Ok(all.iter().map(|words| String::from_utf8_lossy(&to_bytes(words)).into_owned()).collect())
}

/// What a rank did with its time; collections are taken out of computing.
fn micros(times: &Times, collecting: u64) -> [u64; 6] {
    let [computing, packing, sending, waiting, moving] =
        [times.computing, times.packing, times.sending, times.waiting, times.moving]
            .map(|time| time.as_micros() as u64);
    [computing.saturating_sub(collecting), collecting, packing, sending, waiting, moving]
}

/// Columns of numbers and, after them, of times.
const NUMBERS: [&str; 9] = ["created", "room", "memory", "gcs", "steps", "nodes", "sent", "msgs", "steals"];
const TIMES: [&str; 6] = ["computing", "collecting", "packing", "sending", "waiting", "moving"];

/// What went on at each rank, and what its time went to; how often windows changed is the same on all.
fn table(rows: &[Vec<u64>], WindowFigures { moves, pieces, .. }: &WindowFigures) -> String {
    let number = |(at, &value): (usize, &u64)| match NUMBERS[at] {
        "memory" => numbers::bytes(value),
        "sent" => numbers::bytes(value * size_of::<u64>() as u64),
        _ => short(value),
    };
    let seconds = |&micros: &u64| format!("{:.2} s", micros as f64 / 1e6);
    let split = || rows.iter().enumerate().map(|(rank, row)| (rank.to_string(), row.split_at(NUMBERS.len())));
    let mut text = line_of_rank("Rank", NUMBERS.map(str::to_owned), 8);
    for (rank, (numbers, _)) in split() {
        text += &line_of_rank(&rank, numbers.iter().enumerate().map(number), 8);
    }
    text += &line_of_rank("Rank", TIMES.map(str::to_owned), 11);
    for (rank, (_, times)) in split() {
        text += &line_of_rank(&rank, times.iter().map(seconds), 11);
    }
    let sum = |name: &str| {
        let at = NUMBERS.iter().position(|column| *column == name).expect("a column");
        rows.iter().map(|row| row[at]).sum::<u64>() as f64
    };
    let steps = sum("steps").max(1.0);
    text += &format!("Windows changed {moves} times and have {pieces} pieces\n");
    text + &format!("Per step: {:.6} messages, {:.4} nodes sent\n", sum("msgs") / steps, sum("sent") / 2.0 / steps)
}
