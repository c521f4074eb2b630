//! All interleavings of what the hot path does, on tables of a few slots. To run them: `scripts/loom.sh table`
//!
//! Modelled: index, nodes, marks and cache entries as loom's atomics ([`crate::memory`] copies them), with the
//! orderings of the real ones; meetings of the workers; how they share what is to be marked. A cache entry is one atomic value here ([`crate::wide`]), so
//! what loom shows is that the nodes behind an entry are visible; that an entry is never torn rests on the processor's
//! manual. Not modelled: collections, which are too long for loom and have their schedules in `tests/shuttle.rs`.

use crate::index::UniqueIndex;
use crate::layout::{Key, Node, OpTag, Ref};
use crate::shared::{Marking, Rendezvous, Shared, TableWorker};
use crate::{Attention, Budget, Options, Sizing, Solo, probing};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

/// Explore `body`, with at most `switches` forced ones if given, and print how many interleavings that were.
fn explore(name: &str, switches: Option<usize>, body: impl Fn() + Sync + Send + 'static) {
    let count = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let mut model = loom::model::Builder::new();
    model.preemption_bound = switches;
    let counter = count.clone();
    model.check(move || {
        counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        body();
    });
    println!("{name}: {} interleavings", count.load(std::sync::atomic::Ordering::Relaxed));
}

/// One mark word for each of three workers: none is without room.
const NODES: usize = 192;

/// A table in memory that outlives all threads of one interleaving: loom's threads borrow nothing.
struct Stage {
    shared: Option<Arc<Shared<'static>>>,
    solo: *mut Solo,
}

impl Stage {
    fn new(workers: usize) -> Stage {
        let sizing = Sizing { initial_nodes: NODES, ..Sizing::default() };
        // The least budget in which the table starts with that many nodes: the models have an object for each word.
        let needed = (1..)
            .map(|pages| pages * 4096)
            .find(|&bytes| sizing.initial(bytes).is_ok_and(|sizes| sizes.nodes == NODES));
        let options = Options { sizing, lanes: 1, ..Options::default() };
        let solo =
            Box::into_raw(Box::new(Solo::new(&Budget::new(needed.unwrap()), options, Attention::default()).unwrap()));
        // SAFETY: `solo` is freed in `drop`, after the last reference to what borrows it.
        let shared = Arc::new(unsafe { (*solo).share(workers) });
        Stage { shared: Some(shared), solo }
    }

    /// Worker 0 here, the others in threads of their own; what each of them returns.
    fn on_workers<R: Send + 'static>(
        &self,
        workers: usize,
        body: impl Fn(&mut TableWorker<'_, 'static>, usize) -> R + Clone + Send + 'static,
    ) -> Vec<R> {
        let shared = self.shared.as_ref().unwrap();
        let threads: Vec<_> = (1..workers)
            .map(|number| {
                let (body, shared) = (body.clone(), shared.clone());
                thread::spawn(move || body(&mut shared.worker(number), number))
            })
            .collect();
        let mut results = vec![body(&mut shared.worker(0), 0)];
        results.extend(threads.into_iter().map(|thread| thread.join().unwrap()));
        results
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.shared = None;
        if !std::thread::panicking() {
            // SAFETY: made by `Box::into_raw`, and nothing borrows it any more.
            drop(unsafe { Box::from_raw(self.solo) });
        }
    }
}

/// Levels whose single-variable nodes all begin to probe at the same slot.
fn colliding_levels(count: usize) -> Vec<u32> {
    let slots = UniqueIndex::words_for(NODES);
    let home = |level: u32| probing::walk(Node::hash(level, Ref::FALSE, Ref::TRUE), slots, Some);
    (0..).filter(|&level| home(level) == home(0)).take(count).collect()
}

fn variable(worker: &mut TableWorker<'_, '_>, level: u32) -> Ref {
    let f = worker.make(level, Ref::FALSE, Ref::TRUE).unwrap();
    // Whoever has the position sees the whole node.
    let node = worker.node(f);
    assert_eq!((node.level, node.low, node.high), (level, Ref::FALSE, Ref::TRUE));
    f
}

#[test]
fn equal_nodes_have_one_position() {
    explore("equal nodes, two workers", None, || {
        let made = Stage::new(2).on_workers(2, |worker, _| variable(worker, 0));
        assert_eq!(made[0], made[1]);
    });
}

#[test]
fn nor_do_three_workers_make_one_node_twice() {
    explore("equal nodes, three workers", Some(3), || {
        let made = Stage::new(3).on_workers(3, |worker, _| variable(worker, 0));
        assert!(made.iter().all(|&f| f == made[0]));
    });
}

#[test]
fn different_nodes_in_one_slot_are_both_found() {
    let levels = colliding_levels(2);
    explore("two nodes for one slot, in either order", None, move || {
        let levels = levels.clone();
        let made = Stage::new(2).on_workers(2, move |worker, number| {
            let (first, second) = (levels[number], levels[1 - number]);
            let (a, b) = (variable(worker, first), variable(worker, second));
            if number == 0 { (a, b) } else { (b, a) }
        });
        assert_eq!(made[0], made[1]);
        assert_ne!(made[0].0, made[0].1);
    });
}

