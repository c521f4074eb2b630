//! A machine on a device: memory, launches, and what comes back.

use crate::alarm::Alarm;
use crate::memory::{Counters, Growth, HOLE, Place, Request, SweepArguments};
use crate::past::Past;
use crate::program::{self, BLOCK, Device, FULL_INDEX, FULL_NODES, FULL_REQUESTS, NoDevice, STOPPED, describe};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, DevicePtr, DeviceRepr, DriverError, LaunchConfig, PushKernelArg,
    sys::CUdevice_attribute_enum as Attribute,
};
use std::mem::offset_of;
use std::ops::Range;
use std::sync::Arc;
use tremula_bulk::layout::{Node, REQUEST_BIT, Ref};
use tremula_bulk::question::{Simplified, simplify};
use tremula_bulk::shares::{INDEX_PER_REQUEST, LIST_PER_REQUEST, Shares};
use tremula_bulk::{
    Costs, Diagram, Figures, GROWTH, Graph, Grown, Machine, Part, Root, Trouble, as_they_are, first_table, take,
};
use tremula_diagrams::{Attention, Budget, Lease};

/// Places of the first table: it fits the cache of the device.
const FIRST_PLACES: usize = 1 << 20;
/// Places of the index that are used at first.
const FIRST_INDEX: usize = 1 << 20;
/// Requests of a level that are many enough for a thread each. Measured: docs/gpu.md.
const WIDE: u32 = 65_536;
/// Part of the requests and elements there is room for that earlier sweeps may have taken when a sweep begins.
const MOST_PAST: (usize, usize) = (1, 2);

/// A machine on a CUDA device.
pub struct Cuda {
    stream: Arc<CudaStream>,
    alarm: Alarm,
    attention: Attention,
    kernel: CudaFunction,
    blocks: u32,
    /// Levels, starts of lists and lists of the graph.
    graph: [CudaSlice<u32>; 3],
    bits: u32,
    /// Nodes, and where they are copied to by a collection.
    tables: [CudaSlice<Place>; 2],
    capacity: usize,
    used: usize,
    index: CudaSlice<u64>,
    /// Places of the index that are in use: more are slower.
    index_capacity: usize,
    past: Past,
    /// Requests of earlier sweeps that are kept at most.
    most_past: usize,
    elements: CudaSlice<u64>,
    requests: CudaSlice<Request>,
    growths: CudaSlice<Growth>,
    list: CudaSlice<u32>,
    counts: CudaSlice<u64>,
    counters: CudaSlice<Counters>,
    /// Requests of a level that are many enough for a thread each.
    wide: u32,
    /// Are runs of narrow levels for one block alone?
    fuses: bool,
    initial: Ref,
    figures: Figures,
}

/// What a sweep is for.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Purpose {
    /// New sets.
    Compute,
    /// The same, answered twice.
    Grow,
    /// Sets into the other table, of so many places.
    Copy(usize),
    /// The requests themselves, one for each node.
    Visit,
}

impl Purpose {
    /// Does the sweep put nodes into the table that it reads? Then it takes sets as they are, too.
    fn adds_nodes(self) -> bool {
        matches!(self, Purpose::Compute | Purpose::Grow)
    }
}

/// Roots whose answer is known, or the number of their request.
type Answers = Vec<Result<Ref, usize>>;

impl Cuda {
    /// Is there a driver at all? This costs nothing where there is none.
    #[must_use]
    pub fn has_driver() -> bool {
        program::has_driver()
    }

    /// Give a thread to each half of a short request from so many of them at a level on. The results are the same.
    pub fn set_wide(&mut self, requests: u32) {
        self.wide = requests;
    }

    /// Let all blocks work on every level, also where it is narrow, and meet after it. The results are the same.
    pub fn leave_levels_apart(&mut self) {
        self.fuses = false;
    }

    /// Keep at most so many requests of earlier sweeps, to find them answered. The results are the same.
    pub fn keep_requests(&mut self, most: usize) {
        self.most_past = most.min(self.requests.len() / MOST_PAST.1 * MOST_PAST.0);
    }

