//! Random schedules of three workers on a tiny shared table: collections, growth, cancellation, a full table, a worker
//! that does not come back. To run them: `scripts/shuttle.sh`
//!
//! A ledger of made nodes is kept beside the table, by locks that are no part of the schedule. At a collection it
//! forgets what nobody protects; a node that it knows must be found again at the same place, and two nodes never share
//! one.

#![cfg(shuttle)]

use shuttle::rand::{Rng, thread_rng};
use shuttle::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use shuttle::thread;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tremula_table::{
    Attention, Blocked, Budget, Interrupt, Key, OpTag, Options, Ref, Shared, Sizing, Solo, TableWorker,
};

const WORKERS: usize = 3;

/// How many schedules each test runs.
fn schedules() -> usize {
    std::env::var("SHUTTLE_ITERATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(200)
}

/// Run `body` in many schedules; it tells how many collections there were.
fn check(name: &str, body: impl Fn() -> usize + Send + Sync + 'static) {
    let collections = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let sum = collections.clone();
    let count = move || {
        sum.fetch_add(body(), Ordering::Relaxed);
    };
    shuttle::check_random(count, schedules());
    println!("{name}: {} schedules, {} collections", schedules(), collections.load(Ordering::Relaxed));
}

type Triple = (u32, Ref, Ref);

#[derive(Default)]
struct Ledger {
    places: HashMap<Triple, u32>,
    nodes: HashMap<u32, Triple>,
    /// What each worker protects.
    kept: [Vec<Ref>; WORKERS],
}

impl Ledger {
    /// Write down that making this node has given `place`.
    fn note(&mut self, triple: Triple, place: u32) {
        let known = *self.places.entry(triple).or_insert(place);
        assert_eq!(known, place, "{triple:?} exists twice");
        let other = *self.nodes.entry(place).or_insert(triple);
        assert_eq!(other, triple, "two nodes share place {place}");
    }

    /// A collection: only what can be reached from something protected is still known.
    fn collect(&mut self) {
        let mut reached = HashMap::new();
        let mut stack: Vec<Ref> = self.kept.iter().flatten().copied().collect();
        while let Some(f) = stack.pop() {
            if !f.is_terminal() && !reached.contains_key(&f.index()) {
                let triple = self.nodes[&f.index()];
                reached.insert(f.index(), triple);
                stack.extend([triple.1, triple.2]);
            }
        }
        self.places = reached.iter().map(|(&place, &triple)| (triple, place)).collect();
        self.nodes = reached;
    }
}

/// What the workers share beside the table: alarms as a pool would give them, and the ledger.
struct Stage<'s, 't> {
    shared: &'s Shared<'t>,
    alarms: [AtomicBool; WORKERS],
    done: AtomicUsize,
    collections: AtomicUsize,
    /// The safepoint that is due, or one of those, is a collection.
    collects: AtomicBool,
    ledger: Mutex<Ledger>,
}

struct Player<'p, 's, 't> {
    stage: &'p Stage<'s, 't>,
    worker: TableWorker<'s, 't>,
    number: usize,
    kept: Vec<Ref>,
}

