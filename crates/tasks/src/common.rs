//! Where the workers of a crew are in memory: in that of this process, or on a ground that several processes address.

use crate::crew::Mate;
use crate::deque::{Deque, Private};
use crate::patience::Patience;
use crate::sync::AtomicUsize;
use tremula_fabric::Ground;

/// What belongs to no worker.
#[derive(Default)]
#[repr(C, align(128))]
pub struct Header {
    /// Workers in the present run, beside the one that started it.
    pub present: AtomicUsize,
    /// Stack below which a worker that waits takes no other task on.
    pub least_stack: AtomicUsize,
}

/// A header, and all workers.
pub enum Common<D> {
    Own { header: Box<Header>, mates: Box<[Mate<D>]> },
    Shared { ground: Ground, workers: usize },
}

impl<D: Deque> Common<D> {
    /// In the memory of this process.
    pub fn own(workers: usize, request_slots: usize) -> Common<D> {
        let mate = |_| Mate::new(Patience::of(workers), request_slots);
        Common::Own { header: Box::default(), mates: (0..workers).map(mate).collect() }
    }
}

impl Common<Private> {
    /// Bytes of ground that so many workers need.
    pub fn bytes(workers: usize) -> usize {
        size_of::<Header>() + workers * size_of::<Mate<Private>>()
    }

    /// On a ground. Where `new` says how patient they are and how many request slots they have, workers are made there: by
    /// one process, before any other looks at it.
    #[cfg(not(any(loom, shuttle)))]
    pub fn on(ground: Ground, workers: usize, new: Option<(Patience, usize)>) -> Option<Common<Private>> {
        let base = ground.words().as_ptr().cast_mut();
        if ground.bytes() < Common::bytes(workers) || !base.addr().is_multiple_of(align_of::<Header>()) {
            return None;
        }
        if let Some((patience, request_slots)) = new {
            for number in 0..workers {
                // SAFETY: inside the ground, which is this value's, long enough, and aligned: a header is a multiple of its
                // alignment, which is that of a mate too. Words of a ground are atomics, which may be written through a
                // shared reference, and nobody else looks at them yet.
                unsafe {
                    let mate = base.cast::<Header>().add(1).cast::<Mate<Private>>().add(number);
                    mate.write(Mate::new(patience, request_slots));
                }
            }
        }
        const { assert!(align_of::<Mate<Private>>() <= align_of::<Header>()) };
        Some(Common::Shared { ground, workers })
    }
}

impl<D> Common<D> {
    pub fn header(&self) -> &Header {
        match self {
            Common::Own { header, .. } => header,
            // SAFETY: `on` has made sure that a header fits there; one of zeros is valid, and it consists of atomics.
            Common::Shared { ground, .. } => unsafe { &*ground.words().as_ptr().cast::<Header>() },
        }
    }

    pub fn mates(&self) -> &[Mate<D>] {
        match self {
            Common::Own { mates, .. } => mates,
            Common::Shared { ground, workers } => {
                // SAFETY: only `on` makes this variant, for private deques: the first process has written so many mates
                // there. All that changes in them are atomics, and nothing points into the memory of a process.
                unsafe {
                    let mates = ground.words().as_ptr().cast::<Header>().add(1).cast::<Mate<D>>();
                    std::slice::from_raw_parts(mates, *workers)
                }
            }
        }
    }
}