    /// Take all places at once that the memory has, instead of growing. The initial states get a new reference.
    pub fn grow_at_once(&mut self) -> Result<(), Trouble> {
        self.initial = self.copy_into(self.tables[1].len(), &[self.initial])?[0];
        Ok(())
    }

    /// Copy some sets into the other table, of so many places, and leave everything else behind.
    fn copy_into(&mut self, places: usize, keep: &[Ref]) -> Result<Vec<Ref>, Trouble> {
        let (answers, counters) = self.run(&as_they_are(keep), Purpose::Copy(places))?;
        let results = self.results(answers)?;
        self.tables.swap(0, 1);
        (self.capacity, self.used) = (places, counters.made as usize);
        self.figures.collections += 1;
        // What was asked is about sets of the table that is left behind.
        self.forget().map_err(|error| Trouble::Device(describe(&error)))?;
        Ok(results)
    }

    /// A machine for a system, with so many bytes of a device.
    pub fn new(device: &Device, graph: &Graph, initial: &Diagram, bytes: usize) -> Result<Cuda, NoDevice> {
        let (context, kernel) = (device.context(), device.kernel("sweep")?);
        let blocks = blocks(context, &kernel).map_err(|error| NoDevice::NotFound(describe(&error)))?;
        // Beside what is divided.
        let counts = graph.bits() as usize + 1;
        let relations: usize = graph.arrays().map(size_of_val).iter().sum();
        let fixed = relations + counts * size_of::<u64>() + size_of::<Counters>();
        let shares = Shares::beside(fixed, bytes).ok_or(NoDevice::TooSmall)?;
        let (nodes, initial) = first_table(initial, FIRST_PLACES, shares.places).map_err(|_| NoDevice::TooSmall)?;
        if nodes.capacity() > shares.places || shares.requests == 0 {
            return Err(NoDevice::TooSmall);
        }
        let failed = |error: DriverError| NoDevice::Memory { bytes, problem: describe(&error) };
        let stream = context.default_stream();
        let allocated = || -> Result<Cuda, DriverError> {
            // What an earlier machine has freed is the driver's again only after this.
            context.synchronize()?;
            let [levels, starts, targets] = graph.arrays();
            // One more than there are, since nothing cannot be allocated.
            let padded: Vec<u32> = targets.iter().copied().chain([0]).collect();
            let mut table = fresh(&stream, shares.places)?;
            let places: Vec<Place> = nodes.places().iter().map(|&node| Place(node)).collect();
            stream.memcpy_htod(&places, &mut table)?;
            Ok(Cuda {
                alarm: Alarm::new(context)?,
                attention: Attention::default(),
                kernel,
                blocks,
                graph: [stream.clone_htod(levels)?, stream.clone_htod(starts)?, stream.clone_htod(&padded)?],
                bits: graph.bits(),
                tables: [table, fresh(&stream, shares.places)?],
                capacity: nodes.capacity(),
                used: nodes.used(),
                index: stream.alloc_zeros(shares.requests * INDEX_PER_REQUEST)?,
                index_capacity: FIRST_INDEX.min(shares.requests * INDEX_PER_REQUEST),
                past: Past::nothing(),
                most_past: shares.requests / MOST_PAST.1 * MOST_PAST.0,
                wide: WIDE,
                fuses: true,
                elements: fresh(&stream, shares.elements)?,
                requests: fresh(&stream, shares.requests)?,
                growths: fresh(&stream, shares.requests)?,
                list: fresh(&stream, shares.requests * LIST_PER_REQUEST)?,
                counts: fresh(&stream, counts)?,
                counters: fresh(&stream, 1)?,
                initial,
                figures: Figures { bytes: bytes as u64, ..Figures::default() },
                stream,
            })
        };
        allocated().map_err(failed)
    }

