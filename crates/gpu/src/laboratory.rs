//! What a device can do with a table of nodes, apart from sweeps.

use crate::memory::Place;
use crate::memory::{Counters, SweepArguments};
use crate::program::{BLOCK, Device, NoDevice, describe};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, DevicePtr, DriverError, LaunchConfig, PushKernelArg,
    sys::CUdevice_attribute_enum as Attribute,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Blocks on each multiprocessor: as many as run at once.
const BLOCKS: u32 = 2;

/// A table of nodes on the first device, to be measured.
pub struct Laboratory {
    name: String,
    stream: Arc<CudaStream>,
    gather: CudaFunction,
    find_or_put: CudaFunction,
    shape: LaunchConfig,
    table: CudaSlice<Place>,
    counters: CudaSlice<Counters>,
    sink: CudaSlice<u64>,
}

impl Laboratory {
    /// An empty table of so many places.
    pub fn open(device: &Device, places: usize) -> Result<Laboratory, NoDevice> {
        let (gather, find_or_put) = (device.kernel("gather")?, device.kernel("find_or_put")?);
        let failed =
            |error: DriverError| NoDevice::Memory { bytes: places * size_of::<Place>(), problem: describe(&error) };
        let (context, stream) = (device.context(), device.context().default_stream());
        let build = || -> Result<Laboratory, DriverError> {
            Ok(Laboratory {
                name: context.name()?,
                gather,
                find_or_put,
                shape: shape(context)?,
                table: stream.alloc_zeros(places)?,
                counters: stream.clone_htod(&[Counters::default()])?,
                sink: stream.alloc_zeros(1)?,
                stream,
            })
        };
        build().map_err(failed)
    }

    /// What the device is called.
    pub fn device(&self) -> &str {
        &self.name
    }

    /// Read so many random places.
    pub fn gather(&mut self, reads: u64) -> Result<Duration, NoDevice> {
        let (nodes, places, sink) = (self.address(&self.table), self.table.len() as u64, self.address(&self.sink));
        timed(&self.stream, || {
            let mut launch = self.stream.launch_builder(&self.gather);
            launch.arg(&nodes).arg(&places).arg(&reads).arg(&sink);
            // SAFETY: the kernel takes these; the pointers are to live allocations of the length that is named.
            unsafe { launch.launch(self.shape) }.map(drop)
        })
    }

    /// Put the nodes of so many numbers, from `first` on. Returns also how many were new.
    pub fn put(&mut self, first: u64, count: u64) -> Result<(Duration, u64), NoDevice> {
        self.find_or_put(first, count, 0)
    }

    /// Find the nodes of so many random numbers below `range`.
    pub fn find(&mut self, count: u64, range: u64) -> Result<(Duration, u64), NoDevice> {
        self.find_or_put(0, count, range)
    }

    fn find_or_put(&mut self, first: u64, count: u64, range: u64) -> Result<(Duration, u64), NoDevice> {
        let not_done = |error: DriverError| NoDevice::Failed(describe(&error));
        self.stream.memcpy_htod(&[Counters::default()], &mut self.counters).map_err(not_done)?;
        let arguments = SweepArguments {
            into: self.address(&self.table),
            into_capacity: self.table.len() as u64,
            counters: self.address(&self.counters),
            room: u64::MAX,
            ..SweepArguments::default()
        };
        let time = timed(&self.stream, || {
            let mut launch = self.stream.launch_builder(&self.find_or_put);
            launch.arg(&arguments).arg(&first).arg(&count).arg(&range);
            // SAFETY: the kernel takes these; of the structure it uses the table and the counters, which live.
            unsafe { launch.launch(self.shape) }.map(drop)
        })?;
        let counters = self.stream.clone_dtoh(&self.counters).map_err(not_done)?[0];
        if counters.full != 0 {
            return Err(NoDevice::Failed("a table that has room counts as full".to_owned()));
        }
        Ok((time, u64::from(counters.made)))
    }

    fn address<T>(&self, slice: &CudaSlice<T>) -> u64 {
        slice.device_ptr(&self.stream).0
    }
}

/// As many blocks as run at once.
pub fn shape(context: &CudaContext) -> Result<LaunchConfig, DriverError> {
    let processors = context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as u32;
    Ok(LaunchConfig { grid_dim: (processors * BLOCKS, 1, 1), block_dim: (BLOCK, 1, 1), shared_mem_bytes: 0 })
}

/// How long a launch takes, from its beginning to its end.
pub fn timed(stream: &CudaStream, launch: impl FnOnce() -> Result<(), DriverError>) -> Result<Duration, NoDevice> {
    let run = || -> Result<Duration, DriverError> {
        stream.synchronize()?;
        let began = Instant::now();
        launch()?;
        stream.synchronize()?;
        Ok(began.elapsed())
    };
    run().map_err(|error| NoDevice::Failed(describe(&error)))
}