impl Player<'_, '_, '_> {
    fn draw(below: usize) -> usize {
        thread_rng().gen_range(0..below)
    }

    /// Protect `f`, in the table and in the ledger.
    fn keep(&mut self, f: Ref) {
        self.worker.keep(f);
        self.kept.push(f);
    }

    fn safepoint(&mut self, needed: &[Ref]) -> Result<(), Interrupt> {
        let (stage, number) = (self.stage, self.number);
        let protected = self.kept.iter().chain(needed).copied().collect();
        stage.ledger.lock().unwrap().kept[number] = protected;
        self.worker.take_part(|roots| {
            stage.alarms[number].store(false, Ordering::SeqCst);
            roots.extend(needed);
            // All have met, and nobody makes nodes: one of them keeps the ledger.
            if number == 0 && stage.collects.swap(false, Ordering::SeqCst) {
                stage.ledger.lock().unwrap().collect();
                stage.collections.fetch_add(1, Ordering::SeqCst);
            }
        })
    }

    fn poll(&mut self, needed: &[Ref]) -> Result<(), Interrupt> {
        if self.stage.alarms[self.number].load(Ordering::SeqCst) { self.safepoint(needed) } else { Ok(()) }
    }

    fn make(&mut self, level: u32, low: Ref, high: Ref) -> Result<Ref, Interrupt> {
        loop {
            self.poll(&[low, high])?;
            match self.worker.make(level, low, high) {
                Ok(f) => {
                    if low != high {
                        let flip = low.is_complement();
                        let triple = (level, low.negate_if(flip), high.negate_if(flip));
                        self.stage.ledger.lock().unwrap().note(triple, f.index());
                        let node = self.worker.node(f);
                        assert_eq!((node.level, node.low, node.high), triple, "seen incomplete");
                    }
                    return Ok(f);
                }
                Err(Blocked::Interrupt(interrupt)) => return Err(interrupt),
                Err(Blocked::NoRoom) => {
                    self.stage.collects.store(true, Ordering::SeqCst);
                    if self.worker.demand_collection() {
                        self.stage.alarms.iter().for_each(|alarm| alarm.store(true, Ordering::SeqCst));
                    }
                    self.safepoint(&[low, high])?;
                }
            }
        }
    }

    /// Make a node above two of those kept, and keep it now and then.
    fn step(&mut self) -> Result<(), Interrupt> {
        let any = |kept: &[Ref]| {
            let number = Self::draw(kept.len() + 1);
            kept.get(number).copied().unwrap_or(Ref::TRUE).negate_if(Self::draw(2) == 1)
        };
        let (low, high) = (any(&self.kept), any(&self.kept));
        let top = self.worker.level(low).min(self.worker.level(high)).min(12);
        if top == 0 {
            return Ok(());
        }
        let level = top - 1 - Self::draw(3.min(top as usize)) as u32;
        let f = self.make(level, low, high)?;
        self.remember(f, low, high);
        if Self::draw(3) == 0 {
            self.keep(f);
        } else if Self::draw(4) == 0 && !self.kept.is_empty() {
            let released = Self::draw(self.kept.len().min(3));
            self.kept.truncate(self.kept.len() - released);
            self.worker.release(released);
        }
        if self.worker.burn()? && self.worker.demand_cache() {
            self.stage.alarms.iter().for_each(|alarm| alarm.store(true, Ordering::SeqCst));
            self.safepoint(&[])?;
        }
        Ok(())
    }

    /// Put a result into the cache and look one up: whatever is found must be known to the ledger.
    fn remember(&mut self, f: Ref, low: Ref, high: Ref) {
        let key = |f: Ref| Key::unary(f, 1, OpTag::unary(1, 0));
        if !low.is_terminal() {
            self.worker.cache_put(key(low).hash(), key(low), f);
        }
        if !high.is_terminal()
            && let Some(found) = self.worker.cache_get(key(high).hash(), key(high))
            && !found.is_terminal()
        {
            let node = self.worker.node(found);
            let known = self.stage.ledger.lock().unwrap().nodes.get(&found.index()).copied();
            assert_eq!(known, Some((node.level, node.low, node.high)), "a dead node came out of the cache");
        }
    }

    /// All that is kept is still there and is found where it was.
    fn check_kept(&mut self) {
        for f in self.kept.clone() {
            let Some(&(level, low, high)) = self.stage.ledger.lock().unwrap().nodes.get(&f.index()) else {
                assert!(f.is_terminal());
                continue;
            };
            let node = self.worker.node(f);
            assert_eq!((node.level, node.low, node.high), (level, low, high), "a kept node was lost");
            match self.worker.make(level, low, high) {
                Ok(again) => assert_eq!(again, f.regular(), "a kept node was not found"),
                Err(blocked) => panic!("a kept node was not found: {blocked:?}"),
            }
        }
    }

    /// Come to safepoints until all are done; nobody demands one afterwards.
    fn finish(mut self) -> Vec<Ref> {
        self.stage.done.fetch_add(1, Ordering::SeqCst);
        while self.stage.done.load(Ordering::SeqCst) < WORKERS {
            let _ = self.poll(&[]);
            thread::yield_now();
        }
        self.check_kept();
        let kept = std::mem::take(&mut self.kept);
        self.worker.leave();
        kept
    }
}

fn table(nodes: usize, most_nodes: usize, options: Options) -> (Solo, Attention) {
    let sizing = Sizing { initial_nodes: nodes, ..Sizing::default() };
    let fits = |bytes: usize| sizing.most_nodes(bytes) >= most_nodes && sizing.initial(bytes).is_ok();
    let bytes = (1..).map(|pages| pages * 1024).find(|&bytes| fits(bytes)).unwrap();
    let attention = Attention::default();
    (Solo::new(&Budget::new(bytes), Options { sizing, lanes: 1, ..options }, attention.clone()).unwrap(), attention)
}

