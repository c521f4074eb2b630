//! Structures that host and device share: they mirror those of `kernels/types.cuh`.

use cudarc::driver::{DeviceRepr, ValidAsZeroBits};
use tremula_bulk::layout::Node;

/// A place in a list that was taken in vain.
pub const HOLE: u32 = u32::MAX;

/// A node, or an empty place of a table.
#[derive(Copy, Clone, Default, Debug)]
#[repr(transparent)]
pub struct Place(pub Node);

/// A request.
#[derive(Copy, Clone, Default, Debug)]
#[repr(C, align(16))]
pub struct Request {
    pub first: u64,
    pub length: u32,
    pub minus: u32,
    pub level: u32,
    pub children: [u32; 2],
    pub result: u32,
}

/// What grows together with a request.
#[derive(Copy, Clone, Default, Debug)]
#[repr(C, align(16))]
pub struct Growth {
    pub children: [u32; 2],
    pub result: u32,
    pub unused: u32,
}

/// What all threads count together.
#[derive(Copy, Clone, Default, Debug)]
#[repr(C)]
pub struct Counters {
    pub elements: u64,
    pub start: u64,
    pub asked: u64,
    pub kept: u64,
    pub numbers: u32,
    pub made: u32,
    pub level: u32,
    pub full: u32,
    pub arrived: u32,
}

/// Everything that a sweep reads and writes. Pointers are those of the device.
#[derive(Copy, Clone, Default, Debug)]
#[repr(C)]
pub struct SweepArguments {
    pub nodes: u64,
    pub capacity: u64,
    pub into: u64,
    pub into_capacity: u64,
    pub relation_levels: u64,
    pub starts: u64,
    pub targets: u64,
    pub elements: u64,
    pub element_limit: u64,
    pub requests: u64,
    pub growths: u64,
    pub request_limit: u64,
    pub index: u64,
    pub index_capacity: u64,
    pub list: u64,
    pub list_limit: u64,
    pub counts: u64,
    pub counters: u64,
    pub room: u64,
    pub levels: u32,
    pub epoch: u32,
    pub visit: u32,
    pub reduce: u32,
    pub grow: u32,
    pub roots: u32,
    pub first: u32,
    pub wide: u32,
    pub fuse: u32,
}

// SAFETY: plain integers in the order and with the alignment of C, as in the kernels.
unsafe impl DeviceRepr for Place {}
// SAFETY: as above.
unsafe impl DeviceRepr for Request {}
// SAFETY: as above.
unsafe impl DeviceRepr for Growth {}
// SAFETY: as above.
unsafe impl DeviceRepr for Counters {}
// SAFETY: as above.
unsafe impl DeviceRepr for SweepArguments {}
// SAFETY: an empty place of a table is all zeros.
unsafe impl ValidAsZeroBits for Place {}
