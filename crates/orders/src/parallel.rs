//! The same work on many things, by several threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What `work` makes of each item, in the order of the items.
pub(crate) fn map<T: Sync, R: Send>(threads: usize, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if threads <= 1 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(items.len()));
    let take_part = || {
        loop {
            // Relaxed: a number of its own; results are handed over by the lock.
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { break };
            let result = work(item);
            done.lock().expect("nobody panics with the lock").push((at, result));
        }
    };
    std::thread::scope(|scope| {
        // Threads that the system refuses are done without.
        for _ in 1..threads.min(items.len()) {
            let _ = std::thread::Builder::new().spawn_scoped(scope, take_part);
        }
        take_part();
    });
    let mut done = done.into_inner().expect("nobody panics with the lock");
    done.sort_unstable_by_key(|&(at, _)| at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..1000).collect();
        let squares: Vec<u64> = items.iter().map(|item| item * item).collect();
        for threads in [0, 1, 2, 5, 2000] {
            assert_eq!(map(threads, &items, |item| item * item), squares);
        }
        assert!(map(3, &[], |item: &u64| *item).is_empty());
    }
}