#[test]
fn three_workers_fill_one_slot_with_different_nodes() {
    let levels = colliding_levels(3);
    explore("three nodes for one slot, each made by two of three workers", Some(2), move || {
        let levels = levels.clone();
        let made = Stage::new(3).on_workers(3, move |worker, number| {
            let next = (number + 1) % 3;
            (variable(worker, levels[number]), variable(worker, levels[next]))
        });
        for number in 0..3 {
            assert_eq!(made[number].1, made[(number + 1) % 3].0);
            assert_ne!(made[number].0, made[number].1);
        }
    });
}

#[test]
fn the_node_behind_a_cached_result_is_visible() {
    explore("a result through the cache", None, || {
        let key = Key::unary(Ref::new(9, false), 1, OpTag::unary(1, 0));
        Stage::new(2).on_workers(2, move |worker, number| {
            if number == 0 {
                let f = worker.make(5, Ref::FALSE, Ref::TRUE).unwrap();
                worker.cache_put(key.hash(), key, f);
            } else if let Some(f) = worker.cache_get(key.hash(), key) {
                let node = worker.node(f);
                assert_eq!((node.level, node.low, node.high), (5, Ref::FALSE, Ref::TRUE));
            }
        });
    });
}

#[test]
fn an_entry_is_one_of_those_that_were_put() {
    explore("two writers and a reader of one entry", Some(3), || {
        let key = |number: u32| Key::unary(Ref::new(256 + number, false), 1, OpTag::unary(1, 0));
        // Both keys are to meet in one entry, as keys that differ in more than the tables' lengths can.
        let hash = key(0).hash();
        Stage::new(3).on_workers(3, move |worker, number| {
            if number < 2 {
                worker.cache_put(hash, key(number as u32), Ref::new(10 + number as u32, false));
            } else {
                for asked in 0..2 {
                    if let Some(result) = worker.cache_get(hash, key(asked)) {
                        assert_eq!(result, Ref::new(10 + asked, false));
                    }
                }
            }
        });
    });
}

#[test]
fn a_meeting_makes_everything_before_it_visible() {
    for (workers, switches) in [(2, None), (3, Some(2))] {
        explore(&format!("two meetings of {workers}"), switches, move || {
            let place = Arc::new(Rendezvous::new(workers));
            let marks: Arc<Vec<AtomicUsize>> = Arc::new((0..workers).map(|_| AtomicUsize::new(0)).collect());
            let body = move |number: usize| {
                for round in 1..=2 {
                    // Relaxed, so that only the meeting can order these marks.
                    marks[number].store(round, Ordering::Relaxed);
                    place.meet().unwrap();
                    assert!(marks.iter().all(|mark| mark.load(Ordering::Relaxed) >= round));
                }
            };
            let others: Vec<_> = (1..workers)
                .map(|number| {
                    let body = body.clone();
                    thread::spawn(move || body(number))
                })
                .collect();
            body(0);
            others.into_iter().for_each(|thread| thread.join().unwrap());
        });
    }
}

#[test]
fn what_is_handed_over_was_written_before() {
    explore("marking a root and two children, two workers", Some(3), || {
        let marking = Arc::new(Marking::new(2));
        // Relaxed, so that only the marking can order what a visit leaves for the next one.
        let left: Arc<Vec<AtomicUsize>> = Arc::new((0..3).map(|_| AtomicUsize::new(0)).collect());
        let body = move |mut stack: Vec<u32>| {
            let mut visits = 0;
            let visit = |position: u32, stack: &mut Vec<u32>| {
                visits += 1;
                assert_eq!(left[position as usize].load(Ordering::Relaxed), position as usize);
                if position == 0 {
                    [1, 2]
                        .into_iter()
                        .for_each(|child: u32| left[child as usize].store(child as usize, Ordering::Relaxed));
                    stack.extend([1, 2]);
                }
            };
            marking.run(&mut stack, |_| (), visit);
            visits
        };
        let other = {
            let body = body.clone();
            thread::spawn(move || body(Vec::new()))
        };
        let visits = body(vec![0]) + other.join().unwrap();
        assert_eq!(visits, 3);
    });
}

#[test]
fn breaking_up_releases_those_who_wait() {
    explore("a meeting that one will not come to", None, || {
        let place = Arc::new(Rendezvous::new(2));
        let other = {
            let place = place.clone();
            thread::spawn(move || place.break_up())
        };
        assert!(place.meet().is_err());
        other.join().unwrap();
    });
}

#[test]
fn marking_that_is_broken_up_releases_those_who_wait() {
    explore("marking beside one that will not come back", Some(3), || {
        let marking = Arc::new(Marking::new(2));
        let other = {
            let marking = marking.clone();
            thread::spawn(move || marking.break_up())
        };
        marking.run(&mut Vec::new(), |_| (), |_, _| ());
        other.join().unwrap();
    });
}
