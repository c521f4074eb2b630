//! The table itself: `TableWorker::make` on tables that never need a collection.
//!
//! It cannot take nodes back, so each round has a table of its own, and there are few rounds. Its hash keeps nodes with
//! neighbouring children together, from which random nodes gain nothing.

use super::Study;
use super::crew::{Meeting, on_threads};
use super::keys::{self, CHILDREN};
use super::measured::Measured;
use super::report::Setting;
use super::schedule::{Schedule, WINDOW, existing};
use super::subject::Subject;
use super::workload::{Maker, Seen};
use crate::StudyError;
use tremula_table::{Attention, Budget, Node, Options, SetupError, Sizing, Solo, TableWorker};

/// Its index has so many slots for each node.
const SLOTS_PER_NODE: f64 = 1.5;
/// More bytes than one node takes, with its share of everything.
const BYTES_PER_NODE: usize = 64;
/// Nodes that a worker may claim without using them.
const CLAIMED: usize = 1 << 12;
/// Rounds are this many at most, because each needs a new table.
const MOST_ROUNDS: u64 = 10;

/// Measure the table itself, at loads that it gets to.
pub(crate) fn measure(study: &mut Study<'_>) -> Result<(), StudyError> {
    let options = study.options;
    for &load in &options.loads {
        for (workers, mix) in study.combinations() {
            if has_room(options.slots, load, workers) {
                let setting = Setting { subject: Subject::Itself, mix, load, workers };
                let mut schedule = Schedule::new(options.slots, load, workers, mix, options.operations);
                // These are there too.
                schedule.existing -= u64::from(CHILDREN);
                schedule.rounds = schedule.rounds.min(MOST_ROUNDS);
                let measured = run(options.slots, &schedule, setting)?;
                study.note(setting, measured);
            }
        }
    }
    Ok(())
}

/// Can a round take place around this load?
fn has_room(slots: usize, load: f64, workers: usize) -> bool {
    let most = ((load + WINDOW / 2.0) * slots as f64) as usize + workers * CLAIMED;
    most < nodes_for(slots) && existing(slots, load) > u64::from(CHILDREN)
}

fn nodes_for(slots: usize) -> usize {
    (slots as f64 / SLOTS_PER_NODE) as usize
}

fn run(slots: usize, schedule: &Schedule, setting: Setting) -> Result<Measured, StudyError> {
    let mut measured = Measured::default();
    for round in 0..schedule.rounds {
        let mut table = new_table(slots)?;
        fill(&mut table, schedule.existing).map_err(|problem| setting.wrong(problem))?;
        let returned = one_round(&mut table, schedule, round)?;
        let mut all_seen = Vec::new();
        for (seen, samples) in returned {
            all_seen.push(seen.ok_or_else(|| setting.wrong(NO_ROOM))?);
            measured.add_samples(samples);
        }
        measured.add_round(schedule, &all_seen);
        check(&mut table, schedule, round).map_err(|problem| setting.wrong(problem))?;
    }
    Ok(measured)
}

const NO_ROOM: &str = "it has no room for a new node";

fn new_table(slots: usize) -> Result<Solo, SetupError> {
    let nodes = nodes_for(slots);
    // No operation asks the cache, so it is as small as can be.
    let sizing = Sizing { initial_nodes: nodes, cache_per_node: 0.0, ..Sizing::DEFAULT };
    let budget = Budget::new(nodes * BYTES_PER_NODE + (1 << 20));
    Solo::new(&budget, Options { sizing, ..Options::default() }, Attention::default())
}

/// Make the children of all nodes, and the first nodes.
fn fill(table: &mut Solo, existing: u64) -> Result<(), &'static str> {
    alone(table, |worker| {
        for number in 0..CHILDREN {
            let (level, low, high) = keys::child_node(number);
            if worker.make(level, low, high) != Ok(keys::child(number)) {
                return Err("it does not put its first nodes in order");
            }
        }
        make_all(worker, 0..existing)
    })
}

fn make_all(worker: &mut TableWorker<'_, '_>, mut numbers: impl Iterator<Item = u64>) -> Result<(), &'static str> {
    let all_there = numbers.all(|key| Maker::make(worker, keys::node(key)).is_some());
    if all_there { Ok(()) } else { Err(NO_ROOM) }
}

/// With a single worker of the shared table.
fn alone<R>(table: &mut Solo, body: impl FnOnce(&mut TableWorker<'_, '_>) -> R) -> R {
    let shared = table.share(1);
    let mut worker = shared.worker(0);
    let result = body(&mut worker);
    worker.leave();
    result
}

/// What a worker saw, unless there was no room, and its latencies.
type Returned = (Option<Seen>, Vec<u32>);

fn one_round(table: &mut Solo, schedule: &Schedule, round: u64) -> Result<Vec<Returned>, StudyError> {
    let shared = table.share(schedule.workers);
    let meeting = Meeting::new(schedule.workers);
    let returned = on_threads(schedule.workers, |number| {
        let (mut worker, mut samples) = (shared.worker(number), Vec::new());
        meeting.wait();
        let seen = schedule.work(number, round).run(&mut worker, &mut samples);
        worker.leave();
        (seen, samples)
    })?;
    Ok(returned)
}

/// Each node was made once, and to make all of them again makes nothing.
fn check(table: &mut Solo, schedule: &Schedule, round: u64) -> Result<(), &'static str> {
    let expected = u64::from(CHILDREN) + schedule.keys_after(round).count() as u64;
    if table.counters().created != expected {
        return Err("it has made more or fewer nodes than were asked for");
    }
    alone(table, |worker| make_all(worker, schedule.keys_after(round)))?;
    let counters = table.counters();
    match (counters.created == expected, counters.collections) {
        (false, _) => Err("it has lost a node"),
        (true, 0) => Ok(()),
        (true, _) => Err("it has collected garbage"),
    }
}

impl Maker for TableWorker<'_, '_> {
    #[inline]
    fn make(&mut self, node: Node) -> Option<u32> {
        // Chunks are not counted.
        TableWorker::make(self, node.level, node.low, node.high).ok().map(|_| 0)
    }
}
