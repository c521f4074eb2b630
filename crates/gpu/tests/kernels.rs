//! The kernels compile, wherever there is NVRTC; and on a device they do what the twin does.
//!
//! With `TREMULA_NEED_NVRTC` or `TREMULA_NEED_DEVICE` set, a missing compiler or device is a failure.

#[path = "../../bulk/tests/common/mod.rs"]
mod common;

use common::{Seed, by_the_cpu_engine, model, random_system, with_several_initial_states};
use tremula_bulk::layout::{Element, Ref};
use tremula_bulk::{Bulk, Diagram, Graph, Machine, Part, Root, Trouble, Wide};
use tremula_diagrams::{Attention, Budget, Error};
use tremula_engines::{Order, Strategy, explore};
use tremula_gpu::{Cuda, Device, NoDevice, compile_kernels};
use tremula_models::BddSystem;

fn is_needed(variable: &str) -> bool {
    std::env::var_os(variable).is_some()
}

#[test]
fn kernels_compile() {
    match compile_kernels() {
        Ok(ptx) => assert!(
            ["sweep", "gather", "find_or_put", "find_or_ask"]
                .iter()
                .all(|name| ptx.contains(&format!(".entry {name}")))
                && ptx.contains("cas.b128"),
            "{ptx}"
        ),
        Err(NoDevice::NoCompiler) if !is_needed("TREMULA_NEED_NVRTC") => eprintln!("skipped: there is no NVRTC here"),
        Err(problem) => panic!("{problem}"),
    }
}

/// A machine on the device; none if there is no device and none is needed.
fn machine(graph: &Graph, model: &BddSystem, bytes: usize) -> Option<Cuda> {
    machine_with(graph, &Diagram::of_initial_states(model), bytes)
}

fn machine_with(graph: &Graph, initial: &Diagram, bytes: usize) -> Option<Cuda> {
    match Device::first().and_then(|device| Cuda::new(&device, graph, initial, bytes)) {
        Ok(machine) => Some(machine),
        Err(NoDevice::NoDriver | NoDevice::NoCompiler | NoDevice::NotFound(_) | NoDevice::TooOld { .. })
            if !is_needed("TREMULA_NEED_DEVICE") =>
        {
            eprintln!("skipped: there is no device here");
            None
        }
        Err(problem) => panic!("{problem}"),
    }
}

const PAR: Strategy = Strategy { order: Order::Par, frontier: true };

/// Levels of so many requests count as wide, in turn: tests have no levels that are.
const WIDE: [u32; 2] = [u32::MAX, 4];

/// Explore, and compare with the CPU engine; false if there is no device. Relations come in one piece or in four.
fn agrees(model: &BddSystem, strategy: Strategy, bytes: usize) -> bool {
    WIDE.into_iter().zip([0, 2]).all(|(wide, halvings)| agrees_if(model, strategy, bytes, wide, halvings))
}

fn agrees_if(model: &BddSystem, strategy: Strategy, bytes: usize, wide: u32, halvings: usize) -> bool {
    let graph = Graph::compile(model).unwrap();
    let Some(mut machine) = machine(&graph, model, bytes) else { return false };
    machine.set_wide(wide);
    let (manager, expected) = by_the_cpu_engine(model);
    let space = Bulk::new(machine, &graph, Attention::default());
    space.start_with_halvings(halvings);
    let reached = explore(&space, strategy, &mut ()).map_err(|stopped| stopped.error).unwrap();
    assert!(space.bring_back(&reached.states, &manager).unwrap() == expected, "{strategy}");
    true
}

#[test]
fn random_systems_have_the_same_states_on_the_device() {
    for seed in 0..20 {
        let _seed = Seed(seed);
        for model in [random_system(seed), with_several_initial_states(random_system(seed), seed)] {
            if !Strategy::ALL.into_iter().all(|strategy| agrees(&model, strategy, 256 << 20)) {
                return;
            }
        }
    }
}

#[test]
fn models_have_the_same_states_on_the_device() {
    for name in
        ["beem/phils.2.bdd", "beem/bakery.1.bdd", "beem/adding.1.bdd.gz", "beem/at.1.bdd.gz", "promela/fair.bdd"]
    {
        if !Strategy::ALL.into_iter().all(|strategy| agrees(&model(name), strategy, 256 << 20)) {
            return;
        }
    }
}

