//! From the sources of the kernels to a function on a device.

use crate::memory::{Counters, Growth, HOLE, Place, Request, SweepArguments};
use cudarc::driver::{CudaContext, CudaFunction, CudaModule, DriverError};
use cudarc::nvrtc::{CompileError, CompileOptions, Ptx, compile_ptx_with_opts};
use std::fmt;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;
use tremula_bulk::graph::IDENTITY;
use tremula_bulk::layout::{BOTTOM, FACTORS, REQUEST_BIT, Ref, SPREAD};

/// The kernels, each file after those that it uses.
const SOURCE: &str = concat!(
    include_str!("../kernels/types.cuh"),
    include_str!("../kernels/grid.cuh"),
    include_str!("../kernels/nodes.cuh"),
    include_str!("../kernels/requests.cuh"),
    include_str!("../kernels/short.cuh"),
    include_str!("../kernels/sweep.cu"),
    include_str!("../kernels/laboratory.cu"),
);
/// The first architecture that swaps sixteen bytes; the driver translates for the device that there is.
const ARCHITECTURE: &str = "compute_90";
/// The same as a device, for which NVRTC translates to the end.
const DEVICE: &str = "sm_90";
const CAPABILITY: (i32, i32) = (9, 0);

/// Threads of a block; there is one block on each multiprocessor.
pub const BLOCK: u32 = 1024;
/// What there was no room for.
pub const FULL_NODES: u32 = 1;
/// Requests, their elements, or lists.
pub const FULL_REQUESTS: u32 = 2;
/// The part of the index that is in use.
pub const FULL_INDEX: u32 = 4;
/// There may be room, but the host does not want the result any more.
pub const STOPPED: u32 = 8;

/// Threads that work on one request.
const TILE: u32 = 8;
/// Elements that a tile sorts in shared memory.
const BUFFER: u32 = 32;
/// Elements that a tile takes at once.
const ELEMENT_CHUNK: u32 = 64;
/// Elements of a question that a single thread can have. Measured: docs/gpu.md.
const SHORT: u32 = 8;
/// Requests that are few enough for one block, on the way down.
const NARROW_DOWN: u32 = BLOCK / TILE;
/// The same on the way up, where a request takes one thread.
const NARROW_UP: u32 = 2 * BLOCK;
/// Places that are looked at before a table counts as full; far more than chance asks for.
const MOST_NODE_PROBES: u32 = 4096;
/// The same for the index of requests, which is made larger then.
const MOST_INDEX_PROBES: u32 = 256;

/// Why there is no device to compute with.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoDevice {
    /// The driver's library cannot be loaded.
    #[error("there is no NVIDIA driver: libcuda.so.1 cannot be loaded")]
    NoDriver,
    /// The compiler's library cannot be loaded.
    #[error(
        "there is no compiler for kernels: libnvrtc.so cannot be loaded; is CUDA installed, and on LD_LIBRARY_PATH?"
    )]
    NoCompiler,
    /// The driver knows no device.
    #[error("the driver finds no usable device: {0}")]
    NotFound(String),
    /// The device cannot run the kernels.
    #[error(
        "{name} has compute capability {}.{}, and {}.{} is needed",
        .capability.0, .capability.1, CAPABILITY.0, CAPABILITY.1
    )]
    TooOld {
        /// The device.
        name: String,
        /// What it can do.
        capability: (i32, i32),
    },
    /// The kernels do not compile.
    #[error("NVRTC {version} does not compile the kernels: {problem}")]
    Kernels {
        /// Of the compiler.
        version: Version,
        /// What it says.
        problem: String,
    },
    /// The driver does not take the kernels.
    #[error("the driver, which is for CUDA {driver}, refuses kernels that NVRTC {compiler} has compiled: {problem}")]
    Refused {
        /// Of the driver.
        driver: Version,
        /// Of the compiler.
        compiler: Version,
        /// What the driver says.
        problem: String,
    },
    /// Its memory cannot be had.
    #[error("{bytes} bytes of device memory cannot be had: {problem}")]
    Memory {
        /// How much was asked for.
        bytes: usize,
        /// What the driver says.
        problem: String,
    },
    /// It does not do what it should.
    #[error("the device failed: {0}")]
    Failed(String),
    /// The model does not fit.
    #[error("the initial states and the relations alone do not fit")]
    TooSmall,
}

/// A version of CUDA.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct Version {
    /// The first number.
    pub major: i32,
    /// The second one.
    pub minor: i32,
}

impl Version {
    /// What the driver was made for; zeros if it does not tell.
    fn of_driver() -> Version {
        let mut version = 0;
        // SAFETY: writes an integer, and there is a place for it.
        unsafe { cudarc::driver::sys::cuDriverGetVersion(&raw mut version) };
        Version { major: version / 1000, minor: version % 1000 / 10 }
    }

