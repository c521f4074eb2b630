//! `tremula reach --engine gpu`: binary models on an accelerator.

use crate::args::{Engine, ReachArgs};
use crate::error::{Failure, catch};
use crate::memory::Size;
use crate::numbers::{self, short};
use crate::output;
use crate::reach::{Note, Trouble, count_found, note_end, trouble};
use crate::run::{Phase, Run};
use tremula_bulk::{Bulk, Diagram, Figures, Graph, Machine, Part, Set, Trouble as DeviceTrouble};
use tremula_diagrams::{Bdd, Error, Manager};
use tremula_engines::{Order, Strategy, explore as explore_rounds};
use tremula_gpu::{Cuda, Device, NoDevice};
use tremula_models::BddSystem;

/// The part of the device's free memory that is used when nobody says otherwise.
const DEFAULT_PERCENT: f64 = 50.0;

/// Find the first device.
pub fn find() -> Result<Device, Failure> {
    with_libraries(Device::first)
}

/// Find it if it is to explore. That comes before everything else: without a device, no limit matters.
pub fn find_if_wanted(args: &ReachArgs) -> Result<Option<Device>, Trouble> {
    (args.engine == Engine::Gpu).then(find).transpose().map_err(trouble_of_engine)
}

/// Explore on a device, and bring the states back into `manager`.
pub fn explore(
    args: &ReachArgs,
    run: &Run,
    device: &Device,
    model: &BddSystem,
    manager: &Manager,
) -> Result<Bdd, Trouble> {
    let strategy = strategy_for_devices(args.strategy);
    run.known().setting.engine = "gpu";
    run.known().strategy = strategy;
    let graph = Graph::compile(model).map_err(|error| Trouble::Failed(Failure::Internal(error.to_string())))?;
    let _lease = run.budget.take(graph.bytes()).map_err(|_| Trouble::Unknown(run.memory_reason()))?;
    let open = || -> Result<(usize, Cuda), NoDevice> {
        let bytes = device_bytes(device, args.gpu_mem);
        Ok((bytes, Cuda::new(device, &graph, &Diagram::of_initial_states(model), bytes)?))
    };
    let (bytes, machine) = with_libraries(open).map_err(trouble_of_engine)?;
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

/// A machine on a device, if it has room.
pub fn open(device: &Device, memory: Option<Size>, graph: &Graph, initial: &Diagram) -> Option<Cuda> {
    Cuda::new(device, graph, initial, device_bytes(device, memory)).ok()
}

/// Bytes of the device: percentages are of what it had free when it was found.
pub fn device_bytes(device: &Device, size: Option<Size>) -> usize {
    match size.unwrap_or(Size::Percent(DEFAULT_PERCENT)) {
        Size::Bytes(bytes) => bytes,
        Size::Percent(percent) => (device.free_memory() as f64 * percent / 100.0) as usize,
    }
}

/// Do something with driver and compiler.
fn with_libraries<T>(work: impl FnOnce() -> Result<T, NoDevice>) -> Result<T, Failure> {
    match catch(work) {
        Ok(outcome) => outcome.map_err(|problem| no_device(&problem)),
        Err(panic) => Err(Failure::Input(format!("the driver or NVRTC does not fit: {panic}"))),
    }
}

/// Why there is nothing to compute with, and whose fault that is.
pub fn no_device(problem: &NoDevice) -> Failure {
    match problem {
        NoDevice::TooSmall => Failure::Limit(format!("{problem} into what --gpu-mem allows")),
        NoDevice::Failed(_) => Failure::Internal(problem.to_string()),
        NoDevice::Memory { bytes, problem } => {
            let size = numbers::bytes(*bytes as u64);
            Failure::Limit(format!("{size} of device memory cannot be had: {problem}"))
        }
        _ => Failure::Input(problem.to_string()),
    }
}

/// What the failure of a device means to who wants to explore there.
fn trouble_of_engine(failure: Failure) -> Trouble {
    let name = |text: String| format!("--engine gpu: {text}");
    match failure {
        Failure::Limit(text) => Trouble::Unknown(name(text)),
        Failure::Input(text) => Trouble::Failed(Failure::Input(name(text))),
        Failure::Internal(text) => Trouble::Failed(Failure::Internal(name(text))),
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
