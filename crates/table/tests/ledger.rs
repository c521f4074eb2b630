//! Random find-or-put by two to eight threads with a ledger beside the table: no node is lost, none exists twice,
//! through collections, growth and a cache. A million operations here; `scripts/ledger.sh` does as many as one likes.
//!
//! Nodes are drawn from a numbered universe. The ledger knows for each number where the node was found, and for each
//! place whose it is; both are forgotten in a collection unless somebody protects the node.

#![cfg(not(any(loom, shuttle)))]

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use tremula_table::{Attention, Blocked, Budget, Key, OpTag, Options, Ref, Shared, Sizing, Solo, TableWorker};

/// Variables below all nodes of the universe, protected by handles.
const VARIABLES: usize = 64;
/// Small enough for the processor caches, and larger than the table.
const UNIVERSE: usize = 1 << 16;
/// Operations on one table, before the next one is set up.
const ROUND: u64 = 20_000_000;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize * limit) >> 31
    }
}

/// A node of the universe: its level and children.
fn shape(variables: &[Ref], number: usize) -> (u32, Ref, Ref) {
    let (low, rest) = (number % VARIABLES, number / VARIABLES);
    let (high, rest) = (rest % VARIABLES, rest / VARIABLES);
    // Children differ, so that the node is one.
    (1 + rest as u32, variables[low], variables[high].negate_if(low == high))
}

struct Ledger {
    /// Where each node is, by number; zero if that is not known.
    places: Vec<AtomicU32>,
    /// Whose each place is: a number plus one.
    numbers: Vec<AtomicU32>,
    /// How often each node is protected.
    kept: Vec<AtomicU32>,
}

impl Ledger {
    fn new(nodes: usize) -> Ledger {
        let zeros = |length| (0..length).map(|_| AtomicU32::new(0)).collect();
        Ledger { places: zeros(UNIVERSE), numbers: zeros(nodes), kept: zeros(UNIVERSE) }
    }

    // Relaxed throughout: each entry is compared by itself, and safepoints order the rest.

    fn note(&self, number: usize, place: u32) {
        let first = self.places[number].compare_exchange(0, place, Ordering::Relaxed, Ordering::Relaxed);
        assert!(first.is_ok() || first == Err(place), "node {number} is at {place} and at {first:?}");
        let me = number as u32 + 1;
        let first = self.numbers[place as usize].compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed);
        assert!(first.is_ok() || first == Err(me), "place {place} is that of {me} and of {first:?}");
    }

    /// Forget what is not protected, in one worker's share of the universe.
    fn forget(&self, worker: usize, workers: usize) {
        for number in UNIVERSE * worker / workers..UNIVERSE * (worker + 1) / workers {
            let place = self.places[number].load(Ordering::Relaxed);
            if place != 0 && self.kept[number].load(Ordering::Relaxed) == 0 {
                self.places[number].store(0, Ordering::Relaxed);
                self.numbers[place as usize].store(0, Ordering::Relaxed);
            }
        }
    }
}

struct Stage<'s, 't> {
    shared: &'s Shared<'t>,
    ledger: Ledger,
    variables: Vec<Ref>,
    alarms: Vec<AtomicBool>,
    /// Number of the last safepoint that was demanded for a collection, not only for a larger cache.
    collects: AtomicU64,
    done: AtomicUsize,
    collections: AtomicU64,
}

struct Player<'p, 's, 't> {
    stage: &'p Stage<'s, 't>,
    worker: TableWorker<'s, 't>,
    number: usize,
    random: Random,
    kept: Vec<(usize, Ref)>,
    safepoints: u64,
}

