//! The bulk algorithm on a CUDA device. The kernels are in `kernels`; they are compiled for the device that is found.
//!
//! This is the only module with `unsafe`: calls of the driver, and plain structures that host and device share.
#![allow(unsafe_code)]

mod alarm;
mod laboratory;
mod machine;
mod memory;
mod past;
mod program;

pub use laboratory::Laboratory;
pub use machine::Cuda;
pub use program::{NoDevice, compile_kernels};