#[test]
fn levels_apart_have_the_same_states() {
    for name in ["beem/phils.2.bdd", "beem/bakery.1.bdd"] {
        let model = model(name);
        let graph = Graph::compile(&model).unwrap();
        let Some(mut machine) = machine(&graph, &model, 256 << 20) else { return };
        machine.leave_levels_apart();
        let (manager, expected) = by_the_cpu_engine(&model);
        let space = Bulk::new(machine, &graph, Attention::default());
        let reached = explore(&space, PAR, &mut ()).map_err(|stopped| stopped.error).unwrap();
        assert!(space.bring_back(&reached.states, &manager).unwrap() == expected, "{name}");
    }
}

#[test]
fn a_table_of_full_size_has_the_same_states() {
    let model = model("beem/adding.1.bdd.gz");
    let graph = Graph::compile(&model).unwrap();
    let Some(mut machine) = machine(&graph, &model, 1 << 30) else { return };
    let before = machine.figures().capacity;
    machine.grow_at_once().unwrap();
    assert!(machine.figures().capacity > 10 * before);
    let (manager, expected) = by_the_cpu_engine(&model);
    let space = Bulk::new(machine, &graph, Attention::default());
    let reached = explore(&space, PAR, &mut ()).map_err(|stopped| stopped.error).unwrap();
    assert!(space.bring_back(&reached.states, &manager).unwrap() == expected);
}

#[test]
fn hardly_any_device_memory_is_refused() {
    let model = model("beem/phils.1.bdd");
    let graph = Graph::compile(&model).unwrap();
    if machine(&graph, &model, 16 << 20).is_none() {
        return;
    }
    let device = Device::first().unwrap();
    for bytes in [0, 1, 100, 1000] {
        let refused = Cuda::new(&device, &graph, &Diagram::of_initial_states(&model), bytes).err();
        assert_eq!(refused, Some(NoDevice::TooSmall), "{bytes} bytes");
    }
}

#[test]
fn too_little_device_memory_is_an_error_and_never_a_wrong_answer() {
    let model = model("beem/bakery.4.bdd.gz");
    let graph = Graph::compile(&model).unwrap();
    let (manager, expected) = by_the_cpu_engine(&model);
    let (mut full, mut complete) = (0, 0);
    for (megabytes, wide) in [4, 16, 64, 256].into_iter().flat_map(|megabytes| WIDE.map(|wide| (megabytes, wide))) {
        let Some(mut machine) = machine(&graph, &model, megabytes << 20) else { return };
        machine.set_wide(wide);
        let space = Bulk::new(machine, &graph, Attention::default());
        match explore(&space, PAR, &mut ()) {
            Ok(reached) => {
                assert!(space.bring_back(&reached.states, &manager).unwrap() == expected, "{megabytes} MiB");
                complete += 1;
            }
            Err(stopped) => {
                assert_eq!(stopped.error, Error::TableFull, "{megabytes} MiB");
                full += 1;
            }
        }
    }
    assert!(full > 0 && complete > 0, "{full} of 8 were full");
}

/// A sweep of some milliseconds, which nobody wants when it has just begun.
#[test]
fn a_sweep_on_the_device_is_stopped_and_nothing_is_lost() {
    let Wide { system, states } = Wide::new(1 << 13, 150);
    let graph = Graph::compile(&system).unwrap();
    let Some(mut machine) = machine_with(&graph, &states, 1 << 30) else { return };
    let attention = Attention::default();
    machine.heed(&attention);
    let root = Root { elements: vec![Element::new(machine.initial(), graph.group(0).unwrap())], minus: Ref::FALSE };
    attention.cancel();
    assert_eq!(machine.sweep(std::slice::from_ref(&root)), Err(Trouble::Stopped));
    attention.reset();
    let union = machine.sweep(std::slice::from_ref(&root)).unwrap();
    assert_eq!(machine.sweep(&[root]).unwrap(), union);
    let (states, lease) = machine.export(union[0], &Budget::new(1 << 30)).unwrap();
    assert!(states.nodes.len() > 150 << 13 && lease.bytes() >= size_of_val(&states.nodes[..]));
    assert_eq!(machine.export(union[0], &Budget::new(1 << 20)).map(|_| ()), Err(Trouble::Full(Part::Host)));
}