impl Player<'_, '_, '_> {
    fn alarm_all(&self) {
        self.stage.alarms.iter().for_each(|alarm| alarm.store(true, Ordering::Release));
    }

    fn safepoint(&mut self) {
        self.safepoints += 1;
        let (stage, number, safepoint) = (self.stage, self.number, self.safepoints);
        let taken = self.worker.take_part(|_| {
            stage.alarms[number].store(false, Ordering::Relaxed);
            // All have met: nothing is made until all have done this.
            if stage.collects.load(Ordering::Acquire) == safepoint {
                stage.ledger.forget(number, stage.alarms.len());
                stage.collections.fetch_add(u64::from(number == 0), Ordering::Relaxed);
            }
        });
        taken.expect("nobody interrupts this");
    }

    fn make(&mut self, number: usize) -> Ref {
        let (level, low, high) = shape(&self.stage.variables, number);
        loop {
            if self.stage.alarms[self.number].load(Ordering::Acquire) {
                self.safepoint();
            }
            match self.worker.make(level, low, high) {
                Ok(f) => {
                    self.stage.ledger.note(number, f.index());
                    return f;
                }
                Err(Blocked::NoRoom) => {
                    self.stage.collects.store(self.safepoints + 1, Ordering::Release);
                    if self.worker.demand_collection() {
                        self.alarm_all();
                    }
                    self.safepoint();
                }
                Err(blocked) => panic!("{blocked:?}"),
            }
        }
    }

    fn step(&mut self, most_kept: usize) {
        let number = self.random.below(UNIVERSE);
        let f = self.make(number);
        let key = |number: usize| Key::unary(self.stage.variables[0], number as u32, OpTag::unary(1, 0));
        self.worker.cache_put(key(number).hash(), key(number), f);
        let other = self.random.below(UNIVERSE);
        if let Some(found) = self.worker.cache_get(key(other).hash(), key(other)) {
            let place = self.stage.ledger.places[other].load(Ordering::Relaxed);
            assert_eq!(found.index(), place, "the cache knows a dead node");
        }
        if self.random.below(4) == 0 && self.kept.len() < most_kept {
            self.stage.ledger.kept[number].fetch_add(1, Ordering::Relaxed);
            self.worker.keep(f);
            self.kept.push((number, f));
        } else if self.random.below(20_000) == 0 {
            let count = self.random.below(self.kept.len() + 1);
            self.release(count);
        }
    }

    fn release(&mut self, count: usize) {
        for (number, f) in self.kept.drain(self.kept.len() - count..) {
            let (level, low, high) = shape(&self.stage.variables, number);
            let node = self.worker.node(f);
            let flip = low.is_complement();
            assert_eq!((node.level, node.low, node.high), (level, low.negate_if(flip), high.negate_if(flip)));
            self.stage.ledger.kept[number].fetch_sub(1, Ordering::Relaxed);
        }
        self.worker.release(count);
    }

    /// Check everything that is protected, and come to safepoints until all are done.
    fn finish(mut self, workers: usize) {
        for (number, f) in self.kept.clone() {
            assert_eq!(self.make(number), f, "a protected node was lost");
        }
        self.release(self.kept.len());
        self.stage.done.fetch_add(1, Ordering::AcqRel);
        while self.stage.done.load(Ordering::Acquire) < workers {
            if self.stage.alarms[self.number].load(Ordering::Acquire) {
                self.safepoint();
            }
            std::thread::yield_now();
        }
        self.worker.leave();
    }
}

/// So many operations by `workers` on one table. Returns the collections, and the nodes that fit in the end.
fn round(workers: usize, operations: u64, seed: u64) -> (u64, u64) {
    const MOST_NODES: usize = 1 << 19;
    let sizing = Sizing { initial_nodes: 1 << 12, eager_nodes: 1 << 14, ..Sizing::default() };
    let options = Options { sizing, ..Options::default() };
    let mut solo = Solo::new(&Budget::new(24 << 20), options, Attention::default()).unwrap();
    let variables: Vec<Ref> = (0..VARIABLES as u32)
        .map(|variable| {
            let f = solo.make(10_000 + variable, Ref::FALSE, Ref::TRUE).unwrap();
            solo.handles_mut().open(f);
            f
        })
        .collect();
    let shared = solo.share(workers);
    let stage = Stage {
        shared: &shared,
        ledger: Ledger::new(MOST_NODES),
        variables,
        alarms: (0..workers).map(|_| AtomicBool::new(false)).collect(),
        collects: AtomicU64::new(0),
        done: AtomicUsize::new(0),
        collections: AtomicU64::new(0),
    };
    std::thread::scope(|scope| {
        for number in 0..workers {
            let stage = &stage;
            scope.spawn(move || {
                let random = Random(seed.wrapping_mul(number as u64 + 1) ^ 0x9E37_79B9_7F4A_7C15);
                let worker = stage.shared.worker(number);
                let mut player = Player { stage, worker, number, random, kept: Vec::new(), safepoints: 0 };
                (0..operations.div_ceil(workers as u64)).for_each(|_| player.step(6000 / workers));
                player.finish(workers);
            });
        }
    });
    let collections = stage.collections.load(Ordering::Relaxed);
    drop(stage);
    drop(shared);
    solo.check().unwrap();
    (collections, solo.counters().capacity)
}

#[test]
fn no_node_is_lost_and_none_exists_twice() {
    let text = std::env::var("LEDGER_OPERATIONS").unwrap_or("1000000".into());
    let operations: u64 = text.parse().expect("LEDGER_OPERATIONS is a number");
    // All numbers of workers in turn, at least once each.
    let each = operations.div_ceil(7).clamp(1, ROUND);
    let (mut done, mut collections, mut number) = (0, 0, 0);
    while done < operations {
        let workers = 2 + number % 7;
        let (collected, nodes) = round(workers, each, 77 + number as u64);
        (done, collections, number) = (done + each, collections + collected, number + 1);
        println!("{done} operations, {collections} collections; now {workers} workers, {nodes} nodes");
    }
    assert!(collections > 0 || operations < 200_000);
    println!("0 lost, 0 duplicated in {done} operations");
}
