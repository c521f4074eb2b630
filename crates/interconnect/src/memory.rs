//! Memory that processes of one host have in common.

use rustix::fs::{MemfdFlags, Mode, OFlags, ftruncate, memfd_create, open};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

/// Words that this process can address, and others of the same user on the same host that [open](SharedMemory::open)
/// them. They are zero at first and take no memory until they are touched.
#[derive(Debug)]
pub struct SharedMemory {
    base: NonNull<AtomicU64>,
    words: usize,
    file: OwnedFd,
}

// SAFETY: the mapping belongs to this value until it is dropped, and gives out nothing but references to atomics.
unsafe impl Send for SharedMemory {}
// SAFETY: as above.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// New memory.
    pub fn create(words: usize) -> io::Result<SharedMemory> {
        let file = memfd_create("tremula", MemfdFlags::CLOEXEC)?;
        ftruncate(&file, bytes(words)? as u64)?;
        SharedMemory::map(file, words)
    }

    /// The memory that process `owner` created and knows as `descriptor`.
    pub fn open(owner: u32, descriptor: i32, words: usize) -> io::Result<SharedMemory> {
        let path = format!("/proc/{owner}/fd/{descriptor}");
        let file = open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        if rustix::fs::fstat(&file)?.st_size as u64 != bytes(words)? as u64 {
            return Err(io::Error::other("another length"));
        }
        SharedMemory::map(file, words)
    }

    fn map(file: OwnedFd, words: usize) -> io::Result<SharedMemory> {
        let (access, sharing) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::NORESERVE);
        // SAFETY: a new mapping, of a file as long as this, where the system finds room.
        let base = unsafe { mmap(std::ptr::null_mut(), bytes(words)?, access, sharing, file.as_fd(), 0) }?;
        let base = NonNull::new(base.cast()).ok_or_else(|| io::Error::other("mapped at zero"))?;
        Ok(SharedMemory { base, words, file })
    }

    /// The words.
    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: mapped with this length until `self` is dropped, and the file is never made shorter. Other processes
        // change words, but like this one only as atomics or by UCX, whose writes this process cannot tell from them.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.words) }
    }

    /// The descriptor by which others can open it, while this value lives.
    pub fn descriptor(&self) -> i32 {
        self.file.as_raw_fd()
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        if let Ok(bytes) = bytes(self.words) {
            // SAFETY: this is the mapping made in `map`, and no reference to it outlives `self`. A failure leaks it.
            let _ = unsafe { munmap(self.base.as_ptr().cast(), bytes) };
        }
    }
}

/// Length of the mapping; nothing can be mapped in zero bytes.
fn bytes(words: usize) -> io::Result<usize> {
    let bytes = words.max(1).checked_mul(size_of::<u64>()).filter(|&bytes| isize::try_from(bytes).is_ok());
    bytes.ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn what_one_writes_the_other_reads() {
        let mine = SharedMemory::create(100).unwrap();
        let theirs = SharedMemory::open(std::process::id(), mine.descriptor(), 100).unwrap();
        mine.words()[99].store(7, Ordering::Release);
        assert_eq!(theirs.words()[99].load(Ordering::Acquire), 7);
        assert_eq!(theirs.words()[0].load(Ordering::Acquire), 0);
    }

    #[test]
    fn lengths_must_agree() {
        let mine = SharedMemory::create(100).unwrap();
        assert!(SharedMemory::open(std::process::id(), mine.descriptor(), 99).is_err());
        assert!(SharedMemory::create(usize::MAX / 16).is_err());
        assert!(SharedMemory::create(0).unwrap().words().is_empty());
    }
}