    /// Sweep. What there is no room for beside earlier sweeps is tried again without them, or with a larger part of the
    /// index if the part in use is too small.
    fn run(&mut self, roots: &[Root], purpose: Purpose) -> Result<(Answers, Counters), Trouble> {
        let failed = |error: DriverError| Trouble::Device(describe(&error));
        self.make_room(purpose).map_err(failed)?;
        loop {
            let (answers, counters) = self.launch(roots, purpose).map_err(failed)?;
            if purpose.adds_nodes() {
                self.used += counters.made as usize;
            }
            self.figures.sweeps += 1;
            self.figures.requests += counters.asked;
            self.figures.elements += counters.kept;
            if counters.full == 0 {
                return Ok((answers, counters));
            }
            let was_alone = self.past.requests == 0;
            self.forget().map_err(failed)?;
            if counters.full & STOPPED != 0 {
                return Err(Trouble::Stopped);
            }
            if counters.full & FULL_NODES != 0 {
                return Err(Trouble::Full(Part::Nodes));
            }
            if !(counters.full == FULL_INDEX && self.enlarge_index()) && was_alone {
                return Err(Trouble::Full(Part::Requests));
            }
        }
    }

    /// Forget what earlier sweeps asked where it would be in the way: entries of the index are half as many as its
    /// places at most, half of the requests are for the sweep itself, and those that visit sets number theirs from 0.
    fn make_room(&mut self, purpose: Purpose) -> Result<(), DriverError> {
        let is_crowded = self.past.requests * INDEX_PER_REQUEST > self.index_capacity;
        let is_much =
            self.past.requests > self.most_past || self.past.elements > self.elements.len() / MOST_PAST.1 * MOST_PAST.0;
        if is_crowded && !is_much {
            self.enlarge_index();
        }
        if is_crowded || is_much || !purpose.adds_nodes() {
            self.forget()?;
        }
        Ok(())
    }

    /// Use more of the index, if there is more. Its entries have other places then.
    fn enlarge_index(&mut self) -> bool {
        let before = self.index_capacity;
        self.index_capacity = (before * GROWTH).min(self.index.len());
        self.index_capacity > before
    }

    /// Earlier sweeps have asked nothing.
    fn forget(&mut self) -> Result<(), DriverError> {
        if self.past.forget() {
            self.stream.memset_zeros(&mut self.index)?;
        }
        Ok(())
    }

