//! Reachability in bulk on a CUDA device: a [`Machine`](tremula_bulk::Machine) like any other.
//!
//! The kernels are in `kernels`; they are compiled for the device that is found. `docs/gpu.md` tells how they work.
//!
//! ```no_run
//! use tremula_bulk::{Bulk, Diagram, Graph};
//! use tremula_diagrams::Attention;
//! use tremula_gpu::{Cuda, Device};
//! # use tremula_models::{Limits, read_file};
//! let model = read_file("model.bdd".as_ref(), &Limits::default())?;
//! let graph = Graph::compile(&model)?;
//! let machine = Cuda::new(&Device::first()?, &graph, &Diagram::of_initial_states(&model), 4 << 30)?;
//! let space = Bulk::new(machine, &graph, Attention::default());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `unsafe` is for calls of the driver, and for plain structures that host and device share.
//!
//! Not yet: several devices.
#![allow(unsafe_code)]

mod alarm;
mod index_laboratory;
mod laboratory;
mod machine;
mod memory;
mod past;
mod program;

pub use index_laboratory::IndexLaboratory;
pub use laboratory::Laboratory;
pub use machine::Cuda;
pub use program::{COMPILER, Device, NoDevice, Version, compile_kernels};
