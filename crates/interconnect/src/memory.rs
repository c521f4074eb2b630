//! Memory that processes of one host have in common.

use rustix::fs::{MemfdFlags, Mode, OFlags, ftruncate, memfd_create, open, openat};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen};
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
        let file = file_of(bytes(words)?)?;
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

/// From so many bytes on, huge pages are worth the trouble.
const LARGE: usize = 64 << 20;

/// A file in memory. A large one gets huge pages where that is advised, if this process may ask for such files: most systems
/// have ordinary pages only for the memory that processes share (`shmem_enabled`).
fn file_of(bytes: usize) -> io::Result<OwnedFd> {
    if bytes >= LARGE
        && let Ok(file) = file_with_huge_pages()
    {
        return Ok(file);
    }
    Ok(memfd_create("tremula", MemfdFlags::CLOEXEC)?)
}

/// A file in a file system of its own, which is nowhere to be seen and goes away with the file.
fn file_with_huge_pages() -> io::Result<OwnedFd> {
    let system = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&system, "huge", "advise")?;
    // No limit but the memory.
    fsconfig_set_string(&system, "size", "0")?;
    fsconfig_create(&system)?;
    let root = fsmount(&system, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())?;
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    Ok(openat(&root, ".", flags, Mode::RUSR | Mode::WUSR)?)
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
    fn large_memory_is_shared_as_well() {
        let words = 2 * LARGE / 8;
        let mine = SharedMemory::create(words).unwrap();
        let theirs = SharedMemory::open(std::process::id(), mine.descriptor(), words).unwrap();
        mine.words()[words - 1].store(7, Ordering::Release);
        assert_eq!(theirs.words()[words - 1].load(Ordering::Acquire), 7);
    }

    #[test]
    fn lengths_must_agree() {
        let mine = SharedMemory::create(100).unwrap();
        assert!(SharedMemory::open(std::process::id(), mine.descriptor(), 99).is_err());
        assert!(SharedMemory::create(usize::MAX / 16).is_err());
        assert!(SharedMemory::create(0).unwrap().words().is_empty());
    }
}