    /// One launch; what there was no room for is among the counters.
    fn launch(&mut self, roots: &[Root], purpose: Purpose) -> Result<(Answers, Counters), DriverError> {
        let (answers, requests, elements) = describe_roots(roots, !purpose.adds_nodes(), &self.past);
        let mut result = Counters::default();
        if let Purpose::Copy(places) = purpose {
            // Also if there is nothing to copy: it is the table from now on.
            self.stream.memset_zeros(&mut self.tables[1].slice_mut(..places))?;
        }
        if requests.is_empty() {
            return Ok((answers, result));
        }
        let Past { requests: first, elements: before, .. } = self.past;
        if first + requests.len() > self.requests.len() || before + elements.len() > self.elements.len() {
            result.full = FULL_REQUESTS;
            return Ok((answers, result));
        }
        let handed_out = Counters { elements: (before + elements.len()) as u64, ..Counters::default() };
        let mut counts = vec![0u64; self.bits as usize + 1];
        counts[0] = requests.len() as u64;
        let list: Vec<u32> = (first as u32..).take(requests.len()).collect();
        self.stream.memcpy_htod(&requests, &mut self.requests.slice_mut(first..))?;
        self.stream.memcpy_htod(&elements, &mut self.elements.slice_mut(before..))?;
        self.stream.memcpy_htod(&list, &mut self.list)?;
        self.stream.memcpy_htod(&counts, &mut self.counts)?;
        self.stream.memcpy_htod(&[handed_out], &mut self.counters)?;
        let arguments = self.arguments(purpose, requests.len());
        let shape = LaunchConfig { grid_dim: (self.blocks, 1, 1), block_dim: (BLOCK, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: the kernel takes this structure; its pointers are to live allocations of the lengths that it names,
        // and no other launch is under way, since the stream is this machine's and is waited for below.
        unsafe { self.stream.launch_builder(&self.kernel).arg(&arguments).launch_cooperative(shape)? };
        if purpose != Purpose::Visit {
            let full = self.address(&self.counters) + offset_of!(Counters, full) as u64;
            self.alarm.wait(&self.stream, full, &self.attention)?;
        }
        self.stream.memcpy_dtoh(&self.counters, std::slice::from_mut(&mut result))?;
        self.stream.synchronize()?;
        if result.full == 0 {
            (self.past.requests, self.past.elements) = (result.numbers as usize, result.elements as usize);
        }
        Ok((answers, result))
    }

    fn arguments(&self, purpose: Purpose, roots: usize) -> SweepArguments {
        let (into, places, used) = match purpose {
            Purpose::Copy(places) => (1, places, 0),
            Purpose::Compute | Purpose::Grow | Purpose::Visit => (0, self.capacity, self.used),
        };
        SweepArguments {
            nodes: self.address(&self.tables[0]),
            capacity: self.capacity as u64,
            into: self.address(&self.tables[into]),
            into_capacity: places as u64,
            relation_levels: self.address(&self.graph[0]),
            starts: self.address(&self.graph[1]),
            targets: self.address(&self.graph[2]),
            elements: self.address(&self.elements),
            element_limit: self.elements.len() as u64,
            requests: self.address(&self.requests),
            growths: self.address(&self.growths),
            request_limit: self.requests.len() as u64,
            index: self.address(&self.index),
            index_capacity: self.index_capacity as u64,
            list: self.address(&self.list),
            list_limit: self.list.len() as u64,
            counts: self.address(&self.counts),
            counters: self.address(&self.counters),
            room: Shares::nodes(places).saturating_sub(used) as u64,
            levels: self.bits,
            epoch: self.past.epoch(purpose == Purpose::Grow),
            visit: u32::from(!purpose.adds_nodes()),
            reduce: u32::from(purpose != Purpose::Visit),
            grow: u32::from(purpose == Purpose::Grow),
            roots: roots as u32,
            first: self.past.requests as u32,
            wide: self.wide,
            fuse: u32::from(self.fuses),
        }
    }

    fn address<T>(&self, slice: &CudaSlice<T>) -> u64 {
        slice.device_ptr(&self.stream).0
    }

    /// The sets of the roots, when a sweep is over.
    fn results(&self, answers: Answers) -> Result<Vec<Ref>, Trouble> {
        let asked = answers.iter().filter_map(|answer| answer.err());
        let (first, count) = (asked.clone().min().unwrap_or(0), asked.count());
        let requests = self.download(&self.requests, first..first + count)?;
        let result = |answer: Result<Ref, usize>| answer.unwrap_or_else(|number| Ref(requests[number - first].result));
        Ok(answers.into_iter().map(result).collect())
    }

    fn download<T: DeviceRepr + Clone + Default>(
        &self,
        from: &CudaSlice<T>,
        range: Range<usize>,
    ) -> Result<Vec<T>, Trouble> {
        let mut values = vec![T::default(); range.len()];
        if !range.is_empty() {
            let copied = self.stream.memcpy_dtoh(&from.slice(range), &mut values);
            copied.and_then(|()| self.stream.synchronize()).map_err(|error| Trouble::Device(describe(&error)))?;
        }
        Ok(values)
    }
}

/// Memory that nobody has written to, at least one item of it.
fn fresh<T: DeviceRepr>(stream: &Arc<CudaStream>, length: usize) -> Result<CudaSlice<T>, DriverError> {
    // SAFETY: what is read of it was written before: places of tables are zeroed or uploaded before the table is used,
    // requests, elements and lists are read only up to the counts of what was written. Where there was no room for all
    // that was counted, the kernel says so before the next step, and nothing more is read.
    unsafe { stream.alloc(length.max(1)) }
}

/// As many blocks as can run at once: all of them meet.
fn blocks(context: &CudaContext, kernel: &CudaFunction) -> Result<u32, DriverError> {
    let processors = context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as u32;
    Ok(processors * kernel.occupancy_max_active_blocks_per_multiprocessor(BLOCK, 0, None)?)
}

/// Requests for roots that are not plain, at level 0: whatever their level is, their halves are right there. They come
/// behind what is past.
fn describe_roots(roots: &[Root], visit: bool, past: &Past) -> (Answers, Vec<Request>, Vec<u64>) {
    let (mut requests, mut elements) = (Vec::new(), Vec::new());
    let mut describe = |root: &Root| match simplify(root.elements.clone(), root.minus, visit) {
        Simplified::Plain(set) => Ok(set),
        Simplified::Open(open) => {
            let (first, length) = ((past.elements + elements.len()) as u64, open.len() as u32);
            requests.push(Request { first, length, minus: root.minus.0, ..Request::default() });
            elements.extend(open.into_iter().map(|element| element.bits()));
            Err(past.requests + requests.len() - 1)
        }
    };
    let answers = roots.iter().map(&mut describe).collect();
    (answers, requests, elements)
}

impl Machine for Cuda {
    fn heed(&mut self, attention: &Attention) {
        self.attention = attention.clone();
    }

    fn sweep(&mut self, roots: &[Root]) -> Result<Vec<Ref>, Trouble> {
        let (answers, _) = self.run(roots, Purpose::Compute)?;
        self.results(answers)
    }

    fn grow(&mut self, root: &Root) -> Result<Grown, Trouble> {
        let (answers, _) = self.run(std::slice::from_ref(root), Purpose::Grow)?;
        match answers[0] {
            Ok(union) => Ok(Grown::plain(union, root.minus)),
            Err(number) => {
                let grown = self.download(&self.growths, number..number + 1)?[0].result;
                Ok(Grown { new: self.results(answers)?[0], all: Ref(grown) })
            }
        }
    }

    fn collect(&mut self, keep: &[Ref]) -> Result<Vec<Ref>, Trouble> {
        let places = (self.capacity * GROWTH).min(self.tables[1].len()).max(self.capacity);
        self.copy_into(places, keep)
    }

    fn export(&mut self, set: Ref, budget: &Budget) -> Result<(Diagram, Lease), Trouble> {
        let (answers, _) = self.run(&as_they_are(&[set]), Purpose::Visit)?;
        let root = match answers[0] {
            Ok(plain) => return Ok((Diagram { nodes: Vec::new(), root: plain }, take(budget, 0)?)),
            Err(number) => number,
        };
        let counts = self.download(&self.counts, 0..self.bits as usize)?;
        let listed = counts.iter().map(|&count| count as u32 as usize).sum();
        let made = counts.iter().map(|&count| (count >> 32) as usize).sum::<usize>() + 1;
        let lease = take(budget, made * Diagram::BYTES_PER_NODE)?;
        let _lists =
            take(budget, listed * size_of::<u32>() + made * (size_of::<Request>() + size_of::<Option<Ref>>()))?;
        let list = self.download(&self.list, 0..listed)?;
        let requests = self.download(&self.requests, 0..made)?;
        Ok((diagram(&requests, &list, root), lease))
    }

    fn initial(&self) -> Ref {
        self.initial
    }

    /// Measured: a request takes as long as eight elements, and a level ten microseconds. Ten milliseconds are much.
    fn costs(&self) -> Costs {
        Costs { request: 8, level: 1 << 16, much: 1 << 26 }
    }

    fn figures(&self) -> Figures {
        Figures { nodes: self.used as u64, capacity: self.capacity as u64, ..self.figures }
    }
}

/// The nodes of a set from the requests that visited it, listed by level; some are listed again at levels that they
/// skip.
fn diagram(requests: &[Request], list: &[u32], root: usize) -> Diagram {
    let mut names: Vec<Option<Ref>> = vec![None; requests.len()];
    let mut nodes = Vec::with_capacity(requests.len());
    for &number in list.iter().rev().filter(|&&number| number != HOLE) {
        if names[number as usize].is_some() {
            continue;
        }
        let request = &requests[number as usize];
        let name = |child: u32| match child & REQUEST_BIT {
            0 => Ref(child),
            _ => names[(child & !REQUEST_BIT) as usize].expect("children are at greater levels"),
        };
        let [low, high] = request.children.map(name);
        // The first request may lie above the node that it asks for.
        names[number as usize] = Some(if low == high {
            low
        } else {
            nodes.push(Node::new(request.level, low, high));
            Diagram::reference(nodes.len() - 1)
        });
    }
    Diagram { nodes, root: names[root].expect("the root is listed") }
}