    /// That of the compiler, which is there; zeros if it does not tell.
    fn of_compiler() -> Version {
        let mut version = Version::default();
        // SAFETY: writes two integers, and there are places for them.
        unsafe { cudarc::nvrtc::sys::nvrtcVersion(&raw mut version.major, &raw mut version.minor) };
        version
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The thread in which kernels are compiled. If it panics, for lack of something in a library, so does [`Device::first`].
pub const COMPILER: &str = "kernels";

/// The first device, with the kernels.
pub struct Device {
    context: Arc<CudaContext>,
    kernels: Arc<CudaModule>,
    /// Bytes that nobody had when it was found.
    free: usize,
}

impl Device {
    /// Find it, and bring the kernels to it. Each takes a few tenths of a second, so they are compiled while the driver
    /// starts.
    pub fn first() -> Result<Device, NoDevice> {
        if !has_driver() {
            return Err(NoDevice::NoDriver);
        }
        let (context, compiled) = thread::scope(|scope| {
            let compiler = thread::Builder::new().name(COMPILER.to_owned());
            let compiled = compiler.spawn_scoped(scope, || compile(ARCHITECTURE));
            let context = find_device();
            let compiled = match compiled {
                Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                // Without another thread it takes longer.
                Err(_) => compile(ARCHITECTURE),
            };
            (context, compiled)
        });
        let context = context?;
        let kernels = context.load_module(compiled?).map_err(|error| refused(&error))?;
        let free = context.mem_get_info().map_err(|error| NoDevice::NotFound(describe(&error)))?.0;
        Ok(Device { context, kernels, free })
    }

    /// The memory that it had left when it was found, in bytes: what machines have taken meanwhile, or have given back without
    /// the driver's notice, makes no difference.
    #[must_use]
    pub fn free_memory(&self) -> usize {
        self.free
    }

    pub(crate) fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    pub(crate) fn kernel(&self, name: &str) -> Result<CudaFunction, NoDevice> {
        self.kernels.load_function(name).map_err(|error| refused(&error))
    }
}

/// Compile the kernels to the instructions of a device, so that PTX in them is checked, too; no device is needed for that.
/// The result is PTX.
pub fn compile_kernels() -> Result<String, NoDevice> {
    compile(DEVICE).map(|ptx| ptx.to_src())
}

fn compile(architecture: &'static str) -> Result<Ptx, NoDevice> {
    if !has_compiler() {
        return Err(NoDevice::NoCompiler);
    }
    let options = CompileOptions {
        arch: Some(architecture),
        options: definitions().chain(["--std=c++17".to_owned()]).collect(),
        name: Some("sweep.cu".to_owned()),
        ..CompileOptions::default()
    };
    compile_ptx_with_opts(SOURCE, options).map_err(|error| match error {
        CompileError::CompileError { log, .. } => do_not_compile(log.to_string_lossy().into_owned()),
        other => do_not_compile(other.to_string()),
    })
}

fn do_not_compile(problem: String) -> NoDevice {
    NoDevice::Kernels { version: Version::of_compiler(), problem }
}

/// Constants that have their definition on the host.
fn definitions() -> impl Iterator<Item = String> {
    let words = [("SPREAD", SPREAD), ("FACTOR_0", FACTORS[0]), ("FACTOR_1", FACTORS[1])];
    let numbers = [
        ("REQUEST_BIT", REQUEST_BIT),
        ("IDENTITY", IDENTITY),
        ("BOTTOM", BOTTOM),
        ("TERMINALS", Ref::TERMINALS),
        ("FULL_NODES", FULL_NODES),
        ("FULL_REQUESTS", FULL_REQUESTS),
        ("FULL_INDEX", FULL_INDEX),
        ("HOLE", HOLE),
        ("BLOCK", BLOCK),
        ("TILE", TILE),
        ("BUFFER", BUFFER),
        ("ELEMENT_CHUNK", ELEMENT_CHUNK),
        ("SHORT", SHORT),
        ("NARROW_DOWN", NARROW_DOWN),
        ("NARROW_UP", NARROW_UP),
        ("MOST_NODE_PROBES", MOST_NODE_PROBES),
        ("MOST_INDEX_PROBES", MOST_INDEX_PROBES),
    ];
    let sizes = [
        ("SIZE_OF_NODE", size_of::<Place>()),
        ("SIZE_OF_REQUEST", size_of::<Request>()),
        ("SIZE_OF_GROWTH", size_of::<Growth>()),
        ("SIZE_OF_COUNTERS", size_of::<Counters>()),
        ("SIZE_OF_SWEEP", size_of::<SweepArguments>()),
    ];
    let numbers = numbers.into_iter().chain(sizes.map(|(name, value)| (name, value as u32)));
    let words = words.into_iter().map(|(name, value)| format!("-D{name}={value}ull"));
    words.chain(numbers.map(|(name, value)| format!("-D{name}={value}u")))
}

/// Is there a driver?
pub fn has_driver() -> bool {
    // SAFETY: only tries to load the library.
    unsafe { cudarc::driver::sys::is_culib_present() }
}

/// Is there a compiler?
fn has_compiler() -> bool {
    // SAFETY: only tries to load the library.
    unsafe { cudarc::nvrtc::sys::is_culib_present() }
}

/// The first device, if it can run the kernels; there is a driver.
fn find_device() -> Result<Arc<CudaContext>, NoDevice> {
    let not_found = |error: DriverError| NoDevice::NotFound(describe(&error));
    let context = CudaContext::new(0).map_err(not_found)?;
    let capability = context.compute_capability().map_err(not_found)?;
    if capability < CAPABILITY {
        return Err(NoDevice::TooOld { name: context.name().map_err(not_found)?, capability });
    }
    Ok(context)
}

/// The driver does not take the kernels.
fn refused(error: &DriverError) -> NoDevice {
    let (driver, compiler) = (Version::of_driver(), Version::of_compiler());
    NoDevice::Refused { driver, compiler, problem: describe(error) }
}

/// What the driver says: the name of the error, and its text if there is one.
pub fn describe(error: &DriverError) -> String {
    match error.error_string() {
        Ok(text) => format!("{:?}, {}", error.0, text.to_string_lossy()),
        Err(_) => format!("{:?}", error.0),
    }
}
