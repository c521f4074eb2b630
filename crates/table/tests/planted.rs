//! Faults that sanitizers must find; scripts/sanitize.sh runs these before it believes that there are no others.

use std::cell::UnsafeCell;
use std::hint::black_box;
use std::sync::Barrier;

struct Racy(UnsafeCell<u64>);

// SAFETY: none, and that is the fault.
unsafe impl Sync for Racy {}

#[test]
fn race() {
    let (racy, start) = (Racy(UnsafeCell::new(0)), Barrier::new(2));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let (racy, start) = (&racy, &start);
            scope.spawn(move || {
                // Together and for long: a sanitizer can miss threads that run one after the other.
                start.wait();
                for _ in 0..1_000_000 {
                    // SAFETY: none, both threads do this at the same time.
                    unsafe { *black_box(racy.0.get()) += 1 };
                }
            });
        }
    });
    assert!(black_box(racy.0.into_inner()) > 0);
}

#[test]
fn overflow() {
    let numbers = black_box(vec![1_u64; 10]);
    // SAFETY: none, this is one beyond the end.
    let beyond = unsafe { black_box(numbers.as_ptr().add(10)).read_volatile() };
    black_box(beyond);
}
