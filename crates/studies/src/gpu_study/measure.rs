//! The measurements.

use super::GpuOptions;
use super::report::{CacheReport, GpuReport, LevelReport, ModelReport, TableReport};
use crate::{Spread, StudyError};
use std::time::{Duration, Instant};
use tremula_bulk::{Bulk, Diagram, Figures, Graph, Set, Wide};
use tremula_diagrams::{Attention, Budget, Error, Manager};
use tremula_engines::{Order, Space, Strategy, explore};
use tremula_gpu::{Cuda, Device, IndexLaboratory, Laboratory};
use tremula_models::BddSystem;

/// Levels of equal width in a sweep.
const LEVELS: u32 = 12;
/// The same where a level is narrow: the others shall not count for much.
const NARROW_LEVELS: u32 = 500;
const NARROW: usize = 1 << 11;
/// Random reads and finds for each place.
const READS_PER_PLACE: u64 = 2;
/// Bytes of the host for states that are brought back to be counted.
const HOST: usize = 4 << 30;

/// Measure a device.
pub fn run(device: &Device, options: &GpuOptions, progress: &mut dyn FnMut(&str)) -> Result<GpuReport, StudyError> {
    if options.reps == 0 || options.places == 0 || options.index == 0 {
        return Err(StudyError::NothingToMeasure("no repetitions or no places"));
    }
    progress("reads and find-or-put");
    let (name, reads, table) = measure_table(device, options)?;
    progress("requests of earlier sweeps");
    let cache = measure_cache(device, options)?;
    let mut levels = Vec::new();
    for &width in &options.widths {
        progress(&format!("levels of {width} requests"));
        levels.push(measure_levels(device, options, width)?);
    }
    let mut models = Vec::new();
    for (name, model) in &options.models {
        progress(name);
        models.push(measure_model(device, options, name, model)?);
    }
    let GpuOptions { reps, places, index, .. } = *options;
    Ok(GpuReport { device: name, reps, places, reads, table, index, cache, levels, models })
}

/// The median of some figures, of which there are any.
fn spread(figures: Vec<f64>) -> Spread {
    Spread::of(figures).expect("measured at least once")
}

/// How many there were, in billions per second.
fn rate(count: u64, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64() / 1e9
}

fn measure_table(device: &Device, options: &GpuOptions) -> Result<(String, Spread, Vec<TableReport>), StudyError> {
    let mut lab = Laboratory::open(device, options.places)?;
    let many = options.places as u64 * READS_PER_PLACE;
    let repeat = |lab: &mut Laboratory, one: &dyn Fn(&mut Laboratory) -> Result<f64, StudyError>| {
        (0..options.reps).map(|_| one(lab)).collect::<Result<Vec<f64>, StudyError>>().map(spread)
    };
    let reads = repeat(&mut lab, &|lab| Ok(rate(many, lab.gather(many)?)))?;
    let (mut table, mut known) = (Vec::new(), 0);
    for &load in &options.loads {
        let wanted = (options.places as f64 * load) as u64;
        let (time, new) = lab.put(known, wanted - known)?;
        check(load, new == wanted - known, "nodes are lost, or are there twice")?;
        let put = rate(wanted - known, time);
        known = wanted;
        let find = repeat(&mut lab, &|lab| {
            let (time, new) = lab.find(many, known)?;
            check(load, new == 0, "nodes are not found")?;
            Ok(rate(many, time))
        })?;
        table.push(TableReport { load, put, find });
    }
    Ok((lab.device().to_owned(), reads, table))
}

