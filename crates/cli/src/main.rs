//! `tremula`: exact reachable state sets of symbolic models, from the command line.
//!
//! This program turns arguments into calls of the library crates, and results into text, JSON and exit codes; it holds
//! no algorithm of its own. One file is one idea:
//!
//! | File | What it knows |
//! |---|---|
//! | `args` | the command line |
//! | `reach` | the course of an exploration, from file to answer |
//! | `net`, `lists` | the same for Petri nets and for `.ldd` models |
//! | `binary` | Petri nets and lists in bits |
//! | `gpu` | exploration on a device |
//! | `beside`, `rival` | the processors and a device at once: who is first has the answer |
//! | `envoy` | the process in which the device explores then |
//! | `subject` | what the device explores then |
//! | `presence` | whether somebody is inside the libraries of a device |
//! | `mcc` | the same for the Model Checking Contest, as its environment says |
//! | `together`, `host`, `windowed` | the same, by several processes; by those of one host; by those of many |
//! | `net_together`, `board` | the same for Petri nets: a race; what those who race tell each other |
//! | `run` | what all threads know about the exploration under way |
//! | `watch` | the second thread: time limit, signals, progress |
//! | `signals` | which signals are caught |
//! | `progress`, `events` | the status line, the SIGUSR1 answer; the same as NDJSON |
//! | `report` | the result as JSON and as text |
//! | `model` | reading a model inside the budget |
//! | `tune` | hidden knobs for measurements |
//! | `memory` | sizes, container limits, resident memory |
//! | `launch` | a launcher of MPI, which ends as its job did |
//! | `ranks`, `muster` | this program as one of several processes; how long these wait until all have come |
//! | `guard` | the process between such a one and a launcher |
//! | `bench`, `bench_args` | studies of parts of the program, and their command line |
//! | `order`, `incidence` | orders of a net's places, and what transitions do to places in an order |
//! | `info`, `net_info`, `matrix`, `matrix_svg` | what is in a model, as text and as a picture |
//! | `convert`, `states` | the other commands |
//! | `output` | standard output and files that appear complete or not at all |
//! | `numbers` | numbers for people |
//! | `error` | failures and exit codes |
#![forbid(unsafe_code)]

mod args;
mod bench;
mod bench_args;
mod beside;
mod binary;
mod board;
mod convert;
mod envoy;
mod error;
mod events;
mod gpu;
#[cfg(feature = "mpi")]
mod guard;
mod host;
mod incidence;
mod info;
mod launch;
mod lists;
mod matrix;
mod matrix_svg;
mod mcc;
mod memory;
mod model;
#[cfg(feature = "mpi")]
mod muster;
mod net;
mod net_info;
mod net_together;
mod numbers;
mod order;
mod output;
mod presence;
mod processors;
mod progress;
mod ranks;
mod reach;
mod report;
mod rival;
mod run;
mod signals;
mod states;
mod subject;
mod together;
mod tune;
mod watch;
mod windowed;

use args::{Args, Command};
use clap::Parser;
use error::{Exit, Failure};
use std::time::Instant;

fn main() {
    let started = Instant::now();
    error::exit_on_panic();
    let args = Args::try_parse().unwrap_or_else(|told| {
        ranks::leave_to_first(told.exit_code());
        told.exit()
    });
    let exit = dispatch(args, started).unwrap_or_else(|failure| {
        output::to_stderr(&format!("tremula: {failure}\n"));
        failure.exit()
    });
    error::end(exit.code());
}

fn dispatch(args: Args, started: Instant) -> Result<Exit, Failure> {
    let knows_ranks = match &args.command {
        Command::Reach(_) => true,
        Command::Bench(args) => args.knows_ranks(),
        _ => false,
    };
    if !knows_ranks {
        ranks::refuse_several()?;
    }
    match args.command {
        Command::Reach(args) if ranks::are_several() => together::reach(&args, started),
        Command::Reach(args) => reach::reach(&args, started),
        Command::Convert(args) => convert::convert(&args),
        Command::Info(args) => info::info(&args),
        Command::Order(args) => order::order(&args),
        Command::Mcc(args) => mcc::mcc(&args, started),
        Command::Count(args) => states::count(&args),
        Command::Contains(args) => states::contains(&args),
        Command::Pick(args) => states::pick(&args),
        Command::Bench(args) => bench::bench(&args),
        Command::Launch(args) => launch::launch(&args),
        Command::Envoy(args) => envoy::serve(&args),
    }
}