/// Run `play` as three workers, then check the whole table, as one thread sees it. Returns the number of collections.
fn on_workers(
    mut solo: Solo,
    beside: impl FnOnce() + Send,
    play: impl Fn(&mut Player<'_, '_, '_>) -> Result<(), Interrupt> + Sync,
) -> usize {
    let shared = solo.share(WORKERS);
    let stage = Stage {
        shared: &shared,
        alarms: Default::default(),
        done: AtomicUsize::new(0),
        collections: AtomicUsize::new(0),
        collects: AtomicBool::new(false),
        ledger: Mutex::default(),
    };
    let kept: Vec<Ref> = thread::scope(|scope| {
        scope.spawn(beside);
        let (stage, play) = (&stage, &play);
        let players: Vec<_> = (0..WORKERS)
            .map(|number| {
                scope.spawn(move || {
                    let worker = stage.shared.worker(number);
                    let mut player = Player { stage, worker, number, kept: Vec::new() };
                    let _ = play(&mut player);
                    player.finish()
                })
            })
            .collect();
        players.into_iter().flat_map(|player| player.join().unwrap()).collect()
    });
    let collections = stage.collections.load(Ordering::SeqCst);
    drop(stage);
    drop(shared);
    for &f in &kept {
        solo.handles_mut().open(f);
    }
    solo.check().unwrap();
    collections
}

#[test]
fn collections_and_growth_lose_nothing() {
    check("collections and growth", || {
        let (solo, _) = table(192, 1024, Options::default());
        on_workers(solo, || (), |player| (0..120).try_for_each(|_| player.step()))
    });
}

#[test]
fn frequent_collections_lose_nothing() {
    check("a collection after every few nodes", || {
        let (solo, _) = table(192, 512, Options { stress: Some(4), ..Options::default() });
        on_workers(solo, || (), |player| (0..40).try_for_each(|_| player.step()))
    });
}

#[test]
fn cancellation_loses_nothing() {
    check("cancellation", || {
        let (solo, attention) = table(192, 512, Options { stress: Some(8), ..Options::default() });
        let remote = attention.clone();
        let cancel = move || {
            (0..Player::draw(1000)).for_each(|_| thread::yield_now());
            remote.cancel();
        };
        let collections = on_workers(solo, cancel, |player| (0..40).try_for_each(|_| player.step()));
        assert!(attention.is_cancelled());
        collections
    });
}

#[test]
fn a_full_table_ends_all_workers_and_loses_nothing() {
    check("a full table", || {
        let (solo, _) = table(192, 256, Options::default());
        on_workers(
            solo,
            || (),
            |player| {
                // Equal nodes at the bottom, and chains of different workers above them.
                let ended = (0..).try_for_each(|step| {
                    let below = if step < 5 { Ref::TRUE } else { player.kept[step as usize - 1] };
                    let low = if step == 5 { player.kept[player.number] } else { Ref::FALSE };
                    let f = player.make(900 - step, low, below)?;
                    player.keep(f);
                    Ok(())
                });
                assert_eq!(ended, Err(Interrupt::TableFull));
                ended
            },
        )
    });
}

#[test]
fn nobody_waits_for_a_worker_that_has_panicked() {
    check("a worker that does not come back", || {
        let (mut solo, _) = table(192, 256, Options { stress: Some(2), ..Options::default() });
        let shared = solo.share(WORKERS);
        let alarm = AtomicBool::new(false);
        thread::scope(|scope| {
            for number in 0..WORKERS {
                let (shared, alarm) = (&shared, &alarm);
                scope.spawn(move || {
                    let mut worker = shared.worker(number);
                    if number == 2 {
                        shared.abandon();
                        return;
                    }
                    for level in 0..10 {
                        let made = worker.make(level, Ref::FALSE, Ref::TRUE);
                        if made == Err(Blocked::NoRoom) || alarm.load(Ordering::SeqCst) {
                            worker.demand_collection();
                            alarm.store(true, Ordering::SeqCst);
                            assert_eq!(worker.take_part(|_| ()), Err(Interrupt::Cancelled));
                            return;
                        }
                    }
                });
            }
        });
        0
    });
}

#[test]
fn nobody_waits_for_a_worker_that_has_panicked_while_collecting() {
    check("a worker that does not come back from a safepoint", || {
        let (mut solo, _) = table(192, 256, Options::default());
        let shared = solo.share(WORKERS);
        thread::scope(|scope| {
            for number in 0..WORKERS {
                let shared = &shared;
                scope.spawn(move || {
                    let mut worker = shared.worker(number);
                    worker.demand_collection();
                    let lost = |_: &mut Vec<Ref>| {
                        if number == 2 {
                            shared.abandon();
                            std::panic::resume_unwind(Box::new("as the test wants"));
                        }
                    };
                    let took_part = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| worker.take_part(lost)));
                    assert_eq!(took_part.ok(), (number != 2).then_some(Err(Interrupt::Cancelled)));
                });
            }
        });
        // What they have left is whole again after a collection by one.
        drop(shared);
        solo.collect();
        solo.check().unwrap();
        0
    });
}

#[test]
fn a_demand_after_a_safepoint_is_the_first_for_the_next() {
    check("safepoints one after the other", || {
        let (mut solo, _) = table(192, 256, Options::default());
        let shared = solo.share(WORKERS);
        thread::scope(|scope| {
            for number in 0..WORKERS {
                let shared = &shared;
                scope.spawn(move || {
                    let mut worker = shared.worker(number);
                    for _ in 0..3 {
                        // Nobody else demands anything: a demand that is not the first would alert nobody.
                        assert!(number != 1 || worker.demand_collection(), "a demand was taken for the last one");
                        worker.take_part(|_| ()).unwrap();
                    }
                    worker.leave();
                });
            }
        });
        3
    });
}