fn measure_cache(device: &Device, options: &GpuOptions) -> Result<Vec<CacheReport>, StudyError> {
    let mut lab = IndexLaboratory::open(device, options.index)?;
    let many = options.index as u64 * READS_PER_PLACE;
    let (mut cache, mut known) = (Vec::new(), 0);
    for &load in &options.index_loads {
        let wanted = (options.index as f64 * load) as u64;
        let (time, new) = lab.make(known, wanted - known)?;
        check(load, new == wanted - known, "requests are lost, or are there twice")?;
        let make = rate(wanted - known, time);
        known = wanted;
        let (mut hits, mut misses) = (Vec::new(), Vec::new());
        for _ in 0..options.reps {
            let (time, found) = lab.find(many, known)?;
            check(load, found == many, "requests are not found")?;
            hits.push(rate(many, time));
            let (time, found) = lab.miss(known, many)?;
            check(load, found == 0, "requests are found that were never made")?;
            misses.push(rate(many, time));
        }
        cache.push(CacheReport { load, make, hit: spread(hits), miss: spread(misses) });
    }
    Ok(cache)
}

fn check(load: f64, holds: bool, problem: &'static str) -> Result<(), StudyError> {
    if holds { Ok(()) } else { Err(StudyError::WrongTable { run: format!("load {load} on the device"), problem }) }
}

fn measure_levels(device: &Device, options: &GpuOptions, width: usize) -> Result<LevelReport, StudyError> {
    let levels = if width <= NARROW { NARROW_LEVELS } else { LEVELS };
    let Wide { system, states } = Wide::new(width, levels);
    let graph = Graph::compile(&system)?;
    let mut machine = Cuda::new(device, &graph, &states, options.bytes)?;
    // Or it would find all answers of the sweep before.
    machine.keep_requests(0);
    let space = Bulk::new(machine, &graph, Attention::default());
    let sweep = || space.next(&space.initial(), 0);
    let began = Instant::now();
    let union = sweep()?;
    let (first_seconds, before) = (began.elapsed().as_secs_f64(), space.figures());
    let mut seconds = Vec::new();
    for _ in 0..options.reps {
        let began = Instant::now();
        let again = sweep()?;
        seconds.push(began.elapsed().as_secs_f64());
        let problem = "a sweep has another result the second time";
        if again != union {
            return Err(StudyError::WrongTable { run: format!("{width} requests at a level"), problem });
        }
    }
    let requests = (space.figures().requests - before.requests) / options.reps as u64;
    let (levels, first_collections) = (system.state_bits(), before.collections);
    Ok(LevelReport { width, requests, levels, first_seconds, first_collections, seconds: spread(seconds) })
}

fn measure_model(
    device: &Device,
    options: &GpuOptions,
    name: &str,
    model: &BddSystem,
) -> Result<ModelReport, StudyError> {
    let graph = Graph::compile(model)?;
    let (mut seconds, mut states, mut figures) = (Vec::new(), None, Figures::default());
    for _ in 0..options.reps {
        let machine = Cuda::new(device, &graph, &Diagram::of_initial_states(model), options.bytes)?;
        let space = Bulk::new(machine, &graph, Attention::default());
        let began = Instant::now();
        match explore(&space, Strategy { order: Order::Par, frontier: true }, &mut ()) {
            Ok(reached) => {
                seconds.push(began.elapsed().as_secs_f64());
                let found = count(&space, &reached.states, model)?;
                match states.replace(found.clone()) {
                    Some(expected) if expected != found => {
                        return Err(StudyError::Disagreement { run: name.to_owned(), answer: found, expected });
                    }
                    _ => {}
                }
            }
            Err(stopped) if stopped.error == Error::TableFull => {}
            Err(stopped) => return Err(stopped.error.into()),
        }
        figures = space.figures();
    }
    let Figures { sweeps, requests, elements, .. } = figures;
    Ok(ModelReport { name: name.to_owned(), seconds: Spread::of(seconds), states, sweeps, requests, elements })
}

/// The number of states of a set, in digits.
fn count(space: &Bulk<Cuda>, states: &Set, model: &BddSystem) -> Result<String, StudyError> {
    let manager = Manager::new(&Budget::new(HOST))?;
    let levels: Vec<u32> = (0..model.state_bits()).map(BddSystem::current_variable).collect();
    Ok(space.bring_back(states, &manager)?.count(&levels)?.to_string())
}
