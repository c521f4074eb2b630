//! Explore `.bdd` models by a team of threads: `team [--ranks N] [--workers N] [--mem MIB] [--strategy NAME] MODEL…`
//!
//! Prints a line for each: states, rounds, seconds, and what went on.

use std::error::Error;
use std::time::Instant;
use tremula_bulk::team::{Setup, join};
use tremula_bulk::{Bulk, Diagram, Graph};
use tremula_diagrams::{Attention, Budget, Manager};
use tremula_engines::{Strategy, explore};
use tremula_fabric::threads;
use tremula_models::{BddSystem, Limits, read_file};

fn main() -> Result<(), Box<dyn Error>> {
    let (mut ranks, mut workers, mut bytes, mut strategy) = (1, 1, 1 << 30, "par".to_owned());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--ranks" => ranks = value()?.parse()?,
            "--workers" => workers = value()?.parse()?,
            "--mem" => bytes = value()?.parse::<usize>()? << 20,
            "--strategy" => strategy = value()?,
            path => {
                let model = read_file(path.as_ref(), &Limits::default())?;
                println!("{path} {}", run(&model, ranks, workers, bytes, strategy.parse()?)?);
            }
        }
    }
    Ok(())
}

fn run(
    model: &BddSystem,
    ranks: usize,
    workers: usize,
    bytes: usize,
    strategy: Strategy,
) -> Result<String, Box<dyn Error>> {
    let (graph, initial) = (Graph::compile(model)?, Diagram::of_initial_states(model));
    let levels: Vec<u32> = (0..model.state_bits()).map(BddSystem::current_variable).collect();
    let lines = threads::run(ranks, |fabric| {
        let setup = Setup { graph: &graph, initial: &initial, bytes, workers, attention: Attention::default() };
        join(fabric, &setup, |team| {
            let space = Bulk::new(team, &graph, Attention::default());
            let started = Instant::now();
            let reached = explore(&space, strategy, &mut ()).map_err(|stopped| stopped.error.to_string())?;
            let seconds = started.elapsed().as_secs_f64();
            let manager = Manager::new(&Budget::new(4 << 30)).map_err(|error| error.to_string())?;
            let states = space.bring_back(&reached.states, &manager).and_then(|states| states.count(&levels));
            let states = states.map_err(|error| error.to_string())?;
            Ok(format!("states {states} rounds {} seconds {seconds:.3} {:?}", reached.rounds, space.figures()))
        })
    })?;
    let line: Result<String, String> = lines.into_iter().next().ok_or("no rank")??;
    Ok(line.unwrap_or_else(|error| format!("unknown: {error}")))
}
