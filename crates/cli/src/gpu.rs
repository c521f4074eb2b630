//! `tremula reach --engine gpu`: binary models on an accelerator.

use crate::args::ReachArgs;
use crate::error::Failure;
use crate::memory::Size;
use crate::numbers::{self, short};
use crate::output;
use crate::reach::{Note, Trouble, count_found, note_end, trouble};
use crate::run::{Phase, Run};
use tremula_bulk::{Bulk, Diagram, Figures, Graph, Machine, Part, Set, Trouble as DeviceTrouble};
use tremula_diagrams::{Bdd, Error, Manager};
use tremula_engines::{Order, Strategy, explore as explore_rounds};
use tremula_gpu::{Cuda, NoDevice};
use tremula_models::BddSystem;

/// The part of the device's free memory that is used when nobody says otherwise.
const DEFAULT_PERCENT: f64 = 50.0;

/// Explore on the first device, and bring the states back into `manager`.
pub fn explore(args: &ReachArgs, run: &Run, model: &BddSystem, manager: &Manager) -> Result<Bdd, Trouble> {
    let strategy = strategy_for_devices(args.strategy);
    run.known().setting.engine = "gpu";
    run.known().strategy = strategy;
    let graph = Graph::compile(model).map_err(|error| Trouble::Failed(Failure::Internal(error.to_string())))?;
    let _lease = run.budget.take(graph.bytes()).map_err(|_| Trouble::Unknown(run.memory_reason()))?;
    let bytes = device_bytes(args.gpu_mem).map_err(no_device)?;
    let machine = Cuda::new(&graph, &Diagram::of_initial_states(model), bytes).map_err(no_device)?;
    let space = Bulk::new(machine, &graph, run.attention.clone());
    run.enter(Phase::Reach);
    let result = explore_rounds(&space, strategy, &mut Note { run });
    run.enter(Phase::Count);
    if run.stats {
        output::to_stderr(&statistics(&space.figures()));
    }
    let explain = |error: Error| match error {
        Error::TableFull => Trouble::Unknown(format!("device memory of {} exhausted", numbers::bytes(bytes as u64))),
        error => trouble(run, error),
    };
    match result {
        Ok(reached) => {
            note_end(run, reached.rounds, reached.levels, reached.strategy);
            let (states, _lease) = space.export(&reached.states, &run.budget).map_err(|problem| match problem {
                DeviceTrouble::Full(Part::Host) => Trouble::Unknown(run.memory_reason()),
                problem => explain(problem.into()),
            })?;
            states.import(manager).map_err(|error| trouble(run, error))
        }
        Err(stopped) => {
            note_end(run, stopped.rounds, stopped.levels, stopped.strategy);
            let levels: Vec<u32> = (0..model.state_bits()).map(BddSystem::current_variable).collect();
            note_lower_bound(run, &levels, &space, &stopped.states, manager);
            Err(explain(stopped.error))
        }
    }
}

/// What was found by an exploration that ended early is worth telling, where that takes no more memory than there is.
pub fn note_lower_bound<M: Machine>(run: &Run, levels: &[u32], space: &Bulk<M>, states: &Set, manager: &Manager) {
    if let Ok(found) = space.bring_back(states, manager) {
        let rounds = run.known().rounds;
        let _ = count_found(run, &found, levels, rounds);
    }
}

/// How a device explores that was asked for this: as asked, and by `par` if that is its own choice. Listing states is
/// refused before.
pub fn strategy_for_devices(strategy: Strategy) -> Strategy {
    match strategy.order {
        Order::Auto | Order::Explicit => Strategy { order: Order::Par, frontier: true },
        Order::Bfs | Order::Par | Order::Chaining | Order::Saturation => strategy,
    }
}

/// A machine on the first device, if there is one and it has room.
pub fn open(memory: Option<Size>, graph: &Graph, initial: &Diagram) -> Option<Cuda> {
    Cuda::new(graph, initial, device_bytes(memory).ok()?).ok()
}

/// Bytes of the device: percentages are of what it has free.
pub fn device_bytes(size: Option<Size>) -> Result<usize, NoDevice> {
    match size.unwrap_or(Size::Percent(DEFAULT_PERCENT)) {
        Size::Bytes(bytes) => Ok(bytes),
        Size::Percent(percent) => Ok((Cuda::free_memory()? as f64 * percent / 100.0) as usize),
    }
}

fn no_device(problem: NoDevice) -> Trouble {
    let text = format!("--engine gpu: {problem}");
    match problem {
        NoDevice::TooSmall => Trouble::Unknown(text),
        NoDevice::Kernels(_) | NoDevice::Failed(_) => Trouble::Failed(Failure::Internal(text)),
        _ => Trouble::input(text),
    }
}

fn statistics(figures: &Figures) -> String {
    let Figures { nodes, capacity, sweeps, requests, elements, collections, bytes } = *figures;
    let [nodes, capacity, sweeps, requests, elements] = [nodes, capacity, sweeps, requests, elements].map(short);
    let bytes = numbers::bytes(bytes);
    format!(
        "Device    {sweeps} sweeps, {requests} requests of {elements} elements, {collections} collections\n\
         Table     {nodes} of {capacity} nodes in use, {bytes} of device memory\n"
    )
}
