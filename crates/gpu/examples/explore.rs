//! Explore `.bdd` models on the device, or by its twin:
//! `explore [--twin] [--mem MIB] [--strategy NAME] [--wide REQUESTS] [--keep REQUESTS] [--halvings N]
//! [--all-places] [--no-fusion] MODEL…`
//!
//! With `--no-fusion` all blocks of a device meet after each level, instead of leaving runs of narrow ones to one of them.
//! With `--all-places` the table of a device has its full size from the start, so that references are as large as they get.
//! Prints a line for each: states, rounds, seconds, and what went on.

use std::error::Error;
use std::time::Instant;
use tremula_bulk::{Bulk, Diagram, Graph, Machine, Twin};
use tremula_diagrams::{Attention, Budget, Manager};
use tremula_engines::{Strategy, explore};
use tremula_gpu::{Cuda, Device};
use tremula_models::{BddSystem, Limits, read_file};

fn main() -> Result<(), Box<dyn Error>> {
    let (mut twin, mut bytes, mut strategy) = (false, 1 << 30, "par".to_owned());
    let (mut wide, mut keep, mut halvings) = (None, None, 0);
    let (mut all_places, mut is_fused) = (false, true);
    // Opening it takes longer than exploring most models.
    let mut opened = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--twin" => twin = true,
            "--all-places" => all_places = true,
            "--no-fusion" => is_fused = false,
            "--mem" => bytes = arguments.next().ok_or("--mem needs a number")?.parse::<usize>()? << 20,
            "--wide" => wide = Some(arguments.next().ok_or("--wide needs a number")?.parse()?),
            "--keep" => keep = Some(arguments.next().ok_or("--keep needs a number")?.parse()?),
            "--halvings" => halvings = arguments.next().ok_or("--halvings needs a number")?.parse()?,
            "--strategy" => strategy = arguments.next().ok_or("--strategy needs a name")?,
            path => {
                let model = read_file(path.as_ref(), &Limits::default())?;
                let graph = Graph::compile(&model)?;
                let initial = Diagram::of_initial_states(&model);
                let line = if twin {
                    run(Twin::new(graph.clone(), &initial, bytes)?, &graph, &model, strategy.parse()?, halvings)
                } else {
                    let device = match &opened {
                        Some(device) => device,
                        None => opened.insert(Device::first()?),
                    };
                    let mut machine = Cuda::new(device, &graph, &initial, bytes)?;
                    wide.into_iter().for_each(|requests| machine.set_wide(requests));
                    keep.into_iter().for_each(|requests| machine.keep_requests(requests));
                    if !is_fused {
                        machine.leave_levels_apart();
                    }
                    if all_places {
                        machine.grow_at_once()?;
                    }
                    run(machine, &graph, &model, strategy.parse()?, halvings)
                };
                println!("{path} {}", line.unwrap_or_else(|error| format!("unknown: {error}")));
            }
        }
    }
    Ok(())
}

fn run(
    machine: impl Machine,
    graph: &Graph,
    model: &BddSystem,
    strategy: Strategy,
    halvings: usize,
) -> Result<String, Box<dyn Error>> {
    let space = Bulk::new(machine, graph, Attention::default());
    space.start_with_halvings(halvings);
    let started = Instant::now();
    let reached = explore(&space, strategy, &mut ()).map_err(|stopped| stopped.error)?;
    let seconds = started.elapsed().as_secs_f64();
    let manager = Manager::new(&Budget::new(4 << 30))?;
    let levels: Vec<u32> = (0..model.state_bits()).map(BddSystem::current_variable).collect();
    let states = space.bring_back(&reached.states, &manager)?.count(&levels)?;
    Ok(format!("states {states} rounds {} seconds {seconds:.3} {:?}", reached.rounds, space.figures()))
}
