//! What a device can do with the index of requests, apart from sweeps: it is the cache of operations.

use crate::laboratory::{shape, timed};
use crate::memory::{Counters, Place, Request, SweepArguments};
use crate::program::{Device, NoDevice, describe};
use cudarc::driver::{
    CudaFunction, CudaSlice, CudaStream, DevicePtr, DeviceRepr, DriverError, LaunchConfig, PushKernelArg,
};
use std::sync::Arc;
use std::time::Duration;
use tremula_bulk::graph::IDENTITY;

/// Elements of a question here.
const ELEMENTS: usize = 2;
/// The only epoch.
const EPOCH: u32 = 1;

/// An index of requests on the first device, to be measured.
pub struct IndexLaboratory {
    stream: Arc<CudaStream>,
    kernel: CudaFunction,
    shape: LaunchConfig,
    /// What questions are about: as many places as the index has.
    nodes: CudaSlice<Place>,
    relation_levels: CudaSlice<u32>,
    index: CudaSlice<u64>,
    requests: CudaSlice<Request>,
    elements: CudaSlice<u64>,
    list: CudaSlice<u32>,
    counts: CudaSlice<u64>,
    counters: CudaSlice<Counters>,
    /// Numbers of requests and elements that are taken.
    taken: (u64, u64),
}

impl IndexLaboratory {
    /// An empty index of so many places, with room for half as many requests.
    pub fn open(device: &Device, places: usize) -> Result<IndexLaboratory, NoDevice> {
        let (kernel, stream) = (device.kernel("find_or_ask")?, device.context().default_stream());
        // Numbers may be taken in vain, where two threads want the same place at once.
        let room = places / 2 + places / 16;
        let build = || -> Result<IndexLaboratory, DriverError> {
            Ok(IndexLaboratory {
                kernel,
                shape: shape(device.context())?,
                nodes: stream.alloc_zeros(places)?,
                relation_levels: stream.alloc_zeros(IDENTITY as usize + 1)?,
                index: stream.alloc_zeros(places)?,
                requests: unwritten(&stream, room)?,
                elements: unwritten(&stream, room * ELEMENTS)?,
                list: unwritten(&stream, room)?,
                counts: stream.alloc_zeros(2)?,
                counters: stream.clone_htod(&[Counters::default()])?,
                taken: (0, 0),
                stream,
            })
        };
        let bytes = places * (size_of::<Place>() + size_of::<u64>()) + room * (size_of::<Request>() + 20);
        build().map_err(|error| NoDevice::Memory { bytes, problem: describe(&error) })
    }

    /// Make the requests of so many numbers, from `first` on. Returns also how many were new.
    pub fn make(&mut self, first: u64, count: u64) -> Result<(Duration, u64), NoDevice> {
        self.launch(first, count, 0, true)
    }

    /// Look for the requests of so many random numbers below `range`. Returns also how many there are.
    pub fn find(&mut self, count: u64, range: u64) -> Result<(Duration, u64), NoDevice> {
        self.launch(0, count, range, false)
    }

    /// Look for the requests of so many numbers, from `first` on. Returns also how many there are.
    pub fn miss(&mut self, first: u64, count: u64) -> Result<(Duration, u64), NoDevice> {
        self.launch(first, count, 0, false)
    }

    fn launch(&mut self, first: u64, count: u64, range: u64, make: bool) -> Result<(Duration, u64), NoDevice> {
        let not_done = |error: DriverError| NoDevice::Failed(describe(&error));
        let before = Counters { elements: self.taken.1, ..Counters::default() };
        self.stream.memcpy_htod(&[before], &mut self.counters).map_err(not_done)?;
        self.stream.memset_zeros(&mut self.counts).map_err(not_done)?;
        let (arguments, make) = (self.arguments(), u32::from(make));
        let time = timed(&self.stream, || {
            let mut launch = self.stream.launch_builder(&self.kernel);
            launch.arg(&arguments).arg(&first).arg(&count).arg(&range).arg(&make);
            // SAFETY: the kernel takes these; the pointers of the structure that it uses are to live allocations of the
            // lengths that are named. What it reads of requests and elements was written by this launch or by earlier ones.
            unsafe { launch.launch(self.shape) }.map(drop)
        })?;
        let counters = self.stream.clone_dtoh(&self.counters).map_err(not_done)?[0];
        let counts = self.stream.clone_dtoh(&self.counts).map_err(not_done)?;
        if counters.full != 0 {
            return Err(NoDevice::Failed("an index that has room counts as full".to_owned()));
        }
        self.taken = (self.taken.0 + (counts[1] >> 32), counters.elements);
        Ok((time, counters.asked))
    }

    fn arguments(&self) -> SweepArguments {
        SweepArguments {
            nodes: self.address(&self.nodes),
            capacity: self.nodes.len() as u64,
            relation_levels: self.address(&self.relation_levels),
            elements: self.address(&self.elements),
            element_limit: self.elements.len() as u64,
            requests: self.address(&self.requests),
            request_limit: self.requests.len() as u64,
            index: self.address(&self.index),
            index_capacity: self.index.len() as u64,
            list: self.address(&self.list),
            list_limit: self.list.len() as u64,
            counts: self.address(&self.counts),
            counters: self.address(&self.counters),
            epoch: EPOCH,
            first: self.taken.0 as u32,
            ..SweepArguments::default()
        }
    }

    fn address<T>(&self, slice: &CudaSlice<T>) -> u64 {
        slice.device_ptr(&self.stream).0
    }
}

fn unwritten<T: DeviceRepr>(stream: &Arc<CudaStream>, length: usize) -> Result<CudaSlice<T>, DriverError> {
    // SAFETY: requests and elements are read where the index names them, and then they were written; lists are not read.
    unsafe { stream.alloc(length.max(1)) }
}
